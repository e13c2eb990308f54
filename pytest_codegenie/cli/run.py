"""``codegenie run``: a thin door to ``pytest --codegenie``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from pytest_codegenie.cli.dry_run import dry_run
from pytest_codegenie.cli.saying import say
from pytest_codegenie.evidence import LATEST


#: Option of this command to pytest's, for those that take a value.
_VALUES = {
    "config": "--codegenie-run-file",
    "dataset": "--codegenie-dataset",
    "agent": "--codegenie-agent",
    "limit": "--codegenie-limit",
    "instance": "--codegenie-case",
    "run_id": "--codegenie-run-id",
    "require_lower_bound": "--codegenie-require-lower-bound",
    "baseline": "--codegenie-baseline",
    "max_cost_usd": "--codegenie-max-cost-usd",
    "log_level": "--codegenie-log-level",
    "resume": "--codegenie-resume",
}


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "run",
        help=summary,
        description="Run cases by pytest: it prints the pytest command that does the "
        "same, and becomes it. What stands after -- is given to pytest as it is.",
        usage="codegenie run [PATH ...] [options] [-- PYTEST_ARGUMENT ...]",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="what to collect (default: bench)"
    )
    parser.add_argument(
        "--config", "-c", metavar="FILE", help="run file (--codegenie-run-file)"
    )
    parser.add_argument(
        "--dataset",
        "-d",
        action="append",
        metavar="NAME[:SPLIT]",
        help="only cases of it; may be given several times (--codegenie-dataset)",
    )
    parser.add_argument(
        "--agent",
        "-a",
        action="append",
        metavar="NAME[:LABEL]",
        help="who works; may be given several times (--codegenie-agent)",
    )
    parser.add_argument(
        "--limit", "-n", metavar="N", help="only the first N cases (--codegenie-limit)"
    )
    parser.add_argument(
        "--instance",
        "-i",
        action="append",
        metavar="ID",
        help="only this case; may be given several times (--codegenie-case)",
    )
    parser.add_argument(
        "--workers", "-w", metavar="W", help="how many cases at a time (pytest's -n)"
    )
    parser.add_argument("--run-id", metavar="ID", help="name of the run")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=LATEST,
        metavar="RUN",
        help="go on with this run: its id, its directory, or 'latest', the default; an "
        "existing path after it is what to collect (--codegenie-resume)",
    )
    parser.add_argument(
        "--max-cost-usd",
        metavar="USD",
        help="what all agents may cost together (--codegenie-max-cost-usd)",
    )
    parser.add_argument(
        "--log-level", metavar="LEVEL", help="lowest level of events in log.jsonl"
    )
    parser.add_argument(
        "--require-lower-bound",
        action="append",
        metavar="[TASK=]X",
        help="a gate, several times if you like (--codegenie-require-lower-bound)",
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="compare with this earlier run (--codegenie-baseline)",
    )
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="a gate on that comparison (--codegenie-fail-on-regression)",
    )
    parser.add_argument(
        "--no-docker", action="store_true", help="refuse the workspace docker"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check all that can be checked without starting an agent, and show what "
        "would be run; exit code 1 if something is missing",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the pytest command and become it; or rehearse it."""
    arguments = list(pytest_arguments(options))
    say(f"$ {shlex.join(['pytest', *arguments])}")
    if options.dry_run:
        return dry_run(arguments)
    # As the command pytest does, nothing is imported from the working directory.
    command = [sys.executable, "-P", "-m", "pytest", *arguments]
    os.execv(sys.executable, command)  # noqa: S606 -- becoming it is the purpose


def pytest_arguments(options: argparse.Namespace) -> Iterator[str]:
    """Yield the arguments with which pytest does the same."""
    yield "--codegenie"
    yield from options.paths or ["bench"]
    for name, option in _VALUES.items():
        given = getattr(options, name)
        for value in given if isinstance(given, list) else [given]:
            if value is not None:
                yield f"{option}={value}"
    if options.workers is not None:
        yield from ("-n", options.workers)
    if options.no_docker:
        yield "--codegenie-no-docker"
    if options.fail_on_regression:
        yield "--codegenie-fail-on-regression"
    yield from options.passed_on
