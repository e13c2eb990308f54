"""Rows in JSON: one a line, in an array, or by name; a few in memory at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import BinaryIO

from pytest_codegenie.datasets.reading.row import Row
from pytest_codegenie.datasets.reading.row import type_name
from pytest_codegenie.datasets.reading.streams import MAX_ROW_BYTES
from pytest_codegenie.datasets.reading.streams import decoded
from pytest_codegenie.datasets.reading.streams import first_bytes
from pytest_codegenie.datasets.reading.streams import open_rows
from pytest_codegenie.errors import DatasetError


_BLOCK_BYTES = 1 << 20
#: An error this close to the end of what was read may be only that more is to come:
#: the longest of what JSON has no middle of is ``-Infinity``, or an escaped pair.
_UNDECIDED = 16
#: How far a file is looked into for the end of its first line.
_FIRST_LINE = 16 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_TOO_LONG = (
    f"a row of more than {MAX_ROW_BYTES >> 20} MiB: this is no file of rows, or a "
    "quote or bracket is missing"
)


def json_rows(path: Path, name: str, *, lines: bool) -> Iterator[Row]:
    """Yield the rows of a JSON file, whichever layout it has.

    Args:
        path: The file.
        name: As places call it.
        lines: Whether its suffix says that it has a row a line.

    Raises:
        DatasetError: It is not JSON, or holds something else than objects.
    """
    first = first_bytes(path, name, 1)
    if not first:
        raise DatasetError(name, "", "the file is empty; nothing can be imported")
    if first == b"[":
        return _array_rows(path, name)
    if lines or _has_lines(path, name):
        return _line_rows(path, name)
    return _object_rows(path, name)


def _line_rows(path: Path, name: str) -> Iterator[Row]:
    with open_rows(path, name) as stream:
        number = 0
        while data := stream.readline(MAX_ROW_BYTES + 1):
            number += 1
            place = f"{name}, line {number}"
            if len(data) > MAX_ROW_BYTES:
                raise DatasetError(place, "", _TOO_LONG)
            data = data.rstrip(b"\r\n")
            if data and not data.isspace():
                yield Row(place, _object(_loads(decoded(data, place), place), place))


def _loads(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise DatasetError(
            place, "", f"not JSON: {exc.msg} (column {exc.colno}); {_found(text, exc)}"
        ) from None
    except RecursionError:
        raise DatasetError(place, "", "not usable JSON: nested too deeply") from None
    except ValueError as exc:
        # A number with thousands of digits.
        raise DatasetError(place, "", f"not usable JSON: {exc}") from None


def _found(text: str, exc: json.JSONDecodeError) -> str:
    rest = text[exc.pos : exc.pos + 12].strip()
    return f"found {rest!r}" if rest else "the line ends there"


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DatasetError(
            place, "", f"a row is an object, {{...}}; this is {type_name(value)}"
        )
    return value


def _has_lines(path: Path, name: str) -> bool:
    """Tell whether a file has an object on its first line and more below.

    Many a ``.json`` has a row a line.
    """
    with open_rows(path, name) as stream:
        line = b""
        while line.isspace() or not line:
            line = stream.readline(_FIRST_LINE)
            if not line:
                return False
        if not line.endswith(b"\n"):
            return False
        try:
            whole = isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            return False
        return whole and any(not more.isspace() for more in iter(stream.readline, b""))


def _array_rows(path: Path, name: str) -> Iterator[Row]:
    with open_rows(path, name) as stream:
        text = _Text(stream, name)
        text.expect("[")
        number = 0
        while not (number == 0 and text.peek() == "]"):
            number += 1
            text.place = place = f"{name}, row {number}"
            yield Row(place, _object(text.value(), place))
            if text.expect(",]") == "]":
                break
        else:
            text.expect("]")
        text.end()


def _object_rows(path: Path, name: str) -> Iterator[Row]:
    """Yield the rows of an object: of its members, or the object itself as the one."""
    with open_rows(path, name) as stream:
        text = _Text(stream, name)
        text.expect("{")
        number = 0
        alone: dict[str, Any] = {}
        while not (number == 0 and text.peek() == "}"):
            number += 1
            text.place = f"{name}, row {number}"
            key = text.key()
            text.expect(":")
            value = text.value()
            if alone or (number == 1 and not isinstance(value, dict)):
                alone[key] = value
            else:
                place = f"{name}, row {number} ({key})"
                yield Row(place, _object(value, place), key)
            if text.expect(",}") == "}":
                break
        else:
            text.expect("}")
        text.end()
        if alone:
            yield Row(f"{name}, row 1", alone)


class _Text:
    """A JSON text that is read as it is taken, value by value."""

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._buffer = ""
        self._position = 0
        self._ended = False
        #: Of what was let go: its line ends, and what stands behind the last of them.
        self._lines, self._columns = 0, 0
        #: Where an error is.
        self.place = place

    def peek(self) -> str:
        """Return the next character that is no white space; "" at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._position)
            assert found is not None
            self._position = found.end()
            if self._position < len(self._buffer):
                return self._buffer[self._position]
            if not self._read(_BLOCK_BYTES):
                return ""

    def expect(self, characters: str) -> str:
        """Take one of these characters, and return it."""
        found = self.peek()
        if not found or found not in characters:
            wanted = " or ".join(repr(character) for character in characters)
            raise self._error(f"expecting {wanted}", self._position)
        self._position += 1
        return found

    def end(self) -> None:
        """Refuse anything but white space in the rest."""
        if self.peek():
            raise self._error("there is more behind the end", self._position)

    def key(self) -> str:
        """Take a key."""
        if self.peek() != '"':
            raise self._error("expecting a key in double quotes", self._position)
        key: str = self.value()
        return key

    def value(self) -> Any:
        """Take a value."""
        self.peek()
        size = _BLOCK_BYTES
        while True:
            start = self._position
            try:
                value, end = _DECODER.raw_decode(self._buffer, start)
                # A number may go on in what was not read yet; the others have an end.
                if end < len(self._buffer) or self._buffer[end - 1] in '}]"':
                    self._position = end
                    return value
                if not self._read(size):
                    self._position += end - start
                    return value
            except json.JSONDecodeError as exc:
                cut = exc.msg.startswith("Unterminated string")
                near = len(self._buffer) - exc.pos <= _UNDECIDED
                if not ((cut or near) and self._read(size)):
                    place = exc.pos - start + self._position
                    raise self._error(exc.msg, place) from None
            except RecursionError:
                raise DatasetError(
                    self.place, "", "not usable JSON: nested too deeply"
                ) from None
            except ValueError as exc:
                # A number with thousands of digits.
                raise DatasetError(self.place, "", f"not usable JSON: {exc}") from None
            # Twice as much each time, or a long row would be begun too often.
            size *= 2

    def _read(self, size: int) -> bool:
        """Let go of what was taken, and read on; return whether there was more."""
        if self._ended:
            return False
        self._let_go()
        if len(self._buffer) > MAX_ROW_BYTES:
            raise DatasetError(self.place, "", _TOO_LONG)
        data = self._stream.read(size)
        self._ended = not data
        try:
            self._buffer += self._decode(data, self._ended)
        except UnicodeDecodeError as exc:
            byte = exc.object[exc.start]
            raise DatasetError(
                self.place,
                "",
                f"not UTF-8, here or soon after (byte 0x{byte:02x}); save the file as "
                "UTF-8",
            ) from None
        return not self._ended

    def _let_go(self) -> None:
        lines, columns = self._counted(self._position)
        self._lines, self._columns = self._lines + lines, columns
        self._buffer = self._buffer[self._position :]
        self._position = 0

    def _counted(self, end: int) -> tuple[int, int]:
        """Return the line ends before a position, and the columns behind the last."""
        lines = self._buffer.count("\n", 0, end)
        if not lines:
            return 0, self._columns + end
        return lines, end - self._buffer.rindex("\n", 0, end) - 1

    def _error(self, message: str, position: int) -> DatasetError:
        lines, columns = self._counted(position)
        rest = self._buffer[position : position + 12].strip()
        found = f"found {rest!r}" if rest else "the file ends there"
        return DatasetError(
            self.place,
            "",
            f"not JSON: {message} (line {self._lines + lines + 1}, column "
            f"{columns + 1}); {found}",
        )
