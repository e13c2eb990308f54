"""The format ``quiz``: rows with a question and its answer."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.datasets import Instance
from pytest_codegenie.datasets import case_id_of
from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.models import Difficulty
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


_FILE = "answer.txt"
_TEST = """\
import pathlib
import unittest


class TestAnswer(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(pathlib.Path({file!r}).read_text().strip(), {answer!r})
"""


class QuizOptions(DatasetOptions):
    """What ``--option`` takes."""

    #: Of every case.
    difficulty: Difficulty = "easy"


class QuizDataset:
    """Reads rows with ``id``, ``question``, ``answer`` and, if wanted, ``draft``."""

    name = "quiz"
    summary = "quiz questions: rows with id, question and answer"
    options_type = QuizOptions

    def instances(self, source: str, options: QuizOptions) -> Iterator[Instance]:
        """Yield the rows, a few in memory at a time."""
        for row in read_rows(source):
            yield Instance(text_of(row, "id"), row.place, row)

    def draft(self, instance: Instance, options: QuizOptions) -> CaseDraft:
        """Return the case of a row: its answer goes into a file."""
        row: Row = instance.data
        answer = text_of(row, "answer").strip()
        if not answer:
            raise DatasetError(
                row.place, "answer", "is empty; no case can ask for that"
            )
        before, after = text_of(row, "draft", "?\n"), f"{answer}\n"
        test = _TEST.format(file=_FILE, answer=answer)
        return CaseDraft(
            case_id=case_id_of(instance.instance_id),
            instance_id=instance.instance_id,
            task=TaskFile(
                repository=Repository(name="quiz", source="repo"),
                environment=Environment(install="none"),
            ),
            tests=TestsFile(
                framework="unittest",
                fail_to_pass=["tests.test_answer.TestAnswer.test_answer"],
            ),
            problem=f"Answer in {_FILE}, in one line.\n\n{text_of(row, 'question')}\n",
            gold_patch=file_diff(_FILE, before, after),
            files={
                f"input/repo/{_FILE}": FileContent(before.encode()),
                "expected/overlay/tests/__init__.py": FileContent(b""),
                "expected/overlay/tests/test_answer.py": FileContent(test.encode()),
            },
            difficulty=options.difficulty,
            # What else is worth keeping goes into expected/origin.toml.
            origin={"licence": text_of(row, "licence", "unknown")},
        )
