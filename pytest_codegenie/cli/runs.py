"""``codegenie runs``: the runs of the store."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.cli.tables import table
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.past_runs import PastRun
from pytest_codegenie.evidence.past_runs import RunRecords
from pytest_codegenie.evidence.past_runs import read_past_run
from pytest_codegenie.evidence.past_runs import read_records


_HEAD = (
    *("run", "begun", "agents", "task classes", "items"),
    *("passed", "failed", "errors", "complete", "cost (USD)"),
)
_NUMBERS = ("items", "passed", "failed", "errors", "cost (USD)")


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "runs",
        help=summary,
        description="Show the runs of the store, newest first: when, who, on what, and "
        "what each came to. Each trial of a case is an item. Cost is as reported by "
        "agents.",
    )
    add_limit_option(parser, "runs")
    parser.add_argument(
        "--format",
        choices=("console", "json"),
        default="console",
        help="default: console",
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def add_limit_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--limit``."""
    parser.add_argument(
        "--limit", type=_count, metavar="N", help=f"only the last N {what}"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least 1, got {text!r}"
        )
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Print a line for each run."""
    out = find_out(options.out)
    found = records_of(out, is_given=options.out is not None)
    faults, past = list(found.faults), []
    for directory, record in found.records[: options.limit]:
        try:
            past.append(read_past_run(directory, record))
        except RunStoreError as exc:
            faults.append(exc)
    if options.format == "json":
        say(json.dumps([_as_json(one) for one in past], indent=2))
    elif past:
        for line in table(_HEAD, [_cells(one) for one in past], _NUMBERS):
            say(line)
    else:
        say(f"there is no run in {relative(out / 'runs')}")
    return tell_faults(faults)


def records_of(out: Path, *, is_given: bool) -> RunRecords:
    """Return the records of a store.

    Args:
        out: Where runs are kept.
        is_given: Somebody named it; else it need not be there.

    Raises:
        UsageFault: It is not there, though it was named.
    """
    if is_given and not out.is_dir():
        raise UsageFault(f"--out: there is no directory {relative(out)}")
    return read_records(out)


def tell_faults(faults: Iterable[RunStoreError]) -> int:
    """Name runs that cannot be read; return the exit code."""
    code = 0
    for fault in faults:
        complain(f"left out: {fault}")
        code = 1
    return code


def _names(names: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(names))


def _as_json(one: PastRun) -> dict[str, Any]:
    record, groups = one.record, one.groups
    return {
        "run_id": record.run_id,
        "directory": relative(one.directory),
        "began_at": record.started_at.isoformat(),
        "graded_from": record.graded_from,
        "agents": _names(group.agent for group in groups),
        "task_classes": _names(group.task_class for group in groups),
        "selected": sum(group.selected for group in groups),
        "results": sum(group.results for group in groups),
        "passed": sum(group.passed for group in groups),
        "failed": sum(group.failed for group in groups),
        "errors": sum(group.errors for group in groups),
        "ambiguous": sum(group.ambiguous for group in groups),
        "complete": one.complete,
        "cost_usd": one.cost_usd,
    }


def _cells(one: PastRun) -> list[str]:
    values = _as_json(one)
    results, selected = values["results"], values["selected"]
    cost = values["cost_usd"]
    return [
        values["run_id"],
        f"{one.record.started_at:%Y-%m-%d %H:%M}",
        ", ".join(values["agents"]) or "none",
        ", ".join(values["task_classes"]) or "none",
        str(results) if results == selected else f"{results} of {selected}",
        *(str(values[key]) for key in ("passed", "failed", "errors")),
        "yes" if values["complete"] else "no",
        "unknown" if cost is None else f"{cost:.4f}",
    ]
