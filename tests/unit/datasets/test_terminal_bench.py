"""Terminal-Bench's task directories, the older ones and those in Harbor's layout."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support_datasets import drafts

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.terminal_bench import TerminalBenchDataset
from pytest_codegenie.errors import DatasetError


DATA = Path(__file__).parents[2] / "data" / "datasets"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    source = DATA / "terminal-bench" / "fix-mode"
    return shutil.copytree(source, tmp_path / "fix-mode")


def draft(task: Path) -> CaseDraft:
    (made,) = drafts(TerminalBenchDataset(), task)
    return made


def test_a_task_becomes_a_case(task: Path) -> None:
    made = draft(task)
    assert made.problem == (
        "The script /app/run.sh cannot be executed. Make it executable."
    )
    assert made.tests.framework == "terminal-bench"
    assert made.tests.timeout_seconds == 30.0
    assert made.tests.solution == ["bash", "/oracle/solution.sh"]
    assert made.timeout_seconds == 60.0
    assert made.tags == ("permissions", "file-operations")
    assert set(made.files) == {
        "expected/solution/solution.sh",
        "expected/tests/run-tests.sh",
        "expected/tests/test_outputs.py",
        "input/environment/Dockerfile",
        "input/environment/run.sh",
    }


def test_variables_of_the_one_service_reach_the_image(task: Path) -> None:
    data = draft(task).files["input/environment/Dockerfile"].data
    assert isinstance(data, bytes)
    assert data.decode().endswith('COPY run.sh ./\nENV ANSWER="it runs"\n')


def test_an_image_s_files_keep_their_modes(task: Path) -> None:
    assert not draft(task).files["input/environment/run.sh"].executable


def test_each_task_is_read_by_its_own_layout(tmp_path: Path, task: Path) -> None:
    shutil.copytree(DATA / "harbor" / "word-count", tmp_path / "word-count")
    made = drafts(TerminalBenchDataset(), tmp_path)
    assert [(one.case_id, one.tests.framework) for one in made] == [
        ("fix-mode", "terminal-bench"),
        ("word-count", "harbor"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("parser_name: pytest", "parser_name: swebench", "only the output of pytest"),
        ("instruction: |-\n", "instruction: ''\nx: |-\n", "instruction: missing"),
        ("max_test_timeout_sec: 30", "max_test_timeout_sec: -1", "above 0, is -1"),
        ("difficulty: easy", "run_tests_in_same_shell: true", "container of their own"),
    ],
)
def test_settings_that_cannot_be_kept_are_refused(
    task: Path, old: str, new: str, words: str
) -> None:
    path = task / "task.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DatasetError, match=words) as caught:
        draft(task)
    assert caught.value.place.endswith("fix-mode/task.yaml")


@pytest.mark.parametrize(
    ("service", "words"),
    [
        ("  client: {}\n  db: {image: postgres}\n", r"services\.db: tasks of several"),
        ("  client: {build: {args: {A: 1}}}\n", r"client\.build\.args: is not carried"),
        ("  client: {build: {context: ..}}\n", "must be in the task, is '..'"),
        ("  client: {build: sub}\n", "must be the task's own directory"),
        ("  client: {environment: [A=$B, 'C=${D}']}\n", r"\.C: takes \${D} from"),
        ("  client: {environment: 1}\n", "must be variables and their values"),
        ("  - client\n", "services: must be a table, is a list"),
    ],
)
def test_services_that_no_case_has_are_refused(
    task: Path, service: str, words: str
) -> None:
    (task / "docker-compose.yaml").write_text(f"services:\n{service}")
    with pytest.raises(DatasetError, match=words):
        draft(task)


def test_what_a_service_has_beyond_the_usual_is_told(task: Path) -> None:
    (task / "docker-compose.yaml").write_text(
        "services: {client: {privileged: true, volumes: [x]}}\n"
    )
    assert draft(task).origin["not_carried"] == "services.client.privileged"


def test_a_solution_of_keystrokes_is_none(task: Path) -> None:
    (task / "solution.sh").rename(task / "solution.yaml")
    made = draft(task)
    assert made.tests.solution == []
    assert not [name for name in made.files if "solution" in name]
