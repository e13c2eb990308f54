"""Git as we run it: bases of one commit, and commits of bundles and repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import fetch_tree
from pytest_codegenie.workspaces import make_base


def test_two_bases_of_the_same_files_have_the_same_commit(
    base: Base, tmp_path: Path
) -> None:
    again = make_base(base.tree, tmp_path / "again.git")
    heads = [(one.git_dir / "refs/heads/main").read_text() for one in (base, again)]
    assert heads[0] == heads[1]


def test_git_that_is_missing_is_said(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceUnavailable, match="git is not installed; install it"):
        make_base(base.tree, tmp_path / "other.git")


@pytest.fixture
def bundle(tmp_path: Path) -> tuple[Path, list[str]]:
    """A bundle of two commits: (its path, their names)."""
    origin = tmp_path / "origin"
    origin.mkdir()

    def run(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=origin,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    run("init", "--quiet", "--initial-branch=trunk")
    names = []
    for text in ("one\r\n", "two\r\n"):
        (origin / "file.txt").write_bytes(text.encode())
        (origin / ".gitattributes").write_text("* text=auto eol=lf\n", encoding="utf-8")
        run("add", "--all")
        run("-c", "core.autocrlf=false", "commit", "--quiet", "--message", text)
        names.append(run("rev-parse", "HEAD"))
    run("bundle", "create", "--quiet", str(tmp_path / "bundle"), "--all")
    return tmp_path / "bundle", names


def test_any_commit_of_a_bundle_can_be_the_base(
    bundle: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, names = bundle
    for number, text in enumerate(("one\n", "two\n")):
        tree = fetch_tree(str(path), names[number], tmp_path / f"fetched-{number}")
        assert (tree / "file.txt").read_bytes().replace(b"\r", b"") == text.encode()
        assert not (tree / ".git").exists()
        assert [entry.name for entry in tree.parent.iterdir()] == [tree.name]


@pytest.mark.parametrize(
    ("source", "commit", "words"),
    [
        ("BUNDLE", "0" * 40, "has no commit '0000"),
        ("BUNDLE", "--orphan", "has no commit '--orphan'"),
        ("--upload-pack=touch EVIL", "main", "git fetch: "),
        ("ext::sh -c 'touch EVIL'", "main", "git fetch: .*'ext' not allowed"),
        ("BUNDLE.missing", "main", "git fetch: .*does not"),
    ],
)
def test_what_cannot_be_fetched_is_unavailable_and_runs_nothing(
    bundle: tuple[Path, list[str]], tmp_path: Path, source: str, commit: str, words: str
) -> None:
    evil = tmp_path / "evil"
    source = source.replace("BUNDLE", str(bundle[0])).replace("EVIL", str(evil))
    with pytest.raises(WorkspaceUnavailable, match=f"(?s){words}"):
        fetch_tree(source, commit, tmp_path / "fetched")
    assert not evil.exists()
