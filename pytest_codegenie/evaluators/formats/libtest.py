"""What libtest prints, the test harness of Rust: the output of ``cargo test``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


_RUNNING = re.compile(r"running (\d+) tests?")
_TEST = re.compile(r"test (.+?) \.\.\. (ok|FAILED|ignored)(?:, .*)?")
_TOTALS = re.compile(
    r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; "
    r"(\d+) measured; .*"
)
#: What is printed after a name and is no part of it.
_KIND = re.compile(r" - (?:should panic|compile|compile fail)$")
_SAYS = re.compile(
    r"---- (.+?) (?:stdout|stderr) ----\n(.*?)(?=\n---- |\nfailures:\n)", re.S
)
_STATUSES: Mapping[str, TestStatus] = {
    "ok": "passed",
    "FAILED": "failed",
    "ignored": "skipped",
}
#: The order of the totals.
_COUNTED: tuple[TestStatus, ...] = ("passed", "failed", "skipped")


def parse(text: str) -> Report:
    """Read the output; ids are as they are printed: ``tests::adds``.

    A test program says how many tests it runs and how many ended in which way. Where
    its lines disagree, or it died, none of its tests has passed. Programs are not told
    apart, so of two tests with one name the worse result counts.
    """
    report = Report()
    said = {_name(test): words for test, words in _SAYS.findall(text)}
    # What comes before the first heading is cargo's own.
    _, *programs = re.split(r"^(?=running \d+ tests?$)", text, flags=re.M)
    for program in programs:
        results, fault = _read(program)
        for test, status in results:
            words = fault or said.get(test, "")
            report.add(test, "error" if fault else status, words)
        if fault:
            report.fail(fault)
    return report


def _read(program: str) -> tuple[list[tuple[str, TestStatus]], str]:
    """Return a test program's results, and how it contradicts itself."""
    heading, *lines = program.split("\n")
    results: list[tuple[str, TestStatus]] = []
    for line in lines:
        if test := _TEST.fullmatch(line):
            results.append((_name(test[1]), _STATUSES[test[2]]))
        elif totals := _TOTALS.fullmatch(line):
            return results, _fault(heading, totals, results)
    return results, f"{heading}: the test program ended before it gave its totals"


def _fault(
    heading: str, totals: re.Match[str], results: list[tuple[str, TestStatus]]
) -> str:
    told = [int(count) for count in totals.groups()]
    listed = [[status for _, status in results].count(kind) for kind in _COUNTED]
    running = _RUNNING.fullmatch(heading)
    if running is None or int(running[1]) != sum(told):
        return f"{heading}, but the totals are of {sum(told)}"
    if told[:3] != listed:
        return f"{heading}: the totals are {told[:3]}, but the tests listed {listed}"
    return ""


def _name(printed: str) -> str:
    return _KIND.sub("", printed)
