"""The gates with real tools; each test runs several of them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support_foundry import step_files

from pytest_codegenie.harness.foundry.gates import GateOutcome
from pytest_codegenie.harness.foundry.gates import GateSite
from pytest_codegenie.harness.foundry.gates import ToolFailed
from pytest_codegenie.harness.foundry.gates.programs import ProgramGate
from pytest_codegenie.harness.foundry.gates.programs import RuffGate
from pytest_codegenie.harness.foundry.gates.pylint import run_pylint
from pytest_codegenie.harness.foundry.gates.tests import TestsOutcome
from pytest_codegenie.harness.foundry.gates.tests import run_tests
from pytest_codegenie.harness.foundry.preparing import with_source
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.records import CommandGate
from pytest_codegenie.harness.foundry.records import Thresholds
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces.host import HostWorkspace


Open = Callable[[Mapping[str, str]], Workspace]
TEST = "from two import two\n\n\ndef test():\n    assert two() == 2\n"
MODULE = '"""Two."""\n\n\ndef two():\n    """Return it."""\n    return 2\n'


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[Open]:
    """Return a function that makes a workspace with files."""
    with contextlib.ExitStack() as stack:

        def make(files: Mapping[str, str]) -> Any:
            tree = tmp_path / "base"
            for name, text in files.items():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(text, "utf-8")
            base = make_base(tree, tmp_path / "base.git")
            workspace: Any = HostWorkspace()
            directory = tmp_path / "workspace"
            directory.mkdir()
            workspace.configure(WorkspaceSpec(directory, tmp_path / "cache"))
            environment = workspace.provide(Recipe(tree, "demo"))
            workspace.prepare(base, with_source(environment))
            stack.callback(workspace.destroy)
            return workspace

        yield make


def outcome_of(holding: Open, files: Mapping[str, str], seconds: float) -> Any:
    return run_tests(GateSite(holding(files), seconds))


def test_good_code_passes_and_tests_run_as_subprocesses_count(holding: Open) -> None:
    files = step_files("greet") | {
        "src/tool.py": '"""A tool."""\n\nprint("hello")\n',
        "tests/test_tool.py": (
            "import subprocess\nimport sys\nimport tempfile\n\n\n"
            "def test_tool():\n"
            "    command = [sys.executable, '-m', 'tool']\n"
            "    place = tempfile.mkdtemp()\n"
            "    assert subprocess.check_output(command, cwd=place) == b'hello\\n'\n"
        ),
    }
    gate = QualityGate(gates=[RuffGate()])
    workspace = holding(files)
    assert gate.missing(workspace) == ""
    report = gate.run(workspace)
    assert report["reasons"] == []
    assert report["passed"] is True
    assert (report["coverage"], report["pylint_score"]) == (100.0, 10.0)
    assert report["tests"]["counts"] == {"passed": 2}
    assert report["gates"]["ruff"]["passed"] is True


def test_figures_below_the_thresholds_do_not_pass_and_say_where(holding: Open) -> None:
    files = {
        "src/two.py": (
            "import os\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n"
        ),
        "tests/test_two.py": TEST,
    }
    report = QualityGate(gates=[RuffGate()]).run(holding(files), Thresholds(pylint=9))
    assert report["passed"] is False
    assert report["coverage"] == 80.0
    assert report["uncovered"] == {"src/two.py": [7]}
    assert 0 < report["pylint_score"] < 9
    assert "unused-import" in {one["symbol"] for one in report["lint"]}
    assert report["gates"]["ruff"]["findings"][0]["path"] == "src/two.py"
    assert [one.split()[0] for one in report["reasons"]] == [
        "coverage",
        "pylint",
        "ruff",
    ]
    assert "coverage is 80%, and 90% is asked for" in report["reasons"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "there is no directory tests/"),
        (
            {
                "tests/test_a.py": "import pytest\n\n\n@pytest.mark.skip\n"
                "def test():\n    pass\n"
            },
            r"no test was run \(1 were skipped\)",
        ),
        (
            {"tests/test_a.py": "def test():\n    assert 1 == 2\n"},
            "1 of 1 tests failed: tests.test_a.test",
        ),
        (
            {
                "tests/conftest.py": "import os\nos._exit(0)\n",
                "tests/test_a.py": "def test():\n    pass\n",
            },
            "exit code 0 and left no report",
        ),
        (
            {
                "tests/conftest.py": "import pytest\n\n\n"
                "def pytest_collection_modifyitems(items):\n    pytest.exit('', 0)\n",
                "tests/test_a.py": "def test():\n    pass\n",
            },
            "no test was run",
        ),
    ],
    ids=["none", "skipped", "fails", "exits", "ends"],
)
def test_tests_that_say_nothing_good_are_no_pass(
    holding: Open, files: dict[str, str], reason: str
) -> None:
    outcome = outcome_of(holding, {"src/two.py": MODULE, **files}, 60)
    assert isinstance(outcome, TestsOutcome)
    assert outcome.reasons
    assert re.search(reason, "; ".join(outcome.reasons))


def test_settings_in_tests_do_not_count(holding: Open) -> None:
    files = {
        "src/two.py": MODULE,
        "tests/pytest.ini": "[pytest]\naddopts = --co\n",
        "tests/test_two.py": TEST,
    }
    outcome = outcome_of(holding, files, 60)
    assert (outcome.counts, outcome.coverage, outcome.reasons) == (
        {"passed": 1},
        100.0,
        [],
    )


def test_running_out_of_time_is_no_pass(holding: Open) -> None:
    files = {"src/two.py": MODULE, "tests/test_a.py": "import time\ntime.sleep(60)\n"}
    outcome = outcome_of(holding, files, 1.0)
    assert outcome.reasons == [
        "coverage did not end within 1 seconds (tool_seconds)"
    ] or outcome.reasons == ["pytest did not end within 1 seconds (tool_seconds)"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"src/a.txt": "x"}, "src/ has no Python file"),
        ({"src/a.py": "# pylint: skip-file\nimport os\n"}, "told to skip src/a.py"),
    ],
)
def test_pylint_without_anything_to_say_gives_no_score(
    holding: Open, files: dict[str, str], reason: str
) -> None:
    outcome = run_pylint(GateSite(holding(files)))
    assert outcome.score == 0.0
    assert reason in " ".join(outcome.reasons)


def test_a_tool_that_is_not_there_is_no_pass(holding: Open) -> None:
    gate = ProgramGate(CommandGate(name="license", command=["no-such-tool"]))
    report = QualityGate(gates=[gate]).run(holding({"src/a.py": ""}))
    assert report["gates"]["license"]["passed"] is False
    assert "cannot be started" in report["gates"]["license"]["reason"]


def test_a_command_says_by_its_exit_code(holding: Open) -> None:
    workspace = holding({"src/a.py": ""})
    site = GateSite(workspace)
    for code, passed in ((0, True), (3, False)):
        settings = CommandGate(
            name="x", command=["sh", "-c", f"echo said; exit {code}"]
        )
        outcome = ProgramGate(settings).check(site)
        assert outcome.passed is passed
    assert outcome.reason == "x ended with exit code 3"
    assert outcome.findings == ({"message": "said"},)


class _Gate:
    name = "mine"
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ("no_such_module_anywhere",)

    def __init__(self, answer: GateOutcome | Exception) -> None:
        self.answer = answer

    def check(self, site: GateSite) -> GateOutcome:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_gate_that_breaks_is_no_pass(
    holding: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "pytest_codegenie.harness.foundry.quality_gate"
    monkeypatch.setattr(
        f"{module}.run_tests", lambda _: TestsOutcome(100.0, [], {"passed": 1})
    )
    workspace = holding({"src/a.py": '"""A."""\n\nA = 1\n'})
    for answer in (ToolFailed("it crashed"), RuntimeError("it crashed")):
        gate = QualityGate(gates=[_Gate(answer)])
        report = gate.run(workspace)
        assert report["passed"] is False
        assert "it crashed" in report["reasons"][-1]
    assert gate.missing(workspace).endswith("has no no_such_module_anywhere")
