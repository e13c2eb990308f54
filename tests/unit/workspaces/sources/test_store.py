"""What is fetched is fetched once, kept, checked, and fetched again when damaged."""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

import pytest
from support_sources import Origin
from support_sources import contents
from support_sources import make_sdist

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.task_files import Repository
from pytest_codegenie.workspaces import provide_source
from pytest_codegenie.workspaces.sources import foresee_source
from pytest_codegenie.workspaces.sources import kept_sources
from pytest_codegenie.workspaces.sources.store import provide


@dataclass
class Counted:
    """Code that notes how often it is fetched, in a file."""

    log: Path
    files: dict[str, str] = field(default_factory=lambda: {"a.txt": "a", "d/b": "b"})
    key: str = "git-1"
    shown: str = "the code"

    def fetch(self, directory: Path, seconds: float) -> Path:
        with self.log.open("a", encoding="ascii") as file:
            file.write(f"{seconds:g}\n")
        for name, text in self.files.items():
            (directory / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / "tree" / name).write_text(text, encoding="utf-8")
        (directory / "tree" / "link").symlink_to("/outside")
        return directory / "tree"

    @property
    def times(self) -> int:
        return len(self.log.read_text("ascii").split())


def test_the_same_is_fetched_once(tmp_path: Path) -> None:
    wanted = Counted(tmp_path / "log")
    trees = {provide(wanted, tmp_path / "cache", 5) for _ in range(3)}
    assert (len(trees), wanted.times) == (1, 1)
    (tree,) = trees
    assert contents(tree) == {"a.txt": b"a", "d/b": b"b"}
    provide(Counted(tmp_path / "log", key="git-2"), tmp_path / "cache", 5)
    assert wanted.times == 2


@pytest.mark.parametrize(
    "damage", ["change", "add", "remove", "mode", "link", "record"]
)
def test_what_was_damaged_is_fetched_again(tmp_path: Path, damage: str) -> None:
    wanted = Counted(tmp_path / "log")
    tree = provide(wanted, tmp_path / "cache", 5)
    if damage == "change":
        (tree / "a.txt").write_bytes(b"b")
    elif damage == "add":
        (tree / "d" / "new").touch()
    elif damage == "remove":
        (tree / "d" / "b").unlink()
    elif damage == "mode":
        (tree / "a.txt").chmod(0o755)
    elif damage == "link":
        (tree / "link").unlink()
        (tree / "link").symlink_to("/elsewhere")
    else:
        (tree.parent / "source.json").write_bytes(b"{")
    again = provide(wanted, tmp_path / "cache", 5)
    assert wanted.times == 2
    assert contents(again) == {"a.txt": b"a", "d/b": b"b"}
    assert (again / "link").readlink() == Path("/outside")
    assert provide(wanted, tmp_path / "cache", 5) == again
    assert wanted.times == 2


def _provide(log: Path, cache: Path) -> None:
    provide(Counted(log), cache, 5)


def test_workers_that_ask_at_once_fetch_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=_provide, args=(tmp_path / "log", tmp_path / "cache"))
        for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert Counted(tmp_path / "log").times == 1


def test_what_a_killed_process_left_goes_with_the_next_fetch(tmp_path: Path) -> None:
    left = tmp_path / "cache" / "sources" / ".git-1-abc"
    left.mkdir(parents=True)
    provide(Counted(tmp_path / "log"), tmp_path / "cache", 5)
    assert sorted(path.name for path in left.parent.iterdir()) == [
        "git-1",
        "git-1.lock",
    ]


def test_a_fetch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Failing(Counted):
        def fetch(self, directory: Path, seconds: float) -> Path:
            super().fetch(directory, seconds)
            raise WorkspaceUnavailable("no")

    with pytest.raises(WorkspaceUnavailable, match="no"):
        provide(Failing(tmp_path / "log"), tmp_path / "cache", 5)
    store = tmp_path / "cache" / "sources"
    assert [path.name for path in store.iterdir()] == ["git-1.lock"]
    assert list(kept_sources(tmp_path / "cache")) == []


