"""Control groups: limits that hold for all processes of a program together.

Version 2 (one hierarchy) and version 1 (one for each controller) are understood.
Where this user may make no groups, ``CgroupParent.find`` says why, and rlimits are
what is left. See cgroups(7).
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


_PREFIX = "codegenie-"
_CONTROLLERS = ("memory", "pids", "cpu")
#: Microseconds; the kernel's default.
_CPU_PERIOD = 100_000


@dataclass(frozen=True, slots=True)
class CgroupParent:
    """Where groups can be made: one directory, or one for each controller."""

    #: Controller to the directory that groups are made in.
    directories: dict[str, Path]
    version: int

    @classmethod
    def find(cls) -> tuple[CgroupParent | None, str]:
        """Return where groups can be made and ""; or None and why there are none.

        It is tried for real: a group is made, limited, joined and removed.
        """
        reasons = []
        for parent in _candidates():
            try:
                with contextlib.closing(parent.make(1 << 30, 64, None)) as group:
                    subprocess.run(
                        ["/bin/sh", "-c", _JOIN, "sh", *group.join_files],
                        check=True,
                        capture_output=True,
                    )
            except (OSError, subprocess.CalledProcessError) as exc:
                reasons.append(f"{next(iter(parent.directories.values()))}: {exc}")
            else:
                return parent, ""
        return None, reasons[-1] if reasons else "no cgroup file system is mounted"

    def make(self, memory: int, processes: int, cpus: float | None) -> Cgroup:
        """Make a group.

        Args:
            memory: Bytes, all processes together.
            processes: How many at once.
            cpus: Cores; None: all.

        Raises:
            OSError: It cannot be made.
        """
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        group = Cgroup(
            {key: path / name for key, path in self.directories.items()}, self.version
        )
        try:
            for path in set(group.directories.values()):
                path.mkdir()
            for key, file, value in _settings(self.version, memory, processes, cpus):
                (group.directories[key] / file).write_text(value, encoding="ascii")
        except BaseException:
            group.close()
            raise
        # Swap is more memory; a kernel that does not count it has none to limit.
        swap = ("memory.memsw.limit_in_bytes", str(memory))
        file, value = swap if self.version == 1 else ("memory.swap.max", "0")
        with contextlib.suppress(OSError):
            (group.directories["memory"] / file).write_text(value, encoding="ascii")
        return group

    def left_behind(self) -> Iterator[Path]:
        """Yield the groups of processes of ours that are gone."""
        for directory in sorted(set(self.directories.values())):
            for path in directory.glob(f"{_PREFIX}*"):
                pid = path.name.removeprefix(_PREFIX).partition("-")[0]
                if pid.isdigit() and not Path("/proc", pid).exists():
                    yield path

    def sweep(self) -> None:
        """Remove them."""
        for path in self.left_behind():
            _remove(path)


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A group; ``close`` removes it."""

    directories: dict[str, Path]
    version: int

    @property
    def join_files(self) -> tuple[Path, ...]:
        """The files that a process writes 0 to, to be in the group."""
        paths = sorted(set(self.directories.values()))
        return tuple(path / "cgroup.procs" for path in paths)

    def out_of_memory(self) -> int:
        """Return how many processes were killed because memory ran out."""
        file = "memory.oom_control" if self.version == 1 else "memory.events"
        try:
            text = (self.directories["memory"] / file).read_text(encoding="ascii")
        except OSError:
            return 0
        counts = dict(line.split() for line in text.splitlines())
        return int(counts.get("oom_kill", 0))

    def close(self) -> None:
        """Remove the group. What still runs in it keeps it; the next sweep gets it."""
        for path in set(self.directories.values()):
            _remove(path)


@functools.cache
def cgroup_parent() -> tuple[CgroupParent | None, str]:
    """Return what ``CgroupParent.find`` finds; this process looks once."""
    return CgroupParent.find()


#: Joins the groups it is given.
_JOIN = 'set -e; for path; do echo 0 > "$path"; done'


def _settings(
    version: int, memory: int, processes: int, cpus: float | None
) -> Iterator[tuple[str, str, str]]:
    """Yield (controller, file, value)."""
    if version == 1:
        yield "memory", "memory.limit_in_bytes", str(memory)
    else:
        yield "memory", "memory.max", str(memory)
    yield "pids", "pids.max", str(processes)
    if cpus is not None:
        quota = int(cpus * _CPU_PERIOD)
        if version == 1:
            yield "cpu", "cpu.cfs_quota_us", str(quota)
        else:
            yield "cpu", "cpu.max", f"{quota} {_CPU_PERIOD}"


def _candidates() -> Iterator[CgroupParent]:
    """Yield places to try: the own group first, then those above it."""
    mounts: dict[str, Path] = {}
    unified: Path | None = None
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
            _, place, kind, options, *_ = line.split()
            if kind == "cgroup2":
                unified = Path(place)
            elif kind == "cgroup":
                for name in options.split(","):
                    mounts.setdefault(name, Path(place))
    own = _own_groups()
    if unified is not None:
        here = unified / own.get("", "").lstrip("/")
        for path in (here, *here.parents):
            if not path.is_relative_to(unified):
                break
            if _has_controllers(path):
                yield CgroupParent(dict.fromkeys(_CONTROLLERS, path), 2)
    if all(name in mounts for name in _CONTROLLERS):
        yield CgroupParent(
            {key: mounts[key] / own.get(key, "").lstrip("/") for key in _CONTROLLERS}, 1
        )
        # In a container the own path may be one of the host's.
        yield CgroupParent({key: mounts[key] for key in _CONTROLLERS}, 1)


def _own_groups() -> dict[str, str]:
    """Return controller to path of the group this process is in; "" is version 2."""
    groups = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            _, names, path = line.split(":", 2)
            for name in names.split(","):
                groups[name] = path
    return groups


def _has_controllers(path: Path) -> bool:
    """Say whether groups below a version 2 group can limit what we limit."""
    try:
        enabled = (path / "cgroup.subtree_control").read_text(encoding="ascii").split()
    except OSError:
        return False
    return {"memory", "pids"} <= set(enabled)


def _remove(path: Path) -> None:
    # A process that was killed just now may still count as being in it.
    for _ in range(50):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return
