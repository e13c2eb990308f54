"""What can be known of a run beforehand: agents, workspace, environments, disk.

No agent is started but to ask for its version, and nothing is built.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.config import RunConfig
from pytest_codegenie.corpus import read_task
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.harness import make_recipe
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.gates import Gates
from pytest_codegenie.session.rehearsal import Rehearsal
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import image_directory
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces.foresight import Foresees
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.sources import foresee_source


@dataclass
class Checks:
    """What was looked at, in words, and what is wrong."""

    agents: list[str] = field(default_factory=list)
    workspace: str = ""
    environments: list[str] = field(default_factory=list)
    disk: list[str] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def check_all(found: Rehearsal) -> Checks:
    """Look at everything; no fault hides another."""
    assert found.collection is not None
    settings = found.collection.runner.settings
    checks = Checks()
    workspace: Workspace = make_part(
        "workspace", settings.workspace, found.parts.workspaces
    )
    fault = workspace.probe()
    name = settings.workspace
    checks.workspace = f"{name}: {fault or workspace.isolation}"
    if fault:
        checks.faults.append(f"workspace {name!r} does not work here: {fault}")
    shared = getattr(workspace, "shares_programs", True)
    for agent in settings.agents:
        _check_agent(agent, found, shared, checks)
    if not fault:
        cases = list(dict.fromkeys(item.case for item in found.items if item.case))
        _check_environments(cases, found, checks)
    _check_disk(settings, checks)
    _check_run_id(settings, checks)
    _check_gates(found, checks)
    return checks


def _check_gates(found: Rehearsal, checks: Checks) -> None:
    """Say what is required of the run, and whether it can be told at its end."""
    assert found.configuration is not None
    try:
        run_id = found.configuration.settings.run_id or ""
        gates = Gates(found.configuration, run_id)
        checks.gates += gates.description()
        cases = [item.case for item in found.items if item.case]
        places = {case.task_class: case.directory.parent.parent for case in cases}
        gates.check_selected(
            {f"{case.task_class}/{case.case_id}": case.case_digest for case in cases},
            {name: found.corpus.rubric_digest(path) for name, path in places.items()},
        )
    except CodegenieError as exc:
        checks.faults.append(str(exc))


def _check_agent(
    spec: AgentSpec, found: Rehearsal, shared: bool, checks: Checks
) -> None:
    shown = spec.label if spec.label == spec.name else f"{spec.label} ({spec.name})"
    try:
        agent = make_part("agent", spec.name, found.parts.agents)
        agent.configure(spec.options)
        fault = _fault_of(agent, spec, shared)
        version = agent.version()
    except Exception as exc:
        # Somebody else's code may raise anything.
        fault, version = str(exc) or type(exc).__name__, None
    if fault:
        checks.agents.append(f"{shown}: cannot be started")
        reason = fault.removeprefix(f"agent {spec.name!r}: ")
        checks.faults.append(f"agent {spec.label!r}: {reason}")
    else:
        known = f"version {version}" if version else "no version known"
        checks.agents.append(f"{shown}: can be started, {known}")


def _fault_of(agent: object, spec: AgentSpec, shared: bool) -> str:
    """Return what an agent says of why it cannot be started; "" if it can."""
    probe = getattr(agent, "probe", None)
    if probe is None:
        return ""
    own = agent.get_environment() if isinstance(agent, AgentAdapter) else {}
    given = {name: value for name, value in (own | spec.env).items() if value}
    on_host = getattr(agent, "execution_mode", "") == "host"
    fault: str = probe(given, shared=shared or on_host)
    return fault


def _check_environments(
    cases: list[BenchCase], found: Rehearsal, checks: Checks
) -> None:
    """Say what the cases need that is there, and what has to be made first."""
    assert found.collection is not None
    settings = found.collection.runner.settings
    needed: set[Needed] = set()
    unknown = 0
    with _workspace(settings, found) as workspace:
        if not isinstance(workspace, Foresees):
            checks.environments.append("not known: the workspace does not tell")
            return
        for case in cases:
            if not case.directory.is_dir():
                # Of a dataset file, and written when it runs.
                unknown += found.corpus.needs_setup(case)
                continue
            try:
                task = read_task(case)
                tree, source = _source(task.task.repository, case, settings)
                needed.update(source)
                if tree is not None:
                    needed.update(workspace.foresee(make_recipe(task, case, tree)))
                else:
                    unknown += 1
            except Exception as exc:
                # Somebody else's workspace may raise anything. What is wrong with a
                # task is among the faults already.
                if str(exc) not in map(str, found.problems):
                    checks.faults.append(f"case {case.case_id!r}: {exc}")
    checks.environments += _summed_up(needed, unknown)


def _source(
    repository: Repository, case: BenchCase, settings: RunConfig
) -> tuple[Path | None, tuple[Needed, ...]]:
    """Return (where a case's code is, if it is here, what has to be fetched)."""
    if image_directory(repository.source) is not None:
        return case.input_dir / repository.source, ()
    return foresee_source(repository, case.input_dir, settings.out / "cache")


@contextmanager
def _workspace(settings: RunConfig, found: Rehearsal) -> Iterator[Workspace]:
    """Yield a workspace that knows the settings and is never used."""
    workspace: Workspace = make_part(
        "workspace", settings.workspace, found.parts.workspaces
    )
    with tempfile.TemporaryDirectory(prefix="codegenie-dry-run-") as directory:
        workspace.configure(
            WorkspaceSpec(
                directory=Path(directory),
                cache=settings.out / "cache",
                limits=settings.limits,
                sandbox=settings.sandbox,
                docker=settings.docker,
                setup_seconds=settings.setup_timeout,
            )
        )
        yield workspace


def _summed_up(needed: set[Needed], unknown: int) -> list[str]:
    lines = [
        f"image {one.name}: {one.state}"
        for one in sorted(needed, key=lambda one: one.name)
        if one.kind == "image"
    ]
    for kind, prefix in (("environment", ""), ("source", "code: ")):
        counts = Counter(one.state for one in needed if one.kind == kind)
        if counts:
            words = ", ".join(f"{n} {state}" for state, n in sorted(counts.items()))
            lines.append(f"{prefix}{words}")
    if unknown:
        lines.append(f"not known for {unknown} cases: their code is not fetched yet")
    return lines or ["none needed"]


def _check_disk(settings: RunConfig, checks: Checks) -> None:
    places = {"runs": settings.out / "runs", "workspaces": Path(tempfile.gettempdir())}
    for name, place in places.items():
        there = next(path for path in (place, *place.parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            checks.disk.append(f"{name}: {relative(place)} cannot be written to")
            checks.faults.append(
                f"{relative(there)} cannot be written to, and {name} go below it; "
                "change its permissions, or name another directory"
            )
            continue
        free = shutil.disk_usage(there).free
        line = f"{name}: {free / (1 << 30):.1f} GiB free in {relative(place)}"
        if free < settings.limits.disk:
            limit = settings.limits.disk / (1 << 30)
            line += f", less than one workspace may take ({limit:.1f} GiB, limits.disk)"
        checks.disk.append(line)


def _check_run_id(settings: RunConfig, checks: Checks) -> None:
    if settings.run_id and (settings.out / "runs" / settings.run_id).exists():
        checks.faults.append(
            f"the run {settings.run_id!r} exists, in "
            f"{relative(settings.out / 'runs' / settings.run_id)}; choose another id"
        )
