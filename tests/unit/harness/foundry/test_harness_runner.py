from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support_foundry import STEPS
from support_foundry import EasyGate
from support_foundry import Script
from support_foundry import build
from support_foundry import make_project
from support_foundry import new_file
from support_foundry import right_answers
from support_foundry import step_diff
from support_foundry import tree_of
from support_foundry import whole_tree

from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
from pytest_codegenie.harness.foundry.records import Thresholds
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.workspaces import Workspace


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def history(project: Path, *arguments: str) -> str:
    git_dir = project / ".codegenie-build" / "history.git"
    command = ["git", "--git-dir", str(git_dir), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def state(project: Path) -> dict[str, Any]:
    return StateRegistry(project).load()


def test_the_oracle_builds_it_all_and_each_step_is_a_commit(project: Path) -> None:
    result = build(project)
    assert (result.ended, result.exit_code) == ("complete", 0)
    assert (result.completed, result.tries, result.retries) == (3, 3, 0)
    assert tree_of(project) == whole_tree()
    titles = history(project, "log", "--format=%s").splitlines()
    assert titles == [
        "P-003: Both",
        "P-002: Part",
        "P-001: Greet",
        "Start of the build",
    ]
    trailers = history(project, "log", "-1", "--format=%(trailers)")
    assert "Tries: 1\nCoverage: 100\nPylint: 10\nAgent: oracle\n" in trailers
    changed = history(project, "show", "--name-only", "--format=", "main")
    assert changed.split() == ["src/demo_both.py", "tests/test_both.py"]


def test_what_is_complete_is_not_done_again(project: Path) -> None:
    first = build(project, until="P-002")
    assert (first.ended, first.exit_code, first.completed) == ("until", 0, 2)
    assert "go on with P-003" in first.remedy
    script = Script(right_answers())
    assert build(project, script).ended == "complete"
    assert script.asked == [("P-003", "")]
    assert build(project, script).ended == "complete"
    assert len(script.asked) == 1


def test_a_try_that_fails_is_told_the_next_one_and_leaves_no_trace(
    project: Path,
) -> None:
    answers = right_answers()
    answers["P-002"] = [new_file("src/bad.py", "# reject"), step_diff("part")]
    script = Script(answers)
    result = build(project, script)
    assert (result.ended, result.tries, result.retries) == ("complete", 4, 1)
    assert tree_of(project) == whole_tree()
    asked = [context for prompt, context in script.asked if prompt == "P-002"]
    assert asked[0] == ""
    assert "- bad.py is rejected" in asked[1]
    assert "+# reject" in asked[1]
    assert result.gates["P-002"] == {
        "coverage": 100.0,
        "pylint_score": 10.0,
        "passed": True,
        "tries": 2,
    }
    assert state(project)["gates"]["P-002"]["first_passed"] is False
    assert state(project)["gates"]["P-001"]["first_passed"] is True


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (new_file("README.md", "x"), r"only src/\*\*, tests/\*\* may be modified"),
        (new_file("spec2.md", "x"), "may be modified.*spec2.md"),
        (
            "diff --git a/src/seed.py b/src/seed.py\ndeleted file mode 100644\n"
            "--- a/src/seed.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-SEED = 1\n",
            "may be deleted.*src/seed.py",
        ),
        (
            "diff --git a/src/seed.py b/src/new.py\nsimilarity index 100%\n"
            "rename from src/seed.py\nrename to src/new.py\n",
            "may be deleted or renamed.*src/seed.py",
        ),
        (
            "diff --git a/src/link b/src/link\nnew file mode 120000\n--- /dev/null\n"
            "+++ b/src/link\n@@ -0,0 +1 @@\n+/etc/passwd\n"
            "\\ No newline at end of file\n",
            "link or a special file.*src/link",
        ),
        (
            "diff --git a/design.md b/design.md\n--- a/design.md\n+++ b/design.md\n"
            "@@ -1 +1 @@\n-# Design\n+# Other\n",
            "may be modified.*design.md",
        ),
    ],
    ids=["outside", "new document", "deleted", "renamed", "link", "document"],
)
def test_a_try_that_breaks_a_rule_is_counted_and_leaves_the_tree(
    tmp_path: Path, code: Any, reason: str
) -> None:
    project = make_project(tmp_path / "p", {"src/seed.py": "SEED = 1\n"})
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    script = Script({"P-001": [code]})
    told: list[tuple[str, Any]] = []
    result = build(
        project,
        script,
        max_retries=1,
        watch=lambda kind, facts: told.append((kind, facts)),
    )
    assert (result.ended, result.exit_code) == ("retries", 11)
    assert (result.rules_broken, result.tries, result.retries) == (2, 2, 1)
    assert result.retries_allowed == len(STEPS)
    failed = [facts for kind, facts in told if kind == "try.failed"]
    assert len(failed) == 2
    assert failed[0]["breaks_rule"]
    assert re.search(reason, failed[0]["reason"], re.DOTALL)
    assert {path: path.read_bytes() for path in before} == before
    assert "The code broke rules:" in script.asked[1][1]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "the agent changed nothing"),
        ("no code at all", "neither a git diff nor files"),
        ("--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b\n", "does not apply"),
        (NotDone("agent.timeout", "ended after 3 seconds"), "ended after 3 seconds"),
        ("File: ../evil.py\n```\nx\n```\n", "'../evil.py' is no path of a file below"),
        ("File: src/x.py\n```\nx\n", "is not closed"),
    ],
)
def test_what_cannot_be_taken_is_a_failed_try(
    project: Path, answer: Any, reason: str
) -> None:
    script = Script({"P-001": [answer, step_diff("greet")]})
    result = build(project, script, until="P-001")
    assert (result.ended, result.tries, result.retries) == ("until", 2, 1)
    assert reason in script.asked[1][1]
    assert not (project.parent / "evil.py").exists()


