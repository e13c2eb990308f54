"""Where fetched code is kept: a directory for each commit and each archive.

::

    <cache>/sources/<key>/
        source.json   what was asked for, and the digest of the tree
        tree/         the files
    <cache>/sources/<key>.lock   held by who fetches

A key says what the files are, whoever asks for them, and wherever they come from: the
id of a commit, or the SHA-256 of an archive. Any process may read a tree; nobody
writes to it. It is checked each time, and fetched again where it is not what it was.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import AwareDatetime
from pydantic import ValidationError

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import Record
from pytest_codegenie.models import utc_now
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.locks import exclusive


DIRECTORY = "sources"
#: Another number makes other trees: it changes with how archives are unpacked.
FORMAT = 1
_RECORD = "source.json"


class Wanted(Protocol):
    """Code that has to be fetched."""

    @property
    def key(self) -> str:
        """What its files are; "": that is known only once they are fetched."""
        ...

    @property
    def shown(self) -> str:
        """What a message calls it; no password is in it."""
        ...

    def fetch(self, directory: Path, seconds: float) -> Path:
        """Return a directory with its files, somewhere below an empty directory.

        Raises:
            WorkspaceUnavailable: It cannot be had, or is not what was asked for.
            OSError: It cannot be written.
        """
        ...


class SourceRecord(Record):
    """``source.json``: what was fetched, and what came of it."""

    format: int = FORMAT
    source: str
    #: Of all paths, modes and contents.
    digest: str
    files: int
    bytes: int
    fetched_at: AwareDatetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where one source is, or will be."""

    store: Path
    key: str

    @classmethod
    def of(cls, cache: Path, key: str) -> Place:
        """Return the place of a key below a run's cache."""
        return cls(cache / DIRECTORY, key)

    @property
    def directory(self) -> Path:
        """Return its own directory."""
        return self.store / self.key

    @property
    def tree(self) -> Path:
        """Return where its files are."""
        return self.directory / "tree"

    def read(self) -> SourceRecord | None:
        """Return the record; None: there is nothing that was fetched whole."""
        try:
            data = (self.directory / _RECORD).read_bytes()
            return SourceRecord.from_json(data)
        except (OSError, ValidationError):
            return None

    def is_sound(self) -> bool:
        """Say whether it is here, and all of it is as it was fetched."""
        record = self.read()
        if record is None or record.format != FORMAT:
            return False
        try:
            return _measure(self.tree)[0] == record.digest
        except OSError:
            return False

    def touch(self) -> None:
        """Note that it was used: what was used last is removed last."""
        with contextlib.suppress(OSError):
            os.utime(self.directory / _RECORD)


def provide(wanted: Wanted, cache: Path, seconds: float) -> Path:
    """Return the directory of what is wanted, fetched on the first call anywhere.

    Raises:
        WorkspaceUnavailable: As ``Wanted.fetch``.
        OSError: It cannot be kept.
    """
    place = Place.of(cache, wanted.key or f"unnamed-{hash_bytes(os.urandom(16))[7:39]}")
    if not place.is_sound():
        with exclusive(place.store / f"{place.key}.lock"):
            # Who held the lock before may have fetched it.
            if not place.is_sound():
                _fetch(wanted, place, seconds)
    place.touch()
    return place.tree


def _fetch(wanted: Wanted, place: Place, seconds: float) -> None:
    for old in place.store.glob(f".{place.key}-*"):
        remove_tree(old)  # of a process that was killed: we hold the lock
    made = Path(tempfile.mkdtemp(prefix=f".{place.key}-", dir=place.store))
    try:
        work, whole = made / "work", made / "whole"
        work.mkdir()
        whole.mkdir()
        wanted.fetch(work, seconds).rename(whole / "tree")
        digest, files, size = _measure(whole / "tree")
        record = SourceRecord(
            source=wanted.shown,
            digest=digest,
            files=files,
            bytes=size,
            fetched_at=utc_now(),
        )
        write_atomically(whole / _RECORD, record.to_json(), durable=False)
        if place.directory.exists():
            place.directory.rename(made / "damaged")
        whole.rename(place.directory)
    finally:
        remove_tree(made)


def _measure(tree: Path) -> tuple[str, int, int]:
    """Return (digest, number of files and links, bytes) of a tree.

    Links may lead anywhere, and names may be no text: a repository can hold both.
    """
    lines = []
    size = 0
    for path, entry in walk(tree):
        if entry.is_symlink():
            mode, content = b"l", os.fsencode(os.readlink(entry.path))  # noqa: PTH115
        elif entry.is_file():
            status = entry.stat()
            mode = b"x" if status.st_mode & stat.S_IXUSR else b"f"
            content = Path(entry.path).read_bytes()
        else:
            continue
        size += len(content)
        name = os.fsencode(path)
        lines.append(
            b"%b\0%b\0%b\n" % (name, mode, hash_bytes(content).encode("ascii"))
        )
    return hash_bytes(b"".join(sorted(lines))), len(lines), size


@dataclass(frozen=True, slots=True)
class KeptSource:
    """Something below ``<cache>/sources``: a source, or what a killed run left."""

    path: Path
    size: int
    #: When it was fetched or used last, as a time stamp.
    used_at: float
    #: It never became a source.
    abandoned: bool


def kept_sources(cache: Path) -> Iterator[KeptSource]:
    """Yield all that is kept of sources, sorted by name."""
    store = cache / DIRECTORY
    for path in sorted(store.iterdir()) if store.is_dir() else ():
        if path.suffix == ".lock" or not path.is_dir():
            continue
        place = Place(store, path.name)
        record = place.read()
        with contextlib.suppress(OSError):  # removed meanwhile
            known = path if record is None else path / _RECORD
            size = 0 if record is None else record.bytes
            yield KeptSource(path, size, known.stat().st_mtime, record is None)
