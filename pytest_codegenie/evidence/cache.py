"""What is kept of finished cases, so that nothing is done twice: patches and verdicts.

There is a file for each::

    <out>/cache/patches/<2 hex>/<62 hex>    what an agent left: ``CachedPatch``
    <out>/cache/verdicts/<2 hex>/<62 hex>   what was said of it: ``CachedVerdict``

The name is the key. An entry is two lines: kind, key and the digest of what follows;
then the record as JSON. An entry that does not hold to its first line was cut off or
changed: it is as good as none, and the next one takes its place. Entries are replaced
whole, so any number of processes may read, write and remove them at once. Nothing here
fails a case: a cache that cannot be written is said once, and done without.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import time
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from typing import TypeVar

from pydantic import AwareDatetime
from pydantic import ValidationError

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import hash_for
from pytest_codegenie.logs import emit
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import Record


#: Directories below the cache.
PATCHES = "patches"
VERDICTS = "verdicts"
KINDS = (PATCHES, VERDICTS)
_PURPOSE = "pytest-codegenie 2026-11-21 cache: an entry, version 1"
_HEADER = "codegenie-cache 1"
#: A file that a killed writer left; one that still writes takes no time at all.
_ABANDONED_SECONDS = 3600.0


class CachedPatch(Record):
    """What an agent left."""

    #: Of the run that it worked in.
    run_id: str
    made_at: AwareDatetime
    output: AgentOutput


class CachedVerdict(Record):
    """What was said of a patch."""

    #: Of the run that judged it.
    run_id: str
    made_at: AwareDatetime
    outcome: Literal["passed", "failed"]
    score: BenchScore
    #: None: no test was run.
    evaluation: EvalResult | None
    message: str


_Entry = TypeVar("_Entry", CachedPatch, CachedVerdict)


class _Broken(Exception):
    """An entry is not what was written."""


class Cache:
    """The entries below one directory.

    Args:
        directory: ``<out>/cache``; made when there is something to keep.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        #: Sentences about what was wrong with it, each once.
        self.problems: list[str] = []

    def find_patch(self, key: str) -> CachedPatch | None:
        """Return what an agent left; None: it is not known."""
        return self._find(PATCHES, key, CachedPatch)

    def find_verdict(self, key: str) -> CachedVerdict | None:
        """Return what was said of a patch; None: it is not known."""
        return self._find(VERDICTS, key, CachedVerdict)

    def keep_patch(self, key: str, entry: CachedPatch) -> None:
        """Keep what an agent left, in the place of what was there."""
        self._keep(PATCHES, key, entry)

    def keep_verdict(self, key: str, entry: CachedVerdict) -> None:
        """Keep what was said of a patch, in the place of what was there."""
        self._keep(VERDICTS, key, entry)

    def _path(self, kind: str, key: str) -> Path:
        name = key.rpartition(":")[2]
        return self._directory / kind / name[:2] / name[2:]

    def _find(self, kind: str, key: str, record: type[_Entry]) -> _Entry | None:
        path = self._path(kind, key)
        try:
            entry = _read(path.read_bytes(), kind, key, record)
        except FileNotFoundError:
            return None
        except OSError as exc:
            self._trouble("cache.not_read", path, exc.strerror or str(exc))
            return None
        except _Broken as exc:
            self._trouble("cache.broken_entry", path, str(exc))
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what was used last goes last
        return entry

    def _keep(self, kind: str, key: str, entry: Record) -> None:
        path = self._path(kind, key)
        payload = entry.to_json().encode()
        header = _header(kind, key, payload)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # It is checked when it is read: no reason to wait for the disk.
            write_atomically(path, header + payload + b"\n", durable=False)
        except OSError as exc:
            self._trouble("cache.not_kept", self._directory, exc.strerror or str(exc))

    def _trouble(self, event: str, path: Path, reason: str) -> None:
        said = {
            "cache.broken_entry": f"{reason}; it was left out",
            "cache.not_read": f"cannot be read ({reason}); it was left out",
            "cache.not_kept": f"cannot be written ({reason}); nothing was kept",
        }[event]
        sentence = f"cache: {relative(path)} {said}"
        if sentence not in self.problems:
            self.problems.append(sentence)
            emit(event, level="warning", path=str(path), reason=reason)


def _header(kind: str, key: str, payload: bytes) -> bytes:
    digest = hash_for(_PURPOSE, payload)
    return f"{_HEADER} {kind} {key} {digest}\n".encode()


def _read(data: bytes, kind: str, key: str, record: type[_Entry]) -> _Entry:
    """Return an entry.

    Raises:
        _Broken: It is not what was written under that key.
    """
    header, _, rest = data.partition(b"\n")
    payload = rest.removesuffix(b"\n")
    if header + b"\n" != _header(kind, key, payload):
        raise _Broken("is not what was written there")
    try:
        return record.from_json(payload)
    except ValidationError as exc:
        # Written whole, by another version of ours.
        raise _Broken("is of another version") from exc


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry, or what a killed writer left of one."""

    path: Path
    kind: str
    size: int
    #: When it was written or used last, as a time stamp.
    used_at: float
    #: It never became an entry.
    abandoned: bool = False


def list_kept(cache: Path) -> Iterator[Kept]:
    """Yield all there is of patches and verdicts below a cache directory."""
    for kind in KINDS:
        for path in sorted((cache / kind).glob("??/*")):
            with contextlib.suppress(OSError):  # removed meanwhile
                status = path.lstat()
                yield Kept(
                    path,
                    kind,
                    status.st_size,
                    status.st_mtime,
                    # ``write_atomically`` calls its files so until they are whole.
                    abandoned=path.name.startswith("."),
                )


def choose_for_removal(
    kept: Iterable[Kept],
    *,
    older_than: dt.timedelta | None = None,
    max_bytes: int | None = None,
    now: float | None = None,
) -> list[Kept]:
    """Return what has to go, least recently used first.

    What killed writers left goes in any case.

    Args:
        kept: All there is.
        older_than: Entries that nobody used for so long go; None: age is no reason.
        max_bytes: The rest may have so many bytes together; None: any number.
        now: A time stamp; None: the present.
    """
    now = time.time() if now is None else now
    by_age = sorted(kept, key=lambda one: (one.used_at, str(one.path)))
    entries = [one for one in by_age if not one.abandoned]
    gone = [
        one
        for one in by_age
        if one.abandoned and now - one.used_at > _ABANDONED_SECONDS
    ]
    if older_than is not None:
        oldest = now - older_than.total_seconds()
        gone += [one for one in entries if one.used_at < oldest]
        entries = [one for one in entries if one.used_at >= oldest]
    if max_bytes is not None:
        left = sum(one.size for one in entries)
        for one in entries:
            if left <= max_bytes:
                break
            gone.append(one)
            left -= one.size
    return gone


def remove(kept: Iterable[Kept]) -> list[tuple[Kept, str]]:
    """Remove entries; a run that goes on does without them.

    Returns:
        Those that are still there, and why.
    """
    failed = []
    for one in kept:
        try:
            one.path.unlink(missing_ok=True)
        except OSError as exc:
            failed.append((one, exc.strerror or str(exc)))
    return failed
