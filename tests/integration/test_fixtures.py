"""The fixtures for a rubric's own tests."""

from __future__ import annotations

from integration.sessions import Project


RUBRIC_TESTS = """
import datetime as dt
import pytest
from pytest_codegenie import BenchScore, Rubric
from pytest_codegenie.models import AgentOutput, EvalResult, HarnessOutput

def output(resolved):
    status = "passed" if resolved else "failed"
    return HarnessOutput(
        agent=AgentOutput(instance_id="case", agent_name="me"),
        evaluation=EvalResult(
            instance_id="case", status=status, resolved=resolved,
            fail_to_pass_results={"test": status},
        ),
    )

@pytest.mark.parametrize("resolved", [True, False])
def test_the_rubric(codegenie_rubric, codegenie_make_case, resolved):
    assert isinstance(codegenie_rubric, Rubric)
    score = codegenie_rubric.score(codegenie_make_case(), output(resolved))
    assert isinstance(score, BenchScore)
    assert score.passed is resolved

def test_the_task_class(codegenie_task_class):
    assert codegenie_task_class.name == "demo-task"
    assert codegenie_task_class.breakdown_keys == {"fixed", "kept"}
    taxonomy = codegenie_task_class.failure_mode_taxonomy
    assert taxonomy["not_resolved"]["severity"] == "block"

def test_a_case(codegenie_make_case, tmp_path):
    case = codegenie_make_case(case_id="mine", disposition="negative", tags=("a", "b"))
    assert (case.case_id, case.task_class) == ("mine", "demo-task")
    assert case.disposition == "negative"
    assert case.directory == tmp_path

def test_a_wrong_case(codegenie_make_case):
    with pytest.raises(ValueError, match="disposition"):
        codegenie_make_case(disposition="neutral")

def test_each_test_has_a_rubric_of_its_own(codegenie_rubric, request):
    other = request.getfixturevalue("codegenie_task_class").rubric_class()
    assert codegenie_rubric is not other
"""


def test_they_serve_a_plain_run_of_a_task_classs_tests(
    project: Project, plugin_args: list[str]
) -> None:
    tests = project.bench.directory / "tests"
    tests.joinpath("test_rubric.py").unlink()
    tests.joinpath("test_mine.py").write_text(RUBRIC_TESTS)
    result = project.pytester.runpytest_subprocess("bench", *plugin_args)
    result.assert_outcomes(passed=6)


def test_the_tests_of_a_new_task_class_pass(project: Project) -> None:
    project.case("first")
    result = project.pytester.runpytest_subprocess("bench")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 0


def test_outside_of_a_task_class_they_say_where_they_belong(project: Project) -> None:
    project.path.joinpath("test_lost.py").write_text(
        "def test_it(codegenie_rubric): pass\n"
    )
    result = project.pytester.runpytest_subprocess("test_lost.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*test_lost.py: the codegenie fixtures are for tests below a task class *"]
    )


def test_a_task_class_that_does_not_hold_is_named(project: Project) -> None:
    project.bench.directory.joinpath("failure_modes.yaml").unlink()
    project.bench.directory.joinpath("tests/test_mine.py").write_text(
        "def test_it(codegenie_task_class): pass\n"
    )
    result = project.pytester.runpytest_subprocess("bench/demo-task/tests/test_mine.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*task class 'demo-task' is incomplete: *failure_modes.yaml: missing*"]
    )
