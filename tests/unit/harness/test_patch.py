"""``run_case``: each way to end, what it leaves behind, and that it leaves nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.harness import run_case
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.workspaces.host import HostWorkspace


@pytest.fixture(autouse=True)
def scratch_root(tmp_path: Path) -> Iterator[Path]:
    """Where workspaces are made; nothing may be left there."""
    root = tmp_path / "scratch"
    root.mkdir()
    yield root
    assert list(root.iterdir()) == []


def end(result: CaseResult) -> tuple[str, str]:
    """Return outcome and failure mode."""
    assert len(result.score.failure_modes) == 1
    mode = result.score.failure_modes[0]
    assert mode.severity == "block"
    assert (result.score.passed, result.score.score) == (False, 0.0)
    assert mode.detail == result.message
    return result.outcome, mode.code


# -- third-party parts, named by "test module:attribute" in a part table ----------


class OwnAgent:
    """A patch agent whose ways to break its options choose."""

    name = "own"
    deterministic = True
    sees_answers = False

    def configure(self, options: Mapping[str, Any]) -> None:
        self.options = options
        if "configure" in options:
            raise ValueError(options["configure"])

    def version(self) -> str | None:
        return None

    def find_patch(self, instance: EvalInstance) -> AgentOutput:
        if "exit" in self.options:
            sys.exit(self.options["exit"])
        assert not instance.gold_patch
        assert not instance.fail_to_pass
        return AgentOutput(instance_id="?", agent_name="?", patch=self.options["patch"])


class NoAgent:
    name = "none"
    deterministic = True

    def configure(self, options: Mapping[str, Any]) -> None:
        pass


class BrokenWorkspace(HostWorkspace):
    def diff(self, output: Path) -> str:
        raise RuntimeError("the wire to the machine broke")


class BrokenEvaluator:
    name = "broken"

    def protect(self, judgement: object, site: object) -> tuple[str, ...]:
        raise ZeroDivisionError("broken evaluator")


@pytest.fixture(autouse=True)
def own_parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A part table with the parts of this file."""
    monkeypatch.setitem(sys.modules, "own_parts", sys.modules[__name__])
    return {
        "parts": BUILTIN_PARTS.model_copy(
            update={
                "agents": BUILTIN_PARTS.agents
                | {
                    "own": "own_parts:OwnAgent",
                    "no-agent": "own_parts:NoAgent",
                    "gone": "own_parts:Gone",
                },
                "workspaces": {
                    "host": BUILTIN_PARTS.workspaces["host"],
                    "broken": "own_parts:BrokenWorkspace",
                },
                "evaluators": BUILTIN_PARTS.evaluators
                | {"broken": "own_parts:BrokenEvaluator"},
            }
        )
    }


# -- outcomes --------------------------------------------------------------------


def test_the_oracle_passes_and_nop_does_not(bench: Bench, scratch_root: Path) -> None:
    bench.case()
    result = bench.run(scratch_root=scratch_root)
    assert (result.outcome, result.score.score, result.message) == ("passed", 1.0, "")
    assert result.output is not None
    assert result.output.evaluation is not None
    assert result.output.evaluation.status == "passed"
    assert end(bench.run(agent="nop", scratch_root=scratch_root)) == (
        "failed",
        "agent.no_patch",
    )


def test_on_a_negative_case_nop_passes_and_a_change_does_not(
    bench: Bench, scratch_root: Path
) -> None:
    bench.case(disposition="negative")
    assert bench.run(agent="nop", scratch_root=scratch_root).outcome == "passed"
    changed = bench.run_shell("echo '# x' >> thermometer.py", scratch_root=scratch_root)
    assert end_code(changed) == "unneeded_change"


def end_code(result: CaseResult) -> str:
    return result.score.failure_modes[0].code


GOLD = "expected/gold.patch"
TASK = "input/task.toml"
TESTS = "expected/tests.toml"
TASK_TEXT = """
harness = "patch"
[repository]
name = "acme/thermometer"
source = "repo"
[environment]
install = "none"
"""
TESTS_TEXT = 'framework = "pytest"\nfail_to_pass = ["{}"]\n'

