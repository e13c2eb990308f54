"""Walking, copying and removing directories that untrusted programs have worked in."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
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

    What is mounted below it is unmounted, not emptied. What this user may not remove
    (another user's) is left.
    """
    with contextlib.suppress(OSError):
        if directory.is_symlink() or not directory.is_dir():
            directory.unlink(missing_ok=True)
            return
    _unmount_below(directory)
    try:
        shutil.rmtree(directory)
    except (OSError, RecursionError):
        _remove_stubborn_tree(os.fspath(directory))


def _unmount_below(directory: Path) -> None:
    """Detach what root mounted below a directory: it may be all of somebody's files."""
    top = os.fsencode(directory.resolve()) + b"/"
    places = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_bytes().splitlines():
            escaped = line.split(b" ")[1]
            place = re.sub(rb"\\(\d{3})", lambda m: bytes([int(m[1], 8)]), escaped)
            if place.startswith(top):
                places.append(place)
    for place in reversed(places):
        with contextlib.suppress(OSError):
            subprocess.run(
                ["umount", "--lazy", "--", place], capture_output=True, check=False
            )


def _remove_stubborn_tree(top: str) -> None:
    """Remove a tree whose directories may be shut, or nested beyond any limit.

    Each directory is moved up to ``top`` before it is emptied, so no path gets long.
    """
    pending = [top]
    number = 0
    while pending:
        directory = pending.pop()
        _make_removable(directory)
        for entry in _entries(directory):
            path = entry.path
            with contextlib.suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    if entry.is_file(follow_symlinks=False):
                        _make_removable(path)
                    os.unlink(path)  # noqa: PTH108
                    continue
                if directory != top:
                    # Moving a directory takes the right to write to it.
                    _make_removable(path)
                    number += 1
                    path = os.path.join(top, f"{number}.{os.urandom(8).hex()}")  # noqa: PTH118
                    os.rename(entry.path, path)  # noqa: PTH104
                pending.append(path)
        if directory != top:
            with contextlib.suppress(OSError):
                os.rmdir(directory)  # noqa: PTH106
    with contextlib.suppress(OSError):
        os.rmdir(top)  # noqa: PTH106


#: ioctl_iflags(2): what ``chattr`` calls ``i`` and ``a``.
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_IMMUTABLE_OR_APPEND = 0x10 | 0x20


def _make_removable(path: str) -> None:
    """Open the mode of a file or directory, and take off what root locked it with."""
    with contextlib.suppress(OSError):
        os.chmod(path, 0o700)  # noqa: PTH101 -- as fast as may be
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            (flags,) = struct.unpack("i", fcntl.ioctl(fd, _GET_FLAGS, bytes(4)))
            if flags & _IMMUTABLE_OR_APPEND:
                unlocked = struct.pack("i", flags & ~_IMMUTABLE_OR_APPEND)
                fcntl.ioctl(fd, _SET_FLAGS, unlocked)
                os.chmod(fd, 0o700)  # noqa: PTH101
        finally:
            os.close(fd)


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