def test_files_can_be_handed_in_as_blocks(project: Path) -> None:
    code = (
        "Here:\n\nFile: src/a.py\n````python\n```\nA = 1\n````\n"
        "File: tests/t.py\n```\n```\n"
    )
    assert build(project, Script({"P-001": [code]}), until="P-001").completed == 1
    assert tree_of(project) == {"src/a.py": "```\nA = 1\n", "tests/t.py": ""}


def test_retries_that_are_used_up_end_each_build_at_once(project: Path) -> None:
    script = Script({"P-001": [""]})
    first = build(project, script, max_retries=2)
    assert (first.ended, first.tries, len(script.asked)) == ("retries", 3, 3)
    assert "P-001: Greet: 3 tries failed, and 2 retries are allowed" in first.message
    again = build(project, script, max_retries=2)
    assert (again.exit_code, len(script.asked)) == (11, 3)
    more = build(project, Script(right_answers()), max_retries=3)
    assert more.ended == "complete"


def test_a_prompt_has_retries_of_its_own(tmp_path: Path) -> None:
    prompts = "## P-001\n```yaml metadata\nmax_retries: 0\n```\nx\n"
    project = make_project(tmp_path / "p", {"prompt.md": prompts})
    assert build(project, Script({"P-001": [""]})).tries == 1


def test_the_total_of_iterations_ends_a_build(project: Path) -> None:
    result = build(project, Script({"P-001": [""]}), max_iterations=2)
    assert (result.ended, result.exit_code, result.tries) == ("iterations", 12, 2)
    assert "--max-iterations 12" in result.remedy


def test_an_agent_that_does_not_work_ends_the_build_and_counts_nothing(
    project: Path,
) -> None:
    for error in (AgentUnavailable("no such thing"), AgentError("server says 529")):
        result = build(project, Script({"P-001": [error]}))
        assert (result.ended, result.exit_code, result.tries) == ("error", 1, 0)
        assert result.message == error.reason
    assert build(project).ended == "complete"


def test_a_tool_that_is_missing_ends_the_build_before_an_agent_is_asked(
    project: Path,
) -> None:
    class NoTools(EasyGate):
        def missing(self, workspace: Workspace) -> str:
            return "it has no pylint"

    script = Script(right_answers())
    result = build(project, script, gate=NoTools())
    assert (result.ended, script.asked) == ("error", [])
    assert "it has no pylint" in result.message
    assert "pytest-codegenie[foundry]" in result.message


