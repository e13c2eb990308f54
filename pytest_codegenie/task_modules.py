"""Importing a task class's own Python without leaving a trace elsewhere.

Each task class directory becomes a private package, so two task classes never meet in
``sys.modules`` and nothing stays on ``sys.path``. The corpus loader and the rubric's
own process both come in here.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.registry import receiving_registrations


_lock = threading.RLock()
_registered: dict[Path, TaskClass] = {}


def import_registration(directory: Path) -> TaskClass:
    """Return the task class that ``directory/registration.py`` registers.

    The module is imported once per process, however often this is called.

    Raises:
        TaskClassIncomplete: There is no registration.py, or it cannot be imported.
        TaskClassNotFound: It registers nothing, or only other names.
        TaskClassAlreadyRegistered: It registers more than one name.
    """
    directory = directory.resolve()
    with _lock:
        if directory not in _registered:
            _registered[directory] = _import_registration(directory)
        return _registered[directory]


def _import_registration(directory: Path) -> TaskClass:
    name = directory.name
    with receiving_registrations() as received:
        import_task_module(directory, "registration")
    place = f"{name}/registration.py"
    if name not in received:
        raise TaskClassNotFound(name, received.names(), place=place)
    for other in received:
        if other.name != name:
            raise TaskClassAlreadyRegistered(
                name, f"{place} as {name!r}", f"{place} as {other.name!r}"
            )
    task_class = received.get(name)
    if not callable(getattr(task_class.rubric_class, "score", None)):
        raise TaskClassIncomplete(
            name,
            directory / "rubric.py",
            f"{task_class.rubric_class.__qualname__} is no rubric: it has no method "
            "score(case, harness_output) -> BenchScore",
        )
    return task_class


def import_task_module(directory: Path, stem: str) -> types.ModuleType:
    """Import ``directory/<stem>.py`` as a module of the directory's private package.

    What the module prints while it is imported is dropped.

    Raises:
        TaskClassIncomplete: The file is missing, or importing it raised or exited.
    """
    directory = directory.resolve()
    path = directory / f"{stem}.py"
    if not path.is_file():
        raise TaskClassIncomplete(directory.name, path)
    with _lock, _siblings_importable(directory), _silenced():
        try:
            return importlib.import_module(f"{_package(directory)}.{stem}")
        except KeyboardInterrupt:
            raise
        except BaseException as exc:
            # Somebody else's module may raise anything, SystemExit too.
            raise TaskClassIncomplete(
                directory.name, path, _reason(exc, directory)
            ) from exc


def _package(directory: Path) -> str:
    """Return the name of the directory's private package, which exists afterwards."""
    digest = hashlib.sha256(str(directory).encode()).hexdigest()[:12]
    name = f"_codegenie_{directory.name.replace('-', '_')}_{digest}"
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = [str(directory)]
        sys.modules[name] = package
    return name


@contextlib.contextmanager
def _siblings_importable(directory: Path) -> Iterator[None]:
    """Let ``import rubric`` find the directory's own rubric.py, for the block only."""
    stems = {path.stem for path in directory.glob("*.py")}
    hidden = {stem: sys.modules.pop(stem) for stem in stems if stem in sys.modules}
    entry = str(directory)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)
        for stem in stems:
            sys.modules.pop(stem, None)
        sys.modules.update(hidden)


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield


def _reason(exc: BaseException, directory: Path) -> str:
    """Say what went wrong and on which of the task class's own lines."""
    line = ""
    traceback = exc.__traceback__
    while traceback is not None:
        filename = Path(traceback.tb_frame.f_code.co_filename)
        if filename.parent == directory:
            line = f" ({filename.name}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    if isinstance(exc, SyntaxError) and exc.lineno:
        line = f" ({Path(exc.filename or '').name}, line {exc.lineno})"
    return f"importing it raised {type(exc).__name__}: {exc}{line}; mend the module"
