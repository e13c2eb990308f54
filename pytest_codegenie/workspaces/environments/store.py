"""Where environments are kept: a directory for each, complete once its record is there.

::

    <cache>/environments/<digest>/
        recipe.json   what was decided and installed; written last
        build.log     what the commands printed
        venv/         the virtual environment, read-only
        generated/    files that installing the project made for the tree
    <cache>/environments/failed/<digest>.log   of the last build that failed
    <cache>/downloads/                         of pip and uv
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field
from pydantic import ValidationError

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import Record
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.environments.interpreters import Interpreter
from pytest_codegenie.workspaces.protocol import Environment


#: Another number makes other environments: it changes with what this package builds.
FORMAT = 1


class EnvironmentRecord(Record):
    """``recipe.json``: what an environment was made of, and what came out."""

    format: int = FORMAT
    interpreter: Interpreter
    installer: str
    #: One sentence each, in the order in which it was decided.
    decisions: tuple[str, ...]
    #: The commands, as a shell would take them.
    commands: tuple[str, ...]
    #: Files that decided, with their digests.
    files: dict[str, str] = Field(default_factory=dict)
    #: All that is installed: name to version.
    packages: dict[str, str] = Field(default_factory=dict)
    roots: tuple[str, ...] = ()
    has_generated: bool = False
    variables: dict[str, str] = Field(default_factory=dict)
    build_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where one environment is, or will be."""

    #: ``<cache>/environments``.
    store: Path
    digest: str

    @classmethod
    def of(cls, cache: Path, recipe: Mapping[str, object]) -> Place:
        """Return the place of all that decides on an environment, as JSON values."""
        store = cache / "environments"
        # Scripts in it name it by its path: moved, it would be another one.
        deciding = {"format": FORMAT, "store": str(store), **recipe}
        digest = hash_bytes(json.dumps(deciding, sort_keys=True).encode())
        # Half of it is enough, and scripts begin with the path of their interpreter.
        return cls(store, digest.rpartition(":")[2][:32])

    @property
    def directory(self) -> Path:
        """Return the environment's own directory."""
        return self.store / self.digest

    @property
    def venv(self) -> Path:
        """Return the virtual environment."""
        return self.directory / "venv"

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site(self) -> Path:
        """Return its ``site-packages``."""
        return next(self.venv.glob("lib/python*/site-packages"))

    @property
    def generated(self) -> Path:
        """Return what belongs to the tree."""
        return self.directory / "generated"

    @property
    def log(self) -> Path:
        """Return the log of the commands."""
        return self.directory / "build.log"

    @property
    def failed_log(self) -> Path:
        """Return where the log of a build that failed stays."""
        return self.store / "failed" / f"{self.digest}.log"

    @property
    def lock(self) -> Path:
        """Return the file whose lock is held while the environment is built."""
        return self.store / f"{self.digest}.lock"

    def read(self) -> EnvironmentRecord | None:
        """Return the record; None: there is no complete environment."""
        try:
            record = EnvironmentRecord.from_json(
                (self.directory / "recipe.json").read_bytes()
            )
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None
        return record if self.python.exists() else None

    def clear(self) -> None:
        """Make the directory anew; what was there was not complete."""
        if self.directory.exists():
            # Away first: what a killed build left running has lost its place.
            old = self.store / f".old-{secrets.token_hex(8)}"
            self.directory.rename(old)
            remove_tree(old)
        self.directory.mkdir(parents=True)

    def complete(self, record: EnvironmentRecord) -> None:
        """Write the record, once all else is on the disk."""
        os.sync()
        text = json.dumps(record.model_dump(mode="json"), indent=2) + "\n"
        write_atomically(self.directory / "recipe.json", text)

    def environment(self, record: EnvironmentRecord) -> Environment:
        """Return the environment, as a workspace takes it."""
        return Environment(
            python=str(self.python),
            own=True,
            directories=(self.venv, *record.interpreter.directories),
            roots=record.roots,
            generated=self.generated if record.has_generated else None,
            variables=record.variables,
        )
