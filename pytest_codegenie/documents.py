"""TOML and YAML files as this project reads and writes them: strictly, atomically."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import tomli
import yaml


#: More than any real case.toml or digests.yaml; a larger file is a mistake.
MAX_DOCUMENT_BYTES = 8 << 20
#: Deeper than any of our documents; libyaml's recursion would overrun the stack.
MAX_DEPTH = 1000


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
            data = b""
            # By blocks: asking for all that may be would allocate it each time.
            while len(data) <= MAX_DOCUMENT_BYTES and (block := os.read(fd, 1 << 16)):
                data += block
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise DocumentError(path, "missing") from None
    except OSError as exc:
        raise DocumentError(path, f"cannot be read: {exc.strerror}") from exc
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentError(
            path, f"larger than {MAX_DOCUMENT_BYTES >> 20} MiB, the most that is read"
        )
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
    text = read_text(path)
    try:
        return tomli.loads(text)
    except RecursionError:
        raise DocumentError(path, "not TOML: nested too deeply") from None
    except ValueError as exc:
        # TOMLDecodeError, or what Python says of a number with thousands of digits.
        raise DocumentError(path, f"not TOML: {exc}") from exc


def read_yaml(path: Path) -> Any:
    """Return a YAML file's value, by the C loader where there is one.

    Raises:
        DocumentError: As ``read_text``, it is not YAML, or a key stands twice.
    """
    text = read_text(path)
    try:
        return parse_yaml(text)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        line = f" (line {mark.line + 1})" if mark else ""
        raise DocumentError(path, f"not usable YAML: {exc.problem}{line}") from exc
    except RecursionError:
        raise DocumentError(path, "not usable YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError) as exc:
        reason = " ".join(str(exc).split())
        raise DocumentError(path, f"not usable YAML: {reason}") from exc


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        yaml.YAMLError: It is not YAML, or a key stands twice.
        ValueError: A scalar in it is no number or date, though it looks like one.
        RecursionError: It is nested too deeply.
    """
    _refuse_depth(text)
    return yaml.load(text, _UniqueKeyLoader)  # noqa: S506 -- a safe loader


def _refuse_depth(text: str) -> None:
    # Each level takes a bracket, or a column more: most texts need no closer look.
    brackets = text.count("[") + text.count("{")
    if brackets < MAX_DEPTH and max(map(len, text.split("\n"))) < MAX_DEPTH:
        return
    depth = 0
    for event in yaml.parse(text, Loader=_BaseLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise RecursionError
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def write_atomically(
    path: Path, data: str | bytes, *, mode: int = 0o644, durable: bool = True
) -> None:
    """Replace ``path`` by ``data``: a reader sees the old file or the new, whole.

    Args:
        path: The file; its directory is there.
        data: Its content.
        mode: Of the file.
        durable: False: nobody waits for the disk, and what a power cut leaves of the
            file may be anything. For what a reader can check, and make again.

    Raises:
        OSError: It cannot be written; ``path`` is as it was.
    """
    if isinstance(data, str):
        data = data.encode()
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)
            if durable:
                os.fsync(fd)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename or a new file in ``directory`` durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


_BaseLoader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_BaseLoader):  # type: ignore[misc]  # C or Python, see above
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(
                None, None, "this is no mapping", node.start_mark
            )
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # "<<" is no key, and may stand beside what it brings
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