def test_a_document_that_changes_during_a_step_ends_the_build(project: Path) -> None:
    def change() -> str:
        (project / "spec.md").write_text("other", "utf-8")
        return step_diff("greet")

    result = build(project, Script({"P-001": [change]}))
    assert (result.ended, result.exit_code, result.completed) == ("rule", 13, 0)
    assert "spec.md changed since the build began" in result.message
    assert tree_of(project) == {}


def test_a_build_with_a_changed_document_is_refused_until_it_is_put_back(
    project: Path,
) -> None:
    build(project, until="P-001")
    text = (project / "prompt.md").read_text("utf-8")
    (project / "prompt.md").write_text(f"{text}more", "utf-8")
    refused = build(project)
    assert (refused.ended, refused.completed) == ("rule", 1)
    assert "--from-scratch" in refused.remedy
    (project / "prompt.md").write_text(text, "utf-8")
    assert build(project).ended == "complete"


def test_from_scratch_takes_new_documents_and_puts_the_seed_back(
    tmp_path: Path,
) -> None:
    project = make_project(tmp_path / "p", {"src/seed.py": "SEED = 1\n"})
    build(project, until="P-002")
    (project / "spec.md").write_text("other", "utf-8")
    told: list[str] = []
    again = build(
        project,
        from_scratch=True,
        until="P-001",
        watch=lambda kind, facts: told.append(kind),
    )
    assert (again.ended, again.completed, again.tries) == ("until", 1, 1)
    assert told.count("project.changed_by_hand") == 1
    assert sorted(tree_of(project)) == [
        "src/demo_greet.py",
        "src/seed.py",
        "tests/test_greet.py",
    ]
    assert (project / "spec.md").read_text("utf-8") == "other"
    assert "P-002: Part" in history(project, "log", "--format=%s", "--reflog", "main")


def test_changes_by_hand_between_builds_are_kept_and_built_upon(project: Path) -> None:
    build(project, until="P-001")
    (project / "src" / "demo_greet.py").write_text("MINE = 1\n", "utf-8")
    told: list[tuple[str, Any]] = []
    build(project, watch=lambda kind, facts: told.append((kind, facts)))
    (facts,) = [facts for kind, facts in told if kind == "project.changed_by_hand"]
    assert facts["paths"] == ["src/demo_greet.py"]
    assert tree_of(project) == whole_tree() | {"src/demo_greet.py": "MINE = 1\n"}
    assert "Changed by hand" in history(project, "log", "--format=%s")


def test_a_change_by_hand_during_a_step_is_not_overwritten(project: Path) -> None:
    def change() -> str:
        (project / "src").mkdir()
        (project / "src" / "demo_greet.py").write_text("MINE = 1\n", "utf-8")
        return step_diff("greet")

    result = build(project, Script({"P-001": [change]}))
    assert (result.ended, result.completed) == ("rule", 0)
    assert "src/demo_greet.py changed while the step was done" in result.message
    assert tree_of(project) == {"src/demo_greet.py": "MINE = 1\n"}
    kept = history(project, "for-each-ref", "--format=%(refname)", "refs/kept").strip()
    assert kept in result.message
    assert "Says greet" in history(project, "show", f"{kept}:src/demo_greet.py")


def test_a_step_can_be_undone(project: Path) -> None:
    build(project)
    runner = HarnessRunner(project, BuildSettings(), gate=EasyGate())
    assert runner.undo("P-002") == ["P-002", "P-003"]
    assert sorted(tree_of(project)) == ["src/demo_greet.py", "tests/test_greet.py"]
    script = Script(right_answers())
    assert build(project, script).ended == "complete"
    assert [prompt for prompt, _ in script.asked] == ["P-002", "P-003"]
    assert tree_of(project) == whole_tree()
    with pytest.raises(ProjectError, match="P-009 is not complete"):
        HarnessRunner(project, BuildSettings(), gate=EasyGate()).undo("P-009")


def test_undoing_is_refused_while_a_document_differs(project: Path) -> None:
    build(project)
    (project / "spec.md").write_text("other", "utf-8")
    with pytest.raises(ProjectError, match=r"spec\.md changed since the build began"):
        HarnessRunner(project, BuildSettings(), gate=EasyGate()).undo("P-003")
    assert tree_of(project) == whole_tree()


