"""Making a record of the audit chain again, from the run and the corpus."""

from __future__ import annotations

import importlib.util
import json
import math
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest_codegenie
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import Entry
from pytest_codegenie.evidence.audit.content import LINK_KEYS
from pytest_codegenie.evidence.audit.content import read_report
from pytest_codegenie.evidence.audit.content import report_name
from pytest_codegenie.evidence.audit.content import result_digests
from pytest_codegenie.evidence.audit.content import result_name
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.findings import Gap
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.evidence.summary import make_report
from pytest_codegenie.evidence.summary import summarise
from pytest_codegenie.hashing import hash_bytes


#: Of a report: what results do not say.
_NOT_DERIVED = frozenset({"sut_digest", "host_fingerprint", "harness_version"})
#: Of a report: resampled by NumPy, whose sums may end otherwise on another processor.
_RESAMPLED = frozenset({"lower_bound_95"})
_TOLERANCE = 1e-9
_ABSENT = "nothing"
_SHOWN_CHARS = 200

#: Gives the digest of (task class, case id) as it is now; None where it is not there.
CaseDigests = Callable[[str, str], str | None]


class Deriving:
    """Makes records again from the runs and the corpus."""

    def __init__(
        self, out: Path, path: Path, case_digest: CaseDigests, found: Audit
    ) -> None:
        self._out = out
        self._path = path
        self._case_digest = case_digest
        self._found = found
        self._told: set[tuple[str, str]] = set()

    def derive(
        self, entry: Entry, report: Mapping[str, Any], results: Mapping[str, str]
    ) -> None:
        """Compare a record with what is at hand.

        Raises:
            ChainTamperDetected: Something is not what is on record.
            RunStoreError: The results of the run cannot be read.
        """
        directory = _run_directory(self._out, report["run_id"])
        if directory is None:
            self._tell(
                "run-gone",
                report["run_id"],
                f"run {report['run_id']} was removed: what its records say of it "
                "cannot be derived anew",
            )
            return
        selected = self._select(entry, directory, report, results)
        digests = self._compare_figures(entry, report, selected)
        self._compare_report(entry, directory, report)
        self._compare_cases(report["task_class"], digests)
        self._found.derived += 1
        self._found.results += len(results)

    def _select(
        self,
        entry: Entry,
        directory: Path,
        report: Mapping[str, Any],
        results: Mapping[str, str],
    ) -> Iterator[dict[str, Any]]:
        """Yield the results of a record that count: of each item the last try."""
        wanted = Counter(results.values())
        names: dict[str, str] = {}
        last: dict[str, int] = {}
        for name in results:
            item, attempt = _try_of(name)
            last[item] = max(last.get(item, 1), attempt)
        for _, line in whole_lines(directory / RESULTS):
            digest = hash_bytes(line)
            if not wanted[digest]:
                continue
            wanted[digest] -= 1
            result = json.loads(line)
            name = result_name(result, names)
            names[name] = digest
            item, attempt = _try_of(name)
            if attempt == last.get(item):
                yield result
        if names != results:
            self._refuse_results(entry, directory, report, results, names)

    def _refuse_results(
        self,
        entry: Entry,
        directory: Path,
        report: Mapping[str, Any],
        results: Mapping[str, str],
        names: Mapping[str, str],
    ) -> None:
        """Raise for the first result that is not the one on record."""
        name = next(
            name
            for name in sorted(results.keys() | names)
            if results.get(name) != names.get(name)
        )
        try:
            group = (report["task_class"], report["agent"])
            now = result_digests(directory).get(group, {})
        except RunStoreError:
            now = {}
        place = f"results.{name} (runs/{directory.name}/{RESULTS})"
        raise self._tampered(
            entry, place, results.get(name, _ABSENT), now.get(name, _ABSENT)
        )

    def _compare_figures(
        self,
        entry: Entry,
        report: Mapping[str, Any],
        selected: Iterable[dict[str, Any]],
    ) -> Mapping[str, str]:
        """Compare a report with its results; return the digests of their cases."""
        try:
            (group,) = summarise(selected)
            made = make_report(
                group,
                run_id=report["run_id"],
                harness_version=report["harness_version"],
                agent_settings={},
                complete=report["complete"],
                rubric_isolation=_rubric_isolation(report["isolation_class"]),
            ).model_dump(mode="json")
        except (ValueError, LookupError, TypeError, AttributeError) as exc:
            raise self._tampered(
                entry, "report", "figures of results", f"{type(exc).__name__}: {exc}"
            ) from exc
        for key in sorted(report.keys() & made.keys() - _NOT_DERIVED - LINK_KEYS):
            if not _is_same(key, report[key], made[key]):
                self._refuse_figure(entry, report, key, made[key])
        return group.digests

    def _refuse_figure(
        self, entry: Entry, report: Mapping[str, Any], key: str, made: Any
    ) -> None:
        """Raise for a figure that differs, if this program has to come to the same."""
        if key in _RESAMPLED and importlib.util.find_spec("scipy") is None:
            self._tell(
                "not-derived",
                key,
                f"{key} was not derived anew: that needs SciPy: pip install "
                "'pytest-codegenie[stats]'",
            )
            return
        version = report["harness_version"]
        if version != pytest_codegenie.__version__:
            self._tell(
                "not-derived",
                f"{key} {version}",
                f"{key} of pytest-codegenie {version} comes out differently in "
                f"{pytest_codegenie.__version__}: verify with the version that made it",
            )
            return
        recorded = report[key]
        if isinstance(recorded, dict) and isinstance(made, dict):
            name = next(
                n for n in sorted(recorded | made) if _differ(recorded, made, n)
            )
            recorded, made = recorded.get(name, _ABSENT), made.get(name, _ABSENT)
            key = f"{key}.{name}"
        raise self._tampered(entry, f"report.{key}", _shown(recorded), _shown(made))

    def _compare_report(
        self, entry: Entry, directory: Path, report: Mapping[str, Any]
    ) -> None:
        """Compare the report in the run's directory, if it is of this record."""
        path = directory / report_name(report["task_class"], report["agent"])
        there = read_report(path)
        if there is None or there.get("chain_head") != entry.link.chain_head:
            return  # of another record, or of none: see ``unrecorded.py``
        expected = {**report, **entry.link._asdict()}
        for key in sorted(expected.keys() | there):
            if _differ(expected, there, key):
                raise self._tampered(
                    entry,
                    f"{key} (runs/{directory.name}/{path.name})",
                    _shown(expected.get(key, _ABSENT)),
                    _shown(there.get(key, _ABSENT)),
                )

    def _compare_cases(self, task_class: str, digests: Mapping[str, str]) -> None:
        for case_id, recorded in digests.items():
            case = f"{task_class}/{case_id}"
            now = self._case_digest(task_class, case_id)
            if now is None:
                self._tell("case-gone", case, f"case {case} is not at hand")
            elif now != recorded:
                self._tell(
                    "corpus-changed",
                    f"{case} {recorded}",
                    f"case {case} is not the one that was run: the corpus has changed "
                    "since",
                )

    def _tell(self, kind: str, key: str, what: str) -> None:
        """Add a gap, once."""
        if (kind, key) not in self._told:
            self._told.add((kind, key))
            self._found.gaps.append(Gap(kind, what))

    def _tampered(
        self, entry: Entry, what: str, recorded: str, computed: str
    ) -> ChainTamperDetected:
        return ChainTamperDetected(
            entry.name, recorded, computed, what=what, path=self._path
        )


def _rubric_isolation(isolation_class: str) -> str:
    """Return what is said of the rubric, which no result says."""
    return isolation_class.partition("; rubric ")[2]


def _run_directory(out: Path, run_id: str) -> Path | None:
    # A record may say anything; a run is a directory right below.
    if run_id in {"", ".", ".."} or Path(run_id).name != run_id:
        return None
    directory = out / "runs" / run_id
    return directory if directory.is_dir() else None


def _try_of(name: str) -> tuple[str, int]:
    """Return what a result is of, and which try it is, from its name on record."""
    item, _, rest = name.partition("~")[0].partition("#")
    return item, int(rest) if rest.isdecimal() else 1


def _is_same(key: str, recorded: Any, made: Any) -> bool:
    if key in _RESAMPLED and isinstance(recorded, float) and isinstance(made, float):
        return math.isclose(recorded, made, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return canonical_json(recorded) == canonical_json(made)


def _differ(one: Mapping[str, Any], other: Mapping[str, Any], key: str) -> bool:
    if (key in one) != (key in other):
        return True
    return canonical_json(one[key]) != canonical_json(other[key])


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value).decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
