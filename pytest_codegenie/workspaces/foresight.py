"""Workspaces that can say beforehand what a case still has to have made for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.workspaces.protocol import Recipe


@dataclass(frozen=True, slots=True)
class Needed:
    """Something that a case runs in; equal ones are made once."""

    kind: Literal["environment", "image", "source"]
    #: Of an image its name, of an environment its digest, of a source where it is from.
    name: str
    state: Literal["here", "to be built", "to be fetched", "to be pulled", "not known"]


@runtime_checkable
class Foresees(Protocol):
    """What a ``Workspace`` has beside, for ``codegenie run --dry-run``."""

    def foresee(self, recipe: Recipe) -> tuple[Needed, ...]:
        """Return what a recipe needs, after ``configure``; nothing is made.

        Raises:
            WorkspaceUnavailable: It is known already that it cannot be made.
        """
        ...