def test_a_history_that_is_gone_is_told(project: Path) -> None:
    build(project, until="P-001")
    shutil.rmtree(project / ".codegenie-build" / "history.git")
    with pytest.raises(ProjectError, match=r"has no commit '\w+'.*remove build_state"):
        build(project)
    (project / "build_state.json").unlink()
    # It begins anew, and the first prompt's files are there.
    script = Script({"P-001": ["File: src/more.py\n```\n```\n"]})
    assert build(project, script, until="P-001").completed == 1


def test_a_lost_state_is_no_silent_fresh_start(project: Path) -> None:
    build(project, until="P-001")
    (project / "build_state.json").write_text("{", "utf-8")
    (project / ".codegenie-build" / "journal.jsonl").unlink()
    with pytest.raises(ProjectError, match="the journal has none"):
        build(project)
    assert len(list(project.glob("build_state.corrupt-*.json"))) == 1


def test_a_broken_state_goes_on_from_the_journal(project: Path) -> None:
    build(project, until="P-002")
    (project / "build_state.json").write_text("{", "utf-8")
    script = Script(right_answers())
    assert build(project, script).ended == "complete"
    assert [prompt for prompt, _ in script.asked] == ["P-003"]


def test_the_oracle_says_where_its_solution_has_to_be(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", {"solution/P-001.patch": None})
    result = build(project)
    assert result.ended == "error"
    assert "there is no" in result.message
    assert "solution/P-001.patch" in result.message


def test_the_log_has_events_with_time_type_and_payload(project: Path) -> None:
    build(project, until="P-001")
    log = project / ".codegenie-build" / "log.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert all(list(line) == ["timestamp", "event_type", "payload"] for line in lines)
    executed = [
        one["payload"] for one in lines if one["event_type"] == "agent.executed"
    ]
    assert executed[0]["agent"] == "oracle"
    assert executed[0]["exit_code"] == 0
    assert executed[0].keys() >= {"model", "duration_seconds", "tokens", "cost_usd"}


@pytest.mark.parametrize("name", ["prompt.md", "harness.yaml", "test-case.md"])
def test_a_project_without_a_document_is_none(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path / "p", {name: None})
    with pytest.raises(ProjectError, match=f"is no foundry project: it has no {name}"):
        HarnessRunner(project)


def test_links_in_the_project_are_refused(project: Path) -> None:
    (project / "src").symlink_to("/etc")
    with pytest.raises(ProjectError, match="src: is a link"):
        HarnessRunner(project)


def test_an_unknown_prompt_or_gate_is_told(tmp_path: Path, project: Path) -> None:
    with pytest.raises(ProjectError, match=r"has no prompt 'P-004'.*P-001 to P-003"):
        HarnessRunner(project, BuildSettings(until="P-004"))
    other = make_project(tmp_path / "o", {"harness.yaml": "gates: [ruf]\n"})
    with pytest.raises(ProjectError, match=r"unknown gate 'ruf' .did you mean 'ruff'"):
        HarnessRunner(other)


def test_agents_see_the_documents_and_the_code_and_nothing_else(tmp_path: Path) -> None:
    project = make_project(
        tmp_path / "p",
        {
            "pyproject.toml": "",
            ".env": "KEY=1",
            "data/x": "x",
            "src/seed.py": "S = 1\n",
        },
    )
    seen: list[list[str]] = []

    class Looks(EasyGate):
        def run(
            self, workspace: Workspace, thresholds: Thresholds | None = None
        ) -> dict[str, Any]:
            files = (p for p in workspace.tree.rglob("*") if p.is_file())
            paths = (p.relative_to(workspace.tree).as_posix() for p in files)
            seen.append(sorted(path for path in paths if not path.startswith(".git/")))
            return super().run(workspace, thresholds)

    build(project, until="P-001", gate=Looks())
    assert seen == [
        sorted(
            [
                *("control-plane.yaml", "design.md", "harness.yaml", "prompt.md"),
                *("pyproject.toml", "spec.md", "test-case.md"),
                *("src/demo_greet.py", "src/seed.py", "tests/test_greet.py"),
            ]
        )
    ]
