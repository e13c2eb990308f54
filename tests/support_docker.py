"""Engines for tests: whether one is there, and has our base image."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

from pytest_codegenie.workspaces.docker.workspace import DockerWorkspace


BASE = "codegenie-base:1-python3.11"
#: Ends all that a command has started, not only the command.
_WITHIN = ("timeout", "--kill-after=5", "400")
_BUILD = Path(__file__).parents[1] / "docker" / "base" / "build"


@functools.cache
def missing() -> str:
    """Return "" if there is an engine with our base image, or else why not.

    The image is built where it can be; once, whoever asks.
    """
    fault = DockerWorkspace().probe()
    if fault:
        return fault
    return build_base("docker")


def build_base(engine: str) -> str:
    """Return "" if an engine has our base image now, or else why not."""
    if shutil.which(engine) is None:
        return f"no command {engine!r} to make {BASE} with ({_BUILD.name})"
    command = [*_WITHIN, str(_BUILD), engine]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[-500:]
        return f"{BASE} cannot be made (apt-get install mmdebstrap): {words}"
    return ""
