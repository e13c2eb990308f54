"""Reading a checkout of somebody's repository: text files, and none outside of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.datasets.rows import missing
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative


#: More than any program or test of these datasets.
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Checkout:
    """A directory with somebody's files, of which nothing is trusted."""

    root: Path

    def has(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return (self.root / name).is_file()

    def text(self, name: str, *, why: str = "") -> str:
        """Return a file's text as it is, carriage returns too.

        Args:
            name: Relative to the checkout.
            why: For the message where it is missing: who needs it.

        Raises:
            DatasetError: It is missing, leads elsewhere, is too large or not UTF-8.
        """
        data = self.data(name, why=why)
        try:
            return data.decode()
        except UnicodeDecodeError as exc:
            line = data.count(b"\n", 0, exc.start) + 1
            reason = f"not UTF-8 (line {line}, byte 0x{data[exc.start]:02x})"
            raise DatasetError(self.place(name), "", reason) from None

    def data(self, name: str, *, why: str = "") -> bytes:
        """Return a file's content; the arguments and errors are those of ``text``."""
        path = self.root / name
        if not path.is_file():
            raise DatasetError(
                self.place(name), "", "missing" + (f"; {why}" if why else "")
            )
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise DatasetError(
                self.place(name), "", "leads out of the checkout; put a file there"
            )
        try:
            size = path.stat().st_size
            if size > _MAX_BYTES:
                reason = f"is larger than {_MAX_BYTES >> 20} MiB"
                raise DatasetError(self.place(name), "", reason)
            return path.read_bytes()
        except OSError as exc:
            raise DatasetError(
                self.place(name), "", f"cannot be read: {exc.strerror}"
            ) from exc

    def place(self, name: str) -> str:
        """Return how a person finds a file of the checkout."""
        return relative(self.root / name)

    def with_imports(self, name: str) -> Iterator[str]:
        """Yield a Python file and those beside it that it imports, as theirs do."""
        todo, seen = [name], {name}
        while todo:
            one = todo.pop()
            yield one
            for neighbour in self._imports(one):
                if neighbour not in seen:
                    seen.add(neighbour)
                    todo.append(neighbour)

    def _imports(self, name: str) -> list[str]:
        try:
            tree = ast.parse(self.text(name))
        except (SyntaxError, ValueError, RecursionError):
            return []  # buggy programs are what this is about
        directory = Path(name).parent
        modules = sorted(_imported(tree, directory.name))
        files = [(directory / f"{module}.py").as_posix() for module in modules]
        return [file for file in files if self.has(file)]


def _imported(tree: ast.Module, package: str) -> set[str]:
    """Return modules that may stand beside a file in the directory ``package``."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level < 2:
            found.add(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {alias.name for alias in node.names}
    names = {name.removeprefix(f"{package}.") for name in found}
    return {name for name in names if name.isidentifier()}


def open_checkout(source: str, *needed: str, what: str) -> Checkout:
    """Return a checkout.

    Args:
        source: Its directory.
        needed: Directories that it has.
        what: What it is a checkout of, for the message.

    Raises:
        DatasetError: It is missing or none of these.
    """
    root = Path(source)
    if not root.exists():
        raise missing(source)
    if not root.is_dir():
        raise DatasetError(
            relative(root), "", f"is a file; give the directory of a checkout of {what}"
        )
    lacking = [name for name in needed if not (root / name).is_dir()]
    if lacking:
        raise DatasetError(
            relative(root),
            "",
            f"is no checkout of {what}: it has no directory {', '.join(lacking)}",
        )
    return Checkout(root)
