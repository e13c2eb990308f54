"""A case's task: what an agent works on and how its work is judged."""

from __future__ import annotations

import pytest
from support import Bench

from pytest_codegenie.corpus import read_task
from pytest_codegenie.errors import BenchCaseLoadError


TASK = '[repository]\nname = "acme/x"\nsource = "repo"\n'


def test_all_files_of_a_task_are_read(bench: Bench) -> None:
    bench.case(
        files={
            "input/task.toml": 'harness = "foundry"\n[repository]\nname = "acme/x"\n'
            'source = "x.bundle"\nbase_commit = "4f5e"\n[environment]\n'
            'python = "3.12"\ninstall = ["make", "make check"]\nimage = "x:1"\n',
            "input/problem.md": "Fix é.\n",
            "input/hints.md": "A hint.\n",
            "expected/test.patch": "a patch\n",
            "expected/gold.patch": "a fix\n",
            "expected/tests.toml": 'framework = "command"\ncommand = ["make", "test"]\n'
            'fail_to_pass = ["a"]\npass_to_pass = ["b", "c"]\ntimeout_seconds = 7\n',
        }
    )
    task = read_task(bench.load())
    assert task.instance.instance_id == "first"
    assert (task.instance.repo, task.instance.base_commit) == ("acme/x", "4f5e")
    assert (task.instance.problem_statement, task.instance.hints_text) == (
        "Fix é.\n",
        "A hint.\n",
    )
    assert (task.instance.test_patch, task.instance.gold_patch) == (
        "a patch\n",
        "a fix\n",
    )
    assert task.instance.fail_to_pass == ("a",)
    assert task.instance.pass_to_pass == ("b", "c")
    assert task.task.harness == "foundry"
    assert task.task.environment.install == ["make", "make check"]
    assert (task.task.environment.python, task.task.environment.image) == (
        "3.12",
        "x:1",
    )
    assert (task.tests.command, task.tests.timeout_seconds) == (["make", "test"], 7)
    assert task.overlay == bench.cases_dir / "first/expected/overlay"


def test_what_is_optional_may_be_left_out(bench: Bench) -> None:
    bench.case(
        files={
            "input/task.toml": TASK,
            "expected/tests.toml": "",
            "expected/gold.patch": None,
            "expected/overlay": None,
        }
    )
    task = read_task(bench.load())
    assert (task.task.harness, task.task.environment.install) == ("patch", "auto")
    assert (task.tests.framework, task.tests.fail_to_pass) == ("pytest", [])
    assert (task.instance.hints_text, task.instance.gold_patch) == ("", "")
    assert task.overlay is None


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("input/task.toml", None, "missing"),
        ("input/task.toml", "no toml", "not TOML: "),
        ("input/task.toml", "", "repository: required key is missing"),
        (
            "input/task.toml",
            '[repository]\nname = "x"\n',
            "repository.source: required key is missing",
        ),
        (
            "input/task.toml",
            f"{TASK}sauce = 1\n",
            "repository.sauce: unknown key (did you mean 'source'?)",
        ),
        ("input/task.toml", f"harnes = 1\n{TASK}", "harnes: unknown key (did you mean"),
        ("input/task.toml", f"x = 1\n{TASK}", "x: unknown key"),
        (
            "input/task.toml",
            f"{TASK}[environment]\npython = 3.11\n",
            "environment.python: Input should be a valid string, got 3.11",
        ),
        (
            "input/task.toml",
            f'{TASK}[environment]\ninstall = "maybe"\n',
            "Input should be 'auto' or 'none', got 'maybe'",
        ),
        ("input/task.toml", b"\xff", "not UTF-8 (line 1, byte 0xff)"),
        ("input/problem.md", None, "missing"),
        ("input/problem.md", b"\xff", "not UTF-8 (line 1, byte 0xff)"),
        ("input/problem.md", b"\xef\xbb\xbfx", "starts with a byte order mark"),
        ("expected/tests.toml", None, "missing"),
        (
            "expected/tests.toml",
            'fail_to_pass = "a"\n',
            "fail_to_pass: Input should be a valid list, got 'a'",
        ),
        (
            "expected/tests.toml",
            "fail_to_pass = [1]\n",
            "fail_to_pass.0: Input should be a valid string, got 1",
        ),
        (
            "expected/tests.toml",
            "timeout_seconds = 0\n",
            "timeout_seconds: Input should be greater than 0, got 0",
        ),
        (
            "expected/tests.toml",
            'framework = "command"\n',
            "command is required with framework = 'command'",
        ),
        (
            "expected/tests.toml",
            'frame = "pytest"\n',
            "frame: unknown key (did you mean 'framework'?)",
        ),
        ("expected/gold.patch", b"\xff", "not UTF-8 (line 1, byte 0xff)"),
    ],
)
def test_a_task_that_does_not_hold_names_file_and_key(
    bench: Bench, name: str, content: str | bytes | None, reason: str
) -> None:
    bench.case(files={name: content})
    case = bench.load()
    with pytest.raises(BenchCaseLoadError) as caught:
        read_task(case)
    assert caught.value.args[:2] == (case.directory, name)
    assert reason in caught.value.reason
    assert len(caught.value.reason) < 200
