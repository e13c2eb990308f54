"""The audit chain: one record for each task class and agent of a run, linked.

A record is a line, the canonical JSON of four keys:

- ``content``: what is on record: a report, and the digest of each result that it is
  made of.
- ``digest``: BLAKE3 of the content's canonical bytes, in the mode for deriving keys
  with the context ``pytest-codegenie audit record v1``, as ``blake3:<64 hex>``.
- ``prev_hash``: ``chain_head`` of the record before; 64 zeros in the first.
- ``chain_head``: SHA-256 of ``prev_hash`` and ``digest`` as they are written: 64 and
  71 ASCII characters, one after the other.

So whoever changes, adds, removes or moves a record has to change all heads after it.
The end can be cut off without a trace in the file; reports in the runs and anchored
heads tell of that.

A record is appended under the file's lock and is on the disk before anybody hears of
its head. What a crash leaves of a line is no record: the next writer removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import BinaryIO
from typing import NamedTuple

from pytest_codegenie.documents import sync_directory
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.lines import append_whole
from pytest_codegenie.evidence.lines import whole_lines_end
from pytest_codegenie.hashing import hash_for


AUDIT = "audit"
CHAIN = "chain.jsonl"
#: ``prev_hash`` of the first record, and the head of a chain without records.
GENESIS = "0" * 64

_PURPOSE = "pytest-codegenie audit record v1"
_HEAD_CHARS = 64
_DIGEST_CHARS = 71
# A line is in parts: _A head _B content _C digest _D previous head _E. What is
# constant is compared, so that no byte of a line is without meaning.
_A, _B = b'{"chain_head":"', b'","content":'
_C, _D, _E = b',"digest":"', b'","prev_hash":"', b'"}\n'
_CONTENT = len(_A) + _HEAD_CHARS + len(_B)
_PREVIOUS_END = -len(_E)
_PREVIOUS = _PREVIOUS_END - _HEAD_CHARS
_DIGEST_END = _PREVIOUS - len(_D)
_DIGEST = _DIGEST_END - _DIGEST_CHARS
_CONTENT_END = _DIGEST - len(_C)
_NAMES = (b"run_id", b"task_class", b"agent")
_NAMED_CHARS = 120


class Link(NamedTuple):
    """Where a record is in the chain."""

    prev_hash: str
    chain_head: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A record whose digest and head are what they have to be."""

    #: 1-based.
    index: int
    link: Link
    digest: str
    #: Canonical JSON, as it stands in the file.
    content: bytes

    def values(self) -> dict[str, Any]:
        """Return the content: ``report`` and ``results``."""
        values: dict[str, Any] = json.loads(self.content)
        return values

    @property
    def name(self) -> str:
        """Which record it is, for a message."""
        return _name(self.index, self.content)


@dataclass(frozen=True, slots=True)
class Appended:
    """What came of appending records."""

    #: One for each content, in their order.
    links: list[Link]
    #: Of the chain, after them.
    head: str


@dataclass(frozen=True, slots=True)
class ChainState:
    """A chain that verifies, as it was when it was read."""

    records: int
    #: Of the last record; ``GENESIS`` where there is none.
    head: str
    #: What a crash, or a writer that is at it, has left after the last record.
    torn_bytes: int


