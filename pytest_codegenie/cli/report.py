"""``codegenie report``: make a report of a run again, from its store."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.output import add_output_option
from pytest_codegenie.cli.output import put
from pytest_codegenie.cli.output import require_results
from pytest_codegenie.cli.output import warn_of_torn
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import add_run_argument
from pytest_codegenie.cli.places import find_named_run
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evidence import open_run
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters import report_text
from pytest_codegenie.reporters.markdown import LEAST_BYTES


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "report",
        help=summary,
        description="Report a run from its store, finished or cut off: to the "
        "terminal, or in a format for other programs. Nothing is run, and the run is "
        "not changed.",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--format",
        default="console",
        metavar="NAME",
        help="console, csv, json, jsonl, markdown, or one of a plugin's (codegenie "
        "list reporters); default: console",
    )
    add_output_option(parser)
    parser.add_argument(
        "--max-bytes",
        type=int,
        metavar="N",
        help="cut a report in Markdown so that it is no longer; 65536 fits into a "
        f"comment on GitHub. At least {LEAST_BYTES}; default: 1 MiB, a step's summary",
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report, or write it."""
    if options.max_bytes is not None and options.max_bytes < LEAST_BYTES:
        raise UsageFault(
            f"--max-bytes must be at least {LEAST_BYTES}, got {options.max_bytes}"
        )
    reporter = _make_reporter(options.format)
    stored = open_run(find_named_run(options.name, options.out))
    require_results(stored, "report")
    text = report_text(options.format, reporter, stored, _form(options))
    put(text.encode(), options.output)
    return warn_of_torn(stored)


def _make_reporter(name: str) -> Any:
    known: Mapping[str, str] = BUILTIN_PARTS.reporters
    if name not in known:
        # Only for a plugin's is it worth a pytest that starts.
        from pytest_codegenie.session.installed import installed_parts

        known = installed_parts().reporters
    if name not in known:
        raise UsageFault(
            f"there is no format {name!r}{did_you_mean(name, known)}; known: "
            f"{', '.join(sorted(known))} (codegenie list reporters)"
        )
    try:
        return make_part("reporter", name, known)
    except UnknownPartError as exc:
        raise UsageFault(str(exc)) from exc


def _form(options: argparse.Namespace) -> Form:
    if options.output is not None:
        return Form(max_bytes=options.max_bytes)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Form(
        columns=shutil.get_terminal_size().columns,
        colours=sys.stdout.isatty() and not plain,
        max_bytes=options.max_bytes,
    )
