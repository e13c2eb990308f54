"""The format ``harbor``: a directory for each task, with an image and a script.

    task.toml  instruction.md  environment/  tests/  solution/

The case starts from what the image holds in its working directory, and runs in the
workspace ``docker``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.task_directories import WHAT_IS_JUDGED
from pytest_codegenie.datasets.task_directories import Table
from pytest_codegenie.datasets.task_directories import command_with
from pytest_codegenie.datasets.task_directories import copied
from pytest_codegenie.datasets.task_directories import difficulty_of
from pytest_codegenie.datasets.task_directories import find_tasks
from pytest_codegenie.datasets.task_directories import tags_of
from pytest_codegenie.datasets.task_directories import told
from pytest_codegenie.datasets.task_directories import with_variables
from pytest_codegenie.datasets.task_directories import without_canary
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


TASK = "task.toml"
#: Of Harbor, where a task does not say.
_TESTS_SECONDS = 600.0
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
#: What is used, or told in ``expected/origin.toml``; the rest is not carried over.
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "": (
        *("agent", "environment", "metadata", "schema_version", "solution", "source"),
        *("task", "verifier", "version"),
    ),
    "agent": ("allowed_hosts", "network_mode", "timeout_sec"),
    "environment": (
        *("allow_internet", "allowed_hosts", "build_timeout_sec", "cpus"),
        *("docker_image", "env", "gpus", "healthcheck", "mcp_servers", "memory"),
        *("memory_mb", "network_mode", "os", "storage", "storage_mb", "tpu"),
        "workdir",
    ),
    "solution": ("env",),
    "verifier": ("env", "environment", "environment_mode", "timeout_sec"),
}


class HarborOptions(DatasetOptions):
    """What the format takes."""

    #: Use the image that a task names (``environment.docker_image``), as Harbor does;
    #: false: build its Dockerfile.
    prebuilt: bool = True


class HarborDataset:
    """Reads task directories as Harbor has them."""

    name = "harbor"
    summary = "directories of Harbor: task.toml, instruction.md, environment/, tests/"
    options_type: type[DatasetOptions] = HarborOptions

    def instances(self, source: str, options: HarborOptions) -> Iterator[Instance]:
        """Yield the tasks of a directory, or the one that it is."""
        return find_tasks(source, (TASK,))

    def draft(self, instance: Instance, options: HarborOptions) -> CaseDraft:
        """Return the draft of a task."""
        return draft_of(instance, options)


def draft_of(instance: Instance, options: HarborOptions) -> CaseDraft:
    """Return the draft of a task in Harbor's layout.

    Raises:
        DatasetError: A file is missing or wrong, or the task asks for what no case has.
    """
    task = Path(instance.data)
    settings = _read(task)
    _refuse(task, settings)
    environment, metadata = settings.table("environment"), settings.table("metadata")
    image, files = _image(task, environment, options)
    files |= copied(task, "tests", "expected/tests", runs=True)
    files |= copied(task, "solution", "expected/solution", runs=True)
    if "expected/tests/test.sh" not in files:
        raise DatasetError(instance.place, "tests/test.sh", "missing; it is the test")
    package = settings.table("task")
    return CaseDraft(
        case_id=case_id_of(instance.instance_id),
        instance_id=instance.instance_id,
        task=TaskFile(
            repository=Repository(
                name=package.text("name") or instance.instance_id,
                source=f"image:{environment.text('workdir')}",
            ),
            environment=Environment(install="none", image=image),
        ),
        tests=_tests(settings, has_solution="expected/solution/solve.sh" in files),
        problem=_instruction(task),
        files=files,
        difficulty=difficulty_of(metadata.data.get("difficulty")),
        tags=tags_of(
            *metadata.texts("tags"),
            *metadata.texts("category"),
            *package.texts("keywords"),
        ),
        timeout_seconds=settings.table("agent").seconds("timeout_sec"),
        origin=_origin(task, settings),
    )


def _read(task: Path) -> Table:
    path = task / TASK
    try:
        return Table(relative(path), read_toml(path))
    except DocumentError as exc:
        raise DatasetError(relative(path), "", exc.reason) from exc


def _instruction(task: Path) -> str:
    path = task / "instruction.md"
    try:
        return without_canary(read_text(path))
    except DocumentError as exc:
        raise DatasetError(relative(path), "", exc.reason) from exc


def _refuse(task: Path, settings: Table) -> None:
    """Refuse what a case in one container has not.

    Raises:
        DatasetError: The task asks for it.
    """
    environment = settings.table("environment")
    if settings.data.get("steps"):
        raise settings.fault("steps", "tasks of several steps are not run")
    if environment.text("os", "linux").lower() != "linux":
        raise environment.fault("os", "only Linux containers are run")
    for key, thing in (
        ("gpus", "a GPU"),
        ("healthcheck", "a service that has to be up"),
        ("mcp_servers", "MCP servers"),
        ("tpu", "a TPU"),
    ):
        if environment.data.get(key):
            raise environment.fault(key, f"the task asks for {thing}; a case has none")
    verifier = settings.table("verifier")
    if verifier.text("environment_mode") == "separate" or verifier.data.get(
        "environment"
    ):
        raise verifier.fault(
            "environment_mode",
            "a verifier in a container of its own is not run; tests that run in the "
            "task's own image are (environment_mode = 'shared')",
        )
    for name in _COMPOSE:
        if (task / "environment" / name).exists():
            raise DatasetError(
                relative(task / "environment" / name),
                "",
                "tasks of several containers are not run; a case has one",
            )


def _image(
    task: Path, environment: Table, options: HarborOptions
) -> tuple[str, dict[str, FileContent]]:
    """Return the image that is used as it is, or else the files to build one from."""
    variables = environment.variables("env")
    named = environment.text("docker_image")
    if named and not _IMAGE_NAME.fullmatch(named):
        raise environment.fault("docker_image", f"is no image's name: {named!r}")
    path = task / "environment" / "Dockerfile"
    if named and (options.prebuilt or not path.is_file()):
        if not variables:
            return named, {}
        text, files = f"FROM {named}\n", {}
    else:
        try:
            text = read_text(path)
        except DocumentError as exc:
            remedy = "; a task has it, or names an image (environment.docker_image)"
            raise DatasetError(relative(path), "", exc.reason + remedy) from exc
        files = copied(task, "environment", "input/environment")
    data = with_variables(text, variables).encode()
    return "", {**files, "input/environment/Dockerfile": FileContent(data)}


def _tests(settings: Table, *, has_solution: bool) -> TestsFile:
    verifier = settings.table("verifier")
    variables = verifier.variables("env")
    # Without variables it is the evaluator's own command.
    command = command_with(variables, "bash", "-c", "/tests/test.sh")
    given = {"DEBIAN_FRONTEND": "noninteractive"}
    given |= settings.table("solution").variables("env")
    return TestsFile(
        framework="harbor",
        command=command if variables else None,
        timeout_seconds=verifier.seconds("timeout_sec", _TESTS_SECONDS),
        solution=command_with(given, "bash", "-c", "/solution/solve.sh")
        if has_solution
        else [],
    )


def _origin(task: Path, settings: Table) -> dict[str, str]:
    environment, metadata = settings.table("environment"), settings.table("metadata")
    not_carried = settings.unknown(_KNOWN[""])
    for name, known in _KNOWN.items():
        if name:
            not_carried += settings.table(name).unknown(known)
    if (task / ".harborignore").exists():
        not_carried.append(".harborignore")
    legacy = environment.data.get("allow_internet")
    network = "" if legacy is None else ("public" if legacy else "no-network")
    network = environment.text("network_mode", network)
    return told(
        {
            "schema_version": settings.data.get("schema_version"),
            "package": settings.table("task").text("name"),
            "author": metadata.data.get("author_name"),
            "judged": WHAT_IS_JUDGED,
            "network": settings.table("agent").text("network_mode", network),
            "cpus": environment.data.get("cpus"),
            "memory": environment.data.get("memory"),
            "memory_mb": environment.data.get("memory_mb"),
            "storage": environment.data.get("storage"),
            "storage_mb": environment.data.get("storage_mb"),
            "build_timeout_sec": environment.data.get("build_timeout_sec"),
            "not_carried": not_carried,
        }
    )
