"""The directory that a run's workspaces are in, and what killed runs left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.logs import emit
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.workspaces import remove_tree
from pytest_codegenie.workspaces.leftovers import LeavesTraces


_PREFIX = "codegenie-run-"
_LOCK = "owner.lock"


class Scratch:
    """A temporary directory that is locked while its run lives."""

    def __init__(self, run_id: str) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{run_id}-"))
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self.path.exists():
                break
            # Another run's sweep found it before it was locked.
            os.close(self._lock)

    def remove(self) -> None:
        """Remove the directory with all that is in it."""
        remove_tree(self.path)
        os.close(self._lock)


def sweep(workspace: object) -> None:
    """Remove what this user's killed runs have left; containers before directories.

    Args:
        workspace: Of the run that begins: it may have left more than directories.
    """
    if isinstance(workspace, LeavesTraces) and not workspace.probe():
        try:
            workspace.sweep(is_abandoned, dry_run=False)
        except WorkspaceUnavailable as exc:
            emit("session.not_swept", level="warning", reason=str(exc))
    for path in killed_runs():
        remove_tree(path)
    parent, _ = cgroup_parent()
    if parent is not None:
        parent.sweep()


def killed_runs() -> Iterator[Path]:
    """Yield the directories of this user's runs that were killed.

    Each is locked until the next is asked for, so that nobody else removes it.
    """
    for path in _runs():
        with contextlib.suppress(OSError), _locked(path):
            yield path


def live_runs() -> Iterator[Path]:
    """Yield the directories of this user's runs that go on."""
    for path in _runs():
        try:
            with _locked(path):
                pass
        except BlockingIOError:
            yield path
        except OSError:
            continue  # it has gone meanwhile


def is_abandoned(directory: Path) -> bool:
    """Say whether a workspace's directory is gone, or that of a run that was killed.

    What was made outside of a run, by ``run_case`` alone, is in use while it exists.
    """
    runs = (path for path in directory.parents if path.name.startswith(_PREFIX))
    run = next(runs, None)
    if run is None:
        return not directory.exists()
    try:
        with _locked(run):
            return True
    except FileNotFoundError:
        return not run.exists()
    except OSError:
        return False  # it lives, or it is somebody else's


def _runs() -> Iterator[Path]:
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with contextlib.suppress(OSError):
            if not path.is_symlink() and path.stat().st_uid == os.getuid():
                yield path


@contextlib.contextmanager
def _locked(run: Path) -> Iterator[None]:
    """Hold a run's lock.

    Raises:
        BlockingIOError: The run holds it.
        OSError: There is no such file, or it cannot be opened.
    """
    fd = os.open(run / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)
