"""Scoring a case in the rubric's own process."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Collection
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import RubricError
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.processes import Companion
from pytest_codegenie.processes import CompanionDied
from pytest_codegenie.processes import CompanionPool
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.scoring.validation import MALFORMED
from pytest_codegenie.scoring.validation import TIMEOUT
from pytest_codegenie.scoring.validation import validate_answer
from pytest_codegenie.trees import remove_tree


_SCRIPT = Path(__file__).with_name("rubric_host.py")
_PACKAGE_ROOT = Path(__file__).parents[2]
#: Beyond the rubric's own limit, for importing it and for killing it.
_MARGIN_SECONDS = 30.0
#: Of the host and all that a rubric starts, together.
_MEMORY_BYTES = 4 << 30
_PROCESSES = 256


def score_case(
    case: BenchCase,
    output: HarnessOutput,
    *,
    task_class_dir: Path,
    breakdown_keys: Collection[str],
    taxonomy: Mapping[str, str],
) -> tuple[BenchScore, str]:
    """Let the task class's rubric score a case: (score, what the rubric printed).

    Args:
        case: The case; its ``rubric_wall_clock_seconds`` is the limit.
        output: What is scored.
        task_class_dir: Where ``registration.py`` is.
        breakdown_keys: The keys that a breakdown may have.
        taxonomy: The codes that failure modes may have, with their severities.

    Raises:
        RubricError: No usable answer came; ``printed`` is on the error.
    """
    scratch = Path(tempfile.mkdtemp(prefix="codegenie-rubric-"))
    request = {
        "scratch": os.fspath(scratch),
        "case": case.model_dump(mode="json"),
        "output": output.model_dump(mode="json"),
        "timeout": case.rubric_wall_clock_seconds,
    }
    patience = case.rubric_wall_clock_seconds + _MARGIN_SECONDS
    try:
        with _pool.borrowed(os.fspath(task_class_dir)) as host:
            answer, _ = host.ask(request, timeout_seconds=patience)
    except CompanionDied as exc:
        raise RubricError(MALFORMED, f"the rubric's process ended: {exc}") from exc
    finally:
        # The host does it too, unless the rubric ended it.
        remove_tree(scratch)
    if answer.get("broken"):
        raise RubricError(MALFORMED, answer["broken"])
    try:
        _check_end(answer, case.rubric_wall_clock_seconds)
        score = validate_answer(
            answer["answer"], breakdown_keys=breakdown_keys, taxonomy=taxonomy
        )
    except RubricError as exc:
        exc.printed = answer["printed"]
        raise
    return score, answer["printed"]


def _check_end(answer: Mapping[str, Any], limit: float) -> None:
    """Refuse an answer whose process did not end as it should."""
    if answer["end"] == "timeout":
        raise RubricError(
            TIMEOUT,
            f"the rubric took more than {limit:g} seconds; make it faster, or raise "
            "rubric_wall_clock_seconds in case.toml",
        )
    if answer["end"] == "too much":
        size = max(answer["printed_bytes"], answer["answer_bytes"])
        raise RubricError(
            MALFORMED, f"the rubric wrote more than 1 MiB ({size} bytes); print less"
        )
    if answer["exit_code"]:
        code = answer["exit_code"]
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = answer["printed"].strip().rpartition("\n")[2]
        raise RubricError(MALFORMED, f"the rubric ended with {how}: {last[-500:]}")
    if not answer["answer"]:
        last = answer["printed"].strip().rpartition("\n")[2]
        raise RubricError(MALFORMED, f"the rubric gave no answer: {last[-500:]}")


def _start_host(task_class_dir: str) -> Companion:
    argv = [sys.executable, "-I", "-B", str(_SCRIPT), str(_PACKAGE_ROOT)]
    parent, _ = cgroup_parent()
    # Where there can be no group, the rlimits of rubric_host.py are what is left.
    group = parent.make(_MEMORY_BYTES, _PROCESSES, None) if parent else None
    return Companion([*argv, task_class_dir], env={}, group=group)


_pool = CompanionPool(_start_host)
