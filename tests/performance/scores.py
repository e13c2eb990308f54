"""What ``rubric_host.py`` measures: ``python scores.py warm|fresh CASE COUNT``.

``warm`` scores through the isolated host, ``fresh`` imports the rubric and calls it.
"""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import HarnessOutput


_DAY = dt.date(2026, 11, 21)
_OUTPUT = HarnessOutput(
    agent=AgentOutput(instance_id="case", agent_name="none"),
    patch="diff --git a/calc.py b/calc.py\n",
    evaluation=EvalResult(
        instance_id="case",
        status="passed",
        fail_to_pass_results={"command": "passed"},
        resolved=True,
    ),
)


def score_warm(case: BenchCase, task_class_dir: Path, count: int) -> None:
    """Score in forks of the rubric's host."""
    from pytest_codegenie.corpus import read_task_class
    from pytest_codegenie.scoring import score_case

    task_class = read_task_class(task_class_dir)
    for _ in range(count):
        score, _ = score_case(
            case,
            _OUTPUT,
            task_class_dir=task_class_dir,
            breakdown_keys=tuple(task_class.breakdown_keys or ()),
            taxonomy={
                code: mode["severity"]
                for code, mode in (task_class.failure_mode_taxonomy or {}).items()
            },
        )
        _check(score)


def score_fresh(case: BenchCase, task_class_dir: Path, count: int) -> None:
    """Score in this interpreter, with nothing around it."""
    from pytest_codegenie.task_modules import import_registration

    rubric = import_registration(task_class_dir).rubric_class()
    for _ in range(count):
        score = rubric.score(case, _OUTPUT)
        _check(BenchScore.from_json(score.to_json()))


def _check(score: BenchScore) -> None:
    if not score.passed:
        raise SystemExit(f"the case should have passed: {score}")


def main() -> None:
    """Read the command line and score."""
    how, directory, count = sys.argv[1:]
    case = BenchCase(
        case_id="case",
        task_class="generated",
        disposition="positive",
        difficulty="easy",
        source="curated",
        curation_class="held-out",
        added_at=_DAY,
        last_validated_at=_DAY,
        cassette_canary_pin="0" * 32,
        case_digest="blake3:" + "0" * 64,
        directory=Path(directory),
    )
    score = {"warm": score_warm, "fresh": score_fresh}[how]
    score(case, case.directory.parents[1], int(count))


if __name__ == "__main__":
    main()
