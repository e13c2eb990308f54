"""New task classes and cases: whole, signed, or not there at all."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from support import Bench

from pytest_codegenie.corpus import check_task_class
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import new_case
from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.corpus.scaffold import ScaffoldError
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import TaskClassNotFound


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize(
    ("name", "rubric"),
    [
        ("bug-repair", "BugRepairRubric"),
        ("x", "XRubric"),
        ("3d-print", "Task3dPrintRubric"),
        ("a--b-", "ABRubric"),
        ("class", "ClassRubric"),
    ],
)
def test_a_new_task_class_is_whole(tmp_path: Path, name: str, rubric: str) -> None:
    directory = new_task_class(name, tmp_path / "new/bench")
    assert directory == tmp_path / "new/bench" / name
    assert names(tmp_path / "new/bench") == sorted([name, "conftest.py"])
    for path in directory.rglob("*"):
        assert "$" not in path.name
        assert not path.is_file() or "$" not in path.read_text(encoding="utf-8")
    # Importing it may leave bytecode beside its modules.
    assert read_task_class(directory).rubric_class.__name__ == rubric
    assert check_task_class(directory) == ([], ())


@pytest.mark.parametrize("name", ["", "Bug", "a b", "../x", "-x", "a/b", "é", "a\n"])
def test_a_name_that_no_task_class_may_have_makes_nothing(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ScaffoldError) as caught:
        new_task_class(name, tmp_path / "bench")
    assert str(caught.value).startswith(f"{name!r} is not a task class name; use lower")
    assert names(tmp_path) == []


def test_what_is_there_is_never_touched(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.root)
    conftest = bench.root / "conftest.py"
    bench.write(conftest, "# mine\n")
    with pytest.raises(ScaffoldError, match=r"^demo-task exists; choose another name$"):
        new_task_class("demo-task", bench.root)
    new_task_class("other", bench.root)
    assert conftest.read_text(encoding="utf-8") == "# mine\n"
    assert names(bench.root) == ["conftest.py", "demo-task", "other"]


@pytest.mark.parametrize("disposition", ["positive", "negative", "ambiguous"])
def test_a_new_case_is_signed_and_has_a_pin_of_its_own(
    bench: Bench, disposition: str
) -> None:
    options = {"difficulty": "hard", "curation_class": "rag-corpus-derived"}
    for case_id in ("one", "two"):
        new_case(bench.directory, case_id, disposition=disposition, **options)
    cases = load_cases(read_task_class(bench.directory))
    assert {case.disposition for case in cases} == {disposition}
    assert {case.difficulty for case in cases} == {"hard"}
    assert {case.curation_class for case in cases} == {"rag-corpus-derived"}
    assert len({case.cassette_canary_pin for case in cases}) == 2
    assert check_task_class(bench.directory) == ([], cases)
    assert names(bench.cases_dir) == ["digests.yaml", "one", "two"]


@pytest.mark.parametrize(
    "case_id", ["", "a b", "../x", ".x", "-x", "a/b", "é", "a\n", "a" * 129, "a" * 255]
)
def test_an_id_that_no_case_may_have_makes_nothing(bench: Bench, case_id: str) -> None:
    with pytest.raises(ScaffoldError) as caught:
        new_case(bench.directory, case_id)
    assert str(caught.value).startswith(f"{case_id!r} is not a case id; start with a")
    assert names(bench.cases_dir) == ["digests.yaml"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "disposition",
            "disposition must be one of positive, negative, ambiguous, got",
        ),
        ("difficulty", "difficulty must be one of easy, medium, hard, got 'odd'"),
        ("curation_class", "must be one of held-out, rag-corpus-derived, got 'odd'"),
    ],
)
def test_an_option_outside_of_the_contract_makes_nothing(
    bench: Bench, option: str, message: str
) -> None:
    with pytest.raises(ScaffoldError) as caught:
        new_case(bench.directory, "first", **{option: "odd"})
    assert message in str(caught.value)
    assert names(bench.cases_dir) == ["digests.yaml"]


@pytest.mark.parametrize("case_id", ["first", "FIRST"])
def test_an_id_that_is_taken_makes_nothing(
    bench: Bench, case_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.cases_dir)
    bench.case("first")
    with pytest.raises(ScaffoldError) as caught:
        new_case(bench.directory, case_id)
    assert (
        str(caught.value) == "first exists; choose an id that differs by more than case"
    )
    assert names(bench.cases_dir) == ["digests.yaml", "first"]
    assert bench.load().case_id == "first"


def test_a_case_needs_a_task_class(tmp_path: Path) -> None:
    with pytest.raises(TaskClassNotFound, match="'no-class' not found in"):
        new_case(tmp_path / "no-class", "first")
    assert names(tmp_path) == []


def test_a_new_case_vouches_for_no_other(bench: Bench) -> None:
    bench.case("old")
    bench.case("broken")
    before = (bench.cases_dir / "digests.yaml").read_text(encoding="utf-8")
    bench.write(bench.cases_dir / "old/input/problem.md", "changed, not signed")
    bench.write(bench.cases_dir / "broken/case.toml", "not TOML")
    shutil.copytree(bench.cases_dir / "old", bench.cases_dir / "unsigned")
    new_case(bench.directory, "new")
    after = (bench.cases_dir / "digests.yaml").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert after.removeprefix(before).startswith("new: blake3:")


def test_where_it_cannot_be_signed_no_case_is_left(bench: Bench) -> None:
    bench.write(bench.cases_dir / "digests.yaml", "not: [a sheet")
    with pytest.raises(BenchCaseLoadError, match="not usable YAML"):
        new_case(bench.directory, "first")
    assert names(bench.cases_dir) == ["digests.yaml"]


def test_a_case_toml_that_is_made_has_exactly_the_required_keys(bench: Bench) -> None:
    text = (bench.case() / "case.toml").read_text(encoding="utf-8")
    assert list(tomllib.loads(text)) == [
        "case_id",
        "task_class",
        "disposition",
        "difficulty",
        "source",
        "curation_class",
        "added_at",
        "last_validated_at",
        "cassette_canary_pin",
    ]
