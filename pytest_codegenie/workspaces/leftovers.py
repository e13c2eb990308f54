"""Workspaces that make things outside of their directory: what of it has to go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from typing import runtime_checkable


@runtime_checkable
class LeavesTraces(Protocol):
    """What a ``Workspace`` has beside, if a killed run or a cache of it has to go.

    A run that begins, and ``codegenie clean``, call these without ``configure``.
    """

    def probe(self) -> str:
        """Return "" if the workspace works on this machine, or else why not."""
        ...

    def sweep(self, abandoned: Callable[[Path], bool], *, dry_run: bool) -> list[str]:
        """Remove what killed runs have left; return what that is, one line each.

        Args:
            abandoned: Says of a spec's directory whether its run was killed. What
                belongs to another directory is not touched.
            dry_run: Remove nothing.

        Raises:
            WorkspaceUnavailable: It cannot be removed.
        """
        ...

    def forget(self, *, environments: bool, images: bool, dry_run: bool) -> list[str]:
        """Remove what is kept for later runs; return what that is, one line each.

        Args:
            environments: What was installed for cases.
            images: What those start from, where we have made it.
            dry_run: Remove nothing.

        Raises:
            WorkspaceUnavailable: It cannot be removed.
        """
        ...
