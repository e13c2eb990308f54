"""Judging again: today's tests and rubric, yesterday's patch, and no agent at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import RIGHT_IF_MENDED
from support import FIX
from support import Bench

from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.harness import grade_again
from pytest_codegenie.harness import judge_output
from pytest_codegenie.harness import never_recorded
from pytest_codegenie.harness import run_case
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import PartTable
from pytest_codegenie.parts import BUILTIN_PARTS


#: An agent that leaves a trace of each start.
TRACE = f"{FIX}; echo >> {{trace}}"


class OnlyRuns:
    """Somebody's harness that has no method ``judge``."""

    name = "patch"

    def run(self, job: CaseJob, task: object) -> CaseResult:
        raise AssertionError("nothing is run here")


@pytest.fixture
def make_job(bench: Bench, tmp_path: Path) -> Callable[..., CaseJob]:
    """Make a job with an agent that is a script; each has a run of its own."""
    bench.case(files=RIGHT_IF_MENDED)
    count = 0

    def make(script: str = FIX, **fields: Any) -> CaseJob:
        nonlocal count
        count += 1
        run = tmp_path / f"run-{count}"
        run.mkdir()
        values: dict[str, Any] = {
            "run_id": run.name,
            "run_directory": run,
            "artifacts_path": "cases/first/shell-t1",
        }
        options = {"command": ["/bin/sh", "-c", script]}
        return bench.job(agent="command", options=options, **(values | fields))

    return make


def test_the_patch_is_judged_as_it_was_and_no_agent_starts(
    make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    script = TRACE.format(trace=trace)
    earlier = run_case(make_job(script))
    assert earlier.outcome == "passed"
    job = make_job(script)
    result = grade_again(job, earlier)
    assert trace.read_text("utf-8") == "\n"
    assert (result.outcome, result.score) == ("passed", earlier.score)
    assert result.provenance == "regraded"
    assert result.run_id == "run-2"
    # What the agent said, printed and took is what is on record.
    assert result.output is not None
    assert earlier.output is not None
    assert result.output.agent == earlier.output.agent
    assert {"prepare", "judge", "rubric"} == set(result.timings)
    directory = job.artifacts_directory
    assert directory is not None
    names = {path.name for path in directory.iterdir()}
    assert names == {"patch.diff", "tests.log", "result.json"}
    assert CaseResult.from_json((directory / "result.json").read_bytes()) == result


def test_todays_tests_decide(make_job: Callable[..., CaseJob], bench: Bench) -> None:
    earlier = run_case(make_job())
    tests = bench.cases_dir / "first" / "expected" / "tests.toml"
    tests.write_text('framework = "command"\ncommand = "false"\n', "utf-8")
    with pytest.raises(BenchCaseDigestMismatch):
        grade_again(
            make_job().model_copy(update={"case": earlier_case(bench, earlier)}),
            earlier,
        )
    bench.sign()
    assert grade_again(make_job(), earlier).outcome == "failed"


def earlier_case(bench: Bench, earlier: CaseResult) -> Any:
    """The case as it was verified before its tests changed."""
    bench.sign()
    return bench.load().model_copy(update={"case_digest": earlier.case_digest})


def test_a_patch_that_failed_before_its_tests_ran_fails_again(
    make_job: Callable[..., CaseJob],
) -> None:
    for script, code in (
        ("true", "agent.no_patch"),
        ("sleep 60", "agent.timeout"),
    ):
        seconds = {"timeout_seconds": 0.3} if code == "agent.timeout" else {}
        earlier = run_case(make_job(script, **seconds))
        assert earlier.score.failure_modes[0].code == code
        # It has more time today, and would use it.
        result = grade_again(make_job("exit 1"), earlier)
        assert (result.outcome, result.provenance) == ("failed", "regraded")
        assert result.score.failure_modes == earlier.score.failure_modes
        assert result.message == earlier.message
        # And again: grading is no one-way street.
        assert grade_again(make_job(), result).score == result.score


def test_what_is_not_on_record_is_an_error_that_says_so(
    make_job: Callable[..., CaseJob],
) -> None:
    unavailable = run_case(
        make_job(timeout_seconds=5).model_copy(
            update={"agent": make_job().agent.model_copy(update={"name": "nobody"})}
        )
    )
    broke = run_case(make_job("echo no key >&2; exit 3"))
    for earlier, code, reason in (
        (unavailable, "agent.unavailable", "no agent came to its end: unknown agent"),
        (
            broke,
            "agent.error",
            "there is no patch on record: the agent ended with exit",
        ),
    ):
        assert earlier.outcome == "error"
        result = grade_again(make_job(), earlier)
        assert (result.outcome, result.provenance) == ("error", "regraded")
        assert result.score.failure_modes[0].code == code
        assert result.message.startswith(f"cannot be graded again: {reason}")
        again = grade_again(make_job(), result)
        assert again.message.count("cannot be graded again") == 1
        assert reason in again.message


def test_a_patch_that_a_secret_was_taken_from_is_no_patch(
    make_job: Callable[..., CaseJob],
) -> None:
    earlier = run_case(make_job())
    assert earlier.output is not None
    agent = earlier.output.agent
    facts = {"metadata": agent.metadata | {"patch_redacted": True}}
    output = earlier.output.model_copy(update={"agent": agent.model_copy(update=facts)})
    result = grade_again(make_job(), earlier.model_copy(update={"output": output}))
    assert result.outcome == "error"
    assert "a secret was taken out of the patch that is on record" in result.message


def test_an_error_of_the_judging_is_judged_again(
    make_job: Callable[..., CaseJob],
) -> None:
    broken = with_part("evaluators", "command", "not_there:Evaluator")
    earlier = run_case(make_job(parts=broken))
    assert earlier.outcome == "error"
    assert earlier.score.failure_modes[0].code == "evaluator.error"
    assert grade_again(make_job(), earlier).outcome == "passed"


def with_part(kind: str, name: str, reference: str) -> PartTable:
    tables = BUILTIN_PARTS.model_dump()
    return PartTable(**{**tables, kind: tables[kind] | {name: reference}})


def test_a_harness_without_a_way_to_judge_says_so(
    make_job: Callable[..., CaseJob],
) -> None:
    earlier = run_case(make_job())
    parts = with_part("harnesses", "patch", f"{__name__}:OnlyRuns")
    result = grade_again(make_job(parts=parts), earlier)
    assert result.outcome == "error"
    assert "the harness 'patch' has no method 'judge'" in result.message


def test_what_was_never_recorded_is_an_error(
    make_job: Callable[..., CaseJob],
) -> None:
    result = never_recorded(make_job(), "yesterday")
    assert (result.outcome, result.output) == ("error", None)
    assert result.message == (
        "cannot be graded again: run yesterday was cut off and has no result of it"
    )


def test_an_output_can_be_judged_by_itself(make_job: Callable[..., CaseJob]) -> None:
    earlier = run_case(make_job())
    assert earlier.output is not None
    output = earlier.output.agent.model_copy(update={"patch": "no diff\n"})
    result = judge_output(make_job(), output)
    assert result.outcome == "failed"
    assert result.score.failure_modes[0].code == "patch.does_not_apply"
