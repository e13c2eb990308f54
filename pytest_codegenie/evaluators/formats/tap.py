"""The Test Anything Protocol, TAP 12 to 14, and what ``prove -v`` makes of it.

https://testanything.org/tap-version-14-specification.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import field

from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


#: Between the names of a test and of its subtests.
SEPARATOR = " > "
_POINT = re.compile(r"(not )?ok\b(?: +(\d+))?(?: +- +| +-$| +|$)(.*)")
_PLAN = re.compile(r"1\.\.(\d+)\s*(?:#.*)?")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b.*", re.IGNORECASE)
_PROVE_FILE = re.compile(r"(\S.*?) \.{2,}\s*")


@dataclass(slots=True)
class _Document:
    """One stream of test points: a file's, or a test's subtests."""

    indent: int
    planned: int | None = None
    seen: int = 0
    #: Subtests, until the test point that they belong to gives them a name.
    nested: list[tuple[str, TestStatus]] = field(default_factory=list)
    results: list[tuple[str, TestStatus]] = field(default_factory=list)

    def fault(self) -> str:
        """Say how plan and test points disagree; "" if they agree."""
        if self.planned is None:
            return f"TAP: {self.seen} tests, but no plan" if self.seen else ""
        if self.planned != self.seen:
            return f"TAP: {self.planned} tests are planned, {self.seen} reported"
        return ""


class _Reader:
    def __init__(self) -> None:
        self.report = Report()
        self.file = ""
        self.stack = [_Document(0)]

    def read(self, text: str) -> Report:
        for line in _without_yaml(text):
            self._line(line)
        self._end_document()
        return self.report

    def _line(self, line: str) -> None:
        body = line.strip()
        indent = len(line) - len(line.lstrip())
        if body.startswith("Bail out!"):
            self.report.faults.append(f"TAP: {body}")
        elif plan := _PLAN.fullmatch(body):
            self._plan(indent, int(plan[1]))
        elif point := _POINT.fullmatch(body):
            self._point(indent, point)
        elif indent == 0 and body.startswith("TAP version "):
            self._end_document()
        elif indent == 0 and (heading := _PROVE_FILE.fullmatch(line)):
            self._end_document()
            self.file = heading[1] + SEPARATOR

    def _plan(self, indent: int, count: int) -> None:
        document = self._document(indent)
        if document.planned is not None and indent == 0:
            self._end_document()
            document = self.stack[0]
        document.planned = count

    def _point(self, indent: int, point: re.Match[str]) -> None:
        document = self._document(indent)
        complete = document.planned is not None and document.seen >= document.planned
        if complete and not point[2] and not point[3]:
            return  # prove's own word on a file
        if complete and indent == 0 and point[2] == "1":
            self._end_document()
            document = self.stack[0]
        document.seen += 1
        directive = _DIRECTIVE.search(point[3])
        name = point[3][: directive.start()] if directive else point[3]
        name = re.sub(r"\\(.)", r"\1", name.strip()) or point[2] or str(document.seen)
        status = _status(failed=bool(point[1]), directive=directive)
        document.results.append((name, status))
        document.results += (
            (f"{name}{SEPARATOR}{nested}", result) for nested, result in document.nested
        )
        document.nested.clear()

    def _document(self, indent: int) -> _Document:
        """Return the stream of that indent; deeper ones have ended, or it begins."""
        while self.stack[-1].indent > indent:
            ended = self.stack.pop()
            self._note_fault(ended)
            self.stack[-1].nested += ended.results + ended.nested
        if self.stack[-1].indent < indent:
            self.stack.append(_Document(indent))
        return self.stack[-1]

    def _end_document(self) -> None:
        document = self._document(0)
        self._note_fault(document)
        # Subtests that no test point follows are those of a run that broke off.
        for name, status in document.results + document.nested:
            self.report.add(self.file + name, status)
        self.stack = [_Document(0)]

    def _note_fault(self, document: _Document) -> None:
        fault = document.fault()
        if fault:
            self.report.faults.append(
                f"{self.file.removesuffix(SEPARATOR)} {fault}".strip()
            )


def parse(text: str) -> Report:
    """Read TAP; ids are descriptions, a test's subtests ``test > subtest``.

    A test point without a description has its number for an id. Under ``prove -v`` the
    file comes first: ``t/basic.t > adds``. A to-do that fails counts as skipped.
    """
    return _Reader().read(text)


def _status(*, failed: bool, directive: re.Match[str] | None) -> TestStatus:
    word = directive[1].lower() if directive else ""
    if word == "skip" or (word == "todo" and failed):
        return "skipped"
    return "failed" if failed else "passed"


def _without_yaml(text: str) -> list[str]:
    """Return the lines that are no comment and not in a block of YAML."""
    lines = []
    block = ""
    for line in text.split("\n"):
        body = line.strip()
        if block:
            if body == "..." and line.startswith(block):
                block = ""
        elif body == "---" and line.startswith("  "):
            block = line[: -len(line.lstrip())]
        elif body and not body.startswith("#"):
            lines.append(line)
    return lines
