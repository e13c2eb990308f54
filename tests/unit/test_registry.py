"""The registry and its decorator."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest

from pytest_codegenie.errors import TaskClassAlreadyRegistered
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.registry import TaskClassRegistry
from pytest_codegenie.registry import default_registry
from pytest_codegenie.registry import receiving_registrations
from pytest_codegenie.registry import register_task_class


class RubricOne:
    """Stands for a rubric."""


class RubricTwo:
    """Stands for another rubric."""


def register(
    name: str, registry: TaskClassRegistry | None, rubric: type = RubricOne
) -> type:
    decorate = register_task_class(
        name,
        bench_path="bench/demo",
        min_cases_for_promotion={"bronze": 5},
        registry=registry,
    )
    return decorate(rubric)


def test_a_registered_class_is_found_as_it_was_given() -> None:
    registry = TaskClassRegistry()
    assert register("demo", registry) is RubricOne
    assert registry.get("demo") == TaskClass(
        "demo", Path("bench/demo"), {"bronze": 5}, RubricOne, None, None
    )


def test_a_task_class_is_frozen_slotted_and_has_the_contracts_fields() -> None:
    registry = TaskClassRegistry()
    register("demo", registry)
    task_class = registry.get("demo")
    assert [field.name for field in dataclasses.fields(TaskClass)] == [
        "name",
        "bench_path",
        "min_cases_for_promotion",
        "rubric_class",
        "breakdown_keys",
        "failure_mode_taxonomy",
    ]
    assert not hasattr(task_class, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        task_class.name = "other"  # type: ignore[misc]


def test_a_second_registration_is_refused_and_the_first_stands() -> None:
    registry = TaskClassRegistry()
    register("demo", registry)
    with pytest.raises(TaskClassAlreadyRegistered) as caught:
        register("demo", registry, RubricTwo)
    assert caught.value.args == (
        "demo",
        f"{__name__}.RubricOne",
        f"{__name__}.RubricTwo",
    )
    assert registry.get("demo").rubric_class is RubricOne


def test_names_are_sorted_and_counted() -> None:
    registry = TaskClassRegistry()
    for name in ("b", "c", "a"):
        register(name, registry)
    assert registry.names() == ("a", "b", "c")
    assert [task_class.name for task_class in registry] == ["a", "b", "c"]
    assert len(registry) == 3
    assert "a" in registry
    assert "d" not in registry
    with pytest.raises(TaskClassNotFound) as caught:
        registry.get("d")
    assert caught.value.args == ("d", ("a", "b", "c"))


@pytest.mark.parametrize("name", [3, None, b"demo", RubricOne])
def test_a_name_that_is_no_str_is_a_type_error_at_decoration(name: str) -> None:
    with pytest.raises(TypeError, match="the name must be a str, got") as caught:
        register(name, TaskClassRegistry())
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "name", ["", "Demo", "-demo", "a b", "a\n", "../x", "a_b", "é"]
)
def test_a_name_that_no_directory_may_have_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError, match="is not a task class name") as caught:
        register(name, TaskClassRegistry())
    assert repr(name) in str(caught.value)


def test_registering_touches_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the disk was touched")

    for name in ("stat", "open", "scandir", "lstat"):
        monkeypatch.setattr(f"os.{name}", refuse)
    registry = TaskClassRegistry()
    register("demo", registry)
    assert "demo" in registry


def test_what_is_registered_in_the_block_goes_to_its_registry_only() -> None:
    with receiving_registrations() as received:
        register("only-here", None)
        with receiving_registrations() as inner:
            register("inner", None)
        register("explicit", own := TaskClassRegistry())
    assert received.names() == ("only-here",)
    assert inner.names() == ("inner",)
    assert own.names() == ("explicit",)
    assert "only-here" not in default_registry


def test_without_a_block_the_default_registry_receives() -> None:
    name = "test-registry-default"
    register(name, None)
    try:
        assert default_registry.get(name).rubric_class is RubricOne
    finally:
        default_registry._classes.pop(name)


def test_of_many_threads_exactly_one_gets_a_name() -> None:
    registry = TaskClassRegistry()
    barrier = threading.Barrier(8)
    refused: list[TaskClassAlreadyRegistered] = []

    def attempt() -> None:
        barrier.wait()
        try:
            register("demo", registry)
        except TaskClassAlreadyRegistered as exc:
            refused.append(exc)

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
