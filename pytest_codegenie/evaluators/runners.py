"""The test runners whose report is read: how each is started, where its verdict is."""

from __future__ import annotations

from collections.abc import Callable

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.formats import gotest as gotest_format
from pytest_codegenie.evaluators.formats import jest as jest_format
from pytest_codegenie.evaluators.formats import junit as junit_format
from pytest_codegenie.evaluators.formats import libtest as libtest_format
from pytest_codegenie.evaluators.formats import logs as logs_format
from pytest_codegenie.evaluators.formats import tap as tap_format
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.reported import ReportedTests
from pytest_codegenie.evaluators.reported import Runner
from pytest_codegenie.evaluators.steering import ANY
from pytest_codegenie.evaluators.steering import GO
from pytest_codegenie.evaluators.steering import JAVASCRIPT
from pytest_codegenie.evaluators.steering import RUST


def _text(parse: Callable[[str], Report]) -> Callable[[bytes, Judgement], Report]:
    """Return a reader for a format that is text."""
    return lambda data, _judgement: parse(data.decode(errors="replace"))


def _xml(data: bytes, _judgement: Judgement) -> Report:
    return junit_format.parse(data)


def _log(data: bytes, judgement: Judgement) -> Report:
    parse = logs_format.parse
    if judgement.rule != "strict":
        parse = logs_format.parse_as_swebench
    try:
        return parse(data.decode(errors="replace"), judgement.parser)
    except KeyError:
        known = sorted(logs_format.LOG_PARSERS)
        raise EvaluatorError(
            f"expected/tests.toml: parser: there is no {judgement.parser!r}"
            f"{did_you_mean(judgement.parser, known)}; known: {', '.join(known)}"
        ) from None


class CargoEvaluator(ReportedTests):
    """Runs Rust's tests; the verdict is what libtest prints."""

    name = "cargo"
    runner = Runner(
        command=("cargo", "test", "--offline", "--no-fail-fast"),
        source="stdout",
        read=_text(libtest_format.parse),
        steering=RUST,
        probe=("cargo", "--version"),
        variables={"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never"},
    )


class GoEvaluator(ReportedTests):
    """Runs Go's tests; the verdict is in the events of ``go test -json``."""

    name = "gotest"
    runner = Runner(
        # A count takes nothing from the cache of results.
        command=("go", "test", "-json", "-count=1", "./..."),
        source="stdout",
        read=_text(gotest_format.parse),
        steering=GO,
        probe=("go", "version"),
        variables={"GOPROXY": "off", "GOTOOLCHAIN": "local"},
    )


class JestEvaluator(ReportedTests):
    """Runs Jest; the verdict is in its JSON report."""

    name = "jest"
    runner = Runner(
        command=(
            "node_modules/.bin/jest",
            "--ci",
            "--json",
            "--outputFile={report}",
            "--runTestsByPath",
            "{files}",
        ),
        source="files",
        read=_text(jest_format.parse),
        steering=JAVASCRIPT,
        file_end=jest_format.SEPARATOR,
        variables={"CI": "true"},
    )


class JUnitEvaluator(ReportedTests):
    """Runs any tool that writes JUnit XML."""

    name = "junit"
    runner = Runner(source="files", read=_xml, steering=ANY, python=True)


class LogEvaluator(ReportedTests):
    """Runs any tool whose output SWE-bench has a parser for."""

    name = "log"
    #: A report, unlike a log, names each test that ran.
    rules = (*ReportedTests.rules, "swebench-fail-only")
    runner = Runner(
        source="output",
        read=_log,
        steering=ANY,
        python=True,
        # A project that tests a test runner prints the results of tests of tests.
        exact=False,
    )


class TapEvaluator(ReportedTests):
    """Runs any tool that prints TAP."""

    name = "tap"
    runner = Runner(
        source="stdout",
        read=_text(tap_format.parse),
        steering=ANY,
        python=True,
    )


class VitestEvaluator(ReportedTests):
    """Runs Vitest; the verdict is in its JSON report."""

    name = "vitest"
    runner = Runner(
        command=(
            "node_modules/.bin/vitest",
            "run",
            "--reporter=json",
            "--outputFile={report}",
            "{files}",
        ),
        source="files",
        read=_text(jest_format.parse),
        steering=JAVASCRIPT,
        file_end=jest_format.SEPARATOR,
        variables={"CI": "true"},
    )
