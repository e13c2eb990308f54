"""TOML and YAML files as this project reads and writes them: strictly, atomically."""

from __future__ import annotations

import os
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import yaml


#: More than any real case.toml or digests.yaml; a larger file is a mistake.
MAX_DOCUMENT_BYTES = 8 << 20


class DocumentError(Exception):
    """A file is not the document it should be; ``reason`` says why, with the line."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file without a byte order mark.

    Raises:
        DocumentError: It is missing, no regular file, too large or not UTF-8.
    """
    try:
        # O_NONBLOCK, so that a FIFO cannot hold the run up.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode):
                kind = "a directory" if stat.S_ISDIR(mode) else "a special file"
                raise DocumentError(path, f"is {kind}, not a regular file")
            with open(fd, "rb", closefd=False) as file:
                data = file.read(MAX_DOCUMENT_BYTES + 1)
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise DocumentError(path, "missing") from None
    except OSError as exc:
        raise DocumentError(path, f"cannot be read: {exc.strerror}") from exc
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentError(path, f"larger than {MAX_DOCUMENT_BYTES} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise DocumentError(
            path, "starts with a byte order mark; save it as UTF-8 without BOM"
        )
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise DocumentError(
            path, f"not UTF-8 (line {line}, byte 0x{data[exc.start]:02x})"
        ) from exc


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's table.

    Raises:
        DocumentError: As ``read_text``, or it is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise DocumentError(path, f"not TOML: {exc}") from exc


def read_yaml(path: Path) -> Any:
    """Return a YAML file's value, by the C loader where there is one.

    Raises:
        DocumentError: As ``read_text``, it is not YAML, or a key stands twice.
    """
    try:
        return yaml.load(read_text(path), _UniqueKeyLoader)  # noqa: S506 -- a safe loader
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        line = f" (line {mark.line + 1})" if mark else ""
        raise DocumentError(path, f"not usable YAML: {exc.problem}{line}") from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise DocumentError(path, f"not usable YAML: {exc}") from exc


def write_atomically(path: Path, data: str | bytes, *, mode: int = 0o644) -> None:
    """Replace ``path`` by ``data``: a reader sees the old file or the new, whole.

    Raises:
        OSError: It cannot be written; ``path`` is as it was.
    """
    if isinstance(data, str):
        data = data.encode()
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename or a new file in ``directory`` durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


_BaseLoader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_BaseLoader):  # type: ignore[misc] -- C or Python, chosen above
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            try:
                duplicate = key in seen
            except TypeError:
                continue  # unhashable: the base class says so, with its line
            if duplicate:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping
