"""Verifying the audit chain, and making again what its records say.

The links are verified for the whole chain. Where the material is at hand, each record
is also derived anew: the digest of each result from ``results.jsonl``, the figures from
exactly those results, the report in the run's directory, and the digests of cases from
the corpus. What is not at hand is a gap: it is counted and told, and nothing is said
about it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import Chain
from pytest_codegenie.evidence.audit.chain import Entry
from pytest_codegenie.evidence.audit.deriving import CaseDigests
from pytest_codegenie.evidence.audit.deriving import Deriving
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.findings import Gap
from pytest_codegenie.evidence.audit.findings import Recorded
from pytest_codegenie.evidence.audit.unrecorded import find_unrecorded


#: Tells whether a record is to be derived anew. Asked once for each, in order.
Selects = Callable[[Entry, Mapping[str, Any]], bool]


def audit(
    out: Path,
    *,
    case_digest: CaseDigests = lambda task_class, case_id: None,
    selects: Selects = lambda entry, report: True,
) -> Audit:
    """Verify the chain below ``out``.

    Args:
        out: Where runs are kept, ``.codegenie``.
        case_digest: The corpus.
        selects: Which records are derived anew; the links of all are verified.

    Raises:
        ChainTamperDetected: A record does not verify; it is the first one.
        RunStoreError: The chain, or the results of a run, cannot be read.
    """
    chain = Chain(out)
    found = Audit()
    deriving = Deriving(out, chain.path, case_digest, found)
    for entry in chain:
        content = _read(chain.path, entry)
        report, results = content["report"], content["results"]
        found.head, found.records = entry.link.chain_head, entry.index
        found.complete += report["complete"] is True
        found.incomplete += report["complete"] is not True
        group = (report["run_id"], report["task_class"], report["agent"])
        recorded = Recorded(entry.index, found.head, group, len(results))
        found.heads[found.head] = found.latest[group] = recorded
        if selects(entry, report):
            deriving.derive(entry, report, results)
    if chain.torn_bytes:
        found.gaps.append(
            Gap(
                "torn",
                f"{chain.torn_bytes} bytes of a record that a crash cut off are at the "
                "end of the chain; the next record takes their place",
            )
        )
    found.gaps += find_unrecorded(out, chain.path, found)
    return found


def _read(path: Path, entry: Entry) -> dict[str, Any]:
    """Return a content whose keys and bytes are as they have to be."""
    try:
        values = entry.values()
        report, results = values["report"], values["results"]
        names = [report[key] for key in ("run_id", "task_class", "agent")]
        texts = [*names, *results, *results.values()]
        sound = (
            len(values) == 2
            and "complete" in report
            and dt.datetime.fromisoformat(report["ended_at"]).tzinfo is not None
            and all(isinstance(text, str) for text in texts)
            and canonical_json(values) == entry.content
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise ChainTamperDetected(
            entry.name,
            "canonical JSON of a report and its results",
            "something else",
            what="content",
            path=path,
        )
    return values
