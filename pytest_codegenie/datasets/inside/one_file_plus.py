"""Runs EvalPlus' inputs on ``solution.py`` and compares as EvalPlus does.

The rules are those of evalplus 0.3.1 (``evalplus/eval/__init__.py``,
``evalplus/eval/_special_oracle.py`` and ``evalplus/data/mbpp.py``; Apache 2.0, parts
MIT), written anew without NumPy. As there, what is expected is what the dataset's own
solution returns. Other than there, time is that of the CPU, and the solution gets
copies of the inputs, so that changing one changes nothing for the next comparison; and
lists of different shapes are never close, where NumPy broadcasts one to the other.
"""

from __future__ import annotations

import cmath
import copy
import importlib
import json
import math
import reprlib
import time
from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from typing import NamedTuple

from tests.one_file import HERE
from tests.one_file import check_result
from tests.one_file import cpu_limit
from tests.one_file import end_after


#: What EvalPlus calls a solution too slow by: so much longer than its own, but no less
#: than ``min_seconds``.
_FACTOR = 4.0
_RTOL = 1e-07
#: Functions whose results are compared as sets.
_SETS = frozenset(
    (
        *("similar_elements", "find_char_long", "common_in_nested_lists"),
        *("extract_singly", "larg_nnum", "intersection_array", "find_dissimilar"),
        "Diff",
    )
)
#: Functions of which only whether they return None counts.
_NOT_NONE = frozenset(("check_str", "text_match_three", "text_starta_endb"))


@dataclass
class Rules:
    """How results of one problem are compared."""

    #: ``humaneval`` or ``mbpp``: which exceptions hold.
    dataset: str
    entry_point: str
    #: Absolute tolerance.
    atol: float
    #: The least that one call may take, of CPU time.
    min_seconds: float

    def expected(self, function: Callable[..., Any], inputs: list[Any]) -> list[Call]:
        """Return the calls of a function that is right, with what they return."""
        calls = []
        for values in inputs:
            given = copy.deepcopy(values)
            started = time.process_time()
            result = function(*given)
            spent = time.process_time() - started
            if self.dataset == "mbpp" and self.entry_point in _NOT_NONE:
                result = result is not None
            calls.append(Call(values, result, spent))
        return calls

    def compare(self, function: Callable[..., Any], calls: list[Call]) -> None:
        """Call a function as another was called.

        Raises:
            AssertionError: It returns something else.
            OutOfTime: It takes too long.
        """
        atol = self.atol
        for index, call in enumerate(calls):
            with cpu_limit(max(self.min_seconds, _FACTOR * call.seconds)):
                result = function(*copy.deepcopy(call.values))
                check_result(result)
            if atol == 0 and not self._is_root and _is_floats(call.result):
                atol = 1e-6  # from here on, as EvalPlus does
            if not self.agrees(call, result, atol):
                raise AssertionError(
                    f"input {index}: {self.entry_point}"
                    f"{reprlib.repr(tuple(call.values))} gives {reprlib.repr(result)}, "
                    f"expected {reprlib.repr(call.result)}"
                )

    def agrees(self, call: Call, result: Any, atol: float) -> bool:
        """Say whether a result is the expected one, by EvalPlus' rules."""
        try:
            if self._is_root:
                return bool(abs(polynomial(call.values[0], result)) <= atol)
            exact = bool(result == call.result)
            if self.dataset == "mbpp":
                exact = self._agrees_specially(call, result, atol, exact=exact)
            if exact or atol == 0:
                return exact
            if type(result) is not type(call.result):
                return False
            return is_close(result, call.result, atol)
        except Exception:
            return False

    @property
    def _is_root(self) -> bool:
        """A polynomial may have several."""
        return self.dataset == "humaneval" and self.entry_point == "find_zero"

    def _agrees_specially(
        self, call: Call, result: Any, atol: float, *, exact: bool
    ) -> bool:
        name = self.entry_point
        if name == "are_equivalent":
            return True
        if name == "sum_div":
            return exact or bool(result == 0)
        if name == "surface_Area":
            return exact or bool(abs(result - pyramid_surface(*call.values)) <= atol)
        if name == "digit_distance_nums":
            return exact or bool(result == digit_distance(*call.values))
        if name in _SETS:
            return set(result) == set(call.result)
        if name in _NOT_NONE and not isinstance(result, bool):
            return bool(call.result == (result is not None))
        return exact


class Call(NamedTuple):
    """One call of a function that is right."""

    values: Any
    result: Any
    #: Of CPU time.
    seconds: float


