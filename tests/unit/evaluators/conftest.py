"""Python environments for the evaluators' tests, each built once a session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where environments are kept that the tests of a session share."""
    place = tmp_path_factory.getbasetemp()
    if place.name.startswith("popen-"):  # of one worker of several
        place = place.parent
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--dest", str(place / "index-probe"), "iniconfig"]
    probe = subprocess.run(command, check=False, capture_output=True, text=True)
    if probe.returncode:
        reason = probe.stderr.strip().rpartition("\n")[2]
        pytest.skip(
            "no package index is reachable; name one in PIP_INDEX_URL, or a directory "
            f"of wheels in PIP_FIND_LINKS with PIP_NO_INDEX=1 ({reason})"
        )
    return place / "environments"
