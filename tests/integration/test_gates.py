"""Gates: ``--codegenie-require-lower-bound``, ``--codegenie-baseline`` and its gate."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

# pytester forgets what a session imports that it runs, and NumPy refuses to be imported
# a second time: then there would be no lower bound.
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import properties
from support import FIX
from support_runs import NOW
from support_runs import result as case_result
from support_runs import store_run

from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.session.corpus import SessionCorpus


HOST = "--codegenie-workspace=host"
#: Of four cases three pass: the lower bound is 0.249.
MENDS_EASY = f"test -e hard.txt || {FIX}"
FAILS_ON_REGRESSION = ("--codegenie-baseline=base", "--codegenie-fail-on-regression")


def bound(text: str) -> str:
    """Return the option that requires it."""
    return f"--codegenie-require-lower-bound={text}"


@pytest.fixture
def four(project: Project) -> Project:
    """A bench of three easy cases and a hard one."""
    for name in ("easy-1", "easy-2", "easy-3"):
        project.case(name, files=RIGHT_IF_MENDED)
    project.case("hard", files=RIGHT_IF_MENDED | {"input/repo/hard.txt": "it is\n"})
    return project


@pytest.fixture
def based(four: Project) -> Project:
    """The same, with a run ``base`` in the store in which all but ``hard`` passed."""
    rubric_digest = SessionCorpus().rubric_digest(four.bench.directory)
    cases = load_cases(read_task_class(four.bench.directory))
    results = [
        case_result(
            case.case_id,
            "failed" if case.case_id == "hard" else "passed",
            run_id="base",
            task_class=case.task_class,
            agent="shell",
            case_digest=case.case_digest,
            rubric_digest=rubric_digest,
        )
        for case in cases
    ]
    store_run(four.path / ".codegenie", results, run_id="base", started_at=NOW)
    return four


def suite(path: Path) -> dict[str, str]:
    """Return the properties of the suite in a JUnit report."""
    found = ET.parse(path).getroot().find("testsuite")
    assert found is not None
    return properties(found)


def gates(result: pytest.RunResult) -> list[str]:
    """Return what the summary says of gates, a line each."""
    lines: list[str] = []
    for line in result.outlines:
        if line.startswith("gate "):
            lines.append(line)
        elif lines and line.startswith("  "):
            lines[-1] += f" {line.strip()}"
    return lines


# -- lower bounds ------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["serial", "xdist"])
def test_failed_cases_are_in_the_bound(four: Project, workers: tuple[str, ...]) -> None:
    agent, junit = four.shell_agent(MENDS_EASY), four.path / "junit.xml"
    result = four.run(agent, HOST, bound("0.2"), f"--junitxml={junit}", *workers)
    result.assert_outcomes(passed=3, failed=1)
    said = (
        "demo-task [shell]: 95% lower bound 0.249 (Clopper-Pearson) reaches 0.2; "
        "3 of 4 passed"
    )
    assert (result.ret, gates(result)) == (0, [f"gate met: {said}"])
    name = "codegenie.gate.lower_bound.demo-task.shell"
    assert suite(junit)[name] == f"met: {said.partition(': ')[2]}"


def test_a_bound_that_is_not_reached_is_10(four: Project) -> None:
    result = four.run(bound("demo-task=0.5"), HOST, "--codegenie-agent=nop", "-q")
    assert (result.ret, gates(result)) == (
        10,
        [
            "gate not met: demo-task [nop]: 95% lower bound 0.000 (Clopper-Pearson) is "
            "below 0.5; 0 of 4 passed"
        ],
    )


def test_an_error_fails_the_session_though_the_bound_is_reached(four: Project) -> None:
    four.case("errs", files=NEVER_JUDGED)
    result = four.run(bound("0.3"), HOST)
    result.assert_outcomes(passed=4, errors=1)
    assert result.ret == 1
    assert gates(result) == [
        "gate met: demo-task [oracle]: 95% lower bound 0.473 (Clopper-Pearson) reaches "
        "0.3; 4 of 4 passed, 1 not judged (errors)"
    ]


def test_what_ended_early_keeps_its_exit_code(four: Project) -> None:
    result = four.run(bound("0"), HOST, "--codegenie-agent=nop", "-x")
    assert result.ret == 1
    assert "ended early: 3 of 4 not run (easy-2[nop], easy-3[nop], " in gates(result)[0]
    assert gates(result)[0].startswith("gate not met: ")
    # The last case may fail: nothing is missing then.
    result = four.run(four.shell_agent(MENDS_EASY), bound("0.2"), HOST, "-x")
    result.assert_outcomes(passed=3, failed=1)
    assert result.ret == 0


def test_an_interrupted_session_stays_interrupted(four: Project) -> None:
    conftest = """
        def pytest_runtest_logfinish(nodeid, location):
            import os, signal
            os.kill(os.getpid(), signal.SIGINT)
    """
    four.pytester.makeconftest(conftest)
    result = four.run_subprocess(bound("0"), HOST)
    assert result.ret == 2
    assert gates(result)[0].startswith("gate not met: demo-task [oracle]: ")


def test_a_corpus_that_does_not_verify_stays_6(four: Project) -> None:
    (four.bench.cases_dir / "hard/input/problem.md").write_text("x", encoding="utf-8")
    result = four.run(bound("0"), HOST)
    assert result.ret == 6
    assert gates(result) == ["gate not met: no case has a result, 0 is required"]
    assert four.run_directories == []


def test_a_task_class_that_is_not_run_is_not_met(four: Project) -> None:
    four.settings('require_lower_bound = {demo-tsk = 0.1, "*" = 0.1}')
    result = four.run(HOST)
    result.assert_outcomes(passed=4)
    assert result.ret == 10
    assert [line.partition(";")[0] for line in gates(result)] == [
        "gate not met: demo-tsk: no case has a result, 0.1 is required (did you mean "
        "'demo-task'?)",
        "gate met: demo-task [oracle]: 95% lower bound 0.473 (Clopper-Pearson) reaches "
        "0.1",
    ]


def test_an_agent_of_which_all_was_skipped_has_shown_nothing(four: Project) -> None:
    four.pytester.makeconftest(
        """
        import pytest

        def pytest_runtest_setup(item):
            if item.name.endswith("[nop]"):
                pytest.skip("not today")
        """
    )
    agents = ("--codegenie-agent=oracle", "--codegenie-agent=nop")
    result = four.run(HOST, bound("0.1"), *agents)
    result.assert_outcomes(passed=4, skipped=4)
    assert result.ret == 10
    assert [line.partition("(")[0] for line in gates(result)] == [
        "gate met: demo-task [oracle]: 95% lower bound 0.473 ",
        "gate not met: demo-task [nop]: no 95% lower bound ",
    ]


def test_where_nothing_is_run_nothing_is_required(four: Project) -> None:
    four.settings('require_lower_bound = 0.9\nbaseline = "nothing"')
    result = four.run("--collect-only", "-q")
    assert result.ret == 0
    result = four.run("-k", "nothing", "--codegenie-baseline=latest")
    assert result.ret == 4  # there is no run
    result = four.pytester.runpytest_inprocess("--codegenie-validate", "-k", "nothing")
    assert result.ret == 5


def test_a_wrong_bound_is_a_usage_error(four: Project) -> None:
    result = four.run(bound("0.5"), bound("demo-task="))
    assert result.ret == 4
    assert result.stderr.str().strip() == (
        "ERROR: command line: --codegenie-require-lower-bound: must be X or TASK=X, "
        "where X is a number from 0 to 1 and TASK a task class, such as 0.8 or "
        "bug-repair=0.8, got 'demo-task='"
    )
    assert_no_traceback(result)


# -- a baseline --------------------------------------------------------------------


def test_a_baseline_is_compared_and_decides_nothing(based: Project) -> None:
    junit = based.path / "junit.xml"
    agent = based.shell_agent(f"test ! -e hard.txt || {FIX}")
    baseline = "--codegenie-baseline=latest"
    result = based.run(agent, HOST, baseline, f"--junitxml={junit}")
    result.assert_outcomes(passed=1, failed=3)
    assert result.ret == 1
    result.stdout.re_match_lines(
        [
            r"compared with run base",
            r"demo-task \[shell\]",
            r"  compared     4 cases, 0 left out",
            r"  mean         0\.750 before, 0\.250 after",
            r"  difference   -0\.500, 95% from -1\.000 to \+0\.\d+ \(BCa bootstrap\)",
            r"  passed       3 regressed, 1 improved, 0 unchanged; .* p = 0\.625",
            r"  regressed    easy-1, easy-2, easy-3",
            r"  improved     hard",
        ],
        consecutive=True,
    )
    assert gates(result) == []
    found = suite(junit)
    assert found["codegenie.baseline"] == "base"
    name = "codegenie.baseline.demo-task.shell."
    counts = {key: found[f"{name}{key}"] for key in ("cases", "regressed", "improved")}
    assert counts == {"cases": "4", "regressed": "3", "improved": "1"}
    assert float(found[f"{name}difference"]) == -0.5
    assert float(found[f"{name}mcnemar_p"]) == 0.625


def test_a_regression_is_10_and_no_regression_leaves_the_rest(based: Project) -> None:
    result = based.run(based.shell_agent("true"), HOST, *FAILS_ON_REGRESSION)
    assert (result.ret, gates(result)) == (
        10,
        [
            "gate not met: demo-task [shell]: compared with run base: 3 of 4 cases "
            "regressed (easy-1, easy-2, easy-3)"
        ],
    )
    # A FAILED case is one still ...
    agent = based.shell_agent(MENDS_EASY)
    result = based.run(agent, HOST, *FAILS_ON_REGRESSION)
    assert (result.ret, gates(result)) == (
        1,
        ["gate met: demo-task [shell]: compared with run base: 0 of 4 cases regressed"],
    )
    # ... unless a lower bound says how many there may be.
    assert based.run(agent, HOST, *FAILS_ON_REGRESSION, bound("0.2")).ret == 0


def test_what_changed_since_is_not_compared(based: Project) -> None:
    agent = based.shell_agent(MENDS_EASY)
    for name in ("easy-1", "easy-2", "easy-3"):
        problem = based.bench.cases_dir / name / "input/problem.md"
        problem.write_text("Something else.\n", encoding="utf-8")
    based.bench.sign()
    result = based.run(agent, HOST, *FAILS_ON_REGRESSION)
    assert gates(result) == [
        "gate met: demo-task [shell]: compared with run base: 0 of 1 cases regressed; "
        "3 not compared"
    ]
    # Nothing that is selected is as it was: no agent need be started to tell.
    before = len(based.run_directories)
    result = based.run(agent, HOST, *FAILS_ON_REGRESSION, "-k", "not hard")
    assert result.ret == 4
    assert "cannot be compared with what is selected: it judged none of these" in (
        result.stderr.str()
    )
    assert len(based.run_directories) == before
    assert_no_traceback(result)


@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["serial", "xdist"])
def test_a_baseline_of_another_agent_is_found_before_any_agent_starts(
    based: Project, workers: tuple[str, ...]
) -> None:
    option = "--codegenie-baseline=base"
    result = based.run(HOST, option, "--codegenie-agent=nop", *workers)
    assert result.ret == 4
    assert (
        "command line: --codegenie-baseline: run base cannot be compared with what is "
        "selected: it has demo-task [shell], and selected is demo-task [nop]; name a "
        "run of the same agent" in result.stderr.str()
    )
    assert [path.name for path in based.run_directories] == ["base"]
    assert_no_traceback(result)


def test_a_baseline_that_cannot_be_read_is_a_usage_error(four: Project) -> None:
    def refused(*options: str) -> str:
        result = four.run(HOST, *options)
        assert (result.ret, four.run_directories) == (4, []), result.stdout.str()
        assert_no_traceback(result)
        return result.stderr.str().strip().removeprefix("ERROR: ")

    assert refused("--codegenie-fail-on-regression") == (
        "command line: --codegenie-fail-on-regression: needs a run to compare with: "
        "name it with --codegenie-baseline RUN"
    )
    assert refused("--codegenie-baseline=bsae") == (
        "command line: --codegenie-baseline: there is no run 'bsae' in "
        ".codegenie/runs; the last ones: none"
    )
    assert refused("--codegenie-baseline=./bsae") == (
        "command line: --codegenie-baseline: there is no directory ./bsae"
    )
    elsewhere = four.path / "elsewhere"
    elsewhere.mkdir()
    assert "elsewhere/run.json: cannot be read: No such file" in refused(
        f"--codegenie-baseline={elsewhere}"
    )
    record = (
        '{"run_id": "empty", "started_at": "2026-01-01T00:00:00Z", "config": {}, '
        '"versions": {}}'
    )
    (elsewhere / "run.json").write_text(record, encoding="utf-8")
    four.settings(f'baseline = "{elsewhere}"')
    assert refused() == (
        f"pyproject.toml: baseline: no case of run '{elsewhere}' has a result"
    )


def test_the_command_run_passes_gates_on(based: Project) -> None:
    arguments = ("run", "--baseline=base", "--fail-on-regression")
    dry = based.command(*arguments, "--require-lower-bound=0.5", "-a=nop", "--dry-run")
    assert dry.returncode == 1
    assert dry.stdout.splitlines()[0] == (
        "$ pytest --codegenie bench --codegenie-agent=nop "
        "--codegenie-require-lower-bound=0.5 --codegenie-baseline=base "
        "--codegenie-fail-on-regression"
    )
    lines = [line.split(maxsplit=1) for line in dry.stdout.splitlines() if line]
    assert ["gates", "lower bound of at least 0.5 for each task class"] in lines
    assert "no regression since run base" in dry.stdout
    assert "run base cannot be compared with what is selected" in dry.stdout
