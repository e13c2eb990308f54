"""A base for adapters of programs that people install."""

from __future__ import annotations

import abc
import functools
import os
import subprocess
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import ClassVar
from typing import Generic
from typing import Literal
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from pytest_codegenie.agents.installation import Installation
from pytest_codegenie.agents.installation import find_installation
from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.agents.protocol import default_prompt
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.models import Record
from pytest_codegenie.trajectories import FinalMetrics
from pytest_codegenie.trajectories import Trajectory
from pytest_codegenie.trajectories import TrajectoryAgent
from pytest_codegenie.trajectories import TrajectoryBuilder


_VERSION_SECONDS = 60


class ProgramOptions(Record):
    """Options that all of these agents have."""

    #: A path, or a name that is looked up on PATH; "": the agent's usual name.
    program: str = ""
    #: As the agent calls it; None: the agent's own choice.
    model: str | None = None
    #: Of the model's server; None: the provider's own.
    base_url: str | None = None
    #: The variable of your environment that holds the key; None: the provider's usual.
    api_key_variable: str | None = None
    #: Further variables of your environment that it gets.
    inherit: tuple[str, ...] = ()
    #: Files of your home that it gets copies of, such as a login; by their paths below
    #: it. It gets nothing else of yours.
    home_files: tuple[str, ...] = ()
    #: Further ``host:port`` that it may reach from where it is isolated.
    network: tuple[str, ...] = ()
    #: Further paths that it may read there.
    readable: tuple[Path, ...] = ()
    #: Added to its command line.
    arguments: tuple[str, ...] = ()
    #: ``host``: it runs outside of the workspace and edits the files there, and nothing
    #: of it is isolated. For a program that cannot run inside.
    execution_mode: Literal["host", "container"] = "container"
    #: Tell it its limits at the end of the prompt.
    tell_limits: bool = False


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What an agent's output and records say of one run of it."""

    usage: Usage = field(default_factory=Usage)
    #: Why the run says nothing of its work; "" where it does.
    error: str = ""
    #: The limit of its own that ended it; "" for none.
    stopped_by: Literal["", "turns", "cost", "tokens"] = ""
    model: str | None = None
    version: str | None = None
    session_id: str | None = None
    #: What it did; ``build`` is not called yet.
    steps: TrajectoryBuilder | None = None
    #: Further facts, for ``AgentOutput.metadata``.
    facts: Mapping[str, Any] | None = None


_Options = TypeVar("_Options", bound=ProgramOptions)


