"""Parsing the command line and turning errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from typing import NoReturn

from pytest_codegenie import __version__
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.errors import CodegenieError


#: pytest.ExitCode.USAGE_ERROR
_USAGE_ERROR = 4
#: In the order in which they are listed: name to module, and what it does.
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "new": ("new", "make a task class or a case"),
    "import": ("import_", "make signed cases of somebody's dataset"),
    "sign": ("sign", "write cases/digests.yaml"),
    "verify": ("verify", "check task classes and their cases"),
    "list": (
        "listing",
        "show task classes, datasets, agents, evaluators, reporters, ...",
    ),
    "run": ("run", "run cases, or show what would be run"),
    "grade": (
        "grade",
        "judge the patches of a run again, by today's tests and rubrics",
    ),
    "build": ("build", "build a program from a foundry project's prompts"),
    "report": ("report", "report a run again, in any format"),
    "export": ("export", "export a run's results as data"),
    "audit": ("audit", "verify the audit chain, or anchor its head in git"),
    "promote": ("promote", "say whether an agent's latest runs are enough for a tier"),
    "runs": ("runs", "show the runs of the store"),
    "history": ("history", "show what a task class came to over time"),
    "compare": ("compare", "show what changed between two runs, or two agents of one"),
    "cache": ("cache", "show what is kept of finished cases, or let go of it"),
    "clean": ("clean", "remove what killed runs have left, and caches if asked"),
    "schema": ("schema", "print JSON Schemas"),
}


class _Parser(argparse.ArgumentParser):
    """Ends wrong usage with pytest's exit code for it, not argparse's."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE_ERROR, f"{self.prog}: {message}\n")


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command.

    Args:
        only: The command that is given: what the others need is not imported, nor are
            their own arguments known. None: of all.
    """
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
    for name, (module_name, summary) in _COMMANDS.items():
        if only in (None, name):
            module = importlib.import_module(f"pytest_codegenie.cli.{module_name}")
            module.add_command(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: None: the process's own.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    passed_on: list[str] = []
    if words[:1] in (["run"], ["grade"]) and "--" in words:
        # Pytest's own, which argparse would take for paths.
        dashes = words.index("--")
        words, passed_on = words[:dashes], words[dashes + 1 :]
    if words[:1] == ["run"]:
        from pytest_codegenie.evidence import join_run

        words = join_run(words, "--resume")
    parser = make_parser(only=words[0] if words else "")
    options = parser.parse_args(words, argparse.Namespace(passed_on=passed_on))
    try:
        code: int = options.run(options)
    except CodegenieError as exc:
        complain(str(exc))
        return exc.exit_code
    except OSError as exc:
        place = f"{exc.filename}: " if exc.filename else ""
        complain(f"{place}{exc.strerror or exc}")
        return 1
    except KeyboardInterrupt:
        complain("interrupted")
        return 2
    return code
