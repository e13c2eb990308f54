from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.state_registry import StateRegistry


STATE = "build_state.json"


def stored(directory: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((directory / STATE).read_text("utf-8"))
    return found


def test_a_missing_file_is_a_fresh_start(tmp_path: Path) -> None:
    registry = StateRegistry(tmp_path / STATE)
    assert registry.load()["completed"] == []
    assert registry.get_retry_count("P-001") == 0
    assert registry.get_next_prompt(["P-001", "P-002"]) == "P-001"
    assert not (tmp_path / STATE).exists()


def test_each_change_is_there_for_the_next_who_reads(tmp_path: Path) -> None:
    registry = StateRegistry(tmp_path)
    registry.load()
    registry.mark_completed("P-001")
    registry.mark_completed("P-001")
    registry.increment_retry("P-002")
    registry.increment_retry("P-002")
    registry.save()
    again = StateRegistry(tmp_path)
    assert again.load()["retries"] == {"P-002": 2}
    assert again.is_completed("P-001")
    assert again.get_next_prompt(["P-001", "P-002", "P-003"]) == "P-002"
    assert again.get_next_prompt(["P-001"]) is None
    assert stored(tmp_path)["completed"] == ["P-001"]


def test_a_name_that_is_no_prompt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'P-1' is no prompt's id"):
        StateRegistry(tmp_path).mark_completed("P-1")


@pytest.mark.parametrize("broken", [b"{not json", b"", b'{"completed": 3}', b"[]"])
def test_a_broken_state_is_kept_aside_and_recovered_from_the_journal(
    tmp_path: Path, broken: bytes
) -> None:
    registry = StateRegistry(tmp_path)
    registry.mark_completed("P-001")
    registry.increment_retry("P-002")
    (tmp_path / STATE).write_bytes(broken)
    again = StateRegistry(tmp_path)
    assert again.load()["retries"] == {"P-002": 1}
    assert again.is_completed("P-001")
    (aside,) = tmp_path.glob("build_state.corrupt-*.json")
    assert aside.read_bytes() == broken
    assert aside.name in again.problems[0]
    assert not again.is_lost
    # At once, as whoever reads next is to find it.
    assert stored(tmp_path)["completed"] == ["P-001"]


def test_without_a_journal_a_broken_state_is_lost_and_said_to_be(
    tmp_path: Path,
) -> None:
    (tmp_path / STATE).write_text("{", "utf-8")
    registry = StateRegistry(tmp_path)
    assert registry.load()["completed"] == []
    assert registry.is_lost
    assert "the journal has none" in registry.problems[0]
    assert len(list(tmp_path.glob("build_state.corrupt-*.json"))) == 1


def test_two_broken_states_are_both_kept(tmp_path: Path) -> None:
    for text in ("{1", "{2"):
        (tmp_path / STATE).write_text(text, "utf-8")
        StateRegistry(tmp_path).load()
    kept = tmp_path.glob("build_state.corrupt-*.json")
    assert {path.read_text("utf-8") for path in kept} == {"{1", "{2"}


def test_killed_between_journal_and_state_the_journal_counts(tmp_path: Path) -> None:
    registry = StateRegistry(tmp_path)
    registry.mark_completed("P-001")
    before = (tmp_path / STATE).read_bytes()
    registry.mark_completed("P-002")
    (tmp_path / STATE).write_bytes(before)
    assert StateRegistry(tmp_path).load()["completed"] == ["P-001", "P-002"]
    # Who only looks writes nothing; who builds mends the file.
    assert (tmp_path / STATE).read_bytes() == before
    mending = StateRegistry(tmp_path)
    with mending.locked():
        known = mending.load()
    assert json.loads((tmp_path / STATE).read_text("utf-8")) == known
    assert known["completed"] == ["P-001", "P-002"]


def test_a_state_that_somebody_put_back_counts(tmp_path: Path) -> None:
    registry = StateRegistry(tmp_path)
    registry.mark_completed("P-001")
    before = (tmp_path / STATE).read_bytes()
    registry.mark_completed("P-002")
    registry.mark_completed("P-003")
    (tmp_path / STATE).write_bytes(before)
    assert StateRegistry(tmp_path).load()["completed"] == ["P-001"]


def test_a_torn_line_of_the_journal_spoils_no_other(tmp_path: Path) -> None:
    registry = StateRegistry(tmp_path)
    registry.mark_completed("P-001")
    journal = registry.journal.path
    journal.write_bytes(journal.read_bytes() + b'{"format": 1, "revi')
    registry.mark_completed("P-002")
    (tmp_path / STATE).write_text("{", "utf-8")
    assert StateRegistry(tmp_path).load()["completed"] == ["P-001", "P-002"]


def test_while_another_process_builds_nothing_is_written(tmp_path: Path) -> None:
    holder = StateRegistry(tmp_path)
    holder.mark_completed("P-001")
    program = (
        "import sys\n"
        "from pytest_codegenie.errors import ProjectError\n"
        "from pytest_codegenie.harness.foundry.state_registry import StateRegistry\n"
        "registry = StateRegistry(sys.argv[1])\n"
        "assert registry.load()['completed'] == ['P-001']\n"
        "try:\n"
        "    registry.mark_completed('P-002')\n"
        "except ProjectError as exc:\n"
        "    sys.exit(f'refused: {exc.reason}')\n"
    )
    with holder.locked():
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert "refused: another build of this project goes on" in done.stderr
    assert stored(tmp_path)["completed"] == ["P-001"]


def test_the_lock_names_its_file(tmp_path: Path) -> None:
    with StateRegistry(tmp_path).locked():
        with pytest.raises(ProjectError, match=r"\.codegenie-build/lock: another"):
            StateRegistry(tmp_path).mark_completed("P-001")
