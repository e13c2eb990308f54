"""A Python for tests that is up at once, as it forks from one that has all imported.

A session in a process of its own costs a second of imports, with two workers three;
forked, a tenth. It is a process as any other, but for what only a start can show:
what is imported, when, and what a variable for the interpreter does. Tests of that,
and of signals and deaths, start ``sys.executable``.
"""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import execnet.gateway_io
from execnet.gateway_io import popen_bootstrapline


if TYPE_CHECKING:
    import pytest
    from execnet.xspec import XSpec


_HERE = Path(__file__).parent / "warm"


@functools.cache
def warm_python() -> tuple[str, ...]:
    """Return the command that stands for ``sys.executable``.

    Its server is started when it is first asked for, and ends with this process.
    """
    # A socket's path may not be long.
    directory = Path(tempfile.mkdtemp(prefix="warm-", dir="/tmp"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    address = str(directory / "server")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, str(_HERE / "server.py"), str(listener.fileno())],
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            pass_fds=[listener.fileno()],
            # Open as long as this process lives.
            stdin=subprocess.PIPE,
        )
    atexit.register(server.communicate)
    return (sys.executable, "-I", "-S", str(_HERE / "client.py"), address)


def warm_programs() -> Path:
    """Return a directory with ``codegenie`` and ``pytest``, for the PATH."""
    *python, address = warm_python()
    directory = Path(address).parent
    for name in ("codegenie", "pytest"):
        (script,) = entry_points(group="console_scripts", name=name)
        # As pip's scripts do it: they have no directory of the user's on the path.
        code = (
            f"import sys; sys.path.pop(0); sys.argv[0] = {name!r}; "
            f"from {script.module} import {script.attr}; sys.exit({script.attr}())"
        )
        words = shlex.join([*python, address, "-c", code])
        program = directory / name
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return directory


def start_workers_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions of this process start xdist's workers as forks."""

    def popen_args(_: XSpec) -> list[str]:
        return [*warm_python(), "-u", "-c", popen_bootstrapline]

    monkeypatch.setattr(execnet.gateway_io, "popen_args", popen_args)
