"""The latest runs of a task class and agent, as evidence for a promotion.

Which runs count is not for anybody to choose: the window is the latest runs that are on
record, in the audit chain or by a report in the store.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import IncompleteReportForPromotion
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.audit.chain import Chain
from pytest_codegenie.evidence.audit.content import report_name
from pytest_codegenie.evidence.audit.content import result_digests
from pytest_codegenie.evidence.audit.verifying import audit
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.past_runs import selected_groups
from pytest_codegenie.evidence.promotion.gate import PromotionEvidence
from pytest_codegenie.evidence.store import RUN
from pytest_codegenie.evidence.store import read_plain_results
from pytest_codegenie.evidence.store import read_run_record
from pytest_codegenie.evidence.stored import StoredRun
from pytest_codegenie.evidence.stored import open_run
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import RunRecord


_UNRECORDED = "the audit chain has no record of this report"
_MORE_RESULTS = "the run has results that are in no record of the audit chain"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A report on record in the chain, and the digests of its results."""

    report: BenchRunReport
    results: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Records:
    """What the chain has of one task class, by agent and run."""

    by_run: Mapping[tuple[str, str], _Recorded]
    #: Why the chain does not verify; "" where it does.
    fault: str


def known_agents(out: Path, task_class: str) -> tuple[str, ...]:
    """Return the labels of agents with a report of a task class, sorted.

    Args:
        out: Where runs are kept, ``.codegenie``.
        task_class: Its name.

    Raises:
        RunStoreError: The chain or a report cannot be read.
    """
    agents = {agent for agent, _ in _read_chain(out, task_class).by_run}
    for directory in _run_directories(out):
        for path in directory.glob("report-*.json"):
            report = _read_report(path)
            if report.task_class == task_class:
                agents.add(report.agent)
    return tuple(sorted(agents))


def promotion_window(
    out: Path,
    task_class: str,
    agent: str,
    size: int,
    min_cases_for_promotion: Mapping[str, int],
) -> tuple[PromotionEvidence, ...]:
    """Return the latest runs' reports, oldest first, with what the gate asks of each.

    Args:
        out: Where runs are kept, ``.codegenie``.
        task_class: Its name.
        agent: The agent's label.
        size: How many runs there should be; there may be fewer.
        min_cases_for_promotion: As the task class says.

    Raises:
        IncompleteReportForPromotion: A run as recent as these was cut off and has no
            report at all.
        RunStoreError: A record cannot be read.
    """
    records = _read_chain(out, task_class)
    reports = _reports(out, records, task_class, agent)
    ordered = sorted(reports.values(), key=lambda one: (one.started_at, one.run_id))
    latest = ordered[-size:]
    since = latest[0].started_at if len(latest) == size else None
    _refuse_unfinished(out, task_class, agent, reports, since)
    fault = records.fault or _audit_fault(out, latest)
    return tuple(
        _evidence(
            out,
            report,
            records.by_run.get((agent, report.run_id)),
            fault,
            min_cases_for_promotion,
        )
        for report in latest
    )


def _reports(
    out: Path, records: _Records, task_class: str, agent: str
) -> dict[str, BenchRunReport]:
    """Return every report of an agent, by run."""
    found = {
        run_id: recorded.report
        for (own, run_id), recorded in records.by_run.items()
        if own == agent
    }
    for report in _stored_reports(out, task_class, agent):
        # What is on record cannot have been changed since.
        found.setdefault(report.run_id, report)
    return found


def _read_chain(out: Path, task_class: str) -> _Records:
    """Return the last record of each agent and run; up to the first that is broken."""
    found: dict[tuple[str, str], _Recorded] = {}
    fault = ""
    try:
        for entry in Chain(out):
            values = entry.values()
            if values["report"]["task_class"] == task_class:
                report = BenchRunReport.model_validate(
                    values["report"] | entry.link._asdict()
                )
                found[report.agent, report.run_id] = _Recorded(
                    report, values["results"]
                )
    except ChainTamperDetected as exc:
        fault = _one_line(exc)
    except (LookupError, TypeError, ValueError) as exc:
        fault = f"the audit chain holds what is no report: {type(exc).__name__}: {exc}"
    return _Records(found, fault)


