"""-k, -m and the other options of pytest that choose among items."""

from __future__ import annotations

import pytest
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import collected
from integration.sessions import node_id


@pytest.fixture
def two_cases(project: Project) -> Project:
    project.case("first", keys={"tags": '["unicode", "issue-77"]'})
    project.case(
        "second",
        disposition="negative",
        difficulty="hard",
        curation_class="rag-corpus-derived",
    )
    return project


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("first", ["first"]),
        ("demo-task", ["first", "second"]),
        ("easy", ["first"]),
        ("hard and not easy", ["second"]),
        ("positive", ["first"]),
        ("negative", ["second"]),
        ("held-out", ["first"]),
        ("rag-corpus-derived", ["second"]),
        ("curated", ["first", "second"]),
        ("unicode", ["first"]),
        ("issue-77 or hard", ["first", "second"]),
        ("oracle", ["first", "second"]),
        ("command", []),
    ],
)
def test_k_knows_what_a_case_says_of_itself(
    two_cases: Project, expression: str, expected: list[str]
) -> None:
    result = two_cases.run("--collect-only", "-q", "-k", expression)
    assert collected(result) == [node_id(case_id) for case_id in expected]


@pytest.mark.parametrize(
    ("expression", "expected"), [("lazy", ["lazy"]), ("nop", ["lazy"])]
)
def test_k_knows_an_agent_by_label_and_by_name(
    two_cases: Project, expression: str, expected: list[str]
) -> None:
    agents = ["--codegenie-agent=oracle", "--codegenie-agent=nop:lazy"]
    result = two_cases.run("--collect-only", "-q", *agents, "-k", expression)
    assert collected(result) == [
        node_id(case_id, agent) for case_id in ("first", "second") for agent in expected
    ]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("codegenie", ["first", "second"]),
        ("easy and positive and held_out", ["first"]),
        ("hard and negative and rag_corpus_derived", ["second"]),
        ("medium or ambiguous", []),
    ],
)
def test_m_selects_by_registered_marks(
    two_cases: Project, expression: str, expected: list[str]
) -> None:
    result = two_cases.run("--collect-only", "-q", "-m", expression)
    assert collected(result) == [node_id(case_id) for case_id in expected]
    assert "PytestUnknownMarkWarning" not in result.stdout.str()


def test_deselect_takes_a_node_id_and_its_beginning(two_cases: Project) -> None:
    result = two_cases.run("--deselect", node_id("first"))
    result.assert_outcomes(passed=1, deselected=1)
    result = two_cases.run("--deselect", "bench/demo-task/cases/first", "--co", "-q")
    assert collected(result) == [node_id("second")]


def test_collect_only_runs_nothing_and_stores_nothing(two_cases: Project) -> None:
    result = two_cases.run("--collect-only")
    result.stdout.fnmatch_lines(
        [
            "*<Dir bench>*",
            "*<TaskClassDirectory demo-task>*",
            "*<CasesDirectory cases>*",
            "*<CaseDirectory first>*",
            "*<CaseFile case.toml>*",
            "*<CaseItem first[[]oracle[]]>*",
        ]
    )
    assert not two_cases.path.joinpath(".codegenie").exists()


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only"])
def test_options_that_execute_no_test_run_no_agent(
    two_cases: Project, option: str
) -> None:
    marker = two_cases.path / "started"
    result = two_cases.run(two_cases.shell_agent(f"touch {marker}"), option)
    assert result.ret == 0
    assert not marker.exists()
    assert not two_cases.run_directories


@pytest.fixture
def one_fails(project: Project) -> Project:
    """Of three cases, the second cannot be mended by the gold patch."""
    for case_id in ("a-case", "b-case", "c-case"):
        project.case(case_id, files=RIGHT_IF_MENDED)
    project.bench.write(project.bench.cases_dir / "b-case/expected/gold.patch", "")
    project.bench.sign()
    return project


def test_lf_and_ff_know_what_failed_last(
    one_fails: Project, plugin_args: list[str]
) -> None:
    one_fails.run(*plugin_args).assert_outcomes(passed=2, failed=1)
    result = one_fails.run("--lf", *plugin_args)
    result.assert_outcomes(failed=1)
    if not plugin_args:
        result.stdout.fnmatch_lines(["*rerun previous 1 failure*"])
    result = one_fails.run("--ff", "--co", "-q")
    assert collected(result) == [
        node_id("b-case"),
        node_id("a-case"),
        node_id("c-case"),
    ]


def test_lf_reruns_a_case_that_could_not_be_judged(project: Project) -> None:
    project.three_outcomes()
    project.run().assert_outcomes(passed=1, failed=1, errors=1)
    assert collected(project.run("--lf", "--co", "-q")) == [
        node_id("errs"),
        node_id("fails"),
    ]


def test_x_and_maxfail_stop_after_a_failure(
    one_fails: Project, plugin_args: list[str]
) -> None:
    result = one_fails.run("-x", *plugin_args)
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.re_match_lines([r"!+ .*stopping after 1 failures .*!+"])
    if not plugin_args:
        result.assert_outcomes(passed=1, failed=1)
        one_fails.run("--maxfail=2").assert_outcomes(passed=2, failed=1)


def test_stepwise_goes_on_where_it_stopped(one_fails: Project) -> None:
    one_fails.run("--stepwise").assert_outcomes(passed=1, failed=1)
    gold = (one_fails.bench.cases_dir / "a-case/expected/gold.patch").read_bytes()
    one_fails.bench.write(
        one_fails.bench.cases_dir / "b-case/expected/gold.patch", gold
    )
    one_fails.bench.sign()
    one_fails.run("--stepwise").assert_outcomes(passed=2, deselected=1)


def test_durations_shows_where_the_time_of_a_case_went(two_cases: Project) -> None:
    result = two_cases.run("--durations=1", "-vv", "-k", "first")
    result.stdout.re_match_lines([r"[\d.]+s setup +bench/.*::first\[oracle\]"])


@pytest.mark.parametrize(
    "plugin", ["xdist", "timeout", "cacheprovider", "junitxml", "stepwise"]
)
def test_a_session_does_without_any_other_plugin(
    two_cases: Project, plugin: str
) -> None:
    result = two_cases.run_subprocess("-p", f"no:{plugin}", "-k", "first")
    result.assert_outcomes(passed=1, deselected=1)
