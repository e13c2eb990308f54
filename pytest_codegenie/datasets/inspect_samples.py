"""The format ``inspect``: samples of a dataset file, as Inspect reads them.

The agent writes its answer to a file, and a hidden test scores that as one of Inspect's
scorers would. Scorers that ask a model are not here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Literal

from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.inside import answer_scorers
from pytest_codegenie.datasets.inspect_files import sample_files
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import check_text
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import type_name
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


ANSWER = "answer.txt"
_TESTS = "expected/overlay/answer_tests"
_TEST_ID = "answer_tests.test_answer.TestAnswer.test_answer"
_SCRIPT = Path(answer_scorers.__file__)
#: Sandboxes that say no more than that there is one.
_PLAIN = ("", "docker", "local")
_TEST_FILE = '''\
"""The hidden test: whether the answer is right."""

import json
import pathlib
import unittest

from answer_tests import answer_scorers


SAMPLE = json.loads({sample})


class TestAnswer(unittest.TestCase):
    def test_answer(self):
        path = pathlib.Path({answer!r})
        self.assertTrue(path.is_file(), "there is no file {answer}")
        answer = path.read_text(encoding="utf-8", errors="replace")
        self.assertTrue(answer.strip(), "{answer} is empty")
        right = answer_scorers.is_right(answer, **SAMPLE)
        self.assertTrue(right, "the answer is not right: " + repr(answer[-500:]))
'''
_ASKED = """\

Write your answer to the file `{answer}`, and nothing else into it.
"""
_CHOICE = """\

