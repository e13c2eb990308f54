"""``codegenie import`` and ``codegenie list datasets``: said, kept, killed, gone on."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from integration.sessions import Project

from pytest_codegenie.cli.import_options import day_of
from pytest_codegenie.cli.import_options import options_of
from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets.custom import CustomDataset


#: A format of the project's own; where ``block`` exists, it stops at its third row.
CONFTEST = """\
import time
from pathlib import Path

from pytest_codegenie.datasets import CaseDraft, DatasetOptions, FileContent, Instance
from pytest_codegenie.datasets.rows import read_rows, text_of
from pytest_codegenie import task_files


class Options(DatasetOptions):
    prefix: str = ""
    words: list[str] = []
    count: int = 0


class Rows:
    name = "rows"
    summary = "a row is a problem"
    options_type = Options

    def instances(self, source, options):
        for number, row in enumerate(read_rows(source)):
            if number == 3 and Path("block").exists():
                Path("blocked").touch()
                time.sleep(600)
            yield Instance(options.prefix + text_of(row, "id"), row.place, row)

    def draft(self, instance, options):
        text = text_of(instance.data, "text")
        return CaseDraft(
            case_id=instance.instance_id,
            instance_id=instance.instance_id,
            task=task_files.TaskFile(
                repository=task_files.Repository(name="x", source="repo"),
                environment=task_files.Environment(install="none"),
            ),
            tests=task_files.TestsFile(
                framework="command", command="grep -q right a.txt", fail_to_pass=["a"]
            ),
            problem=text,
            gold_patch=(
                "diff --git a/a.txt b/a.txt\\n--- a/a.txt\\n+++ b/a.txt\\n"
                "@@ -1 +1 @@\\n-wrong\\n+right\\n"
            ),
            files={"input/repo/a.txt": FileContent(b"wrong\\n")},
            tags=tuple(options.words),
        )


def pytest_codegenie_datasets():
    return {"rows": "conftest:Rows"}
