"""What is in the runs and in no record of the audit chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.evidence.audit.content import read_report
from pytest_codegenie.evidence.audit.content import report_name
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.findings import Gap
from pytest_codegenie.evidence.audit.findings import Group
from pytest_codegenie.evidence.audit.findings import Recorded
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.evidence.store import RESULTS


def find_unrecorded(out: Path, path: Path, found: Audit) -> Iterator[Gap]:
    """Yield what is in the runs and in no record.

    Raises:
        ChainTamperDetected: A report names a head that is not in the chain, or not its
            own.
    """
    latest: dict[str, list[Recorded]] = {}
    for recorded in found.latest.values():
        latest.setdefault(recorded.group[0], []).append(recorded)
    for directory in sorted((out / "runs").glob("*")):
        records = latest.get(directory.name, [])
        yield from _reports(directory, path, found, records)
        yield from _results(directory, records)


def _results(directory: Path, records: list[Recorded]) -> Iterator[Gap]:
    run_id = directory.name
    left = sum(1 for _ in whole_lines(directory / RESULTS))
    left -= sum(recorded.results for recorded in records)
    if left > 0 and not records:
        yield Gap(
            "run-unrecorded",
            f"run {run_id} has {left} results and no record: it goes on, or was cut "
            f"off (pytest --codegenie --codegenie-resume {run_id})",
        )
    elif left > 0:
        yield Gap(
            "results-unrecorded",
            f"run {run_id} has {left} results that are in no record: it is resumed, "
            "was cut off again, or they were put there",
        )


def _reports(
    directory: Path, path: Path, found: Audit, records: list[Recorded]
) -> Iterator[Gap]:
    """Yield which reports of a run are not those of the last records."""
    left = {report_name(*recorded.group[1:]): recorded for recorded in records}
    for report_path in sorted(directory.glob("report-*.json")):
        report = read_report(report_path)
        if report is None:
            continue
        place = f"runs/{directory.name}/{report_path.name}"
        last = left.pop(report_path.name, None)
        head = str(report.get("chain_head") or "")
        of = found.heads.get(head)
        if not report and last:
            raise ChainTamperDetected(
                f"{last.number}", "a report", "no JSON", what=place, path=path
            )
        if not head:
            yield Gap("report-behind", f"{place} has no record")
        elif not of or report_path != _report_path(directory.parent, of.group):
            raise ChainTamperDetected(
                f"of {place}",
                head,
                f"the head of record {of.number}" if of else "no such head",
                what="chain_head",
                path=path,
            )
        elif of != last:
            yield Gap(
                "report-behind",
                f"{place} is of record {of.number}, and there is a later one",
            )
    for name, recorded in left.items():
        place = f"runs/{directory.name}/{name}"
        yield Gap("report-missing", f"{place} of record {recorded.number} is gone")


def _report_path(runs: Path, group: Group) -> Path:
    run_id, task_class, agent = group
    return runs / run_id / report_name(task_class, agent)
