"""What ``codegenie verify`` says of a corpus, all of it at once."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from support import Bench

from pytest_codegenie.corpus import Complaint
from pytest_codegenie.corpus import check_task_class


@pytest.fixture(autouse=True)
def in_the_benchs_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def complaints(bench: Bench) -> list[str]:
    return [str(complaint) for complaint in check_task_class(bench.directory)[0]]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_whole_corpus_has_no_complaint(bench: Bench) -> None:
    bench.case("fix")
    bench.case("keep", disposition="negative")
    found, cases = check_task_class(bench.directory)
    assert found == []
    assert [case.case_id for case in cases] == ["fix", "keep"]


@pytest.mark.parametrize(
    "name",
    ["rubric.py", "breakdown_keys.py", "failure_modes.yaml", "README.md", "tests"],
)
def test_a_part_that_is_missing_is_named_with_the_remedy(
    bench: Bench, name: str
) -> None:
    bench.write(bench.directory / name, None)
    first = check_task_class(bench.directory)[0][0]
    assert str(first) == (
        f"bench/demo-task/{name}: missing\n"
        "    a task class holds it; 'codegenie new task-class' shows one that is whole"
    )
    assert first.exit_code == 9


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            '    "demo-task",',
            '    "demo-" + "task",',
            ":12: the registered name is no literal, or not the directory's name\n"
            '    write @register_task_class("demo-task", ...)',
        ),
        (
            '    "demo-task",',
            '    name="demo-" "task"[0:],',
            ":12: the registered name is no literal, or not the directory's name",
        ),
        (
            ")(DemoTaskRubric)",
            ")(DemoTaskRubric)\nif 0:\n    register_task_class('x')",
            ": has 2 calls of register_task_class\n"
            '    keep exactly one: @register_task_class("demo-task", ...)',
        ),
        (
            "register_task_class(\n",
            "enrol(\n",
            ": has 0 calls of register_task_class\n",
        ),
    ],
)
def test_the_name_can_be_read_without_running_the_registration(
    bench: Bench, old: str, new: str, fault: str
) -> None:
    edit(bench.directory / "registration.py", old, new)
    assert complaints(bench)[0].startswith(f"bench/demo-task/registration.py{fault}")


def test_a_literal_name_may_be_given_by_keyword_and_the_file_may_have_a_bom(
    bench: Bench,
) -> None:
    path = bench.directory / "registration.py"
    edit(path, '    "demo-task",', '    name="demo-task",')
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert complaints(bench) == []
    edit(path, 'name="demo-task"', 'name="-".join(["demo", "task"])')
    assert len(complaints(bench)) == 1


def test_every_complaint_of_a_corpus_comes_in_one_run(bench: Bench) -> None:
    for case_id in ("changed", "gone", "no-gold", "no-task", "not-toml", "unsigned"):
        bench.case(case_id)
    bench.case("negative", disposition="negative")
    bench.write(bench.cases_dir / "no-gold/expected/gold.patch", None)
    bench.write(bench.cases_dir / "no-task/input/task.toml", "harness = 'patch'\n")
    bench.write(bench.cases_dir / "negative/expected/gold.patch", "a patch")
    bench.sign()
    bench.write(bench.cases_dir / "changed/input/problem.md", "other")
    bench.write(bench.cases_dir / "not-toml/case.toml", "no toml")
    bench.write(bench.cases_dir / "gone", None)
    lines = (bench.cases_dir / "digests.yaml").read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in lines if not line.startswith("unsigned"))
    bench.write(bench.cases_dir / "digests.yaml", kept)
    bench.write(bench.directory / "README.md", None)
    bench.write(bench.directory / "failure_modes.yaml", "a: b\n")
    edit(bench.directory / "registration.py", '"bronze": 5', '"silver": 5, "tin": 0')

    found, cases = check_task_class(bench.directory)
    text = "\n".join(str(complaint) for complaint in found)
    for expected in (
        "bench/demo-task/README.md: missing",
        "bench/demo-task/failure_modes.yaml: a: must have exactly",
        "bench/demo-task/cases/gone: digests.yaml: the entry 'gone' has no directory",
        "bench/demo-task/cases/changed: digest mismatch",
        "bench/demo-task/cases/not-toml: case.toml: not TOML",
        "bench/demo-task/cases/unsigned: digests.yaml: the case is not signed",
        "bench/demo-task/cases/no-task: input/task.toml: repository: required key",
        "bench/demo-task/cases/no-gold/expected/gold.patch: missing, though the case "
        "is positive",
        "bench/demo-task/cases/negative/expected/gold.patch: present, though the case "
        "is negative",
    ):
        assert text.count(expected) == 1
    assert len(found) == 9
    assert {complaint.exit_code for complaint in found} == {6, 9}
    assert [case.case_id for case in cases] == ["negative", "no-gold", "no-task"]


@pytest.mark.parametrize(
    ("tiers", "found"),
    [
        ('{"bronze": 5}', []),
        ("{}", []),
        (
            '{"silver": 5}',
            [
                "bench/demo-task/cases: 1 held-out cases, but "
                "bench/demo-task/registration.py declares the tier 'silver', which "
                "takes 5\n"
                "    add held-out cases until there are 5, or drop the tier"
            ],
        ),
        (
            '{"bronze": True}',
            [
                "bench/demo-task/registration.py: min_cases_for_promotion: 'bronze': "
                "True is no tier with a number of cases\n"
                "    use some of bronze, silver, gold, platinum, each with a whole "
                "number above 0"
            ],
        ),
        ('{"tin": 5}', ["'tin': 5 is no tier with a number of cases"]),
        ('{"bronze": 0}', ["'bronze': 0 is no tier with a number of cases"]),
        ('{"bronze": "5"}', ["'bronze': '5' is no tier with a number of cases"]),
        ('{"gold": 5, 3: 1}', ["3: 1 is no tier", "1 held-out cases, but"]),
    ],
)
def test_tiers_are_known_and_silver_and_above_need_five_held_out_cases(
    bench: Bench, tiers: str, found: list[str]
) -> None:
    bench.case("held-out")
    for number in range(5):
        bench.case(f"from-corpus-{number}", curation_class="rag-corpus-derived")
    edit(bench.directory / "registration.py", '{"bronze": 5}', tiers)
    actual = complaints(bench)
    assert len(actual) == len(found)
    for complaint, expected in zip(actual, found, strict=True):
        assert expected in complaint


def test_five_held_out_cases_are_enough_for_silver(bench: Bench) -> None:
    edit(bench.directory / "registration.py", '"bronze"', '"silver"')
    for number in range(5):
        bench.case(f"case-{number}")
    assert complaints(bench) == []


@pytest.mark.parametrize(
    ("complaint", "text"),
    [
        (Complaint("a", "b", "c"), "a: b\n    c"),
        (Complaint("a", "b", ""), "a: b"),
        (Complaint("", "b", ""), "b"),
    ],
)
def test_a_complaint_reads_as_place_fault_and_remedy(
    complaint: Complaint, text: str
) -> None:
    assert str(complaint) == text


def test_tiers_are_those_of_the_project(bench: Bench) -> None:
    bench.case("held-out")
    edit(bench.directory / "registration.py", '"bronze": 5', '"trusted": 5, "pro": 9')
    own = {"tried": 0, "trusted": 1, "pro": 2}
    assert [str(one) for one in check_task_class(bench.directory, tiers=own)[0]] == [
        "bench/demo-task/cases: 1 held-out cases, but bench/demo-task/registration.py "
        "declares the tier 'pro', which takes 2\n"
        "    add held-out cases until there are 2, or drop the tier"
    ]
    bench.case("another")
    assert check_task_class(bench.directory, tiers=own)[0] == []
    assert len(check_task_class(bench.directory)[0]) == 2
