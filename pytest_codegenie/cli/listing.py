"""``codegenie list``: what there is to choose from."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.places import DEFAULT_BENCH
from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import find_places
from pytest_codegenie.cli.saying import say
from pytest_codegenie.corpus import find_task_classes
from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.datasets import Dataset
from pytest_codegenie.errors import relative
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.installed import installed_parts
from pytest_codegenie.workspaces import Workspace


#: Of ``PartTable``; "task-classes" and "datasets" beside them.
_PARTS = ("agents", "evaluators", "gates", "harnesses", "reporters", "workspaces")


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "list",
        help=summary,
        description="Show what there is: the task classes of the bench directory; the "
        "formats of datasets that can be imported, and what a run can select of the "
        "bench as datasets; or the parts that plugins give, with where each comes "
        "from, and of workspaces whether they work here.",
    )
    parser.add_argument("what", choices=("task-classes", "datasets", *_PARTS))
    add_bench_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each."""
    if options.what == "task-classes":
        lines = list(_task_class_lines(options.bench))
    elif options.what == "datasets":
        lines = [
            *_format_lines(installed_parts().datasets),
            *_dataset_lines(options.bench),
        ]
    else:
        table: dict[str, str] = getattr(installed_parts(), options.what)
        lines = [f"{name:<16} {place}" for name, place in sorted(table.items())]
        if options.what == "workspaces":
            lines = list(_workspace_lines(table))
    for line in lines:
        say(line)
    return 0


def _workspace_lines(table: dict[str, str]) -> Iterator[str]:
    for name, place in sorted(table.items()):
        yield f"{name:<16} {place}"
        try:
            workspace: Workspace = make_part("workspace", name, table)
            fault = workspace.probe()
        except Exception as exc:
            # Somebody else's code may raise anything.
            fault = str(exc)
        yield f"  does not work here: {fault}" if fault else "  works here"


def _task_class_lines(bench: Path) -> Iterator[str]:
    for place in find_places([], bench):
        cases = load_cases(read_task_class(place))
        counts = Counter(case.disposition for case in cases)
        held_out = sum(case.curation_class == "held-out" for case in cases)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        yield (
            f"{place.name:<20} {len(cases)} cases ({kinds or 'none'}; "
            f"{held_out} held-out)"
        )


def _format_lines(table: dict[str, str]) -> Iterator[str]:
    """Yield name and place of each format that can be imported, and what it reads."""
    for name, place in sorted(table.items()):
        yield f"{name:<20} {place}"
        try:
            dataset: Dataset = make_part("dataset", name, table)
            yield f"  {dataset.summary}"
        except Exception as exc:
            # Somebody else's code may raise anything.
            yield f"  does not work here: {exc}"


def _dataset_lines(bench: Path) -> Iterator[str]:
    """Yield name, cases and place of each dataset, and a line for each split."""
    if bench.is_dir():
        places = find_task_classes(bench)
    else:
        # The default may be missing: formats are there before the first bench is.
        places = [] if bench == DEFAULT_BENCH else find_places([], bench)
    for place in places:
        cases = load_cases(read_task_class(place))
        yield f"{place.name:<20} {len(cases)} cases, in {relative(place)}"
        counts = Counter(case.curation_class for case in cases)
        for split, count in sorted(counts.items()):
            yield f"  {place.name}:{split} {count}"
