"""Runs a dataset's own tests on ``solution.py``, in the namespace that they expect.

A copy of this file is in each case that is one file, beside the dataset's texts. What
is the dataset's is read and compiled before any of the solution runs.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import resource
import signal
import time
import types
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Any


HERE = Path(__file__).resolve().parent
_TREE = str(HERE.parent) + os.sep
#: With these an object decides itself what a comparison comes to.
_DECIDES = frozenset(
    f"__{name}__"
    for name in (
        *("eq", "ne", "lt", "le", "gt", "ge", "bool", "abs", "round", "float", "int"),
        *("add", "radd", "sub", "rsub", "len", "iter", "contains", "hash"),
    )
)
_CONTAINERS = (list, tuple, set, frozenset)


class OutOfTime(BaseException):
    """Not an ``Exception``, which a solution might handle."""


class Forged(AssertionError):
    """The solution's result decides itself what it is equal to."""


def run(
    *,
    entry_points: Sequence[str],
    prompt: str,
    test: str,
    call: str,
    cpu_seconds: float,
) -> None:
    """Run the tests once.

    Args:
        entry_points: What the tests are given of the solution; none: all that it has.
        prompt: A file beside this one whose names the tests may use, as their own
            harness runs them after it; "": none. The solution cannot change these.
        test: The file of the tests.
        call: What is run last; "": nothing.
        cpu_seconds: For all of it. Time of the CPU, so that a busy machine changes
            no result.
    """
    before = [_compiled(name) for name in (prompt, test) if name]
    last = compile(call, str(HERE / "call"), "exec", dont_inherit=True)
    namespace: dict[str, Any] = {"__name__": "dataset"}
    # Names of this module are the solution's to change, once it runs; these are not.
    execute, guard, find = exec, guarded, getattr
    end_after(2 * cpu_seconds)
    with cpu_limit(cpu_seconds):
        solution = importlib.import_module("solution")
        names = entry_points or [name for name in vars(solution) if name[:2] != "__"]
        if prompt:
            execute(before[0], namespace)
        for name in names:
            namespace[name] = guard(find(solution, name))
        execute(before[-1], namespace)
        execute(last, namespace)


def _compiled(name: str) -> types.CodeType:
    path = HERE / name
    return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


def end_after(cpu_seconds: float) -> None:
    """Have the system end this process once it has used that much of the CPU.

    For what no signal interrupts, such as one long operation.
    """
    soft = int(time.process_time() + cpu_seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """End the block, by an exception, once it has used that much of the CPU."""

    def stop(_number: int, _frame: object) -> None:
        raise OutOfTime(f"longer than {seconds:g} seconds of CPU time")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def guarded(value: Any) -> Any:
    """Return a function whose results are honest; what is no function stays."""
    if not isinstance(value, types.FunctionType):
        return value
    function: Callable[..., Any] = value

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        check_result(result)
        return result

    return call


def check_result(result: Any) -> None:
    """Refuse an object of the solution's that would be equal to whatever is expected.

    Raises:
        Forged: It, or what it contains, is one.
    """
    rest, seen = [result], set()
    while rest:
        value = rest.pop()
        if type(value) in (str, int, float, bool, bytes, type(None)):
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if _decides(type(value)):
            raise Forged(
                f"the solution returned an object of its class {type(value).__name__}, "
                "which decides itself what it is equal to"
            )
        if isinstance(value, _CONTAINERS):
            rest.extend(value)
        elif isinstance(value, dict):
            rest.extend([*value, *value.values()])


def _decides(cls: type) -> bool:
    """Say whether a class has comparisons that are no library's."""
    # What the class says of itself is not asked.
    bases = type.__dict__["__mro__"].__get__(cls)
    return any(
        name in _DECIDES and _is_of_tree(value)
        for base in bases
        for name, value in list(type.__dict__["__dict__"].__get__(base).items())
    )


def _is_of_tree(value: Any) -> bool:
    """Say whether a function is the solution's: in no file, or in one of the tree."""
    code = getattr(value, "__code__", None)
    if code is None:
        # Slots of C types; anything else that can be called was put there.
        return not isinstance(
            value,
            (
                types.WrapperDescriptorType,
                types.MethodDescriptorType,
                types.BuiltinFunctionType,
                type(None),
            ),
        )
    file = code.co_filename
    if file.startswith("<frozen "):
        return False
    return file.startswith(_TREE) or not os.path.isfile(file)  # noqa: PTH113