ENDS: dict[str, tuple[dict[str, str], dict[str, Any], str, str, str]] = {
    "agent unknown": (
        {},
        {"agent": "orakle"},
        "error",
        "agent.unavailable",
        r"unknown agent 'orakle' \(did you mean 'oracle'\?\)",
    ),
    "agent not importable": (
        {},
        {"agent": "gone"},
        "error",
        "agent.unavailable",
        "agent 'gone' is registered as 'own_parts:Gone', which cannot be imported",
    ),
    "agent of no kind": (
        {},
        {"agent": "no-agent"},
        "error",
        "agent.unavailable",
        "agent 'none' is neither a command line",
    ),
    "agent option": (
        {},
        {"options": {"patth": 1}},
        "error",
        "agent.unavailable",
        "agent 'oracle': unknown option 'patth'; known: none",
    ),
    "agent breaks": (
        {},
        {"agent": "own", "options": {"configure": "no config"}},
        "error",
        "agent.error",
        "ValueError: no config",
    ),
    "agent exits": (
        {},
        {"agent": "own", "options": {"exit": 3}},
        "error",
        "agent.error",
        "SystemExit: 3",
    ),
    "empty patch": (
        {GOLD: " \n"},
        {},
        "failed",
        "agent.no_patch",
        "the agent changed nothing",
    ),
    "patch of something else": (
        {GOLD: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"},
        {},
        "failed",
        "patch.does_not_apply",
        "the patch does not apply: git apply: error: x: No such file",
    ),
    "patch out of the tree": (
        {GOLD: "--- /dev/null\n+++ b/../../evil\n@@ -0,0 +1 @@\n+b\n"},
        {},
        "failed",
        "patch.does_not_apply",
        "invalid path '../../evil'",
    ),
    "workspace unknown": (
        {},
        {"workspace": "hots"},
        "error",
        "workspace.error",
        r"unknown workspace 'hots' \(did you mean 'host'\?\)",
    ),
    "repository missing": (
        {TASK: TASK_TEXT.replace('"repo"', '"repot"')},
        {},
        "error",
        "workspace.error",
        "repository.source: 'repot' is no directory in input/; .* needs a base_commit",
    ),
    "environment to install": (
        {TASK: TASK_TEXT.replace('"none"', '["echo not today; false"]')},
        {},
        "error",
        "workspace.error",
        "not today\n(.*\n)*.*to repeat",
    ),
    "another Python": (
        {TASK: TASK_TEXT + 'python = "3.4"\n'},
        {},
        "error",
        "workspace.error",
        "Python 3.4 is not installed: .*environment.python in input/task.toml",
    ),
    "evaluator unknown": (
        {TESTS: TESTS_TEXT.replace("pytest", "pytset")},
        {},
        "error",
        "evaluator.error",
        r"framework: unknown evaluator 'pytset' \(did you mean 'pytest'\?\)",
    ),
    "evaluator breaks": (
        {TESTS: TESTS_TEXT.replace("pytest", "broken")},
        {},
        "error",
        "evaluator.error",
        "ZeroDivisionError: broken evaluator",
    ),
    "test file missing": (
        {TESTS: TESTS_TEXT.format("tests/test_none.py::test_x")},
        {},
        "error",
        "evaluator.error",
        "tests/test_none.py is asked for in expected/tests.toml, but neither",
    ),
    "no tests": (
        {TESTS: 'framework = "pytest"\n'},
        {},
        "error",
        "evaluator.error",
        "expected/tests.toml asks for no test",
    ),
    "test patch": (
        {"expected/test.patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"},
        {},
        "error",
        "evaluator.error",
        "expected/test.patch does not apply to the base",
    ),
    "settings of the case": (
        {"expected/overlay/pytest.ini": "[pytest]\naddopts = --no-such-option\n"},
        {},
        "error",
        "evaluator.error",
        "pytest does not start: .*--no-such-option",
    ),
}


@pytest.mark.parametrize(
    ("files", "options", "outcome", "code", "words"), ENDS.values(), ids=ENDS.keys()
)
def test_what_goes_wrong_is_in_the_result(
    bench: Bench,
    scratch_root: Path,
    own_parts: dict[str, Any],
    files: dict[str, str],
    options: dict[str, Any],
    outcome: str,
    code: str,
    words: str,
) -> None:
    bench.case(files=files)
    result = bench.run(scratch_root=scratch_root, **own_parts, **options)
    assert end(result) == (outcome, code)
    assert matches(words, result.message), result.message


def matches(words: str, text: str) -> bool:
    return re.search(words, text, re.DOTALL) is not None


def test_an_agent_that_runs_too_long_did_not_do_it(
    bench: Bench, scratch_root: Path
) -> None:
    bench.case()
    result = bench.run_shell(
        f"{FIX}; echo working; sleep 60", timeout_seconds=0.2, scratch_root=scratch_root
    )
    assert end(result) == ("failed", "agent.timeout")
    assert result.message == "the agent was ended after 0.2 seconds"
    assert result.output is not None
    assert result.output.agent.stdout == "working\n"
    assert result.score.wall_clock_ms >= 200


@pytest.mark.parametrize(
    ("case_limit", "agent_limit"), [(0.2, None), (0.2, 60), (60, 0.2), (None, 0.2)]
)
def test_the_least_limit_holds(
    bench: Bench,
    scratch_root: Path,
    case_limit: float | None,
    agent_limit: float | None,
) -> None:
    bench.case(keys={"timeout_seconds": case_limit} if case_limit else None)
    job = bench.job(agent="command", options={"command": "sleep 60"})
    agent = job.agent.model_copy(update={"timeout_seconds": agent_limit})
    job = job.model_copy(update={"agent": agent, "scratch_root": scratch_root})
    assert run_case(job).message == "the agent was ended after 0.2 seconds"


def test_a_workspace_that_breaks_is_an_error_of_the_workspace(
    bench: Bench, scratch_root: Path, own_parts: dict[str, Any], tmp_path: Path
) -> None:
    bench.case()
    result = bench.run_shell(
        FIX,
        workspace="broken",
        scratch_root=scratch_root,
        run_directory=tmp_path,
        artifacts_path="artifacts",
        **own_parts,
    )
    assert end(result) == ("error", "workspace.error")
    assert result.message == "RuntimeError: the wire to the machine broke"
    log = (tmp_path / "artifacts" / "harness.log").read_text(encoding="utf-8")
    assert "Traceback" in log
    assert "the wire to the machine broke" in log


def test_a_scratch_root_that_is_gone_is_an_error_of_the_workspace(
    bench: Bench, scratch_root: Path
) -> None:
    bench.case()
    result = bench.run(scratch_root=scratch_root / "none")
    assert end(result) == ("error", "workspace.error")
    assert "no directory for workspaces can be made in" in result.message


@pytest.mark.parametrize("agent", ["own", "command"])
def test_a_patch_of_a_hundred_megabytes_is_refused_and_kept(
    bench: Bench,
    scratch_root: Path,
    tmp_path: Path,
    own_parts: dict[str, Any],
    agent: str,
) -> None:
    bench.case()
    size = 100 << 20
    options: dict[str, Any] = {"patch": "x" * size}
    if agent == "command":
        script = f"head -c {size // 4} /dev/urandom | base64 -w 75 > big"
        options = {"command": ["/bin/sh", "-c", f"{script}; cat big big big > big3"]}
    result = bench.run(
        agent=agent,
        options=options,
        scratch_root=scratch_root,
        run_directory=tmp_path,
        artifacts_path="artifacts",
        **own_parts,
    )
    assert end(result) == ("failed", "patch.does_not_apply")
    assert "at most 33554432 are judged" in result.message
    assert (tmp_path / "artifacts" / "patch.diff").stat().st_size > 100_000_000
    assert result.output is not None
    assert result.output.patch == ""
    assert len(result.to_json()) < 100_000


def test_a_case_that_changed_after_it_was_loaded_is_not_run(bench: Bench) -> None:
    directory = bench.case()
    job = bench.job()
    (directory / "expected" / "tests.toml").write_text("", encoding="utf-8")
    with pytest.raises(BenchCaseDigestMismatch, match="what was verified when the run"):
        run_case(job)


def test_a_harness_that_there_is_not_is_an_error_of_the_case(bench: Bench) -> None:
    bench.case(files={TASK: TASK_TEXT.replace('"patch"', '"pacth"')})
    with pytest.raises(
        BenchCaseLoadError, match=r"input/task.toml: harness: unknown harness 'pacth'"
    ):
        bench.run()


# -- hidden tests ----------------------------------------------------------------

TEST_PATCH = """\
diff --git a/tests/test_thermometer.py b/tests/test_thermometer.py
--- a/tests/test_thermometer.py
+++ b/tests/test_thermometer.py
@@ -2,4 +2,10 @@
\x20
\x20
 def test_absolute_zero():
     assert to_kelvin(-273.15) == 0
+
+
+def test_boiling():
+    from thermometer import to_fahrenheit
+
+    assert to_fahrenheit(100) == 212
diff --git a/tests/test_more.py b/tests/test_more.py
new file mode 100644
--- /dev/null
+++ b/tests/test_more.py
@@ -0,0 +1,2 @@
+def test_more():
+    pass
"""


def test_hidden_tests_may_come_as_a_patch_whatever_the_agent_did_there(
    bench: Bench, scratch_root: Path
) -> None:
    bench.case(
        files={
            "expected/overlay": None,
            "expected/test.patch": TEST_PATCH,
            TESTS: 'fail_to_pass = ["tests/test_thermometer.py::test_boiling"]\n'
            'pass_to_pass = ["tests/test_more.py::test_more"]\n',
        }
    )
    fix = f"{FIX}; echo x > tests/test_thermometer.py; echo y > tests/test_more.py"
    fixed = bench.run_shell(fix, scratch_root=scratch_root)
    assert fixed.outcome == "passed", fixed.message
    other = bench.run_shell("echo 1 > x", scratch_root=scratch_root)
    assert end_code(other) == "not_resolved"
    assert "assert 180.0 == 212" in other.message


def test_nothing_of_expected_is_reachable_for_an_agent(
    bench: Bench, scratch_root: Path
) -> None:
    directory = bench.case()
    pin = json.dumps(bench.load().cassette_canary_pin)[1:-1]
    script = (
        "{ pwd; env; cat ../problem.md; find .. -type f | xargs cat;"
        " git log --all -p; git fsck --unreachable; } 2>&1"
    )
    result = bench.run_shell(script, scratch_root=scratch_root)
    assert result.output is not None
    seen = result.output.agent.stdout
    assert "to_fahrenheit(100)" in seen
    for secret in (pin, "9 / 5 + 32", "minus_forty", "fail_to_pass", str(directory)):
        assert secret not in seen


def test_a_bundle_can_be_the_repository(bench: Bench, scratch_root: Path) -> None:
    directory = bench.case()
    repository = directory / "input" / "repo"
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (
        ["init", "--quiet", "--initial-branch=trunk"],
        ["add", "--all"],
        [*identity, "commit", "--quiet", "--message=x"],
        ["bundle", "create", "--quiet", "../code.bundle", "trunk"],
    ):
        subprocess.run(["git", *command], cwd=repository, check=True)
    commit = (repository / ".git/refs/heads/trunk").read_text(encoding="utf-8").strip()
    source = f'"code.bundle"\nbase_commit = "{commit}"'
    bench.write(repository, None)
    bench.write(directory / TASK, TASK_TEXT.replace('"repo"', source))
    bench.sign()
    assert bench.run(scratch_root=scratch_root).outcome == "passed"


# -- what is left ----------------------------------------------------------------


def test_artifacts_and_timings_of_a_whole_run(
    bench: Bench, scratch_root: Path, tmp_path: Path
) -> None:
    bench.case()
    result = bench.run_shell(
        f"echo hello; {FIX}",
        scratch_root=scratch_root,
        run_directory=tmp_path / "run",
        artifacts_path="cases/first/shell-t1",
    )
    place = tmp_path / "run" / "cases" / "first" / "shell-t1"
    assert {path.name for path in place.iterdir()} == {
        "agent.log",
        "patch.diff",
        "tests.log",
        "result.json",
    }
    assert (place / "agent.log").read_text(encoding="utf-8") == "hello\n"
    assert "5 failed" not in (place / "tests.log").read_text(encoding="utf-8")
    assert CaseResult.from_json((place / "result.json").read_bytes()).score.passed
    assert result.output is not None
    assert result.output.patch == (place / "patch.diff").read_text(encoding="utf-8")
    assert result.output.artifacts == {
        name: f"cases/first/shell-t1/{file}"
        for name, file in (
            ("agent", "agent.log"),
            ("patch", "patch.diff"),
            ("tests", "tests.log"),
        )
    }
    assert set(result.timings) == {"prepare", "agent", "diff", "judge", "rubric"}
    assert all(spent > 0 for spent in result.timings.values())
    assert result.started_at < result.ended_at


def test_the_log_of_tests_that_were_tampered_with_is_among_the_artifacts(
    bench: Bench, scratch_root: Path, tmp_path: Path
) -> None:
    bench.case()
    result = bench.run_shell(
        "echo 'import os; os._exit(0)' >> thermometer.py",
        scratch_root=scratch_root,
        run_directory=tmp_path / "run",
        artifacts_path="x",
    )
    assert end(result) == ("failed", "tests.tampered")
    assert result.output is not None
    assert result.output.artifacts["tests"] == "x/tests.log"
    assert result.output.evaluation is not None


@pytest.mark.parametrize(
    ("keep", "script", "kept"),
    [
        ("never", "true", False),
        ("failed", FIX, False),
        ("failed", "true", True),
        ("always", FIX, True),
    ],
)
def test_workspaces_are_kept_as_asked(
    bench: Bench, scratch_root: Path, tmp_path: Path, keep: str, script: str, kept: bool
) -> None:
    bench.case()
    result = bench.run_shell(
        f"{script}; echo 1 > trace",
        keep=keep,
        scratch_root=scratch_root,
        run_directory=tmp_path / "run",
        artifacts_path="x",
    )
    assert (result.kept_workspace is not None) == kept
    if result.kept_workspace is not None:
        place = Path(result.kept_workspace)
        assert place == tmp_path / "run" / "x" / "workspaces"
        assert (place / "agent" / "repo" / "trace").exists()
        assert (place / "judge" / "repo" / "trace").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(place)]
    if os.getuid() or subprocess.run(mount, check=False, stderr=-3).returncode:
        pytest.skip("only root can make a file system that is full")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_for_workspaces_is_an_error_of_the_workspace(
    bench: Bench, small_disk: Path
) -> None:
    bench.case()
    (small_disk / "ballast").write_bytes(bytes(96 << 10))
    result = bench.run(scratch_root=small_disk)
    assert end(result) == ("error", "workspace.error")
    assert "No space left on device" in result.message
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_a_full_disk_for_artifacts_costs_no_result(
    bench: Bench, scratch_root: Path, small_disk: Path
) -> None:
    bench.case()
    with (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(1 << 10))
            except OSError:
                break
    result = bench.run_shell(
        f"seq 10000; {FIX}",
        scratch_root=scratch_root,
        run_directory=small_disk,
        artifacts_path="",
    )
    assert result.outcome == "passed", result.message
    assert result.output is not None
    assert "+ 32" in result.output.patch


def test_a_job_and_its_result_survive_the_way_through_json(
    bench: Bench, scratch_root: Path
) -> None:
    bench.case()
    job = bench.job(scratch_root=scratch_root)
    result = run_case(CaseJob.from_json(job.to_json()))
    assert CaseResult.from_json(result.to_json()) == result
    assert result.outcome == "passed"
