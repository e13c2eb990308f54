"""QuixBugs: programs of a checkout, with what is known of their tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_checkouts import QUIXBUGS
from support_checkouts import write_tree
from support_datasets import SHARED_DATA
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import hand_in
from support_one_file import write_rows

from pytest_codegenie.datasets import quixbugs
from pytest_codegenie.datasets.quixbugs import QuixBugsDataset
from pytest_codegenie.errors import DatasetError


LOOP = {
    "python_programs/halve.py": "def halve(n):\n    while n:\n        pass\n",
    "correct_python_programs/halve.py": "def halve(n):\n    return n // 2\n",
    "python_testcases/test_halve.py": (
        "from python_programs.halve import halve\n\n\n"
        "def test_none():\n    assert not halve(0)\n\n\n"
        "def test_four():\n    assert halve(4) == 2\n\n\n"
        "def test_last():\n    assert halve(2) == 1\n"
    ),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "QuixBugs", QUIXBUGS)


def test_programs_become_cases_with_the_labels_that_ship(checkout: Path) -> None:
    search, wrap = drafts(QuixBugsDataset(), checkout)
    assert [search.case_id, wrap.case_id] == [
        "quixbugs-depth_first_search",
        "quixbugs-wrap",
    ]
    tests = "python_testcases/test_depth_first_search.py"
    assert search.tests.fail_to_pass == [f"{tests}::test5"]
    assert search.tests.pass_to_pass == [f"{tests}::test{n}" for n in range(1, 5)]
    assert sorted(search.files) == [
        "expected/overlay/python_testcases/conftest.py",
        "expected/overlay/python_testcases/node.py",
        "expected/overlay/python_testcases/test_depth_first_search.py",
        "input/repo/conftest.py",
        "input/repo/python_programs/depth_first_search.py",
    ]
    assert "expected/overlay/json_testcases/wrap.json" in wrap.files


def test_tests_come_out_as_their_labels_say(checkout: Path, bench: Bench) -> None:
    """Ends of lines are mixed in ``wrap``: the gold patch has to keep them."""
    made = drafts(QuixBugsDataset(), checkout)
    place_drafts(bench, made)
    for draft in made:
        solved = bench.run(draft.case_id)
        assert solved.outcome == "passed", solved.message
        nothing = bench.run(draft.case_id, agent="nop", judge_empty_patch=True)
        assert nothing.output is not None
        assert nothing.output.evaluation is not None
        before = nothing.output.evaluation
        assert set(before.fail_to_pass_results.values()) == {"failed"}
        assert set(before.pass_to_pass_results.values()) <= {"passed"}


def test_a_test_that_loops_fails_and_the_next_one_runs(
    tmp_path: Path, bench: Bench
) -> None:
    checkout = write_tree(tmp_path / "QuixBugs", dict(QUIXBUGS) | LOOP)
    for name in ("wrap", "depth_first_search"):
        (checkout / f"python_testcases/test_{name}.py").unlink()
    file = "python_testcases/test_halve.py"
    row = {
        "instance_id": "quixbugs-halve",
        "FAIL_TO_PASS": json.dumps([f"{file}::test_four", f"{file}::test_last"]),
        "PASS_TO_PASS": [f"{file}::test_none"],
    }
    labels = write_rows(tmp_path / "labels.jsonl", [row])
    made = drafts(QuixBugsDataset(), checkout, labels=str(labels), test_cpu_seconds=0.2)
    place_drafts(bench, made)
    wrong = "def halve(n):\n    while n == 4:\n        pass\n    return n // 2\n"
    program = "python_programs/halve.py"
    result = hand_in(bench, "quixbugs-halve", wrong, program)
    assert result.outcome == "failed"
    assert "longer than 0.2 seconds of CPU time" in result.message
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.fail_to_pass_results == {
        f"{file}::test_four": "failed",
        f"{file}::test_last": "passed",
    }


def test_the_labels_that_ship_are_those_of_the_real_tasks() -> None:
    source = SHARED_DATA / "quixbugs_labels.jsonl"
    if not source.exists():
        pytest.skip(f"{source} is not here")
    real = quixbugs._labels(source)
    assert len(real) == 40
    assert quixbugs._labels(None) == real


@pytest.mark.parametrize("name", ["wrap", "depth_first_search"])
def test_what_stands_here_of_quixbugs_is_quixbugs(name: str) -> None:
    """As far as the code goes that its own diffs show."""
    source = SHARED_DATA / "quixbugs_labels.jsonl"
    if not source.exists():
        pytest.skip(f"{source} is not here")
    rows = map(json.loads, source.read_bytes().decode().splitlines())
    patch = next(r["patch"] for r in rows if r["instance_id"] == f"quixbugs-{name}")
    buggy, correct = (
        QUIXBUGS[f"{directory}/{name}.py"].splitlines()
        for directory in ("python_programs", "correct_python_programs")
    )
    hunks = [line for line in patch.split("\n")[3:] if not line.startswith("@@")]
    code = hunks[: next(n for n, line in enumerate(hunks) if line[1:] == '"""')]
    assert {line[1:] for line in code if line[0] == " "} <= {*buggy} & {*correct}
    assert {line[1:] for line in code if line[0] == "+"} <= {*correct}
    assert {line[1:] for line in code if line[0] == "-"} <= {*buggy}


