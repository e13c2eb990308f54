"""The steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Copy:
    """Bring a new file from the source."""

    source_path: str

    def __str__(self) -> str:
        return f"copy    {self.source_path}"


@dataclass(frozen=True, slots=True)
class Update:
    """Write the source's content over a file of the target."""

    source_path: str
    target_path: str

    def __str__(self) -> str:
        if self.source_path == self.target_path:
            return f"update  {self.target_path}"
        return f"update  {self.source_path} -> {self.target_path}"


@dataclass(frozen=True, slots=True)
class Move:
    """Give a file of the target another name."""

    target_path: str
    new_path: str

    def __str__(self) -> str:
        return f"move    {self.target_path} -> {self.new_path}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a file of the target."""

    target_path: str

    def __str__(self) -> str:
        return f"delete  {self.target_path}"


Step = Copy | Update | Move | Delete


def render(steps: Iterable[Step]) -> str:
    """One line for each step."""
    return "\n".join(str(step) for step in steps)
