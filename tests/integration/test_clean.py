"""What killed runs leave on a machine, and who removes it."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import Project
from integration.sessions import wait_until
from support_docker import missing

from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.workspaces.docker.engine import connect


@pytest.fixture(autouse=True)
def temporary(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The directory that the project's runs make their workspaces in."""
    directory = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(directory))
        yield directory


def runs_in(directory: Path) -> list[Path]:
    return list(directory.glob("codegenie-run-*"))


def start_and_wait(project: Project, temporary: Path, *arguments: str) -> Any:
    """Start a run; return it once its agent works."""
    process = project.start(*arguments)
    wait_until(lambda: list(temporary.glob("codegenie-run-*/*/agent/scratch/up")))
    return process


def held_agent(project: Project, up: str, **settings: Any) -> str:
    return project.shell_agent(f"touch {up}; sleep 1000", **settings)


UP = "../scratch/up"


def killed_run(project: Project, temporary: Path) -> None:
    project.case()
    option = held_agent(project, UP, workspace="host")
    process = start_and_wait(project, temporary, option)
    process.kill()
    process.wait()


def test_clean_removes_the_workspaces_of_a_killed_run(
    project: Project, temporary: Path
) -> None:
    killed_run(project, temporary)
    (left,) = runs_in(temporary)
    done = project.command("clean")
    assert done.returncode == 0, done.stderr
    assert f"removed {left}" in done.stdout
    assert runs_in(temporary) == []
    assert len(project.run_directories) == 1


def test_a_dry_run_only_says_what_would_go(project: Project, temporary: Path) -> None:
    killed_run(project, temporary)
    (left,) = runs_in(temporary)
    done = project.command("clean", "--dry-run")
    assert f"would remove {left}" in done.stdout
    assert runs_in(temporary) == [left]


def test_a_run_that_goes_on_keeps_everything(project: Project, temporary: Path) -> None:
    project.case()
    option = held_agent(project, UP, workspace="host")
    process = start_and_wait(project, temporary, option)
    try:
        (live,) = runs_in(temporary)
        assert str(live) not in project.command("clean").stdout
        refused = project.command("clean", "--all")
        assert refused.returncode == 1
        assert f"a run goes on ({live.name})" in refused.stderr
        assert runs_in(temporary) == [live]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def test_environments_go_only_if_they_are_asked_for(project: Project) -> None:
    kept = project.path / ".codegenie" / "cache" / "environments" / "some"
    kept.mkdir(parents=True)
    # No engine: nothing of the user's own is touched by a test.
    nowhere = {"DOCKER_HOST": f"unix://{project.path}/none.sock"}
    project.command("clean", env=nowhere)
    assert kept.exists()
    done = project.command("clean", "--environments", env=nowhere)
    assert "removed .codegenie/cache/environments" in done.stdout
    assert "not looked at: workspace docker: no engine answers" in done.stdout
    assert done.returncode == 0
    assert not kept.exists()


def test_another_place_for_runs_is_cleaned_by_name(project: Project) -> None:
    kept = project.path / "elsewhere" / "cache" / "environments"
    kept.mkdir(parents=True)
    nowhere = {"DOCKER_HOST": f"unix://{project.path}/none.sock"}
    project.command("clean", "--environments", "--out=elsewhere", env=nowhere)
    assert not kept.exists()


@pytest.mark.parametrize(
    "command",
    [["-m", "pytest_codegenie.cli", "clean"], ["-m", "pytest", "--codegenie"]],
)
def test_cgroups_of_processes_that_are_gone_are_removed(
    project: Project, command: list[str]
) -> None:
    """By clean, and by the next run."""
    parent, reason = cgroup_parent()
    if parent is None:
        pytest.skip(f"no cgroups can be made here: {reason}")
    project.case()
    # No process has that number: it is over what the kernel gives.
    name = f"codegenie-4194305-{secrets.token_hex(4)}"
    left = {path / name for path in parent.directories.values()}
    for path in left:
        path.mkdir()
    done = subprocess.run([sys.executable, *command], cwd=project.path, check=False)
    assert done.returncode == 0
    assert not any(path.exists() for path in left)


# -- containers ------------------------------------------------------------------


def containers_in(directory: Path) -> list[str]:
    return [
        container["Id"]
        for container in connect().api.containers(all=True)
        if str(directory) in container["Labels"].get("pytest-codegenie.directory", "")
    ]


@pytest.fixture
def killed_container(project: Project, temporary: Path) -> str:
    """What a run left that was killed while its agent worked in a container."""
    if missing():
        pytest.skip(missing())
    project.case()
    option = held_agent(project, "/scratch/up", workspace="docker")
    process = start_and_wait(project, temporary, option)
    process.kill()
    process.wait()
    (container,) = containers_in(temporary)
    return container


def test_clean_removes_the_containers_of_a_killed_run(
    project: Project, temporary: Path, killed_container: str
) -> None:
    # Another test's run may have come before: what is left of a killed one is
    # anybody's to remove. test_docker.py holds what is said of it.
    assert project.command("clean").returncode == 0
    assert killed_container not in containers_in(temporary)
    assert runs_in(temporary) == []


def test_the_next_run_removes_the_containers_of_a_killed_one(
    project: Project, temporary: Path, killed_container: str
) -> None:
    # It starts no container of its own.
    project.run_subprocess("--codegenie-workspace=docker", "--collect-only")
    assert killed_container not in containers_in(temporary)
    assert runs_in(temporary) == []


# -- listing ---------------------------------------------------------------------


def test_list_says_of_each_workspace_whether_it_works_here(project: Project) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{project.path}/none.sock"}
    lines = project.command("list", "workspaces", env=nowhere).stdout.splitlines()
    told = {line.split()[0]: after for line, after in pairwise(lines)}
    assert told["host"] == "  works here"
    assert told["docker"].startswith("  does not work here: no engine answers at")
