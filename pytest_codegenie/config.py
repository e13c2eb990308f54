"""One ``RunConfig``, from five places.

Command line > environment (``CODEGENIE_*``) > run file (YAML) > ``[tool.codegenie]``
in ``pyproject.toml`` > defaults. A later place fills only what an earlier one leaves
open; agents are taken whole from the first place that names any.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

import yaml
from pydantic import Field
from pydantic import ValidationError

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import parse_yaml
from pytest_codegenie.documents import read_toml
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import relative
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import Label
from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import SandboxSettings


ENVIRONMENT_PREFIX = "CODEGENIE_"


class RunConfig(Record):
    """What holds for a run."""

    #: Who works on the cases; each agent is an item of its own.
    agents: Annotated[tuple[AgentSpec, ...], Field(min_length=1)] = (
        AgentSpec(name="oracle", label="oracle"),
    )
    #: ``auto``, or a registered workspace.
    workspace: str = "auto"
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
    #: What pytest-timeout allows an item beyond all limits of its own, in seconds.
    timeout_margin: Positive = 60.0
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


@dataclass(frozen=True, slots=True)
class _Layer:
    """One place's settings, and how a message names the place and a key in it."""

    source: str
    values: Mapping[str, Any]
    shown: Callable[[str], str] = str


def load_config(
    *,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    run_file: Path | None = None,
    pyproject: Path | None = None,
) -> RunConfig:
    """Merge all places into one configuration.

    Args:
        options: From the command line, by ``RunConfig`` key; ``agent`` is a sequence
            of ``NAME`` or ``NAME:label``. What was not given is absent or None.
        environment: The process environment; ``CODEGENIE_AGENT`` may hold several
            agents, separated by commas.
        run_file: YAML, or None.
        pyproject: A ``pyproject.toml``; it may be missing or have no such table.

    Raises:
        ConfigError: A place cannot be read, or a key is unknown or wrong.
    """
    layers = [
        _Layer("command line", _given(options), _as_option),
        _Layer("environment", _from_environment(environment), _as_variable),
    ]
    if run_file is not None:
        layers.append(_Layer(relative(run_file), _from_run_file(run_file)))
    if pyproject is not None and pyproject.is_file():
        table = _from_pyproject(pyproject)
        layers.append(_Layer(relative(pyproject), table, "tool.codegenie.{}".format))
    # Every place is checked by itself, so that an error names where it stands.
    checked = [_check(layer) for layer in layers]
    merged: dict[str, Any] = {}
    for values in reversed(checked):
        merged.update(values)
    merged["agents"] = _chosen_agents(checked)
    if not merged["agents"]:
        del merged["agents"]
    return RunConfig(**merged)


def _as_option(key: str) -> str:
    return f"--codegenie-{key.replace('_', '-')}"


def _as_variable(key: str) -> str:
    return ENVIRONMENT_PREFIX + key.upper()


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in ("agent", *RunConfig.model_fields):
        text = environment.get(_as_variable(key))
        if text and key != "agents":
            values[key] = _split(text) if key == "agent" else _in_a_line(key, text)
    return values


def _in_a_line(key: str, text: str) -> Any:
    """Return a setting as a variable gives it; a table is a line of YAML."""
    if key not in TABLES:
        return text
    try:
        return parse_yaml(text)
    except (yaml.YAMLError, ValueError):
        return text  # which is no table, and so an error that shows it


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _from_run_file(path: Path) -> dict[str, Any]:
    try:
        values = read_yaml(path)
    except DocumentError as exc:
        raise ConfigError(relative(path), "", exc.reason) from exc
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(relative(path), "", "must be a mapping of settings")
    return {str(key): value for key, value in values.items()}


def _from_pyproject(path: Path) -> dict[str, Any]:
    try:
        tools = read_toml(path).get("tool", {})
    except DocumentError as exc:
        raise ConfigError(relative(path), "", exc.reason) from exc
    table = tools.get("codegenie", {}) if isinstance(tools, dict) else tools
    if not isinstance(table, dict):
        raise ConfigError(relative(path), "tool.codegenie", "must be a table")
    return {key.replace("-", "_"): value for key, value in table.items()}