def test_what_is_kept_can_be_listed(tmp_path: Path) -> None:
    tree = provide(Counted(tmp_path / "log"), tmp_path / "cache", 5)
    os.utime(tree.parent / "source.json", (0, 1000))
    (tree.parent.parent / ".git-2-abc").mkdir()
    left, kept = kept_sources(tmp_path / "cache")
    assert (kept.path, kept.abandoned) == (tree.parent, False)
    # a, b, and the link's target.
    assert (kept.size, kept.used_at) == (2 + len("/outside"), 1000)
    assert (left.path.name, left.abandoned) == (".git-2-abc", True)
    provide(Counted(tmp_path / "log"), tmp_path / "cache", 5)
    assert (
        next(one for one in kept_sources(tmp_path / "cache") if one.size).used_at > 1e9
    )


def test_a_case_gets_its_code_and_foresight_knows(
    tmp_path: Path, origin: Origin
) -> None:
    cache = tmp_path / "cache"
    repository = Repository(name="a/b", source=str(origin.path), base_commit=origin.old)
    here, (needed,) = foresee_source(repository, tmp_path, cache)
    assert (here, needed.kind, needed.state) == (None, "source", "to be fetched")
    tree = provide_source(repository, tmp_path, cache, seconds=60)
    assert (tree / "file.txt").read_bytes() == b"one\n"
    here, (needed,) = foresee_source(repository, tmp_path, cache)
    assert (here, needed.state) == (tree, "here")
    assert needed.name == f"{origin.path} at {origin.old}"
    # Once it is here, the repository may go.
    origin.path.rename(tmp_path / "elsewhere")
    moved = Repository(
        name="a/b", source=str(tmp_path / "elsewhere"), base_commit=origin.old
    )
    assert provide_source(moved, tmp_path, cache, seconds=60) == tree


def test_a_directory_of_the_case_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "input" / "repo").mkdir(parents=True)
    repository = Repository(name="a/b", source="repo")
    tree = provide_source(repository, tmp_path / "input", tmp_path / "c", seconds=1)
    assert tree == tmp_path / "input" / "repo"
    assert not (tmp_path / "c").exists()
    assert foresee_source(repository, tmp_path / "input", tmp_path / "c") == (tree, ())


def test_an_archive_has_to_be_the_one_that_was_meant(tmp_path: Path) -> None:
    sha256 = make_sdist(tmp_path / "b-1.0.tar.gz")
    source = str(tmp_path / "b-1.0.tar.gz")

    def fetch(sha256: str) -> Path:
        asked = Repository(name="a/b", source=source, sha256=sha256)
        return provide_source(asked, tmp_path, tmp_path / "cache", seconds=1)

    with pytest.raises(WorkspaceUnavailable) as missing:
        fetch("")
    assert f"repository.sha256: missing, so that {source}" in missing.value.reason
    assert f"today it has {sha256}" in missing.value.reason
    with pytest.raises(WorkspaceUnavailable) as wrong:
        fetch("0" * 64)
    assert wrong.value.reason.startswith("the base cannot be fetched: ")
    assert f"expected sha256:{'0' * 64}\n  computed sha256:{sha256}" in str(wrong.value)
    assert sorted(contents(fetch(sha256))) == [
        "PKG-INFO",
        "pkg/__init__.py",
        "setup.py",
    ]


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, origin: Origin) -> None:
    (tmp_path / "cache").write_bytes(b"")
    asked = Repository(name="a/b", source=str(origin.path), base_commit=origin.old)
    with pytest.raises(
        WorkspaceUnavailable, match=r"kept in .*cache: .*--codegenie-out"
    ):
        provide_source(asked, tmp_path, tmp_path / "cache", seconds=1)
