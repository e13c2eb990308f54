"""``QualityGate``: whether a step's code is good enough to be taken."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.gates.programs import ProgramGate
from pytest_codegenie.harness.foundry.gates.protocol import Gate
from pytest_codegenie.harness.foundry.gates.protocol import GateOutcome
from pytest_codegenie.harness.foundry.gates.pylint import run_pylint
from pytest_codegenie.harness.foundry.gates.site import GateSite
from pytest_codegenie.harness.foundry.gates.site import ToolFailed
from pytest_codegenie.harness.foundry.gates.tests import run_tests
from pytest_codegenie.harness.foundry.records import Thresholds
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.workspaces import Workspace


#: What every project's environment needs, as pip installs it.
PACKAGES = ("pytest", "coverage>=7.10", "pylint>=3.1")
_MODULES = ("pytest", "coverage", "pylint")
_FIND = """\
import importlib.util, json, sys
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
print(json.dumps(missing))
"""


class QualityGate:
    """Runs the project's tests with coverage, pylint, and further gates.

    Args:
        thresholds: What has to be reached.
        tool_seconds: What each tool has.
        gates: Further ones.
    """

    def __init__(
        self,
        thresholds: Thresholds | None = None,
        *,
        tool_seconds: float = 300.0,
        gates: Sequence[Gate] = (),
    ) -> None:
        self.thresholds = thresholds or Thresholds()
        self.tool_seconds = tool_seconds
        self.gates = tuple(gates)

    @property
    def packages(self) -> tuple[str, ...]:
        """Return what an environment needs, as pip installs it."""
        more = [package for gate in self.gates for package in gate.packages]
        return (*PACKAGES, *more)

    def missing(self, workspace: Workspace) -> str:
        """Return "" if all tools are in a workspace's environment, or else what not."""
        names = [*_MODULES, *(name for gate in self.gates for name in gate.modules)]
        site = GateSite(workspace, self.tool_seconds)
        try:
            # Nothing of the tree's counts.
            argv = [site.python, "-I", "-c", _FIND, *names]
            done = site.run("python", argv)
            found = json.loads(done.stdout)
        except (ToolFailed, ValueError) as exc:
            return f"the project's Python does not work: {exc}"
        if not found:
            return ""
        lacking = ", no ".join(found)
        return f"the environment that src/ and tests/ run with has no {lacking}"

    def run(
        self, workspace: Workspace, thresholds: Thresholds | None = None
    ) -> dict[str, Any]:
        """Run all gates on what a workspace holds.

        Args:
            workspace: Prepared. What runs in it is not trusted, and may change its
                tree: what is to be taken has to be taken before.
            thresholds: Instead of the project's.

        Returns:
            ``coverage`` (per cent of the lines of src/, 0.0 where it could not be
            measured), ``pylint_score`` (0.0 where there is none), ``passed``; and
            ``reasons`` (a sentence for each thing that keeps it from passing),
            ``tests``, ``uncovered``, ``excluded_lines``, ``lint``, ``gates``, and
            ``seconds``.

        Raises:
            WorkspaceUnavailable: The place itself broke.
        """
        started = time.monotonic()
        wanted = thresholds or self.thresholds
        site = GateSite(workspace, self.tool_seconds)
        tests, lint = run_tests(site), run_pylint(site)
        others = {gate.name: _check(gate, site) for gate in self.gates}
        reasons = [*tests.reasons, *lint.reasons]
        measured = bool(tests.counts) and not tests.reasons
        if (measured or tests.coverage) and tests.coverage < wanted.coverage:
            reasons.append(_short_of("coverage", tests.coverage, wanted.coverage, "%"))
        if not lint.reasons and lint.score < wanted.pylint:
            reasons.append(_short_of("pylint", lint.score, wanted.pylint, ""))
        reasons += [one.reason for one in others.values() if not one.passed]
        return {
            "coverage": _shown(tests.coverage),
            "pylint_score": _shown(lint.score),
            "passed": not reasons,
            "reasons": reasons,
            "tests": {"counts": tests.counts, "failures": tests.failures},
            "uncovered": tests.uncovered,
            "excluded_lines": tests.excluded_lines,
            "lint": lint.messages,
            "gates": {name: _as_dict(one) for name, one in others.items()},
            "seconds": round(time.monotonic() - started, 3),
        }


def make_gates(
    wanted: Sequence[Any], table: Mapping[str, str], place: Any
) -> list[Gate]:
    """Return the gates that ``harness.yaml`` lists.

    Args:
        wanted: Names, and ``CommandGate`` records.
        table: All gates by name.
        place: The file, for the message.

    Raises:
        ProjectError: There is none of that name.
    """
    gates: list[Gate] = []
    for one in wanted:
        if not isinstance(one, str):
            gates.append(ProgramGate(one))
            continue
        try:
            gates.append(make_part("gate", one, table))
        except UnknownPartError as exc:
            raise ProjectError(place, f"gates: {exc}") from exc
    return gates


def _check(gate: Gate, site: GateSite) -> GateOutcome:
    try:
        return gate.check(site)
    except ToolFailed as exc:
        return GateOutcome(False, exc.reason)
    except Exception as exc:
        # A gate is anybody's code, and what cannot be told is no pass.
        reason = f"the gate {gate.name!r} broke: {type(exc).__name__}: {exc}"
        return GateOutcome(False, reason)


def _as_dict(outcome: GateOutcome) -> dict[str, Any]:
    return {
        "passed": outcome.passed,
        "reason": outcome.reason,
        "findings": list(outcome.findings),
    }


def _short_of(what: str, found: float, wanted: float, unit: str) -> str:
    return f"{what} is {_shown(found):g}{unit}, and {wanted:g}{unit} is asked for"


def _shown(figure: float) -> float:
    """Round down: 89.999 is not 90."""
    return float(math.floor(round(figure * 100, 6)) / 100)
