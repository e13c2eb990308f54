"""``codegenie grade``: judge the patches of a run again, without its agents."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from pytest_codegenie.cli.saying import say


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "grade",
        help=summary,
        description="Judge the patches of a run again by pytest, with today's tests "
        "and rubrics and without starting an agent. It is a new run, whose run.json "
        "names the other one (graded_from). It prints the pytest command that does the "
        "same, and becomes it. What stands after -- is given to pytest as it is.",
        usage="codegenie grade RUN [PATH ...] [options] [-- PYTEST_ARGUMENT ...]",
    )
    parser.add_argument(
        "name",
        metavar="RUN",
        help="its id, its directory, or 'latest', the one that began last",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="what to collect (default: bench)",
    )
    parser.add_argument(
        "--changed",
        action="store_true",
        help="cases, too, whose files changed since that run "
        "(--codegenie-grade-changed)",
    )
    parser.add_argument(
        "--workers", "-w", metavar="W", help="how many cases at a time (pytest's -n)"
    )
    parser.add_argument("--run-id", metavar="ID", help="name of the new run")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the pytest command and become it."""
    arguments = list(pytest_arguments(options))
    say(f"$ {shlex.join(['pytest', *arguments])}")
    # As the command pytest does, nothing is imported from the working directory.
    command = [sys.executable, "-P", "-m", "pytest", *arguments]
    os.execv(sys.executable, command)  # noqa: S606 -- becoming it is the purpose


def pytest_arguments(options: argparse.Namespace) -> Iterator[str]:
    """Yield the arguments with which pytest does the same."""
    yield "--codegenie"
    yield from options.paths or ["bench"]
    yield f"--codegenie-grade={options.name}"
    if options.changed:
        yield "--codegenie-grade-changed"
    if options.run_id is not None:
        yield f"--codegenie-run-id={options.run_id}"
    if options.workers is not None:
        yield from ("-n", options.workers)
    yield from options.passed_on
