"""The shipped benches: sound, solved by the oracle, not to be had by a wrong fix.

That the oracle passes, nop fails and repetitions agree is what ``codegenie verify``
says; CI runs it. Here stands what it cannot know: the plausible wrong fixes.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.corpus import hash_task_class
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.harness import CaseCache
from pytest_codegenie.harness import make_job
from pytest_codegenie.harness import run_case
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.workspaces.sources.sdists import find_sdists


ROOT = Path(__file__).parents[2]
WRONG_FIXES = ROOT / "tests" / "data" / "wrong_fixes"
TASK_CLASSES = ("bug-repair", "vuln-remediation")


@functools.cache
def cases(task_class: str) -> tuple[BenchCase, ...]:
    return load_cases(read_task_class(ROOT / "bench" / task_class))


SPEC_BUILD = cases("spec-build")
ALL_CASES = [case for name in TASK_CLASSES for case in cases(name)]


def make(
    case: BenchCase, agent: str, options: dict[str, Any], **settings: Any
) -> CaseJob:
    task_class = read_task_class(case.directory.parent.parent)
    spec = AgentSpec(name=agent, label=agent, options=options)
    return make_job(case, task_class, spec, parts=BUILTIN_PARTS, **settings)


def run(case: BenchCase, agent: str, **options: object) -> CaseResult:
    return run_case(make(case, agent, options))


def skip_without_index() -> None:
    """Skip where what a program is built with cannot be had."""
    try:
        list(find_sdists("coverage", "7.10.0"))
    except WorkspaceUnavailable as exc:
        pytest.skip(f"no package index: {exc}")


def refuse(*_: object, **__: object) -> str:
    raise PermissionError(13, "Permission denied")


def positive(case: BenchCase) -> bool:
    return case.disposition == "positive"


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.case_id)
def test_the_oracle_scores_one_and_a_warm_run_starts_nothing(
    case: BenchCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = CaseCache(tmp_path, "auto")
    digest = hash_task_class(case.directory.parent.parent)
    result = cache.answer(make(case, "oracle", {}, rubric_digest=digest), run_case)
    assert result.outcome == "passed", result.message
    assert result.score.score == 1.0
    # No agent, test or rubric has a place to run in from here on.
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    assert (
        cache.answer(make(case, "nop", {}, rubric_digest=digest), run_case).outcome
        == "error"
    )
    again = cache.answer(make(case, "oracle", {}, rubric_digest=digest), run_case)
    assert again.provenance == "verdict-cache"
    assert (again.outcome, again.score) == (result.outcome, result.score)


@pytest.mark.parametrize(
    "case", [c for c in ALL_CASES if not positive(c)], ids=lambda case: case.case_id
)
def test_changing_the_code_of_a_negative_case_fails(case: BenchCase) -> None:
    script = "printf '\\nmore\\n' >> README.md"
    result = run(case, "command", command=["/bin/sh", "-c", script])
    assert result.outcome == "failed"
    assert [mode.code for mode in result.score.failure_modes] == ["unneeded_change"]


@pytest.mark.parametrize(
    "case", [c for c in ALL_CASES if positive(c)], ids=lambda case: case.case_id
)
def test_a_plausible_wrong_fix_is_rejected(case: BenchCase) -> None:
    patch = WRONG_FIXES / case.task_class / f"{case.case_id}.patch"
    result = run(case, "command", command=["git", "apply", str(patch)])
    assert result.outcome == "failed", result.message
    assert result.output is not None
    assert result.output.evaluation is not None, "it applied and was judged"
    assert result.score.score < 0.8


@pytest.mark.parametrize("case", SPEC_BUILD, ids=lambda case: case.case_id)
def test_who_builds_nothing_of_a_program_scores_nothing(
    case: BenchCase, kept_cache: Path
) -> None:
    result = run_case(make(case, "nop", {}, cache_directory=kept_cache))
    if result.outcome == "error":
        skip_without_index()
    assert result.outcome == "failed", result.message
    assert (result.score.passed, result.score.score) == (False, 0.0)
    assert result.output is not None
    built = result.output.agent.metadata["foundry"]
    # Each try was counted, and none of them came as far as a gate.
    assert (built["ended"], built["completed"], built["tries"]) == ("retries", 0, 3)
    assert [gate["tries"] for gate in built["gates"].values()] == [3]


@pytest.mark.parametrize("task_class", TASK_CLASSES)
def test_every_wrong_fix_belongs_to_a_case(task_class: str) -> None:
    ids = {case.case_id for case in cases(task_class) if positive(case)}
    patches = {path.stem for path in (WRONG_FIXES / task_class).iterdir()}
    assert patches == ids


def test_the_benches_are_composed_as_they_say() -> None:
    repair, vulnerabilities = (cases(name) for name in TASK_CLASSES)
    assert len(SPEC_BUILD) == 3
    assert len(repair) == 12
    assert sum(case.disposition == "negative" for case in repair) == 2
    assert {case.difficulty for case in repair} == {"easy", "medium", "hard"}
    assert len(vulnerabilities) == 10
    assert sum(case.disposition == "negative" for case in vulnerabilities) == 1
    held_out = sum(case.curation_class == "held-out" for case in vulnerabilities)
    assert held_out == 5
