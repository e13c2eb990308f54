"""``codegenie run``: a door to pytest, and what it says beforehand."""

from __future__ import annotations

import shlex
import subprocess
import tarfile
from pathlib import Path

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from support import FIX
from support_warm import warm_python

from pytest_codegenie import load_run
from pytest_codegenie.cli.main import make_parser
from pytest_codegenie.cli.run import pytest_arguments


def printed_command(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the arguments of the pytest command that was printed."""
    first, *_ = done.stdout.splitlines()
    dollar, program, *arguments = shlex.split(first)
    assert (dollar, program) == ("$", "pytest")
    return arguments


# -- running -----------------------------------------------------------------------


def test_it_runs_what_the_printed_command_runs(project: Project) -> None:
    project.three_outcomes()
    project.shell_agent(FIX, trials=2)
    done = project.command(
        *("run", "-c", "run.yaml", "-d", "demo-task", "-n", "2", "-i", "errs"),
        *("-i", "passes", "--run-id", "one", "--", "-p", "no:cacheprovider", "-q"),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    arguments = printed_command(done)
    assert arguments == [
        *("--codegenie", "bench", "--codegenie-run-file=run.yaml"),
        *("--codegenie-dataset=demo-task", "--codegenie-limit=2"),
        *("--codegenie-case=errs", "--codegenie-case=passes"),
        *("--codegenie-run-id=one", "-p", "no:cacheprovider", "-q"),
    ]
    again = [word.replace("run-id=one", "run-id=two") for word in arguments]
    result = project.pytester.runpytest_inprocess(*again)
    assert result.ret == done.returncode
    first, second = (
        [(one.case_id, one.trial, one.outcome) for one in load_run(run).results]
        for run in project.run_directories
    )
    assert first == second
    assert len(first) == 4


def test_every_option_is_pytests(project: Project) -> None:
    options = make_parser().parse_args(
        [
            *("run", "bench/a", "bench/b c", "-c", "r.yaml", "-d", "x:held-out"),
            *("-d", "y", "-a", "nop", "-a", "oracle:o", "-n", "3", "-i", "z", "-w"),
            *("auto", "--run-id", "id", "--log-level", "debug", "--no-docker"),
        ]
    )
    options.passed_on = ["-x"]
    assert list(pytest_arguments(options)) == [
        *("--codegenie", "bench/a", "bench/b c", "--codegenie-run-file=r.yaml"),
        *("--codegenie-dataset=x:held-out", "--codegenie-dataset=y"),
        *("--codegenie-agent=nop", "--codegenie-agent=oracle:o"),
        *("--codegenie-limit=3", "--codegenie-case=z", "--codegenie-run-id=id"),
        *("--codegenie-log-level=debug", "-n", "auto", "--codegenie-no-docker", "-x"),
    ]


def test_workers_run_in_parallel(project: Project) -> None:
    project.case("first")
    done = project.command("run", "-w", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "created: 1/1 worker" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-d", "demo"], 4, "there is no dataset 'demo' in bench (did you mean"),
        (["-n", "-1"], 4, "--codegenie-limit: Input should be greater than or equal"),
        (["-c", "bench"], 4, "bench: is a directory, not a regular file"),
        (["nowhere"], 4, "file or directory not found: nowhere"),
        (["--no-such-option"], 4, "unrecognized arguments: --no-such-option"),
        (["-c", "docker.yaml", "--no-docker"], 4, "'docker' is refused"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_dry_run_and_a_run_refuse_alike(
    project: Project, arguments: list[str], code: int, message: str
) -> None:
    project.case("first")
    project.path.joinpath("docker.yaml").write_text("workspace: docker\n")
    done = project.command("run", "--dry-run", *arguments)
    assert (done.returncode, message in done.stderr) == (code, True), done
    assert "Traceback" not in done.stderr
    assert not project.run_directories


def test_a_run_that_is_refused_ends_as_pytest_does(project: Project) -> None:
    project.case("first")
    done = project.command("run", "-d", "demo")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "there is no dataset 'demo' in bench (did you mean" in done.stderr


def test_where_there_is_no_bench_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [*warm_python(), "-m", "pytest_codegenie.cli", "run"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 4
    assert "file or directory not found: bench" in done.stderr


# -- the dry run -------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_run(project: Project) -> None:
    project.case("first")
    project.case("second", curation_class="rag-corpus-derived")
    project.shell_agent(FIX, trials=3, workers=2, reporters=["csv"])
    done = project.command("run", "-c", "run.yaml", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed_command(done) == [
        "--codegenie",
        "bench",
        "--codegenie-run-file=run.yaml",
    ]
    lines = done.stdout.splitlines()
    assert lines[2:6] == [
        "cases         2, verified; 1 agent, 3 trials: 6 items",
        "              demo-task:held-out 1",
        "              demo-task:rag-corpus-derived 1",
        "agents        shell (command): can be started, no version known",
    ]
    assert lines[6].startswith(f"workspace     {AUTO_WORKSPACE}: ")
    assert lines[7] == "environments  none needed"
    assert " GiB free in .codegenie/runs" in lines[8]
    assert " GiB free in /" in lines[9]
    assert lines[10:] == [
        "reporters     csv",
        "workers       2",
        "time          unknown: no earlier result of these agents on these datasets",
        "cost          unknown: no earlier result with a cost that an agent reported",
    ]
    assert not project.run_directories


def test_earlier_runs_tell_what_it_may_take(project: Project) -> None:
    project.case("first")
    project.run().assert_outcomes(passed=1)
    project.case("second")
    text = project.command("run", "--dry-run", "-a", "oracle", "-a", "nop").stdout
    assert "by the medians of 1 earlier result; unknown for 2 of 4 items" in text
    assert "cost          unknown: " in text


def test_code_is_to_be_fetched_and_then_here(project: Project) -> None:
    text = '[repository]\nname = "a/b"\nsource = "code.tar"\n[environment]\n'
    task = {"input/task.toml": text + 'install = "none"\n'}
    directory = project.case("first", files=RIGHT_IF_MENDED | task)
    with tarfile.open(directory / "input" / "code.tar", "w") as tar:
        tar.add(directory / "input" / "repo", "repo")
    project.bench.sign()
    text = project.command("run", "--dry-run").stdout
    assert "environments  code: 1 to be fetched\n" in text
    assert "not known for 1 cases: their code is not fetched yet\n" in text
    project.run().assert_outcomes(passed=1)
    text = project.command("run", "--dry-run").stdout
    assert "environments  code: 1 here\ndisk " in text


def test_an_environment_is_to_be_built(project: Project) -> None:
    task = '[repository]\nname = "a/b"\nsource = "repo"\n[environment]\n'
    project.case("plain")
    for name in ("one", "two"):
        text = f'{task}install = ["true"]\n'
        project.case(name, files={"input/task.toml": text})
    text = f'{task}install = "none"\npython = "2.3"\n'
    project.case("old", files={"input/task.toml": text})
    done = project.command("run", "--dry-run")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "environments  1 to be built\n" in done.stdout
    assert "1 fault:\n- case 'old': Python 2.3 is not installed: " in done.stdout


def test_every_fault_is_listed(project: Project) -> None:
    project.case("first")
    project.run("--codegenie-run-id=taken").assert_outcomes(passed=1)
    project.run_file(
        agents=[
            {"name": "command", "label": "a", "options": {"command": ["no-such-one"]}},
            {"name": "command", "label": "b", "options": {"comand": ["true"]}},
            {"name": "predictions", "label": "c", "options": {"path": "none.jsonl"}},
            {"name": "nop"},
        ],
        run_id="taken",
    )
    done = project.command("run", "-c", "run.yaml", "--dry-run")
    assert done.returncode == 1
    faults = done.stdout.partition("4 faults:\n")[2].splitlines()
    assert [fault.partition(":")[0] for fault in faults] == [
        "- agent 'a'",
        "- agent 'b'",
        "- agent 'c'",
        "- the run 'taken' exists, in .codegenie/runs/taken; choose another id",
    ]
    assert "there is no program 'no-such-one' on PATH" in faults[0]
    assert "unknown option 'comand' (did you mean 'command'?)" in faults[1]
    assert "none.jsonl" in faults[2]
    assert "nop: can be started" in done.stdout


def test_a_corpus_that_does_not_verify_hides_no_other_fault(project: Project) -> None:
    first, _, third = map(project.case, ("first", "second", "third"))
    first.joinpath("input/problem.md").write_text("changed\n")
    third.joinpath("input/problem.md").unlink()
    project.run_file(agents=[{"name": "nop", "options": {"x": 1}}])
    done = project.command("run", "-c", "run.yaml", "--dry-run")
    assert done.returncode == 6, done.stdout
    assert "cases         none: the corpus does not verify" in done.stdout
    faults = done.stdout.partition("\n3 faults:\n")[2]
    assert "cases/first: digest mismatch" in faults
    assert "cases/third: digest mismatch" in faults
    assert "agent 'nop': unknown option 'x'" in faults


def test_a_task_that_cannot_be_read_is_a_fault_of_the_corpus(project: Project) -> None:
    project.case("first", files={"input/task.toml": "nonsense = 1\n"})
    project.case("second")
    done = project.command("run", "--dry-run")
    assert done.returncode == 6, done.stdout
    assert "1 fault:\n- bench/demo-task/cases/first: input/task.toml: " in done.stdout


def test_no_case_is_pytests_exit_code_for_it(project: Project) -> None:
    project.case("first")
    done = project.command("run", "--dry-run", "--", "-k", "nothing")
    assert done.returncode == 5, done.stdout
    assert "cases         none: none is selected\n" in done.stdout


def test_a_dry_run_leaves_the_reports_of_a_run_alone(project: Project) -> None:
    project.case("first")
    report = project.path / "ci.xml"
    report.write_text("of the last run")
    done = project.command("run", "--dry-run", "--", "--junitxml=ci.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert report.read_text() == "of the last run"


def test_a_place_that_cannot_be_written_to_is_a_fault(project: Project) -> None:
    project.case("first")
    project.path.joinpath("file").write_text("")
    project.settings('out = "file/below"')
    done = project.command("run", "--dry-run")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "- file cannot be written to, and runs go below it; " in done.stdout


def test_an_agent_of_a_plugin_may_fail_in_any_way(project: Project) -> None:
    project.case("first", files=RIGHT_IF_MENDED)
    project.path.joinpath("conftest.py").write_text(
        "def pytest_codegenie_agents():\n"
        "    return {'odd': 'odd:Odd', 'gone': 'odd:Gone'}\n"
    )
    project.path.joinpath("odd.py").write_text(
        "class Odd:\n    def configure(self, options): raise ZeroDivisionError\n"
    )
    done = project.command(
        *("run", "--dry-run", "-a", "odd", "-a", "gone"), env={"PYTHONPATH": "."}
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "- agent 'odd': ZeroDivisionError\n" in done.stdout
    assert "- agent 'gone': agent 'gone' is registered as 'odd:Gone'" in done.stdout


# -- codegenie list ------------------------------------------------------------------


def test_datasets_are_listed_with_their_splits(project: Project) -> None:
    project.case("first")
    project.case("second")
    project.case("third", curation_class="rag-corpus-derived")
    done = project.command("list", "datasets")
    assert done.returncode == 0
    # Behind the formats that can be imported.
    assert done.stdout.endswith(
        "demo-task            3 cases, in bench/demo-task\n"
        "  demo-task:held-out 2\n"
        "  demo-task:rag-corpus-derived 1\n"
    )


def test_reporters_are_listed(project: Project) -> None:
    done = project.command("list", "reporters")
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {"console", "csv", "json", "jsonl", "markdown"} <= set(names)
