"""Output that is read as SWE-bench reads it, line by line.

Which lines count, and what an id looks like, follows what SWE-bench 5.0 makes of the
same output, so that the ids of its datasets are found; see ``LOG_PARSERS`` for the
names. What the lines then mean is our own rule, which is stricter, ``parse``, or that
of SWE-bench: ``parse_as_swebench``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping

from pytest_codegenie.evaluators.formats.django_log import django
from pytest_codegenie.evaluators.formats.javascript_logs import JAVASCRIPT_READERS
from pytest_codegenie.evaluators.formats.other_logs import OTHER_READERS
from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus
from pytest_codegenie.parser_names import PARSER_NAMES


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
_COLOUR = re.compile(r"\[\d+m")
_NO_CONTROLS = {number: None for number in range(1, 32)}
_PARAMETER = re.compile(r"(.*?)\[(.*)\]")
_ABSOLUTE = re.compile(r"/(?!/)[^*]*")
#: ``____ sympy/core/tests/test_x.py:test_y ____``, and much else.
_SYMPY_FAILURE = re.compile(r"_* (.*)\.py:(.*) _*")
_SYMPY_WORDS = {"ok": "PASSED", "F": "FAILED", "E": "ERROR"}


def _pytest(text: str) -> Results:
    """Read the summary that ``pytest -rA`` prints; an id ends at its first space."""
    for word, rest in _summary(text):
        yield rest.split()[0], word


def _pytest_options(text: str) -> Results:
    """Read the same; of a parameter that is an absolute path, only the name counts."""
    for test, word in _pytest(text):
        parameter = _PARAMETER.match(test)
        if parameter is None:
            yield test, word
        elif _ABSOLUTE.fullmatch(parameter[2]):
            yield f"{parameter[1]}[/{parameter[2].rpartition('/')[2]}]", word
        else:
            # What follows the last bracket goes too.
            yield f"{parameter[1]}[{parameter[2]}]", word


def _pytest_v2(text: str) -> Results:
    """Read the same in colour; ids keep their spaces, and may precede the word."""
    for coloured in text.split("\n"):
        line = _COLOUR.sub("", coloured).translate(_NO_CONTROLS)
        begins = line.startswith(tuple(STATUSES))
        if begins and line.startswith("FAILED"):
            line = line.split(" - ", 1)[0]
        words = line.split()
        if len(words) < 2:
            continue
        if begins and not _is_folded(words[0], words[1]):
            yield " ".join(words[1:]), words[0]
        elif not begins and line.endswith(tuple(STATUSES)):
            yield " ".join(words[:-1]), words[-1]


def _pytest_verbose(text: str) -> Results:
    """Read the progress that ``pytest --verbose`` prints, as SWE-smith does."""
    for line in _ANSI.sub("", text).split("\n"):
        if found := _VERBOSE.fullmatch(line):
            yield found[1], found[2]


def _seaborn(text: str) -> Results:
    """Read passes and failures of ``pytest -rA`` and of its progress."""
    for line in text.split("\n"):
        words = line.split()
        if len(words) < 2:
            continue
        if line.startswith("FAILED"):
            yield words[1], "FAILED"
        elif " PASSED " in line:
            if words[1] == "PASSED":
                yield words[0], "PASSED"
        elif line.startswith("PASSED"):
            yield words[1], "PASSED"


def _sympy(text: str) -> Results:
    """Read what SymPy's ``bin/test -C --verbose`` prints: ``test_x ok``."""
    for failure in _SYMPY_FAILURE.finditer(text):
        yield f"{failure[1]}.py:{failure[2]}", "FAILED"
    for line in map(str.strip, text.split("\n")):
        word = line.rpartition(" ")[2]
        if line.startswith("test_") and " " in line and word in _SYMPY_WORDS:
            yield line.split()[0], _SYMPY_WORDS[word]


def _matplotlib(text: str) -> Results:
    """Read ``pytest -rA``; mouse buttons have their numbers, as in the datasets."""
    plain = text.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")
    return _pytest(plain)


def _summary(text: str) -> Results:
    """Yield (word, rest of the line) of each line of a summary that is of a test."""
    for line in text.split("\n"):
        found = _SUMMARY.fullmatch(line)
        if found and not _is_folded(found[1], found[2].split()[0]):
            yield found[1], found[2]


def _is_folded(word: str, test: str) -> bool:
    return word == "SKIPPED" and _FOLDED.fullmatch(test) is not None


_READERS: Mapping[str, Callable[[str], Results]] = {
    **JAVASCRIPT_READERS,
    **OTHER_READERS,
    "django": django,
    "matplotlib": _matplotlib,
    "pytest": _pytest,
    "pytest-options": _pytest_options,
    "pytest-v2": _pytest_v2,
    "pytest-verbose": _pytest_verbose,
    "seaborn": _seaborn,
    "sympy": _sympy,
}
#: Every name that a parser has, SWE-bench's own (``parse_log_flask``) among them.
LOG_PARSERS: Mapping[str, Callable[[str], Results]] = {
    name: _READERS[ours] for name, ours in PARSER_NAMES.items()
}


#: What SWE-bench's scripts print around the output of the tests.
START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
#: What they print where a run tells nothing.
_BROKEN_OFF = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
)
#: What tells that tests ran where no result can be read. A count of 0 tells nothing:
#: a runner that loses its browser prints that, too.
_RAN = re.compile(
    r"Executed [1-9]\d* of \d+"
    r"|TOTAL: [1-9]\d* (?:SUCCESS|FAILED)"
    r"|(?<![0-9])0*[1-9]\d* passing"
    r"|Tests:\s+[1-9]"
    r"|Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total"
    r"|^# tests [1-9]"
    r"|(?<![0-9])0*[1-9]\d* specs?, \d+ failures?"
    r"|': ok$",
    re.M,
)


def parse_as_swebench(text: str, parser: str) -> Report:
    """Read output by the parser of that name, the last result of a test counting.

    Where it has SWE-bench's marks around the output of the tests, that is what is read;
    what comes before is of a build. Output without any result is believed if it shows
    that tests ran: of some runners only failures are read.

    Raises:
        KeyError: There is no such parser.
    """
    read = LOG_PARSERS[parser]
    report = Report()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    broken_off = [words for words in _BROKEN_OFF if words in text]
    if broken_off:
        report.faults.append(f"it says {broken_off[0]!r}")
    between = text.split(START)[1] if START in text else text
    for test, word in [*read(between.split(END)[0])] or read(text):
        if word in STATUSES:  # and no word that begins like one
            report.statuses[test] = STATUSES[word]
    if not report.statuses and not _RAN.search(text):
        report.faults.append("no result of a test is in it")
    return report


def parse(text: str, parser: str) -> Report:
    """Read output by the parser of that name.

    Where ids are cut off at a space, several tests have one id; the worst result
    counts, while with SWE-bench it is the last.

    Raises:
        KeyError: There is no such parser.
    """
    report = Report()
    for test, word in LOG_PARSERS[parser](text):
        if word not in STATUSES:
            continue  # It begins like one.
        report.add(test, STATUSES[word])
        if word == "ERROR":
            # Where what it says is taken for a part of the id.
            report.add(test.partition(" - ")[0], "error")
    return report
