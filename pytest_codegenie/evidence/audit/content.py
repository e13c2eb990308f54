"""What a record of the audit chain says of a run: a report, and what it is made of.

The content is ``{"report": ..., "results": ...}``: a ``BenchRunReport`` without
``prev_hash`` and ``chain_head``, which nobody knows before the content is hashed; and
for each result of its task class and agent, tries that were made again among them, the
BLAKE3 digest of its exact line in ``results.jsonl``, line end included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import append_records
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import BenchRunReport


#: Of a report: where its record is in the chain.
LINK_KEYS = frozenset({"prev_hash", "chain_head"})
#: Task class and agent.
GroupKey = tuple[str, str]


def chain_reports(
    out: Path, run_directory: Path, reports: Iterable[BenchRunReport]
) -> tuple[list[BenchRunReport], str]:
    """Append a record for each report: (the reports with their links, chain's head).

    A report that is on record already gets the links that it had.

    Args:
        out: Where runs are kept, ``.codegenie``.
        run_directory: Of the run that the reports are of.
        reports: Of all results that the run has.

    Raises:
        ChainTamperDetected: The chain does not verify. Nothing is appended to it.
        RunStoreError: It cannot be written, or the results cannot be read.
    """
    digests = result_digests(run_directory)
    kept = list(reports)
    contents = [
        make_content(report, digests.get((report.task_class, report.agent), {}))
        for report in kept
    ]
    appended = append_records(out, contents)
    linked = [
        report.model_copy(update=link._asdict())
        for report, link in zip(kept, appended.links, strict=True)
    ]
    return linked, appended.head


def report_name(task_class: str, agent: str) -> str:
    """Return the file of a report in its run's directory."""
    return f"report-{task_class}-{agent}.json"


def make_content(report: BenchRunReport, results: Mapping[str, str]) -> bytes:
    """Return the canonical bytes of a content.

    Args:
        report: Its links are left out.
        results: As ``result_digests`` gives them.
    """
    values = report.model_dump(mode="json", exclude=set(LINK_KEYS))
    return canonical_json({"report": values, "results": dict(results)})


def result_digests(run_directory: Path) -> dict[GroupKey, dict[str, str]]:
    """Return the digest of each result of a run, by task class and agent.

    Raises:
        RunStoreError: The results cannot be read, or a line is no result.
    """
    path = run_directory / RESULTS
    found: dict[GroupKey, dict[str, str]] = {}
    for number, line in whole_lines(path):
        try:
            result = json.loads(line)
            group = found.setdefault((result["task_class"], result["agent"]), {})
            group[result_name(result, group)] = hash_bytes(line)
        except (ValueError, LookupError, TypeError) as exc:
            fault = f"line {number} is no result: {type(exc).__name__}: {exc}"
            raise RunStoreError(path, fault) from exc
    return found


def result_name(result: Mapping[str, Any], taken: Mapping[str, str]) -> str:
    """Return how a result is called in a record: ``<case id>-t<trial>``.

    A try that was made again adds ``#<attempt>``, and where several workers ran the
    same (``--dist each``) all but the first add ``~2``, ``~3`` and so on.

    Args:
        result: As its line says.
        taken: The names that results of the same group have already.
    """
    attempt = result.get("attempt", 1)
    name = f"{result['case_id']}-t{result['trial']}"
    if attempt != 1:
        name += f"#{attempt}"
    copies = 1
    while (name if copies == 1 else f"{name}~{copies}") in taken:
        copies += 1
    return name if copies == 1 else f"{name}~{copies}"


def read_report(path: Path) -> dict[str, Any] | None:
    """Return a report in a run's directory as it stands.

    Returns:
        None where there is none; nothing in it where it is no report.

    Raises:
        RunStoreError: It cannot be read.
    """
    try:
        values = json.loads(path.read_bytes())
        canonical_json(values)  # it is compared by these
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
