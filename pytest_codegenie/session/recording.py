"""What the controller writes of a run, and shows of it at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pydantic
import pytest
from _pytest.junitxml import xml_key

import pytest_codegenie
from pytest_codegenie.agents import Agent
from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import create_run
from pytest_codegenie.evidence import host_facts
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence import write_record
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import RunRecord
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import summary_lines
from pytest_codegenie.session.reports import append_step_summary
from pytest_codegenie.session.reports import write_reports
from pytest_codegenie.session.running import Runner


class RunRecording:
    """``run.json`` at the start, reports at the end, a summary on the terminal."""

    def __init__(
        self, root: Path, directory: Path, settings: RunConfig, record: RunRecord
    ) -> None:
        self._root = root
        self.directory = directory
        self._settings = settings
        self._record = record
        self._groups: list[Group] = []
        self._problems: list[str] = []

    @classmethod
    def begin(cls, config: pytest.Config, runner: Runner) -> RunRecording:
        """Make the run's directory and write ``run.json``.

        Raises:
            ConfigError: A run of that id exists.
            RunStoreError: It cannot be written.
        """
        settings = runner.settings
        directory = create_run(settings.out, runner.run_id)
        record = RunRecord(
            run_id=runner.run_id,
            started_at=utc_now(),
            config=_without_secrets(settings),
            versions={
                "pytest-codegenie": pytest_codegenie.__version__,
                "pytest": pytest.__version__,
                "pydantic": pydantic.VERSION,
                **_agent_versions(settings.agents, runner.parts.agents),
            },
            host=host_facts(),
            arguments=tuple(config.invocation_params.args),
        )
        record = runner.redactor.record(record)
        write_record(directory / RUN, record)
        return cls(config.rootpath, directory, settings, record)

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
        if self._record.items:
            return
        known = [case for case in cases if case in digests]
        classes = dict.fromkeys(case.parents[1] for case in known)
        self._record = self._record.model_copy(
            update={
                "items": tuple(items),
                "case_digests": {
                    f"{case.parents[1].name}/{case.name}": digests[case]
                    for case in known
                },
                "rubric_digests": {path.name: rubric_digest(path) for path in classes},
            }
        )
        write_record(self.directory / RUN, self._record)

    def finish(self, config: pytest.Config, reporters: Mapping[str, str]) -> None:
        """Write the reports; remove a run in which nothing was begun.

        Args:
            config: Of pytest.
            reporters: All there are, by name.
        """
        begun = (self.directory / "cases").exists()  # agents' logs may be all there is
        if not begun and not (self.directory / RESULTS).exists():
            shutil.rmtree(self.directory, ignore_errors=True)
            return
        try:
            self._write_reports()
        except CodegenieError as exc:
            self._problems.append(str(exc))
        run = StoredRun(self.directory, self._record)
        self._problems += write_reports(run, self._settings.reporters, reporters)
        self._problems += append_step_summary(run, os.environ)
        self._add_suite_properties(config)

    def _write_reports(self) -> None:
        self._groups = summarise(read_plain_results(self.directory))
        selected = Counter(self._group_key(item) for item in self._record.items)
        agents = {agent.label: agent for agent in self._settings.agents}
        for group in self._groups:
            report = make_report(
                group,
                run_id=self._record.run_id,
                harness_version=pytest_codegenie.__version__,
                agent_settings=agents[group.agent].model_dump(
                    mode="json", include={"name", "label", "options"}
                ),
                complete=group.judged >= selected[group.task_class, group.agent],
            )
            name = f"report-{group.task_class}-{group.agent}.json"
            write_record(self.directory / name, report)

    def _group_key(self, item: str) -> tuple[str, str]:
        """Return task class and agent of a node id."""
        path, _, name = item.partition("::")
        case_file = self._root / path
        label = name.removeprefix(f"{case_file.parent.name}[").removesuffix("]")
        if self._settings.trials > 1:
            label = label.rpartition("-t")[0]
        return case_file.parents[2].name, label

    def _add_suite_properties(self, config: pytest.Config) -> None:
        xml = config.stash.get(xml_key, None)
        if xml is None:
            return
        xml.add_global_property("codegenie.run_id", self._record.run_id)
        xml.add_global_property("codegenie.run", relative(self.directory))
        xml.add_global_property("codegenie.version", pytest_codegenie.__version__)
        xml.add_global_property("codegenie.workspace", self._settings.workspace)
        for group in self._groups:
            name = f"codegenie.{group.task_class}.{group.agent}"
            values = {
                "passed": group.passed,
                "failed": group.failed,
                "errors": group.errors,
                "mean_score": group.mean_score,
                "lower_bound_95": group.bound().value,
            }
            for key, value in values.items():
                if value is not None:
                    xml.add_global_property(f"{name}.{key}", value)

    def show(self, terminal: Any) -> None:
        """Write the summary to pytest's terminal."""
        if not self._groups and not self._problems:
            return
        terminal.section("codegenie summary")
        for line in (*summary_lines(self._groups), *self._problems):
            terminal.write_line(line)
        terminal.write_line(f"run {self._record.run_id} in {relative(self.directory)}")


def _agent_versions(
    agents: Iterable[AgentSpec], parts: Mapping[str, str]
) -> dict[str, str]:
    """Return ``agent <label>`` to the version of those that are installed here."""
    versions = {}
    for spec in agents:
        # Whatever is wrong with an agent is told by its cases.
        with contextlib.suppress(Exception):
            agent: Agent = make_part("agent", spec.name, parts)
            agent.configure(spec.options)
            version = agent.version()
            if version:
                versions[f"agent {spec.label}"] = version
    return versions


def _without_secrets(settings: RunConfig) -> dict[str, Any]:
    """Return the settings; of an agent's environment the names alone."""
    values = settings.model_dump(mode="json")
    for agent in values["agents"]:
        agent["env"] = {
            name: "(set)" if value else "(unset)"
            for name, value in agent["env"].items()
        }
    return values
