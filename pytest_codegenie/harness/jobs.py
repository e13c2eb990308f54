"""Making jobs from what a session, or a command, has in hand."""

from __future__ import annotations

from typing import Any

from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import PartTable
from pytest_codegenie.registry import TaskClass


def make_job(
    case: BenchCase,
    task_class: TaskClass,
    agent: AgentSpec,
    *,
    parts: PartTable,
    **settings: Any,
) -> CaseJob:
    """Return the job of one case and agent.

    Args:
        case: A verified case of ``task_class``.
        task_class: As the loader returns it, with keys and taxonomy.
        agent: Who works on it.
        parts: All parts by name.
        settings: Further fields of ``CaseJob``.
    """
    taxonomy = task_class.failure_mode_taxonomy or {}
    return CaseJob(
        case=case,
        agent=agent,
        parts=parts,
        breakdown_keys=tuple(sorted(task_class.breakdown_keys or ())),
        failure_mode_taxonomy={
            code: mode["severity"] for code, mode in taxonomy.items()
        },
        **{"run_id": "unrecorded", **settings},
    )
