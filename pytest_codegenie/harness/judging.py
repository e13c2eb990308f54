"""Judging a patch: a fresh workspace, the hidden tests, what they say."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators import Evaluator
from pytest_codegenie.evaluators import Judgement
from pytest_codegenie.evaluators import Verdict
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.harness.room import CaseRoom
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import make_exact


#: Paths that a git diff names.
_TOUCHED = re.compile(r"^(?:---|\+\+\+) [ab]/(.+?)\t?$|^rename (?:from|to) (.+)$", re.M)


def judge(room: CaseRoom, base: Base, patch: str) -> Verdict:
    """Apply a patch to a fresh workspace and run the hidden tests there.

    Raises:
        NotDone: It does not apply, or tampers with the tests.
        EvaluatorError: The tests cannot be run, through no fault of the patch.
        WorkspaceUnavailable: There is no place for it.
    """
    job, task = room.job, room.task
    framework = task.tests.framework
    try:
        evaluator: Evaluator = make_part("evaluator", framework, job.parts.evaluators)
    except UnknownPartError as exc:
        raise EvaluatorError(f"expected/tests.toml: framework: {exc}") from exc
    rules = getattr(evaluator, "rules", ("strict",))
    if task.tests.rule not in rules:
        raise EvaluatorError(
            f"expected/tests.toml: rule: {task.tests.rule!r} is not for framework = "
            f"{framework!r}, which has {', '.join(rules)}; use framework = 'log'"
        )
    with room.workspace(base, "judge") as workspace:
        return _judge_in(workspace, evaluator, room, base, patch)


def _judge_in(
    workspace: Workspace, evaluator: Evaluator, room: CaseRoom, base: Base, patch: str
) -> Verdict:
    job, task = room.job, room.task
    if patch:
        _apply(patch, room, base, workspace)
    judgement = Judgement(
        instance_id=job.case.case_id,
        base=base.tree,
        overlay=task.overlay,
        fail_to_pass=task.instance.fail_to_pass,
        pass_to_pass=task.instance.pass_to_pass,
        command=task.tests.command,
        timeout_seconds=job.tests_limit_seconds(task.tests.timeout_seconds),
        scratch=workspace.scratch,
        log_path=room.artifact("tests.log"),
        report=task.tests.report,
        parser=task.tests.parser,
        rule=task.tests.rule,
        gold_paths=frozenset(_touched(task.instance.gold_patch)),
        outside=task.outside,
    )
    tampering = evaluator.protect(judgement, workspace)
    _place_hidden_tests(task, base, workspace)
    if tampering:
        # What it did to the tests is said; what they say now is worth nothing.
        raise NotDone("tests.tampered", "; ".join(tampering))
    return evaluator.evaluate(judgement, workspace)


def _apply(patch: str, room: CaseRoom, base: Base, workspace: Workspace) -> None:
    """Apply what an agent left.

    Raises:
        NotDone: It does not apply.
    """
    applied, words = workspace.apply_patch(patch)
    if not applied and room.task.tests.rule != "strict":
        exact = make_exact(base, patch, room.scratch)
        if exact is not None:
            applied, words = workspace.apply_patch(exact) if exact else (True, "")
    if not applied:
        raise NotDone("patch.does_not_apply", f"the patch does not apply: {words}")


def _touched(patch: str) -> set[str]:
    """Return the files that a git diff names."""
    return {a or b for a, b in _TOUCHED.findall(patch)}


def _place_hidden_tests(task: CaseTask, base: Base, workspace: Workspace) -> None:
    test_patch = task.instance.test_patch
    if test_patch:
        touched = _touched(test_patch)
        workspace.put(
            {
                path: base.tree / path if (base.tree / path).is_file() else None
                for path in sorted(touched)
            }
        )
        applied, words = workspace.apply_patch(test_patch)
        if not applied:
            raise EvaluatorError(
                f"expected/test.patch does not apply to the base: {words}"
            )
    if task.overlay is not None:
        workspace.put(_overlay_files(task.overlay))


def _overlay_files(overlay: Path) -> dict[str, Path | None]:
    return {
        path.relative_to(overlay).as_posix(): path
        for path in sorted(overlay.rglob("*"))
        if path.is_file() or path.is_symlink()
    }
