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
from collections.abc import Mapping
from pathlib import Path

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.registry import receiving_registrations


_lock = threading.RLock()
#: A registration that failed fails again without another import.
_registered: dict[Path, TaskClass | CodegenieError] = {}


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
            path = directory / "registration.py"
            if not path.is_file():
                raise TaskClassIncomplete(directory.name, path)
            try:
                _registered[directory] = _import_registration(directory)
            except CodegenieError as exc:
                _registered[directory] = exc
        found = _registered[directory]
    if isinstance(found, CodegenieError):
        raise found
    return found


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
    fault = _registration_fault(task_class)
    if fault:
        raise TaskClassIncomplete(name, directory / "registration.py", fault)
    return task_class


def _registration_fault(task_class: TaskClass) -> str:
    rubric = task_class.rubric_class
    if not isinstance(rubric, type):
        return f"what is decorated must be a rubric class, got {rubric!r}"
    if not callable(getattr(rubric, "score", None)):
        return (
            f"{rubric.__qualname__} is no rubric: it has no method "
            "score(case, harness_output) -> BenchScore"
        )
    tiers = task_class.min_cases_for_promotion
    if not isinstance(tiers, Mapping):
        return f"min_cases_for_promotion must map tiers to numbers, got {tiers!r}"
    return ""


def import_task_module(directory: Path, stem: str) -> types.ModuleType:
    """Import ``directory/<stem>.py`` as a module of the directory's private package.

    What the module prints while it is imported is dropped.

    Raises:
        TaskClassIncomplete: The file is missing, or importing it raised or exited.
        TaskClassAlreadyRegistered: It registers one name twice.
    """
    directory = directory.resolve()
    path = directory / f"{stem}.py"
    if not path.is_file():
        raise TaskClassIncomplete(directory.name, path)
    with _lock, _siblings_importable(directory), _silenced():
        try:
            return importlib.import_module(f"{_package(directory)}.{stem}")
        except (KeyboardInterrupt, TaskClassAlreadyRegistered):
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
    """Let ``import rubric`` find the directory's own rubric.py, for the block only.

    So too for a package of its own, with what is in it.
    """
    own = {
        path.stem
        for path in directory.iterdir()
        if path.suffix == ".py" or path.is_dir()
    }
    hidden = _taken_from_modules(own)
    entry = str(directory)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)
        _taken_from_modules(own)
        sys.modules.update(hidden)


def _taken_from_modules(names: set[str]) -> dict[str, types.ModuleType]:
    taken = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in taken}


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
    try:
        message = str(exc)
    except Exception:
        # Its own __str__ may raise anything.
        message = "(a message that cannot be shown)"
    if isinstance(exc, SyntaxError):
        line = ""  # its message has it
    remedy = "mend the module"
    if isinstance(exc, ModuleNotFoundError):
        remedy = f"install {exc.name!r} or mend the module"
    return f"importing it raised {type(exc).__name__}: {message}{line}; {remedy}"
