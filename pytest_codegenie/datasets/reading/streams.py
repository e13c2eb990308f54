"""Opening files of rows: compressed or not, with errors that name the file."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from typing import cast

from pytest_codegenie.errors import DatasetError


#: More than any real row; a longer one is a file of some other kind.
MAX_ROW_BYTES = 256 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@contextlib.contextmanager
def open_rows(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file for the block, unpacked if it is gzip, behind a byte order mark.

    Args:
        path: The file.
        name: As messages call it.

    Raises:
        DatasetError: It cannot be read, inside of the block too.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == _GZIP_MAGIC
            stream = cast(
                BinaryIO,
                io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw,
            )
            if cast(io.BufferedReader, stream).peek(3)[:3] == _BOM:
                stream.read(3)
            yield stream
    except EOFError:
        raise DatasetError(
            name, "", "the gzip file is cut off; get it again, whole"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as exc:
        raise DatasetError(
            name, "", f"the gzip file is damaged ({exc}); get it again"
        ) from None
    except OSError as exc:
        raise DatasetError(name, "", f"cannot be read: {exc.strerror or exc}") from exc


def first_bytes(path: Path, name: str, count: int) -> bytes:
    """Return the first bytes of a file, unpacked, white space at its start left out.

    Raises:
        DatasetError: It cannot be read.
    """
    with open_rows(path, name) as stream:
        data = b""
        while len(data) < count and (block := stream.read(1 << 12)):
            data = (data + block).lstrip()
        return data[:count]


def decoded(data: bytes, place: str) -> str:
    """Return the text of one row's bytes.

    Raises:
        DatasetError: They are not UTF-8, or hold NUL bytes.
    """
    if b"\0" in data:
        raise DatasetError(
            place, "", "holds NUL bytes: the file is damaged, or of another kind"
        )
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        raise DatasetError(
            place,
            "",
            f"not UTF-8 (column {exc.start + 1}, byte 0x{data[exc.start]:02x}); save "
            "the file as UTF-8",
        ) from None
