"""EvalPlus: inputs for the dataset's own solution, compared by its own rules.

No row here is EvalPlus' own, whose files are not at hand; these have their keys. The
rules are held against those of evalplus 0.3.1, read from its source.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import ADDER
from support_one_file import hand_in
from support_one_file import write_rows

from pytest_codegenie.datasets import one_file
from pytest_codegenie.datasets.evalplus import EvalPlusDataset
from pytest_codegenie.errors import DatasetError


MEAN = {
    "task_id": "HumanEval/4",
    "prompt": 'def mean(numbers):\n    """Return the mean."""\n',
    "entry_point": "mean",
    "canonical_solution": "    return sum(numbers) / len(numbers)\n",
    "base_input": [[[1.0, 2.0]]],
    "plus_input": [[[0.1] * 7], [[1e300, -1e300]]],
    "contract": "",
    "atol": 0,
}
COMMON = {
    "task_id": "Mbpp/2",
    "prompt": (
        '"""\nFind what is shared.\nassert similar_elements((1,), (1,)) == (1,)\n"""\n'
    ),
    "entry_point": "similar_elements",
    "canonical_solution": (
        "def similar_elements(one, other):\n"
        "    assert type(one) is type(other) is tuple\n"
        "    return tuple(set(one) & set(other))\n"
    ),
    "base_input": [[[3, 4, 5], [5, 7, 4]]],
    "plus_input": {},
    "contract": "",
    "atol": 0,
}


@pytest.fixture(scope="module")
def plus() -> Iterator[types.ModuleType]:
    """The script of the cases, as they import it."""
    inside = Path(one_file.__file__).with_name("inside")
    known = {name: sys.modules.get(name) for name in ("tests", "tests.one_file")}
    package = types.ModuleType("tests")
    package.__path__ = [str(inside)]
    sys.modules["tests"] = package
    try:
        spec = importlib.util.spec_from_file_location(
            "one_file_plus", inside / "one_file_plus.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["one_file_plus"] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.modules.pop("one_file_plus", None)
        for name, value in known.items():
            sys.modules.pop(name, None)
            if value is not None:
                sys.modules[name] = value


def test_humaneval_plus_runs_with_the_tolerance_of_floats(
    bench: Bench, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "plus.jsonl", [MEAN])
    place_drafts(bench, drafts(EvalPlusDataset(), source))
    assert bench.run("HumanEval-4").outcome == "passed"
    nothing = bench.run("HumanEval-4", agent="nop", judge_empty_patch=True)
    assert nothing.outcome == "failed"
    assert "gives None, expected 1.5" in nothing.message
    head = MEAN["prompt"]
    near = f"{head}    return sum(n / len(numbers) for n in numbers)\n"
    assert hand_in(bench, "HumanEval-4", near).outcome == "passed"
    only_base = f"{head}    return 1.5\n"
    result = hand_in(bench, "HumanEval-4", only_base)
    assert result.outcome == "failed"
    assert "gives 1.5, expected 0.0999" in result.message


def test_mbpp_plus_gets_tuples_and_compares_sets(bench: Bench, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "plus.jsonl", [COMMON])
    place_drafts(bench, drafts(EvalPlusDataset(), source))
    assert bench.run("Mbpp-2").outcome == "passed"
    twice = "def similar_elements(a, b):\n    return [5, 4, 4]\n"
    assert hand_in(bench, "Mbpp-2", twice).outcome == "passed"
    assert hand_in(bench, "Mbpp-2", twice.replace("5, 4, 4", "5")).outcome == "failed"


@pytest.mark.parametrize(
    "solution",
    [
        "import os\nos._exit(0)\n",
        "import os\ndef mean(numbers):\n    os._exit(0)\n",
        "class Any:\n    __eq__ = lambda *_: True\n"
        "def mean(numbers):\n    return Any()\n",
        "def mean(numbers):\n    while True: pass\n",
    ],
)
def test_no_trick_passes(solution: str, bench: Bench, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "plus.jsonl", [MEAN])
    place_drafts(bench, drafts(EvalPlusDataset(), source, min_call_seconds=0.2))
    assert hand_in(bench, "HumanEval-4", solution).outcome == "failed"


def test_rows_of_the_hub_run_their_own_tests(bench: Bench, tmp_path: Path) -> None:
    humaneval = ADDER | {"task_id": "HumanEval/53"}
    mbpp = {
        "task_id": 2,
        "prompt": "Write a function to double a number.",
        "code": "def double(n):\n    return 2 * n\n",
        "source_file": "Benchmark Questions Verification V2.ipynb",
        "test_imports": [],
        "test_list": ["assert double(2) == 4"],
        "test": (
            "for given, wanted in [(1, 2), (-3, -6)]:\n"
            "    assert double(given) == wanted"
        ),
    }
    source = write_rows(tmp_path / "hub.jsonl", [humaneval, mbpp])
    place_drafts(bench, drafts(EvalPlusDataset(), source))
    for case_id in ("HumanEval-53", "Mbpp-2"):
        assert bench.run(case_id).outcome == "passed"
    wrong = "def double(n):\n    return 4\n"
    assert hand_in(bench, "Mbpp-2", wrong).outcome == "failed"


def test_tests_that_import_numpy_get_it(tmp_path: Path) -> None:
    row = ADDER | {"test": f"import numpy as np\n{ADDER['test']}"}
    source = write_rows(tmp_path / "hub.jsonl", [row])
    (draft,) = drafts(EvalPlusDataset(), source)
    assert draft.task.environment.install == ["pip install numpy"]


@pytest.mark.parametrize(
    ("result", "expected", "agrees"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.30001, 0.3, False),
        (1, 1.0, True),
        ([0.1 + 0.2], [0.3], True),
        ((0.30000001,), [0.3], False),  # near, but no list
        ([0.3], [0.3, 0.3], False),
        ([[0.3, 0.1 + 0.2]], [[0.3, 0.3]], False),  # no list of floats: no tolerance
        (math.inf, math.inf, True),
        (math.nan, math.nan, False),
        ("0.3", 0.3, False),
        (None, 0.3, False),
        (True, 1.0, True),
    ],
)
def test_floats_are_compared_as_evalplus_does(
    plus: Any, result: Any, expected: Any, agrees: bool
) -> None:
    rules = plus.Rules("humaneval", "f", 0, 4.0)
    calls = [plus.Call([], expected, 0.0)]
    if agrees:
        rules.compare(lambda: result, calls)
    else:
        with pytest.raises(AssertionError, match="expected"):
            rules.compare(lambda: result, calls)


def test_a_tolerance_holds_from_the_first_float_on(plus: Any) -> None:
    rules = plus.Rules("humaneval", "f", 0, 4.0)
    results = iter([1.0, 2])
    near = [plus.Call([], 1.0, 0.0), plus.Call([], 2, 0.0)]
    rules.compare(lambda: next(results), near)
    nested = plus.Call([], [[0.3]], 0.0)
    with pytest.raises(AssertionError):
        rules.compare(lambda: [[0.1 + 0.2]], [nested])
    both = iter([1.0, [[0.1 + 0.2]]])
    rules.compare(lambda: next(both), [near[0], nested])


@pytest.mark.parametrize(
    ("name", "values", "result", "expected", "agrees"),
    [
        ("are_equivalent", [1, 2], "whatever", True, True),
        ("sum_div", [8], 0, 7, True),
        ("sum_div", [8], 1, 7, False),
        ("surface_Area", [3, 4], 35, 33, True),
        ("surface_Area", [3, 4], 34, 33, False),
        ("digit_distance_nums", [23, 156], 7, 5, True),
        ("digit_distance_nums", [23, 156], 8, 5, False),
        ("Diff", [], [1, 2], [2, 1], True),
        ("check_str", [], object(), True, True),
        ("check_str", [], None, True, False),
        ("check_str", [], False, True, False),
        ("other", [], [1, 2], [2, 1], False),
    ],
)
def test_exceptions_of_mbpp_plus(
    plus: Any, name: str, values: list[Any], result: Any, expected: Any, agrees: bool
) -> None:
    rules = plus.Rules("mbpp", name, 0, 4.0)
    assert rules.agrees(plus.Call(values, expected, 0.0), result, 0) is agrees


def test_a_root_of_a_polynomial_need_not_be_the_same(plus: Any) -> None:
    rules = plus.Rules("humaneval", "find_zero", 1e-4, 4.0)
    call = plus.Call([[-4, 0, 1]], 2.0, 0.0)
    assert rules.agrees(call, -2.0, 1e-4)
    assert not rules.agrees(call, 1.9, 1e-4)


@pytest.mark.parametrize(
    ("number", "given", "made"),
    [
        (2, [[1], [2]], [(1,), (2,)]),
        (63, [[[1, 2]]], [[(1, 2)]]),
        (75, [[[1, 2]], 3], [[(1, 2)], 3]),
        (106, [[1], [2]], [[1], (2,)]),
        (115, [[[1], []]], [[{1}, {}]]),
        (124, ["1", "2j"], (1.0, 2j)),
        (250, [[1], 2], [(1,), 2]),
        (259, [[[1]], [[2]]], [((1,),), ((2,),)]),
        (278, [[1, [2]]], [(1, (2,))]),
        (307, [[1], 2, 3], [(1,), 2, 3]),
        (722, [{"a": [1]}, 2], [{"a": (1,)}, 2]),
        (252, ["1+2j"], [1 + 2j]),
        (580, [[1, [2]]], ((1, (2,)),)),
        (3, [[1]], [[1]]),
    ],
)
def test_inputs_of_mbpp_plus_get_their_types_back(
    plus: Any, number: int, given: Any, made: Any
) -> None:
    assert plus.mbpp_inputs(number, [given]) == [made]


def change(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in (MEAN | keys).items() if value is not ...}


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (change(plus_input=...), "plus_input", "missing"),
        (change(plus_input=..., base_input=...), "base_input", "and 'test' too"),
        (change(base_input="[]"), "base_input", "must be a list, is text"),
        (change(base_input=[[1], 2]), "base_input", "item 2 is a number"),
        (change(atol="0"), "atol", "must be a number, is text"),
        (change(atol=True), "atol", "must be a number, is true or false"),
        (change(task_id="Other/1"), "task_id", "neither HumanEval/<number> nor"),
        (change(entry_point="median"), "entry_point", "not in the solution"),
    ],
)
def test_a_faulty_row_is_told_with_its_key(
    row: dict[str, Any], field: str, reason: str, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "plus.jsonl", [row])
    with pytest.raises(DatasetError, match=reason) as caught:
        drafts(EvalPlusDataset(), source)
    assert (caught.value.place, caught.value.field) == ("plus.jsonl, line 1", field)
