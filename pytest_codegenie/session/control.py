"""The hooks of a session: who does what in which process.

Without xdist one process does all. With xdist the controller hashes the corpus, makes
the run's directory and reports; each worker collects, runs cases and records results.
"""

from __future__ import annotations

import contextlib
import gc
import os
import secrets
import traceback
from collections.abc import Generator
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie import logs
from pytest_codegenie.config import RunConfig
from pytest_codegenie.corpus import check_task_class
from pytest_codegenie.corpus import read_task
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import append_result
from pytest_codegenie.harness import make_job
from pytest_codegenie.harness import run_case
from pytest_codegenie.harness import unfinished_result
from pytest_codegenie.harness import validate_case
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import PartTable
from pytest_codegenie.models import utc_now
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.corpus import SessionCorpus
from pytest_codegenie.session.corpus import write_manifest
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.items import CaseNotJudged
from pytest_codegenie.session.items import CorpusFaulty
from pytest_codegenie.session.items import ValidationItem
from pytest_codegenie.session.items import make_case_item
from pytest_codegenie.session.nodes import CASE_FILE
from pytest_codegenie.session.nodes import MARKERS
from pytest_codegenie.session.nodes import SOURCE
from pytest_codegenie.session.nodes import CaseFile
from pytest_codegenie.session.nodes import ItemSource
from pytest_codegenie.session.nodes import TaskClassDirectory
from pytest_codegenie.session.nodes import collect_directory
from pytest_codegenie.session.nodes import is_case_directory
from pytest_codegenie.session.nodes import label_item
from pytest_codegenie.session.recording import RunRecording
from pytest_codegenie.session.scratch import Scratch
from pytest_codegenie.session.scratch import sweep
from pytest_codegenie.session.settings import BuiltinParts
from pytest_codegenie.session.settings import gather_parts
from pytest_codegenie.session.settings import read_settings


_WORKER_KEY = "codegenie"
#: An attribute of reports: xdist carries what a report has beyond pytest's own.
_EXIT_CODE = "codegenie_exit_code"
#: They are said of the corpus, whenever they are found, and decide the exit code.
_CORPUS_FAULTS = (BenchCaseDigestMismatch, BenchCaseLoadError, CorpusFaulty)


def start(config: pytest.Config) -> None:
    """Add the session's hooks to a pytest that was started with ``--codegenie``.

    Raises:
        pytest.UsageError: A setting is wrong.
    """
    for name, description in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {description}")
    config.pluginmanager.register(BuiltinParts(), "codegenie-parts")
    with _usage_errors():
        parts = gather_parts(config.hook)
        settings = read_settings(config, parts)
    worker = getattr(config, "workerinput", {}).get(_WORKER_KEY)
    if worker is None:
        plugin: Collection = Controller(config, settings, parts)
    else:
        plugin = Worker(config, settings, parts, worker)
    config.pluginmanager.register(plugin, "codegenie-session")


