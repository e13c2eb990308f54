"""``codegenie compare``: what changed from one run to another, and how surely."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.output import add_output_option
from pytest_codegenie.cli.output import put
from pytest_codegenie.cli.output import require_results
from pytest_codegenie.cli.output import warn_of_torn
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_named_run
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.errors import EXIT_GATE
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence.gates import all_met
from pytest_codegenie.evidence.gates import judge_regressions
from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.evidence.pairing import RunGroups
from pytest_codegenie.evidence.pairing import compare_runs
from pytest_codegenie.evidence.pairing import read_groups
from pytest_codegenie.reporters.comparison import comparison_json
from pytest_codegenie.reporters.comparison import comparison_markdown
from pytest_codegenie.reporters.comparison import comparison_text


_FORMATS: Mapping[str, Callable[[RunComparison], str]] = {
    "console": comparison_text,
    "json": comparison_json,
    "markdown": comparison_markdown,
}


class NothingComparable(CodegenieError):
    """Two runs have no case that can be compared; the reason says why."""


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help=summary,
        description="Compare the same cases in two runs, or of two agents in one run: "
        "the difference of the means with its interval, an exact test, and which "
        "cases regressed, improved or flipped. Cases whose digests differ are listed, "
        "not compared. Nothing is run.",
    )
    parser.add_argument(
        "before",
        metavar="RUN_A",
        help="before: an id, a directory, or 'latest', the one that began last",
    )
    parser.add_argument(
        "after",
        nargs="?",
        metavar="RUN_B",
        help="after; without it two agents of RUN_A are compared",
    )
    parser.add_argument(
        "--agent",
        action="append",
        type=_agents,
        metavar="LABEL[=LABEL]",
        help="only this agent, or this one before with that one after; may be given "
        "several times (default: all that both runs have)",
    )
    parser.add_argument(
        "--task-class",
        action="append",
        metavar="NAME",
        help="only this one; may be given several times",
    )
    parser.add_argument(
        "--format", choices=sorted(_FORMATS), default="console", help="default: console"
    )
    add_output_option(parser)
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help=f"exit code {EXIT_GATE} where a case regressed, or where that cannot be "
        "told",
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def _agents(text: str) -> tuple[str, str]:
    before, given, after = text.partition("=")
    if not before or (given and not after):
        raise argparse.ArgumentTypeError(
            f"must be LABEL or LABEL=LABEL, before and after, got {text!r}"
        )
    return before, after or before


def run(options: argparse.Namespace) -> int:
    """Print the comparison, or write it."""
    compared = _compare(options)
    if compared.why_nothing:
        raise NothingComparable(
            f"{options.before} and {options.after or options.before}: "
            f"{compared.why_nothing}{_hint(compared)}"
        )
    put(_FORMATS[options.format](compared).encode(), options.output)
    if not options.fail_on_regression:
        return 0
    cut_off = "the run is not finished" if compared.after.shortfall else ""
    verdicts = list(judge_regressions(compared, cut_off))
    for verdict in verdicts:
        complain(f"{verdict}")
    return 0 if all_met(verdicts) else EXIT_GATE


def _compare(options: argparse.Namespace) -> RunComparison:
    agents: Sequence[tuple[str, str]] = options.agent or ()
    if options.after is None and not agents:
        raise UsageFault(
            "there is one run to compare: name a second, or two agents of the one: "
            f"codegenie compare {options.before} --agent LABEL=LABEL"
        )
    names = (options.before, options.after or options.before)
    # Both before any is read: what is the latest may change.
    directories = [find_named_run(name, options.out) for name in names]
    same = directories[0].resolve() == directories[1].resolve()
    if same and (not agents or any(a == b for a, b in agents)):
        raise UsageFault(
            f"both sides are run {directories[0].name!r}, with the same agent: name "
            "another run, or two agents of this one: --agent LABEL=LABEL"
        )
    runs = [open_run(path) for path in directories[: 1 if same else 2]]
    for one in runs:
        require_results(one, "compare")
        warn_of_torn(one, "comparison")
    groups = [_selected(read_groups(one), options.task_class) for one in runs]
    _check_agents(agents, groups[0], groups[-1])
    shortfalls = [one.overview().shortfall for one in runs]
    return compare_runs(
        groups[0],
        groups[-1],
        agents=agents,
        shortfalls=(shortfalls[0], shortfalls[-1]),
    )


def _selected(run: RunGroups, names: Sequence[str] | None) -> RunGroups:
    """Return a run's groups of the task classes that are named; none named: all."""
    for name in names or ():
        _check_known("task class", name, {key.task_class for key in run.groups}, run)
    kept = {
        key: results
        for key, results in run.groups.items()
        if not names or key.task_class in names
    }
    return RunGroups(run.run_id, run.directory, kept)


def _check_agents(
    agents: Iterable[tuple[str, str]], before: RunGroups, after: RunGroups
) -> None:
    for first, second in agents:
        _check_known("agent", first, {key.agent for key in before.groups}, before)
        _check_known("agent", second, {key.agent for key in after.groups}, after)


def _check_known(kind: str, name: str, known: Collection[str], run: RunGroups) -> None:
    if name not in known:
        raise UsageFault(
            f"there is no {kind} {name!r} in run {run.run_id}"
            f"{did_you_mean(name, known)}; there: "
            f"{', '.join(map(printable, sorted(known))) or 'none'}"
        )


def _hint(compared: RunComparison) -> str:
    """Say how agents of different names are compared, where that is what is missing."""
    before = {one.agent for one in compared.unpaired if one.side == "before"}
    after = {one.agent for one in compared.unpaired if one.side == "after"}
    if compared.comparisons or not before or not after:
        return ""
    first, second = sorted(before)[0], sorted(after)[0]
    if first == second:
        return ""  # the same agent, on other task classes
    return f"; to compare agents of different labels: --agent {first}={second}"