def run(
    *,
    dataset: str,
    entry_point: str,
    number: int,
    atol: float,
    min_seconds: float,
    all_seconds: float,
) -> None:
    """Compare solution and reference on the base inputs, then on the others.

    Args:
        dataset: ``humaneval`` or ``mbpp``.
        entry_point: The function.
        number: Of the problem.
        atol: Absolute tolerance.
        min_seconds: The least that one call may take, of CPU time.
        all_seconds: What all of it may take, of CPU time.
    """
    end_after(all_seconds)
    rules = Rules(dataset, entry_point, atol, min_seconds)
    groups = []
    inputs = json.loads((HERE / "inputs.json").read_bytes())
    reference = _reference()[entry_point]
    for name in ("base_input", "plus_input"):
        shaped = inputs[name]
        if dataset == "mbpp":
            shaped = mbpp_inputs(number, shaped)
        groups.append(rules.expected(reference, shaped))
    with cpu_limit(min_seconds):
        function = getattr(importlib.import_module("solution"), entry_point)
    for calls in groups:
        rules.compare(function, calls)


def _reference() -> dict[str, Any]:
    path = HERE / "reference.py"
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    namespace: dict[str, Any] = {"__name__": "reference"}
    exec(code, namespace)  # noqa: S102 -- the case's own reference, signed with it
    return namespace


def polynomial(coefficients: Iterable[float], x: float) -> float:
    """Return a polynomial's value; the constant comes first."""
    return sum(factor * math.pow(x, power) for power, factor in enumerate(coefficients))


def pyramid_surface(edge: float, height: float) -> int:
    """Return the surface of a square pyramid, if its height is the perpendicular."""
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    return round(edge**2 + 2 * edge * slant)


def digit_distance(first: int, second: int) -> int:
    """Return how far two numbers' digits are apart, the shorter one filled with 0."""
    one, other = str(first), str(second)
    width = max(len(one), len(other))
    pairs = zip(one.zfill(width), other.zfill(width))  # noqa: B905 -- equally long
    return sum(abs(int(a) - int(b)) for a, b in pairs)


def _is_floats(value: Any) -> bool:
    if isinstance(value, float):
        return True
    return bool(
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(item, float) for item in value)
    )


def is_close(result: Any, expected: Any, atol: float) -> bool:
    """Say what ``numpy.allclose`` says of numbers and of lists with one shape."""
    if _shape(result) is None or _shape(result) != _shape(expected):
        return False
    return all(
        _near(one, other, atol)
        for one, other in zip(_flat(result), _flat(expected))  # noqa: B905 -- same shape
    )


def _near(result: complex, expected: complex, atol: float) -> bool:
    if not (cmath.isfinite(result) and cmath.isfinite(expected)):
        return result == expected
    return abs(result - expected) <= atol + _RTOL * abs(expected)


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the lengths of nested lists of numbers; None where they are none."""
    if isinstance(value, (int, float, complex)):
        return ()
    if not isinstance(value, (list, tuple)):
        return None
    shapes = {_shape(item) for item in value}
    if not shapes:
        return (0,)
    shape = shapes.pop()
    return None if shapes or shape is None else (len(value), *shape)


def _flat(value: Any) -> list[complex]:
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flat(item)]
    return [value]


def _tuples(values: Any) -> Any:
    return [tuple(item) for item in values]


def _deep_tuples(value: Any) -> Any:
    return (
        tuple(_deep_tuples(item) for item in value)
        if isinstance(value, list)
        else value
    )


#: JSON has lists alone; which problems of MBPP+ take something else. Each entry: the
#: problems' numbers, and what is made of the list of arguments.
_SHAPES: tuple[tuple[frozenset[int], Callable[[Any], Any]], ...] = (
    (
        frozenset(
            (
                *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424),
                *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
            )
        ),
        _tuples,
    ),
    (
        frozenset(
            (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)
        ),
        lambda values: [_tuples(item) for item in values],
    ),
    (
        frozenset((75, 413, 444, 753)),
        lambda values: [_tuples(values[0]), values[1]],
    ),
    (
        frozenset((106, 750)),
        lambda values: [values[0], tuple(values[1])],
    ),
    (
        frozenset((115,)),
        lambda values: [
            [set(i) if isinstance(i, list) and i else {} for i in values[0]]
        ],
    ),
    (
        frozenset((124,)),
        lambda values: (float(values[0]), complex(values[1])),
    ),
    (
        frozenset((250, 405, 446, 617, 720, 763, 808)),
        lambda values: [tuple(values[0]), values[1]],
    ),
    (
        frozenset((259, 401, 445)),
        lambda values: _tuples([_tuples(item) for item in values]),
    ),
    (
        frozenset((278,)),
        lambda values: [
            tuple(tuple(i) if isinstance(i, list) else i for i in values[0])
        ],
    ),
    (
        frozenset((307,)),
        lambda values: [tuple(values[0]), values[1], values[2]],
    ),
    (
        frozenset((722,)),
        lambda values: [
            {key: tuple(item) for key, item in values[0].items()},
            *values[1:],
        ],
    ),
    (
        frozenset((252,)),
        lambda values: [complex(values[0])],
    ),
    (
        frozenset((580, 615, 791)),
        _deep_tuples,
    ),
)


def mbpp_inputs(number: int, inputs: list[Any]) -> list[Any]:
    """Return the inputs of a problem of MBPP+ as its solution takes them."""
    for numbers, shape in _SHAPES:
        if number in numbers:
            return [shape(values) for values in inputs]
    return inputs
