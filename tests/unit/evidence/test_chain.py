"""The audit chain's bytes: what is appended, and what is noticed of a change."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blake3
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.chain import GENESIS
from pytest_codegenie.evidence.audit.chain import Chain
from pytest_codegenie.evidence.audit.chain import Link
from pytest_codegenie.evidence.audit.chain import append_records
from pytest_codegenie.evidence.audit.chain import check_chain


DATA = Path(__file__).parents[2] / "data" / "audit"


def content(run_id: str, **more: Any) -> bytes:
    report = {"run_id": run_id, "task_class": "demo", "agent": "nop", **more}
    return canonical_json({"report": report, "results": {"a-t1": "é"}})


def chain_of(out: Path, count: int) -> Path:
    append_records(out, [content(f"run-{number}") for number in range(1, count + 1)])
    return out / AUDIT / CHAIN


# -- the bytes


def test_canonical_bytes_are_those_of_the_golden_file() -> None:
    for case in json.loads((DATA / "canonical.json").read_text("utf-8")):
        assert canonical_json(case["value"]).decode() == case["bytes"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800"])
def test_what_json_has_not_has_no_canonical_bytes(value: object) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant|surrogates"):
        canonical_json({"x": [value]})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        ),
        max_leaves=20,
    )
)
@settings(max_examples=50, deadline=None)
def test_canonical_bytes_read_back_as_the_value_and_are_one_line(value: Any) -> None:
    data = canonical_json(value)
    assert b"\n" not in data
    assert json.loads(data) == value
    assert canonical_json(json.loads(data)) == data


def test_the_golden_chain_verifies_and_is_made_again_byte_by_byte(
    tmp_path: Path,
) -> None:
    golden = (DATA / "chain.jsonl").read_bytes()
    path = tmp_path / AUDIT / CHAIN
    path.parent.mkdir()
    path.write_bytes(golden)
    contents = [entry.content for entry in Chain(tmp_path)]
    assert len(contents) == 2
    append_records(tmp_path / "again", contents)
    assert (tmp_path / "again" / AUDIT / CHAIN).read_bytes() == golden


def test_a_record_is_what_the_module_says_and_no_helper_of_ours_is_needed(
    tmp_path: Path,
) -> None:
    head = GENESIS
    for line in chain_of(tmp_path, 3).read_bytes().splitlines():
        record = json.loads(line)
        assert canonical_json(record) == line
        digest = blake3.blake3(
            canonical_json(record["content"]),
            derive_key_context="pytest-codegenie audit record v1",
        ).hexdigest()
        assert record["digest"] == f"blake3:{digest}"
        assert record["prev_hash"] == head
        head = hashlib.sha256((head + record["digest"]).encode("ascii")).hexdigest()
        assert record["chain_head"] == head
    assert head == check_chain(tmp_path).head


def test_no_chain_has_no_records_and_the_first_head(tmp_path: Path) -> None:
    state = check_chain(tmp_path / "nowhere")
    assert (state.records, state.head, state.torn_bytes) == (0, GENESIS, 0)
    assert not (tmp_path / "nowhere").exists()


# -- appending


def test_appending_tells_where_records_are_and_makes_private_files(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    first = append_records(out, [content("a"), content("b")])
    second = append_records(out, [content("c")])
    entries = list(Chain(out))
    assert [entry.index for entry in entries] == [1, 2, 3]
    assert [entry.link for entry in entries] == [*first.links, *second.links]
    assert first.links[0].prev_hash == GENESIS
    assert second.links[0].prev_hash == first.head == first.links[1].chain_head
    assert [entry.values()["report"]["run_id"] for entry in entries] == ["a", "b", "c"]
    assert stat.S_IMODE((out / AUDIT).stat().st_mode) == 0o700
    assert stat.S_IMODE((out / AUDIT / CHAIN).stat().st_mode) == 0o600


def test_what_is_on_record_already_is_not_appended_again(tmp_path: Path) -> None:
    first = append_records(tmp_path, [content("a"), content("b")])
    last = append_records(tmp_path, [content("c")])
    path = tmp_path / AUDIT / CHAIN
    before = path.read_bytes()
    again = append_records(tmp_path, [content("b"), content("a")])
    assert again.links == first.links[::-1]
    assert again.head == last.head
    assert path.read_bytes() == before


def test_a_record_is_synced_before_anybody_hears_of_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int]] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        path = Path(f"/proc/self/fd/{fd}").readlink()
        size = path.stat().st_size if path.is_file() else 0
        synced.append((path.name, size))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    out = tmp_path / "out"
    size = chain_of(out, 2).stat().st_size
    assert synced == [(CHAIN, size), (AUDIT, 0), ("out", 0)]


def test_a_chain_that_does_not_verify_is_not_appended_to(tmp_path: Path) -> None:
    path = chain_of(tmp_path, 2)
    spoilt = path.read_bytes().replace(b"run-1", b"run-7")
    path.write_bytes(spoilt)
    with pytest.raises(ChainTamperDetected):
        append_records(tmp_path, [content("c")])
    assert path.read_bytes() == spoilt


def test_what_a_crash_left_of_a_record_is_removed_by_the_next_writer(
    tmp_path: Path,
) -> None:
    path = chain_of(tmp_path, 3)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = len(whole) - len(lines[-1])
    for cut in range(start + 1, len(whole)):
        path.write_bytes(whole[:cut])
        state = check_chain(tmp_path)
        assert (state.records, state.torn_bytes) == (2, cut - start)
        if cut % 97 == 0 or cut == len(whole) - 1:
            append_records(tmp_path, [content("run-3")])
            assert path.read_bytes() == whole


def make_directory(path: Path) -> None:
    path.mkdir(parents=True)


def make_fifo(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)


def make_file_above(path: Path) -> None:
    path.parent.write_text("")


@pytest.mark.parametrize(
    ("spoil", "read", "written"),
    [
        (make_directory, "no regular file", "Is a directory"),
        (make_fifo, "no regular file", "no regular file"),
        (make_file_above, "Not a directory", "Not a directory|File exists"),
    ],
)
def test_what_is_in_the_way_is_named(
    tmp_path: Path, spoil: Callable[[Path], None], read: str, written: str
) -> None:
    spoil(tmp_path / AUDIT / CHAIN)
    with pytest.raises(RunStoreError, match=f"{CHAIN}: .*{read}"):
        check_chain(tmp_path)
    with pytest.raises(RunStoreError, match=f"{CHAIN}: .*({written})"):
        append_records(tmp_path, [content("a")])


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / AUDIT).mkdir()
    target = tmp_path / "elsewhere"
    target.write_text("")
    (tmp_path / AUDIT / CHAIN).symlink_to(target)
    with pytest.raises(RunStoreError, match="symbolic links"):
        append_records(tmp_path, [content("a")])
    assert target.read_text() == ""


# -- what is noticed


def broken_record(out: Path) -> ChainTamperDetected:
    with pytest.raises(ChainTamperDetected) as caught:
        check_chain(out)
    return caught.value


@pytest.mark.parametrize("key", ["chain_head", "content", "digest", "prev_hash"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_changed_key_is_noticed_in_its_record(
    tmp_path: Path, key: str, number: int
) -> None:
    path = chain_of(tmp_path, 3)
    lines = path.read_bytes().splitlines()
    record = json.loads(lines[number - 1])
    if key == "content":
        record["content"]["report"]["agent"] = "nip"
    else:
        record[key] = record[key][:-1] + ("0" if record[key][-1] != "0" else "1")
    lines[number - 1] = canonical_json(record)
    path.write_bytes(b"\n".join(lines) + b"\n")
    error = broken_record(tmp_path)
    agent = "nip" if key == "content" else "nop"
    assert error.record == f"{number} (run-{number}, demo, {agent})"
    assert error.what == ("digest" if key == "content" else key)
    assert error.expected == record["digest" if key == "content" else key]
    assert error.path == path


@pytest.mark.parametrize(
    ("edit", "record", "what"),
    [
        (lambda lines: lines[1:], "1 (run-2, demo, nop)", "prev_hash"),
        (lambda lines: [lines[0], *lines[2:]], "2 (run-3, demo, nop)", "prev_hash"),
        (lambda lines: [*lines, lines[-1]], "5 (run-4, demo, nop)", "prev_hash"),
        (lambda lines: [lines[0], *lines], "2 (run-1, demo, nop)", "prev_hash"),
        (lambda lines: lines[::-1], "1 (run-4, demo, nop)", "prev_hash"),
        (
            lambda lines: [lines[0], lines[2], lines[1], lines[3]],
            "2 (run-3, demo, nop)",
            "prev_hash",
        ),
        (lambda lines: [b"\n", *lines], "1", "the line"),
        (lambda lines: [*lines[:2], b"{}\n", *lines[2:]], "3", "the line"),
        (lambda lines: [lines[0][:-9], *lines[1:]], "1 (run-1, demo, nop)", "digest"),
        (
            lambda lines: [lines[0].replace(b'":', b'": ', 1), *lines[1:]],
            "1 (run-1, demo, nop)",
            "the line",
        ),
    ],
    ids=[
        *("the first is gone", "one is gone", "the last twice", "the first twice"),
        *("reversed", "two change places", "an empty line", "a foreign line"),
        *("a line end is gone", "a space"),
    ],
)
def test_removed_moved_and_added_records_are_noticed(
    tmp_path: Path,
    edit: Callable[[list[bytes]], list[bytes]],
    record: str,
    what: str,
) -> None:
    path = chain_of(tmp_path, 4)
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))
    error = broken_record(tmp_path)
    assert (error.record, error.what) == (record, what)


def test_the_end_can_be_cut_off_between_records_and_the_chain_alone_is_silent(
    tmp_path: Path,
) -> None:
    """What an anchored head, or the report in its run, is for."""
    path = chain_of(tmp_path, 3)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert check_chain(tmp_path).records == 2


def is_noticed(out: Path) -> bool:
    """Tell whether a chain of two records is not what it was."""
    try:
        state = check_chain(out)
    except ChainTamperDetected:
        return True
    return state.torn_bytes > 0 or state.records != 2


@pytest.fixture(scope="module")
def two_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("two")
    chain_of(out, 2)
    return out


def test_every_single_changed_byte_is_noticed(two_records: Path) -> None:
    path = two_records / AUDIT / CHAIN
    whole = path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(whole):
            for other in {byte ^ 1, ord("\n")} - {byte}:
                os.pwrite(file.fileno(), bytes([other]), place)
                with pytest.raises(ChainTamperDetected):
                    check_chain(two_records)
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    assert path.read_bytes() == whole


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_any_other_bytes_anywhere_are_noticed(
    two_records: Path, data: st.DataObject
) -> None:
    """Replaced, inserted or removed: noticed, if only as a record that was cut off."""
    path = two_records / AUDIT / CHAIN
    whole = path.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    removed = data.draw(st.integers(0, min(40, len(whole) - start)))
    inserted = data.draw(st.binary(max_size=40))
    changed = whole[:start] + inserted + whole[start + removed :]
    try:
        path.write_bytes(changed)
        assert is_noticed(two_records) == (changed != whole)
    finally:
        path.write_bytes(whole)


def test_a_line_end_that_was_changed_is_no_torn_record(tmp_path: Path) -> None:
    """Else the next writer would remove the record for whoever changed it."""
    path = chain_of(tmp_path, 2)
    whole = path.read_bytes()
    for end in (b" ", b"\r", b"x", b"\0", b"\xff", b"\r\r"):
        path.write_bytes(whole[:-1] + end)
        error = broken_record(tmp_path)
        assert (error.record, error.what) == ("2 (run-2, demo, nop)", "the end")
        with pytest.raises(ChainTamperDetected):
            append_records(tmp_path, [content("c")])


def test_a_chain_that_is_appended_to_while_it_is_read_ends_where_it_was_opened(
    tmp_path: Path,
) -> None:
    chain_of(tmp_path, 2)
    chain = Chain(tmp_path)
    seen = []
    for entry in chain:
        append_records(tmp_path, [content(f"later-{entry.index}")])
        seen.append(entry.index)
    assert seen == [1, 2]
    assert check_chain(tmp_path).records == 4


def test_a_message_shows_what_the_file_says_without_breaking_the_terminal(
    tmp_path: Path,
) -> None:
    path = chain_of(tmp_path, 1)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"run-1"', b'"\x1b[31m\xff"'))
    text = str(broken_record(tmp_path))
    assert "\x1b" not in text
    assert "1 (\\x1b[31m\\xff, demo, nop)" in text


def test_links_are_what_a_report_takes() -> None:
    assert Link("a", "b")._asdict() == {"prev_hash": "a", "chain_head": "b"}
