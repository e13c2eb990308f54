"""What ``[repository]`` of ``task.toml`` asks for: a directory, commit or archive."""

from __future__ import annotations

import re
from pathlib import Path
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion
from packaging.version import Version

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.task_files import Repository
from pytest_codegenie.workspaces.sources.archives import Archive
from pytest_codegenie.workspaces.sources.archives import is_archive_name
from pytest_codegenie.workspaces.sources.commits import Commit
from pytest_codegenie.workspaces.sources.commits import is_bundle
from pytest_codegenie.workspaces.sources.commits import is_full_id
from pytest_codegenie.workspaces.sources.commits import is_repository
from pytest_codegenie.workspaces.sources.sdists import PREFIX
from pytest_codegenie.workspaces.sources.sdists import Sdist
from pytest_codegenie.workspaces.sources.store import Wanted
from pytest_codegenie.workspaces.sources.urls import SCHEMES


_SDIST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^=\s]+)")
#: ``https://...``, or as ``ssh`` calls it: ``git@example.org:owner/project``.
_ELSEWHERE = re.compile(r"[^/]*:")


def choose(repository: Repository, input_dir: Path) -> Path | Wanted:
    """Return the directory of the code, or what has to be fetched for it.

    Raises:
        WorkspaceUnavailable: The keys do not say what the code is.
    """
    source = repository.source
    if source.startswith(PREFIX):
        return _sdist(repository)
    if Path(source).is_absolute():
        return _on_this_machine(repository, Path(source))
    if _ELSEWHERE.match(source) and not (input_dir / source).exists():
        return _elsewhere(repository)
    return _in_case(repository, input_dir)


def _in_case(repository: Repository, input_dir: Path) -> Path | Wanted:
    """Take what lies in ``input/``; the case's digest is on it."""
    source, commit = repository.source, repository.base_commit
    path = input_dir / source
    if ".." in PurePosixPath(source).parts:
        raise _fault(
            "source", f"{source!r} leads out of input/; an absolute path may not"
        )
    if path.is_dir():
        if commit and is_repository(path):
            return Commit(str(path), commit)
        return path
    if not path.is_file():
        raise _fault(
            "source",
            f"{source!r} is no directory in input/; nor is it a bundle or an archive "
            "there. What lies elsewhere is named by its absolute path or a URL, and "
            "needs a base_commit (a repository) or a sha256 (an archive)",
        )
    if is_bundle(path):
        if not commit:
            raise _fault("base_commit", f"missing: {source!r} is a git bundle")
        return Commit(str(path), commit)
    return Archive(path, repository.sha256)


def _on_this_machine(repository: Repository, path: Path) -> Wanted:
    source, commit, sha256 = (
        repository.source,
        repository.base_commit,
        repository.sha256,
    )
    if path.is_dir():
        if not is_repository(path):
            raise _fault(
                "source",
                f"{source!r} is no git repository; a plain directory has to lie in "
                "input/, where the case's digest is on it",
            )
        return Commit(source, _full_id(repository))
    if not path.is_file():
        raise _fault("source", f"there is no {source!r} on this machine")
    if is_bundle(path):
        return Commit(source, _full_id(repository))
    if commit and not sha256:
        raise _fault(
            "source", f"{source!r} is no repository and no bundle, so it has no commit"
        )
    return Archive(path, sha256, must_name_hash=True)


def _elsewhere(repository: Repository) -> Wanted:
    source = repository.source
    is_archive = not repository.base_commit and is_archive_name(urlsplit(source).path)
    if repository.sha256 or is_archive:
        if urlsplit(source).scheme not in SCHEMES:
            raise _fault(
                "source",
                f"{source!r}: an archive is fetched by {', '.join(SCHEMES)} only",
            )
        return Archive(source, repository.sha256, must_name_hash=True)
    return Commit(source, _full_id(repository))


def _sdist(repository: Repository) -> Wanted:
    found = _SDIST.fullmatch(repository.source.removeprefix(PREFIX))
    try:
        if found is None:
            raise InvalidVersion
        Version(found[2])
    except InvalidVersion:
        raise _fault(
            "source",
            f"{repository.source!r}: write {PREFIX}NAME==VERSION, as in "
            f"{PREFIX}flask==2.2.3",
        ) from None
    return Sdist(canonicalize_name(found[1]), found[2], repository.sha256)


def _full_id(repository: Repository) -> str:
    commit = repository.base_commit
    if is_full_id(commit):
        return commit
    # Also for a repository on this machine: a branch moves, and a short id may come to
    # be that of another commit, too, without any digest changing.
    raise _fault(
        "base_commit",
        f"{commit!r} is no full commit id of 40 or 64 lower-case hex digits, as git "
        f"rev-parse prints it, which {repository.source!r} needs (only what lies in "
        "input/ does without)"
        if commit
        else f"missing: which commit of {repository.source!r}? An archive needs a "
        "sha256 instead",
    )


def _fault(key: str, reason: str) -> WorkspaceUnavailable:
    return WorkspaceUnavailable(f"input/task.toml: repository.{key}: {reason}")
