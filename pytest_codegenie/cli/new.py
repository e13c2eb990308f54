"""``codegenie new``: a task class or a case that works, to be changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from typing import get_args

from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import find_places
from pytest_codegenie.cli.saying import say
from pytest_codegenie.corpus import new_case
from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.models import CurationClass
from pytest_codegenie.models import Difficulty


class UsageFault(CodegenieError):
    """Something is missing from the command line."""

    exit_code = 4


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "new",
        help=summary,
        description="Make a task class, or a case that works and is signed, to be "
        "changed. On a terminal, what is not given is asked for.",
    )
    parser.add_argument("kind", nargs="?", choices=("task-class", "case"))
    parser.add_argument(
        "name", nargs="?", help="a task class, or <task class>/<case id>"
    )
    parser.add_argument(
        "--disposition",
        choices=("positive", "negative"),
        help="something to do, or a mistaken report (default: positive)",
    )
    parser.add_argument(
        "--difficulty", choices=get_args(Difficulty), help="default: easy"
    )
    parser.add_argument(
        "--curation-class",
        choices=get_args(CurationClass),
        help="whether a corpus was made from it (default: held-out)",
    )
    add_bench_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make it; say what to do next."""
    kind = options.kind or _ask("kind", ("task-class", "case"), None)
    if kind == "task-class":
        name = options.name or _ask("name of the task class", (), None)
        directory = new_task_class(name, options.bench)
        say(f"made {relative(directory)}")
        say(f"next: codegenie new case {name}/<case id>")
        return 0
    name = options.name or _ask("<task class>/<case id>", (), None)
    task_class, _, case_id = name.rpartition("/")
    if not (task_class and case_id):
        raise UsageFault(
            f"a case is named <task class>/<case id>, got {name!r}; for example: "
            "codegenie new case bug-repair/off-by-one"
        )
    place = find_places([task_class], options.bench)[0]
    if place.name != Path(task_class).name:
        raise UsageFault(
            f"{task_class!r} is no task class, it only holds some: name one, such as "
            f"{relative(place)}/{case_id}"
        )
    directory = new_case(
        place,
        case_id,
        disposition=options.disposition
        or _ask("disposition", ("positive", "negative"), "positive"),
        difficulty=options.difficulty
        or _ask("difficulty", get_args(Difficulty), "easy"),
        curation_class=options.curation_class
        or _ask("curation class", get_args(CurationClass), "held-out"),
    )
    path = relative(directory)
    say(f"made and signed {path}")
    say("next: change its files, then")
    say(f"  codegenie sign {relative(Path(path).parent.parent)}")
    say(f"  codegenie verify {relative(Path(path).parent.parent)}")
    return 0


def _ask(what: str, choices: tuple[str, ...], default: str | None) -> str:
    """Ask for a value on a terminal; elsewhere take the default.

    Raises:
        UsageFault: There is no terminal and no default, or no answer.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        if default is None:
            raise UsageFault(
                f"{what} is missing; this is no terminal, so give it on the command "
                "line: codegenie new task-class NAME | case TASK/CASE"
            )
        return default
    shown = f" ({'/'.join(choices)})" if choices else ""
    preset = f" [{default}]" if default else ""
    while True:
        try:
            answer = input(f"{what}{shown}{preset}: ").strip() or default
        except EOFError:
            raise UsageFault(f"{what} is missing") from None
        if answer and (not choices or answer in choices):
            return answer
