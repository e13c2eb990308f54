"""Where things are in workspaces whose file system is their own.

Always the same, so that an agent's words are too.
"""

from __future__ import annotations

from pathlib import PurePosixPath


#: SWE-bench's place for it.
TREE = PurePosixPath("/testbed")
SCRATCH = PurePosixPath("/scratch")
HOME = PurePosixPath("/home/agent")
TEMPORARY = PurePosixPath("/tmp")  # noqa: S108 -- the workspace's own
#: What we put there for a program; read-only.
CONTROL = PurePosixPath("/run/codegenie")
