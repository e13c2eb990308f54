"""The JSON report of Jest, which is Vitest's too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


#: Between file, groups and test: as Vitest prints it.
SEPARATOR = " > "
_STATUSES: Mapping[str, TestStatus] = {
    "passed": "passed",
    "failed": "failed",
    "pending": "skipped",
    "skipped": "skipped",
    "disabled": "skipped",
    "todo": "skipped",
}
#: The report's own totals to the status that they count.
_TOTALS: Mapping[str, TestStatus] = {
    "numPassedTests": "passed",
    "numFailedTests": "failed",
}


def parse(text: str) -> Report:
    """Read the report; ids are ``<file> > <describe> > <test>``.

    Its totals have to agree with the tests that it lists.
    """
    report = Report()
    try:
        whole = json.loads(text)
        counts = Counter(status for status in _add_files(whole["testResults"], report))
        report.faults += _disagreements(whole, counts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        report.faults.append(
            f"it is no JSON report of Jest's or Vitest's: {exc!r:.200}"
        )
    return report


def _add_files(files: list[dict[str, Any]], report: Report) -> Iterator[TestStatus]:
    """Add the tests of all files; yield each one's status."""
    for file in files:
        name = str(file["name"])
        failed = False
        for test in file["assertionResults"]:
            titles = (name, *test["ancestorTitles"], test["title"])
            # A status that is not known is no pass.
            status = _STATUSES.get(test["status"], "error")
            text = "\n".join(map(str, test.get("failureMessages") or ()))
            report.add(SEPARATOR.join(map(str, titles)), status, text)
            failed = failed or status in ("failed", "error")
            yield status
        if file["status"] == "failed" and not failed:
            report.fail(f"{name}\n{file.get('message', '')}")


def _disagreements(
    whole: Mapping[str, Any], counts: Mapping[TestStatus, int]
) -> Iterator[str]:
    totals = {key: counts[status] for key, status in _TOTALS.items()}
    totals["numTotalTests"] = sum(counts.values())
    for key, count in totals.items():
        if whole[key] != count:
            yield f"{key} is {whole[key]}, but the report lists {count}"
    if whole.get("wasInterrupted"):
        yield "the run was interrupted"
