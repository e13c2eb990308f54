"""Control groups: made, joined, counted and removed, in either version's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import run
from pytest_codegenie.processes.cgroups import Cgroup
from pytest_codegenie.processes.cgroups import CgroupParent


ENV = {"PATH": os.defpath}
HOG = "data = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): data[i] = 1"


@pytest.fixture
def parent() -> CgroupParent:
    found, reason = CgroupParent.find()
    if found is None:
        pytest.skip(f"no cgroups here ({reason}); run as root, or in a delegated group")
    return found


def make_parent(directory: Path, version: int) -> CgroupParent:
    """Return a parent of plain directories, in which any file can be written."""
    if version == 2:
        return CgroupParent(dict.fromkeys(("memory", "pids", "cpu"), directory), 2)
    places = {name: directory / name for name in ("memory", "pids", "cpu")}
    for place in places.values():
        place.mkdir()
    return CgroupParent(places, 1)


def settings(group: Cgroup) -> dict[str, str]:
    return {
        path.name: path.read_text(encoding="ascii")
        for directory in group.directories.values()
        for path in directory.iterdir()
    }


def test_version_1_has_a_directory_for_each_controller(tmp_path: Path) -> None:
    group = make_parent(tmp_path, 1).make(1 << 20, 7, 1.5)
    assert settings(group) == {
        "memory.limit_in_bytes": "1048576",
        "memory.memsw.limit_in_bytes": "1048576",
        "pids.max": "7",
        "cpu.cfs_quota_us": "150000",
    }
    assert {path.parent.parent.name for path in group.join_files} == {
        "memory",
        "pids",
        "cpu",
    }


def test_version_2_has_one_directory(tmp_path: Path) -> None:
    group = make_parent(tmp_path, 2).make(1 << 20, 7, 1.5)
    assert settings(group) == {
        "memory.max": "1048576",
        "memory.swap.max": "0",
        "pids.max": "7",
        "cpu.max": "150000 100000",
    }
    assert len(group.join_files) == 1


def test_without_a_limit_on_cores_there_is_no_quota(tmp_path: Path) -> None:
    assert "cpu.max" not in settings(make_parent(tmp_path, 2).make(1 << 20, 7, None))


@pytest.mark.parametrize(
    ("version", "file", "text"),
    [
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
        (2, "memory.events", "low 0\nhigh 0\nmax 12\noom 4\noom_kill 3\n"),
    ],
)
def test_the_kernel_s_count_of_kills_is_read(
    tmp_path: Path, version: int, file: str, text: str
) -> None:
    group = make_parent(tmp_path, version).make(1 << 20, 7, None)
    assert group.out_of_memory() == 0
    (group.directories["memory"] / file).write_text(text, encoding="ascii")
    assert group.out_of_memory() == 3


def test_what_cannot_be_made_whole_is_not_left_in_part(tmp_path: Path) -> None:
    broken = make_parent(tmp_path, 1)
    (tmp_path / "pids").rmdir()
    with pytest.raises(FileNotFoundError):
        broken.make(1 << 20, 7, None)
    assert list((tmp_path / "memory").iterdir()) == []


def test_a_group_limits_the_memory_of_what_joins(
    parent: CgroupParent, tmp_path: Path
) -> None:
    group = parent.make(64 << 20, 64, None)
    limits = Limits(join=group.join_files)
    done = run([sys.executable, "-c", HOG], cwd=tmp_path, env=ENV, limits=limits)
    killed = group.out_of_memory()
    group.close()
    assert (done.exit_code, killed) == (-9, 1)
    assert not any(path.exists() for path in group.directories.values())


def test_a_group_limits_how_many_processes_there_are(
    parent: CgroupParent, tmp_path: Path
) -> None:
    group = parent.make(1 << 30, 5, None)
    limits = Limits(join=group.join_files)
    script = "for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; echo all"
    done = run(["/bin/sh", "-c", script], cwd=tmp_path, env=ENV, limits=limits)
    group.close()
    assert done.stdout == b""
    assert b"Cannot fork" in done.stderr
    assert not any(path.exists() for path in group.directories.values())


def test_only_the_groups_of_the_dead_are_swept(
    parent: CgroupParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = parent.make(1 << 30, 5, None)
    ended = subprocess.Popen(["true"])
    ended.wait()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: ended.pid)
        left = parent.make(1 << 30, 5, None)
    parent.sweep()
    assert all(path.exists() for path in mine.directories.values())
    assert not any(path.exists() for path in left.directories.values())
    mine.close()
