"""A foundry project as a case: from the job to the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Bench
from support_foundry import HARNESS
from support_foundry import make_project
from support_foundry import step_diff

from pytest_codegenie.corpus import new_case
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.harness.runner import judge_output


TASK = """\
harness = "foundry"
[repository]
name = "acme/demo"
source = "project"
[environment]
install = "none"
"""
TESTS = """\
framework = "pytest"
fail_to_pass = ["tests/acceptance/test_all.py::test_greet"]
"""
HIDDEN = """\
from demo_greet import greet


def test_greet():
    assert greet("x") == "greet, x"
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Return a bench with the case ``first``: one prompt, no retries."""
    bench = Bench(tmp_path / "bench")
    directory = new_case(bench.directory, "first")
    for name in ("input/repo", "expected/gold.patch", "expected/overlay"):
        bench.write(directory / name, None)
    make_project(
        directory / "input" / "project",
        {
            "prompt.md": "## P-001: Greet\nWrite greet.\n",
            "harness.yaml": f"{HARNESS}limits: {{max_retries: 0}}\n",
            "control-plane.yaml": "protected: [tests/acceptance]\n",
            **{f"solution/P-00{number}.patch": None for number in (1, 2, 3)},
        },
    )
    bench.write(directory / "input/task.toml", TASK)
    bench.write(directory / "expected/tests.toml", TESTS)
    bench.write(directory / "expected/solution/P-001.patch", step_diff("greet"))
    bench.write(directory / "expected/overlay/tests/acceptance/test_all.py", HIDDEN)
    bench.sign()
    return bench


def test_the_oracle_builds_it_and_its_patch_can_be_judged_again(
    bench: Bench, tmp_path: Path
) -> None:
    result = bench.run(run_directory=tmp_path / "run")
    assert (result.outcome, result.message) == ("passed", "")
    output = result.output
    assert output is not None
    assert output.attempts == 1
    assert output.agent.metadata["foundry"] == {
        "prompts": 1,
        "completed": 1,
        "tries": 1,
        "retries": 0,
        "retries_allowed": 0,
        "rules_broken": 0,
        "ended": "complete",
        "gates": {
            "P-001": {
                "coverage": 100.0,
                "pylint_score": 10.0,
                "passed": True,
                "tries": 1,
            }
        },
    }
    assert output.evaluation is not None
    assert output.evaluation.resolved
    assert output.artifacts.keys() >= {"patch", "tries", "build", "tests"}
    assert (tmp_path / "run" / "tries" / "P-001-1" / "code.diff").is_file()
    again = judge_output(bench.job(), output.agent)
    assert (again.outcome, again.provenance) == ("passed", "regraded")
    assert again.output is not None
    assert again.output.attempts == 1


def test_nop_builds_nothing_and_scores_nothing(bench: Bench) -> None:
    result = bench.run(agent="nop")
    assert (result.outcome, result.score.score) == ("failed", 0.0)
    assert [mode.code for mode in result.score.failure_modes] == ["agent.no_patch"]
    assert result.output is not None
    facts = result.output.agent.metadata["foundry"]
    assert (facts["ended"], facts["completed"], facts["tries"]) == ("retries", 0, 1)


def test_an_agent_that_touches_what_is_protected_breaks_a_rule(bench: Bench) -> None:
    script = "mkdir -p tests/acceptance && touch tests/acceptance/test_all.py"
    result = bench.run_shell(script)
    assert result.outcome == "failed"
    assert result.output is not None
    assert result.output.agent.metadata["foundry"]["rules_broken"] == 1
    assert result.output.patch == ""


def test_agents_see_neither_solution_nor_hidden_tests(bench: Bench) -> None:
    script = "find . -type f -not -path './.git/*' | sort >&2; exit 1"
    result = bench.run_shell(script)
    assert result.outcome == "error"
    assert "./prompt.md" in result.message
    assert "P-001.patch" not in result.message
    assert "acceptance" not in result.message


def test_a_project_with_a_wrong_document_is_an_error_of_the_case(bench: Bench) -> None:
    prompt = bench.cases_dir / "first" / "input" / "project" / "prompt.md"
    prompt.write_text("## P-002\nx\n", "utf-8")
    bench.sign()
    with pytest.raises(BenchCaseLoadError, match=r"prompt\.md, line 1: P-002"):
        bench.run()
