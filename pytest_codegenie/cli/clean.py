"""``codegenie clean``: remove what killed runs have left, and caches if asked."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.importing.lazy_index import DIRECTORY as INDEXES
from pytest_codegenie.parts import make_part
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.session.installed import installed_parts
from pytest_codegenie.session.scratch import is_abandoned
from pytest_codegenie.session.scratch import killed_runs
from pytest_codegenie.session.scratch import live_runs
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.leftovers import LeavesTraces
from pytest_codegenie.workspaces.sources.store import DIRECTORY as SOURCES


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "clean",
        help=summary,
        description="Remove what killed runs have left on this machine: containers, "
        "workspaces, cgroups. What is kept for later runs goes only if it is asked "
        "for. Runs that go on are not touched, nor is the record of any run.",
    )
    parser.add_argument(
        "--environments",
        action="store_true",
        help="the packages that were installed for cases, too",
    )
    parser.add_argument(
        "--images",
        action="store_true",
        help="the images that were built for cases, and our base, too",
    )
    parser.add_argument(
        "--sources",
        action="store_true",
        help="the code that was fetched for cases, too",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="all three, what was downloaded for them, and what was read of dataset "
        "files; patches and verdicts stay (codegenie cache gc)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="remove nothing, only say what would go"
    )
    add_out_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Remove; print a line for each thing that went."""
    environments = options.environments or options.all
    images = options.images or options.all
    running = next(live_runs(), None)
    if running is not None and (environments or images or options.sources):
        complain(
            f"a run goes on ({running.name}), and may need what is "
            "kept; try again when it has ended, or without --all, --environments, "
            "--images and --sources"
        )
        return 1
    said = "would remove" if options.dry_run else "removed"
    fault = False
    # Containers come before the directories that are bound in them.
    for name, workspace in _with_traces():
        if reason := workspace.probe():
            say(f"not looked at: workspace {name}: {reason}")
            continue
        try:
            lines = workspace.sweep(is_abandoned, dry_run=options.dry_run)
            lines += workspace.forget(
                environments=environments, images=images, dry_run=options.dry_run
            )
        except WorkspaceUnavailable as exc:
            say(f"not removed: workspace {name}: {exc}")
            fault = True
            continue
        for line in lines:
            say(f"{said} {line}")
    places = chain(killed_runs(), _caches(options, environments=environments))
    for path in places:
        if not options.dry_run:
            remove_tree(path)
        say(f"{said} {relative(path)}")
    count = _sweep_groups(dry_run=options.dry_run)
    if count:
        say(f"{said} {count} cgroups of processes that are gone")
    return int(fault)


def _with_traces() -> Iterator[tuple[str, LeavesTraces]]:
    """Yield the installed workspaces that leave more than directories."""
    workspaces = installed_parts().workspaces
    for name in sorted(workspaces):
        workspace = make_part("workspace", name, workspaces)
        if isinstance(workspace, LeavesTraces):
            yield name, workspace


def _caches(options: argparse.Namespace, *, environments: bool) -> Iterator[Path]:
    """Yield the directories of what is kept and asked for."""
    cache = find_out(options.out) / "cache"
    names = ["docker", "environments"] if environments else []
    names += ["downloads", INDEXES] if options.all else []
    names += [SOURCES] if options.all or options.sources else []
    yield from (path for path in (cache / name for name in names) if path.is_dir())


def _sweep_groups(*, dry_run: bool) -> int:
    """Remove the cgroups of processes that are gone; return how many there were."""
    parent = cgroup_parent()[0]
    if parent is None:
        return 0
    names = {path.name for path in parent.left_behind()}
    if not dry_run:
        parent.sweep()
    return len(names)
