"""Which Python a case runs on: the running one, or another that is installed here."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import Record
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces.environments.commands import SetupRun


_WANTED = re.compile(r"\d+\.\d+(\.\d+)?")
#: What of a Python's prefix belongs to it, where the prefix may hold other things too.
_PARTS = ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg")
_PROBE_SECONDS = 60.0
#: Old Pythons have to understand it.
_PROBE = """
import json, os, sys, sysconfig
print(json.dumps({
    "executable": os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
    "version": ".".join(map(str, sys.version_info[:3])),
    "build": sys.version,
    "platform": sysconfig.get_platform(),
    "prefix": getattr(sys, "base_prefix", sys.prefix),
}))
"""


class Interpreter(Record):
    """A Python of this machine; never that of a virtual environment."""

    executable: str
    #: ``major.minor.micro``.
    version: str
    #: What it says of how it was built.
    build: str
    platform: str
    prefix: str

    def fits(self, wanted: str) -> bool:
        """Say whether it is what a case asks for: "" is any."""
        return not wanted or f"{self.version}.".startswith(f"{wanted}.")

    @property
    def directories(self) -> tuple[Path, ...]:
        """Where it lies, as far as that is not part of the system."""
        return prefix_directories([self.prefix])


def prefix_directories(prefixes: Iterable[str]) -> tuple[Path, ...]:
    """Return the directories of Python prefixes that are not below ``/usr``.

    A prefix that holds nothing else is there whole: one mount instead of six.
    """
    found: list[Path] = []
    for prefix in map(Path, dict.fromkeys(prefixes)):
        if prefix.is_relative_to("/usr"):
            continue
        names = {path.name for path in prefix.iterdir()}
        if names <= {*_PARTS, ".gitignore", ".lock", "CACHEDIR.TAG", "etc", "man"}:
            found.append(prefix)
        else:
            found += [prefix / part for part in _PARTS if part in names]
    return tuple(found)


def running_interpreter() -> Interpreter:
    """Return the interpreter that runs this, without its virtual environment."""
    executable = getattr(sys, "_base_executable", None) or sys.executable
    return Interpreter(
        executable=os.path.realpath(executable),
        version=".".join(map(str, sys.version_info[:3])),
        build=sys.version,
        platform=sysconfig.get_platform(),
        prefix=sys.base_prefix,
    )


def find_interpreter(wanted: str, cache: Path, run: SetupRun) -> Interpreter:
    """Return an interpreter of a version.

    Args:
        wanted: ``major.minor``, or with the micro version; "": the running one.
        cache: Keeps what interpreters said of themselves, so that each is asked once.
        run: Asks them.

    Raises:
        WorkspaceUnavailable: There is none.
    """
    running = running_interpreter()
    if running.fits(wanted):
        return running
    if not _WANTED.fullmatch(wanted):
        raise WorkspaceUnavailable(
            f"input/task.toml: environment.python: {wanted!r} is no version; write "
            "major.minor, as in '3.11'"
        )
    for path in dict.fromkeys(_candidates(wanted)):
        found = _ask(path, cache / "interpreters", run)
        if found is not None and found.fits(wanted):
            return found
    raise WorkspaceUnavailable(
        f"Python {wanted} is not installed: it is neither on PATH nor among the "
        f"versions of pyenv or uv. Install it (uv python install {wanted}, pyenv "
        f"install {wanted}, or the system's packages), or change environment.python in "
        "input/task.toml"
    )


def _candidates(wanted: str) -> Iterator[Path]:
    """Yield interpreters by name and place alone; links are followed."""
    minor = ".".join(wanted.split(".")[:2])
    places = [Path(entry) for entry in os.get_exec_path() if entry]
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv", "versions")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for root, pattern in ((pyenv, f"{minor}.*"), (uv, f"cpython-{minor}.*")):
        found = sorted(root.glob(pattern), key=_numbers, reverse=True)
        places += [path / "bin" for path in found]
    for place in places:
        path = (place / f"python{minor}").resolve()
        if path.is_file() and os.access(path, os.X_OK) and not _is_script(path):
            yield path


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _is_script(path: Path) -> bool:
    """Say whether it only looks for an interpreter itself, as pyenv's shims do."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def _ask(path: Path, records: Path, run: SetupRun) -> Interpreter | None:
    """Return what an interpreter says of itself; None: it does not run."""
    status = path.stat()
    key = [str(path), status.st_mtime_ns, status.st_size, status.st_ino]
    record = records / f"{hash_bytes(json.dumps(key).encode())[7:39]}.json"
    try:
        return Interpreter.from_json(record.read_bytes())
    except (OSError, ValidationError):
        pass  # asked for the first time, or by another version of ours
    try:
        completed = run(
            [str(path), "-I", "-S", "-c", _PROBE],
            cwd=Path("/"),
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            readable=prefix_directories([str(path.parent.parent)]),
            writable=(),
            limits=Limits(timeout_seconds=_PROBE_SECONDS),
            log_path=None,
        )
        found = Interpreter.from_json(completed.stdout)
    except (NotStarted, ValidationError):
        return None
    records.mkdir(parents=True, exist_ok=True)
    write_atomically(record, found.to_json())
    return found
