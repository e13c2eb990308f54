"""HumanEval: all problems become cases; what passes and fails upstream does here."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import ADDER
from support_one_file import DATA
from support_one_file import failing_tests
from support_one_file import hand_in
from support_one_file import write_rows

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.humaneval import HumanEvalDataset
from pytest_codegenie.datasets.one_file import TEST_ID
from pytest_codegenie.errors import DatasetError


SOURCE = DATA / "humaneval" / "HumanEval.jsonl.gz"
#: Their tests call functions that only the prompt has.
HELPED = ("HumanEval-10", "HumanEval-32", "HumanEval-38", "HumanEval-50")


@pytest.fixture(scope="module")
def real() -> list[CaseDraft]:
    return drafts(HumanEvalDataset(), SOURCE)


@pytest.fixture
def adder(bench: Bench, tmp_path: Path) -> Bench:
    source = write_rows(tmp_path / "rows.jsonl", [ADDER])
    place_drafts(bench, drafts(HumanEvalDataset(), source))
    return bench


def text(draft: CaseDraft, name: str) -> str:
    data = draft.files[name].data
    assert isinstance(data, bytes)
    return data.decode()


def test_every_problem_becomes_a_case(real: list[CaseDraft]) -> None:
    assert [draft.case_id for draft in real] == [f"HumanEval-{n}" for n in range(164)]
    for draft in real:
        start = text(draft, "input/repo/solution.py")
        compile(start, "solution.py", "exec")
        assert start in draft.problem
        hidden = [name for name in draft.files if name.startswith("expected/overlay/")]
        for name in hidden:
            compile(text(draft, name), name, "exec")
        assert draft.tests.fail_to_pass == [TEST_ID]


def test_the_agent_is_not_shown_the_answer(real: list[CaseDraft]) -> None:
    rows = {
        f"HumanEval-{n}": row for n, row in enumerate(map(json.loads, _lines(SOURCE)))
    }
    for draft in real:
        row = rows[draft.case_id]
        shown = draft.problem + text(draft, "input/repo/solution.py")
        assert row["canonical_solution"] not in shown
        assert row["test"].strip() not in shown


def test_the_gold_patch_makes_prompt_and_canonical_solution(
    real: list[CaseDraft], tmp_path: Path
) -> None:
    row = json.loads(_lines(SOURCE)[0])
    (tmp_path / "solution.py").write_text(text(real[0], "input/repo/solution.py"))
    subprocess.run(
        ["git", "apply", "-"],
        input=real[0].gold_patch.encode(),
        cwd=tmp_path,
        check=True,
    )
    expected = row["prompt"] + row["canonical_solution"]
    assert (tmp_path / "solution.py").read_text("utf-8") == expected


def test_a_sample_is_solved_by_the_oracle_and_not_by_nop(
    real: list[CaseDraft], bench: Bench
) -> None:
    """Every 21st, and those whose tests use names of the prompt.

    All 164 run in ``tests/performance/humaneval.py``.
    """
    sample = [
        draft for n, draft in enumerate(real) if n % 21 == 0 or draft.case_id in HELPED
    ]
    assert len(sample) == 12
    place_drafts(bench, sample)
    for draft in sample:
        assert bench.run(draft.case_id).outcome == "passed", draft.case_id
        nothing = bench.run(draft.case_id, agent="nop", judge_empty_patch=True)
        assert nothing.outcome == "failed", draft.case_id
        assert failing_tests(nothing)[TEST_ID] in ("failed", "error")


def _lines(source: Path) -> list[str]:
    return gzip.decompress(source.read_bytes()).decode().splitlines()


@pytest.mark.parametrize(
    "solution",
    [
        pytest.param("import sys\nsys.exit(0)\n", id="sys.exit on import"),
        pytest.param("import os\nos._exit(0)\n", id="os._exit on import"),
        pytest.param(
            "import os\ndef add(a, b):\n    os._exit(0)\n", id="os._exit when called"
        ),
        pytest.param(
            "import sys\ndef add(a, b):\n    sys.exit(0)\n", id="sys.exit when called"
        ),
        pytest.param(
            "import os\n"
            "print('Ran 1 test in 0.000s\\n\\nOK', flush=True)\n"
            "os._exit(0)\n",
            id="prints OK",
        ),
        pytest.param(
            "import builtins\nbuiltins.AssertionError = type('No', (), {})\n"
            "def add(a, b):\n    return 0\n",
            id="replaces AssertionError",
        ),
        pytest.param(
            "class Any:\n    def __eq__(self, other):\n        return True\n"
            "def add(a, b):\n    return Any()\n",
            id="is equal to anything",
        ),
        pytest.param(
            "class Any(int):\n    def __eq__(self, other):\n        return True\n"
            "def add(a, b):\n    return Any(0)\n",
            id="is a number equal to anything",
        ),
        pytest.param(
            "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('done')\n",
            id="skips the test",
        ),
        pytest.param(
            "def add(a, b):\n    raise KeyboardInterrupt\n", id="interrupts the run"
        ),
        pytest.param(
            "import sys\nsys.modules['tests.one_file'].exec = lambda *_: None\n"
            "def add(a, b):\n    return 0\n",
            id="replaces what runs the tests",
        ),
        pytest.param("def add(a, b):\n    return a - b\n", id="is wrong"),
        pytest.param("def add(a, b:\n", id="is no Python"),
        pytest.param("def subtract(a, b):\n    return a - b\n", id="is not there"),
    ],
)
def test_no_trick_passes(solution: str, adder: Bench) -> None:
    result = hand_in(adder, "Toy-0", solution)
    assert result.outcome == "failed", result.message


def test_another_right_solution_passes(adder: Bench) -> None:
    result = hand_in(adder, "Toy-0", "add = lambda a, b: sum((a, b))\n")
    assert result.outcome == "passed", result.message


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("while True:\n        pass", id="loops"),
        pytest.param(
            "while True:\n        try:\n            while True:\n                pass\n"
            "        except Exception:\n            pass",
            id="handles exceptions",
        ),
    ],
)
def test_a_solution_that_never_ends_has_failed(
    body: str, bench: Bench, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ADDER])
    place_drafts(bench, drafts(HumanEvalDataset(), source, cpu_seconds=0.2))
    result = hand_in(bench, "Toy-0", f"def add(a, b):\n    {body}\n")
    assert result.outcome == "failed"
    assert "longer than 0.2 seconds of CPU time" in result.message


def test_what_no_signal_interrupts_is_ended_too(bench: Bench, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ADDER])
    place_drafts(bench, drafts(HumanEvalDataset(), source, cpu_seconds=0.1))
    result = hand_in(bench, "Toy-0", "def add(a, b):\n    return sum(range(10**12))\n")
    assert result.outcome == "failed"
    assert "signal" in result.message


def test_helpers_of_the_prompt_are_not_the_solutions_to_change(
    bench: Bench, tmp_path: Path
) -> None:
    row = ADDER | {
        "prompt": f"def zero():\n    return 0\n\n\n{ADDER['prompt']}",
        "test": "def check(candidate):\n    assert candidate(1, -1) == zero()\n",
    }
    source = write_rows(tmp_path / "rows.jsonl", [row])
    place_drafts(bench, drafts(HumanEvalDataset(), source))
    assert bench.run("Toy-0").outcome == "passed"
    cheat = "def zero():\n    return 5\ndef add(a, b):\n    return 5\n"
    assert hand_in(bench, "Toy-0", cheat).outcome == "failed"


def change(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in (ADDER | keys).items() if value is not ...}


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (change(test=...), "test", "missing"),
        (change(prompt=7), "prompt", "must be text, is a number"),
        (change(task_id=...), "task_id", "missing"),
        (change(task_id=None), "task_id", "must be text, is null"),
        (change(task_id="..."), "task_id", "cannot be a case's id"),
        (change(task_id='a"""b'), "task_id", "cannot be a case's id"),
        (change(entry_point="a b"), "entry_point", "is no function's name"),
        (change(entry_point="sub"), "entry_point", "not in the prompt, which .*: add"),
        (change(test="x = 1\n"), "test", r"no function check\(candidate\)"),
        (change(test="def check(:\n"), "test", "is no Python: line 1"),
        (change(prompt="def add(:\n"), "prompt", "is no Python: line 1"),
        (change(canonical_solution="  return\n"), "the solution", "no Python: line 3"),
        (change(canonical_solution=""), "", "nothing to do"),
        (change(prompt="x = '\0'\n"), "prompt", "is no Python"),
    ],
)
def test_a_faulty_row_is_told_with_its_key(
    row: dict[str, Any], field: str, reason: str, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ADDER, row])
    with pytest.raises(DatasetError, match=reason) as caught:
        drafts(HumanEvalDataset(), source)
    assert caught.value.place == "rows.jsonl, line 2"
    assert caught.value.field == field


def test_importing_runs_nothing_of_a_row(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    row = {key: value for key, value in ADDER.items()}
    for key in ("prompt", "test"):
        row[key] = f"open({str(mark)!r}, 'w')\n" + row[key]
    drafts(HumanEvalDataset(), write_rows(tmp_path / "rows.jsonl", [row]))
    assert not mark.exists()
