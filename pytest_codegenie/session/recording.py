"""What the controller writes of a run, and shows of it at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.junitxml import xml_key

import pytest_codegenie
from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import Difference
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import RunLock
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import begun_record
from pytest_codegenie.evidence import chain_reports
from pytest_codegenie.evidence import create_run
from pytest_codegenie.evidence import differences
from pytest_codegenie.evidence import find_run
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import remove_unfinished
from pytest_codegenie.evidence import report_name
from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence import wait_for_orphans
from pytest_codegenie.evidence import write_record
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.past_runs import selected_groups
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import RunRecord
from pytest_codegenie.models import utc_now
from pytest_codegenie.reporters import summary_lines
from pytest_codegenie.reporters.junit import suite_properties
from pytest_codegenie.scoring import rubric_isolation
from pytest_codegenie.session.reports import append_step_summary
from pytest_codegenie.session.reports import write_reports
from pytest_codegenie.session.resuming import Resumption
from pytest_codegenie.session.resuming import removed_items
from pytest_codegenie.session.resuming import run_differs
from pytest_codegenie.session.run_records import made_of
from pytest_codegenie.session.run_records import new_record
from pytest_codegenie.session.running import Runner


class RunRecording:
    """``run.json`` at the start, reports at the end, a summary on the terminal."""

    def __init__(
        self,
        directory: Path,
        settings: RunConfig,
        record: RunRecord,
        lock: RunLock,
        *,
        resumes: bool = False,
    ) -> None:
        self.directory = directory
        self._settings = settings
        self._record = record
        self._lock = lock
        self._resumes = resumes
        self._selected = False
        self._groups: list[Group] = []
        self._problems: list[str] = []
        #: Further lines of the summary.
        self.notes: list[str] = []
        #: The session ends before all was run.
        self.is_cut_short = False
        #: What the session ends in where the audit chain has no record of the run.
        self.exit_code = 0

    @classmethod
    def begin(cls, config: pytest.Config, runner: Runner) -> RunRecording:
        """Make the run's directory and write ``run.json``.

        Raises:
            ConfigError: A run of that id exists.
            RunStoreError: It cannot be written.
        """
        directory = create_run(runner.settings.out, runner.run_id)
        return cls._begin_in(directory, RunLock.of_session(directory), config, runner)

    @classmethod
    def _begin_in(
        cls, directory: Path, lock: RunLock, config: pytest.Config, runner: Runner
    ) -> RunRecording:
        record = new_record(config, runner)
        write_record(directory / RUN, record)
        return cls(directory, runner.settings, record, lock)

    @classmethod
    def resume(
        cls,
        name: str,
        config: pytest.Config,
        runner: Runner,
        say: Callable[[str], None],
    ) -> RunRecording:
        """Go on with a run that there is; nothing of it is changed yet.

        Args:
            name: Of the run, as a person names it.
            config: Of pytest.
            runner: It goes on with the run, too.
            say: Told what is waited for.

        Raises:
            RunNotFound: There is no such run.
            RunDiffers: It would not be the same run.
            ConfigError: Another session works on it.
            RunStoreError: It cannot be read, or locked.
        """
        directory = _find(name, config, runner.settings)
        begun_record(directory)  # before anything is written there
        lock = RunLock.of_session(directory)
        try:
            wait_for_orphans(directory, say)
            remove_unfinished(directory)
            record = begun_record(directory)
            if record is None:
                runner.run_id = directory.name
                return cls._begin_in(directory, lock, config, runner)
            _check_same(record, config, runner)
            runner.go_on(Resumption(directory, record))
        except BaseException:
            lock.release()
            raise
        return cls(directory, runner.settings, record, lock, resumes=True)

    @property
    def record(self) -> RunRecord:
        """What ``run.json`` says."""
        return self._record

    @property
    def run(self) -> StoredRun:
        """The run as its store has it."""
        return StoredRun(self.directory, self._record)

    @property
    def groups(self) -> Sequence[Group]:
        """What the run came to; empty before it is finished."""
        return self._groups

    def close(self) -> None:
        """Let others work on the run."""
        self._lock.release()

    def selected(
        self,
        items: Sequence[str],
        cases: Iterable[Path],
        digests: Mapping[Path, str],
        rubric_digest: Callable[[Path], str],
    ) -> None:
        """Record what is to run; the first call counts.

        Args:
            items: Node ids, in order.
            cases: The directories of their cases.
            digests: Of cases, by directory.
            rubric_digest: Gives that of a task class, by directory.
        """
        if self._selected or not items:
            return
        self._selected = True
        changes: dict[str, Any] = {}
        if not self._record.items:
            changes |= made_of(items, cases, digests, rubric_digest)
        if self._resumes:
            changes["resumed_at"] = (*self._record.resumed_at, utc_now())
        if changes:
            self._record = self._record.model_copy(update=changes)
            write_record(self.directory / RUN, self._record)

    def finish(self, config: pytest.Config, reporters: Mapping[str, str]) -> None:
        """Write the reports; remove a run in which nothing was begun.

        Args:
            config: Of pytest.
            reporters: All there are, by name.
        """
        if self._resumes and not self._selected:
            return  # refused, or nothing was selected: it is as it was
        begun = (self.directory / "cases").exists()  # agents' logs may be all there is
        recorded = (self.directory / RESULTS).exists()
        if not begun and not recorded and not self._resumes:
            shutil.rmtree(self.directory, ignore_errors=True)
            return
        try:
            self._write_reports()
        except CodegenieError as exc:
            self._problems.append(str(exc))
        run = self.run
        self._problems += write_reports(run, self._settings.reporters, reporters)
        self._problems += append_step_summary(run, os.environ)
        self.add_suite_properties(config, suite_properties(run, self._groups))

    def _write_reports(self) -> None:
        self._groups = summarise(read_plain_results(self.directory))
        selected = selected_groups(self._record)
        agents = {agent.label: agent for agent in self._settings.agents}
        reports = [
            make_report(
                group,
                run_id=self._record.run_id,
                harness_version=pytest_codegenie.__version__,
                agent_settings=agents[group.agent].model_dump(
                    mode="json", include={"name", "label", "options"}
                ),
                rubric_isolation=rubric_isolation(),
                complete=not self.is_cut_short
                and group.judged >= selected[GroupKey(group.task_class, group.agent)],
            )
            for group in self._groups
        ]
        for report in self._chained(reports):
            name = report_name(report.task_class, report.agent)
            write_record(self.directory / name, report)

    def _chained(self, reports: list[BenchRunReport]) -> list[BenchRunReport]:
        """Put the reports on record; return them with their links, if they have some.

        This comes before they are written: a report that names a head is on record.
        """
        try:
            # That of the store that the run is in, whichever one is configured.
            out = self.directory.parents[1]
            reports, head = chain_reports(out, self.directory, reports)
        except CodegenieError as exc:
            self._problems.append(f"the audit chain has no record of this run: {exc}")
            self.exit_code = exc.exit_code
            return reports
        self._record = self._record.model_copy(update={"chain_head": head})
        write_record(self.directory / RUN, self._record)
        return reports

    def add_suite_properties(
        self, config: pytest.Config, properties: Iterable[tuple[str, object]]
    ) -> None:
        """Write properties of the suite, where there is a JUnit report."""
        xml = config.stash.get(xml_key, None)
        if xml is None:
            return
        for name, value in properties:
            xml.add_global_property(name, value)

    def show(self, terminal: Any) -> None:
        """Write the summary to pytest's terminal."""
        if not self._groups and not self._problems and not self.notes:
            return
        terminal.section("codegenie summary")
        for line in (*summary_lines(self._groups), *self.notes, *self._problems):
            terminal.write_line(line)
        if self._record.chain_head:
            terminal.write_line(f"chain head {self._record.chain_head}")
        if self.directory.exists():
            where = relative(self.directory)
            terminal.write_line(f"run {self._record.run_id} in {where}")


def _find(name: str, config: pytest.Config, settings: RunConfig) -> Path:
    """Return the directory of the run to go on with.

    Raises:
        RunNotFound: There is no such run.
        ConfigError: This session cannot go on with any.
    """
    if config.getoption("dist", "no") == "each":
        raise ConfigError(
            "--codegenie-resume",
            name,
            "--dist each runs each case once in every worker, and what is left to run "
            "cannot be told; resume without it",
        )
    return config.invocation_params.dir / find_run(name, lambda: settings.out)


def _check_same(record: RunRecord, config: pytest.Config, runner: Runner) -> None:
    """Refuse to go on with a run as something else.

    Raises:
        RunDiffers: With all that differs, as far as it is known before collection.
    """
    lines: list[object] = [*differences(record, new_record(config, runner))]
    if runner.settings.run_id not in (None, record.run_id):
        wanted = runner.settings.run_id
        lines.append(Difference("run_id", record.run_id, str(wanted)))
    lines += removed_items(record, config.rootpath)
    if lines:
        raise run_differs(record, lines)
