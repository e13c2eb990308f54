"""Evaluators that run somebody else's test runner and read what it reports."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Literal

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.agreement import conclude
from pytest_codegenie.evaluators.agreement import readable
from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.report_files import matching_files
from pytest_codegenie.evaluators.report_files import read_file
from pytest_codegenie.evaluators.running import run_tests
from pytest_codegenie.evaluators.running import stamps
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.evaluators.steering import Steering
from pytest_codegenie.evaluators.steering import command_files
from pytest_codegenie.evaluators.steering import put_back
from pytest_codegenie.evaluators.steering import test_code
from pytest_codegenie.evaluators.swebench_rule import conclude_as_swebench
from pytest_codegenie.evaluators.witnessed import asked_tests
from pytest_codegenie.models import VerdictRule
from pytest_codegenie.processes import Completed


#: More than the report of any real test run.
_MAX_REPORT_BYTES = 64 << 20
#: Where the middle of the output was left out.
_GAP = re.compile(rb"\n\[\.\.\. \d+ bytes left out \.\.\.\]\n")


@dataclass(frozen=True, slots=True)
class Runner:
    """A test runner: how it is started, and where its verdict is read from."""

    #: One report, by the case's ``parser`` where there are several.
    read: Callable[[bytes, Judgement], Report]
    #: ``stdout``, ``output`` (stderr in it too) or files (``{report}``, or the case's
    #: ``report``).
    source: Literal["stdout", "output", "files"]
    steering: Steering
    #: Where the case gives none; empty: it has to.
    command: tuple[str, ...] = ()
    #: Works wherever the runner does, whatever the tree holds; empty: nothing tells.
    probe: tuple[str, ...] = ()
    #: What ends the file in an id; "": ids name no files.
    file_end: str = ""
    #: Set where the workspace does not set them.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: The runner may be a Python one.
    python: bool = False
    #: The report tells of these tests alone, not of tests that tests run.
    exact: bool = True


class ReportedTests:
    """Runs a test runner; its report and its exit code have to agree.

    A base: each evaluator says which runner it is of.
    """

    #: As ``framework`` in ``expected/tests.toml``.
    name: str
    runner: Runner
    #: What ``rule`` in ``expected/tests.toml`` may be; elsewhere ``strict`` alone.
    rules: tuple[VerdictRule, ...] = ("strict", "swebench")

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back tests, settings of the runner, and what the command names."""
        findings: tuple[str, ...] = ()
        files = (*command_files(judgement.command), *self._asked_files(judgement))
        if self.runner.python:
            findings = protect_python(judgement, site, more_files=frozenset(files))
        put_back(judgement, site, self.runner.steering, files)
        return findings

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the command and hold its report against exit code and request."""
        asked_tests(judgement)
        place = judgement.scratch / f"report-{secrets.token_hex(8)}"
        argv = self._argv(judgement, site, place)
        # What stands there before the run is nobody's report.
        site.put(dict.fromkeys(matching_files(site.tree, judgement.report)))
        code = test_code(judgement, site, self.runner.steering)
        before = stamps(site.tree, code)
        completed = self._run(argv, judgement, site)
        after = stamps(site.tree, code)
        report = self._report(judgement, site, place, completed)
        if not report.statuses and not completed.timed_out:
            self._check_start(judgement, site)
        tampering = (
            f"the test run wrote to {readable(path)}"
            for path in code
            if before[path] != after[path]
        )
        if judgement.rule != "strict":
            result = conclude_as_swebench(judgement, report, completed)
        else:
            result = conclude(judgement, report, completed, exact=self.runner.exact)
        return Verdict(result, tuple(tampering))

    def _run(self, argv: Sequence[str], judgement: Judgement, site: Site) -> Completed:
        known = site.variables("judge")
        added = {
            name: value
            for name, value in self.runner.variables.items()
            if name not in known
        }
        return run_tests(argv, judgement, site, added, keep_bytes=_MAX_REPORT_BYTES)

    def _argv(
        self, judgement: Judgement, site: Site, report_path: Path
    ) -> tuple[str, ...]:
        command = judgement.command or self.runner.command
        needs_place = self.runner.source == "files" and not judgement.report
        if needs_place and "{report}" not in str(command):
            raise EvaluatorError(
                "expected/tests.toml does not say where the report is; let the command "
                "write it to {report}, or give its place in the tree as report"
            )
        values = {
            "{files}": self._asked_files(judgement),
            "{python}": (site.environment.python,),
            "{report}": (site.inside(report_path),),
        }
        argv = _fill(command, values)
        if self.runner.source == "output":
            # One stream, as the two belong together: a name in one, its result in
            # the other.
            return ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *argv)
        return argv

    def _check_start(self, judgement: Judgement, site: Site) -> None:
        """See to it that it is not the runner itself that does not start.

        Raises:
            EvaluatorError: It does not.
        """
        if not self.runner.probe:
            return
        completed = run_tests(self.runner.probe, judgement, site)
        if completed.exit_code:
            raise EvaluatorError(
                f"{' '.join(self.runner.probe)} fails: {tail(completed)}"
            )

    def _asked_files(self, judgement: Judgement) -> tuple[str, ...]:
        """Return the files that ids name, each once."""
        end = self.runner.file_end
        asked = (*judgement.fail_to_pass, *judgement.pass_to_pass)
        files = (test.partition(end)[0] for test in asked if end and end in test)
        return tuple(dict.fromkeys(files))

    def _report(
        self, judgement: Judgement, site: Site, place: Path, completed: Completed
    ) -> Report:
        """Return what the run reports; what cannot be read is a fault of the report."""
        report = Report()
        if self.runner.source == "files":
            found = matching_files(site.tree, judgement.report)
            paths = [site.tree / name for name in found]
            texts = _contents(paths if judgement.report else [place], report)
            if judgement.report and not found:
                report.faults.append(f"nothing was written to {judgement.report}")
        else:
            texts = [completed.stdout]
            if _GAP.search(completed.stdout):
                report.faults.append("the output is too long to be read as a whole")
        for text in texts:
            report.merge(self.runner.read(text, judgement))
        return report.relative_to(site.inside(site.tree))


def _contents(paths: Iterable[Path], report: Report) -> list[bytes]:
    """Return what files hold; one that is none is a fault of the report."""
    texts = []
    left = _MAX_REPORT_BYTES
    for path in paths:
        text = read_file(path, left)
        if text is None:
            report.faults.append(f"{path.name} is missing, too long or no file")
        else:
            left -= len(text)
            texts.append(text)
    return texts


def _fill(
    command: str | Sequence[str], values: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the arguments of a command, with values for its placeholders."""
    if isinstance(command, str):
        for name, words in values.items():
            command = command.replace(name, shlex.join(words))
        return ("/bin/sh", "-c", command)
    argv: list[str] = []
    for word in command:
        argv += values.get(word, (_fill_word(word, values),))
    return tuple(argv)


def _fill_word(word: str, values: Mapping[str, Sequence[str]]) -> str:
    for name, words in values.items():
        word = word.replace(name, " ".join(words))
    return word
