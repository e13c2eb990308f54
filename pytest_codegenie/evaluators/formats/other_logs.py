"""What test runners of other languages print, as SWE-bench Multilingual reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as ET


Results = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Lines:
    """A format in which a line is a test's, with a word for how it went."""

    #: With the groups ``word`` and ``test``; the line has no space around it.
    pattern: re.Pattern[str]
    #: The format's words to SWE-bench's; others are nothing.
    words: Mapping[str, str]

    def __call__(self, text: str) -> Results:
        for line in text.split("\n"):
            found = self.pattern.match(line.strip())
            if found and found["word"] in self.words:
                yield found["test"], self.words[found["word"]]


def _lines(pattern: str, passed: str, failed: str, skipped: str = "") -> _Lines:
    """Return a format.

    Args:
        pattern: A line.
        passed: Its words for that, with ``|`` between; and so on.
        failed: Likewise.
        skipped: Likewise.
    """
    words = dict.fromkeys(passed.split("|"), "PASSED")
    words |= dict.fromkeys(failed.split("|"), "FAILED")
    words |= dict.fromkeys(skipped.split("|"), "SKIPPED")
    return _Lines(re.compile(pattern), words)


_REDIS = _lines(
    r"\[(?P<word>ok|err|skip|ignore)\]:\s(?P<test>.+?)(?:\s\(\d+\s*m?s\))?$",
    "ok",
    "err",
    "skip|ignore",
)
_REDIS_PLACE = re.compile(r"\s+in\s+\S+$")


def _redis(text: str) -> Results:
    """Read what Redis's and Valkey's own runner prints; a failure tells its file."""
    for test, word in _REDIS(text):
        yield _REDIS_PLACE.sub("", test) if word == "FAILED" else test, word


_SUITE = re.compile(r"(\w.+) \(.+\)$")
_TESTDOX = re.compile(r"\s*([✔✘↩])\s*(.*)$")
_TESTDOX_WORDS = {"✔": "PASSED", "✘": "FAILED", "↩": "SKIPPED"}


def _phpunit(text: str) -> Results:
    """Read ``phpunit --testdox``: a suite, then its tests."""
    suite = None
    for line in text.split("\n"):
        if found := _SUITE.match(line):
            suite = found[1]
        elif found := _TESTDOX.match(line):
            yield f"{suite} > {found[2]}", _TESTDOX_WORDS[found[1]]


_MAVEN_TEST = re.compile(r".*-Dtest=(\S+)")
_MAVEN_RESULT = re.compile(r".*BUILD (SUCCESS|FAILURE)$")
_MAVEN_WORDS = {"SUCCESS": "PASSED", "FAILURE": "FAILED"}


def _maven(text: str) -> Results:
    """Read runs of one test each: the command that a shell traces, and the build's end.

    The two may come in any order, as they come from two programs.
    """
    tests: list[str] = []
    words: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if found := _MAVEN_TEST.match(line):
            tests.append(found[1])
        if found := _MAVEN_RESULT.match(line):
            if tests:
                yield tests.pop(0), _MAVEN_WORDS[found[1]]
            else:
                words.append(found[1])
    for test, word in zip(tests, words, strict=False):
        yield test, _MAVEN_WORDS[word]


_GRADLE = re.compile(r"([^>].+)\s+(PASSED|FAILED)$")
_GRADLE_TEST = re.compile(r"[^>]\S*\s+>\s+\S+$")


def _gradle(text: str) -> Results:
    """Read Gradle's tests; warnings may stand between a name and its result."""
    begun = ""
    for line in map(str.strip, text.split("\n")):
        if found := _GRADLE.match(line):
            yield found[1], found[2]
            begun = ""
        elif _GRADLE_TEST.match(line):
            begun = line
        elif begun and line in ("PASSED", "FAILED"):
            yield begun, line
            begun = ""


_KARMA = re.compile(r"(\s*)?([✔✖])?\s(.*)$")


