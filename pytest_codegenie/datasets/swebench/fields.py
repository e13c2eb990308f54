"""What a row says, whichever of the look-alikes of SWE-bench it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.datasets.rows import value_of
from pytest_codegenie.datasets.swebench.asked_tests import TestsList
from pytest_codegenie.datasets.swebench.asked_tests import tests_of
from pytest_codegenie.datasets.swebench.multi import classic
from pytest_codegenie.datasets.swebench.reversing import Irreversible
from pytest_codegenie.datasets.swebench.reversing import reversed_diff
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.models import Difficulty


#: The classic key to how others spell it.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "FAIL_TO_PASS": ("fail_to_pass", "F2P", "f2p"),
    "PASS_TO_PASS": ("pass_to_pass", "P2P", "p2p"),
    "hints_text": ("hints",),
    "image": ("docker_image", "image_name"),
    "patch": ("gold_patch", "fix_patch"),
}
#: Verified's words; there are "1-4 hours" and ">4 hours", too.
_DIFFICULTIES: Mapping[str, Difficulty] = {
    "<15 min fix": "easy",
    "15 min - 1 hour": "medium",
}
#: What says more about where a row comes from.
_ORIGIN = ("created_at", "version", "environment_setup_commit", "difficulty", "split")
_SMITH = "swesmith/"


@dataclass(frozen=True, slots=True)
class Fields:
    """A row's classic fields."""

    row: Row
    instance_id: str
    repo: str
    #: "": the row has none.
    base_commit: str
    problem: str
    hints: str
    gold_patch: str
    test_patch: str
    fail_to_pass: TestsList
    pass_to_pass: TestsList
    version: str
    difficulty: Difficulty
    image: str
    origin: Mapping[str, str]

    @property
    def place(self) -> str:
        """Where a person finds the row."""
        return self.row.place

    def text(self, key: str) -> str:
        """Return the text of another key; "" where it is missing or is none."""
        value = self.row.data.get(key)
        return value if isinstance(value, str) else ""


def fields_of(place: str, data: Mapping[str, Any]) -> Fields:
    """Return what a row says.

    Raises:
        DatasetError: A key is missing, or its value is none for it.
    """
    row = _spelled(Row(place, classic(place, dict(data))))
    instance_id = _needed(row, "instance_id")
    row = Row(f"{place} ({instance_id})", row.data)
    repo = _needed(row, "repo")
    gold, origin = _gold(row, repo)
    return Fields(
        row=row,
        instance_id=instance_id,
        repo=repo,
        base_commit=text_of(row, "base_commit", ""),
        problem=_needed(row, "problem_statement"),
        hints=text_of(row, "hints_text", ""),
        gold_patch=gold,
        test_patch=text_of(row, "test_patch", ""),
        fail_to_pass=tests_of(row, "FAIL_TO_PASS"),
        pass_to_pass=tests_of(row, "PASS_TO_PASS"),
        version=_word(row, "version"),
        difficulty=_difficulty(row),
        image=_word(row, "image"),
        origin={
            **{key: _word(row, key) for key in _ORIGIN if _word(row, key)},
            **origin,
        },
    )


def _spelled(row: Row) -> Row:
    """Return the row with the classic spelling of its keys."""
    data = dict(row.data)
    for key, others in _SPELLINGS.items():
        for other in others:
            if data.get(key) is None and data.get(other) is not None:
                data[key] = data[other]
    return Row(row.place, data)


def _needed(row: Row, key: str) -> str:
    value = text_of(row, key)
    if not value.strip():
        raise DatasetError(row.place, key, "is empty; a case cannot do without")
    return value


def _word(row: Row, key: str) -> str:
    """Return a value that may be anything as text; "" for what is no word of it."""
    value = row.data.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return text_of(row, key, "") if isinstance(value, str) else ""


def _difficulty(row: Row) -> Difficulty:
    word = _word(row, "difficulty")
    return _DIFFICULTIES.get(word, "hard" if word else "medium")


def _gold(row: Row, repo: str) -> tuple[str, Mapping[str, str]]:
    """Return the reference solution, and what is worth saying of it.

    The ``patch`` of SWE-smith plants a fault.

    Raises:
        DatasetError: It cannot be turned round.
    """
    if not repo.startswith(_SMITH):
        return text_of(row, "patch", ""), {}
    patch = value_of(row, "patch") and text_of(row, "patch")
    try:
        return reversed_diff(patch), {"gold_patch": "the row's patch, reversed"}
    except Irreversible as exc:
        raise DatasetError(row.place, "patch", str(exc)) from None