class ProgramAgent(abc.ABC, Generic[_Options]):
    """An ``InstalledAgent`` with all that such programs have in common.

    A subclass gives the class variables, ``build_command``, ``read_report`` and what
    else differs. ``self.options`` holds once ``configure`` was called.
    """

    name: ClassVar[str]
    #: Its usual name on PATH.
    program: ClassVar[str]
    #: The command that installs it.
    install: ClassVar[str]
    #: What ``options`` is made of.
    options_type: ClassVar[type[ProgramOptions]] = ProgramOptions

    deterministic = False
    execution_mode: Literal["host", "container"] = "container"

    options: _Options

    def __init__(self) -> None:
        self._records: Mapping[str, bytes] = {}
        self._trajectory: Trajectory | None = None
        self._started_version: str | None = None

    # -- what a subclass gives ----------------------------------------------------

    @abc.abstractmethod
    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command line; it starts with ``self.start(instance)``."""

    @abc.abstractmethod
    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        """Return what the run says, also of one that was ended in the middle.

        It does not raise for anything that a program may print or write.
        """

    def key_variables(self) -> tuple[str, ...]:
        """Return the variables of which one has to hold the key of the model's server.

        Without any, and with ``home_files`` (a login), nothing is asked for.
        """
        return ()

    def provider(self) -> str:
        """Return the URL of the model's server where ``base_url`` names none; "": any.

        Then ``network`` has to list what it reaches.
        """
        return ""

    def settings(self) -> dict[str, str]:
        """Return the variables that keep it quiet and say what it needs."""
        return {}

    def read_usage(self, stdout: str, records: Mapping[str, bytes]) -> Usage:
        """Return what it used by now."""
        return self.read_report(stdout, "", 0, records).usage

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return copies of what ``home_files`` lists."""
        return {name: Path.home() / name for name in self.options.home_files}

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return none; what it prints is all there is."""
        return ()

    # -- what they have in common -------------------------------------------------

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take the options.

        Raises:
            AgentUnavailable: One is unknown or wrong.
        """
        check_option_names(self.name, options, self.options_type.model_fields)
        try:
            checked = self.options_type.model_validate(dict(options))
        except ValidationError as exc:
            fault = exc.errors()[0]
            key = ".".join(str(part) for part in fault["loc"]) or "options"
            raise AgentUnavailable(
                f"agent {self.name!r}: the option {key!r}: {fault['msg']}, got "
                f"{fault['input']!r:.200}"
            ) from exc
        self.options = checked  # type: ignore[assignment]
        self.execution_mode = checked.execution_mode
        self._check_options()

    def _check_options(self) -> None:
        url = self.options.base_url
        if url is not None and not _endpoint(url):
            raise AgentUnavailable(
                f"agent {self.name!r}: the option 'base_url' must be a URL such as "
                f"http://127.0.0.1:8080, got {url!r}"
            )
        for name in self.options.home_files:
            path = Path(name)
            if path.is_absolute() or ".." in path.parts:
                raise AgentUnavailable(
                    f"agent {self.name!r}: the option 'home_files' takes paths below "
                    f"your home, got {name!r}"
                )
            if not (Path.home() / path).is_file():
                raise AgentUnavailable(
                    f"agent {self.name!r}: the option 'home_files' names {name!r}, but "
                    f"there is no such file in {Path.home()}"
                )

    def installation(self) -> Installation | None:
        """Return how it is installed on this machine; None where it is not."""
        return find_installation(self.options.program or self.program)

    def start(self, instance: EvalInstance) -> list[str]:
        """Return the first words of the command line, which start the program."""
        found = self.installation() if instance.metadata["shares_programs"] else None
        self._started_version = None if found is None else found.version
        if found is None:
            return [self.options.program or self.program]
        return list(found.command)

    def version(self) -> str | None:
        """Return what its package says, or else what ``--version`` prints.

        None where it is not installed, or says nothing.
        """
        found = self.installation()
        if found is None:
            return None
        return found.version or _version(found.command)

    def probe(self, environment: Mapping[str, str], *, shared: bool) -> str:
        """Return "" if it can be started, or else why not and what to do about it."""
        if shared and self.installation() is None:
            program = self.options.program or self.program
            return (
                f"agent {self.name!r}: {program!r} is not installed on this machine; "
                f"install it: {self.install} (or name it in the option 'program')"
            )
        names = self._key_variables()
        if names and not any(environment.get(name) for name in names):
            return (
                f"agent {self.name!r}: no key for the model's server: set "
                f"{' or '.join(names)} in your environment, name another variable in "
                "the option 'api_key_variable', or list a login in 'home_files'"
            )
        return ""

    def _key_variables(self) -> tuple[str, ...]:
        own = self.options.api_key_variable
        if own is not None:
            return (own,)
        return () if self.options.home_files else self.key_variables()

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the problem statement, and the limits where it is to know them."""
        prompt = default_prompt(instance)
        if not self.options.tell_limits:
            return prompt
        limits = "\n".join(f"- {line}" for line in self.limits(instance))
        return f"{prompt.rstrip()}\n\n---\nYour limits:\n{limits}\n"

    def limits(self, instance: EvalInstance) -> Iterator[str]:
        """Yield the limits that the agent may be told, in words."""
        yield f"{instance.metadata['timeout_seconds']:g} seconds of time"
        turns = getattr(self.options, "max_turns", None)
        if turns is not None:
            yield f"{turns} turns"
        cost = getattr(self.options, "max_cost_usd", None)
        if cost is not None:
            yield f"{cost:g} USD"

    def get_environment(self) -> dict[str, str]:
        """Return keys and what is to be inherited, and the agent's own settings."""
        names = (*self._key_variables(), *self.options.inherit)
        own = {name: os.environ[name] for name in names if name in os.environ}
        return own | self.settings()

    def get_endpoints(self) -> tuple[str, ...]:
        """Return where the model's server is, and what ``network`` lists."""
        server = _endpoint(self.options.base_url or self.provider())
        return (*([server] if server else []), *self.options.network)

    def get_readable(self) -> tuple[Path, ...]:
        """Return what it is installed in, and what ``readable`` lists."""
        found = self.installation()
        own = tuple(path.absolute() for path in self.options.readable)
        return own if found is None else (*found.places, *own)

    def get_timeout_seconds(self) -> float | None:
        """Return None: the case's limit, or the run file's, holds."""
        return None

    def get_cost_limit_usd(self) -> float | None:
        """Return the option ``max_cost_usd`` of those that have it."""
        limit: float | None = getattr(self.options, "max_cost_usd", None)
        return limit

    def take_records(self, records: Mapping[str, bytes]) -> None:
        """Keep the files that tell what it did."""
        self._records = records

    def parse_output(
        self, stdout: str, stderr: str, exit_code: int, duration: float
    ) -> AgentOutput:
        """Return what it left, from its output and its records."""
        report = self.read_report(stdout, stderr, exit_code, self._records)
        self._trajectory = self._build_trajectory(report)
        usage = report.usage
        known = {
            "error": report.error or None,
            "stopped_by": report.stopped_by or None,
            "version": report.version or self._started_version,
            "session_id": report.session_id,
            "turns": usage.turns,
            "input_tokens": usage.input_tokens,
            "cached_tokens": usage.cached_tokens,
            "output_tokens": usage.output_tokens,
        }
        facts = {key: value for key, value in known.items() if value is not None}
        return AgentOutput(
            instance_id="",
            agent_name=self.name,
            exit_code=exit_code,
            stdout=stdout,
            stderr=stderr,
            duration_seconds=duration,
            cost_usd=usage.cost_usd,
            tokens_used=usage.tokens,
            model_name=report.model or self.options.model,
            metadata={**facts, **(report.facts or {})},
        )

    def _build_trajectory(self, report: AgentReport) -> Trajectory | None:
        if report.steps is None:
            return None
        usage = report.usage
        return report.steps.build(
            TrajectoryAgent(
                name=self.name,
                version=report.version or self._started_version or "unknown",
                model_name=report.model or self.options.model,
            ),
            session_id=report.session_id,
            final_metrics=FinalMetrics(
                total_prompt_tokens=usage.input_tokens,
                total_completion_tokens=usage.output_tokens,
                total_cached_tokens=usage.cached_tokens,
                total_cost_usd=usage.cost_usd,
            ),
        )

    def get_trajectory(self) -> Trajectory | None:
        """Return what it did, after ``parse_output``."""
        return self._trajectory


@functools.cache
def _version(command: tuple[str, ...]) -> str | None:
    """Ask a program for its version; once in a process."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
    try:
        done = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_VERSION_SECONDS,
            check=False,
            env=environment,
            start_new_session=True,  # Ctrl-C is not for it
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return said[:200] if done.returncode == 0 and said else None


def _endpoint(url: str) -> str:
    """Return ``host:port`` of a URL; "" where it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    if not parts.hostname or port is None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{port}"
