"""From directories to items, and from what does not verify to pytest's own errors."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.corpus import TIERS
from pytest_codegenie.corpus import Complaint
from pytest_codegenie.corpus import check_task_class
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.promotion.tiers import held_out_needed
from pytest_codegenie.harness import validate_case
from pytest_codegenie.importing.dataset_file import is_dataset_file
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.session.corpus import Problem
from pytest_codegenie.session.exit_codes import EXIT_CODE
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.items import CaseNotJudged
from pytest_codegenie.session.items import CorpusFaulty
from pytest_codegenie.session.items import ValidationItem
from pytest_codegenie.session.items import make_case_item
from pytest_codegenie.session.nodes import CASE_FILE
from pytest_codegenie.session.nodes import SOURCE
from pytest_codegenie.session.nodes import CaseFile
from pytest_codegenie.session.nodes import CasePlace
from pytest_codegenie.session.nodes import DatasetFileNode
from pytest_codegenie.session.nodes import ItemSource
from pytest_codegenie.session.nodes import TaskClassDirectory
from pytest_codegenie.session.nodes import collect_directory
from pytest_codegenie.session.nodes import is_case_directory
from pytest_codegenie.session.nodes import label_item
from pytest_codegenie.session.resuming import FROM_RECORD
from pytest_codegenie.session.resuming import RECORDED_SECONDS
from pytest_codegenie.session.running import Runner
from pytest_codegenie.session.selection import Selection
from pytest_codegenie.session.settings import configured


#: They are said of the corpus, whenever they are found, and decide the exit code.
_CORPUS_FAULTS = (
    *(BenchCaseDigestMismatch, BenchCaseLoadError),
    *(CorpusFaulty, DatasetError),
)


class Collection:
    """Collecting cases as items: in the only process, or in each worker."""

    def __init__(self, config: pytest.Config, runner: Runner) -> None:
        self.config = config
        self.runner = runner
        self.validating: bool = config.option.codegenie_validate
        self.selection = Selection(configured(config))

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out whatever is no case; no ignore rule hides one.

        A dataset file is left to the rules: others may call a file of theirs so.
        """
        if collection_path.is_dir():
            return False if self._in_bench(collection_path) else None
        if is_dataset_file(collection_path):
            return None
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
        """Make the node of a dataset file, or of a case.toml, reached from inside."""
        if is_dataset_file(file_path):
            return DatasetFileNode.make(parent, file_path)
        if file_path.name == CASE_FILE and is_case_directory(file_path.parent):
            file: CaseFile = CaseFile.from_parent(parent, path=file_path)
            return file
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Give the nodes what they need."""
        self.config.stash[SOURCE] = ItemSource(
            self.runner.corpus, self._make_items, self._make_class_items
        )
        with _garbage_left():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Leave out what is not selected; report what does not verify.

        Around all others: what ``--lf`` leaves is what a limit cuts.
        """
        self._keep(items, self.selection.matching(items))
        grading = self.runner.grading
        if grading is not None:
            self._keep(items, [item for item in items if grading.has(item)])
        yield
        self._keep(items, self.selection.first(items))
        # What needs no time comes first: then it is known at once how far a run is. But
        # with -x a failure on record would end each session that goes on with the run.
        last = bool(self.config.getoption("maxfail"))
        items.sort(key=lambda item: self._has_verdict(item) is last)
        self._report_problems(items)

    def _keep(self, items: list[pytest.Item], kept: Sequence[pytest.Item]) -> None:
        if len(kept) < len(items):
            chosen = {*map(id, kept)}
            left_out = [item for item in items if id(item) not in chosen]
            self.config.hook.pytest_deselected(items=left_out)
            items[:] = kept

    def _report_problems(self, items: list[pytest.Item]) -> None:
        """Report what does not verify, each problem once; run nothing then."""
        if not self.config.option.collectonly:
            self.runner.corpus.check_tasks(
                item.case
                for item in items
                if isinstance(item, CaseItem) and not self.runner.has_verdict(item)
            )
        problems = [
            *self.runner.corpus.problems,
            *self._differences(items),
            *self._not_gradable(items),
        ]
        if problems:
            items.clear()
        for problem in problems:
            report = pytest.CollectReport(
                nodeid=_relative_to(problem.path, self.config.rootpath),
                outcome="failed",
                longrepr=str(problem.error),
                result=[],
            )
            setattr(report, EXIT_CODE, problem.error.exit_code)
            self.config.hook.pytest_collectreport(report=report)

    def _has_verdict(self, item: pytest.Item) -> bool:
        return isinstance(item, CaseItem) and self.runner.has_verdict(item)

    def _differences(self, items: Sequence[pytest.Item]) -> Iterator[Problem]:
        """Yield what differs from the run that the session goes on with."""
        resumption = self.runner.resumption
        if resumption is None:
            return
        cases = [i for i in items if isinstance(i, CaseItem) and i.case is not None]
        classes = {item.task_class: item.task_class.name for item in cases}
        for error in resumption.problems(
            [(item.nodeid, item.case) for item in cases],
            {name: self.runner.corpus.rubric_digest(p) for p, name in classes.items()},
        ):
            yield Problem(resumption.directory, error)

    def _not_gradable(self, items: Sequence[pytest.Item]) -> Iterator[Problem]:
        """Yield why the patches of an earlier run cannot be judged again."""
        cases = [i for i in items if isinstance(i, CaseItem) and i.case is not None]
        if self.runner.grading is None or self.config.option.collectonly or not cases:
            return
        try:
            self.runner.grading.check(item.make_job() for item in cases)
        except CodegenieError as exc:
            yield Problem(self.runner.grading.run.directory, exc)

    def _make_items(
        self, parent: pytest.Collector, place: CasePlace
    ) -> Iterable[pytest.Item]:
        if self.validating:
            yield from self._make_validation_items(parent, place)
            return
        for name, agent, trial in self.runner.attempts(place.case_id):
            yield make_case_item(
                parent,
                name,
                place,
                agent=agent,
                job=self.runner.job_maker(place.case, agent, trial),
                obtain=self.runner.obtain,
            )

    def _make_validation_items(
        self, parent: pytest.Collector, place: CasePlace
    ) -> Iterable[pytest.Item]:
        case = place.case

        def check() -> Any:
            assert case is not None
            self.runner.corpus.lazy.provide(case)
            complaints = validate_case(
                case,
                lambda name: self.runner.job(case, AgentSpec(name=name, label=name), 1),
            )
            if case.directory not in self.runner.corpus.lazy:
                return complaints
            where = f"{relative(parent.path)}: {case.case_id}"
            return [replace(one, place=where) for one in complaints]

        item: ValidationItem = ValidationItem.from_parent(
            parent,
            name=f"{place.case_id}[validate]",
            case_id=place.case_id,
            task_class=place.task_class,
            check=check,
            case=case,
        )
        if case is not None:
            label_item(item, case, None)
        yield item

    def _make_class_items(self, node: TaskClassDirectory) -> Iterable[pytest.Item]:
        if self.validating:
            yield ValidationItem.from_parent(
                node,
                name=f"{node.path.name}[validate]",
                case_id=None,
                task_class=node.path,
                check=lambda: self._check_task_class(node.path),
            )

    def _check_task_class(self, directory: Path) -> Sequence[Complaint]:
        tiers = held_out_needed(self.config.rootpath) or TIERS
        return check_task_class(directory, tiers=tiers)[0]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item
    ) -> Generator[None, object, object]:
        """Let pytest-timeout guard the item from outside; it looks after this."""
        if (
            isinstance(item, CaseItem)
            and self.config.pluginmanager.hasplugin("timeout")
            and not self.runner.has_verdict(item)
        ):
            guard = pytest.mark.timeout(
                # By a signal: the other method ends the whole session.
                self.runner.guard_seconds(item),
                method="signal",
                func_only=False,
            )
            item.add_marker(guard)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a corpus that is faulty, or changed during the run, be the exit code."""
        report = yield
        seconds = item.stash.get(RECORDED_SECONDS, None)
        if seconds is not None:
            setattr(report, FROM_RECORD, True)
            if call.when == "setup":
                report.duration = seconds
        if call.excinfo is None:
            return report
        error: BaseException | None = call.excinfo.value
        if isinstance(error, CaseNotJudged):
            report.longrepr = item.repr_failure(call.excinfo)
            error = error.cause
        if isinstance(error, _CORPUS_FAULTS):
            setattr(report, EXIT_CODE, error.exit_code)
        return report


@contextlib.contextmanager
def _garbage_left() -> Iterator[None]:
    """Do not look for garbage in the block, nor later in what it made.

    What is collected stays to the session's end, all of it; going over it again and
    again is a fifth of the time that a large bench takes.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def _relative_to(path: Path, root: Path) -> str:
    """Return a path as node ids have it."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return relative(path)