Answer with {letters}. Write it to the file `{answer}`, in the form `ANSWER: {form}`.
"""


class InspectOptions(DatasetOptions):
    """Which fields a sample is made of (Inspect's FieldSpec), and how it is scored."""

    #: Of a directory or the hub.
    split: str = ""
    #: Of a dataset on the hub: a commit, tag or branch.
    revision: str = ""
    input: str = "input"
    target: str = "target"
    choices: str = "choices"
    id: str = "id"
    files: str = "files"
    setup: str = "setup"
    sandbox: str = "sandbox"
    #: ``auto``: choice where a sample has choices, else match.
    scorer: Literal["auto", "match", "includes", "exact", "choice"] = "auto"
    #: Of ``match``.
    location: Literal["begin", "end", "any", "exact"] = "end"
    #: Of ``match`` and ``includes``.
    ignore_case: bool = True
    #: Of ``match``.
    numeric: bool = False
    #: Of ``choice``: several may be right.
    multiple_correct: bool = False


@dataclass(frozen=True, slots=True)
class _Sample:
    """A row, where it stands, and the directory that its files are relative to."""

    row: Row
    number: int
    directory: str


class InspectDataset:
    """Reads samples of Inspect's dataset files."""

    name = "inspect"
    summary = "samples of an Inspect dataset: JSON, JSON lines, CSV"
    options_type: type[DatasetOptions] = InspectOptions

    def instances(self, source: str, options: InspectOptions) -> Iterator[Instance]:
        """Yield the samples in their order; those without an id are counted."""
        path = Path(source).absolute()
        directory = path if path.is_dir() else path.parent
        rows = read_rows(source, split=options.split, revision=options.revision)
        for number, row in enumerate(rows, 1):
            known = row.data.get(options.id)
            name = str(number if known in (None, "") else known)
            yield Instance(name, row.place, _Sample(row, number, str(directory)))

    def draft(self, instance: Instance, options: InspectOptions) -> CaseDraft:
        """Return the draft of a sample."""
        sample: _Sample = instance.data
        row = sample.row
        _refuse(row, options)
        case_id = case_id_of(instance.instance_id)
        if not case_id:
            raise DatasetError(row.place, options.id, "has no letter or digit")
        choices, targets = _choices(row, options.choices), _targets(row, options)
        scoring = _scoring(row, options, choices, targets)
        files = sample_files(row, options.files, Path(sample.directory), (ANSWER,))
        return CaseDraft(
            case_id=case_id,
            instance_id=instance.instance_id,
            task=TaskFile(
                repository=Repository(name="inspect", source="repo"),
                environment=Environment(install="none"),
            ),
            tests=TestsFile(framework="unittest", fail_to_pass=[_TEST_ID]),
            problem=_problem(row, options, choices, scoring),
            gold_patch=file_diff(ANSWER, "", _right_answer(targets, scoring)),
            files={
                **files,
                f"input/repo/{ANSWER}": FileContent(b""),
                f"{_TESTS}/__init__.py": FileContent(b""),
                f"{_TESTS}/answer_scorers.py": FileContent(_SCRIPT.read_bytes()),
                f"{_TESTS}/test_answer.py": FileContent(_test_file(scoring)),
            },
            origin={"scorer": scoring["scorer"]},
        )


def _refuse(row: Row, options: InspectOptions) -> None:
    """Refuse what would have to be run before the agent starts.

    Raises:
        DatasetError: The sample has a script, or a sandbox of its own.
    """
    if _is_there(row.data.get(options.setup)):
        raise DatasetError(
            row.place,
            options.setup,
            "a setup script is not run; put the files that it makes among the sample's "
            "files, or what it installs into an image (docker.image)",
        )
    sandbox = row.data.get(options.sandbox)
    if _is_there(sandbox) and sandbox not in _PLAIN:
        raise DatasetError(
            row.place,
            options.sandbox,
            f"a sandbox of a sample's own is not made: {sandbox!r}; without it, the "
            "sample runs in the workspace of the run",
        )


def _is_there(value: object) -> bool:
    """Say whether a field says something; an empty cell of CSV does not."""
    return value not in (None, "") and value == value


def _choices(row: Row, key: str) -> list[str]:
    value = row.data.get(key)
    if not _is_there(value):
        return []
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        return [part.strip() for part in parts if part.strip()]
    if not isinstance(value, list):
        raise DatasetError(row.place, key, f"must be a list, is {type_name(value)}")
    return [str(choice) for choice in value if str(choice).strip()]


def _targets(row: Row, options: InspectOptions) -> list[str]:
    key = options.target
    value = row.data.get(key)
    values = value if isinstance(value, list) else [value]
    targets = [str(one) for one in values if _is_there(one)]
    if not any(target.strip() for target in targets):
        raise DatasetError(
            row.place, key, "missing or empty: there is nothing to score an answer by"
        )
    for target in targets:
        check_text(row, key, target)
    return targets


def _scoring(
    row: Row, options: InspectOptions, choices: Sequence[str], targets: list[str]
) -> dict[str, Any]:
    """Return what the hidden test is called with."""
    scorer = options.scorer
    if scorer == "auto":
        scorer = "choice" if choices else "match"
    if scorer != "choice":
        return {
            "scorer": scorer,
            "targets": targets,
            "location": options.location,
            "ignore_case": options.ignore_case,
            "numeric": options.numeric,
        }
    if not choices:
        raise DatasetError(row.place, options.choices, "missing; 'choice' scores by it")
    try:
        positions = answer_scorers.asked(targets)
    except ValueError as exc:
        raise DatasetError(row.place, options.target, str(exc)) from exc
    if max(positions) >= len(choices):
        raise DatasetError(
            row.place,
            options.target,
            f"{', '.join(targets)!r} is beyond the {len(choices)} choices",
        )
    return {
        "scorer": scorer,
        "targets": targets,
        "choices": len(choices),
        "multiple": options.multiple_correct or len(positions) > 1,
    }


def _right_answer(targets: list[str], scoring: dict[str, Any]) -> str:
    if scoring["scorer"] != "choice":
        text = next(target for target in targets if target.strip())
        return text if text.endswith("\n") else f"{text}\n"
    letters = [answer_scorers.letter(one) for one in answer_scorers.asked(targets)]
    return f"ANSWER: {','.join(letters)}\n"


def _problem(
    row: Row, options: InspectOptions, choices: list[str], scoring: dict[str, Any]
) -> str:
    text = _input(row, options.input)
    if not choices:
        return f"{text}\n{_ASKED.format(answer=ANSWER)}"
    names = [answer_scorers.letter(position) for position in range(len(choices))]
    listed = "\n".join(
        f"{name}) {choice}" for name, choice in zip(names, choices, strict=True)
    )
    asked = _ASKED.format(answer=ANSWER)
    if scoring["scorer"] == "choice":
        several = scoring["multiple"]
        letters = f"one {'or more ' if several else ''}of {', '.join(names)}"
        form = "A,B" if several else "A"
        asked = _CHOICE.format(letters=letters, answer=ANSWER, form=form)
    return f"{text}\n\n{listed}\n{asked}"


def _input(row: Row, key: str) -> str:
    """Return what a sample asks: its text, or the messages of a chat."""
    value = row.data.get(key)
    if isinstance(value, str) and value.strip():
        check_text(row, key, value)
        return value.rstrip()
    if not isinstance(value, list) or not value:
        raise DatasetError(
            row.place,
            key,
            f"must be text or a list of messages, is {type_name(value)}"
            if key in row.data
            else f"missing; the row has: {', '.join(row.data)}",
        )
    messages = [_message(row, f"{key}[{i}]", one) for i, one in enumerate(value)]
    if len(messages) == 1:
        return messages[0][1]
    return "\n\n".join(f"{role}:\n\n{text}" for role, text in messages)


def _message(row: Row, key: str, message: object) -> tuple[str, str]:
    """Return a message's role and text."""
    if not isinstance(message, dict):
        raise DatasetError(row.place, key, f"is no message, but {type_name(message)}")
    role = message.get("role")
    if role not in ("system", "user", "assistant", "tool"):
        raise DatasetError(row.place, f"{key}.role", f"is no role: {role!r}")
    content = message.get("content")
    parts = [content] if isinstance(content, str) else content
    if not isinstance(parts, list):
        raise DatasetError(row.place, f"{key}.content", "must be text or a list")
    texts = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            kind = part.get("type") if isinstance(part, dict) else type_name(part)
            raise DatasetError(
                row.place, f"{key}.content", f"only text is carried over, not {kind!r}"
            )
        check_text(row, f"{key}.content", text)
        texts.append(text)
    return role.capitalize(), "\n\n".join(texts).rstrip()


def _test_file(scoring: dict[str, Any]) -> bytes:
    sample = repr(json.dumps(scoring, sort_keys=True))
    return _TEST_FILE.format(sample=sample, answer=ANSWER).encode()
