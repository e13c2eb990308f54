"""The gates that ship beside tests, coverage and pylint, and any command as a gate."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from pytest_codegenie.harness.foundry.gates.protocol import GateOutcome
from pytest_codegenie.harness.foundry.gates.site import GateSite
from pytest_codegenie.harness.foundry.gates.site import ToolFailed
from pytest_codegenie.harness.foundry.gates.site import last_words
from pytest_codegenie.harness.foundry.records import CommandGate


_TOLD = 50
_MYPY_LINE = re.compile(r"(?P<path>[^:\n]+):(?P<line>\d+): error: (?P<message>.*)")


class _ModuleGate:
    """A checker that is a module, and says by exit code 0 that there is nothing."""

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    arguments: tuple[str, ...]

    def check(self, site: GateSite) -> GateOutcome:
        """Run it on src/; exit code 1 is what it found, any other a crash."""
        done = site.run_module(self.modules[0], *self.arguments)
        if done.exit_code == 0:
            return GateOutcome(passed=True)
        try:
            found = list(self.read(done.stdout.decode(errors="replace")))
        except (ValueError, KeyError, TypeError):
            found = []
        if done.exit_code != 1 or not found:
            raise ToolFailed(
                f"{self.name} ended with exit code {done.exit_code}: {last_words(done)}"
            )
        reason = f"{self.name} found {len(found)} faults"
        root = site.inside(site.tree).rstrip("/") + "/"
        told = ({**one, "path": one["path"].removeprefix(root)} for one in found)
        return GateOutcome(False, reason, tuple(told)[:_TOLD])

    def read(self, text: str) -> Iterable[dict[str, Any]]:
        """Return what it found, from what it printed."""
        raise NotImplementedError


class RuffGate(_ModuleGate):
    """``ruff check``, with the project's own settings."""

    name = "ruff"
    packages = ("ruff",)
    modules = ("ruff",)
    arguments = ("check", "--no-cache", "--output-format=json", "src", "tests")

    def read(self, text: str) -> Iterable[dict[str, Any]]:
        """Read its JSON."""
        for one in json.loads(text):
            yield {
                "path": one["filename"],
                "line": one["location"]["row"],
                "symbol": one["code"],
                "message": one["message"],
            }


class MypyGate(_ModuleGate):
    """``mypy``, with the project's own settings."""

    name = "mypy"
    packages = ("mypy",)
    modules = ("mypy",)
    arguments = ("--cache-dir=/dev/null", "--no-error-summary", "--no-pretty", "src")

    def read(self, text: str) -> Iterable[dict[str, Any]]:
        """Read its lines."""
        for found in _MYPY_LINE.finditer(text):
            yield {**found.groupdict(), "line": int(found["line"])}


class BanditGate(_ModuleGate):
    """``bandit``: what may be a hole, in src/."""

    name = "bandit"
    packages = ("bandit",)
    modules = ("bandit",)
    arguments = ("--quiet", "--format", "json", "--recursive", "src")

    def read(self, text: str) -> Iterable[dict[str, Any]]:
        """Read its JSON."""
        for one in json.loads(text)["results"]:
            yield {
                "path": one["filename"],
                "line": one["line_number"],
                "symbol": one["test_id"],
                "message": one["issue_text"],
            }


class ProgramGate:
    """Any command of ``harness.yaml``: exit code 0 is passed.

    Args:
        settings: As they stand there.
    """

    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def __init__(self, settings: CommandGate) -> None:
        self.name = settings.name
        self._command = settings.command

    def check(self, site: GateSite) -> GateOutcome:
        """Run it; the end of what it prints is what it found."""
        done = site.run(self.name, self._command)
        if done.exit_code == 0:
            return GateOutcome(passed=True)
        reason = f"{self.name} ended with exit code {done.exit_code}"
        return GateOutcome(False, reason, ({"message": last_words(done)},))
