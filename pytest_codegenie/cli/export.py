"""``codegenie export``: a run's results as data, for other programs."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.output import add_output_option
from pytest_codegenie.cli.output import put
from pytest_codegenie.cli.output import require_results
from pytest_codegenie.cli.output import warn_of_torn
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import add_run_argument
from pytest_codegenie.cli.places import find_named_run
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence.frames import to_parquet
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import report_text
from pytest_codegenie.reporters.swebench import SwebenchPredictionsReporter
from pytest_codegenie.reporters.swebench import find_predictions


_PARQUET = "parquet"
_PREDICTIONS = SwebenchPredictionsReporter.name
#: Reports are for people and plugins: ``codegenie report`` has them.
_FORMATS = ("csv", "jsonl", "junit", _PARQUET, _PREDICTIONS)


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help=summary,
        description="Write the results of a run, finished or cut off, as data: a row "
        "each (csv, jsonl, parquet), a JUnit report, or SWE-bench's predictions. "
        "Nothing is run, and the run is not changed.",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--format", required=True, metavar="NAME", help=f"{', '.join(_FORMATS)}"
    )
    add_output_option(parser)
    parser.add_argument(
        "--agent",
        metavar="LABEL",
        help=f"for {_PREDICTIONS}: whose patches, where the run has several agents",
    )
    parser.add_argument(
        "--trial",
        type=int,
        metavar="N",
        help=f"for {_PREDICTIONS}: of which trial; SWE-bench takes one patch a case "
        "(default: 1)",
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the data, or write it."""
    _check(options)
    stored = open_run(find_named_run(options.name, options.out))
    require_results(stored, "export")
    data, notes = _exported(stored, options)
    put(data, options.output)
    shortfall = stored.overview().shortfall
    for note in (*notes, *([shortfall] if shortfall else [])):
        complain(f"{printable(note)}")
    return warn_of_torn(stored, "export")


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go together.

    Raises:
        UsageFault: It says what would.
    """
    name = options.format
    if name in BUILTIN_PARTS.reporters and name not in _FORMATS:
        raise UsageFault(
            f"{name!r} is a report, not data: codegenie report --format {name}"
        )
    if name not in _FORMATS:
        raise UsageFault(
            f"there is no format {name!r}{did_you_mean(name, _FORMATS)}; known: "
            f"{', '.join(_FORMATS)}"
        )
    for option in ("agent", "trial"):
        if getattr(options, option) is not None and name != _PREDICTIONS:
            raise UsageFault(
                f"--{option} is for {_PREDICTIONS}; {name} has all results, with "
                f"a column {option!r} or a test case each"
            )
    if name == _PARQUET and options.output is None and sys.stdout.isatty():
        raise UsageFault("Parquet is nothing for a terminal: add --output FILE")


def _exported(
    stored: StoredRun, options: argparse.Namespace
) -> tuple[bytes, tuple[str, ...]]:
    """Return the data, and what a reader of it should know."""
    if options.format == _PARQUET:
        return to_parquet(stored), ()
    if options.format == _PREDICTIONS:
        trial = 1 if options.trial is None else options.trial
        found = find_predictions(stored, agent=options.agent, trial=trial)
        return "".join(f"{line}\n" for line in found.lines()).encode(), found.notes
    reporter = make_part("reporter", options.format, BUILTIN_PARTS.reporters)
    return report_text(options.format, reporter, stored).encode(), ()
