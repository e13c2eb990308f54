"""A small format of datasets, and dataset files of it: rows with a word to be written.

Plugins of tests name it: ``{"words": "support_words:WordsDataset"}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.datasets import Instance
from pytest_codegenie.datasets import case_id_of
from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


REFERENCE = "support_words:WordsDataset"
#: For a ``conftest.py``.
PLUGIN = f'def pytest_codegenie_datasets():\n    return {{"words": "{REFERENCE}"}}\n'


class WordsOptions(DatasetOptions):
    """What the format takes."""

    #: Is part of the problem.
    hint: str = ""
    #: A file that goes into each case.
    attachment: Path | None = None
    #: Of the tests.
    seconds: float | None = None


class WordsDataset:
    """Rows of ``{"id": ..., "word": ...}``: the word is to be written to a file."""

    name = "words"
    summary = "JSON lines with an id and a word."
    options_type = WordsOptions
    #: How many drafts were made in this process.
    drafted = 0

    def instances(self, source: str, options: WordsOptions) -> Iterator[Instance]:
        """Yield a row each."""
        del options
        path = Path(source)
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                row = json.loads(line)
                yield Instance(row["id"], f"{path.name}, line {number}", row)

    def draft(self, instance: Instance, options: WordsOptions) -> CaseDraft:
        """Return the case of a row."""
        type(self).drafted += 1
        row: dict[str, Any] = instance.data
        if not isinstance(row.get("word"), str):
            raise DatasetError(
                f"{instance.place} ({instance.instance_id})",
                "word",
                f"must be a word, got {row.get('word')!r}",
            )
        files = {"input/repo/word.txt": FileContent(b"nothing\n")}
        if options.attachment is not None:
            files["input/repo/attachment"] = FileContent(options.attachment)
        return CaseDraft(
            case_id=case_id_of(instance.instance_id),
            instance_id=instance.instance_id,
            task=TaskFile(
                repository=Repository(name="words/words", source="repo"),
                environment=Environment(install="none"),
            ),
            tests=TestsFile(
                framework="command",
                command=f"grep -q {row['word']} *.txt",
                timeout_seconds=options.seconds,
            ),
            problem=f"Write the word {row['word']}. {options.hint}\n",
            gold_patch=file_diff("word.txt", "nothing\n", f"{row['word']}\n"),
            files=files | {n: FileContent(b"") for n in row.get("files", ())},
            difficulty=row.get("difficulty", "easy"),
            tags=tuple(row.get("tags", ())),
        )


def write_rows(path: Path, *rows: dict[str, Any]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def rows(*ids: str) -> list[dict[str, Any]]:
    """Return good rows of these ids."""
    return [{"id": one, "word": f"word-{number}"} for number, one in enumerate(ids)]


def write_dataset_file(
    path: Path, source: Path, *, options: dict[str, Any] | None = None, **table: Any
) -> Path:
    """Write a dataset file of a source beside it, with its digest; return its path."""
    digest = hash_file(source) if source.is_file() else ""
    document = {
        "dataset": {"format": "words", "source": source.name, "digest": digest} | table,
        "options": options or {},
    }
    path.write_text(tomli_w.dumps(document), "utf-8")
    return path
