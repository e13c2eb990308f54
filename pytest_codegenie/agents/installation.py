"""Where a program is installed: what has to be readable for it to start.

A script of npm's needs its package and Node; one of pip's its virtual environment and
the Python that this was made from. All of it is found by looking, nothing is run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path


_SHEBANG_BYTES = 512


@dataclass(frozen=True, slots=True)
class Installation:
    """A program of this machine."""

    #: What starts it: the interpreter of a script first, all by real paths.
    command: tuple[str, ...]
    #: Files and directories that it consists of.
    places: tuple[Path, ...]
    #: As its package declares it; None where that cannot be found.
    version: str | None = None


def find_installation(program: str) -> Installation | None:
    """Return how a program is installed; None where there is none.

    Args:
        program: A name that is looked up on PATH, or a path.
    """
    found = shutil.which(program)
    if found is None:
        return None
    link = Path(found).absolute()
    real = link.resolve()
    interpreter = _interpreter(real)
    places = [_package(real)]
    if interpreter is None:
        return Installation((str(real),), tuple(places), _npm_version(real))
    if (venv := _venv(interpreter)) is not None:
        # By its own path: that is how Python knows its environment.
        places += [venv, _prefix(interpreter.resolve())]
        version = _python_version(venv, real.name)
    else:
        interpreter = interpreter.resolve()
        places.append(_prefix(interpreter))
        version = _npm_version(real)
    return Installation((str(interpreter), str(real)), _distinct(places), version)


def _npm_version(program: Path) -> str | None:
    """Return the version of the package of npm's that a program lies in."""
    for place in program.parents:
        if place.name == "node_modules":
            return None
        try:
            declared = json.loads((place / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(declared, dict) and isinstance(declared.get("version"), str):
            return str(declared["version"])
    return None


def _python_version(venv: Path, program: str) -> str | None:
    """Return the version of the distribution that gives a program of an environment."""
    script = re.compile(rf"^{re.escape(program)}\s*=", re.M)
    for file in venv.glob("lib/python*/site-packages/*.dist-info/entry_points.txt"):
        try:
            if script.search(file.read_text(encoding="utf-8")):
                return file.parent.name.removesuffix(".dist-info").partition("-")[2]
        except (OSError, UnicodeDecodeError):
            continue
    return None


def _interpreter(script: Path) -> Path | None:
    """Return the program that a script is run by; None for a binary."""
    try:
        with script.open("rb") as file:
            line = file.read(_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return None
    if not line.startswith(b"#!"):
        return None
    words = [word for word in os.fsdecode(line[2:]).split() if word != "-S"]
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word]
        found = shutil.which(words[0]) if words else None
        return Path(found).absolute() if found else None
    return Path(words[0]) if words else None


def _venv(interpreter: Path) -> Path | None:
    """Return the virtual environment that an interpreter is of."""
    place = interpreter.parent.parent
    return place if (place / "pyvenv.cfg").is_file() else None


def _package(program: Path) -> Path:
    """Return what a program lies in: all of its ``node_modules``, or itself."""
    parents = [*program.parents]
    for place in reversed(parents):
        if place.name == "node_modules":
            return place
    return program


def _prefix(interpreter: Path) -> Path:
    """Return the directory that an interpreter is installed in, with its library."""
    place = interpreter.parent
    return place.parent if place.name == "bin" else interpreter


def _distinct(places: list[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(places))
