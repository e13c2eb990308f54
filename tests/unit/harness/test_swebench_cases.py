"""Rows of SWE-bench run as cases: from a repository to the verdict."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts

from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.swebench import SwebenchDataset
from pytest_codegenie.models import CaseResult


WRONG = "def half(number):\n    return number / 3\n"
RIGHT = "def half(number):\n    return number / 2\n"
OLD_TESTS = "def test_old():\n    pass\n"
TESTS = f"""\
import pytest
from lib import half
from testing.helper import EXPECTED

{OLD_TESTS}

def test_new():
    assert half(4) == EXPECTED

@pytest.mark.parametrize("text", ["a b"])
def test_text(text):
    assert half(6) == 3

@pytest.mark.skip(reason="not here")
def test_skipped():
    raise AssertionError
"""
HELPER = "EXPECTED = None\n"
SOLVED = "EXPECTED = 2\n"


class Project:
    """A git repository, and a bench with a case of one row about it."""

    def __init__(self, directory: Path, **changed: Any) -> None:
        self.directory = directory
        self.repository = directory / "mirror"
        self.files = {
            "lib.py": WRONG,
            "testing/__init__.py": "",
            "testing/helper.py": HELPER,
            "tests/test_lib.py": OLD_TESTS,
            "tests/test_kept.py": OLD_TESTS,
        }
        self.bench = Bench(directory / "bench")
        self._import(changed)

    def patch(self, **files: str | None) -> str:
        """Return a patch: ``lib`` and the like are names of files."""
        paths = {
            path.replace("/", "_").removesuffix(".py"): path for path in self.files
        }
        return "".join(
            file_diff(paths[name], self.files[paths[name]], text)
            for name, text in files.items()
        )

    def run(self, agent: str = "oracle", **options: Any) -> CaseResult:
        """Run the case."""
        return self.bench.run("acme__lib-1", agent=agent, **options)

    def predict(self, patch: str | None) -> CaseResult:
        """Run the case with a prediction in SWE-bench's format."""
        path = self.directory / "predictions.jsonl"
        prediction = {
            "instance_id": "acme__lib-1",
            "model_name_or_path": "m",
            "model_patch": patch,
        }
        path.write_text(json.dumps(prediction) + "\n", encoding="utf-8")
        return self.run("predictions", options={"path": str(path)})

    def _git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        completed = subprocess.run(
            command, cwd=self.repository, check=True, capture_output=True, text=True
        )
        return completed.stdout.strip()

    def _import(self, changed: dict[str, Any]) -> None:
        for name, text in self.files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._git("init", "--quiet")
        self._git("add", ".")
        self._git("commit", "--quiet", "--message", "first")
        row: dict[str, Any] = {
            "instance_id": "acme__lib-1",
            "repo": "acme/lib",
            "base_commit": self._git("rev-parse", "HEAD"),
            "problem_statement": "half is wrong",
            "patch": self.patch(lib=RIGHT, testing_helper=SOLVED),
            "test_patch": self.patch(tests_test_lib=TESTS),
            "FAIL_TO_PASS": [
                "tests/test_lib.py::test_new",
                "tests/test_lib.py::test_text[a",
            ],
            "PASS_TO_PASS": ["tests/test_kept.py::test_old"],
            "log_parser": "parse_log_pytest",
            "test_cmd": "{python} -m pytest -rA tests/test_kept.py",
        }
        rows = self.directory / "rows.json"
        rows.write_text(json.dumps([row | changed]), encoding="utf-8")
        bases = self.directory / "bases.toml"
        bases.write_text(
            '["acme/lib"]\nsource = "mirror"\ninstall = "none"\n', encoding="utf-8"
        )
        place_drafts(self.bench, drafts(SwebenchDataset(), rows, bases=bases))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose gold patch touches a file among tests, ``testing/``."""
    return Project(tmp_path)


def test_oracle_and_nop_come_out_as_labelled(project: Project) -> None:
    result = project.run("oracle")
    assert result.outcome == "passed", result.message
    result = project.run("nop", judge_empty_patch=True)
    assert result.outcome == "failed"
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.fail_to_pass_results == {
        "tests/test_lib.py::test_new": "failed",
        "tests/test_lib.py::test_text[a": "failed",
    }


def test_what_the_reference_does_not_touch_is_put_back(project: Project) -> None:
    good = project.patch(lib=RIGHT, testing_helper=SOLVED)
    spoilt = project.patch(tests_test_kept="def test_old():\n    assert False\n")
    result = project.predict(good + spoilt)
    assert result.outcome == "passed", result.message


def test_what_the_reference_touches_is_the_agents_to_solve(project: Project) -> None:
    result = project.predict(project.patch(lib=RIGHT, testing_helper="EXPECTED = 3\n"))
    assert result.outcome == "failed"
    assert result.message.startswith(
        "partly resolved: 1 of 2 fail_to_pass pass, and all of pass_to_pass\n"
        "tests/test_lib.py::test_new: failed"
    )


@pytest.mark.parametrize("patch", ["", None])
def test_a_prediction_of_nothing_is_no_patch(
    project: Project, patch: str | None
) -> None:
    result = project.predict(patch)
    assert result.outcome == "failed"
    assert [mode.code for mode in result.score.failure_modes] == ["agent.no_patch"]


def test_a_prediction_that_git_refuses_is_applied_as_swe_bench_does(
    project: Project,
) -> None:
    exact = project.patch(lib=RIGHT, testing_helper=SOLVED)
    inexact = exact.replace(" def half(number):", " def halve(a_number):")
    assert inexact != exact
    assert project.predict(inexact).outcome == "passed"
    result = project.predict(exact.replace("number / 3", "number / 7"))
    assert [mode.code for mode in result.score.failure_modes] == [
        "patch.does_not_apply"
    ]


def test_a_run_that_tells_nothing_is_a_failure(tmp_path: Path) -> None:
    project = Project(tmp_path, test_cmd="exit 3 #")
    result = project.run("oracle")
    assert (result.outcome, result.score.passed) == ("failed", False)
    assert "no result of a test is in it" in result.message


def test_skipped_tests_are_kept(tmp_path: Path) -> None:
    skipped = "tests/test_lib.py::test_skipped"
    # Pytest's summary folds skipped tests: their ids are in what -v prints.
    project = Project(
        tmp_path,
        PASS_TO_PASS=[skipped],
        test_cmd="{python} -m pytest -v",
        log_parser="pytest-verbose",
        FAIL_TO_PASS=["tests/test_lib.py::test_new"],
    )
    result = project.run("oracle")
    assert result.outcome == "passed", result.message
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.pass_to_pass_results == {skipped: "passed"}


def test_where_failures_alone_are_read_the_rest_has_passed(tmp_path: Path) -> None:
    # It fails as Jasmine does, or prints a summary.
    command = (
        "{python} -c 'from lib import half; assert half(4) == 2' 2>&- "
        '|| { echo "1) halves"; echo "2 specs, 1 failure"; exit 1; }; '
        'echo "2 specs, 0 failures" #'
    )
    project = Project(
        tmp_path,
        FAIL_TO_PASS=["halves"],
        PASS_TO_PASS=["quarters"],
        eval_type="fail_only",
        log_parser="parse_log_marked",
        test_cmd=command,
    )
    result = project.run("oracle")
    assert result.outcome == "passed", result.message
    result = project.predict(project.patch(testing_helper=SOLVED))
    assert result.outcome == "failed"
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.fail_to_pass_results == {"halves": "failed"}
    assert result.output.evaluation.pass_to_pass_results == {"quarters": "passed"}


def test_the_rule_is_for_runners_whose_report_is_read(project: Project) -> None:
    path = project.bench.cases_dir / "acme__lib-1" / "expected" / "tests.toml"
    text = path.read_text(encoding="utf-8")
    text = text.replace('framework = "log"', 'framework = "pytest"')
    path.write_text(text, encoding="utf-8")
    project.bench.sign()
    result = project.run("oracle")
    assert result.outcome == "error"
    assert (
        "expected/tests.toml: rule: 'swebench' is not for framework = 'pytest', which "
        "has strict; use framework = 'log'"
    ) in result.message
