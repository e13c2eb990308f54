"""Reading a case's tree for what it needs, and remembering what was read."""

from __future__ import annotations

import configparser
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.trees import walk


#: What is compiled, and what says how.
_NATIVE_SUFFIXES = frozenset(
    ".c .cc .cpp .cu .cxx .f .f90 .for .h .hh .hpp .pxd .pxi .pyx .rs .tp".split()
)
_NATIVE_NAMES = frozenset(
    {
        "CMakeLists.txt",
        "Cargo.lock",
        "Cargo.toml",
        "Makefile",
        "meson.build",
        "meson.options",
        "meson_options.txt",
    }
)
#: Modules that ``setup.py`` and build backends take the version from, and where.
_VERSION_MODULES = frozenset(
    {
        "__about__.py",
        "__init__.py",
        "__version__.py",
        "_version.py",
        "version.py",
    }
)
_VERSION_DEPTH = 2
_VERSION_LINE = re.compile(rb"(?m)^(?:__version__|VERSION|version)\b.*$")


class ProjectFiles:
    """The files of a tree, by name; what is read once decides on the environment."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._root = os.path.realpath(tree)
        #: Path relative to the tree to digest, of all that were read.
        self.digests: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Say whether there is such a file."""
        return (self.tree / name).is_file()

    def text(self, name: str) -> str:
        """Return a file's text; "" where there is none.

        Raises:
            WorkspaceUnavailable: It leads out of the tree, or cannot be read.
        """
        path = self.tree / name
        real = os.path.realpath(path)
        if not real.startswith(f"{self._root}/"):
            raise WorkspaceUnavailable(f"{name}: leads out of the repository")
        if not path.is_file():
            return ""
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise WorkspaceUnavailable(
                f"{name}: cannot be read: {exc.strerror}"
            ) from exc
        self.digests[name] = hash_bytes(data)
        return data.decode(errors="replace")

    def toml(self, name: str) -> dict[str, Any]:
        """Return a TOML file's table; an empty one where there is no file.

        Raises:
            WorkspaceUnavailable: As ``text``, or it is not TOML.
        """
        try:
            return tomllib.loads(self.text(name))
        except (ValueError, RecursionError) as exc:
            raise WorkspaceUnavailable(f"{name}: not TOML: {exc}") from exc

    def ini(self, name: str) -> configparser.RawConfigParser:
        """Return an INI file's sections; none where there is no file.

        Raises:
            WorkspaceUnavailable: As ``text``, or it is not an INI file.
        """
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(self.text(name), name)
        except configparser.Error as exc:
            words = " ".join(str(exc).split())
            raise WorkspaceUnavailable(f"{name}: cannot be read: {words}") from exc
        return parser

    def digest_sources(self) -> str:
        """Return one digest of what building the project reads of its code.

        Of native sources that is all; of a module that may say the project's version,
        the lines that do.
        """
        lines = []
        for path, entry in walk(self.tree, skip=".git"):
            name = entry.name
            if name in _VERSION_MODULES and path.count("/") <= _VERSION_DEPTH:
                data = b"\n".join(_VERSION_LINE.findall(_content(entry)))
            elif name in _NATIVE_NAMES or _suffix(name) in _NATIVE_SUFFIXES:
                data = _content(entry)
            else:
                continue
            if data:
                lines.append(f"{path}\0{hash_bytes(data)}")
        return hash_bytes("\n".join(sorted(lines)).encode(errors="surrogateescape"))


def _suffix(name: str) -> str:
    return name[name.rfind(".") :] if "." in name else ""


def _content(entry: os.DirEntry[str]) -> bytes:
    """Return a file's bytes; b"" for what is none."""
    if not entry.is_file(follow_symlinks=False):
        return b""
    return Path(entry.path).read_bytes()
