"""Node ids, and every way to select by them."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration.sessions import Project
from integration.sessions import collected
from integration.sessions import node_id


@pytest.fixture
def project(project: Project) -> Project:
    project.case("first")
    project.case("second")
    return project


def listed(project: Project, *arguments: str) -> list[str]:
    return collected(project.run("--collect-only", "-q", *arguments))


@pytest.mark.parametrize(
    "selection",
    [
        "bench",
        "bench/demo-task",
        "bench/demo-task/cases",
        ".",
    ],
)
def test_a_directory_selects_the_cases_below_it_by_id(
    project: Project, selection: str
) -> None:
    assert listed(project, selection) == [node_id("first"), node_id("second")]


@pytest.mark.parametrize(
    "selection",
    [
        "bench/demo-task/cases/first",
        "bench/demo-task/cases/first/case.toml",
        node_id("first"),
        "bench/demo-task/cases/first/case.toml::first",
    ],
)
def test_a_case_is_selected_by_directory_file_and_node_id(
    project: Project, selection: str
) -> None:
    assert listed(project, selection) == [node_id("first")]


def test_every_agent_and_trial_is_an_item_of_its_own(project: Project) -> None:
    agents = ["--codegenie-agent=oracle", "--codegenie-agent=nop:lazy"]
    case_file = "bench/demo-task/cases/first/case.toml"
    assert listed(project, *agents, "--codegenie-trials=2", case_file) == [
        node_id("first", "oracle-t1"),
        node_id("first", "oracle-t2"),
        node_id("first", "lazy-t1"),
        node_id("first", "lazy-t2"),
    ]
    assert listed(project, *agents, node_id("second", "lazy")) == [
        node_id("second", "lazy")
    ]


@pytest.mark.parametrize(
    ("place", "count"),
    [("bench", 2), ("bench/demo-task/cases", 2), ("bench/demo-task/cases/first", 1)],
)
def test_a_session_started_inside_of_the_bench_finds_the_same_node_ids(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: str, count: int
) -> None:
    monkeypatch.chdir(project.path / place)
    assert listed(project) == [node_id("first"), node_id("second")][:count]
    result = project.run("--codegenie-out", str(project.path / ".codegenie"))
    result.assert_outcomes(passed=count)


def test_a_session_inside_of_a_case_works_in_a_project_without_settings(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project.path.joinpath("pyproject.toml").unlink()
    monkeypatch.chdir(project.path / "bench/demo-task/cases/first")
    result = project.run("--codegenie-out", str(tmp_path))
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "selection",
    [
        "bench/demo-task/cases/first/case.toml::first[nop]",
        "bench/demo-task/cases/first/case.toml::second[oracle]",
        "bench/demo-task/cases/third",
    ],
)
def test_a_selection_that_is_nothing_is_a_usage_error(
    project: Project, selection: str
) -> None:
    result = project.run(selection)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *not found*"])
    assert not project.run_directories


def test_only_cases_are_collected_and_nothing_inside_of_them(project: Project) -> None:
    project.path.joinpath("test_ordinary.py").write_text("def test_it(): pass\n")
    nested = project.bench.cases_dir / "first/input/repo/cases/inner"
    nested.mkdir(parents=True)
    nested.joinpath("case.toml").write_text("")
    project.bench.sign()
    assert listed(project) == [node_id("first"), node_id("second")]


def test_no_ignore_rule_of_a_project_hides_a_case(project: Project) -> None:
    project.settings("", ini='norecursedirs = ["cases", "bench", "demo*"]')
    project.path.joinpath("conftest.py").write_text(
        'collect_ignore_glob = ["bench/*/cases/*", "*.toml"]\n'
    )
    assert listed(project, "bench/demo-task") == [node_id("first"), node_id("second")]
