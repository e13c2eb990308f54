"""``codegenie verify``: all that is wrong with a corpus, in one run."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.places import add_bench_option
from pytest_codegenie.cli.places import find_places
from pytest_codegenie.cli.reproduce import Oracle
from pytest_codegenie.cli.saying import say
from pytest_codegenie.config import RunConfig
from pytest_codegenie.corpus import TIERS
from pytest_codegenie.corpus import Complaint
from pytest_codegenie.corpus import check_task_class
from pytest_codegenie.corpus import id_collisions
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.corpus import remember_listing
from pytest_codegenie.errors import EXIT_TASK_CLASS
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.promotion.tiers import held_out_needed
from pytest_codegenie.harness import make_job
from pytest_codegenie.harness import validate_case
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.session.installed import installed_parts
from pytest_codegenie.session.settings import choose_workspace


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help=summary,
        description="Check that digests, files and registration hold, that the oracle "
        "passes and nop fails each positive case, that nop passes each negative one, "
        "and that three repetitions agree. All complaints come in one run; exit code "
        "0 (none), 6 (cases) or 9 (a task class). With --oracle, imported cases are "
        "run once with each, and one that does not come out as it is labelled is no "
        "complaint, but marked ambiguous in its case.toml, with the reason in "
        "reproduction.toml; exit code 1 where it could not be told of a case, as its "
        "base, its packages or its tests are not to be had here.",
    )
    parser.add_argument(
        "task_classes", nargs="*", metavar="TASK_CLASS", help="default: all"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--static", action="store_true", help="run no agent and no test")
    how.add_argument(
        "--oracle",
        action="store_true",
        help="tell which imported cases reproduce on this machine, and mark the others",
    )
    parser.add_argument(
        "--jobs",
        "-j",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="cases at a time (default: one a processor)",
    )
    parser.add_argument(
        "--workspace",
        default="auto",
        metavar="NAME",
        help="where cases are run (default: auto, the best that works here)",
    )
    add_bench_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print all complaints."""
    complaints: list[Complaint] = []
    places = find_places(options.task_classes, options.bench)
    tiers = held_out_needed(Path()) or TIERS
    cases: list[BenchCase] = []
    sound: list[tuple[BenchCase, TaskClass]] = []
    for place in places:
        found, verified = check_task_class(place, tiers=tiers)
        complaints += found
        cases += verified
        try:
            task_class = read_task_class(place)
        except CodegenieError:
            continue  # among the complaints already
        sound += [(case, task_class) for case in verified]
    for case in cases:
        remember_listing(case.directory, case.case_digest)
    complaints += _collisions(cases)
    jobs, untold = max(1, options.jobs), 0
    if options.oracle:
        found, untold = _reproduce(sound, options.workspace, jobs)
        complaints += found
    elif not options.static:
        complaints += _run_all(sound, options.workspace, jobs)
    for complaint in complaints:
        say(str(complaint))
    how = "checked" if options.static else "checked and run"
    names = ", ".join(relative(place) for place in places)
    say(f"{names}: {len(cases)} cases {how}, {len(complaints)} complaints")
    codes = {complaint.exit_code for complaint in complaints}
    return EXIT_TASK_CLASS if EXIT_TASK_CLASS in codes else max(codes, default=untold)


def _collisions(cases: list[BenchCase]) -> list[Complaint]:
    """Ids have to differ over all task classes, as they do in a run's store."""
    return [
        Complaint("", str(error), "", error.exit_code)
        for error in id_collisions(case.directory for case in cases)
        if len({path.parent for path in error.paths}) > 1
    ]


def _run_all(
    sound: list[tuple[BenchCase, TaskClass]], workspace: str, jobs: int
) -> list[Complaint]:
    with _settings(workspace) as settings, ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda pair: _validate(pair[0], pair[1], settings), sound)
        return [complaint for complaints in found for complaint in complaints]


@contextmanager
def _settings(workspace: str) -> Iterator[Mapping[str, Any]]:
    """Yield what the jobs of all cases have in common."""
    parts = installed_parts()
    with tempfile.TemporaryDirectory(prefix="codegenie-verify-") as scratch:
        yield {
            "parts": parts,
            "workspace": choose_workspace(workspace, parts.workspaces, "--workspace"),
            "scratch_root": Path(scratch),
            "cache_directory": Path(RunConfig().out, "cache").absolute(),
        }


def _reproduce(
    sound: list[tuple[BenchCase, TaskClass]], workspace: str, jobs: int
) -> tuple[list[Complaint], int]:
    """Return what is wrong with cases, and 1 where something could not be told."""
    task_classes = {case.directory: task_class for case, task_class in sound}
    faults: list[CodegenieError] = []
    codes = [0]
    with _settings(workspace) as settings:

        def make(case: BenchCase, agent: str) -> CaseJob:
            spec = AgentSpec(name=agent, label=agent)
            return make_job(case, task_classes[case.directory], spec, **settings)

        state = Path(RunConfig().out, "verify").absolute()
        for place in dict.fromkeys(case.directory.parent.parent for case, _ in sound):
            oracle = Oracle(place, make, state, settings["workspace"], jobs)
            cases = [case for case, _ in sound if case.directory.parent.parent == place]
            code, found = oracle.run(cases)
            codes.append(code)
            faults += found
    return [Complaint("", str(one), "", one.exit_code) for one in faults], max(codes)


def _validate(
    case: BenchCase, task_class: TaskClass, settings: Mapping[str, Any]
) -> list[Complaint]:
    def make(agent: str) -> CaseJob:
        spec = AgentSpec(name=agent, label=agent)
        return make_job(case, task_class, spec, **settings)

    try:
        return validate_case(case, make)
    except CodegenieError as exc:
        return [Complaint("", str(exc), "", exc.exit_code)]
