"""The collection tree: bench / task class / cases / case / case.toml / items.

Or a dataset file and its items.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pluggy
import pytest

from pytest_codegenie.corpus import case_directories
from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.session.corpus import SessionCorpus


CASE_FILE = "case.toml"


@dataclass(frozen=True, slots=True)
class CasePlace:
    """What items say of their case, whether or not it holds."""

    case_id: str
    #: The directory of its task class.
    task_class: Path
    #: None where the case does not verify.
    case: BenchCase | None


@dataclass(frozen=True, slots=True)
class ItemSource:
    """What the nodes need to know of the session."""

    corpus: SessionCorpus
    #: Makes the items of a case, below a node.
    make_items: Callable[[pytest.Collector, CasePlace], Iterable[pytest.Item]]
    #: Makes items of a task class as a whole.
    make_class_items: Callable[[TaskClassDirectory], Iterable[pytest.Item]]


SOURCE = pytest.StashKey[ItemSource]()


def collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return our node for a directory of a bench; None where it is not ours."""
    if is_task_class(path):
        return TaskClassDirectory.from_parent(parent, path=path)
    if path.name == "cases" and is_task_class(path.parent):
        return CasesDirectory.from_parent(parent, path=path)
    if is_case_directory(path):
        return CaseDirectory.make(parent, path)
    return None


def is_case_directory(path: Path) -> bool:
    """Tell whether ``path`` is a directory in a task class's ``cases/``."""
    return path.parent.name == "cases" and is_task_class(path.parent.parent)


class _BenchDirectory(pytest.Directory):
    """A directory whose children we know without asking any hook."""

    @property
    def source(self) -> ItemSource:
        return self.config.stash[SOURCE]


class TaskClassDirectory(_BenchDirectory):
    """``bench/<task class>``."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Yield ``cases/``.

        Also where the task class does not hold: a node id on the command line has to
        be found, or pytest would say that instead of what is wrong.
        """
        if self.source.corpus.task_class(self.path) is not None:
            yield from self.source.make_class_items(self)
        yield CasesDirectory.from_parent(self, path=self.path / "cases")


class CasesDirectory(_BenchDirectory):
    """``bench/<task class>/cases``."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Yield each case's directory, by name."""
        listing = self.source.corpus.listing(self.path.parent)
        for path in listing.directories if listing else case_directories(self.path):
            yield CaseDirectory.make(self, path)


class CaseDirectory(pytest.Collector):
    """``bench/<task class>/cases/<case id>``.

    No ``pytest.Directory``: pytest would run a ``conftest.py`` that lies in it, before
    anybody knows what it is.
    """

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path) -> CaseDirectory:
        """Return the node of a case's directory; ``parent`` is that of ``cases/``."""
        node: CaseDirectory = cls.from_parent(
            parent, name=path.name, path=path, nodeid=_nodeid_below(parent, path.name)
        )
        return node

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks of ``cases/``: there are no others in a case."""
        assert self.parent is not None
        return self.session.gethookproxy(self.parent.path)

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Yield ``case.toml``."""
        yield CaseFile.make(self, self.path / CASE_FILE)


class CaseFile(pytest.File):
    """``bench/<task class>/cases/<case id>/case.toml``."""

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path) -> CaseFile:
        """Return the node of a case's file; ``parent`` is that of its directory."""
        node: CaseFile = cls.from_parent(
            parent, name=CASE_FILE, path=path, nodeid=_nodeid_below(parent, CASE_FILE)
        )
        return node

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks of ``cases/``: there are no others in a case."""
        assert self.parent is not None
        return self.parent.ihook

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Yield one item for each agent and trial.

        A case that does not verify yields its items too, so that a node id on the
        command line is found; the session stops before any of them runs.
        """
        source = self.config.stash[SOURCE]
        directory = self.path.parent
        case = source.corpus.case(directory)
        place = CasePlace(directory.name, directory.parents[1], case)
        yield from source.make_items(self, place)


class DatasetFileNode(pytest.File):
    """A dataset file: its cases are items, and none of them is written yet."""

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path) -> DatasetFileNode:
        """Return the node of a dataset file.

        To a file outside of the root directory pytest would give no node id that says
        which it is, and the record of a run is made of node ids.
        """
        inside = path.is_relative_to(parent.config.rootpath)
        nodeid = None if inside else path.as_posix()
        node: DatasetFileNode = cls.from_parent(parent, path=path, nodeid=nodeid)
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Yield one item for each case, agent and trial.

        Where the file does not hold, what was asked for by node id is yielded, so that
        it is found; the session stops before any of it runs.
        """
        source = self.config.stash[SOURCE]
        dataset = source.corpus.dataset(self.path)
        if dataset is None:
            for name in self._asked_for():
                place = CasePlace(name, self.path.parent, None)
                yield from source.make_items(self, place)
            return
        for lazy in dataset.cases:
            place = CasePlace(lazy.case.case_id, dataset.task_class, lazy.case)
            yield from source.make_items(self, place)

    def _asked_for(self) -> Iterable[str]:
        """Yield the ids of cases of this file on the command line."""
        directory = self.config.invocation_params.dir
        for argument in dict.fromkeys(self.config.args):
            path, _, name = argument.partition("::")
            # As pytest does it: no link resolved.
            if name and os.path.abspath(directory / path) == str(self.path):  # noqa: PTH100
                yield name.partition("[")[0]


def _nodeid_below(parent: pytest.Collector, name: str) -> str:
    """Return what pytest would make of the path, without comparing paths."""
    return name if parent.nodeid in ("", ".") else f"{parent.nodeid}/{name}"


def label_item(item: pytest.Item, case: BenchCase, agent: AgentSpec | None) -> None:
    """Give an item the marks and the ``-k`` keywords of its case."""
    words: Sequence[str] = (
        case.case_id,
        case.task_class,
        *([agent.label, agent.name] if agent else []),
        case.difficulty,
        case.disposition,
        case.curation_class,
        case.source,
        *case.tags,
    )
    item.extra_keyword_matches.update(words)
    for name in (
        "codegenie",
        case.difficulty,
        case.disposition,
        case.curation_class.replace("-", "_"),
    ):
        mark = _mark(name)
        item.own_markers.append(mark)
        item.keywords[name] = mark


def _mark(name: str) -> Any:
    mark = _MARKS.get(name)
    if mark is None:
        mark = _MARKS[name] = getattr(pytest.mark, name).mark
    return mark


_MARKS: dict[str, Any] = {}

#: Names and descriptions of the marks, for ``--strict-markers`` and ``--markers``.
MARKERS = {
    "codegenie": "a bench case of pytest-codegenie",
    "easy": "a bench case of difficulty easy",
    "medium": "a bench case of difficulty medium",
    "hard": "a bench case of difficulty hard",
    "positive": "a bench case with something to do",
    "negative": "a bench case whose right answer is to change nothing",
    "ambiguous": "a bench case that is reported and never counted",
    "held_out": "a bench case that no corpus was made from",
    "rag_corpus_derived": "a bench case derived from a retrieval corpus",
}
