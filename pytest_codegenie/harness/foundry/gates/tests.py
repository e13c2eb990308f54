"""The project's tests, and how much of src/ they run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from pytest_codegenie.evaluators.formats import junit
from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.harness.foundry.gates.site import GateSite
from pytest_codegenie.harness.foundry.gates.site import ToolFailed
from pytest_codegenie.harness.foundry.gates.site import last_words
from pytest_codegenie.processes import Completed


#: Of how many failed tests what they say is told, and how much of it.
_TOLD_TESTS = 10
_TOLD_CHARACTERS = 2000
#: pytest.ExitCode
_PASSED, _FAILED, _NO_TESTS = 0, 1, 5
#: Ours, so that nobody's settings decide what counts. Subprocesses are measured too.
_SETTINGS = """\
[run]
source = {source}
parallel = true
data_file = {data}
patch = subprocess
disable_warnings = no-data-collected, module-not-imported, module-not-measured
[report]
include_namespace_packages = true
exclude_also =
    if TYPE_CHECKING:
    if __name__ == .__main__.:
"""
_COMBINE = """\
import sys
import coverage
measured = coverage.Coverage(config_file=sys.argv[1])
measured.combine(strict=True)
measured.json_report(outfile=sys.argv[2])
"""


@dataclass(slots=True)
class TestsOutcome:
    """What the tests said."""

    __test__ = False

    #: Per cent of the lines of src/; 0.0 where it could not be measured.
    coverage: float = 0.0
    #: Why the tests do not pass, or were not measured; none: they do, and were.
    reasons: list[str] = field(default_factory=list)
    #: ``passed``, ``failed``, ``skipped``, ``error`` to how many.
    counts: dict[str, int] = field(default_factory=dict)
    #: ``test``, ``message`` of the first that failed.
    failures: list[dict[str, str]] = field(default_factory=list)
    #: File of src/ to its lines that no test runs.
    uncovered: dict[str, list[int]] = field(default_factory=dict)
    #: Lines that comments take out of the measurement (``pragma: no cover``).
    excluded_lines: int = 0


def run_tests(site: GateSite) -> TestsOutcome:
    """Run pytest on tests/ under coverage.

    Whatever keeps that from saying anything is a reason; nothing is raised.
    """
    outcome = TestsOutcome()
    try:
        _run(site, outcome)
    except ToolFailed as exc:
        outcome.reasons.append(exc.reason)
    return outcome


def _run(site: GateSite, outcome: TestsOutcome) -> None:
    if not (site.tree / "tests").is_dir():
        raise ToolFailed("no test was run: there is no directory tests/")
    place = site.new_directory()
    settings = place / "coverage.ini"
    settings.write_text(
        _SETTINGS.format(
            source=site.inside(site.tree / "src"), data=site.inside(place / "data")
        ),
        encoding="utf-8",
    )
    done = _run_pytest(site, place, settings)
    data = site.read(place / "junit.xml")
    _read_report(done, junit.parse(data) if data else None, outcome)
    _read_coverage(site, place, settings, outcome)


def _run_pytest(site: GateSite, place: Path, settings: Path) -> Completed:
    # The interpreter that runs us has plugins of ours; none is the project's.
    alone = not site.workspace.environment.own
    variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if alone else {}
    return site.run_module(
        "coverage",
        "run",
        f"--rcfile={site.inside(settings)}",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        # Not as an argument: settings in tests/, which agents write, would count then.
        "--override-ini=testpaths=tests",
        f"--rootdir={site.inside(site.tree)}",
        f"--junit-xml={site.inside(place / 'junit.xml')}",
        "--color=no",
        variables=variables,
    )


def _read_report(done: Completed, report: Report | None, outcome: TestsOutcome) -> None:
    """Hold pytest's report against its exit code; each alone can be had for nothing."""
    if report is None or report.faults:
        how = "left no report" if report is None else report.faults[0]
        outcome.reasons.append(
            f"pytest ended with exit code {done.exit_code} and {how}: "
            f"{last_words(done)}"
        )
        return
    outcome.counts = dict(Counter(report.statuses.values()))
    failures = report.failures()
    outcome.failures = [
        {"test": test, "message": report.texts.get(test, "")[-_TOLD_CHARACTERS:]}
        for test in failures[:_TOLD_TESTS]
    ]
    if failures:
        outcome.reasons.append(
            f"{len(failures)} of {len(report.statuses)} tests failed: "
            f"{', '.join(failures[:_TOLD_TESTS])}"
        )
    elif done.exit_code not in (_PASSED, _NO_TESTS):
        outcome.reasons.append(
            f"pytest ended with exit code {done.exit_code}: {last_words(done)}"
        )
    elif not outcome.counts.get("passed"):
        skipped = outcome.counts.get("skipped", 0)
        more = f" ({skipped} were skipped)" if skipped else ""
        outcome.reasons.append(f"no test was run{more}")


def _read_coverage(
    site: GateSite, place: Path, settings: Path, outcome: TestsOutcome
) -> None:
    report = place / "coverage.json"
    argv = [site.python, "-c", _COMBINE, site.inside(settings), site.inside(report)]
    # What the tests leave in the tree cannot be imported instead.
    done = site.run("coverage", argv, {"PYTHONSAFEPATH": "1", "PYTHONPATH": ""})
    if done.exit_code:
        lines = last_words(done).splitlines()
        outcome.reasons.append(f"coverage was not measured: {lines[-1]}")
        return
    try:
        _take_coverage(json.loads(site.read(report)), site, outcome)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        outcome.reasons.append(f"coverage left a report that cannot be read: {exc}")


def _take_coverage(
    found: dict[str, Any], site: GateSite, outcome: TestsOutcome
) -> None:
    totals = found["totals"]
    if not totals["num_statements"]:
        outcome.reasons.append("src/ has no line of code that tests could run")
        return
    outcome.coverage = float(totals["percent_covered"])
    outcome.excluded_lines = int(totals["excluded_lines"])
    root = site.inside(site.tree).rstrip("/") + "/"
    outcome.uncovered = {
        path.removeprefix(root): list(file["missing_lines"])
        for path, file in sorted(found["files"].items())
        if file["missing_lines"]
    }
