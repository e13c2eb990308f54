"""Samples of Inspect's datasets as cases, and its scorers as their hidden tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.inside.answer_scorers import is_right
from pytest_codegenie.datasets.inspect_samples import InspectDataset
from pytest_codegenie.errors import DatasetError


def samples(directory: Path, *rows: dict[str, Any], **options: Any) -> list[CaseDraft]:
    path = directory / "samples.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return drafts(InspectDataset(), path, **options)


def sample(directory: Path, row: dict[str, Any], **options: Any) -> CaseDraft:
    (made,) = samples(directory, row, **options)
    return made


def test_a_sample_becomes_a_case(tmp_path: Path) -> None:
    made = sample(tmp_path, {"id": "sum", "input": "2+2?", "target": ["4", "four"]})
    assert made.case_id == "sum"
    assert made.problem.startswith("2+2?\n\nWrite your answer to the file `answer.txt`")
    assert made.gold_patch.endswith("+4\n")
    assert made.tests.framework == "unittest"
    assert made.task.environment.install == "none"
    assert made.origin == {"scorer": "match"}


def test_samples_without_an_id_are_counted(tmp_path: Path) -> None:
    row = {"input": "?", "target": "1"}
    made = samples(tmp_path, row, {**row, "id": 7}, {**row, "id": ""})
    assert [one.instance_id for one in made] == ["1", "7", "3"]


def test_fields_have_other_names_by_options(tmp_path: Path) -> None:
    made = sample(
        tmp_path,
        {"question": "Which?", "answer": "B", "options": "red,green"},
        input="question",
        target="answer",
        choices="options",
    )
    assert made.problem == (
        "Which?\n\nA) red\nB) green\n\nAnswer with one of A, B. Write it to the file "
        "`answer.txt`, in the form `ANSWER: A`.\n"
    )
    assert made.gold_patch.endswith("+ANSWER: B\n")


def test_messages_of_a_chat_are_told_in_turn(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "Which?"}]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": content},
    ]
    made = sample(tmp_path, {"input": messages, "target": "x"})
    assert made.problem.startswith("System:\n\nBe brief.\n\nUser:\n\nWhich?\n\nWrite")


def test_csv_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("input,target,id,setup\nOne?,1,first,\n")
    (made,) = drafts(InspectDataset(), path)
    assert (made.case_id, made.problem.splitlines()[0]) == ("first", "One?")


def test_files_are_text_data_or_beside_the_dataset(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("seven\n")
    made = sample(
        tmp_path,
        {
            "input": "?",
            "target": "7",
            "files": {
                "docs": "notes",
                "b.bin": "data:application/octet-stream;base64,AAEC",
                "c.txt": "data:,a%20b",
                "d.txt": "text\n",
                "e/f.txt": "notes/a.txt",
            },
        },
    )
    contents = {
        name.removeprefix("input/repo/"): content.data
        if isinstance(content.data, bytes)
        else content.data.read_bytes()
        for name, content in made.files.items()
        if name.startswith("input/")
    }
    assert contents == {
        "answer.txt": b"",
        "docs/a.txt": b"seven\n",
        "b.bin": b"\0\1\2",
        "c.txt": b"a b",
        "d.txt": b"text\n",
        "e/f.txt": b"seven\n",
    }


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"input": ""}, "input: must be text or a list of messages, is text"),
        ({"input": 5}, "is a number"),
        ({"input": [{"role": "user", "content": [{"type": "image"}]}]}, "not 'image'"),
        ({"input": [{"role": "king", "content": "x"}]}, "is no role: 'king'"),
        ({"target": ""}, "target: missing or empty"),
        ({"target": None}, "nothing to score an answer by"),
        ({"setup": "setup.sh"}, "setup: a setup script is not run"),
        ({"sandbox": ["docker", "compose.yaml"]}, "sandbox: a sandbox of a sample's"),
        ({"choices": ["a", "b"], "target": "C"}, "is beyond the 2 choices"),
        ({"choices": ["a", "b"], "target": "?"}, "is no choice's letter"),
        ({"choices": 3}, "choices: must be a list, is a number"),
        ({"id": "???"}, "id: has no letter or digit"),
        ({"files": {"../x": "y"}}, r"files\.\.\./x: must be a path in the working"),
        ({"files": {"/etc/x": "y"}}, "must be a path in the working directory"),
        ({"files": {"victim:x": "y"}}, "names a sandbox"),
        ({"files": {"answer.txt": "y"}}, "is where the answer goes"),
        ({"files": {".git/config": "y"}}, "is git's own"),
        ({"files": {"x": "https://a/b"}}, "nothing is fetched"),
        ({"files": {"x": "data:text/plain;base64,*"}}, "is no data URL"),
        ({"files": {"x": "../outside"}}, "leads out of the dataset's directory"),
        ({"files": "{"}, "files: is no JSON"),
        ({"files": {"x": 1}}, "must be paths and their texts"),
    ],
)
def test_what_no_case_can_be_is_refused(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    (tmp_path / "outside").write_text("secret")
    directory = tmp_path / "data"
    directory.mkdir()
    row = {"input": "?", "target": "1", **fields}
    with pytest.raises(DatasetError, match=words) as caught:
        sample(directory, row)
    assert caught.value.place == "samples.jsonl, line 1"


def test_choice_needs_choices(tmp_path: Path) -> None:
    row = {"input": "?", "target": "A"}
    with pytest.raises(DatasetError, match="choices: missing; 'choice' scores by it"):
        sample(tmp_path, row, scorer="choice")


# What Inspect 0.3.285 itself says of these.
@pytest.mark.parametrize(
    ("answer", "target", "options", "right"),
    [
        ("The answer is 4.", "4", {}, True),
        ("14", "4", {}, True),
        ("14", "4", {"numeric": True}, False),
        ("it is $1,000.00", "1000", {"numeric": True}, True),
        ("2½", "2.5", {"numeric": True}, True),
        ("60%", "60", {"numeric": True}, False),
        ("5 or 6", "5", {"numeric": True, "location": "any"}, True),
        ("5 or 6", "5", {"numeric": True}, False),
        ("5 or 6", "5", {"numeric": True, "location": "begin"}, True),
        ("(42)", "42", {"numeric": True, "location": "exact"}, False),
        ("Paris it is", "paris", {"location": "begin"}, True),
        ("paris", "Paris", {"ignore_case": False}, False),
        ("in Paris, France", "Paris", {"location": "any"}, True),
        ("in Paris", "Paris", {"location": "exact"}, False),
        ("in Paris, of course", "Paris", {"scorer": "includes"}, True),
        ("paris", "Paris", {"scorer": "includes", "ignore_case": False}, False),
        ("The New-York!", "new york", {"scorer": "exact"}, True),
        ("3.0", "3", {"scorer": "exact"}, True),
        ("the", "a", {"scorer": "exact"}, False),
        ("ANSWER: b", "B", {"scorer": "choice"}, True),
        ("Hm.\nANSWER: **(B)**.", "B", {"scorer": "choice"}, False),
        ("ANSWER: A\nNo.\nANSWER: C", "C", {"scorer": "choice"}, True),
        ("ANSWER: A, C", "A,C", {"scorer": "choice", "multiple": True}, True),
        ("ANSWER: A and C", "AC", {"scorer": "choice", "multiple": True}, True),
        ("ANSWER: A, C", "A", {"scorer": "choice"}, False),
        ("B", "B", {"scorer": "choice"}, False),
        ("ANSWER: E", "E", {"scorer": "choice"}, False),
    ],
)
def test_answers_are_scored_as_inspect_scores_them(
    answer: str, target: str, options: dict[str, Any], right: bool
) -> None:
    given: dict[str, Any] = {"scorer": "match", "choices": 4, **options}
    assert is_right(answer, targets=[target], **given) is right


def test_one_of_several_targets_will_do() -> None:
    assert is_right("it is four", "match", ["4", "four"])


def test_cases_are_judged_by_the_answer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    row = {"id": "sum", "input": "2+2?", "target": "4", "files": {"n.txt": "2"}}
    place_drafts(bench, [sample(tmp_path, row, numeric=True)])
    assert bench.run("sum").outcome == "passed"
    wrong = bench.run_shell("echo 14 > answer.txt", "sum")
    assert wrong.outcome == "failed"
    assert "the answer is not right: '14\\n'" in wrong.message
    right = bench.run_shell('echo "It is $(( $(cat n.txt) + 2 ))." > answer.txt', "sum")
    assert right.outcome == "passed"
