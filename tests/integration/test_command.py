"""The command ``codegenie``: what it does, says and ends with."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from support import Bench
from support_warm import warm_python

from pytest_codegenie.cli import main


def test_it_is_installed_under_its_name() -> None:
    (script,) = entry_points(group="console_scripts", name="codegenie")
    assert script.load() is main


def converse(
    project: Project, arguments: list[str], answers: list[tuple[str, str]]
) -> tuple[int, str]:
    """Run the command on a terminal; return (exit code, all it showed)."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*warm_python(), "-m", "pytest_codegenie.cli", *arguments],
        cwd=project.path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = ""
    try:
        for prompt, answer in answers:
            shown += read_until(ours, prompt)
            os.write(ours, answer.encode())
        shown += read_until(ours, None)
    finally:
        os.close(ours)
        code = process.wait(30)
    return code, shown


def read_until(fd: int, prompt: str | None) -> str:
    """Read what a terminal shows up to a prompt; None: to its end."""
    text = ""
    deadline = time.monotonic() + 30
    while prompt is None or not text.endswith(prompt):
        assert time.monotonic() < deadline, f"no {prompt!r} in {text!r}"
        if select.select([fd], [], [], 0.5)[0]:
            try:
                data = os.read(fd, 4096)
            except OSError:  # the other side is closed
                data = b""
            if not data:
                assert prompt is None, f"no {prompt!r} in {text!r}"
                return text
            text += data.decode().replace("\r\n", "\n")
    return text


# -- new -------------------------------------------------------------------------


def test_new_makes_a_bench_that_verifies_and_runs(project: Project) -> None:
    made = project.command("new", "task-class", "fresh-task")
    assert (made.returncode, made.stdout) == (
        0,
        "made bench/fresh-task\nnext: codegenie new case fresh-task/<case id>\n",
    )
    made = project.command("new", "case", "fresh-task/one")
    assert made.returncode == 0
    assert made.stdout.splitlines()[0] == ("made and signed bench/fresh-task/cases/one")
    assert project.command("new", "case", "fresh-task/two", "--disposition=negative")
    verified = project.command("verify", "fresh-task", "--static")
    assert verified.returncode == 0, verified.stdout
    assert verified.stdout == "bench/fresh-task: 2 cases checked, 0 complaints\n"
    result = project.run("bench/fresh-task", "--codegenie-agent=nop")
    result.assert_outcomes(passed=1, failed=1)


def test_new_on_a_terminal_asks_for_what_is_missing(project: Project) -> None:
    code, shown = converse(
        project,
        ["new"],
        [
            ("kind (task-class/case): ", "neither\n"),
            ("kind (task-class/case): ", "case\n"),
            ("<task class>/<case id>: ", "demo-task/asked\n"),
            ("disposition (positive/negative) [positive]: ", "negative\n"),
            ("difficulty (easy/medium/hard) [easy]: ", "hard\n"),
            ("curation class (held-out/rag-corpus-derived) [held-out]: ", "\n"),
        ],
    )
    assert code == 0, shown
    case = project.bench.load("asked")
    assert (case.disposition, case.difficulty, case.curation_class) == (
        "negative",
        "hard",
        "held-out",
    )


def test_new_on_a_terminal_ends_at_ctrl_c_and_ctrl_d(project: Project) -> None:
    code, shown = converse(project, ["new", "case"], [("<case id>: ", "\x04")])
    assert (code, "<task class>/<case id> is missing" in shown) == (4, True)


def test_a_pin_is_minted_for_each_case(project: Project) -> None:
    pins = set()
    for case_id in ("a", "b"):
        assert project.command("new", "case", f"demo-task/{case_id}").returncode == 0
        pins.add(project.bench.load(case_id).cassette_canary_pin)
    assert len(pins) == 2


