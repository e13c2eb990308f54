"""Evaluate coding agents with pytest.

Names are resolved on first use, so that having the plugin installed costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING
from typing import Any


if TYPE_CHECKING:
    from pytest_codegenie.evidence import load_run as load_run
    from pytest_codegenie.harness import run_case as run_case
    from pytest_codegenie.models import AgentOutput as AgentOutput
    from pytest_codegenie.models import AgentSpec as AgentSpec
    from pytest_codegenie.models import BenchCase as BenchCase
    from pytest_codegenie.models import BenchRunReport as BenchRunReport
    from pytest_codegenie.models import BenchScore as BenchScore
    from pytest_codegenie.models import CaseJob as CaseJob
    from pytest_codegenie.models import CaseResult as CaseResult
    from pytest_codegenie.models import EvalInstance as EvalInstance
    from pytest_codegenie.models import EvalResult as EvalResult
    from pytest_codegenie.models import FailureMode as FailureMode
    from pytest_codegenie.models import HarnessOutput as HarnessOutput
    from pytest_codegenie.models import PartTable as PartTable
    from pytest_codegenie.models import RunRecord as RunRecord
    from pytest_codegenie.models import RunSummary as RunSummary
    from pytest_codegenie.registry import TaskClass as TaskClass
    from pytest_codegenie.registry import register_task_class as register_task_class
    from pytest_codegenie.scoring.protocol import Rubric as Rubric


__version__ = "0.1.0"

_HOMES = {
    "AgentOutput": "models",
    "AgentSpec": "models",
    "BenchCase": "models",
    "BenchRunReport": "models",
    "BenchScore": "models",
    "CaseJob": "models",
    "CaseResult": "models",
    "EvalInstance": "models",
    "EvalResult": "models",
    "FailureMode": "models",
    "HarnessOutput": "models",
    "PartTable": "models",
    "Rubric": "scoring.protocol",
    "RunRecord": "models",
    "RunSummary": "models",
    "TaskClass": "registry",
    "load_run": "evidence",
    "register_task_class": "registry",
    "run_case": "harness",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604 -- names, as a list


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