class Collection:
    """Collecting cases and running them: in the only process, or in each worker."""

    def __init__(
        self, config: pytest.Config, settings: RunConfig, parts: PartTable
    ) -> None:
        self.config = config
        self.settings = settings
        self.parts = parts
        self.corpus = SessionCorpus()
        self.run_id = ""
        #: None where nothing is recorded: with --collect-only or --codegenie-validate.
        self.run_directory: Path | None = None
        self.scratch: Path | None = None
        #: Tells the artifacts of workers apart that run the same case (--dist each).
        self.artifacts_suffix = ""
        self.validating: bool = config.option.codegenie_validate

    # -- collection --------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out whatever is no case; no ignore rule hides one."""
        if collection_path.is_dir():
            return False if self._in_bench(collection_path) else None
        return not (
            collection_path.name == CASE_FILE
            and is_case_directory(collection_path.parent)
        )

    @staticmethod
    def _in_bench(path: Path) -> bool:
        return (path / "registration.py").is_file() or "cases" in path.parts[-2:]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(
        self, path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Make our nodes for a bench's directories, plain ones for all others."""
        node = collect_directory(path, parent)
        return node or pytest.Dir.from_parent(parent, path=path)

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Make the node of a case.toml that is reached from inside of a case."""
        if file_path.name == CASE_FILE and is_case_directory(file_path.parent):
            file: CaseFile = CaseFile.from_parent(parent, path=file_path)
            return file
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Give the nodes what they need."""
        self.config.stash[SOURCE] = ItemSource(
            self.corpus, self._make_items, self._make_class_items
        )
        with _garbage_left():
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Report what does not verify, each problem once; run nothing then."""
        if not self.config.option.collectonly:
            self.corpus.check_tasks(
                item.case for item in items if isinstance(item, CaseItem)
            )
        problems = self.corpus.problems
        if problems:
            items.clear()
        for problem in problems:
            report = pytest.CollectReport(
                nodeid=relative_to(problem.path, self.config.rootpath),
                outcome="failed",
                longrepr=str(problem.error),
                result=[],
            )
            setattr(report, _EXIT_CODE, problem.error.exit_code)
            self.config.hook.pytest_collectreport(report=report)

    def _make_items(
        self, file: CaseFile, case: BenchCase | None
    ) -> Iterable[pytest.Item]:
        if self.validating:
            yield from self._make_validation_items(file, case)
            return
        for name, agent, trial in self._attempts(file.path.parent.name):
            yield make_case_item(
                file,
                name,
                case=case,
                agent=agent,
                job=self._job_maker(case, agent, trial),
                obtain=self._obtain,
            )

    def _attempts(self, case_id: str) -> Iterator[tuple[str, AgentSpec, int]]:
        """Yield (name of the item, agent, trial) for all that is done with a case."""
        for agent in self.settings.agents:
            for trial in range(1, self.settings.trials + 1):
                suffix = f"-t{trial}" if self.settings.trials > 1 else ""
                yield f"{case_id}[{agent.label}{suffix}]", agent, trial

    def _make_validation_items(
        self, file: CaseFile, case: BenchCase | None
    ) -> Iterable[pytest.Item]:
        def check() -> Any:
            assert case is not None
            return validate_case(
                case,
                lambda name: self._job(case, AgentSpec(name=name, label=name), 1),
            )

        item: ValidationItem = ValidationItem.from_parent(
            file, name=f"{file.path.parent.name}[validate]", check=check
        )
        if case is not None:
            label_item(item, case, None)
        yield item

    def _make_class_items(self, node: TaskClassDirectory) -> Iterable[pytest.Item]:
        if self.validating:
            yield ValidationItem.from_parent(
                node,
                name=f"{node.path.name}[validate]",
                check=lambda: check_task_class(node.path)[0],
            )

    # -- running -----------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item
    ) -> Generator[None, object, object]:
        """Let pytest-timeout guard the item from outside; it looks after this."""
        if isinstance(item, CaseItem) and self.config.pluginmanager.hasplugin(
            "timeout"
        ):
            guard = pytest.mark.timeout(
                # By a signal: the other method ends the whole session.
                self._guard_seconds(item),
                method="signal",
                func_only=False,
            )
            item.add_marker(guard)
        return (yield)

    def _guard_seconds(self, item: CaseItem) -> float:
        """Return all limits of an item together, and the margin."""
        job = item.make_job()
        tests_limit = job.case.timeout_seconds or job.timeout_seconds
        # One that cannot be read says so when it runs.
        with contextlib.suppress(CodegenieError):
            tests_limit = read_task(job.case).tests.timeout_seconds or tests_limit
        return (
            job.agent_limit_seconds
            + tests_limit
            + job.case.rubric_wall_clock_seconds
            + self.settings.timeout_margin
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a corpus that is faulty, or changed during the run, be the exit code."""
        report = yield
        if call.excinfo is None:
            return report
        error: BaseException | None = call.excinfo.value
        if isinstance(error, CaseNotJudged):
            report.longrepr = item.repr_failure(call.excinfo)
            error = error.cause
        if isinstance(error, _CORPUS_FAULTS):
            setattr(report, _EXIT_CODE, error.exit_code)
        return report

    def _job_maker(self, case: BenchCase | None, agent: AgentSpec, trial: int) -> Any:
        def make() -> CaseJob:
            assert case is not None, "a case that does not verify is never run"
            return self._job(case, agent, trial)

        return make

    def _job(self, case: BenchCase, agent: AgentSpec, trial: int) -> CaseJob:
        directory = case.directory.parent.parent
        task_class = self.corpus.task_class(directory)
        assert task_class is not None
        place = f"cases/{case.case_id}/{agent.label}-t{trial}{self.artifacts_suffix}"
        return make_job(
            case,
            task_class,
            agent,
            parts=self.parts,
            run_id=self.run_id,
            trial=trial,
            workspace=self.settings.workspace,
            timeout_seconds=self.settings.timeout,
            keep=self.settings.keep,
            scratch_root=self.scratch,
            run_directory=self.run_directory,
            artifacts_path=place,
            rubric_digest=self.corpus.rubric_digest(directory),
        )

    def _obtain(self, item: CaseItem) -> CaseResult:
        """Run an item's case and record the result, before anybody hears of it."""
        job = item.make_job()
        started_at = utc_now()
        self._log("case.started", item=item.nodeid)
        try:
            result = run_case(job)
        except CodegenieError as exc:
            self._stop_for(item, exc)
            raise
        except pytest.fail.Exception as exc:
            # pytest-timeout: the harness itself hangs.
            reason = f"the harness did not end: {exc.msg}"
            result = unfinished_result(
                job, code="workspace.error", reason=reason, started_at=started_at
            )
        except Exception as exc:
            # A harness is anybody's code, and a disk may be full.
            self._log("harness.broke", item=item.nodeid, trace=traceback.format_exc())
            reason = f"the harness broke: {type(exc).__name__}: {exc}"
            result = unfinished_result(
                job, code="workspace.error", reason=reason, started_at=started_at
            )
        assert self.run_directory is not None
        try:
            append_result(self.run_directory, result)
        except RunStoreError as exc:
            self._stop_for(item, exc)
            raise
        self._log("case.ended", item=item.nodeid, outcome=result.outcome)
        return result

    @staticmethod
    def _log(event_type: str, **payload: Any) -> None:
        # A full disk stops the session where a result cannot be recorded.
        with contextlib.suppress(OSError):
            logs.emit(event_type, **payload)

    def _stop_for(self, item: pytest.Item, error: CodegenieError) -> None:
        """Start no further case: the corpus, or the record, cannot be trusted."""
        item.session.shouldstop = str(error).partition("\n")[0]


class Worker(Collection):
    """A worker of xdist."""

    def __init__(
        self,
        config: pytest.Config,
        settings: RunConfig,
        parts: PartTable,
        given: dict[str, Any],
    ) -> None:
        super().__init__(config, settings, parts)
        self.run_id = given["run_id"]
        self.scratch = Path(given["scratch"])
        self.corpus = SessionCorpus(
            Path(given["manifest"]), announce=given["announces"]
        )
        if given["run_directory"]:
            self.run_directory = Path(given["run_directory"])
            logs.log_to(self.run_directory / "log.jsonl")
        else:
            logs.log_to(Path(os.devnull))
        if given["each"]:
            self.artifacts_suffix = f"-{config.workerinput['workerid']}"  # type: ignore[attr-defined]

    def pytest_unconfigure(self) -> None:
        """Stop logging."""
        logs.log_to(None)


class Controller(Collection):
    """The only process, or the controller of xdist."""

    def __init__(
        self, config: pytest.Config, settings: RunConfig, parts: PartTable
    ) -> None:
        super().__init__(config, settings, parts)
        self.run_id = settings.run_id or _new_run_id()
        self._scratch: Scratch | None = None
        self._recording: RunRecording | None = None
        self._exit_code: int | None = None
        self._workers = 0

    def pytest_report_header(self) -> list[str]:
        """Say who works where."""
        agents = ", ".join(agent.label for agent in self.settings.agents)
        name = self.settings.workspace
        workspace = make_part("workspace", name, self.parts.workspaces)
        who = "validating the corpus" if self.validating else f"agents: {agents}"
        return [f"codegenie: {who}; workspace: {name} ({workspace.isolation})"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Make the run's directory; hash the corpus for the workers, if there are any.

        This comes before xdist starts them.
        """
        option = self.config.option
        sweep()
        self._scratch = Scratch(self.run_id)
        self.scratch = self._scratch.path
        if not option.collectonly and not self.validating:
            with _usage_errors():
                self._recording = RunRecording.begin(
                    self.config, self.settings, self.run_id
                )
            self.run_directory = self._recording.directory
            logs.log_to(self.run_directory / "log.jsonl")
        else:
            logs.log_to(Path(os.devnull))  # no run, no log; not the terminal either
        if self.config.pluginmanager.hasplugin("dsession"):
            write_manifest(self._manifest, self._roots())

    @property
    def _manifest(self) -> Path:
        assert self._scratch is not None
        return self._scratch.path / "corpus.json"

    def _roots(self) -> Iterator[Path]:
        for argument in self.config.args:
            path = self.config.invocation_params.dir / argument.partition("::")[0]
            if path.exists():
                # As pytest does it, so that a worker finds the path: no link resolved.
                yield Path(os.path.abspath(path))  # noqa: PTH100

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist what it takes part in."""
        node.workerinput[_WORKER_KEY] = {
            "run_id": self.run_id,
            "run_directory": str(self.run_directory or ""),
            "scratch": str(self.scratch),
            "manifest": str(self._manifest),
            "announces": self._workers == 0,
            "each": self.config.option.dist == "each",
        }
        self._workers += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Record what is to run, as the first worker says it."""
        if self._recording is not None:
            with _usage_errors():
                self._recording.selected(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make it an ERROR that a worker died: it says nothing of the agent."""
        report.when = "setup"
        if self.run_directory is not None:
            self._record_crash(crashitem, str(report.longrepr))

    def _record_crash(self, nodeid: str, reason: str) -> None:
        """Record the result of an item that took its worker with it."""
        assert self.run_directory is not None
        file, _, name = nodeid.partition("::")
        case = self.corpus.case((self.config.rootpath / file).parent)
        if case is None:
            return  # the other workers say what is wrong with it
        for attempt, agent, trial in self._attempts(case.case_id):
            if attempt == name:
                result = unfinished_result(
                    self._job(case, agent, trial),
                    code="workspace.error",
                    reason=reason,
                    started_at=utc_now(),
                )
                # It cannot be recorded on a full disk; it is an ERROR all the same.
                with contextlib.suppress(RunStoreError):
                    append_result(self.run_directory, result)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record what is to run."""
        if self._recording is not None and session.items:
            cases = [item.case for item in session.items if isinstance(item, CaseItem)]
            digests = {
                f"{case.task_class}/{case.case_id}": case.case_digest
                for case in cases
                if case is not None
            }
            with _usage_errors():
                self._recording.selected(
                    [item.nodeid for item in session.items], digests
                )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take the exit code of what does not verify, from workers too."""
        self._take_exit_code(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the exit code of a case that changed during the run."""
        self._take_exit_code(report)

    def _take_exit_code(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        code = getattr(report, _EXIT_CODE, None)
        if code is not None:
            self._exit_code = max(self._exit_code or 0, code)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Finish the run's records and set the exit code."""
        if self._recording is not None:
            self._recording.finish(self.config)
        if self._exit_code is not None:
            session.exitstatus = self._exit_code

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show what the run came to and where it is."""
        if self._recording is not None:
            self._recording.show(terminalreporter)

    def pytest_unconfigure(self) -> None:
        """Stop logging; clean up, now that no worker of xdist is left."""
        logs.log_to(None)
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None


@contextlib.contextmanager
def _garbage_left() -> Iterator[None]:
    """Do not look for garbage in the block: what is collected stays, all of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _usage_errors() -> Iterator[None]:
    """Let pytest show an error of ours that is found before anything runs."""
    try:
        yield
    except CodegenieError as exc:
        raise pytest.UsageError(str(exc)) from exc


def relative_to(path: Path, root: Path) -> str:
    """Return a path as node ids have it."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return relative(path)


def _new_run_id() -> str:
    return f"{utc_now():%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
