"""Digests: the only importer of ``blake3``.

The digest of a case, version 1
    BLAKE3 over every regular file, executable file and symbolic link below the case
    directory but ``case.toml``, in the order of their POSIX relative paths' bytes::

        entry := tag  u64(len(path)) path  u64(len(content)) content
        tag   := b"f" regular file | b"x" executable file | b"l" symbolic link

    ``u64`` is 8 bytes, big-endian. A link's content is its target. A file is
    executable when its owner may execute it. Directories count only through what they
    hold, as in git. Lengths stand before what they measure, so no two different trees
    give one stream. Written ``blake3:<64 lower-case hex>``.

``tests/unit/test_hashing.py`` pins the algorithm with a golden vector.
"""

from __future__ import annotations

import os
import re
import reprlib
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3


DIGEST_VERSION = 1
PREFIX = "blake3:"
DIGEST_PATTERN = re.compile(r"blake3:[0-9a-f]{64}")

#: Files up to this size are read whole; larger ones pass through one buffer.
_CHUNK_BYTES = 1 << 20


class UnhashableEntryError(Exception):
    """An entry that may not be in a case: (relative path, reason)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class Entry(NamedTuple):
    """What was seen of one file when it was hashed; equal means unchanged."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int


class TreeDigest(NamedTuple):
    """A digest, and the entries it was made of, in the digest's order."""

    digest: str
    entries: tuple[Entry, ...]


def digest_fault(value: object) -> str:
    """Say why ``value`` is no digest; "" if it is one."""
    if not isinstance(value, str):
        return f"the digest must be a string, got {reprlib.repr(value)}"
    prefix, _, hexadecimal = value.partition(":")
    if prefix != "blake3":
        return f"the digest must start with 'blake3:', got {value[:20]!r}"
    if len(hexadecimal) != 64:
        return f"the digest must have 64 hex digits, got {len(hexadecimal)}"
    if hexadecimal != hexadecimal.lower():
        return "the digest must be lower-case"
    if not DIGEST_PATTERN.fullmatch(value):
        return f"the digest must be hexadecimal, got {value!r}"
    return ""


def hash_bytes(data: bytes) -> str:
    """Return the digest of ``data`` as ``blake3:<hex>``."""
    return PREFIX + blake3(data).hexdigest()


def hash_for(purpose: str, data: bytes) -> str:
    """Return the digest of ``data`` for one purpose, as ``blake3:<hex>``.

    It is BLAKE3 in its mode for deriving keys, so that a digest made for one purpose is
    never the one of the same bytes for another, nor that of ``hash_bytes``.

    Args:
        purpose: A constant that nothing else uses: who, what, and a version.
        data: What is hashed.
    """
    return PREFIX + blake3(data, derive_key_context=purpose).hexdigest()


def hash_fields(purpose: str, fields: Mapping[str, bytes]) -> str:
    """Return the digest of named values for one purpose, as ``blake3:<hex>``.

    No two mappings give one stream, however their names and values are cut: lengths
    stand before what they measure, and fields in the order of their names' bytes::

        stream := u64(number of fields)  { u64(len(name)) name  u64(len(value)) value }

    Args:
        purpose: As in ``hash_for``.
        fields: Name to value.
    """
    named = sorted((name.encode(), value) for name, value in fields.items())
    parts = [len(named).to_bytes(8, "big")]
    for name, value in named:
        parts += (len(name).to_bytes(8, "big"), name)
        parts += (len(value).to_bytes(8, "big"), value)
    return hash_for(purpose, b"".join(parts))


def hash_file(path: Path) -> str:
    """Return the digest of a file's bytes as ``blake3:<hex>``, in constant memory.

    Raises:
        OSError: It cannot be read.
    """
    hasher = blake3()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return PREFIX + hasher.hexdigest()


def hash_contents(files: Mapping[str, tuple[bytes | Path, bool]]) -> str:
    """Return what ``hash_tree`` gives for a tree of these files, once it is written.

    Args:
        files: POSIX path relative to the tree to its content, or a file that holds it,
            and whether it is executable.

    Raises:
        OSError: A file cannot be read.
        UnhashableEntryError: It changed while it was read.
        UnicodeEncodeError: A path has half of a surrogate pair.
    """
    hasher = blake3()
    for raw_path, name in sorted((name.encode(), name) for name in files):
        content, executable = files[name]
        tag = b"x" if executable else b"f"
        if isinstance(content, bytes):
            hasher.update(_header(tag, raw_path, len(content)) + content)
            continue
        status = content.stat()
        hasher.update(_header(tag, raw_path, status.st_size))
        _stream(hasher, os.path.realpath(content), name, status)
    return PREFIX + hasher.hexdigest()


