"""What answers a job: nothing that is known is done twice, nothing unsure is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import RIGHT_IF_MENDED
from support import Bench

from pytest_codegenie.harness import CaseCache
from pytest_codegenie.harness import run_case
from pytest_codegenie.harness.caching import Mode
from pytest_codegenie.harness.caching import is_steady
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus


RUBRIC = f"blake3:{'1' * 64}"
OTHER_RUBRIC = f"blake3:{'2' * 64}"


class Asked:
    """Answers jobs from one cache, and counts those that it had to run."""

    def __init__(self, directory: Path, mode: Mode = "auto") -> None:
        self.cache = CaseCache(directory, mode)
        self.ran: list[CaseJob] = []

    def __call__(self, job: CaseJob) -> CaseResult:
        return self.cache.answer(job, self.run)

    def run(self, job: CaseJob) -> CaseResult:
        self.ran.append(job)
        return run_case(job)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path / "cache")


@pytest.fixture
def make_job(bench: Bench, tmp_path: Path) -> Callable[..., CaseJob]:
    """Make a job of one case; each has a run of its own."""
    bench.case(files=RIGHT_IF_MENDED)
    count = 0

    def make(**fields: Any) -> CaseJob:
        nonlocal count
        count += 1
        run = tmp_path / f"run-{count}"
        run.mkdir()
        values: dict[str, Any] = {
            "run_id": run.name,
            "rubric_digest": RUBRIC,
            "run_directory": run,
            "artifacts_path": "cases/first/oracle-t1",
        }
        return bench.job(**(values | fields))

    return make


def artifacts(job: CaseJob) -> list[str]:
    directory = job.artifacts_directory
    assert directory is not None
    return sorted(path.name for path in directory.iterdir())


def test_the_second_time_nothing_is_run(
    asked: Asked, make_job: Callable[..., CaseJob]
) -> None:
    first = asked(make_job())
    job = make_job()
    second = asked(job)
    assert len(asked.ran) == 1
    assert (first.provenance, second.provenance) == ("run", "verdict-cache")
    assert (second.outcome, second.score) == (first.outcome, first.score)
    assert second.output is not None
    assert first.output is not None
    assert second.output.agent == first.output.agent
    assert second.output.evaluation == first.output.evaluation
    assert second.run_id == job.run_id == "run-2"
    assert set(second.timings) == {"cache"}
    assert second.started_at > first.ended_at


def test_a_hit_leaves_artifacts_in_its_own_run(
    asked: Asked, make_job: Callable[..., CaseJob]
) -> None:
    asked(make_job())
    job = make_job()
    result = asked(job)
    assert artifacts(job) == ["patch.diff", "result.json"]
    assert job.artifacts_directory is not None
    assert result.output is not None
    assert result.output.artifacts == {"patch": "cases/first/oracle-t1/patch.diff"}
    written = (job.artifacts_directory / "patch.diff").read_text("utf-8")
    assert written == result.output.patch
    assert "+ 32" in written
    record = (job.artifacts_directory / "result.json").read_bytes()
    assert CaseResult.from_json(record) == result


def test_a_failure_is_known_with_its_message(
    asked: Asked, make_job: Callable[..., CaseJob]
) -> None:
    first, second = (asked(make_job(agent="nop")) for _ in range(2))
    assert second.provenance == "verdict-cache"
    assert (second.outcome, second.message) == ("failed", first.message)
    assert [mode.code for mode in second.score.failure_modes] == ["agent.no_patch"]


def test_another_rubric_judges_the_known_patch(
    asked: Asked, make_job: Callable[..., CaseJob]
) -> None:
    asked(make_job())
    job = make_job(rubric_digest=OTHER_RUBRIC)
    result = asked(job)
    assert len(asked.ran) == 1
    assert result.provenance == "patch-cache"
    assert result.outcome == "passed"
    assert {"judge", "rubric"} < set(result.timings)
    assert "agent" not in result.timings
    assert "tests.log" in artifacts(job)
    # And now that is known, beside the other.
    assert asked(make_job(rubric_digest=OTHER_RUBRIC)).provenance == "verdict-cache"
    assert asked(make_job()).provenance == "verdict-cache"
    assert len(asked.ran) == 1


def test_another_session_knows_what_this_one_kept(
    asked: Asked, make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    asked(make_job())
    later = Asked(tmp_path / "cache")
    assert later(make_job()).provenance == "verdict-cache"
    assert later.ran == []


def test_refresh_runs_all_and_keeps_it(
    asked: Asked, make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    asked(make_job())
    refreshing = Asked(tmp_path / "cache", "refresh")
    assert refreshing(make_job()).provenance == "run"
    assert refreshing(make_job()).provenance == "run"
    assert len(refreshing.ran) == 2
    entries = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    made_by = {
        path.read_text("utf-8").partition('"run_id":"')[2][:5] for path in entries
    }
    assert made_by == {"run-3"}


def test_an_agent_that_may_answer_otherwise_is_asked_each_time(
    asked: Asked, make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    options = {"command": ["/bin/sh", "-c", "echo >> x"]}
    for _ in range(2):
        result = asked(make_job(agent="command", options=options))
        assert result.provenance == "run"
    assert len(asked.ran) == 2
    assert not (tmp_path / "cache").exists()


def test_a_broken_entry_is_run_and_replaced(
    asked: Asked, make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    asked(make_job())
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file():
            path.write_bytes(b"nonsense")
    assert asked(make_job()).provenance == "run"
    (problem,) = asked.cache.take_problems()
    assert "patches/" in problem
    assert asked.cache.take_problems() == []
    assert asked(make_job()).provenance == "verdict-cache"
    assert asked.cache.take_problems() == []


def test_a_broken_verdict_is_made_again_from_the_patch(
    asked: Asked, make_job: Callable[..., CaseJob], tmp_path: Path
) -> None:
    asked(make_job())
    for path in (tmp_path / "cache" / "verdicts").rglob("*"):
        if path.is_file():
            path.write_bytes(b"nonsense")
    assert asked(make_job()).provenance == "patch-cache"
    assert asked(make_job()).provenance == "verdict-cache"
    assert len(asked.ran) == 1


@pytest.mark.parametrize(
    ("keep", "agent", "runs"),
    [
        ("always", "oracle", 2),
        ("failed", "oracle", 1),
        ("failed", "nop", 2),
        ("never", "nop", 1),
    ],
)
def test_a_workspace_that_is_to_be_kept_is_made(
    asked: Asked,
    make_job: Callable[..., CaseJob],
    keep: str,
    agent: str,
    runs: int,
) -> None:
    asked(make_job(agent=agent))
    result = asked(make_job(agent=agent, keep=keep))
    assert len(asked.ran) == runs
    assert (result.kept_workspace is not None) == (runs == 2)


def test_an_error_is_not_kept(asked: Asked, bench: Bench, tmp_path: Path) -> None:
    bench.case(files={"expected/tests.toml": 'framework = "bones"\n'})
    for _ in range(2):
        result = asked(bench.job(rubric_digest=RUBRIC))
        assert (result.outcome, result.provenance) == ("error", "run")
    assert not (tmp_path / "cache").exists()


def test_tests_that_ran_out_of_time_are_not_kept(
    asked: Asked, bench: Bench, tmp_path: Path
) -> None:
    slow = 'framework = "command"\ncommand = "sleep 60"\ntimeout_seconds = 0.2\n'
    bench.case(files={"expected/tests.toml": slow})
    result = asked(bench.job(rubric_digest=RUBRIC))
    assert result.outcome == "failed"
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.status == "timeout"
    assert not (tmp_path / "cache").exists()


def test_a_patch_that_a_secret_was_taken_from_is_not_kept(
    asked: Asked, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The oracle's patch adds "+ 32"; so does this line of it.
    monkeypatch.setenv("TOP_SECRET", "return celsius * 9 / 5 + 32")
    bench.case(files=ALWAYS_RIGHT)
    result = asked(bench.job(rubric_digest=RUBRIC))
    assert result.outcome == "passed"
    assert result.output is not None
    assert result.output.agent.metadata["patch_redacted"] is True
    assert not (tmp_path / "cache").exists()


def test_what_is_kept_has_to_be_steady(make_job: Callable[..., CaseJob]) -> None:
    steady = run_case(make_job())
    assert is_steady(steady)
    output = steady.output
    assert output is not None

    def with_output(**fields: Any) -> CaseResult:
        update = {"output": output.model_copy(update=fields)}
        return steady.model_copy(update=update)

    for facts in (
        {"metadata": {"processes_left": 1}},
        {"metadata": {"exceeded": "memory"}},
        {"metadata": {"stopped_by": "turns"}},
        {"stdout": "the key is [redacted]"},
    ):
        agent = output.agent.model_copy(update=facts)
        assert not is_steady(with_output(agent=agent)), facts
    statuses: tuple[EvalStatus, ...] = ("timeout", "error", "skipped")
    for status in statuses:
        said = EvalResult(instance_id="first", status=status)
        assert not is_steady(with_output(evaluation=said)), status
    # Ended by its limit: nothing was handed in, and nothing judged.
    ended = {"prepare": 1.0, "agent": 1.0}
    late = with_output(evaluation=None).model_copy(
        update={"outcome": "failed", "timings": ended}
    )
    assert not is_steady(late)
