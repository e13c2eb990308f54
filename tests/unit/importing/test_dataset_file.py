"""``dataset.toml``: what it says, and what is said of one that does not hold."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import tomli_w
from support_words import REFERENCE
from support_words import WordsOptions

from pytest_codegenie.errors import DatasetError
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.importing.dataset_file import check_source
from pytest_codegenie.importing.dataset_file import is_dataset_file
from pytest_codegenie.importing.dataset_file import make_format
from pytest_codegenie.importing.dataset_file import read_dataset_file


FORMATS = {"words": REFERENCE, "wordy": "no_such_module:Words"}
HEAD = '[dataset]\nformat = "words"\nsource = "rows.jsonl"\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("{}\n", "utf-8")
    return tmp_path / "lite.dataset.toml"


def read_and_check(file: Path) -> None:
    read = read_dataset_file(file)
    make_format(read, FORMATS)
    check_source(read)


def said(file: Path, text: str | bytes) -> str:
    """Return what is wrong with a file of this text."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DatasetError) as caught:
        read_and_check(file)
    assert caught.value.exit_code == 6
    return str(caught.value)


def with_source(file: Path, source: str, digest: str = "") -> None:
    table = {"format": "words", "source": source, "digest": digest}
    file.write_text(tomli_w.dumps({"dataset": table}), "utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "dataset: the table is missing; it has format, source and digest*"),
        ("[datset]\n", "datset: unknown table (did you mean 'dataset'?)*"),
        ("dataset = 3\n", "dataset: must be a table: [dataset]"),
        (f"options = 3\n{HEAD}", "options: must be a table: [options]"),
        ("[dataset", "not TOML: Expected ']' *"),
        (b"\xff", "not UTF-8 (line 1*"),
        ("[dataset]\n", "dataset.format: required key is missing"),
        ('[dataset]\nformat = "words"\n', "dataset.source: required key is missing"),
        (
            f"{HEAD}limits = 3\n",
            "dataset.limits: unknown key (did you mean 'limit'?); known: format, *",
        ),
        (f"{HEAD}limit = 0\n", "dataset.limit: *greater than 0, got 0"),
        (f'{HEAD}limit = "3"\n', "dataset.limit: *integer, got '3'"),
        (f'{HEAD}select = "a"\n', "dataset.select: *list, got 'a'"),
        (f"{HEAD}select = [3]\n", "dataset.select.0: *string, got 3"),
        (f'{HEAD}exclude = [""]\n', "dataset.exclude.0: *at least 1 character*"),
        (f'{HEAD}name = "Lite"\n', "dataset.name: 'Lite' is no name of a task class*"),
        (
            HEAD.replace("words", "wards"),
            "dataset.format: unknown dataset 'wards' (did you mean 'words'?); known: *",
        ),
        (
            HEAD.replace("words", "wordy"),
            "dataset.format: dataset 'wordy' is registered as *cannot be imported: *",
        ),
        (
            f"{HEAD}[options]\nhunt = 3\n",
            "options.hunt: unknown key (did you mean 'hint'?)*format 'words'*",
        ),
        (f"{HEAD}[options]\nhint = 3\n", "options.hint: *string, got 3 (format *"),
        (
            HEAD.replace("rows.jsonl", "row.jsonl"),
            "dataset.source: there is no row.jsonl (did you mean 'rows.jsonl'?); *",
        ),
        (
            HEAD.replace("rows.jsonl", "."),
            "dataset.source: '.' holds this very file, *move this file out of it",
        ),
        (
            f'{HEAD}digest = "sha256:00"\n',
            "dataset.digest: the digest must start with 'blake3:', *write: digest = *",
        ),
    ],
)
def test_what_does_not_hold(file: Path, text: str | bytes, expected: str) -> None:
    pattern = ".*".join(re.escape(part) for part in expected.split("*"))
    assert re.fullmatch(f"lite.dataset.toml: {pattern}", said(file, text))


def test_a_missing_digest_is_told(file: Path) -> None:
    now = hash_file(file.with_name("rows.jsonl"))
    message = said(file, HEAD)
    assert message.endswith(
        f'if that of rows.jsonl is what you mean, write: digest = "{now}"'
    )
    file.write_text(f'{HEAD}digest = "{now}"\n', "utf-8")
    check_source(read_dataset_file(file))


def test_another_digest_is_told_with_the_one_there_is(file: Path) -> None:
    before = hash_file(file.with_name("rows.jsonl"))
    file.with_name("rows.jsonl").write_text("{} \n", "utf-8")
    now = hash_file(file.with_name("rows.jsonl"))
    message = said(file, f'{HEAD}digest = "{before}"\n')
    assert f"it does not have {before}; restore it" in message
    assert message.endswith(f'write: digest = "{now}"')


def test_a_directory_is_a_source(file: Path) -> None:
    tree = file.parent / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "a").write_text("1", "utf-8")
    with_source(file, "tree", hash_tree(tree, exclude=".git").digest)
    check_source(read_dataset_file(file))
    # What a fetch changes is no part of it.
    (tree / ".git" / "FETCH_HEAD").write_text("x", "utf-8")
    check_source(read_dataset_file(file))
    (tree / "a").write_text("2", "utf-8")
    with pytest.raises(DatasetError, match="tree is not what was meant"):
        check_source(read_dataset_file(file))


def test_a_source_that_cannot_be_read(file: Path) -> None:
    tree = file.parent / "tree"
    tree.mkdir()
    (tree / "out").symlink_to("/etc/passwd")
    with_source(file, "tree")
    with pytest.raises(DatasetError, match=r"source: out: the link is absolute"):
        check_source(read_dataset_file(file))
    os.mkfifo(file.parent / "pipe")
    with_source(file, "pipe")
    with pytest.raises(DatasetError, match=r"source: is no file and no directory"):
        check_source(read_dataset_file(file))


def test_options_that_are_paths_are_those_of_the_file(file: Path) -> None:
    file.write_text(f'{HEAD}[options]\nattachment = "x"\nhint = "y"\n', "utf-8")
    _, options = make_format(read_dataset_file(file), FORMATS)
    assert options == WordsOptions(attachment=file.parent / "x", hint="y")


@pytest.mark.parametrize(
    ("name", "task_class"),
    [("dataset.toml", "dataset"), ("swe-lite.dataset.toml", "swe-lite")],
)
def test_names(tmp_path: Path, name: str, task_class: str) -> None:
    path = tmp_path / name
    path.write_text(HEAD, "utf-8")
    assert is_dataset_file(path)
    assert read_dataset_file(path).name == task_class
    path.write_text(f'{HEAD}name = "other"\n', "utf-8")
    assert read_dataset_file(path).name == "other"


def test_other_names(tmp_path: Path) -> None:
    for name in ("my-dataset.toml", "dataset.yaml", "case.toml", "dataset.toml.bak"):
        assert not is_dataset_file(tmp_path / name)