def _check(layer: _Layer) -> dict[str, Any]:
    values = dict(layer.values)
    names = values.pop("agent", None)
    if names is not None:
        if "agents" in values:
            raise ConfigError(
                layer.source, "agent", "give either 'agent' or 'agents', not both"
            )
        listed = names if isinstance(names, list | tuple) else [names]
        values["agents"] = [_agent_from_name(name, layer) for name in listed]
    elif isinstance(values.get("agents"), list):
        values["agents"] = [_with_label(agent) for agent in values["agents"]]
    known = (*RunConfig.model_fields, "agent")
    for key in values:
        if key not in known:
            raise ConfigError(
                layer.source,
                layer.shown(key),
                f"unknown key{did_you_mean(key, known)}; known: "
                f"{', '.join(sorted(known))}",
            )
    try:
        config = RunConfig(**values)
    except ValidationError as exc:
        raise _config_error(layer, exc) from exc
    _refuse_equal_labels(config.agents, layer)
    return {key: getattr(config, key) for key in values}


def _agent_from_name(name: Any, layer: _Layer) -> dict[str, Any]:
    if not isinstance(name, str) or not name:
        raise ConfigError(
            layer.source,
            layer.shown("agent"),
            f"must be NAME or NAME:label, got {name!r}",
        )
    agent, _, label = name.partition(":")
    return {"name": agent, "label": label or agent}


def _with_label(agent: Any) -> Any:
    if isinstance(agent, dict) and "label" not in agent and "name" in agent:
        return agent | {"label": agent["name"]}
    return agent


def _refuse_equal_labels(agents: Sequence[AgentSpec], layer: _Layer) -> None:
    seen: set[str] = set()
    for agent in agents:
        if agent.label in seen:
            raise ConfigError(
                layer.source,
                layer.shown("agent"),
                f"label {agent.label!r} is used by two agents; give each its own: "
                f"{agent.name}:another-label",
            )
        seen.add(agent.label)


def _config_error(layer: _Layer, exc: ValidationError) -> ConfigError:
    error = exc.errors()[0]
    keys = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        known = TABLES.get(keys[0], AgentSpec).model_fields
        reason = (
            f"unknown key{did_you_mean(keys[-1], known)}; known: "
            f"{', '.join(sorted(known))}"
        )
    elif keys[0] in TABLES and len(keys) == 1:
        reason = (
            "must be a table, such as {memory: 4g}, got "
            f"{reprlib.repr(error['input'])}"
        )
    elif error["type"] == "missing":
        # Not what there is instead: an agent's environment may hold secrets.
        reason = "required key is missing"
    elif keys[-1] in ("label", "run_id"):
        reason = (
            "must start with a letter or digit and hold only letters, digits, '.', '_' "
            f"and '-', 64 at most, got {error['input']!r}"
        )
    else:
        reason = f"{error['msg']}, got {reprlib.repr(error['input'])}"
    return ConfigError(layer.source, layer.shown(".".join(keys)), reason)


def _chosen_agents(checked: Sequence[Mapping[str, Any]]) -> tuple[AgentSpec, ...]:
    """Take the first place that names agents, filled in from the later ones.

    ``--codegenie-agent claude-code:opus-high`` selects the agent of that label, whose
    options stand in the run file; ``claude-code`` alone selects the one that has no
    label of its own there, or else all of that name.
    """
    places = [values["agents"] for values in checked if "agents" in values]
    if not places:
        return ()
    described: dict[tuple[str, str], AgentSpec] = {
        (agent.name, agent.label): agent
        for place in reversed(places[1:])
        for agent in place
    }
    chosen: dict[str, AgentSpec] = {}
    for agent in places[0]:
        for found in _described(agent, described):
            chosen.setdefault(found.label, found)
    return tuple(chosen.values())


def _described(
    agent: AgentSpec, described: Mapping[tuple[str, str], AgentSpec]
) -> Sequence[AgentSpec]:
    if agent != AgentSpec(name=agent.name, label=agent.label):
        return [agent]  # it brings its own settings
    exact = described.get((agent.name, agent.label))
    if exact is not None:
        return [exact]
    if agent.label != agent.name:
        return [agent]
    named = [other for other in described.values() if other.name == agent.name]
    return named or [agent]