def _audit_fault(out: Path, reports: list[BenchRunReport]) -> str:
    """Verify the chain, and derive anew the records of these reports.

    Returns:
        What is wrong; "" for nothing.
    """
    heads = {report.chain_head for report in reports}
    try:
        audit(out, selects=lambda entry, _: entry.link.chain_head in heads)
    except ChainTamperDetected as exc:
        return _one_line(exc)
    return ""


def _one_line(exc: ChainTamperDetected) -> str:
    return " ".join(str(exc).split())


def _run_directories(out: Path) -> Iterator[Path]:
    for directory in sorted((out / "runs").glob("*")):
        if (directory / RUN).exists():
            yield directory


def _stored_reports(out: Path, task_class: str, agent: str) -> Iterator[BenchRunReport]:
    for directory in _run_directories(out):
        path = directory / report_name(task_class, agent)
        if path.exists():
            report = _read_report(path)
            # Names with dashes may be cut in several ways.
            if (report.task_class, report.agent) == (task_class, agent):
                yield report


def _read_report(path: Path) -> BenchRunReport:
    try:
        return BenchRunReport.from_json(path.read_bytes())
    except OSError as exc:
        raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        key = ".".join(str(part) for part in error["loc"])
        raise RunStoreError(path, f"is no report: {error['msg']} ({key})") from exc


def _refuse_unfinished(
    out: Path,
    task_class: str,
    agent: str,
    reports: Mapping[str, BenchRunReport],
    since: dt.datetime | None,
) -> None:
    """Refuse a run without a report that would be in the window if it had one.

    Args:
        out: Where runs are kept.
        task_class: Its name.
        agent: The agent's label.
        reports: Those there are, by run.
        since: When the oldest run of a whole window began; None: any run would be in.

    Raises:
        IncompleteReportForPromotion: There is one.
    """
    for directory in _run_directories(out):
        record = read_run_record(directory)
        if record.run_id in reports or not _is_of(record, task_class, agent):
            continue
        if since is None or record.started_at >= since:
            raise IncompleteReportForPromotion(
                record.run_id,
                task_class,
                agent,
                reason=_progress(open_run(directory)),
            )


def _progress(run: StoredRun) -> str:
    overview = run.overview()
    if overview.selected is None:
        return ""
    done = overview.selected - len(overview.missing)
    return f"{done} of {overview.selected} items have a result"


def _is_of(record: RunRecord, task_class: str, agent: str) -> bool:
    """Tell whether a run was to run cases of a task class with an agent."""
    return GroupKey(task_class, agent) in selected_groups(record)


def _evidence(
    out: Path,
    report: BenchRunReport,
    recorded: _Recorded | None,
    fault: str,
    min_cases_for_promotion: Mapping[str, int],
) -> PromotionEvidence:
    directory = out / "runs" / report.run_id
    group = (report.task_class, report.agent)
    passed: list[bool] | None = None
    if (directory / RUN).exists():
        passed = list(_held_out_of_passed(directory, group))
        if not fault and recorded is not None:
            now = result_digests(directory).get(group, {})
            fault = "" if now == dict(recorded.results) else _MORE_RESULTS
    if not fault and recorded is None:
        fault = _UNRECORDED
    return PromotionEvidence(
        report=report,
        passed=None if passed is None else len(passed),
        held_out_passed=None if passed is None else sum(passed),
        min_cases_for_promotion=min_cases_for_promotion,
        chain_fault=fault,
    )


def _held_out_of_passed(directory: Path, group: tuple[str, str]) -> Iterator[bool]:
    """Yield whether it is held out, for each counted case that passed all trials."""
    passes: dict[str, bool] = {}
    held_out: dict[str, bool] = {}
    for result in read_plain_results(directory):
        if (result["task_class"], result["agent"]) != group:
            continue
        if result["disposition"] == "ambiguous":
            continue
        case_id = result["case_id"]
        passed = result["outcome"] == "passed"
        passes[case_id] = passes.get(case_id, True) and passed
        held_out[case_id] = result["curation_class"] == "held-out"
    for case_id, passed in passes.items():
        if passed:
            yield held_out[case_id]
