"""The format ``terminal-bench``: a directory for each task, in either layout.

Up to Terminal-Bench 1 a task is ``task.yaml`` beside a Dockerfile, ``run-tests.sh``,
``tests/`` and ``solution.sh``; from 2 on it is Harbor's.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets import harbor
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.task_directories import WHAT_IS_JUDGED
from pytest_codegenie.datasets.task_directories import Table
from pytest_codegenie.datasets.task_directories import copied
from pytest_codegenie.datasets.task_directories import difficulty_of
from pytest_codegenie.datasets.task_directories import find_tasks
from pytest_codegenie.datasets.task_directories import tags_of
from pytest_codegenie.datasets.task_directories import told
from pytest_codegenie.datasets.task_directories import with_variables
from pytest_codegenie.datasets.task_directories import without_canary
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


_TASK = "task.yaml"
_COMPOSE = "docker-compose.yaml"
#: Of Terminal-Bench, where a task does not say.
_AGENT_SECONDS = 360.0
_TESTS_SECONDS = 60.0
#: What is no part of what an image is built from.
_NOT_BUILT = (
    *(_TASK, _COMPOSE, "run-tests.sh", "solution.sh", "solution.yaml", "tests"),
)
_KNOWN = (
    *("author_email", "author_name", "category", "difficulty", "instruction"),
    *("max_agent_timeout_sec", "max_test_timeout_sec", "parser_name", "tags"),
    *("estimated_duration_sec", "expert_time_estimate_min", "disable_asciinema"),
    *("junior_time_estimate_min",),
)
#: Of the service ``client``: what every task has, and what a case needs nothing of.
_USUAL = frozenset(
    {"build", "command", "container_name", "environment", "image", "volumes"}
)


class TerminalBenchDataset:
    """Reads task directories of Terminal-Bench, in either layout."""

    name = "terminal-bench"
    summary = "directories of Terminal-Bench: task.yaml, or Harbor's task.toml"
    options_type: type[DatasetOptions] = harbor.HarborOptions

    def instances(
        self, source: str, options: harbor.HarborOptions
    ) -> Iterator[Instance]:
        """Yield the tasks of a directory, or the one that it is."""
        return find_tasks(source, (harbor.TASK, _TASK))

    def draft(self, instance: Instance, options: harbor.HarborOptions) -> CaseDraft:
        """Return the draft of a task, by the layout that it has."""
        if Path(instance.data, harbor.TASK).is_file():
            return harbor.draft_of(instance, options)
        return _draft(instance)


def _draft(instance: Instance) -> CaseDraft:
    task = Path(instance.data)
    settings = _read(task, _TASK)
    if settings.text("parser_name", "pytest") != "pytest":
        raise settings.fault("parser_name", "only the output of pytest is read")
    if settings.data.get("run_tests_in_same_shell"):
        raise settings.fault(
            "run_tests_in_same_shell", "tests run in a container of their own here"
        )
    client, not_carried = _client(task)
    files = _files(task, client)
    return CaseDraft(
        case_id=case_id_of(instance.instance_id),
        instance_id=instance.instance_id,
        task=TaskFile(
            repository=Repository(name=instance.instance_id, source="image:"),
            environment=Environment(install="none"),
        ),
        tests=TestsFile(
            framework="terminal-bench",
            timeout_seconds=settings.seconds("max_test_timeout_sec", _TESTS_SECONDS),
            solution=["bash", "/oracle/solution.sh"]
            if "expected/solution/solution.sh" in files
            else [],
        ),
        problem=_instruction(settings),
        files=files,
        difficulty=difficulty_of(settings.data.get("difficulty")),
        tags=tags_of(*settings.texts("tags"), *settings.texts("category")),
        timeout_seconds=settings.seconds("max_agent_timeout_sec", _AGENT_SECONDS),
        origin=told(
            {
                "author": settings.data.get("author_name"),
                "judged": WHAT_IS_JUDGED,
                "not_carried": [*settings.unknown(_KNOWN), *not_carried],
            }
        ),
    )


def _read(task: Path, name: str) -> Table:
    path = task / name
    try:
        value = read_yaml(path)
    except DocumentError as exc:
        raise DatasetError(relative(path), "", exc.reason) from exc
    if not isinstance(value, dict):
        raise DatasetError(relative(path), "", "holds no keys and values")
    return Table(relative(path), value)


def _instruction(settings: Table) -> str:
    text = without_canary(settings.text("instruction"))
    if not text.strip():
        raise settings.fault("instruction", "missing; it is what the agent is told")
    return text


def _files(task: Path, client: Table) -> dict[str, FileContent]:
    """Return the files of the case: what the image is made of, tests, solution."""
    name = _dockerfile(client)
    try:
        dockerfile = read_text(task / name)
    except DocumentError as exc:
        raise DatasetError(relative(task / name), "", exc.reason) from exc
    files = copied(task, "", "input/environment", but=_NOT_BUILT)
    data = with_variables(dockerfile, _variables(client)).encode()
    files["input/environment/Dockerfile"] = FileContent(data)
    files |= copied(task, "tests", "expected/tests", runs=True)
    for script, place in (
        ("run-tests.sh", "expected/tests/run-tests.sh"),
        ("solution.sh", "expected/solution/solution.sh"),
    ):
        if (task / script).is_file():
            files[place] = FileContent((task / script).resolve(), executable=True)
    if "expected/tests/run-tests.sh" not in files:
        raise DatasetError(relative(task), "run-tests.sh", "missing; it is the test")
    return files


def _client(task: Path) -> tuple[Table, list[str]]:
    """Return the one service of a task, and what of it is not carried over.

    Raises:
        DatasetError: There are several.
    """
    if not (task / _COMPOSE).exists():
        return Table(relative(task / _COMPOSE), {}), []
    services = _read(task, _COMPOSE).table("services")
    names = [name for name in services.data if name != "client"]
    if names:
        raise DatasetError(
            services.place,
            f"services.{names[0]}",
            "tasks of several containers are not run; a case has one",
        )
    client = services.table("client")
    return client, [f"{client.prefix}{key}" for key in client.data if key not in _USUAL]


def _dockerfile(client: Table) -> str:
    build = client.data.get("build", {})
    settings: Mapping[str, Any] = {"context": build}
    if isinstance(build, dict):
        settings = build
    for key, value in settings.items():
        if key not in ("context", "dockerfile"):
            raise client.fault(
                f"build.{key}", "is not carried over; use the Dockerfile"
            )
        if not isinstance(value, str) or ".." in value or value.startswith("/"):
            raise client.fault(f"build.{key}", f"must be in the task, is {value!r}")
    if settings.get("context", ".") not in (".", "./"):
        raise client.fault("build.context", "must be the task's own directory")
    name: str = settings.get("dockerfile", "Dockerfile")
    return name


def _variables(client: Table) -> dict[str, str]:
    """Return the environment variables but those that Terminal-Bench gives."""
    given = client.data.get("environment") or {}
    if isinstance(given, list):
        given = dict(str(line).partition("=")[::2] for line in given)
    if not isinstance(given, dict):
        raise client.fault("environment", "must be variables and their values")
    known = {
        name: value for name, value in given.items() if "${T_BENCH" not in str(value)
    }
    table = Table(client.place, {"environment": known}, client.prefix)
    return table.variables("environment")
