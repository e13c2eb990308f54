"""The runs of a store, one after another: what each came to, and what it was made of.

Reports and ``run.json`` say it where they can; the results are read only of a run whose
reports do not tell all: one that was cut off, goes on, or has errors.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.store import read_run_record
from pytest_codegenie.evidence.stored import StoredRun
from pytest_codegenie.evidence.summary import Group
from pytest_codegenie.evidence.summary import corpus_digest
from pytest_codegenie.evidence.summary import host_fingerprint
from pytest_codegenie.evidence.summary import make_report
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import RunRecord


#: ``<case id>[<agent>]``, or with a trial; xdist may put a group behind it.
_ITEM = re.compile(r"(?P<case>[^\[]+)\[(?P<agent>.+)\][^\]]*")
_TRIAL = re.compile(r"-t\d+$")
#: Of ``per_case`` of a report.
_TRIAL_KEY = re.compile(r"\[t\d+\]$")
#: ``.../<task class>/cases/<case id>/case.toml``
_TASK_CLASS_PART = -4


@dataclass(frozen=True, slots=True)
class PastGroup:
    """What one task class and agent of a run came to."""

    run_id: str
    #: When the run began.
    began_at: dt.datetime
    task_class: str
    agent: str
    #: Items that were to run; each trial is one.
    selected: int
    #: In the figures, the trials of each averaged.
    cases: int
    passed: int
    failed: int
    #: Results that could not be judged.
    errors: int
    #: Judged, and never counted.
    ambiguous: int
    mean_score: float | None
    lower_bound_95: float | None
    complete: bool
    #: As reported by agents; None where none did.
    cost_usd: float | None
    #: What it was made of: name to digest, or to what is as good as one.
    made_of: Mapping[str, str]

    @property
    def results(self) -> int:
        """Items that have a result."""
        return self.passed + self.failed + self.errors + self.ambiguous

    def changed_since(self, before: PastGroup) -> tuple[str, ...]:
        """Return the names of what it was made of otherwise than an earlier one."""
        names = self.made_of.keys() | before.made_of.keys()
        return tuple(
            name
            for name in MADE_OF
            if name in names and self.made_of.get(name) != before.made_of.get(name)
        )


#: What a group is made of, in the order in which it is shown.
MADE_OF = ("corpus", "rubric", "agent", "harness", "isolation", "host")


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run of the store."""

    directory: Path
    record: RunRecord
    #: Sorted by task class and agent; those without a result, too.
    groups: tuple[PastGroup, ...]

    @property
    def complete(self) -> bool:
        """Whether every item was judged."""
        return bool(self.groups) and all(group.complete for group in self.groups)

    @property
    def cost_usd(self) -> float | None:
        """The sum of what agents reported; None where none did."""
        costs = [one.cost_usd for one in self.groups if one.cost_usd is not None]
        return sum(costs) if costs else None


@dataclass(frozen=True, slots=True)
class RunRecords:
    """The records of a store's runs, and which could not be read."""

    #: Newest first.
    records: tuple[tuple[Path, RunRecord], ...]
    faults: tuple[RunStoreError, ...]


def read_records(out: Path) -> RunRecords:
    """Return ``run.json`` of every run.

    Args:
        out: Where runs are kept, ``.codegenie``; it need not be there.
    """
    found: list[tuple[Path, RunRecord]] = []
    faults = []
    for directory in sorted((out / "runs").glob("*/")):
        try:
            found.append((directory, read_run_record(directory)))
        except RunStoreError as exc:
            faults.append(exc)
    found.sort(key=lambda one: (one[1].started_at, one[0].name), reverse=True)
    return RunRecords(tuple(found), tuple(faults))


def read_past_run(directory: Path, record: RunRecord) -> PastRun:
    """Return what a run came to.

    Raises:
        RunStoreError: A report or a result cannot be read.
    """
    selected = selected_groups(record)
    reports = {GroupKey(r.task_class, r.agent): r for r in _read_reports(directory)}
    if selected and all(
        key in reports and reports[key].complete for key in selected.keys() | reports
    ):
        groups = [
            _of_report(record, reports[key], selected[key]) for key in sorted(selected)
        ]
    else:
        judged = {
            GroupKey(group.task_class, group.agent): group
            for group in StoredRun(directory, record).overview().groups
        }
        groups = [
            _of_results(record, key, judged.get(key), reports.get(key), selected[key])
            for key in sorted(selected.keys() | judged.keys())
        ]
    return PastRun(directory, record, tuple(groups))


