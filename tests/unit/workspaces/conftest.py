"""The behaviour suite: what holds for every workspace, tried in every workspace.

Ours, those of installed plugins, and a third party's that a hook here gives. One that
does not work on this machine is skipped in its own words.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest
import support_docker
from support_workspaces import THIRD_PARTY
from support_workspaces import Lab

from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.session.settings import gather_parts
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import make_base


FILES = {
    "main.py": b"print('hello')\n" * 20,
    "run.sh": b"#!/bin/sh\n",
    "data/table.bin": bytes(range(256)) * 4,
    "data/dos.txt": b"one\r\ntwo\r\n",
    "latin.txt": "caf\u00e9\n".encode("latin-1"),
    ".gitignore": b"*.log\n",
    ".gitattributes": b"*.txt text eol=lf\n*.py filter=evil diff=evil ident\n",
    "kept.log": b"tracked although ignored\n",
}


def pytest_codegenie_workspaces() -> dict[str, str]:
    return {THIRD_PARTY: "offline_workspace:OfflineWorkspace"}


def _references(config: pytest.Config) -> dict[str, str]:
    return BUILTIN_PARTS.workspaces | gather_parts(config.hook).workspaces


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = any("workspace_name" in mark.args for mark in marks)
    if "workspace_name" in metafunc.fixturenames and not chosen:
        metafunc.parametrize("workspace_name", list(_references(metafunc.config)))


@pytest.fixture
def base(tmp_path: Path) -> Base:
    tree = tmp_path / "base"
    for name, content in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("main.py")
    return make_base(tree, tmp_path / "base.git")


@pytest.fixture
def lab(
    workspace_name: str, base: Base, tmp_path: Path, pytestconfig: pytest.Config
) -> Iterator[Lab]:
    """Makes workspaces of the kind that the test runs with; then nothing is left."""
    directory = tmp_path / "lab"
    directory.mkdir()
    reference = _references(pytestconfig)[workspace_name]
    lab = Lab(workspace_name, reference, base, directory)
    fault = support_docker.missing() if workspace_name == "docker" else lab.probe()
    if fault:
        pytest.skip(f"workspace {workspace_name!r}: {fault}")
    yield lab
    lab.close()


@pytest.fixture
def workspace(lab: Lab) -> Workspace:
    return lab.make()


@pytest.fixture
def shell(lab: Lab, workspace: Workspace) -> Callable[..., str]:
    """Run a script in the test's workspace; return what it prints."""

    def run(script: str, **options: object) -> str:
        return lab.shell(workspace, script, **options)

    return run


@pytest.fixture
def is_open(workspace_name: str, request: pytest.FixtureRequest) -> bool:
    """Say whether what the test tries can be done in its workspace, by its mark."""
    mark = request.node.get_closest_marker("isolates")
    return workspace_name in mark.kwargs["open_in"]
