"""Exercises of Exercism's tracks and of Aider's polyglot benchmark.

The exercise is our own, in their layout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import structlog
from support import Bench
from support_checkouts import TALLY
from support_checkouts import TALLY_CONFIG
from support_checkouts import write_tree
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import hand_in

from pytest_codegenie.datasets.exercism import AiderPolyglotDataset
from pytest_codegenie.datasets.exercism import ExercismDataset
from pytest_codegenie.errors import DatasetError


EXERCISE = "exercises/practice/tally"


@pytest.fixture
def track(tmp_path: Path) -> Path:
    write_tree(tmp_path / "python" / EXERCISE, TALLY)
    return tmp_path / "python"


@pytest.fixture
def tally(track: Path, bench: Bench) -> Bench:
    place_drafts(bench, drafts(ExercismDataset(), track))
    return bench


def test_an_exercise_becomes_a_case_without_tests_or_answer(track: Path) -> None:
    (draft,) = drafts(ExercismDataset(), track)
    shown = [name for name in draft.files if name.startswith("input/")]
    assert (draft.case_id, shown) == ("tally", ["input/repo/tally.py"])
    assert draft.problem.index("say who wins") < draft.problem.index("`None`")
    assert "`tally.py`" in draft.problem
    assert "votes.count" not in draft.problem


def test_the_example_solves_it_and_the_stub_does_not(tally: Bench) -> None:
    solved = tally.run("tally")
    assert solved.outcome == "passed", solved.message
    nothing = tally.run("tally", agent="nop", judge_empty_patch=True)
    assert nothing.outcome == "failed"
    assert "test_counts" in nothing.message


_TALLY = "def tally(votes):\n    return {v: votes.count(v) for v in votes}\n"


@pytest.mark.parametrize(
    "solution",
    [
        pytest.param(
            f"{_TALLY}def winner(votes):\n    return votes[0] if votes else None\n",
            id="one test passes too few",
        ),
        pytest.param("import os\nos._exit(0)\n", id="os._exit"),
        pytest.param(f"{_TALLY}import sys\nsys.exit(0)\n", id="sys.exit"),
        pytest.param(
            f"{_TALLY}import unittest\ndef winner(votes):\n"
            "    raise unittest.SkipTest('later')\n",
            id="skips",
        ),
        pytest.param(
            "import sys, unittest\ntally = winner = None\n"
            "sys.modules['tally_test'].load_tests = "
            "lambda *_: unittest.TestSuite()\n",
            id="loads no tests",
        ),
    ],
)
def test_what_does_not_pass_all_tests_fails(solution: str, tally: Bench) -> None:
    assert hand_in(tally, "tally", solution, "tally.py").outcome == "failed"


def test_skips_of_the_tests_own_are_none_of_the_solutions(
    track: Path, bench: Bench
) -> None:
    path = track / EXERCISE / "tally_test.py"
    text = path.read_text("utf-8")
    extra = (
        '    @unittest.skip("extra credit")\n    def test_more(self):\n        1 / 0\n'
    )
    path.write_text(f"{text}\n{extra}", "utf-8")
    place_drafts(bench, drafts(ExercismDataset(), track))
    assert bench.run("tally").outcome == "passed"


def test_a_solution_that_never_ends_has_failed(track: Path, bench: Bench) -> None:
    place_drafts(bench, drafts(ExercismDataset(), track, cpu_seconds=0.2))
    loop = "def tally(votes):\n    while True: pass\nwinner = tally\n"
    result = hand_in(bench, "tally", loop, "tally.py")
    assert result.outcome == "failed"
    assert "longer than 0.2 seconds of CPU time" in result.message


def test_of_the_polyglot_benchmark_python_is_taken_and_the_rest_counted(
    track: Path, tmp_path: Path
) -> None:
    for name in ("go/exercises/practice/wordy", "go/exercises/practice/zipper"):
        (tmp_path / name).mkdir(parents=True)
    with structlog.testing.capture_logs() as events:
        (draft,) = drafts(AiderPolyglotDataset(), tmp_path)
    assert (draft.instance_id, draft.case_id) == ("python/tally", "python-tally")
    (event,) = events
    assert (event["event"], event["what"], event["count"]) == (
        "dataset.skipped",
        "go",
        2,
    )


def change(**files: Any) -> dict[str, str]:
    config = TALLY_CONFIG | {"files": TALLY_CONFIG["files"] | files}
    return dict(TALLY) | {".meta/config.json": json.dumps(config)}


def without(name: str) -> dict[str, str]:
    return {key: text for key, text in TALLY.items() if key != name}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (without(".meta/config.json"), r"config.json: missing; no exercise without"),
        (dict(TALLY) | {".meta/config.json": "{"}, r"config.json: is no JSON"),
        (dict(TALLY) | {".meta/config.json": "[]"}, r"config.json: files: must be"),
        (change(solution=[]), r"files.solution: is empty"),
        (change(solution="tally.py"), r"files.solution: must be a list of paths"),
        (change(solution=["../../x.py"]), r"files.solution: must be a list of paths"),
        (change(editor=["/etc/passwd"]), r"files.editor: must be a list of paths"),
        (change(example=[".meta/a.py", ".meta/b.py"]), "has 2 files for 1"),
        (without("tally.py"), r"tally.py: missing"),
        (without(".meta/example.py"), r"example.py: missing"),
        (without(".docs/instructions.md"), r"instructions.md: missing; nothing says"),
        (without("tally_test.py"), r"tally_test.py: missing"),
        (dict(TALLY) | {"tally_test.py": "def test(): 0\n"}, "no class of unittests"),
        (dict(TALLY) | {"tally_test.py": "def ("}, "tally_test.py: is no Python"),
        (
            dict(TALLY) | {"tally.py": TALLY[".meta/example.py"]},
            "what there is already",
        ),
    ],
)
def test_a_faulty_exercise_is_told(
    files: Mapping[str, str], reason: str, tmp_path: Path
) -> None:
    write_tree(tmp_path / EXERCISE, files)
    with pytest.raises(DatasetError, match=reason):
        drafts(ExercismDataset(), tmp_path)


def test_a_directory_that_is_no_track_is_told(track: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"no checkout of exercism/python: .*practice"
    ):
        drafts(ExercismDataset(), track.parent)
    with pytest.raises(DatasetError, match="no checkout of Aider-AI/polyglot"):
        drafts(AiderPolyglotDataset(), track)
