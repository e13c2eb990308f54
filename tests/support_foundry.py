"""A foundry project as a test needs it, and stand-ins that cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.records import Thresholds
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.rooms import Surroundings
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.workspaces import Workspace


HARNESS = "agent: {name: oracle}\nenvironment: {install: none}\nworkspace: host\n"
STEPS = ("greet", "part", "both")


def new_file(path: str, text: str) -> str:
    """Return a git diff that makes a file."""
    lines = text.splitlines()
    added = "".join(f"+{line}\n" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{added}"
    )


def step_files(name: str) -> dict[str, str]:
    """Return a module and its test, which pass every gate."""
    return {
        f"src/demo_{name}.py": (
            f'"""Says {name}."""\n\n\ndef {name}(name: str) -> str:\n'
            f'    """Return words for a name."""\n    return f"{name}, {{name}}"\n'
        ),
        f"tests/test_{name}.py": (
            f"from demo_{name} import {name}\n\n\ndef test_{name}():\n"
            f'    assert {name}("you") == "{name}, you"\n'
        ),
    }


def step_diff(name: str) -> str:
    """Return the diff that makes them."""
    return "".join(new_file(path, text) for path, text in step_files(name).items())


def make_project(path: Path, files: Mapping[str, str | None] | None = None) -> Path:
    """Make a project of three prompts with its reference solution.

    Args:
        path: A directory that is not there.
        files: More files, or others; None leaves one out.
    """
    prompts = (
        f"## P-{number:03}: {name.title()}\nWrite {name}.\n\n"
        for number, name in enumerate(STEPS, 1)
    )
    all_files: dict[str, str | None] = {
        "prompt.md": f"# Demo\n\n{''.join(prompts)}",
        "harness.yaml": HARNESS,
        "control-plane.yaml": "",
        "design.md": "# Design\n",
        "spec.md": "# Specification\n",
        "test-case.md": "# Tests\n",
        **{
            f"solution/P-{number:03}.patch": step_diff(name)
            for number, name in enumerate(STEPS, 1)
        },
        **(files or {}),
    }
    for name, text in all_files.items():
        if text is not None:
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    return path


class EasyGate(QualityGate):
    """Starts no tool: what has ``reject`` in a file of src/ does not pass."""

    def missing(self, workspace: Workspace) -> str:
        """Find nothing missing."""
        return ""

    def run(
        self, workspace: Workspace, thresholds: Thresholds | None = None
    ) -> dict[str, Any]:
        """Look at src/."""
        sources = (workspace.tree / "src").rglob("*.py")
        bad = [path.name for path in sources if "reject" in path.read_text("utf-8")]
        reasons = [f"{name} is rejected" for name in bad]
        return {
            "coverage": 0.0 if bad else 100.0,
            "pylint_score": 10.0,
            "passed": not bad,
            "reasons": reasons,
        }


class Script:
    """Hands in, one after the other, what it was given; and keeps what it was asked.

    Args:
        answers: Prompt's id to what is handed in at each try: text, an exception to
            raise, or a function to call for the text. The last one is repeated.
    """

    def __init__(
        self, answers: Mapping[str, list[str | Exception | Callable[[], str]]]
    ) -> None:
        self.answers = {key: list(values) for key, values in answers.items()}
        #: (prompt's id, failure context)
        self.asked: list[tuple[str, str]] = []

    def execute(self, prompt: Mapping[str, Any], failure_context: str = "") -> str:
        """Return the next answer."""
        self.asked.append((prompt["id"], failure_context))
        answers = self.answers[prompt["id"]]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else answer()


def right_answers() -> dict[str, list[str | Exception | Callable[[], str]]]:
    """Return the reference solution as answers."""
    return {f"P-{number:03}": [step_diff(name)] for number, name in enumerate(STEPS, 1)}


def build(path: Path, executor: Any = None, **settings: Any) -> BuildResult:
    """Build a project without any tool.

    Args:
        path: The project.
        executor: Who writes; None: the oracle.
        settings: Of ``BuildSettings``; ``watch`` and ``gate`` are for the runner.
    """
    watch, gate = settings.pop("watch", None), settings.pop("gate", None)
    agent = settings.pop("agent", AgentSpec(name="oracle", label="oracle"))
    runner = HarnessRunner(
        path,
        BuildSettings(agent=agent, **settings),
        surroundings=Surroundings(BUILTIN_PARTS, scratch_root=path.parent),
        executor=executor,
        gate=gate or EasyGate(),
        watch=watch,
    )
    return runner.run()


def tree_of(path: Path) -> dict[str, str]:
    """Return the files of src/ and tests/ with what they hold."""
    return {
        file.relative_to(path).as_posix(): file.read_text("utf-8")
        for area in ("src", "tests")
        for file in sorted((path / area).rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


def whole_tree() -> dict[str, str]:
    """Return what ``tree_of`` returns of a complete build."""
    files: dict[str, str] = {}
    for name in STEPS:
        files |= step_files(name)
    return dict(sorted(files.items()))
