"""``codegenie sign``: write down that the cases are as they should be."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import find_places
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.corpus import plan_signing
from pytest_codegenie.corpus import sign
from pytest_codegenie.errors import relative


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "sign",
        help=summary,
        description="Compute the digest of every case, show what changes in "
        "cases/digests.yaml, ask, and write it in one step.",
    )
    parser.add_argument(
        "task_classes", nargs="*", metavar="TASK_CLASS", help="default: all"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    add_bench_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Sign; 1 when it was not agreed to."""
    plans = [
        plan_signing(place)
        for place in find_places(options.task_classes, options.bench)
    ]
    for plan in plans:
        place = relative(plan.cases_dir.parent)
        if not plan.changes:
            # Writing it anyway remembers the listing of each case on this machine.
            sign(plan)
            say(f"{place}: {len(plan.after)} cases, nothing changed")
            continue
        say(f"{place}:")
        for line in plan.changes:
            say(f"  {line}")
        if not options.yes and not _agreed(place):
            return 1
        sign(plan)
        say(f"  signed {len(plan.after)} cases")
    return 0


def _agreed(place: str) -> bool:
    if not sys.stdin.isatty():
        complain(
            f"{place} is not signed: this is no terminal to ask at; look at "
            "the changes, then say --yes"
        )
        return False
    try:
        return input("sign these cases? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
