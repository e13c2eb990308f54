"""``codegenie promote``: whether an agent's latest runs are enough for a tier."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic import ValidationError

import pytest_codegenie
from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.places import find_places
from pytest_codegenie.cli.saying import say
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.documents import sync_directory
from pytest_codegenie.errors import EXIT_GATE
from pytest_codegenie.errors import PromotionMustBeHumanAuthorized
from pytest_codegenie.errors import TaskClassIncomplete
from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.promotion.gate import PromotionGate
from pytest_codegenie.evidence.promotion.gate import PromotionVerdict
from pytest_codegenie.evidence.promotion.gate import Recommendation
from pytest_codegenie.evidence.promotion.tiers import TIERS_FILE
from pytest_codegenie.evidence.promotion.tiers import TrustTiers
from pytest_codegenie.evidence.promotion.tiers import read_tiers
from pytest_codegenie.evidence.promotion.window import known_agents
from pytest_codegenie.evidence.promotion.window import promotion_window
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import Label
from pytest_codegenie.models import utc_now
from pytest_codegenie.registry import TaskClass


#: Beside the tiers file, to be committed with it.
RECOMMENDATIONS = "recommendations"


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "promote",
        help=summary,
        description="Compare the latest runs of an agent with what a tier of "
        f"{TIERS_FILE} asks, print the verdict, and write it to {RECOMMENDATIONS}/. "
        "No tier is changed: a person does that. Exit code 0 (sufficient) or 10 "
        "(not).",
    )
    parser.add_argument("task_class", metavar="TASK_CLASS")
    parser.add_argument("--to", required=True, metavar="TIER", help="the tier above")
    parser.add_argument(
        "--agent",
        metavar="LABEL",
        help="whose runs (default: the only agent that has any)",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument(
        "--tiers",
        type=Path,
        default=Path(TIERS_FILE),
        metavar="FILE",
        help=f"default: {TIERS_FILE}",
    )
    add_bench_option(parser)
    add_out_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the verdict, and write it."""
    tiers = read_tiers(options.tiers)
    target = tiers.tier(options.to)
    if target is None:
        raise UsageFault(
            f"--to: {relative(options.tiers)} has no tier {options.to!r}"
            f"{did_you_mean(options.to, tiers.names)}; lowest first it has: "
            f"{', '.join(tiers.names)}"
        )
    task_class = _find_task_class(options)
    needed = _needed(task_class, tiers, options.tiers)
    out = find_out(options.out)
    agent = _choose_agent(out, task_class.name, options.agent)
    gate = PromotionGate(tiers, path=options.tiers)
    verdict = gate.evaluate(
        task_class.name,
        tiers.current_tier(task_class.name, agent),
        target.name,
        promotion_window(out, task_class.name, agent, target.window, needed),
        agent=agent,
    )
    to_do = _to_do(gate, verdict)
    path = _write(verdict, to_do, options.tiers)
    say(verdict.to_json() if options.format == "json" else _table(verdict, to_do, path))
    return 0 if verdict.sufficient else EXIT_GATE


def _find_task_class(options: argparse.Namespace) -> TaskClass:
    (place, *more) = find_places([options.task_class], options.bench)
    if more:
        raise UsageFault(
            f"{options.task_class!r} holds several task classes; a tier is of one: "
            f"{', '.join(path.name for path in (place, *more))}"
        )
    return read_task_class(place)


def _needed(task_class: TaskClass, tiers: TrustTiers, path: Path) -> Mapping[str, int]:
    """Return what the task class asks for each tier.

    Raises:
        TaskClassIncomplete: It is no number of cases.
        TierConfigInvalid: There is no such tier, so that nobody would ask for it.
    """
    registration = task_class.bench_path / "registration.py"
    for name, count in task_class.min_cases_for_promotion.items():
        if type(count) is not int or count < 1:
            raise TaskClassIncomplete(
                task_class.name,
                registration,
                f"min_cases_for_promotion: {name!r}: {count!r} is no number of cases",
            )
        if name not in tiers.names:
            raise TierConfigInvalid(
                path,
                "tiers",
                f"there is no tier {name!r}{did_you_mean(name, tiers.names)}, which "
                f"{relative(registration)} names in min_cases_for_promotion; there "
                f"are: {', '.join(tiers.names)}",
            )
    return task_class.min_cases_for_promotion


