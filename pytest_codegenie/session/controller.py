"""The process that makes the run's directory, reports, and sets the exit code."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import create_terminal_writer

from pytest_codegenie import logs
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import artifacts_place
from pytest_codegenie.evidence import result_key
from pytest_codegenie.importing.dataset_file import DATASET_FILE
from pytest_codegenie.importing.dataset_file import is_dataset_file
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters.telling import describe
from pytest_codegenie.reporters.telling import result_properties
from pytest_codegenie.session.collection import Collection
from pytest_codegenie.session.corpus import write_manifest
from pytest_codegenie.session.datasets import dataset_files_below
from pytest_codegenie.session.exit_codes import Ending
from pytest_codegenie.session.gates import Gates
from pytest_codegenie.session.interrupting import STOP_FILE
from pytest_codegenie.session.interrupting import Interrupting
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.live import LiveDisplay
from pytest_codegenie.session.live import draws_for
from pytest_codegenie.session.nodes import CASE_FILE
from pytest_codegenie.session.recording import RunRecording
from pytest_codegenie.session.resuming import plain_nodeid
from pytest_codegenie.session.running import Runner
from pytest_codegenie.session.scratch import Scratch
from pytest_codegenie.session.scratch import sweep
from pytest_codegenie.session.settings import better_workspaces
from pytest_codegenie.session.settings import configured
from pytest_codegenie.session.settings import usage_errors
from pytest_codegenie.session.worker import WORKER_KEY
from pytest_codegenie.workspaces import Workspace


class Controller(Collection):
    """The only process, or the controller of xdist."""

    def __init__(self, config: pytest.Config, runner: Runner) -> None:
        super().__init__(config, runner)
        runner.run_id = runner.settings.run_id or _new_run_id()
        self._scratch: Scratch | None = None
        self._recording: RunRecording | None = None
        #: None where nothing is recorded.
        self._gates: Gates | None = None
        self._ending = Ending()
        self._workers = 0
        #: Of cases, by directory: hashed for the workers of xdist.
        self._digests: dict[Path, str] = {}
        #: Node ids whose outcome was reported, and whose end was not.
        self._told: set[str] = set()

    def pytest_report_header(self) -> list[str]:
        """Say who works where."""
        agents = ", ".join(agent.label for agent in self.runner.settings.agents)
        who = "validating the corpus" if self.validating else f"agents: {agents}"
        if self.runner.grading is not None:
            graded = self.runner.grading.run.record.run_id
            who = f"grading run {graded} again, {who} (none is started)"
        name = self.runner.settings.workspace
        workspace = self._workspace()
        fault = workspace.probe()
        place = f"does not work here: {fault}" if fault else workspace.isolation
        return [
            f"codegenie: {who}; workspace: {name} ({place})",
            *better_workspaces(name, self.runner.parts.workspaces),
            *self._network(),
            *self._resumed(),
        ]

    def _resumed(self) -> Iterator[str]:
        """Say what there is of a run that goes on."""
        resumption = self.runner.resumption
        if resumption is not None:
            count = sum(entry.is_verdict for entry in resumption.recorded.values())
            total = len(resumption.record.items)
            yield (
                f"codegenie: resumes run {resumption.record.run_id}: {count} of "
                f"{total} cases have a verdict on record"
            )

    def _network(self) -> Iterator[str]:
        """Say it where agents reach more than they declare."""
        network = self.runner.settings.docker.network
        if self.runner.settings.workspace == "docker" and network != "none":
            yield f"codegenie: agents' containers join the network {network!r}"

    def _workspace(self) -> Workspace:
        """Return a new one of the run's; to ask it about this machine."""
        name = self.runner.settings.workspace
        workspace: Workspace = make_part(
            "workspace", name, self.runner.parts.workspaces
        )
        return workspace

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Make the run's directory; hash the corpus for the workers, if there are any.

        This comes before xdist starts them.
        """
        option = self.config.option
        with usage_errors():
            self._refuse_misnamed()
            self._resume()
            self._open_datasets()
        sweep(self._workspace())
        self._scratch = Scratch(self.runner.run_id)
        self.runner.scratch = self._scratch.path
        if not option.collectonly and not self.validating:
            with usage_errors():
                # First: what is the latest run is asked before this one is begun.
                self._gates = Gates(configured(self.config), self.runner.run_id)
                self._recording = self._recording or RunRecording.begin(
                    self.config, self.runner
                )
            self.runner.run_directory = self._recording.directory
            logs.log_to(
                self.runner.run_directory / "log.jsonl",
                level=self.runner.settings.log_level,
                redact=self.runner.redactor.text,
            )
        else:
            logs.log_to(Path(os.devnull))  # no run, no log; not the terminal either
        self.config.pluginmanager.register(self._ending, "codegenie-ending")
        self._stay_in_touch(session, self._scratch.path)
        if self.config.pluginmanager.hasplugin("dsession"):
            self._digests = write_manifest(self._manifest, self._roots())
            self.runner.datasets.tell(self._opened)

    def _resume(self) -> None:
        """Go on with a run, if that is asked for and anything is to be run.

        Raises:
            CodegenieError: It cannot be gone on with.
        """
        option = self.config.option
        name = option.codegenie_resume
        if name is None or option.collectonly or option.setuponly:
            return  # nothing is run, and nothing recorded
        if self.validating:
            raise ConfigError(
                "--codegenie-resume", name, "--codegenie-validate records no run"
            )

        self._recording = RunRecording.resume(name, self.config, self.runner, self._say)

    def _say(self, text: str) -> None:
        create_terminal_writer(self.config).line(f"codegenie: {text}")

    def _open_datasets(self) -> None:
        """Open the dataset files to be collected, and check the names selected by.

        What is wrong with one of them is said when it is collected.

        Raises:
            ConfigError: A dataset or a case is named that there is not.
        """
        self.runner.datasets.say = self._say
        self.runner.datasets.processes = len(os.sched_getaffinity(0))
        patterns = self.config.getini("norecursedirs")
        opened = [
            self.runner.datasets.open(path)
            for path in dataset_files_below(self._roots(), patterns)
        ]
        known = [one for one in opened if isinstance(one, LazyDataset)]
        if len(known) == len(opened):
            ids = {one.name: [lazy.case.case_id for lazy in one.cases] for one in known}
            self.selection.check_names(self._roots(), ids)

    def _refuse_misnamed(self) -> None:
        """Refuse a file that may be a dataset file, and would not be collected.

        Raises:
            ConfigError: There is one on the command line.
        """
        for path in self._roots():
            if (
                path.suffix == ".toml"
                and path.is_file()
                and not is_dataset_file(path)
                and path.name != CASE_FILE
            ):
                better = path.with_name(f"{path.stem}.{DATASET_FILE}").name
                raise ConfigError(
                    relative(path),
                    "",
                    "is no case, and no dataset file by its name: that is "
                    f"{DATASET_FILE!r} or ends in '.{DATASET_FILE}'; if it is one, "
                    f"name it {better!r}",
                )

    def _stay_in_touch(self, session: pytest.Session, scratch: Path) -> None:
        """Heed Ctrl-C, and show where the run is if there is somebody to see it."""
        plugins = self.config.pluginmanager
        interrupting = Interrupting(
            self.config, scratch / STOP_FILE, self.runner.run_directory
        )
        plugins.register(interrupting, "codegenie-interrupting")
        interrupting.begin(session)
        if draws_for(self.config):
            progress = scratch / "progress"
            progress.mkdir()
            live = LiveDisplay(self.config, progress, interrupting.notice)
            # None with -p no:codegenie-live.
            if plugins.register(live, "codegenie-live"):
                self.runner.progress_directory = progress

    @property
    def _manifest(self) -> Path:
        assert self._scratch is not None
        return self._scratch.path / "corpus.json"

    @property
    def _opened(self) -> Path:
        assert self._scratch is not None
        return self._scratch.path / "datasets.json"

    def _roots(self) -> Iterator[Path]:
        for argument in self.config.args:
            path = self.config.invocation_params.dir / argument.partition("::")[0]
            if path.exists():
                # As pytest does it, so that a worker finds the path: no link resolved.
                yield Path(os.path.abspath(path))  # noqa: PTH100

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist what it takes part in."""
        node.workerinput[WORKER_KEY] = {
            "run_id": self.runner.run_id,
            "workspace": self.runner.settings.workspace,
            "run_directory": str(self.runner.run_directory or ""),
            "resumes": self.runner.resumption and self.runner.resumption.recorded.size,
            "scratch": str(self.runner.scratch),
            "progress": str(self.runner.progress_directory or ""),
            "manifest": str(self._manifest),
            "datasets": str(self._opened),
            "announces": self._workers == 0,
            "each": self.config.option.dist == "each",
            "graded": str(self.runner.grading.run.directory)
            if self.runner.grading is not None
            else "",
        }
        self._workers += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Record what is to run, as the first worker says it."""
        self._record_selected(ids, self._digests)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make it an ERROR that a worker died: it says nothing of the agent."""
        report.when = "setup"
        result = self.runner.record_crash(
            self._case_directory(crashitem),
            plain_nodeid(crashitem).partition("::")[2],
            str(report.longrepr),
            alone=self.config.option.dist != "each",
        )
        if result is not None and result.outcome != "error":
            place = artifacts_place(result_key(result), result.attempt)
            artifacts = self.runner.run_directory and self.runner.run_directory / place
            _report_as(report, result, artifacts, told=crashitem in self._told)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record what is to run."""
        if session.items:
            cases = [item.case for item in session.items if isinstance(item, CaseItem)]
            self._record_selected(
                [item.nodeid for item in session.items],
                {case.directory: case.case_digest for case in cases if case},
            )

    def _record_selected(
        self, nodeids: Sequence[str], digests: Mapping[Path, str]
    ) -> None:
        """Record what is to run, and what it is made of.

        Args:
            nodeids: Of the items, in order.
            digests: Of cases, by directory; others may be among them.
        """
        if self._recording is None:
            return
        with usage_errors():
            self._recording.selected(
                nodeids,
                dict.fromkeys(map(self._case_directory, nodeids)),
                {**digests, **self.runner.corpus.lazy.digests()},
                self.runner.corpus.rubric_digest,
            )
            if self._gates is not None:
                record = self._recording.record
                self._gates.check_selected(record.case_digests, record.rubric_digests)

    def _case_directory(self, nodeid: str) -> Path:
        """Return the directory of an item's case."""
        file, _, name = nodeid.partition("::")
        return self.runner.corpus.case_directory(self.config.rootpath / file, name)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which items were told of, and are not over yet."""
        if report.when == "call":
            self._told.add(report.nodeid)
        elif report.when == "teardown":
            self._told.discard(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Finish the run's records, judge its gates and set the exit code."""
        recording, gates, unfinished = self._recording, self._gates, ""
        if recording is not None:
            unfinished = self._ending.unfinished(recording.record.items)
            recording.finish(self.config, self.runner.parts.reporters)
            self._ending.stop(recording.exit_code)
            if gates is not None:
                gates.judge(recording.run, recording.groups, unfinished)
                recording.add_suite_properties(self.config, gates.suite_properties())
        session.exitstatus = self._ending.exit_code(
            int(session.exitstatus),
            whole=not unfinished,
            gates=None if gates is None else gates.met,
            bounds=gates is not None and gates.bounds,
        )

    def take_budget(self, lines: Sequence[str], code: int) -> None:
        """Take what the budget came to.

        Args:
            lines: For the summary.
            code: What the session ends in where not all was run: no report is complete
                then. 0: all was.
        """
        if self._recording is not None:
            self._recording.notes += lines
            self._recording.is_cut_short = bool(code)
        self._ending.stop(code)

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Show what the run came to, where it is, and whether it meets its gates."""
        if self._recording is not None:
            self._recording.show(terminalreporter)
        if self._gates is not None and exitstatus != pytest.ExitCode.USAGE_ERROR:
            self._gates.show(terminalreporter)

    def pytest_unconfigure(self) -> None:
        """Stop logging; clean up, now that no worker of xdist is left."""
        logs.log_to(None)
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
        if self.runner.resumption is not None:
            self.runner.resumption.recorded.close()
        if self._recording is not None:
            self._recording.close()


def _report_as(
    report: pytest.TestReport,
    result: CaseResult,
    artifacts: Path | None,
    *,
    told: bool,
) -> None:
    """Let a report be of a result, whose worker died when it was on record.

    Args:
        report: Of the crash.
        result: Passed, or failed.
        artifacts: Of the result.
        told: The outcome was reported already.
    """
    report.when = "teardown" if told else "call"
    report.outcome = "passed"
    report.longrepr = None
    if not told:
        report.user_properties += result_properties(result, artifacts)
        if result.outcome == "failed":
            report.outcome = "failed"
            report.longrepr = "\n".join(describe(result, artifacts))


def _new_run_id() -> str:
    return f"{utc_now():%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
