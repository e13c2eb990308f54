"""Whether rubrics are kept from the network on this machine."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Literal


#: What ``rubric_host.drop_network`` does, in a process of its own.
_DROP = """
import ctypes
new_network, new_user = 0x40000000, 0x10000000
libc = ctypes.CDLL(None)
kept = libc.unshare(new_network) and libc.unshare(new_network | new_user)
raise SystemExit(1 if kept else 0)
"""


@functools.cache
def rubric_isolation() -> Literal["offline", "online"]:
    """Return what a rubric's process is kept from: the network, or not even that.

    All else about that process is the same everywhere. It is tried once, as this user.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _DROP], capture_output=True, check=False
    )
    return "online" if done.returncode else "offline"