def _choose_agent(out: Path, task_class: str, agent: str | None) -> str:
    """Return the label of the agent.

    Raises:
        UsageFault: It is not clear which is meant, or what is given is no label.
        RunStoreError: A record cannot be read.
    """
    if agent is not None and not _is_label(agent):
        raise UsageFault(
            f"--agent: {printable(agent)!r} is no label: it must start with a letter "
            "or digit and hold only letters, digits, '.', '_' and '-', 64 at most"
        )
    known = known_agents(out, task_class)
    named = ", ".join(known) or "none"
    if agent is None and len(known) == 1:
        return known[0]
    if agent is None:
        raise UsageFault(
            f"name the agent with --agent; with a report of {task_class!r} in "
            f"{relative(out)}: {named}"
        )
    if known and agent not in known and did_you_mean(agent, known):
        raise UsageFault(
            f"there is no report of {task_class!r} with agent {agent!r}"
            f"{did_you_mean(agent, known)}; with one: {named}"
        )
    return agent


def _is_label(text: str) -> bool:
    # It becomes a part of file names.
    try:
        TypeAdapter(Label).validate_python(text)
    except ValidationError:
        return False
    return True


def _to_do(gate: PromotionGate, verdict: PromotionVerdict) -> str:
    """Return what a person has to do to give the tier."""
    try:
        gate.apply(verdict)
    except PromotionMustBeHumanAuthorized as exc:
        return str(exc)


def _table(verdict: PromotionVerdict, to_do: str, path: Path) -> str:
    """Return the verdict for a terminal: what is not met first."""
    step = f"{verdict.current_tier or 'no tier'} to {verdict.target_tier}"
    said = "sufficient" if verdict.sufficient else "not sufficient"
    lines = [f"{verdict.task_class} [{verdict.agent}], {step}: {said}"]
    for met, mark in ((False, "not met"), (True, "met")):
        for condition in verdict.conditions:
            if condition.met is met:
                lines.append(f"  {mark:<7}  {printable(str(condition))}")
    lines.append(f"written to {relative(path)}")
    if verdict.sufficient:
        lines.append(to_do)
    return "\n".join(lines)


def _write(verdict: PromotionVerdict, to_do: str, tiers: Path) -> Path:
    """Write a recommendation under a name that is not taken; return its path.

    Raises:
        OSError: It cannot be written.
    """
    now = utc_now()
    recommendation = Recommendation(
        made_at=now,
        harness_version=pytest_codegenie.__version__,
        tiers_digest=hash_bytes(tiers.read_bytes()),
        to_do=to_do,
        verdict=verdict,
    )
    directory = tiers.parent / RECOMMENDATIONS
    directory.mkdir(exist_ok=True)
    text = recommendation.model_dump_json(indent=2) + "\n"
    stem = (
        f"{verdict.task_class}-{verdict.agent}-to-{verdict.target_tier}-"
        f"{now:%Y%m%dT%H%M%SZ}"
    )
    with _whole_file(directory, text) as temporary:
        for path in _names(directory, stem):
            # A link, unlike a rename, takes nobody's place.
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(temporary)
                sync_directory(directory)
                return path
    raise AssertionError("names do not run out")


def _names(directory: Path, stem: str) -> Iterator[Path]:
    yield directory / f"{stem}.json"
    number = 2
    while True:
        yield directory / f"{stem}-{number}.json"
        number += 1


@contextlib.contextmanager
def _whole_file(directory: Path, text: str) -> Iterator[Path]:
    """Give a file that holds the text, for the block only."""
    fd, name = tempfile.mkstemp(dir=directory, prefix=".recommendation.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fchmod(fd, 0o644)
            os.fsync(fd)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
