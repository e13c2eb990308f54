"""Tasks that are directories with an image: what Harbor and Terminal-Bench share."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.reading.row import type_name
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.models import Difficulty


#: What a case of these formats cannot hold; for whoever reads where it comes from.
WHAT_IS_JUDGED = (
    "what the agent changed below the image's working directory; what it does "
    "elsewhere in the container (installed packages, services) is not carried over"
)
#: Never part of a task.
_LITTER = frozenset({".DS_Store", ".git", "__pycache__"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_CANARY = re.compile(r"^(?:<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)
_DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a task's settings, and where it stands."""

    #: Of the file, as a person finds it.
    place: str
    data: Mapping[str, Any]
    #: Of the table, with the dot: ``environment.``.
    prefix: str = ""

    def fault(self, key: str, reason: str) -> DatasetError:
        """Return the error for a key."""
        return DatasetError(self.place, f"{self.prefix}{key}", reason)

    def table(self, key: str) -> Table:
        """Return a table of this one; an empty one where it is missing."""
        value = self.data.get(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.fault(key, f"must be a table, is {type_name(value)}")
        return Table(self.place, value, f"{self.prefix}{key}.")

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.fault(key, f"must be text, is {type_name(value)}")
        return value

    def seconds(self, key: str, default: float | None = None) -> float | None:
        """Return a number above 0."""
        value = self.data.get(key)
        if value is None:
            return default
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value < float("inf"):
            raise self.fault(key, f"must be a number of seconds above 0, is {value!r}")
        return float(value)

    def texts(self, key: str) -> list[str]:
        """Return the texts of a list; one text stands for a list of it."""
        value = self.data.get(key)
        if value is None:
            return []
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fault(key, "must be a list of texts")
        return value

    def variables(self, key: str) -> dict[str, str]:
        """Return environment variables; ``${NAME:-value}`` is ``value``.

        Raises:
            DatasetError: One would be taken from the machine that runs the task.
        """
        table = self.table(key)
        return {name: table.variable(name) for name in table.data}

    def variable(self, name: str) -> str:
        """Return the value of one environment variable."""
        value = self.data[name]
        if isinstance(value, bool | int | float):
            value = str(value)
        if not isinstance(value, str) or not _VARIABLE.fullmatch(name):
            raise self.fault(name, f"is no environment variable: {value!r}")
        template = _TEMPLATE.fullmatch(value)
        if template and template[2] is None:
            raise self.fault(
                name,
                f"takes {value} from the machine, and a case gives no variables of the "
                "machine to its tests; put the value itself there",
            )
        text: str = template[2] if template else value
        if "\n" in text or "\0" in text:
            raise self.fault(name, "holds a line break, which is not carried over")
        return text

    def unknown(self, known: tuple[str, ...]) -> list[str]:
        """Return the keys that are not among those given, with the table's name."""
        return [
            f"{self.prefix}{key}"
            for key, value in self.data.items()
            if key not in known and value not in (None, "", [], {})
        ]


def find_tasks(source: str, marks: tuple[str, ...]) -> Iterator[Instance]:
    """Yield the tasks of a directory, or the directory itself if it is one.

    Args:
        source: The directory.
        marks: Files of which a task has one.

    Raises:
        DatasetError: There is no task.
    """
    top = Path(source)
    names = " or ".join(marks)
    if not top.is_dir():
        fault = "is no directory" if top.exists() else "is not there"
        raise DatasetError(relative(top), "", f"{fault}; a task has {names}")
    found = [top] if _is_task(top, marks) else []
    if not found:
        found = [path for path in sorted(top.iterdir()) if _is_task(path, marks)]
    if not found:
        raise DatasetError(
            relative(top),
            "",
            f"holds no task: neither it nor a directory in it has {names}",
        )
    for path in found:
        yield Instance(path.resolve().name, relative(path), str(path.resolve()))


def _is_task(path: Path, marks: tuple[str, ...]) -> bool:
    return any((path / mark).is_file() for mark in marks)


def copied(
    task: Path,
    name: str,
    target: str,
    *,
    but: tuple[str, ...] = (),
    runs: bool = False,
) -> dict[str, FileContent]:
    """Return the files of a directory of a task, for a directory of the case.

    A link is followed where it stays in the task.

    Args:
        task: The task's directory.
        name: Of the directory in it; "": all of it.
        target: POSIX path relative to the case.
        but: What is left out at the top.
        runs: Scripts can be executed, whatever modes they have.

    Raises:
        DatasetError: A link leads out of the task, or something is no file.
    """
    top = task / name
    files: dict[str, FileContent] = {}
    for directory, directories, names in os.walk(top):
        here = Path(directory)
        directories[:] = sorted(set(directories) - _LITTER)
        if here == top:
            directories[:] = [one for one in directories if one not in but]
            names = [one for one in names if one not in but]  # noqa: PLW2901
        for one in (*names, *directories):
            path = here / one
            if one in _LITTER or (path.is_dir() and not path.is_symlink()):
                continue
            inside = PurePosixPath(target, path.relative_to(top).as_posix())
            files[str(inside)] = _file(task, path, runs=runs)
    return files


def _file(task: Path, path: Path, *, runs: bool) -> FileContent:
    real = path.resolve()
    place = relative(path)
    if not real.is_relative_to(task.resolve()):
        raise DatasetError(place, "", f"is a link out of the task, to {real}")
    try:
        status = real.stat()
    except OSError as exc:
        raise DatasetError(place, "", f"cannot be read: {exc.strerror}") from exc
    if not stat.S_ISREG(status.st_mode):
        raise DatasetError(
            place, "", "is no file, or a link to a directory; put the files there"
        )
    executable = bool(status.st_mode & 0o100) or (runs and path.suffix == ".sh")
    return FileContent(real, executable=executable)


def with_variables(dockerfile: str, variables: Mapping[str, str]) -> str:
    """Return a Dockerfile whose image has environment variables too."""
    lines = [f"ENV {name}={_quoted(value)}\n" for name, value in variables.items()]
    gap = "" if not lines or dockerfile.endswith("\n") else "\n"
    return dockerfile + gap + "".join(lines)


def _quoted(value: str) -> str:
    return '"' + re.sub(r'(["\\$])', r"\\\1", value) + '"'


def command_with(variables: Mapping[str, str], *command: str) -> list[str]:
    """Return a command that is started with environment variables."""
    values = [f"{name}={value}" for name, value in variables.items()]
    return ["env", *values, *command] if values else list(command)


def without_canary(text: str) -> str:
    """Return an instruction without the canary lines that it begins with."""
    lines = text.split("\n")
    while lines and (_CANARY.match(lines[0].strip())):
        lines.pop(0)
        while lines and not lines[0].strip():
            lines.pop(0)
    return "\n".join(lines)


def difficulty_of(word: object) -> Difficulty:
    """Return a task's difficulty; ``medium`` where it is not said in our words."""
    text = word.strip().lower() if isinstance(word, str) else ""
    return next((one for one in _DIFFICULTIES if one == text), "medium")


def tags_of(*words: str) -> tuple[str, ...]:
    """Return tags, each once."""
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def told(values: Mapping[str, Any]) -> dict[str, str]:
    """Return what there is to tell, as text: keys of ``expected/origin.toml``."""
    return {
        key: ", ".join(value) if isinstance(value, list) else str(value)
        for key, value in values.items()
        if value not in (None, "", [], {})
    }
