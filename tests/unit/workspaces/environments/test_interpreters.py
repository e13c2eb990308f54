"""Finding another Python by name, and asking each only once."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.interpreters import find_interpreter
from pytest_codegenie.workspaces.environments.interpreters import running_interpreter
from pytest_codegenie.workspaces.host import run_setup


HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.parametrize("wanted", ["", HERE, running_interpreter().version])
def test_the_running_one_needs_no_looking(tmp_path: Path, wanted: str) -> None:
    found = find_interpreter(wanted, tmp_path, run_setup)
    assert found == running_interpreter()
    assert Path(found.executable).is_absolute()
    assert list(tmp_path.iterdir()) == []


def test_a_version_is_no_prefix_of_a_longer_number() -> None:
    assert not running_interpreter().fits(HERE[:-1])


def test_a_python_that_is_not_there_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceUnavailable, match=r"uv python install 3\.99"):
        find_interpreter("3.99", tmp_path, run_setup)


@pytest.mark.parametrize("wanted", ["three", "3.", "../../x", "3.9; rm"])
def test_what_is_no_version_is_refused(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(WorkspaceUnavailable, match="is no version"):
        find_interpreter(wanted, tmp_path, run_setup)


def test_one_in_pyenvs_directory_is_found_and_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Named as another version; it answers with its own, so it is not taken.
    fake = tmp_path / "pyenv" / "versions" / "3.97.1" / "bin" / "python3.97"
    fake.parent.mkdir(parents=True)
    fake.symlink_to(running_interpreter().executable)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    asked = []

    def run(argv, **options):  # type: ignore[no-untyped-def]
        asked.append(argv[0])
        return run_setup(argv, **options)

    for _ in range(2):
        with pytest.raises(WorkspaceUnavailable):
            find_interpreter("3.97", tmp_path / "cache", run)
    assert asked == [running_interpreter().executable]


def test_a_script_that_only_looks_for_a_python_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python3.98"
    shim.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n", "utf-8")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(WorkspaceUnavailable):
        find_interpreter("3.98", tmp_path / "cache", run_setup)
    assert not (tmp_path / "started").exists()


def test_another_python_says_what_it_is(tmp_path: Path) -> None:
    for minor in range(6, 16):
        wanted = f"3.{minor}"
        if wanted != HERE and shutil.which(f"python{wanted}"):
            found = find_interpreter(wanted, tmp_path, run_setup)
            assert found.version.startswith(f"{wanted}.")
            assert Path(found.executable).resolve() == Path(found.executable)
            return
    pytest.skip("needs a second Python on PATH (uv python install, pyenv, apt-get)")
