"""A pack of git objects, written without running git: see gitformat-pack(5)."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import struct
import zlib
from collections import Counter
from pathlib import Path
from typing import Self


#: Number of a kind of object in a pack.
_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3}
#: What one block of a zlib stream holds uncompressed, and what of a file is held in
#: memory. What is larger is compressed.
STORED_BYTES = 0xFFFF
_READ_BYTES = 1 << 20
#: From here on an offset is a row of a table of large ones, which the bit says.
_LARGE_OFFSET = 1 << 31
_IN_TABLE = 1 << 31

sha1 = functools.partial(hashlib.sha1, usedforsecurity=False)


class Pack:
    """A pack in the making; leaving the block names it and writes its index.

    Args:
        directory: Gets both files; ``objects/pack`` of a git directory.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / "tmp_pack"
        self._file = self._path.open("w+b")
        self._file.write(_pack_header(0))
        #: Object id to (CRC-32, offset).
        self._places: dict[bytes, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self._finish()

    def add(self, kind: bytes, content: bytes) -> bytes:
        """Add an object of a kind (commit, tree, blob); return its id."""
        size = len(content)
        object_id = sha1(b"%s %d\0%s" % (kind, size, content)).digest()
        if object_id not in self._places:
            data = _object_header(kind, size) + _deflated(content)
            self._places[object_id] = zlib.crc32(data), self._file.tell()
            self._file.write(data)
        return object_id

    def add_large(self, fd: int, size: int) -> bytes:
        """Add a blob that is read piece by piece; return its id.

        Raises:
            OSError: The file cannot be read, or has another size by now.
        """
        start = self._file.tell()
        hasher = sha1(b"blob %d\0" % size)
        compressor = zlib.compressobj(1)
        crc = self._write(_object_header(b"blob", size), 0)
        left = size
        while data := os.read(fd, _READ_BYTES):
            left -= len(data)
            hasher.update(data)
            crc = self._write(compressor.compress(data), crc)
        if left:
            raise OSError(f"a file of {size} bytes changed while it was read")
        crc = self._write(compressor.flush(), crc)
        object_id = hasher.digest()
        if object_id in self._places:
            self._file.seek(start)
            self._file.truncate()
        else:
            self._places[object_id] = crc, start
        return object_id

    def _write(self, data: bytes, crc: int) -> int:
        self._file.write(data)
        return zlib.crc32(data, crc)

    def _finish(self) -> None:
        self._file.seek(0)
        self._file.write(_pack_header(len(self._places)))
        self._file.seek(0)
        checksum = hashlib.file_digest(self._file, sha1).digest()
        self._file.write(checksum)
        name = f"pack-{checksum.hex()}"
        self._path.rename(self._directory / f"{name}.pack")
        index = self._index(checksum)
        (self._directory / f"{name}.idx").write_bytes(index)

    def _index(self, checksum: bytes) -> bytes:
        """Return where each object is, in order of their ids."""
        ids = sorted(self._places)
        counts = Counter(object_id[0] for object_id in ids)
        totals = itertools.accumulate(counts[byte] for byte in range(256))
        places = [self._places[object_id] for object_id in ids]
        large = [offset for _, offset in places if offset >= _LARGE_OFFSET]
        rows = itertools.count(_IN_TABLE)
        offsets = (
            offset if offset < _LARGE_OFFSET else next(rows) for _, offset in places
        )
        return summed(
            struct.pack(">4sI256I", b"\xfftOc", 2, *totals),
            *ids,
            struct.pack(f">{len(ids)}I", *(crc for crc, _ in places)),
            struct.pack(f">{len(ids)}I", *offsets),
            struct.pack(f">{len(large)}Q", *large),
            checksum,
        )


def summed(*parts: bytes) -> bytes:
    """Join parts of a file of git's that ends in the SHA-1 of what is before."""
    data = b"".join(parts)
    return data + sha1(data).digest()


def _pack_header(objects: int) -> bytes:
    return struct.pack(">4sII", b"PACK", 2, objects)


def _object_header(kind: bytes, size: int) -> bytes:
    """Return kind and size by 4, then by 7 bits; the high bit: there are more."""
    header = bytearray()
    byte = _KINDS[kind] << 4 | size & 0xF
    size >>= 4
    while size:
        header.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    header.append(byte)
    return bytes(header)


def _deflated(content: bytes) -> bytes:
    """Return content as a zlib stream; of one stored block, if it fits in one.

    ``zlib.compress(content, 0)`` does the same and takes longer, for setting up.
    """
    size = len(content)
    if size > STORED_BYTES:
        return zlib.compress(content, 1)
    block = struct.pack("<BHH", 1, size, size ^ 0xFFFF)
    return b"\x78\x01%s%s%s" % (
        block,
        content,
        struct.pack(">I", zlib.adler32(content)),
    )
