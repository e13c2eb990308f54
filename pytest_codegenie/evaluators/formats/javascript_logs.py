"""What JavaScript's test runners print, as SWE-bench Multimodal reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.evaluators.formats.failure_logs import ANSI
from pytest_codegenie.evaluators.formats.failure_logs import FAILURE_READERS


Results = Iterator[tuple[str, str]]


class _Suites:
    """Suites around a line, by indentation."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []

    def enter(self, line: str) -> None:
        """Take a line for a suite if it is indented."""
        indent = len(line) - len(line.lstrip())
        if not indent:
            return
        while self._open and self._open[-1][1] >= indent:
            self._open.pop()
        self._open.append((line.strip(), indent))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self._open]


#: ``PASS src/a-test.js (5.1 s)``; the first that matches counts.
_FILES = tuple(
    re.compile(rf"(PASS|FAIL)\s(.*){timing}")
    for timing in (r"\s\([\d.]+ms\)", r"\s\([\d.]+\ss\)", r"\s\([\d.]+s\)", "")
)


def _carbon(text: str) -> Results:
    """Read Jest's files, without how long they took."""
    for line in text.split("\n"):
        found = next(filter(None, (file.match(line) for file in _FILES)), None)
        if found:
            yield found[2], f"{found[1]}ED"


_GROMMET = {word: re.compile(rf"^{word}\s(.*)", re.M) for word in ("FAIL", "PASS")}
_GROMMET_TIME = re.compile(r"\s\([\d.]+\s?(?:ms|s)\)$")


def _grommet(text: str) -> Results:
    """Read Jest's files; one that passed once has passed."""
    for word, pattern in _GROMMET.items():
        for found in pattern.finditer(text):
            yield _GROMMET_TIME.sub("", found[1].strip()), f"{word}ED"


_CALYPSO = re.compile(r"\s+[✓✕]\s(.*)")
_CALYPSO_TIME = re.compile(r"\(\d+ms\)")


def _calypso(text: str) -> Results:
    """Read ``jest --verbose``, once for each command that the shell traces."""
    suites = _Suites()
    for run in text.split(" ./node_modules/.bin/jest ")[1:]:
        for line in run.split("\n"):
            if line.startswith(("Test Suites", "  ● ")):
                break
            mark = line.strip()[:1]
            if mark not in ("✓", "✕"):
                suites.enter(line)
                continue
            found = _CALYPSO.match(line)
            name = found[1] if found else ""
            times = [*_CALYPSO_TIME.finditer(name)]
            # SWE-bench fails at what is skipped here.
            if found and (not times or times[-1].end() == len(name)):
                name = name[: times[-1].start()] if times else name
                full = " - ".join((" - ".join(suites.names), name)).strip()
                yield full, "PASSED" if mark == "✓" else "FAILED"


_PASSING = re.compile(r"\n[ \t]*\d+ passing")
_MILLISECONDS = re.compile(r"\(\d+ms\)")


def _highlightjs(text: str) -> Results:
    """Read Mocha's tests, each with the line above that is indented."""
    suite: list[str] = []
    for line in _PASSING.split(text, maxsplit=1)[0].split("\n"):
        bare = line.strip()
        if bare.startswith(("✓", "✔")):
            name, word = bare[1:], "PASSED"
        elif re.match(r"\d+\)", bare):
            name, word = bare.partition(")")[2], "FAILED"
        else:
            suite = [bare] if line.startswith("  ") else suite
            continue
        yield ".".join([*suite, _MILLISECONDS.sub("", name).strip()]), word


_PRISM = "./node_modules/.bin/mocha tests/run.js --reporter json"


def _prismjs(text: str) -> Results:
    """Read Mocha's JSON after each command that the shell traces; all, or nothing."""
    results: list[tuple[str, str]] = []
    for run in text.split(_PRISM)[1:]:
        inner = run.partition("{")[2] if "{" in run else run
        inner = inner.rpartition("}")[0] if "}" in inner else inner
        try:
            said = json.loads(f"{{{inner}}}")
            results += _titles(said["failures"], "FAILED")
            results += _titles(said["passes"], "PASSED")
        except (ValueError, KeyError, TypeError, RecursionError):
            return
    yield from results


def _titles(tests: list[dict[str, Any]], word: str) -> list[tuple[str, str]]:
    return [(str(test["fullTitle"]), word) for test in tests]


_TITLE = re.compile(r'"fullTitle":\s"')


def _lighthouse_json(text: str) -> Results:
    """Read Mocha's JSON line by line, as it may be cut off."""
    for run in text.split("./node_modules/.bin/mocha --reporter json")[1:]:
        passes = run.split('"passes": [')[-1].rsplit("]", 1)[0]
        failures = run.split('"failures": [')[-1].rsplit("],", 1)[0]
        for part, word in ((passes, "PASSED"), (failures, "FAILED")):
            for line in part.split("\n")[:-1]:
                end = len(line) - len('",')
                found = _TITLE.search(line, 0, max(end, 0))
                if found and line.endswith('",'):
                    yield line[found.end() : end], word


