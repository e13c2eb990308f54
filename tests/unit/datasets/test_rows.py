"""Rows come out of every kind of file, and what is no such file says what it is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from pytest_codegenie.datasets.reading import json_rows
from pytest_codegenie.datasets.reading.hugging_face import hub_rows
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.datasets.rows import texts_of
from pytest_codegenie.datasets.rows import value_of
from pytest_codegenie.errors import DatasetError


ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": 'é "\\" \n', "n": [1, 2.5, None]},
    {"id": "b", "text": "", "n": []},
    {"id": "c", "text": "x" * 70, "n": [{"deep": {"er": True}}]},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    files.write_table(pyarrow.Table.from_pylist(rows), path)


def error(source: Path | str, **options: str) -> str:
    with pytest.raises(DatasetError) as caught:
        list(read_rows(str(source), **options))
    return str(caught.value)


# -- what is read --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("rows.jsonl", lines(ROWS), "line 3"),
        ("rows.ndjson", "\n" + lines(ROWS) + "\n", "line 4"),
        ("rows.jsonl", lines(ROWS).replace("\n", "\r\n"), "line 3"),
        ("rows.jsonl", "\ufeff" + lines(ROWS).removesuffix("\n"), "line 3"),
        ("rows.json", lines(ROWS), "line 3"),
        ("rows.json", json.dumps(ROWS), "row 3"),
        ("rows.json", json.dumps(ROWS, indent=2, ensure_ascii=False), "row 3"),
        ("rows.jsonl", json.dumps(ROWS), "row 3"),
        ("rows.json", json.dumps({r["id"]: r for r in ROWS}), "row 3 (c)"),
        ("rows", json.dumps(ROWS), "row 3"),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_json_in_every_layout(
    tmp_path: Path, name: str, text: str, place: str, packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    rows = list(read_rows(str(path)))
    assert [row.data for row in rows] == ROWS
    assert rows[2].place == f"{path.name}, {place}"


def test_an_object_of_rows_gives_their_names(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"x": ROWS[0], "y": ROWS[1]}), "utf-8")
    assert [row.key for row in read_rows(str(path))] == ["x", "y"]


def test_an_object_whose_values_are_none_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text('{"id": 12, "more": {"a": 1}}', "utf-8")
    (row,) = read_rows(str(path))
    assert (row.place, row.data) == ("row.json, row 1", {"id": 12, "more": {"a": 1}})


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    rows=st.lists(st.dictionaries(st.text(), _VALUES), min_size=1, max_size=4),
    block=st.integers(1, 40),
    indent=st.sampled_from([None, 0, 2]),
    as_ascii=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_a_json_text_may_be_cut_into_blocks_anywhere(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    block: int,
    indent: int | None,
    as_ascii: bool,
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rows, "_BLOCK_BYTES", block)
        text = json.dumps(rows, indent=indent, ensure_ascii=as_ascii)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert [row.data for row in read_rows(str(path))] == rows
        # The last value is a number, which may go on in the next block.
        named = {"first": 1, **{str(n): r for n, r in enumerate(rows)}, "last": 123456}
        path.write_bytes(
            json.dumps(named, indent=indent, ensure_ascii=as_ascii).encode()
        )
        assert [row.data for row in read_rows(str(path))] == [named]


def test_a_large_array_is_read_a_few_rows_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([ROWS[2]] * 2000), "utf-8")
    monkeypatch.setattr(json_rows, "_BLOCK_BYTES", 1 << 10)
    longest = 0
    let_go = json_rows._Text._let_go

    def measured(text: json_rows._Text) -> None:
        nonlocal longest
        longest = max(longest, len(text._buffer))
        let_go(text)

    monkeypatch.setattr(json_rows._Text, "_let_go", measured)
    assert len(list(read_rows(str(path)))) == 2000
    assert 0 < longest < 8 << 10 < path.stat().st_size


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,text\na,"x, ""y""\nz"\n\nb\n', "utf-8")
    assert list(read_rows(str(path))) == [
        Row("rows.csv, line 2", {"id": "a", "text": 'x, "y"\nz'}),
        Row("rows.csv, line 5", {"id": "b", "text": ""}),
    ]
    path.rename(tmp_path / "rows.tsv").write_text("id\ttext\na\tb,c\n", "utf-8")
    assert [row.data for row in read_rows(str(tmp_path / "rows.tsv"))] == [
        {"id": "a", "text": "b,c"}
    ]


def test_parquet(tmp_path: Path) -> None:
    rows = [{"id": str(n), "tests": ["x", "y"]} for n in range(100)]
    parquet(tmp_path / "rows.parquet", rows)
    found = list(read_rows(str(tmp_path / "rows.parquet")))
    assert [row.data for row in found] == rows
    assert found[-1].place == "rows.parquet, row 100"


def test_a_directory_is_its_files_in_order(tmp_path: Path) -> None:
    for name in ("data/test-00001.jsonl", "data/test-00000.jsonl", "dev.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(lines([{"id": name}]), "utf-8")
    (tmp_path / "README.md").write_text("not read", "utf-8")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "x.jsonl").write_text("not read", "utf-8")
    names = ["data/test-00000.jsonl", "data/test-00001.jsonl", "dev.json"]
    rows = list(read_rows(str(tmp_path)))
    assert [row.data["id"] for row in rows] == names
    assert rows[1].place == "data/test-00001.jsonl, line 1"
    ids = [row.data["id"] for row in read_rows(str(tmp_path), split="test")]
    assert ids == names[:2]
    assert "no file of rows of the split 'train'" in error(tmp_path, split="train")
    assert "data/test-00000.jsonl" in error(tmp_path, split="train")


# -- what is not ---------------------------------------------------------------------


def first_line(row: dict[str, Any], rest: bytes) -> bytes:
    return json.dumps(row).encode() + b"\n" + rest


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.jsonl", b"", "x.jsonl: the file is empty; nothing can be imported"),
        ("x.json", b" \n ", "x.json: the file is empty; nothing can be imported"),
        ("x.csv", b"", "x.csv: the file is empty; nothing can be imported"),
        (
            "x.jsonl",
            b'{"a": 1}\n\n{"a": 1 "b"}\n',
            "x.jsonl, line 3: not JSON: Expecting ',' delimiter (column 9); found "
            "'\"b\"}'",
        ),
        (
            "x.jsonl",
            b'{"a": 1}\n{"a":\n',
            "x.jsonl, line 2: not JSON: Expecting value (column 6); the line ends "
            "there",
        ),
        (
            "x.jsonl",
            b'{"a": 1}\n3',
            "x.jsonl, line 2: a row is an object, {...}; this is a number",
        ),
        (
            "x.jsonl",
            b'{"a": 1}\n{"a": "\xe9"}',
            "x.jsonl, line 2: not UTF-8 (column 8, byte 0xe9); save the file as UTF-8",
        ),
        (
            "x.jsonl",
            b'{"a": 1}\n' + bytes(20),
            "x.jsonl, line 2: holds NUL bytes: the file is damaged, or of another kind",
        ),
        (
            "x.json",
            b'[{"a": 1},\n {"a": 1 "b"}]',
            "x.json, row 2: not JSON: Expecting ',' delimiter (line 2, column 10); "
            "found '\"b\"}]'",
        ),
        (
            "x.json",
            b'[{"a": 1}',
            "x.json, row 1: not JSON: expecting ',' or ']' (line 1, column 10); the "
            "file ends there",
        ),
        (
            "x.json",
            b'[{"a": 1}] 3',
            "x.json, row 1: not JSON: there is more behind the end (line 1, column "
            "12); found '3'",
        ),
        (
            "x.json",
            b'[{"a": tr',
            "x.json, row 1: not JSON: Expecting value (line 1, column 8); found 'tr'",
        ),
        (
            "x.json",
            b'{"a": {}, "b": []}',
            "x.json, row 2 (b): a row is an object, {...}; this is a list",
        ),
        ("x.json", b"[" * 90_000, "x.json, row 1: not usable JSON: nested too deeply"),
        (
            "x.csv",
            b"a,b\n1,2,3\n",
            "x.csv, line 2: has 3 fields, and there are 2 columns; put what holds a "
            "comma in double quotes",
        ),
        ("x.csv", b"a,b,a\n", "x.csv, line 1: a: the column stands twice; rename one"),
        ("x.csv", b'a\n"b', "x.csv, line 2: not CSV: unexpected end of data"),
        (
            "x.jsonl.gz",
            gzip.compress(lines(ROWS).encode(), mtime=0)[:-20],
            "x.jsonl.gz: the gzip file is cut off; get it again, whole",
        ),
        (
            "x.txt",
            b"hello",
            "x.txt: is no file of rows that can be read (.jsonl, .ndjson, .json, "
            ".parquet, .csv, .tsv; .gz too)",
        ),
    ],
)
@pytest.mark.parametrize("block", [3, 1 << 20])
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    data: bytes,
    message: str,
    block: int,
) -> None:
    monkeypatch.setattr(json_rows, "_BLOCK_BYTES", block)
    path = tmp_path / name
    path.write_bytes(data)
    assert error(path) == message


def test_a_row_without_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_rows, "MAX_ROW_BYTES", 1 << 12)
    monkeypatch.setattr(json_rows, "_BLOCK_BYTES", 1 << 10)
    path = tmp_path / "x.json"
    for text in ('[{"a": "', '[{"a": 1}, {"a": "'):
        path.write_text(text + "x" * (1 << 14), "utf-8")
        number = text.count("{")
        assert f"x.json, row {number}: a row of more than " in error(path)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "' + "x" * (1 << 14), "utf-8")
    assert "x.jsonl, line 1: a row of more than " in error(path)


def test_a_damaged_parquet_file_says_so(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    assert error(path).startswith("x.parquet: not usable Parquet: ")


def test_a_missing_file_names_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lite.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    assert error("data/light.jsonl") == (
        "data/light.jsonl: missing (did you mean 'lite.jsonl'?); data has no such file"
    )
    assert error("nowhere/x.jsonl") == (
        "nowhere/x.jsonl: missing; there is no directory nowhere"
    )
    assert error("data").startswith("lite.jsonl: the file is empty")


def test_a_name_of_the_hub_needs_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # As if it were not installed.
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    assert error("owner/name") == (
        "owner/name: there is no such file, and a name of the Hugging Face hub needs "
        "its library: pip install 'pytest-codegenie[huggingface]'"
    )


def test_the_library_of_the_hub_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a directory in the place of the hub, which the library takes as well."""
    library = pytest.importorskip(
        "datasets", reason="pip install 'pytest-codegenie[huggingface]'"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    data = tmp_path / "owner" / "name" / "data"
    data.mkdir(parents=True)
    for split in ("train", "test"):
        (data / f"{split}.jsonl").write_text(lines([{"id": split}] * 2), "utf-8")
    found = list(hub_rows("owner/name", split="test", revision=""))
    assert found[1] == Row("owner/name (test), row 2", {"id": "test"})
    with pytest.raises(DatasetError, match="choose one of train, test: --option split"):
        list(hub_rows("owner/name", split="", revision=""))
    with pytest.raises(DatasetError, match=r"there is no 'tst' \(did you mean 'test'"):
        list(hub_rows("owner/name", split="tst", revision=""))
    library.load_dataset("owner/name").save_to_disk("saved")
    assert [row.data for row in read_rows("saved", split="train")] == [
        {"id": "train"}
    ] * 2


# -- what a format takes out of a row ------------------------------------------------

ROW = Row("x.jsonl, line 1", {"prompt": "p", "tests": ["a"], "n": 3, "none": None})


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (
            lambda: value_of(ROW, "promt"),
            "promt: missing (did you mean 'prompt'?); the row has: prompt, tests, n, "
            "none",
        ),
        (lambda: text_of(ROW, "n"), "n: must be text, is a number"),
        (lambda: text_of(ROW, "none"), "none: must be text, is null"),
        (lambda: texts_of(ROW, "prompt"), "prompt: must be a list, is text"),
        (
            lambda: texts_of(Row(ROW.place, {"t": ["a", 1]}), "t"),
            "t: must be a list of texts; item 2 is a number",
        ),
        (
            lambda: text_of(Row(ROW.place, {"t": "a\ud800"}), "t"),
            "t: holds \\ud800 alone, half of a surrogate pair, which is no character; "
            "mend the row",
        ),
    ],
)
def test_what_a_row_lacks_is_said(take: Callable[[], object], message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        take()
    assert str(caught.value) == f"x.jsonl, line 1: {message}"


def test_defaults_stand_for_what_is_missing_or_null() -> None:
    assert text_of(ROW, "prompt", "d") == "p"
    assert text_of(ROW, "none", "d") == "d"
    assert text_of(ROW, "gone", "") == ""
    assert texts_of(ROW, "tests", ()) == ["a"]
    assert texts_of(ROW, "gone", ()) == []
