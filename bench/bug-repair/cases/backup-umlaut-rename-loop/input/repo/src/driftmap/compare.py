"""From two listings to the steps that make the target like the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from driftmap.excludes import Excludes
from driftmap.listing import Entry, Listing
from driftmap.steps import Copy, Delete, Move, Step, Update

NOTHING = Excludes()


def compare(
    source: Listing, target: Listing, excludes: Excludes = NOTHING
) -> list[Step]:
    """The plan: moves first, then deletions, updates and copies, each by path."""
    wanted = _by_path(source, excludes)
    present = _by_path(target, excludes)
    updates = [
        Update(wanted[path].path, present[path].path)
        for path in sorted(wanted.keys() & present.keys())
        if wanted[path].digest != present[path].digest
    ]
    missing = [wanted[path] for path in sorted(wanted.keys() - present.keys())]
    surplus = [present[path] for path in sorted(present.keys() - wanted.keys())]
    moves = _moves(missing, surplus)
    moved_from = {move.target_path for move in moves}
    moved_to = {move.new_path for move in moves}
    deletions = [Delete(e.path) for e in surplus if e.path not in moved_from]
    copies = [Copy(e.path) for e in missing if e.path not in moved_to]
    return [*moves, *deletions, *updates, *copies]


def _by_path(listing: Listing, excludes: Excludes) -> dict[str, Entry]:
    return {entry.path: entry for entry in listing if not excludes.match(entry.path)}


def _moves(missing: Iterable[Entry], surplus: Iterable[Entry]) -> list[Move]:
    """Pair files that the target lacks with those it has for nothing, by content."""
    spare: dict[tuple[str, int], list[Entry]] = defaultdict(list)
    for entry in surplus:
        spare[entry.digest, entry.size].append(entry)
    moves = []
    for entry in missing:
        candidates = spare[entry.digest, entry.size]
        if candidates:
            moves.append(Move(candidates.pop(0).path, entry.path))
    return moves
