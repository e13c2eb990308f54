"""What ``codegenie audit verify`` prints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.saying import say
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.audit.anchors import Anchor
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.findings import Audit


#: Gaps of one kind that are named before the rest is counted.
_NAMED = 5


def audit_lines(out: Path, found: Audit, anchors: list[Anchor]) -> Iterator[str]:
    """Yield what was found, for a person."""
    yield f"{relative(out / AUDIT / CHAIN)}: {_count(found.records, 'record')}"
    yield f"  head        {found.head}"
    yield (
        f"  complete    {found.complete} of {found.records}, of "
        f"{_count(found.runs, 'run')}"
    )
    yield (
        f"  derived     {_count(found.derived, 'record')}, of "
        f"{_count(found.results, 'result')}"
    )
    for anchor in anchors:
        yield f"  anchor      {_anchor_line(anchor, found)}"
    if not anchors:
        yield "  anchor      none"
    if found.gaps:
        yield f"not verified: {len(found.gaps)}"
    for kind, count in Counter(gap.kind for gap in found.gaps).items():
        named = [gap for gap in found.gaps if gap.kind == kind][:_NAMED]
        yield from (f"- {gap.what}" for gap in named)
        if count > len(named):
            yield f"- ... and {count - len(named)} more of the kind {kind}"
    yield "the chain verifies"


def _anchor_line(anchor: Anchor, found: Audit) -> str:
    recorded = found.heads.get(anchor.head)
    of = f"record {recorded.number}" if recorded else "the beginning"
    if anchor.verified is None:
        return f"{anchor.place}: {of}, not signed"
    said = f": {anchor.said}" if anchor.said else ""
    good = "signature verifies" if anchor.verified else "signature DOES NOT verify"
    return f"{anchor.place}: {of}, {good}{said}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def as_json(found: Audit, anchors: list[Anchor]) -> dict[str, Any]:
    """Return what was found in a chain that verifies, for a program."""
    return {
        "verified": True,
        "head": found.head,
        "records": found.records,
        "runs": found.runs,
        "complete": found.complete,
        "incomplete": found.incomplete,
        "derived": found.derived,
        "results": found.results,
        "gaps": [asdict(gap) for gap in found.gaps],
        "anchors": [asdict(anchor) for anchor in anchors],
    }


def as_broken(exc: ChainTamperDetected) -> dict[str, Any]:
    """Return what was found in one that does not."""
    broken = {
        "record": exc.record,
        "what": exc.what,
        "recorded": exc.expected,
        "computed": exc.computed,
    }
    return {"verified": False, "broken": broken}


def print_json(values: Mapping[str, Any]) -> None:
    """Print values as JSON that people can read too."""
    say(json.dumps(values, indent=2, ensure_ascii=False))
