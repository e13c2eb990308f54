"""Cases that are known before they are written: their index, and their directories."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support_datasets import DAY
from support_datasets import drafts
from support_words import WordsDataset
from support_words import WordsOptions
from support_words import rows
from support_words import write_dataset_file
from support_words import write_rows

from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import read_task
from pytest_codegenie.corpus.case_file import read_case_file
from pytest_codegenie.datasets import Instance
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.importing.dataset_file import make_format
from pytest_codegenie.importing.dataset_file import read_dataset_file
from pytest_codegenie.importing.importer import import_dataset
from pytest_codegenie.importing.lazy_cases import DRAFTS
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.importing.lazy_index import INDEX
from pytest_codegenie.importing.lazy_index import DatasetFaults
from pytest_codegenie.importing.lazy_index import Reading
from pytest_codegenie.importing.lazy_index import open_dataset


class Words:
    """A dataset file of the format ``words`` and what it comes to."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.rows = directory / "rows.jsonl"
        self.file = directory / "words.dataset.toml"
        self.format = "support_words:WordsDataset"

    def have(self, *data: dict[str, Any], **table: Any) -> None:
        write_rows(self.rows, *data)
        write_dataset_file(self.file, self.rows, **table)

    def reading(self, code: str = "") -> Reading:
        file = read_dataset_file(self.file)
        dataset, options = make_format(file, {"words": self.format})
        return Reading(file, dataset, options, self.directory / "cache", code)

    def open(self, code: str = "") -> LazyDataset:
        return open_dataset(self.reading(code))

    def ids(self) -> list[str]:
        return [lazy.case.case_id for lazy in self.open().cases]

    def fault(self) -> str:
        """Return what is wrong with the file as a whole."""
        with pytest.raises(DatasetError) as caught:
            self.open()
        assert not self.reading().directory.exists()
        return str(caught.value)

    def faults(self) -> list[str]:
        """Return what is wrong with the instances."""
        with pytest.raises(DatasetFaults) as caught:
            self.open()
        assert not self.reading().directory.exists()
        return [str(error) for error in caught.value.errors]


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Words:
    monkeypatch.chdir(tmp_path)
    made = Words(tmp_path)
    made.have(*rows("w/0", "w/1"))
    return made


# -- the index ---------------------------------------------------------------------


def test_a_written_case_is_the_one_that_is_imported(
    words: Words, tmp_path: Path
) -> None:
    dataset = words.open()
    import_dataset(
        WordsDataset(), "rows.jsonl", WordsOptions(), tmp_path / "words", day=DAY
    )
    for lazy in dataset.cases:
        imported = tmp_path / "words" / "cases" / lazy.case.case_id
        assert lazy.case.case_digest == hash_case(imported).digest
        dataset.provide(lazy)
        read = read_case_file(
            lazy.case.directory, task_class="words", digest=lazy.case.case_digest
        )
        assert read == lazy.case
        assert hash_case(read.directory).digest == read.case_digest
        read_task(read)


def test_what_a_session_has_to_know_of_a_case(words: Words) -> None:
    words.have(
        {"id": "w/0", "word": "a", "tags": ["x", "y"], "difficulty": "hard"},
        options={"seconds": 4.5},
    )
    (lazy,) = words.open().cases
    (draft,) = drafts(WordsDataset(), words.rows, seconds=4.5)
    assert (lazy.case.case_id, lazy.instance_id) == (draft.case_id, "w/0")
    assert (lazy.case.tags, lazy.case.difficulty) == (("x", "y"), "hard")
    assert lazy.case.source == "imported"
    assert (lazy.tests_timeout_seconds, lazy.needs_setup) == (4.5, False)


