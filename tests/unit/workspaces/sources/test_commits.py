"""Commits of mirrors, bundles and servers, and nothing but the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support_sources import Origin
from support_sources import Served

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces import fetch_tree
from pytest_codegenie.workspaces.sources.commits import Commit
from pytest_codegenie.workspaces.sources.commits import is_bundle
from pytest_codegenie.workspaces.sources.commits import is_repository


def _text(tree: Path) -> bytes:
    assert not (tree / ".git").exists()
    assert sorted(path.name for path in tree.iterdir()) == [
        ".gitattributes",
        "file.txt",
    ]
    return (tree / "file.txt").read_bytes()


@pytest.mark.parametrize("kind", ["worktree", "bare", "bundle", "file URL"])
def test_any_commit_of_any_kind_of_repository(
    origin: Origin, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "copy"
    if kind == "bare":
        origin.git("clone", "--quiet", "--bare", ".", str(place))
    elif kind == "bundle":
        origin.git("bundle", "create", "--quiet", str(place), "--all")
    source = {"worktree": str(origin.path), "file URL": origin.path.as_uri()}
    for commit, text in ((origin.old, b"one\n"), (origin.new, b"two\n")):
        wanted = Commit(source.get(kind, str(place)), commit)
        tree = wanted.fetch(tmp_path / commit, 60)
        assert _text(tree) == text
        # What git made beside is gone.
        assert [path.name for path in tree.parent.iterdir()] == [tree.name]


def test_a_commit_that_no_branch_has_any_more(origin: Origin, tmp_path: Path) -> None:
    lost = origin.commit("lost\n")
    origin.git("reset", "--quiet", "--hard", origin.new)
    assert _text(fetch_tree(str(origin.path), lost, tmp_path / "out")) == b"lost\n"


def test_a_server_that_knows_branches_only(
    origin: Origin, tmp_path: Path, served: Served
) -> None:
    """The old protocol of plain files cannot name a commit: all is fetched."""
    origin.git("clone", "--quiet", "--bare", ".", str(served.directory / "b.git"))
    subprocess.run(
        ["git", "update-server-info"], cwd=served.directory / "b.git", check=True
    )
    tree = fetch_tree(f"{served.url}/b.git", origin.old, tmp_path / "out")
    assert _text(tree) == b"one\n"


def test_a_repository_with_longer_ids(tmp_path: Path) -> None:
    path = tmp_path / "origin"
    path.mkdir()

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=path, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    git("init", "--quiet", "--object-format=sha256")
    (path / "file.txt").write_bytes(b"long\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "long")
    commit = git("rev-parse", "HEAD")
    assert len(commit) == 64
    tree = fetch_tree(str(path), commit, tmp_path / "out")
    assert (tree / "file.txt").read_bytes() == b"long\n"


@pytest.mark.parametrize("kind", ["mirror", "bundle"])
def test_a_commit_that_is_not_there_is_named(
    origin: Origin, tmp_path: Path, kind: str
) -> None:
    source = str(origin.path)
    if kind == "bundle":
        source = str(tmp_path / "bundle")
        origin.git("bundle", "create", "--quiet", source, "--all")
    with pytest.raises(WorkspaceUnavailable) as caught:
        fetch_tree(source, "0" * 40, tmp_path / "out")
    assert caught.value.reason.startswith(f"{source} has no commit '{'0' * 40}'; ")


def test_no_password_is_shown(tmp_path: Path, served: Served) -> None:
    url = served.url.replace("//", "//me:hunter2@") + "/nothing.git"
    wanted = Commit(url, "0" * 40)
    with pytest.raises(WorkspaceUnavailable) as caught:
        wanted.fetch(tmp_path / "out", 60)
    assert "git fetch: " in caught.value.reason
    assert "/nothing.git" in caught.value.reason
    assert "hunter2" not in caught.value.reason + wanted.shown


def test_the_kinds_are_told_apart(origin: Origin, tmp_path: Path) -> None:
    origin.git("bundle", "create", "--quiet", str(tmp_path / "bundle"), "--all")
    origin.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    (tmp_path / "plain").mkdir()
    names = ("bundle", "bare", "plain", "origin", "nothing")
    paths = [tmp_path / name for name in names]
    assert [path.name for path in paths if is_bundle(path)] == ["bundle"]
    assert [path.name for path in paths if is_repository(path)] == ["bare", "origin"]