def without(*names: str) -> dict[str, str]:
    return {name: text for name, text in QUIXBUGS.items() if name not in names}


BUGGY, CORRECT = "python_programs/wrap.py", "correct_python_programs/wrap.py"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"README.md": "x"}, "no checkout of QuixBugs: .* python_programs, correct_"),
        (without("conftest.py"), "conftest.py: missing"),
        (without(BUGGY), "python_programs/wrap.py: missing"),
        (without(CORRECT), "correct_python_programs/wrap.py: missing; it is the"),
        (without("json_testcases/wrap.json"), "json_testcases/wrap.json: missing"),
        (dict(QUIXBUGS) | {CORRECT: QUIXBUGS[BUGGY]}, "there is no bug"),
        (dict(QUIXBUGS) | LOOP, "halve.py: labels: nobody says .* labels=FILE"),
    ],
)
def test_a_faulty_checkout_is_told(
    files: Mapping[str, str], reason: str, tmp_path: Path
) -> None:
    checkout = write_tree(tmp_path / "checkout", files)
    with pytest.raises(DatasetError, match=reason):
        drafts(QuixBugsDataset(), checkout)


def test_a_source_that_is_no_directory_is_told(checkout: Path) -> None:
    with pytest.raises(DatasetError, match=r"missing \(did you mean 'QuixBugs'\?\)"):
        drafts(QuixBugsDataset(), checkout.parent / "QuixBug")
    with pytest.raises(DatasetError, match="is a file; give the directory"):
        drafts(QuixBugsDataset(), checkout / "conftest.py")


def test_a_link_out_of_the_checkout_is_refused(checkout: Path) -> None:
    secret = checkout.parent / "secret.py"
    secret.write_text("x = 1\n", "utf-8")
    (checkout / BUGGY).unlink()
    (checkout / BUGGY).symlink_to(secret)
    with pytest.raises(DatasetError, match=r"wrap.py: leads out of the checkout"):
        drafts(QuixBugsDataset(), checkout)


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ({"FAIL_TO_PASS": []}, "FAIL_TO_PASS", "is empty: nothing to mend"),
        ({"FAIL_TO_PASS": "test_x"}, "FAIL_TO_PASS", "must be a list, is text"),
        ({"PASS_TO_PASS": ...}, "PASS_TO_PASS", "missing"),
        ({"PASS_TO_PASS": [1]}, "PASS_TO_PASS", "item 1 is a number"),
    ],
)
def test_a_faulty_label_is_told(
    row: dict[str, Any], field: str, reason: str, checkout: Path
) -> None:
    whole = {"instance_id": "x", "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []} | row
    kept = {key: value for key, value in whole.items() if value is not ...}
    labels = write_rows(checkout / "labels.jsonl", [kept])
    with pytest.raises(DatasetError, match=reason) as caught:
        drafts(QuixBugsDataset(), checkout, labels=str(labels))
    assert (caught.value.place, caught.value.field) == ("labels.jsonl, line 1", field)
