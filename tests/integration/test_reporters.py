"""Reports when a run ends, GitHub's step summary, and ``codegenie report``."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import wait_until
from support_runs import result
from support_runs import store_run
from support_warm import warm_python

from pytest_codegenie.cli import main


PARTS = '''
"""Reporters of somebody else's."""


class Tiny:
    name = "tiny"
    suffix = "tiny"

    def report(self, run, form):
        for one in run.results():
            yield f"{one.case_id} {one.outcome}\\n"


class Breaks(Tiny):
    suffix = "breaks"

    def report(self, run, form):
        yield "half of it"
        raise RuntimeError("no luck")


class Twin(Tiny):
    pass


class Outside(Tiny):
    suffix = "../outside"


def unmade():
    raise RuntimeError("was not made")
'''
CONFTEST = """
def pytest_codegenie_reporters():
    return {"tiny": "parts:Tiny", "breaks": "parts:Breaks", "twin": "parts:Twin",
            "outside": "parts:Outside", "unmade": "parts:unmade", "gone": "parts:Gone"}
"""


@pytest.fixture
def plugin(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.path.joinpath("parts.py").write_text(PARTS)
    project.path.joinpath("conftest.py").write_text(CONFTEST)
    monkeypatch.setenv("PYTHONPATH", str(project.path))


# -- when a run ends -----------------------------------------------------------------


def test_reports_are_written_when_the_run_ends(
    project: Project, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    run_file = project.run_file(reporters=["markdown", "csv", "console", "csv"])
    project.run(run_file, *plugin_args).assert_outcomes(passed=1, failed=1, errors=1)
    (directory,) = project.run_directories
    reports = {path.name for path in directory.glob("report.*")}
    assert reports == {"report.md", "report.csv", "report.txt"}
    with (directory / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["case_id"]: row for row in csv.DictReader(file)}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "passes": "passed",
        "fails": "failed",
        "errs": "error",
    }
    artifacts = directory / rows["fails"]["artifacts"]
    assert json.loads((artifacts / "result.json").read_text())["outcome"] == "failed"
    again = project.command("report", "--format=markdown").stdout
    assert again == (directory / "report.md").read_text("utf-8")
    assert "not finished" not in again


def test_no_report_is_written_unasked(project: Project) -> None:
    project.case()
    project.run().assert_outcomes(passed=1)
    (directory,) = project.run_directories
    assert not list(directory.glob("report.*"))


@pytest.mark.usefixtures("plugin")
def test_a_reporter_that_breaks_is_a_line_and_the_others_are_written(
    project: Project, plugin_args: list[str]
) -> None:
    project.case()
    names = ["breaks", "unmade", "gone", "outside", "tiny", "twin", "jsonl"]
    run_file = project.run_file(reporters=names)
    done = project.run_subprocess(run_file, *plugin_args)
    done.assert_outcomes(passed=1)
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [
            "reporter 'breaks': broke: RuntimeError: no luck",
            "reporter 'unmade': RuntimeError: was not made",
            "reporter 'gone' is registered as 'parts:Gone', which cannot be imported*",
            "reporter 'outside': its suffix must be that of a file, *",
            "reporter 'twin': not written: report.tiny is the file of 'tiny'; name *",
            "run * in .codegenie/runs/*",
        ]
    )
    assert_no_traceback(done)
    (directory,) = project.run_directories
    reports = {path.name for path in directory.rglob("*.*") if "report." in path.name}
    assert reports == {"report.tiny", "report.jsonl"}
    assert (directory / "report.tiny").read_text() == "first passed\n"
    assert not (directory.parent / "outside").exists()


# -- GitHub's step summary -----------------------------------------------------------


@pytest.fixture
def step_summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = project.path / "step-summary.md"
    path.write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def test_the_step_summary_gets_the_report_once(
    project: Project, step_summary: Path, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    project.run(*plugin_args).assert_outcomes(passed=1, failed=1, errors=1)
    markdown = project.command("report", "--format=markdown").stdout
    assert step_summary.read_text(encoding="utf-8") == f"# before\n{markdown}"


@pytest.mark.parametrize("option", ["--collect-only", "--codegenie-validate"])
def test_the_step_summary_gets_nothing_of_what_is_no_run(
    project: Project, step_summary: Path, option: str
) -> None:
    project.case(disposition="negative")
    assert project.run(option).ret == 0
    assert step_summary.read_text(encoding="utf-8") == "# before\n"


def test_a_step_summary_that_cannot_be_written_is_a_line(
    project: Project, step_summary: Path
) -> None:
    step_summary.unlink()
    step_summary.mkdir()
    project.case()
    done = project.run()
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [f"GITHUB_STEP_SUMMARY: {step_summary}: Is a directory", "run * in *"]
    )


def test_a_step_summary_without_a_reader_does_not_hold_the_run_up(
    project: Project, step_summary: Path
) -> None:
    step_summary.unlink()
    os.mkfifo(step_summary)
    project.case()
    done = project.run()
    assert done.ret == 0
    done.stdout.fnmatch_lines([f"GITHUB_STEP_SUMMARY: {step_summary}: No such device*"])


def test_a_step_summary_that_is_nearly_full_gets_what_fits(
    project: Project, step_summary: Path
) -> None:
    project.case()
    step_summary.write_bytes(b"x" * ((1 << 20) - 8_192))
    assert project.run().ret == 0
    assert (1 << 20) - 8_192 < step_summary.stat().st_size <= 1 << 20
    step_summary.write_bytes(b"x" * ((1 << 20) - 8_191))
    done = project.run()
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [f"GITHUB_STEP_SUMMARY: {step_summary}: is full: 8191 bytes are left of *"]
    )
    assert step_summary.stat().st_size == (1 << 20) - 8_191


# -- codegenie report ----------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


Report = Callable[..., Told]


@pytest.fixture
def report(project: Project, capsysbinary: pytest.CaptureFixture[bytes]) -> Report:
    """Run ``codegenie report`` in this process, in the project's directory."""

    def run(*arguments: str) -> Told:
        capsysbinary.readouterr()
        code = main(["report", *arguments])
        said = capsysbinary.readouterr()
        return Told(code, said.out.decode(), said.err.decode())

    return run


@pytest.fixture
def stored(project: Project) -> Path:
    """The directory of the run ``example``, begun after ``older``."""
    out = project.path / ".codegenie"
    one = result("a", "failed", message="ä", mode="not_resolved")
    store_run(out, [one, result("b")])
    store_run(out, [result("old")], run_id="older").record.started_at.isoformat()
    record = out / "runs" / "older" / "run.json"
    record.write_text(record.read_text().replace("2026-11-21", "2025-11-21"))
    return out / "runs" / "example"


@pytest.mark.parametrize(
    "name", [[], ["latest"], ["example"], [".codegenie/runs/example"], ["absolute"]]
)
def test_a_run_is_found_by_its_id_its_directory_and_as_the_latest(
    report: Report, stored: Path, name: list[str]
) -> None:
    arguments = [str(stored)] if name == ["absolute"] else name
    done = report(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run example, begun 2026-11-21 12:00:00 UTC\n")


@pytest.mark.usefixtures("stored")
def test_runs_are_where_they_are_configured(
    project: Project, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.path / ".codegenie").rename(project.path / "elsewhere")
    done = report("older", "--out", "elsewhere")
    assert done.stdout.startswith("run older, ")
    monkeypatch.setenv("CODEGENIE_OUT", "elsewhere")
    assert report("older") == done
    monkeypatch.delenv("CODEGENIE_OUT")
    done = report()
    assert (done.returncode, done.stderr) == (
        4,
        "codegenie: there is no run in .codegenie/runs; --out (of pytest: "
        "--codegenie-out) says where runs are\n",
    )


@pytest.mark.usefixtures("stored")
def test_what_there_is_not_is_named_with_what_there_is(
    project: Project, report: Report
) -> None:
    for arguments, message in (
        (
            ["exampel"],
            "there is no run 'exampel' in .codegenie/runs (did you mean 'example'?); "
            "the last ones: example, older",
        ),
        (["no/such"], "there is no directory no/such"),
        (
            [".."],
            "there is no run '..' in .codegenie/runs; the last ones: example, older",
        ),
        (["--max-bytes=100"], "--max-bytes must be at least 8192, got 100"),
        (["--output=no/such.md"], "--output: there is no directory no"),
    ):
        assert report(*arguments) == Told(4, "", f"codegenie: {message}\n")
    done = project.command("report", "--format=markdwon")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "codegenie: there is no format 'markdwon' (did you mean 'markdown'?); known: "
        "console, csv, json, jsonl, junit, markdown, swebench-predictions (codegenie "
        "list reporters)\n"
    )


def test_what_is_no_whole_run_is_said(report: Report, stored: Path) -> None:
    results, record = stored / "results.jsonl", stored / "run.json"
    whole = results.read_bytes()
    results.write_bytes(whole[:-5])
    done = report("example", "--format=jsonl")
    assert [json.loads(line)["case_id"] for line in done.stdout.splitlines()] == ["a"]
    assert (done.returncode, done.stderr) == (
        1,
        "codegenie: .codegenie/runs/example/results.jsonl: the last line was cut off "
        "and is not in the report; the results before it are whole\n",
    )
    assert "not finished: 1 of 2" in report("example").stdout
    results.unlink()
    assert failure(report, "example") == (
        ".codegenie/runs/example/results.jsonl: no case of this run has a result (2 "
        "were to run): there is nothing to report"
    )
    results.write_bytes(whole + b"{}\n")
    assert failure(report, "example").startswith(
        ".codegenie/runs/example/results.jsonl: line 3 is no result: "
    )
    record.write_text('{"run_id": 3}')
    assert failure(report, "example") == (
        ".codegenie/runs/example/run.json: is no run record: Input should be a valid "
        "string (run_id)"
    )
    assert failure(report) == (
        ".codegenie/runs/example/run.json: is no run record: Input should be a valid "
        "string (run_id); it may be of the latest run: name the one that is meant"
    )
    record.unlink()
    assert failure(report, "example") == (
        ".codegenie/runs/example/run.json: cannot be read: No such file or directory; "
        "is this a run?"
    )


def failure(report: Report, *arguments: str) -> str:
    """Return what a report that ends with 1 says."""
    done = report(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.removeprefix("codegenie: ").removesuffix("\n")


@pytest.mark.usefixtures("stored")
def test_a_report_is_written_to_a_file_and_to_what_is_none(
    project: Project, report: Report
) -> None:
    printed = report("--format=csv").stdout
    target = project.path / "target.csv"
    target.write_text("old")
    link = project.path / "link.csv"
    link.symlink_to(target)
    for name in ("link.csv", "new.csv"):
        done = report("--format=csv", f"--output={name}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        # As bytes: CSV has line ends of its own.
        assert (project.path / name).read_bytes().decode() == printed
    assert link.is_symlink()
    told = project.command("report", "--output=/dev/stderr")
    assert told.stderr.startswith("run example, ")
    done = report("--output=.")
    assert (done.returncode, done.stderr) == (1, "codegenie: .: Is a directory\n")


@pytest.mark.usefixtures("plugin", "stored")
def test_a_format_of_a_plugin_is_known(project: Project) -> None:
    done = project.command("report", "--format=tiny")
    assert (done.returncode, done.stdout) == (0, "a failed\nb passed\n")
    done = project.command("report", "--format=breaks")
    assert (done.returncode, done.stdout, done.stderr) == (
        *(1, ""),
        "codegenie: reporter 'breaks': broke: RuntimeError: no luck\n",
    )
    done = project.command("report", "--format=gone")
    assert done.returncode == 4
    assert "which cannot be imported: AttributeError" in done.stderr
    listed = project.command("list", "reporters").stdout
    assert "tiny             parts:Tiny\n" in listed
    assert "csv              pytest_codegenie.reporters.csv_rows:Csv" in listed


@pytest.mark.usefixtures("stored")
def test_bytes_are_utf_8_in_any_locale(project: Project) -> None:
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = project.command("report", "--format=jsonl", env=env)
    assert done.stderr == ""
    assert json.loads(done.stdout.splitlines()[0])["message"] == "ä"


def test_a_reader_may_stop_early(project: Project) -> None:
    results = [result(f"c{n}", message="x" * 10_000) for n in range(50)]
    store_run(project.path / ".codegenie", results)
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_codegenie.cli", "report", "--format=jsonl"],
        cwd=project.path,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    assert os.read(ours, 10)
    os.close(ours)
    _, complaints = process.communicate()
    assert (process.returncode, complaints) == (0, b"")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("env", "colours"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(
    project: Project, env: dict[str, str], *, colours: bool
) -> None:
    shown = on_a_terminal(project, {"TERM": "xterm", **env})
    assert ("\x1b[" in shown) is colours
    assert "run example" in shown
    assert "\x1b[" not in project.command("report", env={"TERM": "xterm"}).stdout


def on_a_terminal(project: Project, env: dict[str, str]) -> str:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*warm_python(), "-m", "pytest_codegenie.cli", "report"],
        cwd=project.path,
        env={**os.environ, **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 4096):
            shown += data
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    wait_until(lambda: process.poll() is not None)
    assert process.returncode == 0
    return shown.decode()
