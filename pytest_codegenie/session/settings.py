"""From pytest's options and what other plugins add to what a session runs with."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pluggy
import pytest

from pytest_codegenie.config import Configuration
from pytest_codegenie.config import RunConfig
from pytest_codegenie.config import load_configuration
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import PartTable
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.workspaces import Workspace


#: What ``auto`` tries, best first.
WORKSPACE_PREFERENCE = ("sandbox", "host")


class BuiltinParts:
    """Our own parts, through the hooks that anybody's come through."""

    @pytest.hookimpl
    def pytest_codegenie_agents(self) -> Mapping[str, str]:
        """Return the agents that ship."""
        return BUILTIN_PARTS.agents

    @pytest.hookimpl
    def pytest_codegenie_workspaces(self) -> Mapping[str, str]:
        """Return the workspaces that ship."""
        return BUILTIN_PARTS.workspaces

    @pytest.hookimpl
    def pytest_codegenie_evaluators(self) -> Mapping[str, str]:
        """Return the evaluators that ship."""
        return BUILTIN_PARTS.evaluators

    @pytest.hookimpl
    def pytest_codegenie_harnesses(self) -> Mapping[str, str]:
        """Return the kinds of harness that ship."""
        return BUILTIN_PARTS.harnesses

    @pytest.hookimpl
    def pytest_codegenie_gates(self) -> Mapping[str, str]:
        """Return the gates that ship."""
        return BUILTIN_PARTS.gates

    @pytest.hookimpl
    def pytest_codegenie_reporters(self) -> Mapping[str, str]:
        """Return the formats of reports that ship."""
        return BUILTIN_PARTS.reporters

    @pytest.hookimpl
    def pytest_codegenie_datasets(self) -> Mapping[str, str]:
        """Return the formats of datasets that ship."""
        return BUILTIN_PARTS.datasets


def gather_parts(hook: pluggy.HookRelay) -> PartTable:
    """Ask all plugins for their parts.

    Raises:
        ConfigError: Two plugins give one name, or a value is no ``module:attribute``.
    """
    return PartTable(
        agents=_merge("agent", hook.pytest_codegenie_agents()),
        workspaces=_merge("workspace", hook.pytest_codegenie_workspaces()),
        evaluators=_merge("evaluator", hook.pytest_codegenie_evaluators()),
        harnesses=_merge("harness", hook.pytest_codegenie_harnesses()),
        gates=_merge("gate", hook.pytest_codegenie_gates()),
        reporters=_merge("reporter", hook.pytest_codegenie_reporters()),
        datasets=_merge("dataset", hook.pytest_codegenie_datasets()),
    )