def test_the_order_is_that_of_the_source(words: Words) -> None:
    words.have(*rows("b", "a", "c"))
    assert words.ids() == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"limit": 2}, "a-0 b-0"),
        ({"select": ["a/*"]}, "a-0 a-1"),
        ({"select": ["a-1", "b/0"]}, "b-0 a-1"),
        ({"exclude": ["a/*"]}, "b-0 b-1"),
        ({"select": ["?/0"], "exclude": ["b*"]}, "a-0"),
        ({"select": ["a/*"], "limit": 1}, "a-0"),
    ],
)
def test_selections(words: Words, table: dict[str, Any], expected: str) -> None:
    words.have(*rows("a/0", "b/0", "a/1", "b/1"), **table)
    assert words.ids() == expected.split()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"select": ["v/*"]}, "dataset.select: 'v/*' matches none of 2 instances"),
        ({"exclude": ["v/*"]}, "dataset.exclude: 'v/*' matches no instance"),
        ({"exclude": ["w/*"]}, "dataset.source: rows.jsonl has no instance"),
    ],
)
def test_selections_of_nothing(
    words: Words, table: dict[str, Any], expected: str
) -> None:
    words.have(*rows("w/0", "w/1"), **table)
    (fault,) = words.faults()
    assert fault.startswith(f"words.dataset.toml: {expected}")


def test_an_empty_source(words: Words) -> None:
    words.have()
    assert words.faults() == [
        "words.dataset.toml: dataset.source: rows.jsonl has no instance"
    ]


def test_processes_come_to_the_same(words: Words) -> None:
    words.have(*rows(*map(str, range(300))))
    one = words.open()
    files = {name: (one.directory / name).read_bytes() for name in (INDEX, DRAFTS)}
    shutil.rmtree(one.directory)
    assert open_dataset(replace(words.reading(), processes=3)) == one
    assert files == {name: (one.directory / name).read_bytes() for name in files}


def test_an_index_is_read_as_long_as_it_holds(words: Words) -> None:
    first = words.open()
    WordsDataset.drafted = 0
    assert words.open() == first
    assert WordsDataset.drafted == 0
    assert words.open(code="newer").directory != first.directory
    words.have(*rows("w/0", "w/1"), limit=1)
    assert words.open().directory != first.directory


@pytest.mark.parametrize("name", [INDEX, "words/rubric.py"])
def test_an_index_that_was_changed_is_made_again(words: Words, name: str) -> None:
    first = words.open()
    path = first.directory / name
    good = path.read_bytes()
    path.write_bytes(good.replace(b"e", b"f"))
    assert words.open() == first
    assert path.read_bytes() == good


def test_what_a_killed_session_left_is_in_nobodys_way(words: Words) -> None:
    left = words.reading().directory
    left = left.with_name(f"{left.name}.new")
    (left / "words").mkdir(parents=True)
    (left / DRAFTS).write_text("half", "utf-8")
    assert words.ids() == ["w-0", "w-1"]
    assert not left.exists()


def test_a_file_that_an_option_names_is_part_of_what_is_indexed(words: Words) -> None:
    attachment = words.directory / "attached"
    attachment.write_text("1", "utf-8")
    words.have(*rows("w/0"), options={"attachment": "attached"})
    (before,) = words.open().cases
    attachment.write_text("2", "utf-8")
    (after,) = words.open().cases
    assert before.case.case_digest != after.case.case_digest


# -- what cannot become cases ----------------------------------------------------------


def test_each_bad_instance_is_told(words: Words) -> None:
    words.have(
        {"id": "w/0", "word": 1},
        *rows("W-1", "ok"),
        {"id": "w/1", "word": "a"},
        {"id": "../..", "word": "a"},
        {"id": "out", "word": "a", "files": ["input/../../out"]},
        {"id": "top", "word": "a", "files": ["case.toml"]},
        {"id": "both", "word": "a", "files": ["input/repo/word.txt/x"]},
        {"id": "odd", "word": "a", "difficulty": "none"},
    )
    expected = [
        "rows.jsonl, line 1 (w/0): word: must be a word, got 1",
        "rows.jsonl, line 4 (w/1): instance_id: gives the case id 'w-1', as does "
        "rows.jsonl, line 2 (W-1); leave one of them out",
        "rows.jsonl, line 5 (../..): instance_id: gives the case id ''",
        "rows.jsonl, line 6 (out): files: 'input/../../out' leads out of the case",
        "rows.jsonl, line 7 (top): files: 'case.toml' is neither in input/ nor",
        "rows.jsonl, line 8 (both): files: 'input/repo/word.txt' is a file and a",
        "rows.jsonl, line 9 (odd): difficulty: Input should be 'easy', 'medium'",
    ]
    told = words.faults()
    assert len(told) == len(expected), told
    for line, start in zip(told, expected, strict=True):
        assert line.startswith(start), line


