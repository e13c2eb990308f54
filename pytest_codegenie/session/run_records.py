"""What ``run.json`` says of a run: who was asked to do what, by which versions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pydantic
import pytest

import pytest_codegenie
from pytest_codegenie.agents import Agent
from pytest_codegenie.config import RunConfig
from pytest_codegenie.evidence import host_facts
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import RunRecord
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.running import Runner


def new_record(config: pytest.Config, runner: Runner) -> RunRecord:
    """Return the record that a run begins with now."""
    settings, grading = runner.settings, runner.grading
    agents = (
        _agent_versions(settings.agents, runner.parts.agents)
        if grading is None
        else grading.versions
    )
    record = RunRecord(
        run_id=runner.run_id,
        started_at=utc_now(),
        config=_without_secrets(settings),
        versions={
            "pytest-codegenie": pytest_codegenie.__version__,
            "pytest": pytest.__version__,
            "pydantic": pydantic.VERSION,
            **agents,
        },
        graded_from=grading and grading.run.record.run_id,
        host=host_facts(),
        arguments=tuple(config.invocation_params.args),
    )
    return runner.redactor.record(record)


def made_of(
    items: Sequence[str],
    cases: Iterable[Path],
    digests: Mapping[Path, str],
    rubric_digest: Callable[[Path], str],
) -> dict[str, Any]:
    """Return what a record says of the corpus; the arguments are of ``selected``."""
    known = [case for case in cases if case in digests]
    classes = dict.fromkeys(case.parents[1] for case in known)
    return {
        "items": tuple(items),
        "case_digests": {
            f"{case.parents[1].name}/{case.name}": digests[case] for case in known
        },
        "rubric_digests": {path.name: rubric_digest(path) for path in classes},
    }


def _agent_versions(
    agents: Iterable[AgentSpec], parts: Mapping[str, str]
) -> dict[str, str]:
    """Return ``agent <label>`` to the version of those that are installed here."""
    versions = {}
    for spec in agents:
        # Whatever is wrong with an agent is told by its cases.
        with contextlib.suppress(Exception):
            agent: Agent = make_part("agent", spec.name, parts)
            agent.configure(spec.options)
            version = agent.version()
            if version:
                versions[f"agent {spec.label}"] = version
    return versions


def _without_secrets(settings: RunConfig) -> dict[str, Any]:
    """Return the settings; of an agent's environment the names alone."""
    values = settings.model_dump(mode="json")
    for agent in values["agents"]:
        agent["env"] = {
            name: "(set)" if value else "(unset)"
            for name, value in agent["env"].items()
        }
    return values
