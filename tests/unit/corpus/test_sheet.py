"""``digests.yaml``: read strictly, rewritten with what people put there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from pytest_codegenie.corpus.sheet import format_sheet
from pytest_codegenie.corpus.sheet import read_sheet
from pytest_codegenie.errors import BenchCaseLoadError


A, B, C = (f"blake3:{letter * 64}" for letter in "abc")

case_ids = st.one_of(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True),
    st.sampled_from(
        ["no", "yes", "null", "1e3", "0x10", "0o7", "1_000", "2026-01-01", "2026-13-45"]
    ),
    st.sampled_from(["1.5", ".".join("12"), "True", "ON", "n", "a" * 128, "0" * 128]),
)
digests = st.sampled_from([A, B, C])
sheets = st.dictionaries(case_ids, digests, max_size=6)
comments = st.lists(st.text("ab:'{é ", max_size=6).map("# {}".format), max_size=3)


def read(tmp_path: Path, text: str | bytes) -> dict[str, str]:
    data = text.encode() if isinstance(text, str) else text
    (tmp_path / "digests.yaml").write_bytes(data)
    return read_sheet(tmp_path)


def test_a_sheet_is_read_in_its_order(tmp_path: Path) -> None:
    text = f"# signed\nb: {B}\n\na: '{A}'  # easy\n'no': {C}\n"
    assert list(read(tmp_path, text).items()) == [("b", B), ("a", A), ("no", C)]
    assert read(tmp_path, "") == {}
    assert read(tmp_path, "# nothing yet\n") == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"a: {A}\nb: {B}\na: {A}\n", "not usable YAML: key 'a' stands twice (line 3)"),
        (f"a: {A}\n'a': {A}\n", "not usable YAML: key 'a' stands twice (line 2)"),
        ("<<<<<<< HEAD\n", "must map case ids to digests, one line a case; delete it"),
        ("- a\n", "must map case ids to digests, one line a case"),
        ("a\n", "must map case ids to digests, one line a case"),
        (f"1: {A}\n", "1: the case id 1 must stand in quotes"),
        (f"no: {A}\n", "False: the case id False must stand in quotes"),
        ("a:\n", "a: the digest must be a string, got None"),
        ("a: 3\n", "a: the digest must be a string, got 3"),
        (
            f"a: sha256:{'a' * 64}\n",
            "a: the digest must start with 'blake3:', got 'sha",
        ),
        (f"a: {'a' * 64}\n", "a: the digest must start with 'blake3:', got 'aaaaa"),
        (f"a: blake3:{'a' * 63}\n", "a: the digest must have 64 hex digits, got 63"),
        (f"a: {A.upper()}\n", "a: the digest must start with 'blake3:', got 'BLAKE3:A"),
        (f"a: blake3:{'A' * 64}\n", "a: the digest must be lower-case"),
        (f"a: blake3:{'g' * 64}\n", "a: the digest must be hexadecimal, got"),
        (b"\xef\xbb\xbfa: b\n", "starts with a byte order mark"),
        (b"a: \xff\n", "not UTF-8 (line 1, byte 0xff)"),
        ("[" * 100_000, "not usable YAML: nested too deeply"),
    ],
)
def test_a_sheet_that_cannot_be_used_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, reason: str
) -> None:
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, text)
    assert caught.value.args[:2] == (tmp_path, "digests.yaml")
    assert caught.value.reason.startswith(reason)
    assert caught.value.reason.endswith("and sign: codegenie sign .")


def test_a_nest_of_aliases_is_refused_in_a_short_message(tmp_path: Path) -> None:
    """Written out, the value would be 10 ** 8 elements."""
    levels = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    levels += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, "\n".join(levels))
    assert "the digest must be a string, got ['x', 'x'" in caught.value.reason
    assert len(caught.value.reason) < 300


def test_a_sheet_that_is_missing_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchCaseLoadError) as caught:
        read_sheet(tmp_path / "demo/cases")
    assert caught.value.reason == "missing; sign the cases: codegenie sign demo"


def test_rewriting_keeps_comments_order_and_the_other_entries() -> None:
    old = f"""\
# Signed by hand, in the order of their making.

zebra: {A}  # reviewed by two
# the next one is flaky
apple: '{A}'
"gone": {A}
"""
    new = format_sheet(old, {"apple": A, "zebra": B, "mango": C, "banana": C})
    assert (
        new
        == f"""\
# Signed by hand, in the order of their making.

zebra: {B}  # reviewed by two
# the next one is flaky
apple: {A}
banana: {C}
mango: {C}
"""
    )


@pytest.mark.parametrize(
    "old",
    [
        f"{{apple: {A}, gone: {A}, zebra: {A}}}\n",
        f"# note\n{{\n  apple: {A},\n  zebra: {A}\n}}\n",
        f"apple: {A}\nzebra: >-\n  {A}\n",
        f"? apple\n: {A}\nzebra: {A}\n",
        f"apple: {A}\nzebra: {A}\n...\n",
        f"apple: &same {A}\nzebra: *same\n",
    ],
)
def test_a_sheet_of_another_layout_is_laid_out_anew(old: str) -> None:
    new = format_sheet(old, {"zebra": B, "apple": A, "new": C})
    assert yaml.safe_load(new) == {"apple": A, "zebra": B, "new": C}
    assert list(yaml.safe_load(new)) == ["apple", "zebra", "new"]
    assert ("# note" in new) == ("# note" in old)


@settings(deadline=None)
@given(sheets, sheets, comments)
def test_whatever_was_there_the_sheet_has_exactly_the_digests(
    before: dict[str, str], after: dict[str, str], notes: list[str]
) -> None:
    old = format_sheet("\n".join(notes), before)
    assert yaml.safe_load(old) == (before or None)
    new = format_sheet(old, after)
    assert yaml.safe_load(new) == (after or None)
    kept = [case_id for case_id in before if case_id in after]
    assert [case_id for case_id in yaml.safe_load(new) or () if case_id in kept] == [
        case_id for case_id in yaml.safe_load(old) or () if case_id in kept
    ]
    assert [line for line in new.split("\n") if line.startswith("#")] == notes
    assert format_sheet(new, after) == new


def test_entries_in_the_order_of_ids_can_stay_in_it() -> None:
    now = {"c": C, "a": A, "b": B}
    ordered = f"a: {A}\nb: {B}\nc: {C}\n"
    assert format_sheet("", now, in_order=True) == ordered
    assert format_sheet(f"a: {A}\nc: {C}\n", now, in_order=True) == ordered
    # What a person made of it counts more.
    for old in (f"c: {C}\na: {A}\n", f"# mine\na: {A}\n", f"a: {A}  # easy\n"):
        text = format_sheet(old, now, in_order=True)
        assert text.startswith(old)
        assert text.endswith(f"b: {B}\n" if "c:" in old else f"b: {B}\nc: {C}\n")
    assert format_sheet(f"c: {C}\n", now) == f"c: {C}\na: {A}\nb: {B}\n"
