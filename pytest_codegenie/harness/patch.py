"""The harness ``patch``: an agent edits a repository, its diff is judged.

    workspace, agent, patch, fresh workspace, hidden tests, rubric

Only the patch goes from the agent's workspace to the one that is judged.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest_codegenie
from pytest_codegenie.agents import Agent
from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.agents import PatchAgent
from pytest_codegenie.agents import default_prompt
from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import CaseError
from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.errors import RubricError
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.evaluators import Evaluator
from pytest_codegenie.evaluators import Judgement
from pytest_codegenie.evaluators import Verdict
from pytest_codegenie.logs import emit
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import Outcome
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.scoring import score_case
from pytest_codegenie.workspaces import MAX_PATCH_BYTES
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import PatchTooLarge
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import fetch_tree
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import remove_tree


#: Of each of the agent's streams, this much of the start and of the end is recorded.
_RECORDED_BYTES = 1 << 15
_GRACE_SECONDS = 5.0
#: The failure mode for a fault that nobody foresaw, by the phase it came in.
_CODE_OF_PHASE = {
    "prepare": "workspace.error",
    "agent": "agent.error",
    "diff": "workspace.error",
    "judge": "evaluator.error",
    "rubric": "rubric.malformed_output",
}
_TOUCHED = re.compile(r"^(?:---|\+\+\+) [ab]/(.+?)\t?$|^rename (?:from|to) (.+)$", re.M)


class NotDone(Exception):
    """The case ends as FAILED before a rubric sees it."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class PatchHarness:
    """Runs one case in two workspaces."""

    name = "patch"

    def run(self, job: CaseJob, task: CaseTask) -> CaseResult:
        """Run one case. Whatever goes wrong with the case is in the result."""
        return _PatchRun(job, task).run()


