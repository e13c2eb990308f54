"""The events of ``go test -json``."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


_STATUSES: Mapping[str, TestStatus] = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
}


@dataclass(slots=True)
class _Package:
    """What is said of one package: its tests, and how it ended as a whole."""

    started: set[str] = field(default_factory=set)
    results: list[tuple[str, TestStatus]] = field(default_factory=list)
    output: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: ``pass``, ``fail``, ``skip``; "" while nothing is said.
    end: str = ""


def parse(text: str) -> Report:
    """Read the events; ids are ``<package path>.<test>/<subtest>``.

    Each package's own result has to agree with those of its tests. Where it does not,
    none of its tests has passed: the program that ran them came to another end than it
    reports, as by ``os.Exit``.
    """
    packages: dict[str, _Package] = defaultdict(_Package)
    report = Report()
    for line in text.split("\n"):
        event = _event(line)
        if event is not None:
            _take(event, packages[event["Package"]])
        elif line.startswith("FAIL\t"):
            # So go before 1.24 tells of a package that does not build.
            report.fail(line)
    for name, package in packages.items():
        _add(name, package, report)
    return report


def _event(line: str) -> dict[str, str] | None:
    """Return what a line says of a package; None where it is no event of one."""
    if not line.startswith("{"):
        return None
    try:
        event: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not event.get("Package"):
        return None
    keys = ("Action", "Package", "Test", "Output")
    return {key: str(event.get(key, "")) for key in keys}


def _take(event: Mapping[str, str], package: _Package) -> None:
    action, test = event["Action"], event["Test"]
    if action == "output":
        package.output[test].append(event["Output"])
    elif not test:
        package.end = action if action in _STATUSES else package.end
    elif action == "run":
        package.started.add(test)
    elif action in _STATUSES:
        package.results.append((test, _STATUSES[action]))


def _add(name: str, package: _Package, report: Report) -> None:
    """Add a package's tests to the report."""
    results = package.results
    ended = {test for test, _ in results}
    failed = [test for test, status in results if status == "failed"]
    unended = package.started - ended
    fault = _fault(package, ended, [*failed, *unended])
    for test, status in results:
        text = fault or "".join(package.output[test])
        report.add(f"{name}.{test}", "error" if fault else status, text)
    for test in sorted(unended):
        text = "it did not end\n" + "".join(package.output[test])
        report.add(f"{name}.{test}", "error", text)
    if package.end == "fail":
        report.fail(f"{name}\n" + "".join(package.output[""]))


def _fault(package: _Package, ended: set[str], failed: list[str]) -> str:
    """Say how a package's result and those of its tests disagree; "" if they agree."""
    forged = sorted(ended - package.started)
    if forged:
        return f"a test that was not started is reported: {forged[0]}"
    if not package.end:
        return "the run of the package broke off"
    if package.end == "fail" and not failed:
        return "the package failed, though none of its tests did"
    if package.end != "fail" and failed:
        return f"the package passed, though {failed[0]} failed"
    return ""
