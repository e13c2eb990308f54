"""Walking, copying and removing directories that untrusted programs have worked in."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def walk(directory: Path, *, skip: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every entry below a directory but ``skip``: (path relative to it, entry).

    A directory comes before what is in it, and may be opened or removed by then. Links
    are not followed. Unlike ``os.walk``, depth does not matter; what cannot be read is
    empty.
    """
    pending = [""]
    while pending:
        prefix = pending.pop()
        for entry in _entries(os.path.join(directory, prefix)):  # noqa: PTH118
            path = prefix + entry.name
            if path == skip:
                continue
            yield path, entry
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{path}/")


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory of files and links to a new one; the copy may be written to.

    Links stay as they are; times are not kept. For trees that we have verified or made
    ourselves: ``source`` must not change meanwhile.

    Raises:
        OSError: It cannot be read or written.
    """
    pending = [(os.fspath(source), os.fspath(target))]
    while pending:
        directory, copy = pending.pop()
        os.mkdir(copy)  # noqa: PTH102 -- as fast as may be
        with os.scandir(directory) as entries:
            for entry in entries:
                path = f"{copy}/{entry.name}"
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), path)  # noqa: PTH211, PTH115
                elif entry.is_dir():
                    pending.append((entry.path, path))
                else:
                    copy_file(entry.path, path)


def add_tree(source: Path, target: Path) -> None:
    """Copy what a directory holds into one that exists; what is there already stays.

    Raises:
        OSError: It cannot be read or written.
    """
    for path, entry in walk(source):
        place = target / path
        if place.is_symlink() or place.exists():
            continue
        if entry.is_symlink():
            place.symlink_to(os.readlink(entry.path))  # noqa: PTH115
        elif entry.is_dir():
            place.mkdir()
        else:
            copy_file(entry.path, os.fspath(place))


def copy_file(source: str, target: str) -> None:
    """Copy a regular file to a new one; the copy may be written to.

    Raises:
        OSError: It cannot be read or written, or ``target`` exists.
    """
    read = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(read).st_mode & 0o777 | 0o600
        write = os.open(
            target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode
        )
        try:
            while os.sendfile(write, read, None, 1 << 30):
                pass
        finally:
            os.close(write)
    finally:
        os.close(read)


def remove_tree(directory: Path) -> None:
    """Remove a directory, whatever modes and depth it has. Never raises.

    What even its owner may not remove (another user's, a mount) is left.
    """
    with contextlib.suppress(OSError):
        if directory.is_symlink() or not directory.is_dir():
            directory.unlink(missing_ok=True)
            return
    try:
        shutil.rmtree(directory)
    except (OSError, RecursionError):
        _remove_stubborn_tree(os.fspath(directory))


def _remove_stubborn_tree(top: str) -> None:
    """Remove a tree whose directories may be shut, or nested beyond any limit.

    Each directory is moved up to ``top`` before it is emptied, so no path gets long.
    """
    pending = [top]
    number = 0
    while pending:
        directory = pending.pop()
        with contextlib.suppress(OSError):
            os.chmod(directory, 0o700)  # noqa: PTH101 -- as fast as may be
        for entry in _entries(directory):
            path = entry.path
            with contextlib.suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(path)  # noqa: PTH108
                    continue
                if directory != top:
                    # Moving a directory takes the right to write to it.
                    os.chmod(path, 0o700)  # noqa: PTH101
                    number += 1
                    path = os.path.join(top, f"{number}.{os.urandom(8).hex()}")  # noqa: PTH118
                    os.rename(entry.path, path)  # noqa: PTH104
                pending.append(path)
        if directory != top:
            with contextlib.suppress(OSError):
                os.rmdir(directory)  # noqa: PTH106
    with contextlib.suppress(OSError):
        os.rmdir(top)  # noqa: PTH106


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
