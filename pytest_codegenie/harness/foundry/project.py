"""A foundry project's directory: what is in it, and what of it agents get to see."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.control_plane import Rules
from pytest_codegenie.harness.foundry.control_plane import read_control_plane
from pytest_codegenie.harness.foundry.listing import Found
from pytest_codegenie.harness.foundry.listing import is_by_product
from pytest_codegenie.harness.foundry.listing import list_tree
from pytest_codegenie.harness.foundry.prompt_loader import PromptLoader
from pytest_codegenie.harness.foundry.records import AREAS
from pytest_codegenie.harness.foundry.records import HarnessFile
from pytest_codegenie.harness.foundry.yaml_files import read_document
from pytest_codegenie.harness.foundry.yaml_files import read_yaml_record
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.trees import copy_file
from pytest_codegenie.trees import walk


#: Nobody may touch them while a program is built.
DOCUMENTS = (
    "prompt.md",
    "harness.yaml",
    "control-plane.yaml",
    "design.md",
    "spec.md",
    "test-case.md",
)
STATE = "build_state.json"
#: Ours, beside the state.
WORK = ".codegenie-build"
#: Where the steps of a reference solution are, for the agent ``oracle``.
SOLUTION = "solution"


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose documents hold."""

    path: Path
    prompts: list[dict[str, Any]]
    harness: HarnessFile
    rules: Rules

    @property
    def work(self) -> Path:
        """Return the directory that is ours."""
        return self.path / WORK

    @property
    def prompt_ids(self) -> list[str]:
        """Return the ids of all prompts, in order."""
        return [prompt["id"] for prompt in self.prompts]

    def digests(self) -> dict[str, str]:
        """Return the digest of each document; "" for one that cannot be read."""
        return {name: _digest(self.path / name) for name in DOCUMENTS}

    def listing(self) -> dict[str, Found]:
        """Return what src/ and tests/ have, but by-products."""
        return {
            f"{area}/{path}": found
            for area in AREAS
            for path, found in list_tree(self.path / area).items()
        }

    def copy_to(self, target: Path) -> None:
        """Copy what agents get to see to a new directory.

        That is the documents, src/ and tests/, and the files beside them whose names do
        not begin with a dot, such as pyproject.toml; never the state, nor any other
        directory.

        Raises:
            ProjectError: A link or a special file is in the way.
            OSError: It cannot be read or written.
        """
        target.mkdir(parents=True)
        for name in self._beside():
            copy_file(str(self.path / name), str(target / name))
        for area in AREAS:
            _copy_area(self.path / area, target / area)

    def _beside(self) -> Iterator[str]:
        with os.scandir(self.path) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                own = entry.name.startswith((".", "build_state."))
                if not own and entry.is_file(follow_symlinks=False):
                    yield entry.name


def open_project(path: Path) -> Project:
    """Read a project's documents.

    Raises:
        ProjectError: It is no project, or a document is missing or wrong.
    """
    path = path.absolute()
    if not path.is_dir():
        raise ProjectError(path, "there is no such directory")
    _check_documents(path)
    project = Project(
        path,
        PromptLoader(path / "prompt.md").load(),
        read_yaml_record(path / "harness.yaml", HarnessFile),
        Rules(read_control_plane(path / "control-plane.yaml")),
    )
    for name in ("design.md", "spec.md", "test-case.md"):
        read_document(path / name)
    _check_gates(path / "harness.yaml", project.harness)
    return project


def _check_documents(path: Path) -> None:
    missing = [name for name in DOCUMENTS if not (path / name).exists()]
    if missing:
        raise ProjectError(
            path,
            f"is no foundry project: it has no {', no '.join(missing)}; all of "
            f"{', '.join(DOCUMENTS)} have to be there, though all but prompt.md may be "
            "empty",
        )
    for name in (*DOCUMENTS, *AREAS):
        if (path / name).is_symlink():
            raise ProjectError(path / name, "is a link; put the thing itself there")
    for area in AREAS:
        if (path / area).exists() and not (path / area).is_dir():
            raise ProjectError(path / area, "is a file; it has to be a directory")


def _check_gates(path: Path, harness: HarnessFile) -> None:
    names = [gate if isinstance(gate, str) else gate.name for gate in harness.gates]
    for name in names:
        if names.count(name) > 1 or name in ("tests", "coverage", "pylint"):
            raise ProjectError(
                path, f"gates: {name!r} is there already; give each its own name"
            )


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return ""
        return hash_bytes(path.read_bytes())
    except OSError:
        return ""


def _copy_area(source: Path, target: Path) -> None:
    target.mkdir()
    if not source.is_dir():
        return
    for path, entry in walk(source):
        if is_by_product(path):
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if not path.isprintable():
            raise ProjectError(source / path, "has a name that cannot be printed")
        if stat.S_ISDIR(mode):
            (target / path).mkdir()
        elif stat.S_ISREG(mode):
            copy_file(entry.path, str(target / path))
        else:
            raise ProjectError(
                source / path,
                "is a link or a special file; only regular files may be in src/ and "
                "tests/",
            )
