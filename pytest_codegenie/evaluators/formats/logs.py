"""Output that is read as SWE-bench reads it, line by line.

Which lines count, and what an id looks like, follows what SWE-bench 5.0 makes of the
same output, so that the ids of its datasets are found; see ``LOG_PARSERS`` for the
names. What the lines then mean is our own rule, which is stricter: ``parse``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping

from pytest_codegenie.evaluators.formats.django_log import django
from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


#: SWE-bench's words; an expected failure counts as passed there, and here.
STATUSES: Mapping[str, TestStatus] = {
    "PASSED": "passed",
    "FAILED": "failed",
    "ERROR": "error",
    "SKIPPED": "skipped",
    "XFAIL": "passed",
}
#: (id, word) pairs in the order of the output; an id may come more than once.
Results = Iterator[tuple[str, str]]
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SUMMARY = re.compile(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\s+(\S.*)")
#: ``SKIPPED [2] tests/test_x.py:3: why``: a place, no test.
_FOLDED = re.compile(r"\[\d+\]")
_VERBOSE = re.compile(
    r"(\S.*?::.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)(?: \(.*\))?(?:\s+\[ *\d+%\])?"
)
_PATH_PARAMETER = re.compile(r"([^[]*)\[(/(?!/)[^*]*)\].*")
_SYMPY_FAILURE = re.compile(r"_+ (\S+\.py:\S+) _+")
_SYMPY_WORDS = {"ok": "PASSED", "F": "FAILED", "E": "ERROR"}


def _pytest(text: str) -> Results:
    """Read the summary that ``pytest -rA`` prints; an id ends at its first space."""
    for word, rest in _summary(text):
        yield rest.split()[0], word


def _pytest_options(text: str) -> Results:
    """Read the same; of a parameter that is an absolute path, only the name counts."""
    for test, word in _pytest(text):
        path = _PATH_PARAMETER.fullmatch(test)
        name = f"{path[1]}[/{path[2].rpartition('/')[2]}]" if path else test
        yield name, word


def _pytest_v2(text: str) -> Results:
    """Read the same in colour; ids keep their spaces, and may precede the word."""
    for line in _ANSI.sub("", text).split("\n"):
        if found := _SUMMARY.fullmatch(line):
            word, rest = found[1], found[2]
            if word == "FAILED":
                rest = rest.split(" - ")[0]
            if not _is_folded(word, rest):
                yield rest.strip(), word
        elif (words := line.rsplit(" ", 1))[-1] in STATUSES and words[0].strip():
            yield words[0].strip(), words[1]


def _pytest_verbose(text: str) -> Results:
    """Read the progress that ``pytest --verbose`` prints, as SWE-smith does."""
    for line in _ANSI.sub("", text).split("\n"):
        if found := _VERBOSE.fullmatch(line):
            yield found[1], found[2]


def _seaborn(text: str) -> Results:
    """Read passes and failures of ``pytest -rA`` and of its progress."""
    for line in text.split("\n"):
        if line.startswith("FAILED "):
            yield line.split()[1], "FAILED"
        elif " PASSED " in line:
            yield line.split()[0], "PASSED"
        elif line.startswith("PASSED "):
            yield line.split()[1], "PASSED"


def _sympy(text: str) -> Results:
    """Read what SymPy's ``bin/test -C --verbose`` prints: ``test_x ok``."""
    for line in text.split("\n"):
        name, _, word = line.strip().rpartition(" ")
        if failure := _SYMPY_FAILURE.fullmatch(line.strip()):
            yield failure[1], "FAILED"
        elif name.startswith("test_") and word in _SYMPY_WORDS:
            yield name.split()[0], _SYMPY_WORDS[word]


def _matplotlib(text: str) -> Results:
    """Read ``pytest -rA``; mouse buttons have their numbers, as in the datasets."""
    plain = text.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")
    return _pytest(plain)


def _summary(text: str) -> Results:
    """Yield (word, rest of the line) of each line of a summary that is of a test."""
    for line in text.split("\n"):
        found = _SUMMARY.fullmatch(line)
        if found and not _is_folded(found[1], found[2]):
            yield found[1], found[2]


def _is_folded(word: str, rest: str) -> bool:
    return word == "SKIPPED" and _FOLDED.match(rest) is not None


_READERS: Mapping[str, Callable[[str], Results]] = {
    "django": django,
    "matplotlib": _matplotlib,
    "pytest": _pytest,
    "pytest-options": _pytest_options,
    "pytest-v2": _pytest_v2,
    "pytest-verbose": _pytest_verbose,
    "seaborn": _seaborn,
    "sympy": _sympy,
}
#: SWE-bench's names, without ``parse_log_``, to ours, where they differ.
_ALIASES: Mapping[str, str] = {
    "astroid": "pytest",
    "astropy": "pytest-v2",
    "flask": "pytest",
    "marshmallow": "pytest",
    "pvlib": "pytest",
    "pydicom": "pytest-options",
    "pylint": "pytest-options",
    "pyvista": "pytest",
    "requests": "pytest-options",
    "scikit": "pytest-v2",
    "sphinx": "pytest-v2",
    "sqlfluff": "pytest",
    "xarray": "pytest",
}
#: Every name that a parser has, SWE-bench's own (``parse_log_flask``) among them.
LOG_PARSERS: Mapping[str, Callable[[str], Results]] = {
    **_READERS,
    **{f"parse_log_{name.replace('-', '_')}": read for name, read in _READERS.items()},
    **{f"parse_log_{name}": _READERS[ours] for name, ours in _ALIASES.items()},
}


def parse(text: str, parser: str) -> Report:
    """Read output by the parser of that name.

    Where ids are cut off at a space, several tests have one id; the worst result
    counts, while with SWE-bench it is the last.

    Raises:
        KeyError: There is no such parser.
    """
    report = Report()
    for test, word in LOG_PARSERS[parser](text):
        report.add(test, STATUSES[word])
        if word == "ERROR":
            # Where what it says is taken for a part of the id.
            report.add(test.partition(" - ")[0], "error")
    return report
