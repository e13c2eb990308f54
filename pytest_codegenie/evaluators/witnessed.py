"""Running a script of ``inside/`` on the tree, and judging what it reports."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import module_file
from pytest_codegenie.evaluators.protection import python_test_files
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.running import run_tests
from pytest_codegenie.evaluators.running import stamps
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.evaluators.witness import TestReport
from pytest_codegenie.evaluators.witness import disagreements
from pytest_codegenie.evaluators.witness import make_result
from pytest_codegenie.evaluators.witness import read_report
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


_INSIDE = Path(__file__).with_name("inside")


@dataclass(frozen=True, slots=True)
class Script:
    """A script of ``inside/`` and what it is asked for."""

    #: Its file's name.
    name: str
    #: What it runs, for messages.
    runs: str
    #: Test ids as ``expected/tests.toml`` has them to as the script reports them.
    tests: Mapping[str, str]
    #: POSIX paths in the tree of the files that the tests are in.
    files: Sequence[str]
    #: What only this script understands.
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WitnessedRun:
    """How a script ended, and what it reports."""

    script: Script
    completed: Completed
    report: TestReport
    tampering: tuple[str, ...]

    def verdict(self, judgement: Judgement) -> Verdict:
        """Return what came of it, by the ids that were asked for."""
        for asked, name in self.script.tests.items():
            for reported in _reported(name, self.report):
                _take_over(self.report, reported, asked)
        result = make_result(
            judgement.instance_id,
            self.report,
            judgement.fail_to_pass,
            judgement.pass_to_pass,
            self.completed,
        )
        return Verdict(result, self.tampering)


def asked_tests(judgement: Judgement) -> tuple[str, ...]:
    """Return all ids.

    Raises:
        EvaluatorError: There are none.
    """
    asked = (*judgement.fail_to_pass, *judgement.pass_to_pass)
    if not asked:
        raise EvaluatorError(
            "expected/tests.toml asks for no test; list some in fail_to_pass or "
            "pass_to_pass"
        )
    return asked


def run_witnessed(script: Script, judgement: Judgement, site: Site) -> WitnessedRun:
    """Run a script on the tree and judge what it reports.

    Raises:
        EvaluatorError: It does not run here, whatever the patch is.
    """
    test_files = (*python_test_files(judgement, site.tree), *script.files)
    before = stamps(site.tree, test_files)
    completed, report = _run(script, judgement, site)
    after = stamps(site.tree, test_files)
    if not report.began and not completed.timed_out:
        _check_start(script, judgement, site)
    tampering = [
        f"the test run wrote to {path}"
        for path in before
        if before[path] != after[path]
    ]
    asked = [
        reported
        for name in script.tests.values()
        for reported in _reported(name, report)
    ]
    tampering += disagreements(report, asked, completed)
    return WitnessedRun(script, completed, report, tuple(tampering))


def _run(
    script: Script, judgement: Judgement, site: Site, *, only_begin: bool = False
) -> tuple[Completed, TestReport]:
    key = secrets.token_bytes(32)
    name = secrets.token_hex(8)
    report_path = judgement.scratch / f"report-{name}.jsonl"
    request_path = judgement.scratch / f"request-{name}.json"
    names = list(dict.fromkeys(script.tests.values()))
    request = {
        **script.more,
        "tests": names,
        "cut": [test for test in names if is_cut(test)],
        "files": list(script.files),
        "roots": list(site.environment.roots),
        "plugins": site.environment.own,
        "tree": site.inside(site.tree),
        "cache": site.inside(judgement.scratch / f"cache-{name}"),
        "report": site.inside(report_path),
        "seed": secrets.token_hex(16),
        "key": key.hex(),
        "only_begin": only_begin,
    }
    request_path.write_text(json.dumps(request), encoding="utf-8")
    # No PYTHON* variables, user site or working directory on the path, and no
    # bytecode written; what bytecode the patch brought is gone by now.
    argv = [
        site.environment.python,
        "-I",
        "-B",
        site.inside(_place_scripts(judgement) / script.name),
        site.inside(request_path),
    ]
    completed = run_tests(argv, judgement, site)
    expecting = _ExpectedFailures(judgement, site, script.files)
    return completed, read_report(report_path, key, may_fail=expecting.of)


def _place_scripts(judgement: Judgement) -> Path:
    """Copy the scripts of ``inside/`` to where the workspace shows them."""
    place = judgement.scratch / f"inside-{secrets.token_hex(4)}"
    place.mkdir()
    for script in _INSIDE.glob("*.py"):
        shutil.copyfile(script, place / script.name)
    return place


def _check_start(script: Script, judgement: Judgement, site: Site) -> None:
    """See to it that it is not our own program that does not start.

    A patch can remove a report; so the program is asked to begin once more, and to
    end before it lets the tree in.

    Raises:
        EvaluatorError: It does not begin.
    """
    completed, report = _run(script, judgement, site, only_begin=True)
    if not report.began and not _misses_the_tree(completed, judgement, site):
        raise EvaluatorError(
            f"{script.runs} cannot be run with {site.environment.python}: "
            f"{tail(completed)}"
        )


def _misses_the_tree(completed: Completed, judgement: Judgement, site: Site) -> bool:
    """Say whether a run without the tree ended for the lack of the project's module.

    A project that is a plugin of pytest's is part of how pytest starts.
    """
    output = (completed.stderr + completed.stdout).decode(errors="replace")
    places = [judgement.base / root for root in ("", *site.environment.roots)]
    return any(
        (place / name).is_dir() or (place / f"{name}.py").is_file()
        for name in re.findall(r"No module named '?(\w+)", output)
        for place in places
    )


def is_cut(test: str) -> bool:
    """Say whether an id stops in its parameters, as one that was cut at a space.

    Data sets that were made from pytest's output have such: ``test_x[a`` for
    ``test_x[a b]``.
    """
    return "[" in test and not test.endswith("]")


def _reported(name: str, report: TestReport) -> Sequence[str]:
    """Return the tests of a report that a name stands for: usually itself."""
    if name in report.collected:
        return (name,)
    found = [test for test, title in report.titles.items() if title == name]
    if not found and is_cut(name):
        found = [test for test in report.collected if test.startswith(name)]
    return sorted(found) or (name,)


def _take_over(report: TestReport, reported: str, asked: str) -> None:
    """Give a name the status of a test; where it stands for several, the worst."""
    if reported == asked:
        return
    status: TestStatus = report.statuses.get(reported, "missing")
    if report.statuses.get(asked, "passed") == "passed":
        report.statuses[asked] = status
        if reported in report.texts:
            report.texts[asked] = report.texts[reported]


class _ExpectedFailures:
    """Whether the files that a test is made of speak of expected failures at all."""

    def __init__(self, judgement: Judgement, site: Site, files: Sequence[str]) -> None:
        candidates = (*python_test_files(judgement, site.tree), *files)
        self._files = frozenset(
            path for path in candidates if _speaks_of_it(site.tree / path)
        )

    def of(self, test: str) -> bool:
        """Say whether a test's file does, or a conftest.py above it."""
        file = test.partition("::")[0] if "::" in test else module_file(test)
        above = PurePosixPath(file).parents
        made_of = {file, *(str(parent / "conftest.py") for parent in above)}
        # Modules are named from where they are imported, such as Django's tests/.
        return not self._files.isdisjoint(made_of) or any(
            path.endswith(f"/{file}") for path in self._files
        )


def _speaks_of_it(path: Path) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return b"xfail" in text or b"expectedFailure" in text