class Chain:
    """A chain in its file, up to the last record when it was opened."""

    def __init__(self, out: Path) -> None:
        """Look at what is there.

        Args:
            out: Where runs are kept, ``.codegenie``. It need not be there.

        Raises:
            RunStoreError: It cannot be read.
        """
        self.path = out / AUDIT / CHAIN
        self._end = 0
        self._tail = b""
        with _reading(self.path) as file:
            if file is not None:
                self._end = whole_lines_end(file.fileno())
                file.seek(self._end)
                self._tail = file.read()

    @property
    def torn_bytes(self) -> int:
        """How much is left of a record that was cut off while it was appended."""
        return len(self._tail)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the records from the first one on, each verified.

        Raises:
            ChainTamperDetected: One does not verify; those before it do.
            RunStoreError: The chain cannot be read.
        """
        with _reading(self.path, lock=False) as file:
            if file is not None:
                yield from _entries(self.path, file, self._end, self._tail)

    def check(self) -> ChainState:
        """Verify all records by their digests and heads.

        Raises:
            ChainTamperDetected: One does not verify.
            RunStoreError: The chain cannot be read.
        """
        records, head = 0, GENESIS
        for entry in self:
            records, head = entry.index, entry.link.chain_head
        return ChainState(records, head, self.torn_bytes)


def check_chain(out: Path) -> ChainState:
    """Verify the links of the chain below ``out``: its bytes alone, no run.

    Raises:
        ChainTamperDetected: A record does not verify.
        RunStoreError: The chain cannot be read.
    """
    return Chain(out).check()


def content_digest(content: bytes) -> str:
    """Return ``digest`` of a record."""
    return hash_for(_PURPOSE, content)


def next_head(prev_hash: str, digest: str) -> str:
    """Return ``chain_head`` of a record."""
    return hashlib.sha256(f"{prev_hash}{digest}".encode()).hexdigest()


def append_records(out: Path, contents: Sequence[bytes]) -> Appended:
    """Append records durably; return where each one is, and the chain's head.

    What is in the chain already is not appended again: a writer that died after it
    appended and is started once more gets the links that it had.

    Args:
        out: Where runs are kept, ``.codegenie``.
        contents: The canonical bytes of each.

    Raises:
        ChainTamperDetected: The chain does not verify. Nothing is appended to it.
        RunStoreError: It cannot be written; the chain is as it was.
    """
    path = out / AUDIT / CHAIN
    try:
        with _writing(path) as fd:
            return _append(path, fd, contents)
    except OSError as exc:
        raise RunStoreError(
            path,
            f"no record can be appended: {exc.strerror}; the results are whole: mend "
            "it, and --codegenie-resume appends the record",
        ) from exc


def _append(path: Path, fd: int, contents: Sequence[bytes]) -> Appended:
    wanted = {content_digest(content): content for content in contents}
    links: dict[str, Link] = {}
    head = GENESIS
    end = whole_lines_end(fd)
    with open(fd, "rb", closefd=False) as file:
        file.seek(end)
        tail = file.read()
        for entry in _entries(path, file, end, tail):
            head = entry.link.chain_head
            if entry.digest in wanted:
                links[entry.digest] = entry.link
    lines = []
    for digest, content in wanted.items():
        if digest not in links:
            links[digest] = Link(head, next_head(head, digest))
            head = links[digest].chain_head
            lines.append(_line(links[digest], digest, content))
    if lines:
        append_whole(fd, b"".join(lines))
    return Appended([links[digest] for digest in wanted], head)


def _line(link: Link, digest: str, content: bytes) -> bytes:
    parts = (_A, link.chain_head.encode(), _B, content, _C, digest.encode(), _D)
    return b"".join((*parts, link.prev_hash.encode(), _E))


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[int]:
    """Open and lock the chain to append to it; make it where it is not there."""
    new = not path.exists()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    fd = os.open(path, flags, 0o600)
    try:
        _refuse_special(path, fd)
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
        if new:
            sync_directory(path.parent)
            sync_directory(path.parent.parent)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _reading(path: Path, *, lock: bool = True) -> Iterator[BinaryIO | None]:
    """Open the chain to read it; None where there is none."""
    try:
        # O_NONBLOCK, so that a FIFO cannot hold the run up.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        yield None
        return
    except OSError as exc:
        raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
    try:
        _refuse_special(path, fd)
        if lock:
            # A writer that is at it is waited for: its line is not torn.
            fcntl.flock(fd, fcntl.LOCK_SH)
        with open(fd, "rb", 1 << 20, closefd=False) as file:
            yield file
    except OSError as exc:
        raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
    finally:
        os.close(fd)


def _refuse_special(path: Path, fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise RunStoreError(path, "is no regular file; move it away")


def _entries(path: Path, file: BinaryIO, end: int, tail: bytes) -> Iterator[Entry]:
    """Yield the records up to ``end``, each verified; then look at what is behind."""
    file.seek(0)
    index, head, place = 0, GENESIS, 0
    while place < end:
        line = file.readline()
        if not line:
            raise RunStoreError(path, "became shorter while it was read; try again")
        place += len(line)
        index += 1
        entry = _verified(path, index, head, line)
        yield entry
        head = entry.link.chain_head
    if tail and not _is_torn(tail):
        raise _tampered(
            path, index + 1, tail, "the end", "the beginning of a record", "other bytes"
        )


def _verified(path: Path, index: int, head: str, line: bytes) -> Entry:
    """Return a line as the record that it is, if it follows ``head``.

    Raises:
        ChainTamperDetected: It does not, or is no record.
    """
    if not _has_shape(line):
        raise _tampered(path, index, line, "the line", "a record", "other bytes")
    content = line[_CONTENT:_CONTENT_END]
    digest = content_digest(content)
    recorded = line[_DIGEST:_DIGEST_END]
    if recorded != digest.encode():
        raise _tampered(path, index, line, "digest", _shown(recorded), digest)
    recorded = line[_PREVIOUS:_PREVIOUS_END]
    if recorded != head.encode():
        raise _tampered(path, index, line, "prev_hash", _shown(recorded), head)
    link = Link(head, next_head(head, digest))
    recorded = line[len(_A) : len(_A) + _HEAD_CHARS]
    if recorded != link.chain_head.encode():
        raise _tampered(
            path, index, line, "chain_head", _shown(recorded), link.chain_head
        )
    return Entry(index, link, digest, content)


def _has_shape(line: bytes) -> bool:
    return (
        len(line) > _CONTENT - _CONTENT_END
        and line.startswith(_A)
        and line.endswith(_E)
        and line[_CONTENT - len(_B) : _CONTENT] == _B
        and line[_CONTENT_END:_DIGEST] == _C
        and line[_DIGEST_END:_PREVIOUS] == _D
    )


def _is_torn(tail: bytes) -> bool:
    """Tell whether bytes are what a crash leaves of a record, and nothing behind it.

    A whole record whose line end alone was changed would otherwise look torn, and be
    removed by the next writer.
    """
    if not (_A.startswith(tail[: len(_A)]) and b"\n" not in tail):
        return False
    head = tail[len(_A) : _CONTENT]
    if not re.fullmatch(rb"[0-9a-f]*", head[:_HEAD_CHARS]):
        return False
    if not _B.startswith(head[_HEAD_CHARS:]):
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(tail.decode(errors="replace"))
    except (ValueError, RecursionError):
        return True
    return len(tail.decode(errors="replace")) == end


def _tampered(
    path: Path, index: int, line: bytes, what: str, recorded: str, computed: str
) -> ChainTamperDetected:
    return ChainTamperDetected(
        _name(index, line), recorded, computed, what=what, path=path
    )


def _name(index: int, line: bytes) -> str:
    """Return which record a line is, as far as it says so."""
    found = (re.search(b'"%b":"([^"\\\\]*)"' % name, line) for name in _NAMES)
    words = [_shown(match[1]) for match in found if match]
    return f"{index} ({', '.join(words)})" if words else str(index)


def _shown(value: bytes) -> str:
    """Return bytes of the file for a message."""
    return value[:_NAMED_CHARS].decode("ascii", errors="backslashreplace")
