"""Task classes and where they are registered. Standard library only."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import TypeVar

from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassNotFound


NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]*")

RubricClass = TypeVar("RubricClass", bound=type)


@dataclass(frozen=True, slots=True)
class TaskClass:
    """A kind of work: where its cases are and how they are scored."""

    name: str
    #: The task class's own directory.
    bench_path: Path
    #: Tier to the number of cases that a promotion to it needs.
    min_cases_for_promotion: Mapping[str, int]
    rubric_class: type[Any]
    #: None until the loader has read ``breakdown_keys.py``.
    breakdown_keys: Iterable[str] | None
    #: Code to ``{"severity": ..., "description": ...}``; None until the loader has
    #: read ``failure_modes.yaml``.
    failure_mode_taxonomy: Mapping[str, Mapping[str, str]] | None


class TaskClassRegistry:
    """Task classes by name; a name is given once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._classes: dict[str, TaskClass] = {}

    def register(self, task_class: TaskClass) -> None:
        """Add a task class.

        Raises:
            TaskClassAlreadyRegistered: The name is taken; nothing is changed.
        """
        with self._lock:
            existing = self._classes.get(task_class.name)
            if existing is not None:
                raise TaskClassAlreadyRegistered(
                    task_class.name,
                    _qualname(existing.rubric_class),
                    _qualname(task_class.rubric_class),
                )
            self._classes[task_class.name] = task_class

    def get(self, name: str) -> TaskClass:
        """Return the task class of that name.

        Raises:
            TaskClassNotFound: There is none.
        """
        try:
            return self._classes[name]
        except KeyError:
            raise TaskClassNotFound(name, self.names()) from None

    def names(self) -> tuple[str, ...]:
        """Return the registered names, sorted."""
        return tuple(sorted(self._classes))

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[TaskClass]:
        return iter([self._classes[name] for name in self.names()])

    def __len__(self) -> int:
        return len(self._classes)


default_registry = TaskClassRegistry()

#: Where ``register_task_class`` puts a class while a registration.py is imported.
_receiving: ContextVar[TaskClassRegistry | None] = ContextVar("receiving", default=None)


@contextmanager
def receiving_registrations() -> Iterator[TaskClassRegistry]:
    """Collect what is registered in the block into a registry of its own."""
    registry = TaskClassRegistry()
    token = _receiving.set(registry)
    try:
        yield registry
    finally:
        _receiving.reset(token)


def register_task_class(
    name: str,
    *,
    bench_path: Path | str,
    min_cases_for_promotion: Mapping[str, int],
    breakdown_keys: Iterable[str] | None = None,
    failure_mode_taxonomy: Mapping[str, Mapping[str, str]] | None = None,
    registry: TaskClassRegistry | None = None,
) -> Callable[[RubricClass], RubricClass]:
    """Register the decorated rubric class as that of task class ``name``.

    Constant time, and touches no disk: what is None is filled by the loader from
    ``breakdown_keys.py`` and ``failure_modes.yaml``.

    Args:
        name: The task class's directory name, as a literal string.
        bench_path: That directory, usually ``Path(__file__).parent``.
        min_cases_for_promotion: Tier to the number of cases a promotion needs.
        breakdown_keys: The keys that a score's breakdown may have.
        failure_mode_taxonomy: Code to ``{"severity": ..., "description": ...}``.
        registry: None: the one that is being loaded, else ``default_registry``.

    Raises:
        TypeError: ``name`` is no string.
        ValueError: ``name`` is not ``[a-z0-9][a-z0-9-]*``.
        TaskClassAlreadyRegistered: When the class is decorated; the name is taken.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"register_task_class: the name must be a str, got {name!r}; write "
            '@register_task_class("my-task-class", ...) with parentheses and a name'
        )
    if not NAME_PATTERN.fullmatch(name):
        raise ValueError(
            f"register_task_class: {name!r} is not a task class name; use lower-case "
            "letters, digits and '-', as in the directory's name"
        )

    def decorate(rubric_class: RubricClass) -> RubricClass:
        # Not "or": an empty registry is falsy.
        target = registry if registry is not None else _receiving.get()
        if target is None:
            target = default_registry
        target.register(
            TaskClass(
                name,
                Path(bench_path),
                min_cases_for_promotion,
                rubric_class,
                breakdown_keys,
                failure_mode_taxonomy,
            )
        )
        return rubric_class

    return decorate


def _qualname(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
