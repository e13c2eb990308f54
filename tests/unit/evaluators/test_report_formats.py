"""What is read in recorded reports of real runs, and in ones that somebody forged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.formats import gotest
from pytest_codegenie.evaluators.formats import jest
from pytest_codegenie.evaluators.formats import junit
from pytest_codegenie.evaluators.formats import libtest
from pytest_codegenie.evaluators.formats import logs
from pytest_codegenie.evaluators.formats import tap


SAMPLES = Path(__file__).parents[2] / "data" / "test_reports"


def text(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def of_package(report: Report, name: str) -> dict[str, str]:
    prefix = f"example.org/sample/{name}."
    assert all(test.startswith(prefix) for test in report.statuses)
    return {test.removeprefix(prefix): how for test, how in report.statuses.items()}


def test_go_tests_and_their_subtests() -> None:
    report = gotest.parse(text("gotest-calc.jsonl"))
    assert of_package(report, "calc") == {
        "TestAdd": "passed",
        "TestWrong": "failed",
        "TestSkipped": "skipped",
        "TestTable/one": "passed",
        "TestTable/two_words": "failed",
        "TestTable/größe": "passed",
        "TestTable/a/b": "passed",
        "TestTable": "failed",
        "ExampleAdd": "passed",
    }
    assert "expected 4" in report.texts["example.org/sample/calc.TestWrong"]
    assert not report.faults


def test_a_go_package_that_does_not_build_is_a_failure_without_tests() -> None:
    report = gotest.parse(text("gotest-broken.jsonl"))
    assert not report.statuses
    assert report.other_failures == ["FAIL\texample.org/sample/broken [build failed]"]


def test_go_tests_after_a_panic_are_missing() -> None:
    report = gotest.parse(text("gotest-crash.jsonl"))
    assert of_package(report, "crash") == {
        "TestBefore": "passed",
        "TestPanics": "failed",
    }


def test_a_go_test_that_did_not_end_is_no_pass() -> None:
    report = gotest.parse(text("gotest-late.jsonl"))
    statuses = of_package(report, "late")
    assert statuses == {"TestQuick": "passed", "TestHangs": "error"}
    assert "timed out" in report.texts["example.org/sample/late.TestHangs"]


def test_no_go_test_passes_in_a_package_that_fails_without_one() -> None:
    report = gotest.parse(text("gotest-exits.jsonl"))
    assert of_package(report, "exits") == {"TestFine": "error"}


def test_a_go_result_that_a_test_printed_spoils_its_package() -> None:
    report = gotest.parse(text("gotest-loud.jsonl"))
    assert of_package(report, "loud") == {"TestForged": "error", "TestLoud": "error"}
    assert "not started" in report.texts["example.org/sample/loud.TestForged"]


@pytest.mark.parametrize(
    ("dropped", "words"),
    [
        (lambda event: "Test" not in event, "broke off"),
        (lambda event: event.get("Test") == "TestPanics", "none of its tests did"),
    ],
)
def test_go_events_that_are_cut_out_are_noticed(dropped: object, words: str) -> None:
    assert callable(dropped)
    lines = text("gotest-crash.jsonl").splitlines()
    kept = [line for line in lines if not dropped(json.loads(line))]
    report = gotest.parse("\n".join(kept))
    assert report.statuses["example.org/sample/crash.TestBefore"] == "error"
    assert words in report.texts["example.org/sample/crash.TestBefore"]


def test_rust_tests_of_all_programs() -> None:
    report = libtest.parse(text("cargo-mixed.txt"))
    assert report.statuses == {
        "tests::adds": "passed",
        "tests::größe": "passed",
        "tests::is_ignored": "skipped",
        "tests::is_wrong": "failed",
        "tests::panics": "passed",
        "tests::prints": "passed",
        "from_outside": "passed",
        "src/lib.rs - add (line 3)": "passed",
        "src/lib.rs - add (line 7)": "passed",
    }
    assert "assertion `left == right` failed" in report.texts["tests::is_wrong"]


def test_rust_tests_of_a_program_that_aborts_are_missing() -> None:
    report = libtest.parse(text("cargo-abort.txt"))
    assert not {"dies", "lives"} & set(report.statuses)
    assert report.statuses["tests::adds"] == "passed"
    assert report.other_failures == [
        "running 2 tests: the test program ended before it gave its totals"
    ]


def test_rust_code_that_does_not_compile_has_no_tests() -> None:
    assert not libtest.parse(text("cargo-broken.txt")).statuses


def test_a_rust_result_that_a_test_printed_is_none() -> None:
    report = libtest.parse(text("cargo-nocapture.txt"))
    assert "tests::forged" not in report.statuses


def test_rust_lines_that_the_totals_do_not_know_spoil_their_program() -> None:
    told = text("cargo-mixed.txt").replace(
        "test from_outside ... ok\n", "test from_outside ... ok\ntest forged ... ok\n"
    )
    report = libtest.parse(told)
    assert report.statuses["forged"] == report.statuses["from_outside"] == "error"
    assert report.statuses["tests::adds"] == "passed"


@pytest.mark.parametrize("name", ["jest", "vitest"])
def test_javascript_tests(name: str) -> None:
    report = jest.parse(text(f"{name}-sum.json")).relative_to("/testbed")
    file = f"{name}/sum.test.js"
    assert report.statuses == {
        f"{file} > sum > adds": "passed",
        f"{file} > sum > is wrong": "failed",
        f"{file} > sum > is skipped": "skipped",
        f"{file} > sum > is to do": "skipped",
        f"{file} > sum > 1 is 1": "passed",
        f"{file} > sum > 2 is 3": "failed",
        f"{file} > sum > größe > of > things": "passed",
        f"{file} > at the top": "passed",
    }
    assert not report.faults
    assert not report.other_failures


@pytest.mark.parametrize("name", ["jest", "vitest"])
def test_a_javascript_file_that_does_not_load_is_a_failure_without_tests(
    name: str,
) -> None:
    report = jest.parse(text(f"{name}-broken.json"))
    assert "no-such-module" in report.other_failures[0]
    assert not any("broken" in test for test in report.statuses)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"numTotalTests":8', '"numTotalTests":9'),
        ('"status":"failed","title":"is wrong"', '"status":"passed","title":"x"'),
        ("}", ""),
        ('"testResults"', '"other"'),
    ],
)
def test_a_javascript_report_that_contradicts_itself_has_a_fault(
    old: str, new: str
) -> None:
    whole = json.dumps(json.loads(text("vitest-sum.json")), separators=(",", ":"))
    assert old in whole
    assert jest.parse(whole.replace(old, new, 1)).faults


@pytest.mark.parametrize("data", ["", "[]", "null", "[" * 100_000, '{"testResults":1}'])
def test_what_is_no_javascript_report_has_a_fault(data: str) -> None:
    report = jest.parse(data)
    assert report.faults
    assert not report.statuses


def test_junit_of_pytest() -> None:
    report = junit.parse((SAMPLES / "junit-pytest.xml").read_bytes())
    assert report.statuses == {
        "test_sum.test_adds": "passed",
        "test_sum.test_is_wrong": "failed",
        "test_sum.test_is_skipped": "skipped",
        "test_sum.test_is_to_do": "skipped",
        "test_sum.test_text[a b]": "passed",
        "test_sum.test_text[[x]]": "passed",
        "test_sum.test_text[<&>]": "passed",
        "test_sum.test_text[\\xe9]": "passed",
        "test_sum.test_set_up": "error",
        "test_sum.test_torn_down": "error",
        "test_sum.TestGroup.test_passes": "passed",
    }
    assert "größe <&>" in report.texts["test_sum.test_is_wrong"]
    assert not report.faults


def test_junit_of_maven() -> None:
    report = junit.parse((SAMPLES / "junit-surefire.xml").read_bytes())
    assert report.statuses == {
        "org.example.SumTest.adds": "passed",
        "org.example.SumTest.isWrong": "failed",
        "org.example.SumTest.breaks": "error",
        "org.example.SumTest.isIgnored": "skipped",
    }
    assert not report.faults


def test_junit_of_node() -> None:
    report = junit.parse((SAMPLES / "junit-node.xml").read_bytes())
    assert report.statuses["test.is wrong"] == "failed"
    assert report.statuses["test.is to do"] == "skipped"
    assert report.statuses["test.größe # of things"] == "passed"
    assert not report.faults


def test_junit_of_a_module_that_does_not_import() -> None:
    report = junit.parse((SAMPLES / "junit-pytest-broken.xml").read_bytes())
    assert report.statuses == {"test_broken": "error"}


def test_a_junit_test_that_was_not_run_is_skipped() -> None:
    # As GoogleTest writes it.
    report = junit.parse(
        b'<testsuites><testsuite name="s" tests="2" failures="0" errors="0">'
        b'<testcase name="Runs" status="run" result="completed" classname="Sum"/>'
        b'<testcase name="DISABLED_x" status="notrun" classname="Sum"/>'
        b"</testsuite></testsuites>"
    )
    assert report.statuses == {"Sum.Runs": "passed", "Sum.DISABLED_x": "skipped"}
    assert not report.faults


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'tests="4"', b'tests="7"', "tells of 7 tests, but lists 4"),
        (b'errors="1"', b'errors="0"', ""),
        (b"</testsuite>", b"", "no whole JUnit XML"),
        (b"<testsuite ", b"<report ", "no whole JUnit XML"),
        (
            b"<testsuite ",
            b'<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite ',
            "declares a document type",
        ),
    ],
)
def test_junit_that_contradicts_itself_has_a_fault(
    old: bytes, new: bytes, fault: str
) -> None:
    data = (SAMPLES / "junit-surefire.xml").read_bytes()
    assert old in data
    report = junit.parse(data.replace(old, new, 1))
    # Tools disagree on what is a failure and what an error; together they count.
    assert bool(report.faults) == bool(fault)
    assert fault in "".join(report.faults)


def test_junit_that_hides_its_failures_has_a_fault() -> None:
    data = (SAMPLES / "junit-surefire.xml").read_bytes()
    data = data.replace(b'errors="1"', b'errors="0"').replace(
        b'failures="1"', b'failures="0"'
    )
    assert "0 failures" in junit.parse(data).faults[0]


def test_tap_of_node() -> None:
    report = tap.parse(text("tap-node.txt"))
    assert report.statuses == {
        "adds": "passed",
        "is wrong": "failed",
        "is skipped": "skipped",
        "is to do": "skipped",
        "größe # of things": "passed",
        "a group": "failed",
        "a group > passes": "passed",
        "a group > fails": "failed",
        "a group > deeper": "passed",
        "a group > deeper > passes": "passed",
        "prints": "passed",
    }
    assert not report.faults


def test_tap_of_files_that_node_cannot_run() -> None:
    report = tap.parse(text("tap-node-broken.txt")).relative_to("/testbed")
    assert report.statuses == {
        "test/broken.test.js": "failed",
        "test/exits.test.js": "passed",
    }


PERL = {
    "adds": "passed",
    "is wrong": "failed",
    "3": "skipped",
    "is to do": "skipped",
    "a group": "passed",
    "a group > passes": "passed",
    "a group > too": "passed",
    "6": "passed",
    "a # that means nothing": "passed",
}


def test_tap_of_perl() -> None:
    report = tap.parse(text("tap-perl.txt"))
    assert report.statuses == PERL
    assert not report.faults


def test_tap_under_prove_names_the_files() -> None:
    report = tap.parse(text("tap-prove.txt"))
    assert report.statuses == {f"t/basic.t > {k}": v for k, v in PERL.items()} | {
        "t/fine.t > fine": "passed"
    }
    assert not report.faults


def test_tap_that_skips_all_is_whole() -> None:
    report = tap.parse(text("tap-perl-nothing.txt"))
    assert report == Report()


@pytest.mark.parametrize(
    ("sample", "fault"),
    [
        ("tap-perl-short.txt", "3 tests are planned, 1 reported"),
        ("tap-perl-bail.txt", "Bail out!  no disk"),
    ],
)
def test_tap_that_breaks_off_has_a_fault(sample: str, fault: str) -> None:
    assert fault in "".join(tap.parse(text(sample)).faults)


@pytest.mark.parametrize(
    ("lines", "statuses", "faults"),
    [
        ("ok\nnot ok\n1..2", {"1": "passed", "2": "failed"}, 0),
        ("1..1\nok 1 - a\n1..1\nok 1 - b", {"a": "passed", "b": "passed"}, 0),
        ("ok 1 - a\n1..1\nok 1 - b\n1..1", {"a": "passed", "b": "passed"}, 0),
        ("ok 1 - a\nnot ok 2 - a\n1..2", {"a": "failed"}, 0),
        ("ok 1 a\n1..1", {"a": "passed"}, 0),
        ("ok 1 - a # todo\n1..1", {"a": "passed"}, 0),
        ("okay 1 - a\n1..0", {}, 0),
        ("ok 1 - a", {"a": "passed"}, 1),
        ("1..1\nok 1 - a\nok 2 - forged", {"a": "passed", "forged": "passed"}, 1),
        ("    ok 1 - lost\n    1..1\n", {"lost": "passed"}, 0),
        ("1..1\nok 1 - a\n  ---\n  ok 2 - quoted\n  ...\n", {"a": "passed"}, 0),
    ],
)
def test_tap_line_by_line(lines: str, statuses: dict[str, str], faults: int) -> None:
    report = tap.parse(lines)
    assert report.statuses == statuses
    assert len(report.faults) == faults


#: Lines that formats know, whole and broken, in any order.
LINES = st.sampled_from(
    [
        line
        for sample in sorted(SAMPLES.glob("*.*"))
        if sample.suffix in (".txt", ".jsonl", ".xml", ".json")
        for line in sample.read_text(encoding="utf-8").splitlines()[:40]
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["testResults", "assertionResults", "status", "name"]),
            inner,
        )
    ),
)


@given(lines=st.lists(LINES | st.text()), cut=st.integers(0, 200))
def test_no_text_breaks_a_reader(lines: list[str], cut: int) -> None:
    broken = "\n".join(lines)[cut:]
    for module in (gotest, jest, libtest, tap):
        assert isinstance(module.parse(broken), Report)
    assert isinstance(junit.parse(broken.encode(errors="replace")), Report)
    for parser in logs.LOG_PARSERS:
        assert isinstance(logs.parse(broken, parser), Report)


@given(data=st.dictionaries(st.just("testResults"), JSON) | JSON)
def test_no_json_breaks_the_reader_of_jest(data: object) -> None:
    assert jest.parse(json.dumps(data)).faults


@given(st.dictionaries(st.sampled_from(["Action", "Package", "Test", "Output"]), JSON))
def test_no_event_breaks_the_reader_of_go(event: dict[str, object]) -> None:
    assert isinstance(gotest.parse(json.dumps(event)), Report)
