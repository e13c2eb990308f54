"""``codegenie import``: somebody's dataset becomes signed cases."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.import_options import day_of
from pytest_codegenie.cli.import_options import make_dataset
from pytest_codegenie.cli.import_options import options_of
from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.progress import Progress
from pytest_codegenie.cli.saying import say
from pytest_codegenie.errors import EXIT_CORPUS
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.importing import ImportResult
from pytest_codegenie.importing import Watcher
from pytest_codegenie.importing import import_dataset
from pytest_codegenie.importing.task_class import name_fault


#: In the order in which they are said, with what is said of them.
_SAID = {
    "new": "imported",
    "replaced": "written anew",
    "kept": "there already",
    "differs": "there already and other",
    "failed": "not imported",
}


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "import",
        help=summary,
        description="Write a case for each instance of a dataset, and sign it. The "
        "task class is made, with a default rubric, where it is not there. The same "
        "command goes on after a kill; what is there already stays. Exit code 6 where "
        "an instance could not be imported: the others are.",
    )
    parser.add_argument(
        "format", metavar="FORMAT", help="as 'codegenie list datasets' shows it"
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a file or a directory, or what else the format reads",
    )
    parser.add_argument(
        "--into",
        type=Path,
        required=True,
        metavar="DIR",
        help="the task class, such as bench/swe-bench-lite",
    )
    parser.add_argument(
        "--limit", type=_count, metavar="N", help="the first N instances (default: all)"
    )
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="PATTERN",
        help="shell pattern over instance ids and case ids; several: any of them",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the format; again for more, or for more values of a list",
    )
    parser.add_argument(
        "--jobs",
        "-j",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes that write cases (default: one a processor)",
    )
    parser.add_argument(
        "--date",
        metavar="DAY",
        help="of new cases, as 2026-11-22 (default: of SOURCE_DATE_EPOCH, or today)",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="write cases anew that are there and differ",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Import, and say what came of it."""
    into = Path(os.path.abspath(options.into))  # noqa: PTH100 -- links stay
    if fault := name_fault(into):
        raise UsageFault(f"--into: {fault}")
    day = day_of(options.date, os.environ)
    dataset = make_dataset(options.format)
    values = options_of(dataset, options.option)
    result = ImportResult(into)
    progress = Progress(sys.stderr)
    watcher = Watcher(
        counted=lambda counts: progress.show(_words(counts)),
        failed=progress.say,
        waiting=lambda: progress.say(
            f"another import into {relative(into)} is going on; waiting for its end"
        ),
    )
    try:
        import_dataset(
            dataset,
            options.source,
            values,
            into,
            limit=options.limit,
            select=options.select,
            jobs=options.jobs,
            day=day,
            replace=options.replace,
            watcher=watcher,
            result=result,
        )
    except KeyboardInterrupt:
        progress.close()
        _summarise(result, "interrupted; the same command goes on")
        return 2
    except (CodegenieError, OSError):
        progress.close()
        if result.imported:
            _summarise(result, "then it ended; the same command goes on")
        raise
    progress.close()
    _summarise(result, "")
    return EXIT_CORPUS if result.errors else 0


def _summarise(result: ImportResult, ended: str) -> None:
    place = relative(result.directory)
    more = f"; {ended}" if ended else ""
    say(f"{place}: {_words(result.counts) or 'nothing imported'}{more}")
    if result.imported and not ended:
        say(f"next: codegenie verify --oracle {place}")


def _words(counts: Any) -> str:
    said = [f"{counts[state]} {word}" for state, word in _SAID.items() if counts[state]]
    return ", ".join(said)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {text}")
    return value
