"""A commit of a repository or a bundle: its files, without any history."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.git import ATTRIBUTES
from pytest_codegenie.workspaces.git import GitFailed
from pytest_codegenie.workspaces.git import run_git
from pytest_codegenie.workspaces.sources.urls import without_password


_FULL_ID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_BUNDLES = (b"# v2 git bundle\n", b"# v3 git bundle\n")
#: Words of a server that has the whole history, and not the commit.
_NOT_THERE = "not our ref"
#: How the network is reached, which is the user's to say.
_NETWORK = (
    *("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"),
    *("all_proxy", "https_proxy", "http_proxy", "no_proxy"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    "SSH_AUTH_SOCK",
)


def is_full_id(commit: str) -> bool:
    """Say whether a text is a whole commit id, which no other commit ever has."""
    return _FULL_ID.fullmatch(commit) is not None


def is_bundle(path: Path) -> bool:
    """Say whether a file is a git bundle."""
    try:
        with path.open("rb") as file:
            return file.read(len(_BUNDLES[0])) in _BUNDLES
    except OSError:
        return False


def is_repository(path: Path) -> bool:
    """Say whether a directory is a git repository, bare or with a working tree."""
    if (path / ".git").exists():
        return True
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and who has it."""

    #: A path, or whatever git takes as a URL.
    repository: str
    #: Where it is no full id, any name that git resolves.
    commit: str

    @property
    def key(self) -> str:
        """Return the id, as far as it is one."""
        return f"git-{self.commit}" if is_full_id(self.commit) else ""

    @property
    def shown(self) -> str:
        """Return repository and commit."""
        return f"{without_password(self.repository)} at {self.commit}"

    def fetch(self, directory: Path, seconds: float) -> Path:
        """Return the commit's files.

        Submodules are empty directories there, and files in Git LFS what points to
        them: neither is fetched.
        """
        return fetch_tree(self.repository, self.commit, directory, seconds)


def fetch_tree(
    source: str, commit: str, directory: Path, seconds: float | None = None
) -> Path:
    """Return a new directory with the files of a commit of a bundle or repository.

    Git itself checks that the files are those of the commit.

    Args:
        source: A path, or whatever git takes as a URL.
        commit: A full id, or any name that git resolves there.
        directory: For all of it; made where it is missing.
        seconds: What each step may take; None: as long as any git of ours.

    Raises:
        WorkspaceUnavailable: There is no such repository or commit, or git fails.
    """
    git_dir, tree = directory / "fetched.git", directory / "fetched"
    tree.mkdir(parents=True)
    run_git(
        ["init", "--quiet", "--bare", *_format(commit), str(git_dir)], directory, {}
    )
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
    place = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(tree), **_network()}
    try:
        _fetch(source, commit, tree, place, seconds)
        name = ["--quiet", "--verify", "--end-of-options", f"{commit}^{{commit}}"]
        try:
            found = run_git(["rev-parse", *name], tree, place)
        except GitFailed:
            raise _no_commit(source, commit) from None
        checkout = ["checkout", "--quiet", "--force", found, "--", "."]
        run_git(checkout, tree, place, seconds=seconds)
    except GitFailed as exc:
        shown = without_password(source)
        raise WorkspaceUnavailable(
            f"{exc.reason.replace(source, shown)}\n(fetching {shown})"
        ) from None
    finally:
        remove_tree(git_dir)
    return tree


def _format(commit: str) -> list[str]:
    """Return the option for a repository whose ids are SHA-256."""
    return ["--object-format=sha256"] if len(commit) == 64 else []


def _fetch(
    source: str,
    commit: str,
    tree: Path,
    place: dict[str, str],
    seconds: float | None,
) -> None:
    """Fetch the commit alone where that can be had, else all there is."""
    fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
    if is_full_id(commit) and not Path(source).is_file():
        one = [*fetch, "--depth=1", "--", source, commit]
        try:
            run_git(one, tree, place, seconds=seconds)
        except GitFailed as exc:
            if _NOT_THERE in exc.reason:
                raise _no_commit(source, commit) from None
            # A server of old gives branches only; whatever else it is comes again.
        else:
            return
    refs = "+refs/*:refs/fetched/*"
    run_git([*fetch, "--", source, refs], tree, place, seconds=seconds)


def _no_commit(source: str, commit: str) -> WorkspaceUnavailable:
    return WorkspaceUnavailable(
        f"{without_password(source)} has no commit {commit!r}; correct "
        "repository.base_commit in input/task.toml, or bring the repository up to date"
    )


def _network() -> dict[str, str]:
    return {name: os.environ[name] for name in _NETWORK if name in os.environ}
