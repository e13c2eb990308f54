"""Where a case's code comes from: a directory of its own, or what is fetched once.

``choosing`` reads from ``[repository]`` of ``task.toml`` what is asked for: a commit
(``commits``) or an archive (``archives``, ``downloads``, ``sdists``). ``store`` keeps
what came of it for all who ask for the same.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.task_files import Repository
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.sources.store import KeptSource as KeptSource
from pytest_codegenie.workspaces.sources.store import Place
from pytest_codegenie.workspaces.sources.store import Wanted
from pytest_codegenie.workspaces.sources.store import kept_sources as kept_sources
from pytest_codegenie.workspaces.sources.store import provide


#: A name of a directory that cannot be anything else.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
#: How the reason begins where the code is elsewhere and cannot be had.
NOT_FETCHED = "the base cannot be fetched: "


def provide_source(
    repository: Repository, input_dir: Path, cache: Path, *, seconds: float
) -> Path:
    """Return a directory with the code that a case starts from; nobody writes to it.

    What is not in the case itself is fetched on the first call anywhere, and kept in
    ``<cache>/sources``. Who calls meanwhile waits.

    Args:
        repository: What the case asks for.
        input_dir: The case's ``input/``.
        cache: Of the run.
        seconds: What fetching may take.

    Raises:
        WorkspaceUnavailable: There is no such code, it is not what was asked for, or it
            cannot be kept.
    """
    wanted = _choose(repository, input_dir)
    if isinstance(wanted, Path):
        return wanted
    try:
        return provide(wanted, cache, seconds)
    except WorkspaceUnavailable as exc:
        raise WorkspaceUnavailable(f"{NOT_FETCHED}{exc.reason}") from exc
    except OSError as exc:
        raise WorkspaceUnavailable(
            f"{NOT_FETCHED}what is fetched cannot be kept in {cache}: {exc}; make room "
            "there, or name another directory (--codegenie-out)"
        ) from exc


def foresee_source(
    repository: Repository, input_dir: Path, cache: Path
) -> tuple[Path | None, tuple[Needed, ...]]:
    """Return (the code's directory if it is here, what else is needed to have it).

    Nothing is fetched.

    Raises:
        WorkspaceUnavailable: What is asked for is nothing that could be fetched.
    """
    wanted = _choose(repository, input_dir)
    if isinstance(wanted, Path):
        return wanted, ()
    place = Place.of(cache, wanted.key)
    here = bool(wanted.key) and place.is_sound()
    state: Literal["here", "to be fetched"] = "here" if here else "to be fetched"
    return place.tree if here else None, (Needed("source", wanted.shown, state),)


def _choose(repository: Repository, input_dir: Path) -> Path | Wanted:
    source = repository.source
    path = input_dir / source
    if not repository.base_commit and _PLAIN.fullmatch(source) and path.is_dir():
        return path  # as most cases have it
    # Late: it knows of the network and of archives, which take time to be imported.
    from pytest_codegenie.workspaces.sources.choosing import choose

    return choose(repository, input_dir)