class _PatchRun:
    """One run of one case: what is known so far, and the steps."""

    def __init__(self, job: CaseJob, task: CaseTask) -> None:
        self.job = job
        self.task = task
        self.started_at = utc_now()
        self.phase = "prepare"
        self.timings: dict[str, float] = {}
        self.artifacts: dict[str, str] = {}
        self.agent_output = AgentOutput(
            instance_id=job.case.case_id, agent_name=job.agent.name
        )
        self.output: HarnessOutput | None = None
        self.scratch = Path()

    def run(self) -> CaseResult:
        kept: str | None = None
        try:
            outcome, score, message = self._outcome()
            if self._keeps(outcome):
                kept = self._keep_scratch()
        finally:
            if kept is None and self.scratch != Path():
                remove_tree(self.scratch)
        result = self._result(outcome, score, message, kept)
        self._write_artifact("result.json", result.to_json())
        return result

    def _result(
        self, outcome: Outcome, score: BenchScore, message: str, kept: str | None
    ) -> CaseResult:
        if self.output is not None:
            self.output = self.output.model_copy(update={"artifacts": self.artifacts})
        return CaseResult(
            run_id=self.job.run_id,
            case_id=self.job.case.case_id,
            task_class=self.job.case.task_class,
            case_digest=self.job.case.case_digest,
            rubric_digest=self.job.rubric_digest,
            disposition=self.job.case.disposition,
            difficulty=self.job.case.difficulty,
            curation_class=self.job.case.curation_class,
            agent=self.job.agent.label,
            agent_name=self.job.agent.name,
            trial=self.job.trial,
            workspace=self.job.workspace,
            outcome=outcome,
            score=score,
            output=self.output,
            message=message,
            timings=self.timings,
            started_at=self.started_at,
            ended_at=utc_now(),
            harness_version=pytest_codegenie.__version__,
            kept_workspace=kept,
        )

    def _outcome(self) -> tuple[Outcome, BenchScore, str]:
        """Take all steps; return how it ended."""
        try:
            score, message = self._steps()
        except NotDone as exc:
            return "failed", self._zero(exc.code, exc.reason), exc.reason
        except CaseError as exc:
            if isinstance(exc, RubricError):
                self._write_artifact("rubric.log", exc.printed)
            return "error", self._zero(exc.code, exc.reason), exc.reason
        except (Exception, SystemExit) as exc:  # parts are anybody's code
            reason = f"{type(exc).__name__}: {exc}"
            self._write_artifact("harness.log", traceback.format_exc())
            code = _CODE_OF_PHASE[self.phase]
            return "error", self._zero(code, reason), reason
        return ("passed" if score.passed else "failed"), score, message

    def _steps(self) -> tuple[BenchScore, str]:
        with self._timed("agent"):
            agent = self._make_agent()
        with self._timed("prepare"):
            self.scratch = self._make_scratch()
            base = self._make_base()
        patch = self._work(agent, base)
        self._write_artifact("patch.diff", patch)
        self.output = HarnessOutput(
            agent=self.agent_output, patch=patch, artifacts=self.artifacts
        )
        shortcut = not self.job.judge_empty_patch
        if shortcut and not patch and self.job.case.disposition == "positive":
            raise NotDone("agent.no_patch", "the agent changed nothing")
        with self._timed("judge"):
            verdict = self._judge(base, patch)
        self.output = self.output.model_copy(
            update={"evaluation": verdict.result, "artifacts": self.artifacts}
        )
        if verdict.tampering:
            raise NotDone("tests.tampered", "; ".join(verdict.tampering))
        with self._timed("rubric"):
            score = self._score(self.output)
        return score, "" if score.passed else verdict.result.error_message

    # -- the agent ---------------------------------------------------------------

    def _make_agent(self) -> Agent:
        spec = self.job.agent
        try:
            agent: Agent = make_part("agent", spec.name, self.job.parts.agents)
        except UnknownPartError as exc:
            raise AgentUnavailable(str(exc)) from exc
        agent.configure(spec.options)
        return agent

    def _work(self, agent: Agent, base: Base) -> str:
        """Let the agent work; return its patch."""
        if isinstance(agent, PatchAgent):
            with self._timed("agent"):
                instance = self.task.instance
                if not agent.sees_answers:
                    instance = instance.without_answers()
                self.agent_output = agent.find_patch(instance)
            return self._checked(self.agent_output.patch)
        if isinstance(agent, AgentAdapter):
            return self._run_adapter(agent, base)
        raise AgentUnavailable(
            f"agent {agent.name!r} is neither a command line (build_command, "
            "build_prompt, parse_output, ...) nor a source of patches (find_patch)"
        )

    def _checked(self, patch: str) -> str:
        """Return a patch that was not taken from a tree, "" for a blank one."""
        size = len(patch.encode(errors="replace"))
        if size > MAX_PATCH_BYTES:
            self.agent_output = self.agent_output.model_copy(update={"patch": ""})
            self._take_output("")
            self._write_artifact("patch.diff", patch)
            reason = str(PatchTooLarge(size, MAX_PATCH_BYTES))
            raise NotDone("patch.does_not_apply", reason)
        return patch if patch.strip() else ""

    def _take_output(self, patch: str) -> None:
        """Record what the agent left, as far as it is known."""
        self.agent_output = self.agent_output.model_copy(update={"patch": patch})
        self.output = HarnessOutput(
            agent=self.agent_output, patch=patch, artifacts=self.artifacts
        )

    def _run_adapter(self, agent: AgentAdapter, base: Base) -> str:
        with self._timed("prepare"):
            workspace = self._workspace(base, "agent")
        try:
            with self._timed("agent"):
                self._start_agent(agent, workspace)
            with self._timed("diff"):
                patch = self._take_patch(workspace)
        finally:
            if self.job.keep == "never":
                workspace.destroy()
        if not patch and self.agent_output.exit_code:
            raise AgentError(
                f"the agent ended with exit code {self.agent_output.exit_code} and "
                f"changed nothing: {_last_lines(self.agent_output)}"
            )
        return patch

    def _start_agent(self, agent: AgentAdapter, workspace: Workspace) -> None:
        prompt_path = self.scratch / "agent" / "problem.md"
        instance = self.task.instance.without_answers()
        instance = instance.model_copy(
            update={"metadata": {"problem_file": str(prompt_path)}}
        )
        prompt = agent.build_prompt(instance)
        # The file is for agents that read one; its text is the prompt either way.
        prompt_path.write_text(prompt or default_prompt(instance), encoding="utf-8")
        limit = self._agent_limit(agent)
        log_path = self._artifact("agent.log")
        try:
            completed = workspace.exec(
                agent.build_command(instance, str(workspace.tree)),
                env=self._agent_environment(agent, workspace),
                limits=Limits(
                    timeout_seconds=limit,
                    grace_seconds=_GRACE_SECONDS,
                    keep_bytes=_RECORDED_BYTES,
                ),
                stdin_path=prompt_path if prompt else None,
                log_path=log_path,
            )
        except NotStarted as exc:
            remedy = (
                "make it executable"
                if exc.code == "EACCES"
                else "install it or correct the command"
            )
            raise AgentUnavailable(f"{exc}; {remedy}") from exc
        output = agent.parse_output(
            completed.stdout.decode(errors="replace"),
            completed.stderr.decode(errors="replace"),
            completed.exit_code,
            completed.duration_seconds,
        )
        left = {"processes_left": completed.survivors} if completed.survivors else {}
        self.agent_output = output.model_copy(
            update={
                "instance_id": self.job.case.case_id,
                "agent_name": self.job.agent.name,
                "metadata": output.metadata | left,
            }
        )
        self._take_output("")
        if completed.timed_out:
            raise NotDone(
                "agent.timeout", f"the agent was ended after {limit:g} seconds"
            )

    def _agent_limit(self, agent: AgentAdapter) -> float:
        limit = self.job.agent_limit_seconds
        return min(limit, agent.get_timeout_seconds() or limit)

    def _agent_environment(
        self, agent: AgentAdapter, workspace: Workspace
    ) -> dict[str, str]:
        environment = workspace.environment("agent")
        for key, value in (agent.get_environment() | self.job.agent.env).items():
            if value:
                environment[key] = value
            else:
                environment.pop(key, None)
        return environment

    def _take_patch(self, workspace: Workspace) -> str:
        output = self._artifact("patch.diff") or self.scratch / "patch.diff"
        try:
            return workspace.diff(output)
        except PatchTooLarge as exc:
            raise NotDone("patch.does_not_apply", str(exc)) from exc

    # -- judging -----------------------------------------------------------------

    def _judge(self, base: Base, patch: str) -> Verdict:
        framework = self.task.tests.framework
        try:
            evaluator: Evaluator = make_part(
                "evaluator", framework, self.job.parts.evaluators
            )
        except UnknownPartError as exc:
            raise EvaluatorError(f"expected/tests.toml: framework: {exc}") from exc
        workspace = self._workspace(base, "judge")
        if patch:
            applied, words = workspace.apply_patch(patch)
            if not applied:
                raise NotDone(
                    "patch.does_not_apply", f"the patch does not apply: {words}"
                )
        scratch = self.scratch / "report"
        scratch.mkdir()
        judgement = Judgement(
            instance_id=self.job.case.case_id,
            base=base.tree,
            overlay=self.task.overlay,
            fail_to_pass=self.task.instance.fail_to_pass,
            pass_to_pass=self.task.instance.pass_to_pass,
            command=self.task.tests.command,
            timeout_seconds=self.tests_limit(),
            scratch=scratch,
            log_path=self._artifact("tests.log"),
        )
        tampering = evaluator.protect(judgement, workspace)
        self._place_hidden_tests(base, workspace)
        if tampering:
            # What it did to the tests is said; what they say now is worth nothing.
            raise NotDone("tests.tampered", "; ".join(tampering))
        return evaluator.evaluate(judgement, workspace)

    def tests_limit(self) -> float:
        own = self.task.tests.timeout_seconds
        return own or self.job.case.timeout_seconds or self.job.timeout_seconds

    def _place_hidden_tests(self, base: Base, workspace: Workspace) -> None:
        test_patch = self.task.instance.test_patch
        if test_patch:
            touched = {a or b for a, b in _TOUCHED.findall(test_patch)}
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
        if self.task.overlay is not None:
            workspace.put(_overlay_files(self.task.overlay))

    def _score(self, output: HarnessOutput) -> BenchScore:
        score, printed = score_case(
            self.job.case,
            output,
            task_class_dir=self.job.case.directory.parent.parent,
            breakdown_keys=self.job.breakdown_keys,
            taxonomy=self.job.failure_mode_taxonomy,
        )
        if printed:
            self._write_artifact("rubric.log", printed)
        return score

    # -- places ------------------------------------------------------------------

    def _make_scratch(self) -> Path:
        root = self.job.scratch_root
        try:
            return Path(tempfile.mkdtemp(prefix="codegenie-", dir=root))
        except OSError as exc:
            place = root or tempfile.gettempdir()
            raise WorkspaceUnavailable(
                f"no directory for workspaces can be made in {place}: {exc.strerror}"
            ) from exc

    def _make_base(self) -> Base:
        self._check_environment()
        case, repository = self.job.case, self.task.task.repository
        tree = case.input_dir / repository.source
        if not tree.is_dir():
            source = str(tree) if tree.exists() else repository.source
            if not repository.base_commit:
                raise WorkspaceUnavailable(
                    f"input/task.toml: repository.source: {repository.source!r} is no "
                    "directory in input/; a bundle or a URL needs a base_commit"
                )
            tree = fetch_tree(source, repository.base_commit, self.scratch / "source")
        return make_base(tree, self.scratch / "base.git")

    def _check_environment(self) -> None:
        environment = self.task.task.environment
        if environment.install != "none":
            raise WorkspaceUnavailable(
                f"input/task.toml: environment.install = {environment.install!r}: "
                "this version builds no environments; a case that runs on the standard "
                'library and pytest says install = "none"'
            )
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        if environment.python not in ("", here):
            raise WorkspaceUnavailable(
                f"input/task.toml: environment.python = {environment.python!r}, but "
                f"this is Python {here}; run pytest with that interpreter"
            )

    def _workspace(self, base: Base, name: str) -> Workspace:
        try:
            workspace: Workspace = make_part(
                "workspace", self.job.workspace, self.job.parts.workspaces
            )
        except UnknownPartError as exc:
            raise WorkspaceUnavailable(str(exc)) from exc
        directory = self.scratch / name
        directory.mkdir()
        workspace.prepare(base, directory)
        return workspace

    def _artifact(self, name: str) -> Path | None:
        """Return where an artifact goes and record that it exists."""
        if self.job.run_directory is None:
            return None
        relative = f"{self.job.artifacts_path}/{name}"
        path = self.job.run_directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        key = name.partition(".")[0]
        self.artifacts = self.artifacts | {key: relative}
        return path

    def _write_artifact(self, name: str, text: str) -> None:
        """Write an artifact; on a full disk, only say so in the log.

        The result itself is recorded elsewhere, by whoever asked for it.
        """
        known = self.artifacts
        try:
            path = self._artifact(name)
            if path is not None:
                path.write_bytes(text.encode(errors="replace"))
        except OSError as exc:
            self.artifacts = known
            emit("harness.artifact_lost", level="warning", file=name, reason=str(exc))

    def _keeps(self, outcome: Outcome) -> bool:
        keep = self.job.keep
        return keep == "always" or (keep == "failed" and outcome != "passed")

    def _keep_scratch(self) -> str:
        """Move the workspaces to the other artifacts; return where they are."""
        known = self.artifacts
        try:
            target = self._artifact("workspaces")
            if target and not target.exists():
                return str(shutil.move(self.scratch, target))
        except (OSError, shutil.Error) as exc:
            emit("harness.artifact_lost", level="warning", file="", reason=str(exc))
        self.artifacts = known
        return str(self.scratch)

    @contextlib.contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        self.phase = phase
        started = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.timings[phase] = self.timings.get(phase, 0.0) + spent

    def _zero(self, code: str, detail: str) -> BenchScore:
        return BenchScore(
            passed=False,
            score=0.0,
            failure_modes=(FailureMode(code=code, severity="block", detail=detail),),
            cost_usd=self.agent_output.cost_usd or 0.0,
            wall_clock_ms=self.agent_output.duration_seconds * 1000,
        )


def _overlay_files(overlay: Path) -> dict[str, Path | None]:
    return {
        path.relative_to(overlay).as_posix(): path
        for path in sorted(overlay.rglob("*"))
        if path.is_file() or path.is_symlink()
    }


def _last_lines(output: AgentOutput) -> str:
    text = output.stderr.strip() or output.stdout.strip()
    return text[-500:] or "it printed nothing"
