"""``RunConfig``: every setting of a run, with its default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Literal

from pydantic import BeforeValidator
from pydantic import Field
from pydantic import PlainSerializer
from pydantic import WithJsonSchema

from pytest_codegenie.config.bounds import BOUNDS_SCHEMA
from pytest_codegenie.config.bounds import RequiredBound
from pytest_codegenie.config.bounds import parse_bounds
from pytest_codegenie.config.bounds import written_bounds
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import CurationClass
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import EvaluatorSettings
from pytest_codegenie.models import Label
from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import SandboxSettings


Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1)]


class DatasetSpec(Record):
    """Cases of one dataset: a task class of the bench."""

    #: Of the task class.
    name: Name
    #: Only the cases of this curation class; None: all.
    split: CurationClass | None = None
    #: Only the first of them, by case id; None: all.
    limit: Count | None = None
    #: Only these cases; none listed: all.
    instance_ids: Annotated[tuple[Name, ...], Field(min_length=1)] = ()


RequiredBounds = Annotated[
    tuple[RequiredBound, ...],
    BeforeValidator(parse_bounds),
    PlainSerializer(written_bounds),
    WithJsonSchema(BOUNDS_SCHEMA),
]


def _read_switch(value: object) -> object:
    """Read what YAML makes of a bare ``off``."""
    return "off" if value is False else value


CacheMode = Annotated[Literal["auto", "off", "refresh"], BeforeValidator(_read_switch)]


class RunConfig(Record):
    """What holds for a run."""

    #: Who works on the cases; each agent is an item of its own.
    agents: Annotated[tuple[AgentSpec, ...], Field(min_length=1)] = (
        AgentSpec(name="oracle", label="oracle"),
    )
    #: ``auto``, or a registered workspace.
    workspace: str = "auto"
    #: Of what is collected, only cases of these; none named: all.
    datasets: tuple[DatasetSpec, ...] = ()
    #: Of those, only the cases of these ids; none listed: all.
    cases: tuple[Name, ...] = ()
    #: Of those, only the first, by case id, after ``-k``, ``-m`` and the like. Agents
    #: and trials do not count.
    limit: Count | None = None
    #: How often each case is run with each agent.
    trials: Annotated[int, Field(ge=1, le=1000)] = 1
    #: Seconds for the agent, where it has no limit of its own; never over the case's.
    timeout: Positive = 600.0
    #: Seconds that building a case's environment may take.
    setup_timeout: Positive = 1800.0
    #: What the programs of a workspace may use.
    limits: ResourceLimits = ResourceLimits()
    #: For the workspace ``sandbox``.
    sandbox: SandboxSettings = SandboxSettings()
    #: For the workspace ``docker``.
    docker: DockerSettings = DockerSettings()
    #: How hidden tests are run where a case does not say.
    evaluator: EvaluatorSettings = EvaluatorSettings()
    #: What pytest-timeout allows an item beyond all limits of its own, in seconds.
    timeout_margin: Positive = 60.0
    #: What pytest's ``-n`` is where the command line has none of ``-n``, ``--dist``,
    #: ``--tx`` and ``--pdb``; None: no workers.
    workers: Annotated[int, Field(ge=0)] | Literal["auto", "logical"] | None = None
    #: A gate: the 95% lower bound of the mean score that each agent has to reach, as a
    #: number, a table of task class to number, or a list of ``X`` and ``TASK=X``. A
    #: number alone, or ``*``, is for all task classes that have none of their own.
    require_lower_bound: RequiredBounds = ()
    #: An earlier run that this one is compared with when it ends: an id, a directory,
    #: or ``latest``, the one that began last.
    baseline: Name | None = None
    #: A gate: no case that passed in the baseline fails.
    fail_on_regression: bool = False
    #: Whether cases are answered from what earlier runs left in ``out``. ``auto``:
    #: those of agents that always give the same answer. ``refresh``: nothing is looked
    #: up, and what comes out is kept. ``off``: neither.
    cache: CacheMode = "auto"
    #: What all agents of the run may cost together, in US dollars, as they report it.
    #: None: anything.
    max_cost_usd: Positive | None = None
    #: Reports that are written into the run's directory when it ends.
    reporters: tuple[Name, ...] = ()
    #: Environment variables whose values appear nowhere, beside those whose names look
    #: like secrets.
    secrets: tuple[Name, ...] = ()
    #: Events below it are left out of ``log.jsonl``.
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    #: Where runs are stored; relative to the directory pytest is started in.
    out: Path = Path(".codegenie")
    #: None: made from the time when the run starts.
    run_id: Label | None = None
    #: Whose workspaces are kept among a case's artifacts.
    keep: Literal["never", "failed", "always"] = "never"


#: Settings that are tables, with the keys that each may have.
TABLES: Mapping[str, type[Record]] = {
    key: field.annotation
    for key, field in RunConfig.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Record)
}
#: Settings that are lists of tables, with the keys that each entry may have.
LISTS: Mapping[str, type[Record]] = {"agents": AgentSpec, "datasets": DatasetSpec}
#: What may stand in any place instead of a list: one name, or several.
SINGULARS: Mapping[str, str] = {
    "agent": "agents",
    "case": "cases",
    "dataset": "datasets",
    "reporter": "reporters",
}
