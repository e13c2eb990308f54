"""The command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from driftmap.compare import compare
from driftmap.excludes import Excludes
from driftmap.listing import Listing, ListingError, parse
from driftmap.steps import render


def main(argv: Sequence[str] | None = None) -> int:
    """Print the plan; 0 when there is nothing to do, 1 when there is, 2 on errors."""
    args = _parser().parse_args(argv)
    try:
        source, target = _read(args.source), _read(args.target)
    except (OSError, ListingError) as exc:
        print(f"driftmap: {exc}", file=sys.stderr)
        return 2
    excludes = Excludes()
    if args.exclude_from:
        excludes = Excludes.from_text(args.exclude_from.read_text(encoding="utf-8"))
    steps = compare(source, target, excludes)
    if steps:
        print(render(steps))
    return 1 if steps else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="driftmap", description=__doc__)
    parser.add_argument("source", type=Path, help="listing of the tree to be like")
    parser.add_argument("target", type=Path, help="listing of the tree to change")
    parser.add_argument("--exclude-from", type=Path, metavar="FILE")
    return parser


def _read(path: Path) -> Listing:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except ListingError as exc:
        raise ListingError(f"{path}: {exc}") from exc