_RUN = re.compile(r"running\s\d+\stest\sfiles")
_RUN_END = re.compile(r"(?<!\d)\d+\spassing")
_MOCHA = tuple(
    re.compile(rf"(✔|\d+\))\s(.*){timing}") for timing in (r"\s\(\d+m+s\)", "")
)


def _lighthouse_mocha(text: str) -> Results:
    """Read Mocha's tests of each run."""
    for run in _RUN.split(text)[1:]:
        suites = _Suites()
        for line in _RUN_END.split(run, maxsplit=1)[0].strip().split("\n"):
            tries = (pattern.match(line.strip()) for pattern in _MOCHA)
            if found := next(filter(None, tries), None):
                word = "PASSED" if found[1] == "✔" else "FAILED"
                yield " - ".join([*suites.names, found[2]]), word
            else:
                suites.enter(line)


_ASSERTION = re.compile(r"AssertionError:\s+#")
_NO_TESTS = ("ERROR", "LOG", "WARN", "Check", "in")


def _next_v1(text: str) -> Results:
    """Read Karma's tests of each command that the shell traces."""
    suites = _Suites()
    for run in _without_assertions(ANSI.sub("", text)).split(" xvfb-run ")[1:]:
        for line in run.split("Starting browser Chrome")[-1].split("\n"):
            if line.startswith("TOTAL"):
                break
            if line.strip().startswith(_NO_TESTS):
                continue
            for mark, word in (("✗", "FAILED"), ("✓", "PASSED")):
                if mark in line:
                    name = line.partition(mark)[2].lstrip()
                    yield " - ".join([*suites.names, name]), word
                    break
            else:
                suites.enter(line)


def _without_assertions(text: str) -> str:
    """Leave out what assertions say, each up to an empty line."""
    kept = []
    position = 0
    while found := _ASSERTION.search(text, position):
        end = text.find("\n\n", found.end())
        if end < 0:
            break
        kept.append(text[position : found.start()])
        position = end + 2
    return "".join([*kept, text[position:]])


_CYPRESS_SUITE = re.compile(r"\)(?=\n{3}\s{2}(.*)\n)")
_CYPRESS_TESTS = (
    (re.compile(r"^\s{4}\d+\)\s(.*)", re.M), "FAILED"),
    (re.compile(r"^\s{4}✓\s(.*)\(", re.M), "PASSED"),
)


def _next_v2(text: str) -> Results:
    """Read what Cypress prints of each file: a suite and its tests."""
    suites: list[tuple[str, int, int]] = []
    end = 0
    for found in _CYPRESS_SUITE.finditer(text):
        line = max(text.rfind("\n", 0, found.start()) + 1, end)
        start = text.find("Running:", line, found.start())
        if start >= 0:
            end = found.end(1) + 1
            suites.append((found[1], start, end))
    stops = [*(start for _, start, _ in suites[1:]), len(text)]
    for (suite, _, begin), stop in zip(suites, stops, strict=False):
        for pattern, word in _CYPRESS_TESTS:
            for found in pattern.finditer(text[begin:stop]):
                yield f"{suite}: {found[1].strip()}", word


_QUARTO = re.compile(r"\[(smoke|unit)\]")
_TEMPORARY = "/tmp"  # noqa: S108
_TEMPORARY_FILES = (
    re.compile(rf"{_TEMPORARY}/(\w+)\.qmd"),
    re.compile(rf"{_TEMPORARY}/(\w+)/"),
)
_STEPS = ("passed", "failed", "steps")


def _quarto(text: str) -> Results:
    """Read Deno's tests, whose temporary files are numbered; no word is a failure."""
    numbers: dict[str, int] = {}
    seen: set[str] = set()
    for printed in text.split("\n"):
        if "ERRORS" in printed or "failures:" in printed:
            return
        if not _QUARTO.search(printed):
            continue
        line = printed
        for pattern in _TEMPORARY_FILES:
            if found := pattern.search(line):
                number = numbers.setdefault(found[0], len(numbers))
                line = pattern.sub(f"{_TEMPORARY}/{number}", line)
        if line.startswith("test result:") or "34mINFO" in line:
            continue
        if all(word in line for word in _STEPS):
            continue
        test = line.split("...", maxsplit=1)[0].strip()
        said = "32mok" in line or "31mFAILED" in line
        if said or test not in seen:
            yield test, "PASSED" if "32mok" in line else "FAILED"
        seen.add(test)


#: By our name, as ``OTHER_READERS``.
JAVASCRIPT_READERS: Mapping[str, Callable[[str], Results]] = {
    **FAILURE_READERS,
    "calypso": _calypso,
    "carbon": _carbon,
    "grommet": _grommet,
    "highlightjs": _highlightjs,
    "lighthouse-json": _lighthouse_json,
    "lighthouse-mocha": _lighthouse_mocha,
    "next-v1": _next_v1,
    "next-v2": _next_v2,
    "prismjs": _prismjs,
    "quarto-cli": _quarto,
}
