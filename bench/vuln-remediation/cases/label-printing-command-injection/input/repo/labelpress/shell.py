"""Everything that touches the shell."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Completed:
    """How a command ended. A command that took too long has no exit code."""

    exit_code: int | None
    stdout: str
    stderr: str


def quote(value: str) -> str:
    """Quote a value, so that the shell takes it for one word."""
    return '"' + value.replace('"', '\\"') + '"'


def run(command: str, *, cwd: Path, timeout_seconds: float) -> Completed:
    """Run a line with the shell and wait for it."""
    try:
        process = subprocess.run(
            command,
            shell=True,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_seconds,
        )
    except subprocess.TimeoutExpired:
        return Completed(None, "", f"no result after {timeout_seconds:g} s")
    return Completed(process.returncode, process.stdout, process.stderr)
