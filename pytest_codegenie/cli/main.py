"""Parsing the command line and turning errors into exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from pytest_codegenie import __version__
from pytest_codegenie.cli import clean
from pytest_codegenie.cli import listing
from pytest_codegenie.cli import new
from pytest_codegenie.cli import report
from pytest_codegenie.cli import run
from pytest_codegenie.cli import schema
from pytest_codegenie.cli import sign
from pytest_codegenie.cli import verify
from pytest_codegenie.errors import CodegenieError


#: pytest.ExitCode.USAGE_ERROR
_USAGE_ERROR = 4


class _Parser(argparse.ArgumentParser):
    """Ends wrong usage with pytest's exit code for it, not argparse's."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE_ERROR, f"{self.prog}: {message}\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command."""
    parser = _Parser(
        prog="codegenie",
        description="Make, sign and check the bench cases of pytest-codegenie. Cases "
        "are run by pytest: pytest --codegenie bench/",
    )
    parser.add_argument(
        "--version", action="version", version=f"pytest-codegenie {__version__}"
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for module in (new, sign, verify, listing, run, report, clean, schema):
        module.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: None: the process's own.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    passed_on: list[str] = []
    if words[:1] == ["run"] and "--" in words:
        # Pytest's own, which argparse would take for paths.
        dashes = words.index("--")
        words, passed_on = words[:dashes], words[dashes + 1 :]
    options = make_parser().parse_args(words, argparse.Namespace(passed_on=passed_on))
    try:
        code: int = options.run(options)
    except CodegenieError as exc:
        print(f"codegenie: {exc}", file=sys.stderr)
        return exc.exit_code
    except OSError as exc:
        place = f"{exc.filename}: " if exc.filename else ""
        print(f"codegenie: {place}{exc.strerror or exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("codegenie: interrupted", file=sys.stderr)
        return 2
    return code
