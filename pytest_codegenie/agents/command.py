"""The agent ``command``: any command line."""

from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.agents.protocol import default_prompt
from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


#: What a line of JSON may say of what it used.
_USAGE_KEYS = ("cost_usd", "tokens", "model")


class CommandAgent:
    """Runs a program in the workspace; what it changes there is its answer.

    Options:
        command: A list, or one string that is split as a shell would; required.
            In its arguments ``{workspace}`` is the tree's path, ``{problem}`` the path
            of a file with the prompt, ``{prompt}`` the prompt itself. A program with
            a relative path is looked for where pytest was started.
        prompt: ``stdin`` (the default) or ``file``: then standard input is empty.
        network: A list of ``host:port`` that it may reach from where it is isolated.
        readable: A list of paths that it may read there, beside the files that the
            command names by absolute paths.
        inherit: A list of variables of your environment that it gets there.
        execution_mode: ``container`` (the default), or ``host``: it runs outside of the
            workspace and edits the files there, with nothing of it isolated.
        tells_usage: True: it prints lines of JSON on standard output that say what it
            has used by then: ``{"cost_usd": 0.25, "tokens": 1200, "model": "m"}``, with
            those of the keys that it knows. The last that is said of each holds.
        max_cost_usd: The most that it may cost, where it sees to that itself; so much
            of the run's budget is reserved for it. It is not told.
    """

    name = "command"
    deterministic = False

    def __init__(self) -> None:
        self.execution_mode: Literal["host", "container"] = "container"
        self._command: list[str] = []
        self._prompt_on_stdin = True
        self._inherited: dict[str, str] = {}
        self._endpoints: tuple[str, ...] = ()
        self._readable: tuple[Path, ...] = ()
        self._tells_usage = False
        self._max_cost_usd: float | None = None

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take the options."""
        known = (
            *("command", "execution_mode", "inherit", "max_cost_usd", "network"),
            *("prompt", "readable", "tells_usage"),
        )
        check_option_names(self.name, options, known)
        self._command = _words(options.get("command"))
        prompt = options.get("prompt", "stdin")
        if prompt not in ("stdin", "file"):
            raise AgentUnavailable(
                "agent 'command': the option 'prompt' must be 'stdin' or 'file', got "
                f"{prompt!r}"
            )
        self._prompt_on_stdin = prompt == "stdin"
        mode = options.get("execution_mode", "container")
        if mode not in ("host", "container"):
            raise AgentUnavailable(
                "agent 'command': the option 'execution_mode' must be 'container' or "
                f"'host', got {mode!r}"
            )
        self.execution_mode = mode
        self._inherited = _inherited(_strings("inherit", options))
        self._endpoints = tuple(_strings("network", options))
        self._readable = tuple(
            Path(path).absolute() for path in _strings("readable", options)
        )
        self._tells_usage = _flag("tells_usage", options)
        self._max_cost_usd = _amount("max_cost_usd", options)

    def version(self) -> str | None:
        """Return None: any program has its own way to tell."""
        return None

    def probe(self, environment: Mapping[str, str], *, shared: bool) -> str:
        """Return "" if the program is there, or else why it cannot be started.

        Args:
            environment: Not looked at.
            shared: Programs of this machine can be started where it will run.
        """
        program = self._command[0]
        if not shared or shutil.which(program) is not None:
            return ""
        where = "here" if "/" in program else "on PATH"
        return (
            f"agent 'command': there is no program {program!r} {where}; install it, or "
            "correct the option 'command'"
        )

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command with its places filled in."""
        places = {
            "{workspace}": workdir,
            "{problem}": str(instance.metadata["problem_file"]),
            "{prompt}": default_prompt(instance),
        }
        command = []
        for word in self._command:
            for place, value in places.items():
                word = word.replace(place, value)  # noqa: PLW2901 -- in turn
            command.append(word)
        program = command[0]
        if "/" in program and not program.startswith("/"):
            command[0] = str(Path(program).absolute())
        return command

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return the problem statement, with the hints where there are some."""
        return default_prompt(instance) if self._prompt_on_stdin else ""

    def get_environment(self) -> dict[str, str]:
        """Return what the option ``inherit`` lists."""
        return self._inherited

    def get_endpoints(self) -> tuple[str, ...]:
        """Return what the option ``network`` lists."""
        return self._endpoints

    def get_readable(self) -> tuple[Path, ...]:
        """Return the files that the command names by path, and ``readable``."""
        program, *arguments = self._command
        named = [Path(program).absolute()] if "/" in program else []
        named += [Path(word) for word in arguments if word.startswith("/")]
        return (*(path for path in named if path.is_file()), *self._readable)

    def get_timeout_seconds(self) -> float | None:
        """Return None: the case's limit, or the run file's, holds."""
        return None

    def get_cost_limit_usd(self) -> float | None:
        """Return the option ``max_cost_usd``."""
        return self._max_cost_usd

    def read_usage(self, stdout: str, records: Mapping[str, bytes]) -> Usage:
        """Return what it has told by now.

        Args:
            stdout: What it has printed by now.
            records: Not looked at.
        """
        told = self._told(stdout)
        tokens = count_at(told, "tokens")
        return Usage(cost_usd=amount_at(told, "cost_usd"), output_tokens=tokens)

    def _told(self, stdout: str) -> dict[str, Any]:
        """Return what it told last of each; nothing where it tells nothing."""
        told: dict[str, Any] = {}
        for line in json_lines(stdout) if self._tells_usage else ():
            told |= {key: line[key] for key in _USAGE_KEYS if key in line}
        return told

    def parse_output(
        self, stdout: str, stderr: str, exit_code: int, duration: float
    ) -> AgentOutput:
        """Return what it printed, and what it said that it used."""
        told = self._told(stdout)
        return AgentOutput(
            instance_id="",
            agent_name=self.name,
            exit_code=exit_code,
            stdout=stdout,
            stderr=stderr,
            duration_seconds=duration,
            cost_usd=amount_at(told, "cost_usd"),
            tokens_used=count_at(told, "tokens"),
            model_name=text_at(told, "model"),
        )


def _strings(option: str, options: Mapping[str, Any]) -> list[str]:
    value = options.get(option, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise AgentUnavailable(
            f"agent 'command': the option {option!r} must be a list of strings, got "
            f"{value!r}"
        )
    return value


def _flag(option: str, options: Mapping[str, Any]) -> bool:
    value = options.get(option, False)
    if not isinstance(value, bool):
        raise AgentUnavailable(
            f"agent 'command': the option {option!r} must be true or false, got "
            f"{value!r}"
        )
    return value


def _amount(option: str, options: Mapping[str, Any]) -> float | None:
    value = options.get(option)
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise AgentUnavailable(
            f"agent 'command': the option {option!r} must be a number of dollars above "
            f"0, got {value!r}"
        )
    return float(value)


def _inherited(names: list[str]) -> dict[str, str]:
    unset = [name for name in names if name not in os.environ]
    if unset:
        raise AgentUnavailable(
            f"agent 'command': the option 'inherit' names {', '.join(unset)}, which is "
            "not set; export it, or take it out"
        )
    return {name: os.environ[name] for name in names}


def _words(command: Any) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError as exc:
        raise AgentUnavailable(f"agent 'command': the option 'command': {exc}") from exc
    if (
        not isinstance(words, list)
        or not words
        or not all(isinstance(word, str) for word in words)
        or not words[0]
    ):
        raise AgentUnavailable(
            "agent 'command': the option 'command' must be a program and its "
            f"arguments, got {command!r}; set it in the run file: "
            'options: {command: ["./my-agent", "{workspace}"]}'
        )
    return words
