"""What commands that read a run write: to a file or the standard output, whole."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import StoredRun


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--output``."""
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write it there instead of to the standard output",
    )


def put(data: bytes, path: Path | None) -> None:
    """Write ``data``, UTF-8 where it is text, whatever the locale.

    Args:
        data: The whole.
        path: None: the standard output.

    Raises:
        UsageFault: There is no directory for the file.
        OSError: It cannot be written; a file is as it was.
    """
    if path is None:
        _print(data)
    elif path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe; a directory says so
    elif not path.parent.is_dir():
        raise UsageFault(f"--output: there is no directory {relative(path.parent)}")
    else:
        write_atomically(path.resolve(), data)


def _print(data: bytes) -> None:
    """Print the data; a reader may stop early."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Python would try again when it ends, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_results(run: StoredRun, purpose: str) -> None:
    """Refuse a run without a result.

    Args:
        run: The run.
        purpose: What was going to be done with it, a verb.

    Raises:
        RunStoreError: No case has a result.
    """
    if next(run.results(), None) is None:
        raise RunStoreError(
            run.directory / RESULTS,
            f"no case of this run has a result ({len(run.record.items)} were to run): "
            f"there is nothing to {purpose}",
        )


def warn_of_torn(run: StoredRun, what: str = "report") -> int:
    """Say that the record was cut off in the middle of a result; return the exit code.

    Args:
        run: The run.
        what: What the last line is missing from.
    """
    if not run.is_torn():
        return 0
    complain(
        f"{relative(run.directory / RESULTS)}: the last line was cut off "
        f"and is not in the {what}; the results before it are whole"
    )
    return 1