def selected_groups(record: RunRecord) -> Counter[GroupKey]:
    """Return how many items of each task class and agent were to run."""
    classes: dict[str, str] = {}
    for name in record.case_digests:
        of, _, case_id = name.partition("/")
        classes[case_id] = of
    trials = record.config.get("trials", 1) != 1
    found: Counter[GroupKey] = Counter()
    for item in record.items:
        path, _, name = item.partition("::")
        match = _ITEM.fullmatch(name)
        parts = path.split("/")
        by_path = parts[_TASK_CLASS_PART] if len(parts) >= -_TASK_CLASS_PART else ""
        task_class = classes.get(match["case"], by_path) if match else ""
        if match and task_class:
            label = _TRIAL.sub("", match["agent"]) if trials else match["agent"]
            found[GroupKey(task_class, label)] += 1
    return found


def _read_reports(directory: Path) -> Iterator[BenchRunReport]:
    for path in sorted(directory.glob("report-*.json")):
        try:
            yield BenchRunReport.from_json(path.read_bytes())
        except OSError as exc:
            raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
        except ValidationError as exc:
            fault = exc.errors(include_url=False)[0]
            key = ".".join(map(str, fault["loc"]))
            raise RunStoreError(path, f"is no report: {fault['msg']} ({key})") from exc


def _of_report(record: RunRecord, report: BenchRunReport, selected: int) -> PastGroup:
    """Return the group of a complete report: each item was judged, and none erred."""
    counted = len(report.per_case)
    return PastGroup(
        run_id=record.run_id,
        began_at=record.started_at,
        task_class=report.task_class,
        agent=report.agent,
        selected=selected,
        cases=_cases(report.per_case),
        passed=report.passed_count,
        failed=counted - report.passed_count,
        errors=0,
        ambiguous=max(0, selected - counted),
        mean_score=report.mean_score,
        lower_bound_95=report.lower_bound_95,
        complete=True,
        cost_usd=report.total_cost_usd,
        made_of=_made_of(record, report),
    )


def _cases(per_case: Iterable[str]) -> int:
    return len({_TRIAL_KEY.sub("", name) for name in per_case})


def _of_results(
    record: RunRecord,
    key: GroupKey,
    group: Group | None,
    report: BenchRunReport | None,
    selected: int,
) -> PastGroup:
    group = group or Group(*key)
    if report is None and group.results:
        report = make_report(
            group,
            run_id=record.run_id,
            harness_version=record.versions.get("pytest-codegenie", ""),
            agent_settings=_agent_settings(record, key.agent),
            complete=False,
        ).model_copy(update={"host_fingerprint": host_fingerprint(record.host)})
    return PastGroup(
        run_id=record.run_id,
        began_at=record.started_at,
        task_class=key.task_class,
        agent=key.agent,
        selected=max(selected, group.results),
        cases=len(group.scores),
        passed=group.passed,
        failed=group.failed,
        errors=group.errors,
        ambiguous=group.ambiguous,
        mean_score=group.mean_score,
        lower_bound_95=group.bound().value,
        complete=0 < selected <= group.judged and not group.errors,
        cost_usd=group.cost_usd,
        made_of=_made_of(record, report) if report else {},
    )


def _agent_settings(record: RunRecord, label: str) -> Mapping[str, Any]:
    """Return what a report's digest of the agent is of, as far as it was recorded."""
    for agent in record.config.get("agents", ()):
        if isinstance(agent, dict) and agent.get("label") == label:
            return {key: agent.get(key) for key in ("name", "label", "options")}
    return {"label": label}


def _made_of(record: RunRecord, report: BenchRunReport) -> dict[str, str]:
    """Return what a group was made of: as selected, whether all of it ran or not."""
    prefix = f"{report.task_class}/"
    cases = {
        name.removeprefix(prefix): digest
        for name, digest in record.case_digests.items()
        if name.startswith(prefix)
    }
    return {
        "corpus": corpus_digest(cases) if cases else report.cassette_corpus_digest,
        "rubric": record.rubric_digests.get(report.task_class, report.rubric_digest),
        "agent": report.sut_digest,
        "harness": report.harness_version,
        "isolation": report.isolation_class,
        "host": report.host_fingerprint,
    }
