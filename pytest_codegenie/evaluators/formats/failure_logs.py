"""Output of JavaScript's runners of which SWE-bench reads the failures alone.

Such output names no test that passes, or none in a way that can be relied on. The rule
``swebench-fail-only`` is for it. What SWE-bench searches for in the whole output is
looked for line by line here, which takes no longer if the output is made to be slow; a
name that a line's end parts from its browser is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass


Results = Iterator[tuple[str, str]]
ANSI = re.compile(r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
_FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class _Browser:
    """How Karma begins a line of a failure: ``Chrome 90.0 (Linux x86_64) ``."""

    start: str
    #: What comes next, matched where the start ends.
    system: str = ""
    #: What parts the name from ``FAILED``.
    space: str = ""

    def tests(self, text: str) -> Iterator[str]:
        """Yield the names of the tests that failed."""
        start, system = re.compile(self.start), re.compile(self.system)
        end = re.compile(f"{self.space}{_FAILED}$")
        for line in text.split("\n"):
            failed = end.search(line, max(0, len(line) - len(_FAILED) - 1))
            if failed is None:
                continue
            stop = failed.start()
            found = start.search(line, 0, stop)
            # A later start has less to match than the first.
            found = found and system.match(line, found.end(), stop)
            if found:
                yield line[found.end() : stop]


_BPMN = (
    _Browser(r"2KPhantomJS\s[\d.]+\s\(Linux\s(?:[\d.]+|x86_64)\)\s"),
    _Browser(r"Chrome\sHeadless\s", r".*\s\(Linux\sx86_64\)\s"),
    _Browser(r"HeadlessChrome\s[\d.]+\s\(Linux\s[\d.]+\)\s"),
)
_OPENLAYERS = (
    _Browser(r"Chrome\sHeadless\s[\d.]+\s\(Linux\s\S+\)\s", space=r"\s"),
    _Browser(r"Chrome\s[\d.]+\s\(Linux\s\S+\)\s"),
)
_CHART = _Browser(r"Chrome\s[\d.]+[^\S\r\n]\(", r".+?\)[^\S\r\n]")
_MISMATCH = re.compile(r"^case\s(.*):\smismatch", re.M)
_NUMBERED_LINE = re.compile(r"^\s{2}\d+\)", re.M)
_NUMBERED = re.compile(r"\s{2}\d+\)")
_MARKED = re.compile(r"\d+\)\s(.*)")


def _bpmn(text: str) -> Results:
    """Read Karma's failures; what follows the last line's end counts as cut off."""
    for browser in _BPMN:
        for test in browser.tests(text.rpartition("\n")[0]):
            yield test, _FAILED


def _chart(text: str) -> Results:
    for test in _CHART.tests(ANSI.sub("", text)):
        yield test, _FAILED


def _openlayers(text: str) -> Results:
    """Read failures of Karma, of Mocha, and of comparisons of images."""
    for browser in _OPENLAYERS:
        for test in browser.tests(text.rpartition("\n")[0]):
            yield _one_line(test), _FAILED
    position = 0
    while found := _NUMBERED_LINE.search(text, position):
        end = text.find("Error:", found.end())
        if end < 0:
            break
        yield _one_line(text[found.end() : end]), _FAILED
        position = end + len("Error:")
    for found in _MISMATCH.finditer(text):
        yield _one_line(found[1]), _FAILED


def _eslint(text: str) -> Results:
    """Read Mocha's failures: a name ends before the line that has ``Error``.

    Where that is the line of the number, the name ends with its first word.
    """
    position = 0
    while found := _NUMBERED.search(text, position):
        start = found.end()
        end, position = _error_after(text, start)
        if end < 0:
            return
        yield _one_line(text[start:end]), _FAILED


def _error_after(text: str, start: int) -> tuple[int, int]:
    """Return where a name ends, and where what follows its error begins."""
    error = text.find("Error", start)
    while error >= 0:
        line_end = text.find("\n", error)
        line_end = len(text) if line_end < 0 else line_end
        last = text.rfind("Error", start, line_end)
        line_start = text.rfind("\n", start, error)
        if line_start < 0:
            space = re.compile(r"\s").search(text, start, last)
            line_start = space.start() if space else -1
        if line_start >= 0:
            return line_start, last + len("Error")
        error = text.find("Error", line_end)
    return -1, -1


def _marked(text: str) -> Results:
    """Read Jasmine's failures: ``3) Suite test``."""
    for line in text.split("\n"):
        if found := _MARKED.match(line):
            yield found[1].strip(), _FAILED


_P5 = re.compile(r"^[^\S\n]*\d+\)", re.M)
_OPENING = re.compile(r"<(\w+)>")
_CLOSING = re.compile(r"</(\w+)>")
_LONGEST = 1000


def _p5(text: str) -> Results:
    """Read Mocha's failures: suites and a test, each deeper than the one before."""
    text = _without_elements(_without_json(ANSI.sub("", text)))
    position = 0
    while found := _P5.search(text, position):
        position = found.end()
        end = text.find(":", position, position + _LONGEST + 1)
        if end < 0:
            continue
        names = text[position:end].split("\n")
        position = end + 1
        depths = [0, *(len(name) - len(name.lstrip()) for name in names)]
        if all(depths[n] < depths[n + 1] for n in range(len(names))):
            yield ":".join(name.strip() for name in names), _FAILED


def _without_json(text: str) -> str:
    """Leave out what is printed of objects and lists."""
    kept = []
    ends: set[str] = set()
    for line in text.split("\n"):
        bare = line.rstrip()
        if bare.endswith(("{", "[")):
            ends.add("}" if bare.endswith("{") else "]")
        elif bare in ends:
            ends.remove(bare)
        elif not ends and (bare[:1], bare[-1:]) not in (("{", "}"), ("[", "]")):
            kept.append(line)
    return "\n".join(kept)


def _without_elements(text: str) -> str:
    """Leave out elements of HTML that are closed, and keep tags that are not."""
    last = {found[1]: found.start() for found in _CLOSING.finditer(text)}
    kept = []
    position = 0
    while found := _OPENING.search(text, position):
        kept.append(text[position : found.start()])
        tag, position = found[1], found.start()
        depth = 0
        while last.get(tag, -1) >= position:
            close = text.index(f"</{tag}>", position)
            depth += text.count(f"<{tag}>", position, close) - 1
            position = close + len(f"</{tag}>")
            if not depth:
                break
        else:
            if position == found.start():
                depth, position = 1, found.end()
            kept.append(f"<{tag}>" * depth)
    return "".join([*kept, text[position:]])


def _one_line(name: str) -> str:
    return " ".join(name.split())


#: By our name, as ``OTHER_READERS``.
FAILURE_READERS: Mapping[str, Callable[[str], Results]] = {
    "bpmn-js": _bpmn,
    "chart-js": _chart,
    "eslint": _eslint,
    "marked": _marked,
    "openlayers": _openlayers,
    "p5js": _p5,
}
