"""Harbor's task directories: what a case takes from them, and what it refuses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support_datasets import drafts

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.harbor import HarborDataset
from pytest_codegenie.datasets.task_directories import command_with
from pytest_codegenie.datasets.task_directories import with_variables
from pytest_codegenie.datasets.task_directories import without_canary
from pytest_codegenie.errors import DatasetError


TASKS = Path(__file__).parents[2] / "data" / "datasets" / "harbor"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return shutil.copytree(TASKS / "greeting", tmp_path / "greeting")


def draft(task: Path, **options: Any) -> CaseDraft:
    (made,) = drafts(HarborDataset(), task, **options)
    return made


def set_key(task: Path, table: str, line: str) -> None:
    """Write a line below the heading of a table of ``task.toml``; its only one."""
    path = task / "task.toml"
    key = line.partition(" = ")[0]
    lines = path.read_text().splitlines(keepends=True)
    text = "".join(one for one in lines if not one.startswith(f"{key} ="))
    heading = f"[{table}]\n"
    assert heading in text
    path.write_text(text.replace(heading, heading + line + "\n"))


def shell(command: str, *, cwd: Path) -> None:
    subprocess.run(["/bin/sh", "-c", command], cwd=cwd, check=True)


def text_of(made: CaseDraft, name: str) -> str:
    data = made.files[name].data
    return data.decode() if isinstance(data, bytes) else data.read_text()


def test_a_task_becomes_a_case(task: Path) -> None:
    made = draft(task)
    assert made.case_id == made.instance_id == "greeting"
    assert made.problem.startswith("The directory `/app` holds")
    assert made.task.repository.source == "image:"
    assert made.task.repository.name == "codegenie/greeting"
    assert made.task.environment.install == "none"
    assert made.tests.framework == "harbor"
    assert made.tests.timeout_seconds == 30.0
    assert made.timeout_seconds == 60.0
    assert made.difficulty == "easy"
    assert made.tags == ("shell", "file-operations", "files")
    assert made.gold_patch == ""


def test_files_go_where_they_are_looked_for(task: Path) -> None:
    (task / "tests" / "__pycache__").mkdir()
    (task / "tests" / "__pycache__" / "check.pyc").write_bytes(b"x")
    assert set(draft(task).files) == {
        "expected/solution/greet.sh.fixed",
        "expected/solution/solve.sh",
        "expected/tests/check.py",
        "expected/tests/test.sh",
        "input/environment/Dockerfile",
        "input/environment/app/greet.sh",
    }


def test_scripts_of_tests_and_solution_can_be_executed(task: Path) -> None:
    files = draft(task).files
    executable = {name for name, content in files.items() if content.executable}
    assert executable == {"expected/solution/solve.sh", "expected/tests/test.sh"}


def test_variables_reach_image_tests_and_solution(task: Path) -> None:
    made = draft(task)
    assert text_of(made, "input/environment/Dockerfile").endswith(
        'ENV GREETING="Hello"\n'
    )
    assert made.tests.command == [
        *("env", "EXPECTED=Hello, ${name}!", "bash", "-c", "/tests/test.sh")
    ]
    assert made.tests.solution == [
        *("env", "DEBIAN_FRONTEND=noninteractive", "WHO=Ada"),
        *("bash", "-c", "/solution/solve.sh"),
    ]


def test_a_variable_s_default_is_its_value_here(task: Path) -> None:
    set_key(task, "environment.env", 'MODE = "${MODE:-fast}"')
    assert 'ENV MODE="fast"\n' in text_of(draft(task), "input/environment/Dockerfile")


def test_what_is_not_carried_over_is_told(task: Path) -> None:
    set_key(task, "agent", 'user = "builder"')
    origin = draft(task).origin
    assert origin["not_carried"] == "agent.user, environment.skills_dir"
    assert origin["network"] == "no-network"
    assert origin["memory"] == "1G"
    assert "is not carried over" in origin["judged"]


def test_a_named_image_is_used_as_with_harbor(task: Path) -> None:
    (task / "task.toml").write_text('[environment]\ndocker_image = "acme/app:1"\n')
    made = draft(task)
    assert made.task.environment.image == "acme/app:1"
    assert not [name for name in made.files if name.startswith("input/")]
    built = draft(task, prebuilt=False)
    assert built.task.environment.image == ""
    assert "input/environment/Dockerfile" in built.files


def test_a_named_image_with_variables_is_built_upon(task: Path) -> None:
    (task / "task.toml").write_text(
        '[environment]\ndocker_image = "acme/app:1"\n[environment.env]\nA = "1"\n'
    )
    made = draft(task)
    assert made.task.environment.image == ""
    dockerfile = text_of(made, "input/environment/Dockerfile")
    assert dockerfile == 'FROM acme/app:1\nENV A="1"\n'


def test_tasks_of_a_directory_come_in_order(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("b", "a"):
        shutil.copytree(TASKS / "word-count", tmp_path / name)
    assert [made.case_id for made in drafts(HarborDataset(), tmp_path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("table", "line", "words"),
    [
        ("environment", "gpus = 1", r"environment\.gpus: the task asks for a GPU"),
        ("environment", 'os = "windows"', "only Linux containers"),
        ("environment", "docker_image = 'a b'", "is no image's name: 'a b'"),
        ("environment", "mcp_servers = [{name = 'x'}]", "asks for MCP servers"),
        ("environment", "healthcheck = {command = 'x'}", "service that has to be up"),
        ("verifier", "environment_mode = 'separate'", "container of its own is not"),
        ("verifier", "timeout_sec = 0", r"timeout_sec: must be a number of seconds"),
        ("agent", "timeout_sec = '5'", r"agent\.timeout_sec: must be a number"),
        ("environment.env", "A = '${KEY}'", r"environment\.env\.A: takes \${KEY} from"),
        ("verifier.env", "A = '${OPENAI_API_KEY}'", "put the value itself there"),
        ("solution.env", '"A B" = "1"', "is no environment variable"),
        ("metadata", "category = 1", r"metadata\.category: must be a list of texts"),
    ],
)
def test_what_no_case_has_is_refused(
    task: Path, table: str, line: str, words: str
) -> None:
    set_key(task, table, line)
    with pytest.raises(DatasetError, match=words) as caught:
        draft(task)
    assert caught.value.place.endswith("greeting/task.toml")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("rm instruction.md", r"instruction\.md: "),
        ("rm tests/test.sh", r"tests/test\.sh: missing; it is the test"),
        ("rm environment/Dockerfile", r"Dockerfile: .*names an image"),
        ("echo [ > task.toml", r"task\.toml: "),
        ("echo agent = 1 > task.toml", "agent: must be a table, is a number"),
        ("echo steps = [1] > task.toml", "steps: tasks of several steps"),
        ("touch environment/docker-compose.yaml", "several containers are not run"),
        ("ln -s /etc/passwd tests/users", "is a link out of the task"),
        ("ln -s ../solution tests/all", "link to a directory"),
        ("mkfifo tests/pipe", "is no file"),
    ],
)
def test_a_task_that_cannot_be_read_is_refused(
    task: Path, change: str, words: str
) -> None:
    shell(change, cwd=task)
    with pytest.raises(DatasetError, match=words):
        draft(task)


def test_a_link_within_the_task_is_followed(task: Path) -> None:
    shell("ln -s ../solution/greet.sh.fixed tests/wanted", cwd=task)
    assert "$GREETING" in text_of(draft(task), "expected/tests/wanted")


def test_a_source_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"holds no task: .*has task\.toml"):
        drafts(HarborDataset(), tmp_path)
    with pytest.raises(DatasetError, match="is not there"):
        drafts(HarborDataset(), tmp_path / "missing")


def test_values_of_variables_are_quoted() -> None:
    assert with_variables("FROM x", {"A": 'say "$B" \\'}) == (
        'FROM x\nENV A="say \\"\\$B\\" \\\\"\n'
    )
    assert command_with({}, "bash") == ["bash"]


def test_canary_lines_go_where_they_begin_the_text() -> None:
    text = "<!-- harbor-canary GUID 1 -->\n# canary\n\n\nDo it.\n# canary stays\n"
    assert without_canary(text) == "Do it.\n# canary stays\n"
