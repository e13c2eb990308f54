"""The task class that imported cases go into: a default one where none is there."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from string import Template

from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.registry import NAME_PATTERN


_README = Template("""\
# $title

What is measured: whether an agent solves the instances of `$source`.

The cases were made by `codegenie import $format`. Each says in `expected/origin.toml`
which instance it was. Do not edit them: import them again.

The rubric is the default one: half of the score is for what had to change, half for
what had to stay. Change `rubric.py` as you like; imports leave it alone.
""")


class TaskClassTaken(TaskClassIncomplete):
    """A directory is there, and is no task class."""


def make_task_class(directory: Path, format_name: str, source: str) -> None:
    """Make a task class with the default rubric and no case, unless it is there.

    Args:
        directory: Of the task class; its name is the task class's.
        format_name: As in ``codegenie import FORMAT``.
        source: Name of what the cases come from.

    Raises:
        TaskClassTaken: The directory holds something else.
        ScaffoldError: Its name is none for a task class.
        OSError: It cannot be written.
    """
    if is_task_class(directory):
        return
    directory.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(directory.parent, lambda: None):
        # Another import may have made it meanwhile.
        if not is_task_class(directory):
            _make(directory, format_name, source)


def _make(directory: Path, format_name: str, source: str) -> None:
    if directory.is_dir():
        with contextlib.suppress(OSError):
            directory.rmdir()  # if it is empty
    if directory.exists() or directory.is_symlink():
        raise TaskClassTaken(
            directory.name,
            directory,
            "is there, and is no task class; name one that is, or a new directory",
        )
    title = " ".join(directory.name.split("-")).capitalize()
    readme = _README.substitute(title=title, format=format_name, source=source)
    new_task_class(directory.name, directory.parent, texts={"README.md": readme})


def name_fault(directory: Path) -> str:
    """Say why a directory cannot be a task class's; "" if it can."""
    if NAME_PATTERN.fullmatch(directory.name):
        return ""
    return (
        f"{directory.name!r} is not a task class name; use lower-case letters, digits "
        "and '-', such as bench/swe-bench-lite"
    )


@contextlib.contextmanager
def alone_in(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold off every other import into a directory for the block.

    The kernel lets go of it when the holder dies, by ``kill -9`` too, and no file is
    left behind. Signing, which locks ``cases/``, is not held off.

    Args:
        directory: Of a task class.
        waiting: Called once if another import has it.

    Raises:
        OSError: It cannot be opened.
    """
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