def hash_tree(root: Path, *, exclude: str = "case.toml") -> TreeDigest:
    """Return the version 1 digest of the tree below ``root``, in constant memory.

    Args:
        root: A directory.
        exclude: The one relative path that is left out.

    Raises:
        UnhashableEntryError: A device, socket, FIFO, absolute link or link that leads
            out of ``root``, a name that is not UTF-8, or a file that changed meanwhile.
        OSError: The tree cannot be read.
    """
    top = os.fspath(root)
    hasher = blake3()
    entries: list[Entry] = []
    pending: list[bytes] = []
    pending_size = 0
    for raw_path, path, status in _walk(top, exclude):
        entries.append(_entry(path, status))
        full = f"{top}/{path}"
        tag = _tag(status)
        if tag == b"l":
            content = _link_target(top, path)
        elif status.st_size <= _CHUNK_BYTES:
            content = _read(full, path, status)
        else:
            pending.append(_header(tag, raw_path, status.st_size))
            hasher.update(b"".join(pending))
            pending, pending_size = [], 0
            _stream(hasher, full, path, status)
            continue
        pending += (_header(tag, raw_path, len(content)), content)
        pending_size += len(content)
        if pending_size > _CHUNK_BYTES:
            hasher.update(b"".join(pending))
            pending, pending_size = [], 0
    hasher.update(b"".join(pending))
    return TreeDigest(PREFIX + hasher.hexdigest(), tuple(entries))


def tree_entries(root: Path, *, exclude: str = "case.toml") -> tuple[Entry, ...]:
    """Return what ``hash_tree`` would have seen, without reading any content.

    Raises:
        UnhashableEntryError: As ``hash_tree``.
        OSError: The tree cannot be read.
    """
    walked = _walk(os.fspath(root), exclude)
    return tuple(_entry(path, status) for _, path, status in walked)


def hash_files(root: Path, *, exclude: str = "case.toml") -> dict[str, str]:
    """Return the digest of each single entry below ``root``, by relative path.

    Raises:
        UnhashableEntryError: As ``hash_tree``.
        OSError: The tree cannot be read.
    """
    top = os.fspath(root)
    digests = {}
    for _, path, status in _walk(top, exclude):
        hasher = blake3(_tag(status))
        if stat.S_ISLNK(status.st_mode):
            hasher.update(_link_target(top, path))
        else:
            _stream(hasher, f"{top}/{path}", path, status)
        digests[path] = PREFIX + hasher.hexdigest()
    return digests


def _tag(status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return b"l"
    return b"x" if status.st_mode & stat.S_IXUSR else b"f"


def _entry(path: str, status: os.stat_result) -> Entry:
    return Entry(
        path,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_mode,
    )


def _header(tag: bytes, raw_path: bytes, size: int) -> bytes:
    return b"%b%b%b%b" % (
        tag,
        len(raw_path).to_bytes(8, "big"),
        raw_path,
        size.to_bytes(8, "big"),
    )


def _walk(top: str, exclude: str) -> Iterator[tuple[bytes, str, os.stat_result]]:
    """Yield (path as bytes, path, lstat) of every entry, in the digest's order."""
    found: list[tuple[bytes, str, os.stat_result]] = []
    directories = [""]
    while directories:
        prefix = directories.pop()
        with os.scandir(f"{top}/{prefix}") as scan:
            for item in scan:
                path = prefix + item.name
                if path == exclude:
                    continue
                if item.is_dir(follow_symlinks=False):
                    directories.append(f"{path}/")
                    continue
                try:
                    raw_path = path.encode()
                except UnicodeEncodeError:
                    raise UnhashableEntryError(
                        os.fsencode(path).decode(errors="backslashreplace"),
                        "the name is not UTF-8; rename the file",
                    ) from None
                status = item.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(
                    status.st_mode
                ):
                    raise UnhashableEntryError(
                        path,
                        f"a {_kind(status.st_mode)} cannot be part of a case; only "
                        "files, directories and links can: remove it",
                    )
                found.append((raw_path, path, status))
    found.sort()
    return iter(found)


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISFIFO, "FIFO"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "character device"),
        (stat.S_ISBLK, "block device"),
    ):
        if test(mode):
            return name
    return "special file"


def _link_target(top: str, path: str) -> bytes:
    target = os.readlink(f"{top}/{path}")
    if target.startswith("/"):
        # It may lead into the case here; in another checkout it does not.
        raise UnhashableEntryError(
            path,
            f"the link is absolute, to {target!r}; make it relative, or put a copy of "
            "the file there instead",
        )
    real_top = os.path.realpath(top)
    try:
        real = os.path.realpath(f"{top}/{path}", strict=True)
    except FileNotFoundError:
        # A dangling link is judged by where it would lead.
        real = os.path.realpath(f"{top}/{path}")
    except OSError as exc:
        raise UnhashableEntryError(
            path, f"the link cannot be followed ({exc.strerror}); remove it"
        ) from exc
    if real != real_top and not real.startswith(f"{real_top}/"):
        raise UnhashableEntryError(
            path,
            f"the link leads out of the case, to {target!r}; "
            "put a copy of the file there instead",
        )
    return os.fsencode(target)


def _read(full: str, path: str, status: os.stat_result) -> bytes:
    # O_NOFOLLOW and O_NONBLOCK: the entry may have been replaced since the scan.
    fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        content = os.read(fd, status.st_size + 1)
    finally:
        os.close(fd)
    if len(content) != status.st_size:
        raise _changed(path)
    return content


def _stream(hasher: blake3, full: str, path: str, status: os.stat_result) -> None:
    buffer = memoryview(bytearray(_CHUNK_BYTES))
    total = 0
    fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, "rb", buffering=0) as file:
        while size := file.readinto(buffer):
            hasher.update(buffer[:size])
            total += size
    if total != status.st_size:
        raise _changed(path)


def _changed(path: str) -> UnhashableEntryError:
    return UnhashableEntryError(
        path, "the file changed while it was read; run again when nothing writes to it"
    )
