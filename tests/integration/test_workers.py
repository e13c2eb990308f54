"""The setting ``workers``: what pytest's -n is where nobody gives it."""

from __future__ import annotations

from typing import Any

import pytest
from integration.sessions import Project
from integration.sessions import assert_no_traceback


#: Workers as users have them.
pytestmark = pytest.mark.usefixtures("cold_starts")


@pytest.fixture
def project(project: Project) -> Project:
    project.case("first")
    project.case("second")
    return project


def is_distributed(result: pytest.RunResult) -> bool:
    return any(line.startswith("created: ") for line in result.outlines)


def test_a_run_file_gives_workers(project: Project) -> None:
    result = project.run(project.run_file(workers=2))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["created: 2/2 workers", "2 workers [[]2 items]"])


def test_auto_is_pytests_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
    monkeypatch.setenv("CODEGENIE_WORKERS", "auto")
    result = project.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["created: 1/1 worker"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["-n", "0"],
        ["-n0"],
        ["--dist", "no"],
        ["--dist=no"],
        ["--pdb"],
        ["-p", "no:xdist"],
        ["--collect-only"],
    ],
    ids=" ".join,
)
def test_the_command_line_goes_first(project: Project, arguments: list[str]) -> None:
    option = project.run_file(workers=2)
    result = project.run(option, *arguments)
    assert result.ret == 0
    assert not is_distributed(result)


@pytest.mark.parametrize("workers", [0, None])
def test_no_workers_is_no_distribution(project: Project, workers: Any) -> None:
    result = project.run(project.run_file(workers=workers))
    result.assert_outcomes(passed=2)
    assert not is_distributed(result)


def test_ordinary_tests_get_no_workers(project: Project) -> None:
    project.settings("workers = 2")
    project.path.joinpath("test_ordinary.py").write_text("def test_it(): pass\n")
    result = project.pytester.runpytest_inprocess("test_ordinary.py")
    result.assert_outcomes(passed=1)
    assert not is_distributed(result)


def test_a_wrong_number_is_a_usage_error(project: Project) -> None:
    result = project.run(project.run_file(workers="many"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: run.yaml: workers: must be a number, 0 for none, *got 'many'"]
    )
    assert_no_traceback(result)
