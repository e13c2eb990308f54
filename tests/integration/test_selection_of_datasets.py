"""Datasets, cases and a limit: which of the collected cases are run."""

from __future__ import annotations

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import NEVER_JUDGED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import collected
from support import Bench


DERIVED = "rag-corpus-derived"


@pytest.fixture
def project(project: Project) -> Project:
    """Two datasets, of which one has two splits; ids and names sort differently."""
    other = Bench(project.path / "bench", "a-task")
    other.case("zebra", files=ALWAYS_RIGHT)
    other.case("bear", files=ALWAYS_RIGHT, curation_class=DERIVED)
    project.case("ant")
    project.case("cow")
    project.case("dog", curation_class=DERIVED)
    return project


def selected(project: Project, *arguments: str) -> list[str]:
    """Return the cases that are collected and not left out, in order."""
    result = project.run("--collect-only", "-q", *arguments)
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    names = [line.rpartition("::")[2] for line in collected(result)]
    return [name.removesuffix("[oracle]") for name in names]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--codegenie-dataset=a-task"], "bear zebra"),
        (["--codegenie-dataset=a-task:held-out"], "zebra"),
        (
            ["--codegenie-dataset=a-task:held-out", "--codegenie-dataset=demo-task"],
            "ant cow dog zebra",
        ),
        (["--codegenie-limit=2"], "ant bear"),
        (["--codegenie-case=dog", "--codegenie-case=zebra"], "dog zebra"),
        (
            ["--codegenie-dataset=demo-task", "--codegenie-case=dog"],
            "dog",
        ),
        (["--codegenie-limit=2", "-k", "not ant"], "bear cow"),
        (["--codegenie-limit=2", "-m", "rag_corpus_derived"], "bear dog"),
        (["--codegenie-limit=1", "--codegenie-dataset=a-task", "bench/"], "bear"),
    ],
)
def test_options_select(project: Project, arguments: list[str], expected: str) -> None:
    assert sorted(selected(project, *arguments)) == expected.split()


def test_a_run_file_selects(project: Project, plugin_args: list[str]) -> None:
    option = project.run_file(
        datasets=[
            {"name": "demo-task", "limit": 2},
            {"name": "a-task", "instance_ids": ["bear", "zebra"], "split": "held-out"},
        ]
    )
    project.run(option, *plugin_args).assert_outcomes(
        passed=3, deselected=0 if plugin_args else 2
    )
    results = project.only_run().results
    assert sorted(result.case_id for result in results) == ["ant", "cow", "zebra"]
    assert selected(project, option, "--codegenie-limit=2") == ["ant", "cow"]
    named = "--codegenie-dataset=demo-task"
    assert selected(project, option, named) == ["ant", "cow"]


def test_what_is_left_out_is_deselected(project: Project) -> None:
    result = project.run("--codegenie-dataset=demo-task", "--codegenie-limit=2")
    result.assert_outcomes(passed=2, deselected=3)
    result.stdout.fnmatch_lines(["collected 5 items / 3 deselected / 2 selected"])


def test_a_limit_counts_cases_not_items(project: Project) -> None:
    result = project.run(
        "--codegenie-limit=2",
        "--codegenie-agent=oracle",
        "--codegenie-agent=oracle:again",
        "--codegenie-trials=2",
    )
    result.assert_outcomes(passed=8, deselected=12)
    run = project.only_run()
    assert {result.case_id for result in run.results} == {"ant", "bear"}


def test_the_order_is_that_of_the_collection(project: Project) -> None:
    arguments = ["--codegenie-case=ant", "--codegenie-case=zebra"]
    assert selected(project, *arguments) == ["zebra", "ant"]


def test_a_limit_cuts_what_lf_leaves(project: Project) -> None:
    for name in ("fox", "eel"):
        project.case(name, files=NEVER_JUDGED)
    arguments = ["--codegenie-dataset=demo-task"]
    project.run(*arguments).assert_outcomes(passed=3, errors=2, deselected=2)
    assert selected(project, "--lf", "--codegenie-limit=1") == ["eel"]


def test_a_selection_that_leaves_nothing_is_pytests_exit_code_for_it(
    project: Project, plugin_args: list[str]
) -> None:
    result = project.run(
        "--codegenie-dataset=a-task", "bench/a-task", "-k", "nothing", *plugin_args
    )
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not project.run_directories


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--codegenie-dataset=demo-tsak"],
            "command line: --codegenie-dataset: there is no dataset 'demo-tsak' in . "
            "(did you mean 'demo-task'?); known: a-task, demo-task",
        ),
        (
            ["--codegenie-dataset=demo-task:heldout"],
            "command line: --codegenie-dataset: Input should be 'held-out' or "
            "'rag-corpus-derived', got 'heldout' (did you mean 'held-out'?)",
        ),
        (
            ["--codegenie-case=cwo"],
            "command line: --codegenie-case: there is no case 'cwo' in . (did you mean "
            "'cow'?); known: ant, bear, cow, dog, zebra",
        ),
        (
            ["--codegenie-case=bear", "--codegenie-dataset=demo-task"],
            "command line: --codegenie-case: there is no case 'bear' in dataset "
            "'demo-task'*; known: ant, cow, dog",
        ),
        (
            ["--codegenie-dataset=demo-task", "bench/a-task"],
            "command line: --codegenie-dataset: there is no dataset 'demo-task' in "
            "bench/a-task*; known: a-task",
        ),
        (
            ["--codegenie-limit=-3"],
            "command line: --codegenie-limit: *greater than or equal to 1, got '-3'",
        ),
    ],
)
def test_an_unknown_name_is_a_usage_error_before_anything_runs(
    project: Project, arguments: list[str], message: str
) -> None:
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert_no_traceback(result)
    assert not project.run_directories


def test_an_unknown_id_of_a_run_file_is_named_with_its_dataset(
    project: Project, plugin_args: list[str]
) -> None:
    option = project.run_file(
        datasets=[{"name": "demo-task", "instance_ids": ["ant", "bear"]}]
    )
    result = project.run(option, *plugin_args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: run.yaml: there is no case 'bear' in dataset 'demo-task'*"]
    )


def test_validation_checks_only_what_is_selected(project: Project) -> None:
    result = project.pytester.runpytest_inprocess(
        "--codegenie-validate", "--codegenie-dataset=a-task", "--collect-only", "-q"
    )
    assert [line for line in result.outlines if "::" in line] == [
        "bench/a-task::a-task[validate]",
        "bench/a-task/cases/bear/case.toml::bear[validate]",
        "bench/a-task/cases/zebra/case.toml::zebra[validate]",
    ]
