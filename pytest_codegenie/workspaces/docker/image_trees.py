"""Directories of an image as trees of the host, and of the host as an image's."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from pathlib import PurePosixPath
from typing import IO
from typing import Any

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.docker.containers import remove_container
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import engine_errors
from pytest_codegenie.workspaces.docker.labels import labels
from pytest_codegenie.workspaces.layout import CONTROL
from pytest_codegenie.workspaces.layout import HOME
from pytest_codegenie.workspaces.layout import SCRATCH
from pytest_codegenie.workspaces.layout import TEMPORARY
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


#: What a container has there is the workspace's own.
_TAKEN = (CONTROL, HOME, SCRATCH, TEMPORARY, PurePosixPath("/var/tmp"))  # noqa: S108
#: What a program needs of the image, and the tree would hide.
_SYSTEM = tuple(
    PurePosixPath("/", name)
    for name in "bin boot dev etc lib lib32 lib64 proc run sbin sys usr var".split()
)


def take(
    engine: Engine, image: str, directory: str, target: Path, spec: WorkspaceSpec
) -> PurePosixPath:
    """Copy a directory of an image to ``target``; return its path in the image.

    Args:
        engine: Where.
        image: Its id.
        directory: Absolute; "": the image's working directory.
        target: A new directory of the host.
        spec: Of the workspace that asks; its limits hold.

    Raises:
        WorkspaceUnavailable: There is no such directory, it cannot be a tree, or it
            is too large.
    """
    with engine_errors(f"the image {image!r} cannot be looked up"):
        found = engine.client.images.get(image).attrs
    place = _place(directory or found["Config"].get("WorkingDir") or "/")
    target.mkdir()
    with tempfile.TemporaryFile(dir=spec.directory) as archive:
        _fetch(engine, image, place, archive, spec)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tar:
            _unpack(_within(_members(tar), spec, place), tar, target)
    return place


def copy_readable(source: Path | None, target: Path) -> None:
    """Copy a directory to a new one that every user can read; None: an empty one.

    Raises:
        OSError: It cannot be read or written.
    """
    if source is None:
        target.mkdir(mode=0o755)
        return
    shutil.copytree(source, target, symlinks=True)
    for _, entry in walk(target):
        if not entry.is_symlink():
            mode = entry.stat(follow_symlinks=False).st_mode
            execute = 0o555 if entry.is_dir() or mode & 0o100 else 0o444
            Path(entry.path).chmod(mode & 0o777 | execute)
    target.chmod(0o755)


def _place(directory: str) -> PurePosixPath:
    """Return where a tree is; it may not stand in the way of anything.

    Raises:
        WorkspaceUnavailable: It would.
    """
    place = PurePosixPath(os.path.normpath(directory))
    remedy = "set a WORKDIR such as /app in the case's Dockerfile"
    if not place.is_absolute() or place == PurePosixPath("/"):
        raise WorkspaceUnavailable(
            f"the case works in the directory {directory!r} of its image, and all that "
            f"is below it would be the case's code; {remedy}"
        )
    for taken in (*_TAKEN, *_SYSTEM):
        if taken.is_relative_to(place) or (
            taken in _TAKEN and place.is_relative_to(taken)
        ):
            raise WorkspaceUnavailable(
                f"the case works in the directory {directory!r} of its image, and "
                f"{taken} is not the case's; {remedy}"
            )
    return place


def _fetch(
    engine: Engine,
    image: str,
    place: PurePosixPath,
    archive: IO[bytes],
    spec: WorkspaceSpec,
) -> None:
    """Write a directory of an image to a file, as a tar archive."""
    with engine_errors(f"no container can be made from image {image!r}"):
        made = engine.api.create_container(
            image, command=["/"], entrypoint=["/"], labels=labels("setup", spec)
        )
    try:
        # The dot: what the directory is, also where it is a link to another.
        with engine_errors(f"{place} cannot be copied from the image {image!r}"):
            parts, _ = engine.api.get_archive(made["Id"], f"{place}/.")
            archive.writelines(parts)
    finally:
        remove_container(engine, made["Id"])


def _members(tar: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, tarfile.TarInfo]]:
    """Yield what an archive holds, but ``.git``, by its path below the directory."""
    for member in tar:
        parts = [part for part in PurePosixPath(member.name).parts if part != "."]
        if ".." in parts or member.name.startswith("/"):
            raise WorkspaceUnavailable(
                f"the engine's archive names {member.name!r}, which leads out of it"
            )
        if parts and ".git" not in map(str.lower, parts):
            yield PurePosixPath(*parts), member


def _within(
    members: Iterator[tuple[PurePosixPath, tarfile.TarInfo]],
    spec: WorkspaceSpec,
    place: PurePosixPath,
) -> list[tuple[PurePosixPath, tarfile.TarInfo]]:
    """Return all members, if they are not more than a workspace may hold."""
    limits = spec.limits
    found: list[tuple[PurePosixPath, tarfile.TarInfo]] = []
    size = 0
    for path, member in members:
        size += member.size
        found.append((path, member))
        if size > limits.disk or len(found) > limits.files:
            raise WorkspaceUnavailable(
                f"the image's directory {place} holds more than a workspace may: "
                f"{limits.disk} bytes, {limits.files} files (limits.disk, "
                "limits.files)"
            )
    return found


def _unpack(
    members: list[tuple[PurePosixPath, tarfile.TarInfo]],
    tar: tarfile.TarFile,
    target: Path,
) -> None:
    """Write directories, then files, then links, so that no link is written through.

    What is none of these is left out. ``TarFile.extractall`` is safe from Python
    3.11.4 on, and Debian 12 has 3.11.2.
    """
    for path, member in members:
        if member.isdir():
            (target / path).mkdir(parents=True, exist_ok=True)
    for path, member in members:
        if member.isreg() or member.islnk():
            _write(tar.extractfile(member), target / path, member.mode)
    for path, member in members:
        if member.issym():
            (target / path).symlink_to(member.linkname)


def _write(source: Any, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source is None:
        return
    with source, target.open("xb") as file:
        shutil.copyfileobj(source, file)
    target.chmod(mode & 0o777 | 0o600)
