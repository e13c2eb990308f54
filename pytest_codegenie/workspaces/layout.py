"""Where things are in workspaces whose file system is their own.

Always the same, so that an agent's words are too.
"""

from __future__ import annotations

from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.workspaces.local_tree import LocalTree


#: SWE-bench's place for it.
TREE = PurePosixPath("/testbed")
SCRATCH = PurePosixPath("/scratch")
HOME = PurePosixPath("/home/agent")
TEMPORARY = PurePosixPath("/tmp")  # noqa: S108 -- the workspace's own
#: What we put there for a program; read-only.
CONTROL = PurePosixPath("/run/codegenie")

#: Of the signals there are; a program can also end with such a code by itself.
_SIGNALS = range(1, 65)


class EnclosedTree(LocalTree):
    """A base for workspaces whose programs see the tree by the paths above."""

    @property
    def tree_inside(self) -> PurePosixPath:
        """Where programs see the tree."""
        return TREE

    def inside(self, path: Path) -> str:
        """Return a path below the tree, ``/scratch`` or ``/home/agent``."""
        for outside, inside in self._places().items():
            if path.is_relative_to(outside):
                return str(inside / path.relative_to(outside))
        return str(path)

    def _places(self) -> dict[Path, PurePosixPath]:
        """Return what programs may write to: on the host, and inside."""
        return {
            self.temporary: TEMPORARY,
            self.home: HOME,
            self.scratch: SCRATCH,
            self.tree: self.tree_inside,
        }


def exit_code(told: int) -> int:
    """Return an exit code as ``subprocess`` has it: negative for a signal.

    Args:
        told: As a shell, bubblewrap and a container's init tell it: 128 and the signal.
    """
    return 128 - told if told - 128 in _SIGNALS else told