def test_many_bad_instances_are_not_all_told(words: Words) -> None:
    words.have(*({"id": f"w/{number}"} for number in range(30)))
    told = words.faults()
    assert len(told) == 21
    assert told[-1] == "words.dataset.toml: there may be more; no more are looked for"


def test_a_source_that_cannot_be_read_on(words: Words) -> None:
    words.have({"id": "w/0"}, *rows("w/1"), {"no": "id"})
    assert words.faults() == [
        "rows.jsonl, line 1 (w/0): word: must be a word, got None",
        "rows.jsonl: the format 'words' failed on it: KeyError: 'id'",
    ]


class Broken(WordsDataset):
    """A format that fails on what it reads."""

    def instances(self, source: str, options: WordsOptions) -> Iterator[Instance]:
        raise KeyError("task_id")


def test_a_format_that_fails(words: Words) -> None:
    words.format = f"{__name__}:Broken"
    assert words.faults() == [
        "rows.jsonl: the format 'words' failed on it: KeyError: 'task_id'"
    ]


class Careless(WordsDataset):
    """A format whose source changes under its eyes."""

    def instances(self, source: str, options: WordsOptions) -> Iterator[Instance]:
        yield from super().instances(source, options)
        Path(source).write_text("{}\n", "utf-8")


def test_a_source_that_changes_while_it_is_read(words: Words) -> None:
    words.format = f"{__name__}:Careless"
    assert "rows.jsonl is not what was meant" in words.fault()


# -- the directories -------------------------------------------------------------------


def test_a_case_is_written_once(words: Words) -> None:
    dataset = words.open()
    lazy = dataset.cases[0]
    dataset.provide(lazy)
    seen = (lazy.case.directory / "case.toml").stat().st_mtime_ns
    dataset.provide(lazy)
    assert (lazy.case.directory / "case.toml").stat().st_mtime_ns == seen
    assert not dataset.cases[1].case.directory.exists()


def test_a_case_that_was_changed_is_written_again(words: Words) -> None:
    dataset = words.open()
    lazy = dataset.cases[0]
    dataset.provide(lazy)
    problem = lazy.case.directory / "input" / "problem.md"
    problem.write_text("Do nothing.\n", "utf-8")
    (lazy.case.directory / "stray").write_text("", "utf-8")
    dataset.provide(lazy)
    assert hash_case(lazy.case.directory).digest == lazy.case.case_digest
    shutil.rmtree(lazy.case.directory)
    lazy.case.directory.write_text("a file", "utf-8")
    dataset.provide(lazy)
    assert problem.read_text("utf-8").startswith("Write the word word-0.")


def test_content_of_any_kind_comes_back(words: Words) -> None:
    attachment = words.directory / "attached"
    attachment.write_bytes(bytes(range(256)))
    words.have(*rows("w/0"), options={"attachment": "attached"})
    dataset = words.open()
    dataset.provide(dataset.cases[0])
    copy = dataset.cases[0].case.directory / "input" / "repo" / "attachment"
    assert hash_file(copy) == hash_file(attachment)


def test_what_changed_since_is_not_written(words: Words) -> None:
    dataset = words.open()
    lazy = dataset.cases[0]
    path = dataset.directory / DRAFTS
    line = json.loads(path.read_bytes().splitlines()[0])
    damages: list[Any] = [
        {**line, "input/problem.md": {"text": "Do nothing.\n"}},
        {"input/problem.md": 3},
        [],
    ]
    for damage in damages:
        data = json.dumps(damage).encode()
        path.write_bytes(data.ljust(lazy.size))
        with pytest.raises(DatasetError, match=r"w/0: what is kept of it in .*damaged"):
            dataset.provide(lazy)
        assert not lazy.case.directory.exists()


def _provide(words: Words, start: Any) -> None:
    dataset = words.open()
    start.wait()
    for lazy in dataset.cases:
        dataset.provide(lazy)


def test_many_write_the_same_cases_at_once(words: Words) -> None:
    words.have(*rows(*map(str, range(12))))
    context = multiprocessing.get_context("fork")
    start = context.Barrier(3)
    processes = [
        context.Process(target=_provide, args=(words, start)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    for lazy in words.open().cases:
        assert hash_case(lazy.case.directory).digest == lazy.case.case_digest