"""


@pytest.fixture
def rows(project: Project) -> Project:
    """A project with the format ``rows`` and five rows."""
    shutil.rmtree(project.path / "bench")
    project.path.joinpath("conftest.py").write_text(CONFTEST, "utf-8")
    lines = [json.dumps({"id": f"r{n}", "text": f"text {n}"}) for n in range(5)]
    project.path.joinpath("rows.jsonl").write_text("\n".join(lines), "utf-8")
    return project


def run(
    project: Project, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    return project.command(
        "import", *arguments, env={"PYTHONPATH": str(project.path), **env}
    )


def test_what_is_imported_runs(rows: Project) -> None:
    done = run(
        rows,
        *("rows", "rows.jsonl", "--into", "bench/mine", "--limit", "2", "--jobs", "2"),
        *("--option", "words=a", "--option", "words=b", "--option", "prefix=x-"),
        SOURCE_DATE_EPOCH="1700000000",
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "bench/mine: 2 imported\nnext: codegenie verify --oracle bench/mine\n",
        "",
    )
    case = (rows.path / "bench/mine/cases/x-r0/case.toml").read_text("utf-8")
    assert "added_at = 2023-11-14\n" in case
    assert '"a",\n' in case
    result = rows.run("bench", "--codegenie-cache", "off")
    result.assert_outcomes(passed=2)


def test_a_killed_import_leaves_whole_cases_and_is_gone_on_with(rows: Project) -> None:
    where = ("rows", "rows.jsonl", "--date", "2026-01-01", "--into")
    assert run(rows, *where, "whole/mine").returncode == 0
    rows.path.joinpath("block").touch()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest_codegenie.cli", "import"),
            *(*where, "bench/mine", "--jobs", "1"),
        ],
        cwd=rows.path,
        env={**os.environ, "PYTHONPATH": str(rows.path)},
    )
    while not (rows.path / "blocked").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    whole, made = rows.path / "whole/mine/cases", rows.path / "bench/mine/cases"
    cases = [path.name for path in made.iterdir() if path.name[0] == "r"]
    assert sorted(cases) == ["r0", "r1", "r2"]
    for name in cases:
        assert content(made / name) == {
            path: data.replace(b"whole", b"bench")
            for path, data in content(whole / name).items()
        }
    rows.path.joinpath("block").unlink()
    done = run(rows, *where, "bench/mine")
    assert done.stdout.startswith("bench/mine: 2 imported, 3 there already\n")
    assert content(made.parent) == content(whole.parent)


def content(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_ctrl_c_signs_what_is_there_and_says_how_to_go_on(rows: Project) -> None:
    rows.path.joinpath("block").touch()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest_codegenie.cli", "import", "rows"),
            *("rows.jsonl", "--into", "bench/mine", "--jobs", "1"),
        ],
        cwd=rows.path,
        env={**os.environ, "PYTHONPATH": str(rows.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (rows.path / "blocked").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    shown, complaints = process.communicate()
    assert (process.returncode, shown, complaints) == (
        2,
        "bench/mine: 3 imported; interrupted; the same command goes on\n",
        "",
    )
    digests = (rows.path / "bench/mine/cases/digests.yaml").read_text("utf-8")
    assert [line[:2] for line in digests.splitlines()] == ["r0", "r1", "r2"]


def test_bad_instances_are_named_and_the_others_imported(rows: Project) -> None:
    with rows.path.joinpath("rows.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"id": "r5"}\n{"id": "../r6", "text": ""}\n')
    done = run(rows, "rows", "rows.jsonl", "--into", "bench/mine")
    assert done.returncode == 6
    assert done.stdout.splitlines()[0] == "bench/mine: 5 imported, 2 not imported"
    assert done.stderr.splitlines() == [
        "codegenie: rows.jsonl, line 6: text: missing; the row has: id",
        "codegenie: rows.jsonl, line 7 (../r6): instance_id: gives the case id "
        "'../r6'; an id starts with a letter or digit and holds letters, digits, '.', "
        "'_' and '-', 128 at most",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["row", "rows.jsonl", "--into", "b/mine"],
            4,
            "unknown format 'row' (did you mean 'rows'?); known: ",
        ),
        (
            ["rows", "row.jsonl", "--into", "b/mine"],
            6,
            "row.jsonl: missing (did you mean 'rows.jsonl'?); . has no such file",
        ),
        (
            ["rows", "rows.jsonl", "--into", "b/Mine"],
            4,
            "--into: 'Mine' is not a task class name",
        ),
        (
            ["rows", "rows.jsonl", "--into", "b/mine", "--select", "r9"],
            4,
            "--select: 'r9' matches none of 5 instances; patterns are those ",
        ),
        (
            ["rows", "rows.jsonl", "--into", "b/mine", "--limit", "0"],
            4,
            "argument --limit: must be 1 or more, got 0",
        ),
    ],
)
def test_what_was_typed_wrong_is_said_and_nothing_is_made(
    rows: Project,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    done = run(rows, *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (rows.path / "b").exists()


class Options(DatasetOptions):
    """What a format may take."""

    prefix: str = ""
    words: tuple[str, ...] = ()
    count: int = 0
    path: str


class Taking(CustomDataset):
    """A format with options."""

    options_type = Options


def test_options_are_read_as_the_format_has_them() -> None:
    given = ["path=a=b", "words=x", "count=3", "words=y"]
    options = options_of(Taking(), given)
    assert options == Options(path="a=b", words=("x", "y"), count=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["path=.", "prefx=1"],
            "--option prefx=1: 'custom' has no option 'prefx' (did you mean "
            "'prefix'?); it has: prefix, words, count, path",
        ),
        (
            ["path=.", "count=many"],
            "--option count: Input should be a valid integer, unable to parse string "
            "as an integer, got 'many'",
        ),
        (["count"], "--option count: must be KEY=VALUE"),
        (["path=.", "path=.."], "--option path=..: 'path' is given twice"),
        ([], "--option path=...: is required"),
    ],
)
def test_options_that_a_format_has_not_are_refused(
    given: list[str], message: str
) -> None:
    with pytest.raises(UsageFault) as caught:
        options_of(Taking(), given)
    assert str(caught.value) == message
    assert caught.value.exit_code == 4


def test_the_day_is_given_or_that_of_the_source_or_today() -> None:
    epoch = {"SOURCE_DATE_EPOCH": "1700000000"}
    assert day_of("2026-11-22", epoch) == dt.date(2026, 11, 22)
    assert day_of(None, epoch) == dt.date(2023, 11, 14)
    before = dt.datetime.now(dt.UTC).date()
    assert before <= day_of(None, {}) <= dt.datetime.now(dt.UTC).date()
    with pytest.raises(UsageFault, match="'yesterday' is no day; write it as 2026-11"):
        day_of("yesterday", {})
    with pytest.raises(UsageFault, match="SOURCE_DATE_EPOCH: 'now' is no number of"):
        day_of(None, {"SOURCE_DATE_EPOCH": "now"})


def test_formats_are_listed_without_a_bench(rows: Project) -> None:
    done = rows.command("list", "datasets", env={"PYTHONPATH": str(rows.path)})
    assert done.returncode == 0
    assert "rows                 conftest:Rows\n  a row is a problem\n" in done.stdout
    assert "custom               pytest_codegenie.datasets.custom:" in done.stdout
    done = rows.command("list", "datasets", "--bench", "gone")
    assert done.returncode == 9