def _karma(text: str) -> Results:
    """Read what Karma's reporter of specs prints: suites by indentation."""
    started = False
    deep = -1
    suites: list[str] = []
    for line in text.split("\n"):
        if line.startswith("SUMMARY:"):
            return
        if "Starting browser" in line:
            started = True
            continue
        found = _KARMA.match(line) if started else None
        if found is None:
            continue
        indent, word, name = found.groups()
        if indent and not word:
            if len(indent) > deep:
                suites.append(name)
            elif len(indent) < deep and suites:
                suites.pop()
            deep = len(indent)
        if word:
            yield " > ".join([*suites, name]), "PASSED" if word == "✔" else "FAILED"


def _doctest(text: str) -> Results:
    """Read the XML of doctest for C++, which stands somewhere in the output."""
    start = text.find("<doctest")
    end = text.find("</doctest>", start)
    document = text[start : end + len("</doctest>")]
    if start < 0 or end < 0 or "<!DOCTYPE" in document:
        return
    try:
        # Without declarations, of which attacks are made.
        root = ET.fromstring(document)  # noqa: S314
    except ET.ParseError:
        return
    for test in root.findall(".//TestCase"):
        for part in test.findall(".//SubCase"):
            expressions = part.findall(".//Expression")
            passed = all(one.get("success") == "true" for one in expressions)
            name = f"{test.get('name')} > {part.get('name')}"
            yield name, "PASSED" if passed else "FAILED"


#: By our name; SWE-bench's is the same with ``parse_log_`` and underscores.
OTHER_READERS: Mapping[str, Callable[[str], Results]] = {
    "ant": _lines(
        r"\s*\[junit\]\s+\[(?P<word>PASS|FAIL|ERR)\]\s+(?P<test>.*)$",
        "PASS",
        "FAIL|ERR",
    ),
    "cargo": _lines(r"test\s+(?P<test>\S+)\s+\.\.\.\s+(?P<word>\w+)$", "ok", "FAILED"),
    "cucumber": _lines(r"(?P<test>.*) \.+(?P<word>\.|F)", ".", "F"),
    "doctest": _doctest,
    "googletest": _lines(
        r".*\[\s*(?P<word>OK|FAILED)\s*\]\s(?P<test>.*)\s\(.*\)$", "OK", "FAILED"
    ),
    "gotest": _lines(
        r"--- (?P<word>PASS|FAIL|SKIP): (?P<test>.+) \(.+\)$", "PASS", "FAIL", "SKIP"
    ),
    "gradle-custom": _gradle,
    "jest": _lines(
        r"\s*(?P<word>✓|✕|○)\s(?P<test>.+?)(?:\s\(\d+\s*m?s\))?$", "✓", "✕", "○"
    ),
    "jest-json": _lines(
        r"\[(?P<word>PASSED|FAILED)\]\s(?P<test>.+)$", "PASSED", "FAILED"
    ),
    "jq": _lines(r"\s*(?P<word>PASS|FAIL):\s(?P<test>.+)$", "PASS", "FAIL"),
    "karma": _karma,
    "maven": _maven,
    "micropython-test": _lines(
        r"(?P<word>pass|FAIL|skip)\s+(?P<test>.+)$", "pass", "FAIL", "skip"
    ),
    "minitest": _lines(r"(?P<test>.+)\. .*=.*(?P<word>\.|F|E).*$", ".", "F|E"),
    "phpunit": _phpunit,
    "redis": _redis,
    "rspec-transformed-json": _lines(
        r"(?P<test>.+) - (?P<word>passed|failed)", "passed", "failed"
    ),
    "ruby-unit": _lines(
        r"\s*(?:test: )?(?P<test>.+):\s+(?P<word>\.|E\b|F\b|O\b)", ".", "E|F", "O"
    ),
    "tap": _lines(r"(?P<word>ok|not ok) (\d+) (?P<test>.+)$", "ok", "not ok"),
    "vitest": _lines(
        r"\s*(?P<word>[✓\xd7↓])\s(?P<test>.+?)(?:\s(\d+\s*m?s?|\[skipped\]))?$",
        "✓",
        "\xd7",
        "↓",
    ),
}
