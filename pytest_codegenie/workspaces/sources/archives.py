"""An archive: a tar file or a zip file, unpacked without trust."""

from __future__ import annotations

import hashlib
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import IO

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.sources.downloads import download
from pytest_codegenie.workspaces.sources.urls import without_password


#: More than the sources of anything that is judged here.
MAX_BYTES = 4 << 30
MAX_ENTRIES = 500_000
_BLOCK_BYTES = 1 << 20
_SUFFIXES = (
    *(".tar", ".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst"),
    *(".tbz2", ".tgz", ".txz", ".zip"),
)
_BROKEN = (
    EOFError,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted member
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def is_archive_name(path: str) -> bool:
    """Say whether a file of that name is an archive, by its suffix."""
    return path.lower().endswith(_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive, and where it is."""

    #: A file of this machine, or a URL.
    place: Path | str
    #: Of its bytes, 64 hex digits; "": nobody said.
    sha256: str = ""
    #: Nothing else says what it is.
    must_name_hash: bool = False

    @property
    def key(self) -> str:
        """Return the hash; that of a file in the case is computed."""
        if self.sha256:
            return f"sha256-{self.sha256}"
        if isinstance(self.place, Path) and not self.must_name_hash:
            return f"sha256-{hash_file(self.place)}"
        return ""

    @property
    def shown(self) -> str:
        """Return where it is."""
        return without_password(str(self.place))

    def fetch(self, directory: Path, seconds: float) -> Path:
        """Return the archive's files, without the directory that they are all in."""
        file = directory / "archive"
        if isinstance(self.place, Path):
            file, found = self.place, hash_file(self.place)
        else:
            found = download(self.place, file, seconds)
        if self.sha256 or self.must_name_hash:
            check_hash(self.shown, found, self.sha256)
        return unpack(file, directory / "unpacked", shown=self.shown)


def hash_file(path: Path) -> str:
    """Return a file's SHA-256 in hex.

    Raises:
        WorkspaceUnavailable: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise WorkspaceUnavailable(f"{path}: cannot be read: {exc.strerror}") from exc


def check_hash(shown: str, found: str, wanted: str) -> None:
    """See to it that an archive is the one that was asked for.

    Raises:
        WorkspaceUnavailable: It is not, or nobody said which it has to be.
    """
    if not wanted:
        raise WorkspaceUnavailable(
            f"input/task.toml: repository.sha256: missing, so that {shown} could be "
            f"anything tomorrow; today it has {found}: write that, if it is what you "
            "mean"
        )
    if found != wanted:
        raise WorkspaceUnavailable(
            f"{shown} is not what input/task.toml asks for (repository.sha256)\n"
            f"  expected sha256:{wanted}\n  computed sha256:{found}"
        )


@dataclass(frozen=True, slots=True)
class _Member:
    """Something in an archive."""

    name: str
    #: Of a link; None: it is a file.
    target: str | None
    executable: bool
    content: IO[bytes] | None


def unpack(
    archive: Path,
    directory: Path,
    *,
    shown: str = "",
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
) -> Path:
    """Unpack an archive into a new directory; return where its files are.

    Files and links alone come out, with no mode but whether they are programs; what is
    called ``.git`` is left out. Links are made once all files are there, and may not
    lead out.

    Args:
        archive: A tar file, compressed or not, or a zip file.
        directory: Made.
        shown: What messages call it.
        max_bytes: All files together.
        max_entries: Files and links.

    Returns:
        The directory, or the only one in it, if there is nothing beside.

    Raises:
        WorkspaceUnavailable: It is none, is broken, holds what it must not, or more.
        OSError: Something cannot be written.
    """
    shown = shown or str(archive)
    directory.mkdir(parents=True)
    links: dict[str, str] = {}
    left, entries = max_bytes, 0
    try:
        for member in _members(archive, shown):
            entries += 1
            if entries > max_entries:
                raise WorkspaceUnavailable(f"{shown}: more than {max_entries} files")
            name = _safe_name(member.name, shown)
            if ".git" in name.lower().split("/"):
                continue
            if member.target is not None:
                links[name] = member.target
            elif member.content is not None:
                path = _place(directory, name, shown)
                left -= _write(member.content, path, left)
                if left < 0:
                    raise WorkspaceUnavailable(
                        f"{shown}: unpacked, it is larger than {max_bytes} bytes"
                    )
                path.chmod(0o755 if member.executable else 0o644)
    except _BROKEN as exc:
        raise WorkspaceUnavailable(
            f"{shown}: cannot be unpacked: {exc or type(exc).__name__}"
        ) from exc
    _make_links(directory, links, shown)
    return _without_top(directory)


def _members(archive: Path, shown: str) -> Iterator[_Member]:
    if zipfile.is_zipfile(archive):
        yield from _zip_members(archive, shown)
        return
    try:
        tar = tarfile.open(archive)
    except tarfile.ReadError as exc:
        raise WorkspaceUnavailable(
            f"{shown}: no archive that can be read: a tar file, plain or compressed by "
            "gzip, bzip2 or xz, or a zip file"
        ) from exc
    with tar:
        yield from _tar_members(tar, shown)


def _tar_members(tar: tarfile.TarFile, shown: str) -> Iterator[_Member]:
    for info in tar:
        if info.isdir():
            continue
        if not (info.isreg() or info.islnk() or info.issym()):
            raise WorkspaceUnavailable(
                f"{shown}: {info.name!r} is a device or a FIFO, which no sources hold"
            )
        target = info.linkname if info.issym() else None
        try:
            # Of a hard link, what it is one of.
            content = None if info.issym() else tar.extractfile(info)
        except KeyError as exc:
            raise tarfile.ReadError(f"{info.name!r} is a link to nothing") from exc
        yield _Member(info.name, target, bool(info.mode & stat.S_IXUSR), content)


def _zip_members(archive: Path, shown: str) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            if info.is_dir():
                continue
            mode = info.external_attr >> 16  # 0 where no Unix made it
            kind = stat.S_IFMT(mode)
            if kind not in (0, stat.S_IFREG, stat.S_IFLNK):
                raise WorkspaceUnavailable(
                    f"{shown}: {info.filename!r} is no file and no link"
                )
            with file.open(info) as content:
                target = None
                if kind == stat.S_IFLNK:
                    target = os.fsdecode(content.read(4096))
                executable = bool(mode & stat.S_IXUSR)
                yield _Member(info.filename, target, executable, content)


def _safe_name(name: str, shown: str) -> str:
    """Return the name of a member as a plain relative path."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise WorkspaceUnavailable(f"{shown}: {name!r} leads out of the archive")
    return path.as_posix()


def _place(directory: Path, name: str, shown: str) -> Path:
    """Return where a file goes; no link is there yet, so no way leads out."""
    path = directory / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What stands twice is what came last, as tar and unzip have it.
        path.unlink(missing_ok=True)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as exc:
        raise WorkspaceUnavailable(
            f"{shown}: {name!r} is a file and a directory at once"
        ) from exc
    return path


def _write(content: IO[bytes], path: Path, most: int) -> int:
    """Write a file, and stop soon after ``most``; return how many bytes came."""
    size = 0
    with path.open("xb") as file:
        while size <= most and (block := content.read(_BLOCK_BYTES)):
            size += len(block)
            file.write(block)
    return size


def _make_links(directory: Path, links: dict[str, str], shown: str) -> None:
    top = directory.resolve()
    for name, target in links.items():
        fine = target and "\0" not in target and not target.startswith("/")
        # A link may lie below another one.
        if not fine or not _is_inside((directory / name).parent, top):
            raise _leads_out(name, target, shown)
        _place(directory, name, shown).symlink_to(target)
    # Again, now that all are there: each may go through others.
    for name, target in links.items():
        if not _is_inside(directory / name, top):
            raise _leads_out(name, target, shown)


def _is_inside(path: Path, top: Path) -> bool:
    try:
        return path.resolve().is_relative_to(top)
    except (OSError, RuntimeError):
        return False  # it goes in a circle


def _leads_out(name: str, target: str, shown: str) -> WorkspaceUnavailable:
    return WorkspaceUnavailable(
        f"{shown}: the link {name!r} leads out of the archive, to {target!r}"
    )


def _without_top(directory: Path) -> Path:
    """Return the directory that everything lies in."""
    entries = list(directory.iterdir())
    only = entries[0] if len(entries) == 1 else directory
    return only if only.is_dir() and not only.is_symlink() else directory
