"""``control-plane.yaml``: what a try may touch, and whether it kept to that.

The rules are held against what a try made of the tree, not against what it says that
it changes: a diff can be written in many ways, a tree is what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.errors import printable
from pytest_codegenie.harness.foundry.listing import Changes
from pytest_codegenie.harness.foundry.records import AREAS
from pytest_codegenie.harness.foundry.records import ControlPlane
from pytest_codegenie.harness.foundry.yaml_files import read_yaml_record


#: How many paths of one kind are named.
_NAMED = 5


def read_control_plane(path: Path) -> ControlPlane:
    """Return ``control-plane.yaml``.

    Raises:
        ProjectError: It is missing or wrong; the error names the line.
    """
    return read_yaml_record(path, ControlPlane)


class Rules:
    """Says what rules a try broke.

    Args:
        plane: What may be touched.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self._modifiable = [_expression(pattern) for pattern in plane.modifiable]
        self._protected = [_expression(pattern) for pattern in plane.protected]

    def may_modify(self, path: str) -> bool:
        """Say whether a file may be made or changed.

        Args:
            path: POSIX, relative to the project.
        """
        inside = path.split("/", 1)[0] in AREAS and "/" in path
        return (
            inside
            and any(pattern.fullmatch(path) for pattern in self._modifiable)
            and not any(pattern.fullmatch(path) for pattern in self._protected)
        )

    def broken_by(self, changes: Changes) -> list[str]:
        """Return a sentence for each rule that changes break; none: all are kept."""
        return list(self._broken_by(changes))

    def _broken_by(self, changes: Changes) -> Iterator[str]:
        plane = self.plane
        if changes.deleted:
            yield (
                f"no file may be deleted or renamed, but this was: "
                f"{_named(changes.deleted)}"
            )
        outside = [path for path in changes.written if not self.may_modify(path)]
        if outside:
            yield (
                f"only {', '.join(plane.modifiable)} may be modified"
                f"{self._but_protected()}, but this was: {_named(outside)}"
            )
        if changes.special:
            yield (
                f"only regular files may be made, but this is a link or a special "
                f"file: {_named(changes.special)}"
            )
        odd = [path for path in changes.written if not path.isprintable()]
        if odd:
            yield f"names of files have to be printable, but this is not: {_named(odd)}"
        if len(changes.all) > plane.max_files_changed:
            yield (
                f"a try may change {plane.max_files_changed} files at most "
                f"(max_files_changed), but it changed {len(changes.all)}"
            )
        if changes.size > plane.max_patch_bytes:
            yield (
                f"a try may write {plane.max_patch_bytes} bytes at most "
                f"(max_patch_bytes), but it wrote files of {changes.size}"
            )

    def _but_protected(self) -> str:
        protected = ", ".join(self.plane.protected)
        return f" (and of that not {protected})" if protected else ""


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(printable(path) for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _expression(pattern: str) -> re.Pattern[str]:
    """Return a pattern of .gitignore's kind, from the root on, as an expression.

    ``*`` and ``?`` stop at ``/``, ``**`` does not; what ends in ``/``, or names a
    directory, stands for all that is below it.
    """
    parts = []
    for part in pattern.rstrip("/").split("/"):
        parts.append(".*" if part == "**" else _part(part))
    words = "/".join(parts).replace("/.*/", "/(?:.*/)?")
    return re.compile(f"{words}(?:/.*)?", re.DOTALL)


def _part(part: str) -> str:
    words = ""
    for found in re.finditer(r"\*+|\?|\[!?\]?[^\]]*\]|.", part, re.DOTALL):
        word = found[0]
        if word.startswith("*"):
            words += "[^/]*"
        elif word == "?":
            words += "[^/]"
        elif len(word) > 2 and word[0] == "[":
            inside = word[1:-1].replace("\\", r"\\")
            negated = inside.startswith("!")
            words += f"[{'^' if negated else ''}{inside[negated:]}]"
        else:
            words += re.escape(word)
    return words
