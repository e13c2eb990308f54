"""``codegenie history``: what a task class came to over time, and what changed."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.output import put
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.runs import add_limit_option
from pytest_codegenie.cli.runs import records_of
from pytest_codegenie.cli.runs import tell_faults
from pytest_codegenie.cli.tables import table
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.past_runs import MADE_OF
from pytest_codegenie.evidence.past_runs import PastGroup
from pytest_codegenie.evidence.past_runs import read_past_run
from pytest_codegenie.evidence.past_runs import selected_groups
from pytest_codegenie.reporters.csv_rows import csv_line
from pytest_codegenie.reporters.rows import shown


_HEAD = (
    *("run", "begun", "agent", "cases", "passed", "errors", "mean", "lower bound"),
    *("complete", "changed"),
)
_COLUMNS = 80
_NUMBERS = ("cases", "passed", "errors", "mean", "lower bound")
_NOTE = (
    "Lower bound: of the mean, 95%. Changed: what differs from the run before of the "
    "same agent."
)


@dataclass(frozen=True, slots=True)
class _Row:
    group: PastGroup
    #: Since the one before of the same agent; None: there is none before.
    changed: tuple[str, ...] | None


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "history",
        help=summary,
        description="Show each run of a task class in the order of time: its figures "
        f"with the 95% lower bound, and which of {', '.join(MADE_OF)} changed since "
        "the run before of the same agent: then the figures are of something else.",
    )
    parser.add_argument("task_class", metavar="TASK", help="a task class")
    parser.add_argument("--agent", metavar="LABEL", help="only this agent")
    add_limit_option(parser, "lines")
    parser.add_argument(
        "--format",
        choices=("console", "csv", "json"),
        default="console",
        help="default: console",
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each run and agent."""
    out = find_out(options.out)
    found = records_of(out, is_given=options.out is not None)
    faults: list[RunStoreError] = list(found.faults)
    known: set[str] = set()
    groups: list[PastGroup] = []
    for directory, record in reversed(found.records):
        classes = {key.task_class for key in selected_groups(record)}
        known |= classes
        if classes and options.task_class not in classes:
            continue
        try:
            groups += read_past_run(directory, record).groups
        except RunStoreError as exc:
            faults.append(exc)
    known |= {group.task_class for group in groups}
    code = tell_faults(faults)
    _check_known("task class", options.task_class, known, relative(out / "runs"))
    groups = [group for group in groups if group.task_class == options.task_class]
    if options.agent is not None:
        labels = {group.agent for group in groups}
        _check_known("agent", options.agent, labels, options.task_class)
        groups = [group for group in groups if group.agent == options.agent]
    rows = _rows(groups)[-(options.limit or len(groups)) :]
    put("".join(_FORMATS[options.format](rows)).encode(), None)
    return code


def _check_known(kind: str, name: str, known: set[str], place: str) -> None:
    if name not in known:
        raise UsageFault(
            f"there is no run of {kind} {name!r} in {place}"
            f"{did_you_mean(name, known)}; there: "
            f"{', '.join(map(printable, sorted(known))) or 'none'}"
        )


def _rows(groups: Sequence[PastGroup]) -> list[_Row]:
    before: dict[str, PastGroup] = {}
    rows = []
    for group in groups:
        changed = None
        if group.made_of:
            last = before.get(group.agent)
            changed = group.changed_since(last) if last else None
            before[group.agent] = group
        rows.append(_Row(group, changed))
    return rows


def _console(rows: Sequence[_Row]) -> Iterator[str]:
    for line in table(_HEAD, [_cells(row) for row in rows], _NUMBERS):
        yield f"{line}\n"
    yield textwrap.fill(_NOTE, _COLUMNS) + "\n"


def _cells(row: _Row) -> list[str]:
    one = row.group
    counted = one.passed + one.failed
    return [
        one.run_id,
        f"{one.began_at:%Y-%m-%d %H:%M}",
        one.agent,
        str(one.cases),
        f"{one.passed} of {counted}",
        str(one.errors),
        shown(one.mean_score),
        shown(one.lower_bound_95),
        "yes" if one.complete else f"no: {one.results} of {one.selected}",
        "" if row.changed is None else ", ".join(row.changed) or "nothing",
    ]


def _plain(row: _Row) -> dict[str, Any]:
    one = row.group
    return {
        "run_id": one.run_id,
        "began_at": one.began_at.isoformat(),
        "task_class": one.task_class,
        "agent": one.agent,
        "selected": one.selected,
        "results": one.results,
        "cases": one.cases,
        "passed": one.passed,
        "failed": one.failed,
        "errors": one.errors,
        "ambiguous": one.ambiguous,
        "mean_score": one.mean_score,
        "lower_bound_95": one.lower_bound_95,
        "complete": one.complete,
        "cost_usd": one.cost_usd,
        "changed": row.changed,
        "made_of": {name: one.made_of.get(name) for name in MADE_OF},
    }


def _json(rows: Sequence[_Row]) -> Iterator[str]:
    yield json.dumps([_plain(row) for row in rows], indent=2) + "\n"


def _csv(rows: Sequence[_Row]) -> Iterator[str]:
    head: list[str] = []
    for row in rows:
        values = _plain(row)
        made_of = values.pop("made_of")
        changed = values["changed"]
        values["changed"] = None if changed is None else " ".join(changed)
        values |= {f"made_of.{name}": made_of[name] for name in MADE_OF}
        if not head:
            head = list(values)
            yield csv_line(head)
        yield csv_line(values.values())


_FORMATS = {"console": _console, "csv": _csv, "json": _json}
