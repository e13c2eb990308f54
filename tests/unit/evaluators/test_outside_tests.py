"""Reading what tests outside of the tree leave: rewards, summaries, missing tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.harbor import is_enough
from pytest_codegenie.evaluators.harbor import read_rewards
from pytest_codegenie.evaluators.outside import check_start
from pytest_codegenie.evaluators.outside import check_tools
from pytest_codegenie.evaluators.outside import fetching
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.terminal_bench import read_summary
from pytest_codegenie.processes import Completed


def completed(output: str, exit_code: int = 0) -> Completed:
    return Completed(exit_code, output.encode(), b"", False, 1.0, 0, "")


def judgement(tests: Path, script: str) -> Judgement:
    tests.mkdir()
    (tests / "test.sh").write_text(script)
    return Judgement(
        instance_id="first",
        base=Path(),
        overlay=None,
        fail_to_pass=(),
        pass_to_pass=(),
        command=None,
        timeout_seconds=1,
        scratch=Path(),
        log_path=None,
        outside=tests,
    )


@pytest.mark.parametrize(
    ("name", "text", "rewards", "enough"),
    [
        ("reward.txt", "1\n", {"reward": 1.0}, True),
        ("reward.txt", "0.99", {"reward": 0.99}, False),
        ("reward.txt", "2", {"reward": 2.0}, True),
        ("reward.json", "1", {"reward": 1}, True),
        ("reward.json", '{"a": 1, "b": 1.0}', {"a": 1, "b": 1.0}, True),
        ("reward.json", '{"a": 1, "b": 0.5}', {"a": 1, "b": 0.5}, False),
        ("reward.json", '{"reward": 1, "b": 0}', {"reward": 1, "b": 0}, True),
    ],
)
def test_a_reward_of_one_is_enough(
    tmp_path: Path, name: str, text: str, rewards: dict[str, float], enough: bool
) -> None:
    (tmp_path / name).write_text(text)
    assert read_rewards(tmp_path) == rewards
    assert is_enough(rewards) is enough


def test_json_goes_before_text_as_with_harbor(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("0")
    (tmp_path / "reward.json").write_text("1")
    assert read_rewards(tmp_path) == {"reward": 1}


def test_without_a_file_there_is_no_reward(tmp_path: Path) -> None:
    assert read_rewards(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("reward.txt", "", "holds no reward: ''"),
        ("reward.txt", "all good", "holds no reward: 'all good'"),
        ("reward.txt", "nan", "a reward is a finite number, not nan"),
        ("reward.json", '{"a": "1"}', r"reward\.json: a: a reward is a finite number"),
        ("reward.json", '{"a": 1e999}', "not inf"),
        ("reward.json", "[1]", "not \\[1\\]"),
        ("reward.json", "{}", "is empty"),
        ("reward.json", "[" * 50000, "holds no reward"),
        ("reward.txt", "1" * 70000, "too long for a reward"),
    ],
)
def test_what_is_no_reward_is_an_error(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(EvaluatorError, match=words):
        read_rewards(tmp_path)


def test_a_link_is_no_reward(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("1")
    (tmp_path / "reward.txt").symlink_to("elsewhere")
    with pytest.raises(EvaluatorError, match="is no file"):
        read_rewards(tmp_path)


SUMMARY = "PASSED t.py::test_early\n=== short test summary info ===\n"


@pytest.mark.parametrize(
    ("lines", "results"),
    [
        ("PASSED t.py::test_a\n", {"test_a": "passed"}),
        ("FAILED t.py::test_a - assert 1 - 2\n", {"test_a": "failed"}),
        ("ERROR t.py::test_a - boom\n", {"test_a": "failed"}),
        ("XPASS t.py::test_a\n", {"test_a": "failed"}),
        ("XFAIL t.py::test_a - known\n", {"test_a": "passed"}),
        ("SKIPPED [1] t.py:5: not today\n", {"[1] t.py:5: not today": "passed"}),
        ("PASSED t.py::T::test_a[x y]\n", {"test_a[x y]": "passed"}),
        # Whoever prints a line after the end of pytest does not undo its verdict.
        (
            "FAILED t.py::test_a - x\nPASSED t.py::test_a\n",
            {"test_a": "failed"},
        ),
        ("", {}),
    ],
)
def test_a_summary_is_read_as_terminal_bench_reads_it(
    lines: str, results: dict[str, str]
) -> None:
    assert read_summary(f"{SUMMARY}{lines}=== 1 passed in 0.01s ===\n") == results


def test_without_a_summary_there_are_no_results() -> None:
    assert read_summary("PASSED t.py::test_a\n1 passed\n") == {}


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("apt-get update\n", "apt-get update"),
        ("set -e\napt-get -y install curl\n", "apt-get -y install curl"),
        ("curl -LsSf https://astral.sh/uv/install.sh | sh\n", "curl"),
        ("if uvx pytest; then echo 1; fi\n", "if uvx"),
        ("uv pip install pytest\n", "uv pip install"),
        ("# curl is not needed\npytest /tests\n", ""),
        ("python3 -m curling\n", ""),
    ],
)
def test_a_script_that_fetches_is_known_by_its_words(
    tmp_path: Path, script: str, line: str
) -> None:
    (tmp_path / "test.sh").write_text(script)
    assert fetching(tmp_path) == line


FETCHES = "curl -LsSf https://astral.sh/uv/install.sh | sh\nuvx pytest\n"
UNRESOLVED = "curl: (6) Could not resolve host: astral.sh\n"


@pytest.mark.parametrize(
    ("script", "output", "words"),
    [
        (FETCHES, UNRESOLVED, r"fetches something \(curl\), and that failed; tests"),
        (FETCHES, "/tests/test.sh: line 2: uvx: command not found\n", "has no uvx"),
        ("pytest\n", "/tests/test.sh: 1: pytest: not found\n", "has no pytest, which"),
    ],
)
def test_a_tool_or_network_that_is_missing_is_an_error(
    tmp_path: Path, script: str, output: str, words: str
) -> None:
    judged = judgement(tmp_path / "tests", script)
    with pytest.raises(EvaluatorError, match=words):
        check_tools(judged, completed(output))


@pytest.mark.parametrize(
    ("script", "output"),
    [
        # The case's script fetches nothing: it is the judged program that says so.
        ("python3 check.py\n", UNRESOLVED),
        # Pytest ran to its end, whatever was said before.
        (FETCHES, f"{UNRESOLVED}=== 1 failed, 2 passed in 0.10s ===\n"),
        # What was asked for may be missing.
        ("greet\n", "/tests/test.sh: line 1: greet: command not found\n"),
    ],
)
def test_a_failure_of_what_is_judged_is_none_of_these(
    tmp_path: Path, script: str, output: str
) -> None:
    check_tools(judgement(tmp_path / "tests", script), completed(output))


def test_a_script_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(EvaluatorError, match="ended with exit code 127: a program is"):
        check_start(completed("bash: /tests/test.sh: No such file", 127))
    check_start(completed("", 1))
