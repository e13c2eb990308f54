"""``codegenie cache``: what is kept of finished cases, and letting go of it."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.places import add_out_option
from pytest_codegenie.cli.places import find_out
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.cache import KINDS
from pytest_codegenie.evidence.cache import Kept
from pytest_codegenie.evidence.cache import choose_for_removal
from pytest_codegenie.evidence.cache import list_kept
from pytest_codegenie.evidence.cache import remove
from pytest_codegenie.session.scratch import live_runs
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.sources import kept_sources
from pytest_codegenie.workspaces.sources.store import DIRECTORY as SOURCES


_DEFAULT_AGE = "30d"
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?")


def add_command(commands: Any, summary: str) -> None:
    """Add the command, and its own two, to the parser."""
    parser = commands.add_parser(
        "cache",
        help=summary,
        description="With --codegenie-cache auto (the default), cases of agents that "
        "always give the same answer are answered from patches and verdicts of "
        "earlier runs. Code that was fetched for cases is kept beside. Environments "
        "and images are the business of codegenie clean.",
    )
    own = parser.add_subparsers(
        dest="cache_command",
        metavar="COMMAND",
        required=True,
        parser_class=type(parser),
    )
    _add_info(own)
    _add_gc(own)


def _add_info(commands: Any) -> None:
    parser = commands.add_parser(
        "info",
        help="how many entries there are, and how large",
        description="Show how many patches and verdicts are kept, and how many "
        "sources where code was fetched, how many bytes they have, and when the one "
        "that was left longest was used last.",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    add_out_option(parser)
    parser.set_defaults(run=_info)


def _add_gc(commands: Any) -> None:
    parser = commands.add_parser(
        "gc",
        help="remove what nobody used for long",
        description="Remove patches, verdicts and fetched code that nobody used for "
        "long, and more, least recently used first, until the rest is small enough. A "
        "run that goes on does without patches and verdicts; code is left alone then.",
    )
    parser.add_argument(
        "--older-than",
        type=_typed(_parse_age),
        metavar="AGE",
        help="entries that nobody used for so long: 90m, 12h, 30d, 4w (default: "
        f"{_DEFAULT_AGE}, where --max-bytes is not given)",
    )
    parser.add_argument(
        "--max-bytes",
        type=_typed(_parse_size),
        metavar="SIZE",
        help="let no more than this remain: bytes, or 500m, 2g; 0: nothing",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="remove nothing, only say what would go"
    )
    add_out_option(parser)
    parser.set_defaults(run=_gc)


def _typed(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse show what a parser says of a wrong value."""

    def checked(text: str) -> Any:
        try:
            return parse(text)
        except (ValueError, OverflowError) as exc:
            raise argparse.ArgumentTypeError(str(exc)) from exc

    return checked


def _parse_age(text: str) -> dt.timedelta:
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(
            f"{text!r} is no age: write a number with s, m, h, d or w, as in 30d"
        )
    try:
        return dt.timedelta(seconds=float(found[1]) * _UNITS[found[2]])
    except OverflowError:
        raise ValueError(f"{text!r} is longer than anything is kept") from None


def _parse_size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(
            f"{text!r} is no size: write a number of bytes, or one with k, m, g or t, "
            "as in 2g"
        )
    return int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " "))


def _info(options: argparse.Namespace) -> int:
    cache = find_out(options.out) / "cache"
    found = [*list_kept(cache), *_list_sources(cache)]
    kept = [one for one in found if not one.abandoned]
    kinds = [*KINDS, *({one.kind for one in kept} - set(KINDS))]
    table = [
        _figures(kind, [one for one in kept if one.kind == kind]) for kind in kinds
    ]
    if options.json:
        say(json.dumps({"directory": str(cache.absolute()), "kinds": table}, indent=2))
        return 0
    say(f"{relative(cache)}")
    for row in table:
        used = f"; least recently used {row['used_at']}" if row["entries"] else ""
        entries = "1 entry" if row["entries"] == 1 else f"{row['entries']} entries"
        say(f"{row['kind']:<10}{entries}, {shown_size(row['bytes'])}{used}")
    return 0


def _list_sources(cache: Path) -> Iterator[Kept]:
    """Yield the code that was fetched for cases, a directory each."""
    for one in kept_sources(cache):
        yield Kept(one.path, SOURCES, one.size, one.used_at, abandoned=one.abandoned)


def _figures(kind: str, kept: Sequence[Kept]) -> dict[str, Any]:
    oldest = min((one.used_at for one in kept), default=None)
    return {
        "kind": kind,
        "entries": len(kept),
        "bytes": sum(one.size for one in kept),
        "used_at": None if oldest is None else _time(oldest),
    }


def _time(stamp: float) -> str:
    return dt.datetime.fromtimestamp(stamp, dt.UTC).isoformat(timespec="seconds")


def _gc(options: argparse.Namespace) -> int:
    cache = find_out(options.out) / "cache"
    age = options.older_than
    if age is None and options.max_bytes is None:
        age = _parse_age(_DEFAULT_AGE)
    kept = list(list_kept(cache))
    if next(live_runs(), None) is None:
        kept += _list_sources(cache)
    chosen = choose_for_removal(kept, older_than=age, max_bytes=options.max_bytes)
    failed = [] if options.dry_run else _remove(chosen)
    still = {one.path for one, _ in failed}
    gone = [one for one in chosen if one.path not in still]
    said = "would remove" if options.dry_run else "removed"
    left = sum(one.size for one in kept) - sum(one.size for one in gone)
    say(
        f"{said} {_counted(gone)}, {shown_size(sum(one.size for one in gone))}; "
        f"{shown_size(left)} {'would remain' if options.dry_run else 'remain'}"
    )
    for one, reason in failed:
        complain(f"not removed: {relative(one.path)}: {reason}")
    return int(bool(failed))


def _remove(chosen: Sequence[Kept]) -> list[tuple[Kept, str]]:
    """Remove what was chosen; return what is still there, and why."""
    failed = remove(one for one in chosen if one.kind != SOURCES)
    for one in chosen:
        if one.kind == SOURCES:
            remove_tree(one.path)
            if one.path.exists():
                failed.append((one, "not all of it could be removed"))
    return failed


def _counted(kept: Sequence[Kept]) -> str:
    words = {"patches": "patch", "verdicts": "verdict", SOURCES: "source"}
    parts = []
    for kind, word in words.items():
        count = sum(one.kind == kind for one in kept)
        if count or kind in KINDS:
            parts.append(f"{count} {word if count == 1 else kind}")
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def shown_size(size: float) -> str:
    """Return a number of bytes in a few characters: 950 bytes, 12.3 KiB, 1.2 GiB."""
    if size < 1024:
        return f"{size:.0f} byte{'' if size == 1 else 's'}"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1023.95 or unit == "GiB":
            break
    return f"{size:.1f} {unit}"
