"""``codegenie schema``: the JSON Schema of what is written and read."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.saying import say
from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evidence.promotion.gate import PromotionVerdict
from pytest_codegenie.evidence.promotion.gate import Recommendation
from pytest_codegenie.evidence.promotion.tiers import TrustTiers
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.harness.foundry.records import ControlPlane
from pytest_codegenie.harness.foundry.records import HarnessFile
from pytest_codegenie.harness.foundry.records import PromptMetadata
from pytest_codegenie.models import Record
from pytest_codegenie.models import schemas
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


#: What is read or written beside the records of a run.
FILES: tuple[type[Record], ...] = (
    RunConfig,
    TaskFile,
    TestsFile,
    PromptMetadata,
    HarnessFile,
    ControlPlane,
    BuildState,
    TrustTiers,
    PromotionVerdict,
    Recommendation,
)


def all_schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each record and of each file format, by name."""
    return schemas() | {file.__name__: file.model_json_schema() for file in FILES}


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "schema",
        help=summary,
        description="Print the JSON Schema of a record (BenchScore, CaseResult, ...) "
        "or of a file (RunConfig, TaskFile, TestsFile, TrustTiers, ...); of all, by "
        "name, for none.",
    )
    parser.add_argument("record", nargs="?")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print it."""
    known = all_schemas()
    shown: Any = known
    if options.record is not None:
        if options.record not in known:
            raise UsageFault(
                f"there is no record {options.record!r}"
                f"{did_you_mean(options.record, known)}; known: "
                f"{', '.join(sorted(known))}"
            )
        shown = known[options.record]
    say(json.dumps(shown, indent=2, sort_keys=True))
    return 0
