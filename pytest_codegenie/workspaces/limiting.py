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


class Cage:
    """Adds a workspace's resource limits to those of each program in it."""

    def __init__(self, limits: ResourceLimits, directory: Path) -> None:
        self._limits = limits
        self._directory = directory
        self._cgroup: Cgroup | None = None
        self._killed = 0

    def around(self, limits: Limits) -> Limits:
        """Return a program's limits with the workspace's added.

        Raises:
            WorkspaceUnavailable: A cgroup cannot be made, though one could before.
        """
        own = self._limits
        rlimits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": own.file_size,
            "RLIMIT_NOFILE": own.open_files,
        }
        if own.cpu_seconds is not None:
            rlimits["RLIMIT_CPU"] = math.ceil(own.cpu_seconds)
        join: tuple[Path, ...] = ()
        if cgroup_parent()[0] is not None:
            join = self._group().join_files
        else:
            rlimits["RLIMIT_DATA"] = own.memory
            rlimits["RLIMIT_NPROC"] = _own_tasks() + own.processes
        return dataclasses.replace(
            limits,
            rlimits=rlimits | dict(limits.rlimits),
            join=join,
            disk=DiskLimit(self._directory, own.disk, own.files),
        )

    def told(self, completed: Completed) -> Completed:
        """Return how a program ended, with the limit on memory named if it met it."""
        if self._cgroup is None or completed.exceeded:
            return completed
        killed = self._cgroup.out_of_memory()
        if killed <= self._killed:
            return completed
        self._killed = killed
        words = f"more than {self._limits.memory} bytes of memory"
        return dataclasses.replace(completed, exceeded=words)

    def close(self) -> None:
        """Remove the cgroup."""
        if self._cgroup is not None:
            self._cgroup.close()
            self._cgroup = None

    def _group(self) -> Cgroup:
        parent = cgroup_parent()[0]
        assert parent is not None
        if self._cgroup is None:
            own = self._limits
            try:
                self._cgroup = parent.make(own.memory, own.processes, own.cpus)
            except OSError as exc:
                raise WorkspaceUnavailable(f"a cgroup cannot be made: {exc}") from exc
        return self._cgroup


def _own_tasks() -> int:
    """Return how many threads this user has, all of which RLIMIT_NPROC counts."""
    count = 0
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and process.stat().st_uid == os.getuid():
                count += len(os.listdir(process / "task"))  # noqa: PTH208 -- hot
    return count
