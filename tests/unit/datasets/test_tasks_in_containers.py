"""Tasks of Harbor and Terminal-Bench as cases that really run, in containers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts
from support_docker import BASE
from support_docker import missing

from pytest_codegenie.datasets.harbor import HarborDataset
from pytest_codegenie.datasets.terminal_bench import TerminalBenchDataset
from pytest_codegenie.models import CaseResult


DATA = Path(__file__).parents[2] / "data" / "datasets"
IN_APP = f"FROM {BASE}\nWORKDIR /app\nRUN printf 'one\\n' > text\n"


class Yard:
    """A bench of task directories; images are looked at once."""

    def __init__(self, directory: Path) -> None:
        self.bench = Bench(directory)
        self._tasks = directory / "tasks"
        self._cache = directory / "cache"
        place_drafts(self.bench, drafts(HarborDataset(), DATA / "harbor"))
        place_drafts(
            self.bench, drafts(TerminalBenchDataset(), DATA / "terminal-bench")
        )

    def task(self, name: str, test: str, dockerfile: str = IN_APP) -> None:
        """Make a case of a task with such a test script."""
        task = self._tasks / name
        Bench.write(task / "task.toml", "[verifier]\ntimeout_sec = 60\n")
        Bench.write(task / "instruction.md", "Write `done` to `/app/answer`.\n")
        Bench.write(task / "environment" / "Dockerfile", dockerfile)
        Bench.write(task / "tests" / "test.sh", test)
        Bench.write(task / "solution" / "solve.sh", "echo done > answer\n")
        place_drafts(self.bench, drafts(HarborDataset(), task))

    def run(self, name: str, agent: str = "oracle") -> CaseResult:
        return self.bench.run(name, agent=agent, **self._options())

    def run_shell(self, script: str, name: str) -> CaseResult:
        return self.bench.run_shell(script, name, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "workspace": "docker",
            "cache_directory": self._cache,
            "judge_empty_patch": True,
        }


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Yard:
    if reason := missing():
        pytest.skip(reason)
    return Yard(tmp_path_factory.mktemp("yard"))


@pytest.mark.parametrize("name", ["greeting", "word-count", "fix-mode"])
def test_the_solution_passes(yard: Yard, name: str) -> None:
    result = yard.run(name)
    assert (result.outcome, result.message) == ("passed", "")


def test_nothing_done_fails_by_the_reward(yard: Yard) -> None:
    result = yard.run("greeting", agent="nop")
    assert result.outcome == "failed"
    assert result.message.startswith("reward 0, and 1 is asked for\n")
    assert "/app/greet.sh printed 'Ada'" in result.message


def test_nothing_done_fails_by_the_summary(yard: Yard) -> None:
    result = yard.run("fix-mode", agent="nop")
    assert result.outcome == "failed"
    assert result.message.startswith("failed: test_it_is_executable\n")


def test_half_done_fails_and_each_reward_is_told(yard: Yard) -> None:
    result = yard.run_shell("echo 3 > /app/words", "word-count")
    assert result.outcome == "failed"
    assert result.message.startswith("words 1, lines 0, and 1 is asked for")
    assert result.output is not None
    assert result.output.evaluation is not None
    results = result.output.evaluation.fail_to_pass_results
    assert results == {"words": "passed", "lines": "failed"}


def test_an_agent_works_where_the_image_has_its_files(yard: Yard) -> None:
    script = "pwd; ls -a; readlink hello; ls -d /tests /solution /logs 2>&1"
    result = yard.run_shell(f"{script}; touch seen", "greeting")
    assert result.output is not None
    printed = result.output.agent.stdout
    # The directory's own .git is replaced by one of a single commit.
    assert printed.split()[:6] == ["/app", ".", "..", ".git", "greet.sh", "hello"]
    assert printed.count("No such file") == 3


def test_what_an_agent_leaves_elsewhere_is_no_reward(yard: Yard) -> None:
    forge = "mkdir -p logs/verifier; echo 1 > logs/verifier/reward.txt; echo 9 > words"
    result = yard.run_shell(f"cd /app; {forge}", "word-count")
    assert result.outcome == "failed"
    assert result.message.startswith("words 0, lines 0")


def test_tests_cannot_be_written_to_while_they_run(yard: Yard) -> None:
    yard.task(
        "locked",
        "#!/bin/bash\necho x > /tests/test.sh || echo 1 > /logs/verifier/reward.txt\n",
    )
    assert yard.run("locked").outcome == "passed"


@pytest.mark.parametrize(
    ("name", "test", "words"),
    [
        ("silent", "#!/bin/bash\nexit 3\n", "wrote no /logs/verifier/reward.txt or"),
        (
            "fetches",
            "#!/bin/bash\nif uvx pytest /tests; then reward=1; else reward=0; fi\n"
            "echo $reward > /logs/verifier/reward.txt\n",
            "the image has no uvx, which the test script needs; tests are run without",
        ),
    ],
)
def test_a_test_that_tells_nothing_is_an_error(
    yard: Yard, name: str, test: str, words: str
) -> None:
    yard.task(name, test)
    result = yard.run(name)
    assert result.outcome == "error"
    assert words in result.message


def test_an_image_s_root_is_no_tree(yard: Yard) -> None:
    yard.task("rootless", "#!/bin/bash\n", dockerfile=f"FROM {BASE}\n")
    result = yard.run("rootless")
    assert result.outcome == "error"
    assert "set a WORKDIR such as /app in the case's Dockerfile" in result.message


def test_a_workspace_without_images_is_an_error_that_names_docker(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    place_drafts(bench, drafts(HarborDataset(), DATA / "harbor" / "word-count"))
    result = bench.run("word-count", workspace="host")
    assert result.outcome == "error"
    assert result.message.startswith("input/task.toml: repository.source: 'image:' is")
    assert result.message.endswith("use --codegenie-workspace docker")
