"""Parts by name: what the hooks gave, and how a name becomes an object.

A part is named by ``"package.module:attribute"``; the attribute is called without
arguments. Nothing is imported until a part is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import PartTable


class UnknownPartError(LookupError):
    """There is no part of that kind and name, or it cannot be imported."""


def make_part(kind: str, name: str, table: Mapping[str, str]) -> Any:
    """Return a new part.

    Args:
        kind: What it is, for the message: ``"agent"``, ``"workspace"``.
        name: A key of ``table``.
        table: Name to ``"package.module:attribute"``.

    Raises:
        UnknownPartError: The name is unknown or cannot be imported.
    """
    reference = table.get(name)
    if reference is None:
        raise UnknownPartError(
            f"unknown {kind} {name!r}{did_you_mean(name, table)}; known: "
            f"{', '.join(sorted(table)) or 'none'} (codegenie list {kind}s)"
        )
    module_name, _, attribute = reference.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except Exception as exc:
        # Somebody else's module may raise anything.
        raise UnknownPartError(
            f"{kind} {name!r} is registered as {reference!r}, which cannot be "
            f"imported: {type(exc).__name__}: {exc}"
        ) from exc
    return factory()


#: The parts that ship. They reach a run through the same hooks as anybody's.
BUILTIN_PARTS = PartTable(
    agents={
        "aider": "pytest_codegenie.agents.aider:AiderAgent",
        "claude-code": "pytest_codegenie.agents.claude_code:ClaudeCodeAgent",
        "codex": "pytest_codegenie.agents.codex:CodexAgent",
        "command": "pytest_codegenie.agents.command:CommandAgent",
        "gemini-cli": "pytest_codegenie.agents.gemini_cli:GeminiCliAgent",
        "mini-swe-agent": "pytest_codegenie.agents.mini_swe_agent:MiniSweAgent",
        "nop": "pytest_codegenie.agents.nop:NopAgent",
        "opencode": "pytest_codegenie.agents.opencode:OpencodeAgent",
        "oracle": "pytest_codegenie.agents.oracle:OracleAgent",
        "pi": "pytest_codegenie.agents.pi:PiAgent",
        "predictions": "pytest_codegenie.agents.predictions:PredictionsAgent",
        "qwen-code": "pytest_codegenie.agents.qwen_code:QwenCodeAgent",
    },
    workspaces={
        "docker": "pytest_codegenie.workspaces.docker.workspace:DockerWorkspace",
        "host": "pytest_codegenie.workspaces.host:HostWorkspace",
        "sandbox": "pytest_codegenie.workspaces.sandbox:SandboxWorkspace",
    },
    evaluators={
        "cargo": "pytest_codegenie.evaluators.runners:CargoEvaluator",
        "command": "pytest_codegenie.evaluators.command:CommandEvaluator",
        "django": "pytest_codegenie.evaluators.django:DjangoEvaluator",
        "gotest": "pytest_codegenie.evaluators.runners:GoEvaluator",
        "harbor": "pytest_codegenie.evaluators.harbor:HarborEvaluator",
        "jest": "pytest_codegenie.evaluators.runners:JestEvaluator",
        "junit": "pytest_codegenie.evaluators.runners:JUnitEvaluator",
        "log": "pytest_codegenie.evaluators.runners:LogEvaluator",
        "nox": "pytest_codegenie.evaluators.tox_nox:NoxEvaluator",
        "pytest": "pytest_codegenie.evaluators.python_runs:PytestEvaluator",
        "tap": "pytest_codegenie.evaluators.runners:TapEvaluator",
        "terminal-bench": (
            "pytest_codegenie.evaluators.terminal_bench:TerminalBenchEvaluator"
        ),
        "tox": "pytest_codegenie.evaluators.tox_nox:ToxEvaluator",
        "unittest": "pytest_codegenie.evaluators.python_runs:UnittestEvaluator",
        "vitest": "pytest_codegenie.evaluators.runners:VitestEvaluator",
    },
    gates={
        "bandit": "pytest_codegenie.harness.foundry.gates.programs:BanditGate",
        "mypy": "pytest_codegenie.harness.foundry.gates.programs:MypyGate",
        "ruff": "pytest_codegenie.harness.foundry.gates.programs:RuffGate",
    },
    harnesses={
        "foundry": "pytest_codegenie.harness.foundry.harness:FoundryHarness",
        "patch": "pytest_codegenie.harness.patch:PatchHarness",
    },
    datasets={
        "aider-polyglot": "pytest_codegenie.datasets.exercism:AiderPolyglotDataset",
        "custom": "pytest_codegenie.datasets.custom:CustomDataset",
        "evalplus": "pytest_codegenie.datasets.evalplus:EvalPlusDataset",
        "exercism": "pytest_codegenie.datasets.exercism:ExercismDataset",
        "harbor": "pytest_codegenie.datasets.harbor:HarborDataset",
        "humaneval": "pytest_codegenie.datasets.humaneval:HumanEvalDataset",
        "humanevalpack": "pytest_codegenie.datasets.humanevalpack:HumanEvalPackDataset",
        "inspect": "pytest_codegenie.datasets.inspect_samples:InspectDataset",
        "mbpp": "pytest_codegenie.datasets.mbpp:MbppDataset",
        "quixbugs": "pytest_codegenie.datasets.quixbugs:QuixBugsDataset",
        "swebench": "pytest_codegenie.datasets.swebench.dataset:SwebenchDataset",
        "terminal-bench": (
            "pytest_codegenie.datasets.terminal_bench:TerminalBenchDataset"
        ),
    },
    reporters={
        "console": "pytest_codegenie.reporters.console:ConsoleReporter",
        "csv": "pytest_codegenie.reporters.csv_rows:CsvReporter",
        "json": "pytest_codegenie.reporters.json_summary:JsonReporter",
        "jsonl": "pytest_codegenie.reporters.json_lines:JsonLinesReporter",
        "junit": "pytest_codegenie.reporters.junit:JunitReporter",
        "markdown": "pytest_codegenie.reporters.markdown:MarkdownReporter",
        "swebench-predictions": (
            "pytest_codegenie.reporters.swebench:SwebenchPredictionsReporter"
        ),
    },
)
