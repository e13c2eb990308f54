"""What reports say of a rubric's isolation is what its process has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest_codegenie
from pytest_codegenie.scoring import rubric_isolation


ROOT = Path(pytest_codegenie.__file__).parents[1]
#: The host's own function, and whether the loopback that is there is another one.
TRY = """
import os, sys
sys.argv = ["rubric_host.py", sys.argv[1]]
from pytest_codegenie.scoring.rubric_host import drop_network
before = os.readlink("/proc/self/ns/net")
drop_network()
print(os.readlink("/proc/self/ns/net") != before)
"""


def test_it_is_what_the_hosts_own_function_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(ROOT)], capture_output=True, check=True
    )
    dropped = json.loads(done.stdout.decode().lower())
    assert rubric_isolation() == ("offline" if dropped else "online")