NOTHING: list[str] = []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (NOTHING, 4, "the following arguments are required: COMMAND"),
        (["nwe"], 4, "invalid choice: 'nwe'"),
        (["new"], 4, "codegenie: kind is missing; this is no terminal"),
        (["new", "case"], 4, "codegenie: <task class>/<case id> is missing"),
        (
            ["new", "case", "one"],
            4,
            "a case is named <task class>/<case id>, got 'one'",
        ),
        (["new", "case", "/one"], 4, "a case is named <task class>/<case id>"),
        (["new", "case", "bench/one"], 4, "'bench' is no task class, it only holds"),
        (
            ["new", "case", "nil/one"],
            9,
            "task class 'nil' not found in bench; available",
        ),
        (["new", "case", "demo-task/a b"], 1, "'a b' is not a case id"),
        (
            ["new", "case", "demo-task/first"],
            1,
            "cases/first exists; choose an id that",
        ),
        (["new", "task-class", "Upper"], 1, "'Upper' is not a task class name"),
        (["new", "task-class", "demo-task"], 1, "bench/demo-task exists; choose"),
        (["sign", "nil"], 9, "task class 'nil' not found in bench; available"),
        (["verify", "nil"], 9, "available: 'demo-task'"),
        (["verify", "--jobs=many"], 4, "invalid int value: 'many'"),
        (["verify", "--bench=nowhere"], 9, "not found in nowhere; available: none"),
        (["list"], 4, "the following arguments are required: what"),
        (["list", "agent"], 4, "invalid choice: 'agent'"),
        (
            ["schema", "BenchScor"],
            4,
            "no record 'BenchScor' (did you mean 'BenchScore'?)",
        ),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    project: Project, arguments: list[str], code: int, message: str
) -> None:
    project.case("first")
    before = sorted(project.path.rglob("*"))
    done = project.command(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(project.path.rglob("*")) == before


# -- sign ------------------------------------------------------------------------


@pytest.fixture
def changed(project: Project) -> Project:
    """Two signed cases, one of which has changed, with comments in the sheet."""
    for case_id in ("b-case", "a-case"):
        project.case(case_id)
    sheet = sheet_of(project)
    lines = sheet.read_text().splitlines()
    lines = sorted((line for line in lines if "case:" in line), reverse=True)
    sheet.write_text("# ours\n" + "\n".join(lines) + "\n")
    project.bench.cases_dir.joinpath("a-case/input/problem.md").write_text("other")
    return project


def sheet_of(project: Project) -> Path:
    return project.bench.cases_dir / "digests.yaml"


def test_sign_shows_what_changes_and_needs_a_yes(changed: Project) -> None:
    before = sheet_of(changed).read_text()
    done = changed.command("sign")
    assert done.returncode == 1
    shown = done.stdout.splitlines()
    assert shown[0] == "bench/demo-task:"
    assert shown[1].startswith("  changed  a-case  blake3:")
    assert len(shown) == 2
    assert "this is no terminal to ask at" in done.stderr
    assert sheet_of(changed).read_text() == before
    assert changed.run("--co").ret == 6


def test_sign_with_yes_keeps_other_entries_their_order_and_comments(
    changed: Project,
) -> None:
    before = sheet_of(changed).read_text().splitlines()
    done = changed.command("sign", "--yes")
    assert done.returncode == 0, done.stderr
    after = sheet_of(changed).read_text().splitlines()
    assert after[:2] == before[:2]
    assert after[2].startswith("a-case: blake3:")
    assert after[2] != before[2]
    assert len(after) == 3
    assert changed.run("--co").ret == 0
    again = changed.command("sign")
    assert (again.returncode, again.stdout) == (
        0,
        "bench/demo-task: 2 cases, nothing changed\n",
    )


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1)])
def test_sign_on_a_terminal_asks(changed: Project, answer: str, code: int) -> None:
    before = sheet_of(changed).read_text()
    prompt = "sign these cases? [y/N] "
    ended, shown = converse(changed, ["sign"], [(prompt, answer)])
    assert ended == code, shown
    assert (sheet_of(changed).read_text() != before) is (code == 0)


def test_sign_killed_at_any_moment_leaves_the_old_sheet_or_the_new(
    changed: Project,
) -> None:
    sheet = sheet_of(changed)
    before = sheet.read_bytes()
    problem = changed.bench.cases_dir / "a-case/input/problem.md"
    for attempt in range(4):
        problem.write_text(f"attempt {attempt}")
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest_codegenie.cli", "sign", "--yes"],
            cwd=changed.path,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None:
            if len(list(sheet.parent.glob(".digests*"))) > attempt:
                process.kill()  # between writing the new file and moving it
        process.wait()
        after = sheet.read_bytes()
        if after != before:
            assert after.count(b"blake3:") == 2
            assert len(after) == len(before)
        before = after
    # What a killed one left is in nobody's way.
    assert changed.command("sign", "--yes").returncode == 0
    assert changed.run("--co").ret == 0


def test_sign_refuses_what_cannot_be_a_case(changed: Project) -> None:
    before = sheet_of(changed).read_text()
    changed.bench.cases_dir.joinpath("b-case/input/away").symlink_to("/etc/hosts")
    done = changed.command("sign", "--yes")
    assert done.returncode == 6
    assert "bench/demo-task/cases/b-case: input/away: " in done.stderr
    assert sheet_of(changed).read_text() == before


# -- verify and --codegenie-validate -----------------------------------------------


@pytest.fixture
def doubtful(project: Project) -> Project:
    """A sound case, and cases that do not measure what they say."""
    project.case("sound", files=RIGHT_IF_MENDED)
    project.case("nop-passes")
    project.case("gold-fails", files=RIGHT_IF_MENDED | {"expected/gold.patch": ""})
    return project


COMPLAINTS = (
    "bench/demo-task/cases/nop-passes: doing nothing passes it, though the case is",
    "bench/demo-task/cases/gold-fails: the agent oracle does not pass it",
)


