"""Resource limits of a workspace: by cgroups where the machine lets us, or by rlimits.

A cgroup holds for all programs of the workspace together. An rlimit holds for each
process (``RLIMIT_DATA``: what it can write to, so that interpreters that reserve
address space still run) or for the user (``RLIMIT_NPROC``, which the kernel does not
hold root to).
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import DiskLimit
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes.cgroups import Cgroup
from pytest_codegenie.processes.cgroups import cgroup_parent


def limits_by() -> str:
    """Say for the header what holds the limits on memory and processes."""
    parent, reason = cgroup_parent()
    if parent is not None:
        return f"limits by cgroups v{parent.version}"
    return f"limits by rlimits, for each process alone ({reason})"


@dataclass(frozen=True, slots=True)
class Cage:
    """What holds one program, and all that it starts, to a workspace's limits."""

    #: The program's own, with the workspace's added.
    limits: Limits
    memory: int
    _group: Cgroup | None

    def told(self, completed: Completed) -> Completed:
        """Return how the program ended, with the limit on memory named if it met it."""
        if self._group is None or completed.exceeded:
            return completed
        if not self._group.out_of_memory():
            return completed
        words = f"more than {self.memory} bytes of memory"
        return dataclasses.replace(completed, exceeded=words)


@contextlib.contextmanager
def caged(own: ResourceLimits, directory: Path, limits: Limits) -> Iterator[Cage]:
    """Add a workspace's limits to those of a program that runs in the block.

    Args:
        own: The workspace's.
        directory: What it may fill.
        limits: The program's.

    Raises:
        WorkspaceUnavailable: A cgroup cannot be made, though one could before.
    """
    rlimits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": own.file_size,
        "RLIMIT_NOFILE": own.open_files,
    }
    if own.cpu_seconds is not None:
        rlimits["RLIMIT_CPU"] = math.ceil(own.cpu_seconds)
    group = _make_group(own)
    if group is None:
        rlimits["RLIMIT_DATA"] = own.memory
        rlimits["RLIMIT_NPROC"] = _own_tasks() + own.processes
    added = dataclasses.replace(
        limits,
        rlimits=rlimits | dict(limits.rlimits),
        join=group.join_files if group else (),
        disk=DiskLimit(directory, own.disk, own.files),
    )
    try:
        yield Cage(added, own.memory, group)
    finally:
        if group is not None:
            group.close()


def _make_group(own: ResourceLimits) -> Cgroup | None:
    parent, _ = cgroup_parent()
    if parent is None:
        return None
    try:
        return parent.make(own.memory, own.processes, own.cpus)
    except OSError as exc:
        raise WorkspaceUnavailable(f"a cgroup cannot be made: {exc}") from exc


def _own_tasks() -> int:
    """Return how many threads this user has, all of which RLIMIT_NPROC counts."""
    count = 0
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and process.stat().st_uid == os.getuid():
                count += len(os.listdir(process / "task"))  # noqa: PTH208 -- hot
    return count