def _merge(kind: str, tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for table in tables:
        if not isinstance(table, Mapping):
            raise ConfigError(
                "plugins",
                f"{kind}s",
                "must be a mapping of names to 'package.module:attribute', got "
                f"{table!r}",
            )
        for name, reference in table.items():
            if not isinstance(reference, str) or reference.count(":") != 1:
                raise ConfigError(
                    "plugins",
                    f"{kind} {name!r}",
                    f"must be given as 'package.module:attribute', got {reference!r}",
                )
            if merged.setdefault(name, reference) != reference:
                raise ConfigError(
                    "plugins",
                    f"{kind} {name!r}",
                    f"is given twice, as {merged[name]!r} and {reference!r}; disable "
                    "one of the plugins with -p no:NAME",
                )
    return merged


#: Options that are settings, by ``RunConfig`` key or its singular.
_OPTIONS = (
    *("agent", "cache", "case", "dataset", "keep", "limit", "log_level", "out"),
    *("reporter", "run_id", "timeout", "trials", "workspace"),
    *("require_lower_bound", "baseline", "fail_on_regression", "max_cost_usd"),
)
_CONFIGURATION = pytest.StashKey[Configuration]()


def configured(
    config: pytest.Config, option: argparse.Namespace | None = None
) -> Configuration:
    """Return what holds for this session, from all places; they are read once.

    Args:
        config: Of pytest.
        option: What is known of the options; None: ``config`` has parsed them all.

    Raises:
        ConfigError: A setting is wrong.
    """
    known = config.stash.get(_CONFIGURATION, None)
    if known is None:
        option = option or config.option
        run_file = option.codegenie_run_file
        known = load_configuration(
            options=_given(option),
            environment=os.environ,
            run_file=Path(run_file) if run_file else None,
            pyproject=config.rootpath / "pyproject.toml",
        )
        config.stash[_CONFIGURATION] = known
    return known


def _given(option: argparse.Namespace) -> dict[str, Any]:
    given = {key: getattr(option, f"codegenie_{key}") for key in _OPTIONS}
    if option.codegenie_no_docker:
        given["docker"] = {"enabled": False}
    return given


def read_settings(
    config: pytest.Config, parts: PartTable, workspace: str | None = None
) -> RunConfig:
    """Return what holds for this session, the workspace chosen.

    Args:
        config: Of pytest.
        parts: All there are.
        workspace: What the controller chose, in a worker of xdist; None: choose.

    Raises:
        ConfigError: A setting is wrong, or names a part that there is not.
    """
    configuration = configured(config)
    settings = configuration.settings
    for number, agent in enumerate(settings.agents):
        source = configuration.origin(f"agents.{number}")
        _check_known(source, "agent", agent.name, parts.agents)
    for name in settings.reporters:
        source = configuration.origin("reporters")
        _check_known(source, "reporter", name, parts.reporters)
    chosen = choose_workspace(
        workspace or settings.workspace,
        parts.workspaces,
        configuration.origin("workspace"),
        docker_enabled=settings.docker.enabled,
    )
    return settings.model_copy(
        update={
            "workspace": chosen,
            "out": config.invocation_params.dir / settings.out,
        }
    )


def choose_workspace(
    name: str,
    workspaces: Mapping[str, str],
    source: str,
    *,
    docker_enabled: bool | None = None,
) -> str:
    """Return the workspace that is meant: for ``auto`` the best that works here.

    Args:
        name: As in ``--codegenie-workspace``.
        workspaces: All there are.
        source: Where the name comes from, for the message.
        docker_enabled: True: ``docker`` is the best, whether it works or not, as
            somebody said so. False: it is refused.

    Raises:
        ConfigError: There is no such workspace, or it is refused or cannot be made.
    """
    if name == "auto":
        return "docker" if docker_enabled else _best_that_works(workspaces)
    _check_known(source, "workspace", name, workspaces)
    if name == "docker" and docker_enabled is False:
        raise ConfigError(
            source,
            "workspace",
            "'docker' is refused (docker.enabled is false, or --codegenie-no-docker); "
            "allow it, or name another workspace",
        )
    try:
        make_part("workspace", name, workspaces)
    except Exception as exc:
        # Somebody else's code may raise anything.
        raise ConfigError(source, "workspace", f"{name!r}: {exc}") from exc
    return name


def _best_that_works(workspaces: Mapping[str, str]) -> str:
    return next(
        better
        for better in WORKSPACE_PREFERENCE
        if better == WORKSPACE_PREFERENCE[-1]
        or not make_part("workspace", better, workspaces).probe()
    )


def better_workspaces(chosen: str, workspaces: Mapping[str, str]) -> Iterator[str]:
    """Yield for the header why what ``auto`` prefers to ``chosen`` does not work."""
    if chosen in WORKSPACE_PREFERENCE:
        for name in WORKSPACE_PREFERENCE[: WORKSPACE_PREFERENCE.index(chosen)]:
            workspace: Workspace = make_part("workspace", name, workspaces)
            if fault := workspace.probe():
                yield f"codegenie: no workspace {name}: {fault}"


def _check_known(source: str, kind: str, name: str, known: Mapping[str, str]) -> None:
    if name not in known:
        raise ConfigError(
            source,
            kind,
            f"there is no {kind} {name!r}{did_you_mean(name, known)}; known: "
            f"{', '.join(sorted(known))} (codegenie list {kind}s)",
        )


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Let pytest show an error of ours that is found before anything runs."""
    try:
        yield
    except CodegenieError as exc:
        raise pytest.UsageError(str(exc)) from exc