def test_verify_says_all_that_is_wrong_in_one_run(doubtful: Project) -> None:
    (doubtful.bench.directory / "README.md").unlink()
    done = doubtful.command("verify", "--jobs=2")
    assert done.returncode == 9, done.stderr
    for complaint in (*COMPLAINTS, "bench/demo-task/README.md: missing"):
        assert complaint in done.stdout
    assert "cases/sound" not in done.stdout
    assert "3 cases checked and run" in done.stdout.splitlines()[-1]


def test_verify_ends_in_6_for_cases(doubtful: Project) -> None:
    doubtful.bench.cases_dir.joinpath("sound/input/problem.md").write_text("other")
    done = doubtful.command("verify", "--static", "bench/demo-task")
    assert done.returncode == 6
    assert "bench/demo-task/cases/sound: digest mismatch" in done.stdout
    assert "codegenie sign bench/demo-task" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "bench/demo-task: 2 cases checked, 1 complaints"
    )


def test_validate_makes_an_item_of_each_check(
    doubtful: Project, plugin_args: list[str]
) -> None:
    result = doubtful.run("--codegenie-validate", *plugin_args)
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == 6
    result.stdout.fnmatch_lines_random([f"{text}*" for text in COMPLAINTS])
    result.stdout.fnmatch_lines(
        [f"codegenie: validating the corpus; workspace: {AUTO_WORKSPACE} *"]
    )
    assert not doubtful.run_directories


def test_validate_is_chosen_by_node_id_and_checks_the_class_too(
    doubtful: Project,
) -> None:
    (doubtful.bench.directory / "README.md").unlink()
    result = doubtful.run("--codegenie-validate", "--co", "-q")
    ids = [line for line in result.outlines if "::" in line]
    assert ids[0] == "bench/demo-task::demo-task[validate]"
    assert ids[1] == (
        "bench/demo-task/cases/gold-fails/case.toml::gold-fails[validate]"
    )
    result = doubtful.run("--codegenie-validate", "-k", "demo-task and not case.toml")
    assert result.ret == 9
    result.stdout.fnmatch_lines(["bench/demo-task/README.md: missing", "    a task *"])


def test_a_case_that_cannot_be_judged_is_a_complaint(project: Project) -> None:
    project.case("errs", files=NEVER_JUDGED)
    done = project.command("verify")
    assert done.returncode == 6
    assert "cases/errs: cannot be judged with the agent oracle: evaluator.error" in (
        done.stdout
    )


# -- list and schema -----------------------------------------------------------------


def test_list_shows_task_classes_and_parts(project: Project) -> None:
    project.case("first")
    project.case("second", disposition="negative", curation_class="rag-corpus-derived")
    Bench(project.bench.root, "other-task")
    done = project.command("list", "task-classes")
    assert [line.split(None, 1) for line in done.stdout.splitlines()] == [
        ["demo-task", "2 cases (1 negative, 1 positive; 1 held-out)"],
        ["other-task", "0 cases (none; 0 held-out)"],
    ]
    for what, name in (
        ("agents", "predictions"),
        ("evaluators", "unittest"),
        ("workspaces", "host"),
        ("harnesses", "patch"),
    ):
        done = project.command("list", what)
        assert (done.returncode, done.stderr) == (0, "")
        # What is indented says more of the line above.
        lines = [line for line in done.stdout.splitlines() if line[0] != " "]
        table = dict(line.split() for line in lines)
        assert table[name].startswith("pytest_codegenie.")


@pytest.mark.parametrize(
    ("name", "value"),
    [("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"), ("PYTEST_ADDOPTS", "-p no:codegenie")],
)
def test_list_needs_no_plugin_to_be_loaded(
    project: Project, name: str, value: str
) -> None:
    done = project.command("list", "agents", env={name: value})
    assert (done.returncode, done.stderr) == (0, "")
    assert "oracle" in done.stdout


def test_list_where_all_warnings_are_errors(project: Project) -> None:
    """One of our modules as a plugin: pytest warns that it is imported already."""
    project.settings("", ini='filterwarnings = ["error"]')
    done = project.command("list", "agents", env={"PYTEST_PLUGINS": "pytest_codegenie"})
    assert (done.returncode, done.stderr) == (0, "")


def test_list_in_a_project_that_pytest_cannot_start_in(project: Project) -> None:
    project.path.joinpath("conftest.py").write_text("raise RuntimeError('no')\n")
    done = project.command("list", "agents")
    assert done.returncode == 4
    assert "codegenie: pytest: cannot start here (exit code 4)" in done.stderr


def test_schema_is_json_schema(project: Project) -> None:
    one = json.loads(project.command("schema", "BenchScore").stdout)
    assert one["properties"]["score"]["maximum"] == 1
    assert one["additionalProperties"] is False
    every = json.loads(project.command("schema").stdout)
    assert every["BenchScore"] == one
    assert {"CaseResult", "RunRecord", "RunConfig", "TaskFile", "TestsFile"} <= set(
        every
    )
