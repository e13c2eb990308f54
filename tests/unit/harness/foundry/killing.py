"""Kills builds of a project, each at another moment, until one comes to its end.

    python killing.py DIRECTORY SEED KILLS

It takes one project after the other, in new directories, until so many were killed.

Each build is a process of its own, that ends itself by SIGKILL at its n-th event:
opening, renaming, linking or removing a file, or starting a program. Every second one
counts from its first new state on, where the project's own files are written.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from support_foundry import build
from support_foundry import make_project


_EVENTS = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "subprocess.Popen")
#: Not as many as it takes to put a step's files into the project.
_LATE = 30
#: Of one project; then it does not go on at all.
_MOST = 300


def build_until(path: Path, last: int, *, late: bool) -> None:
    """Build in this process, until the event of that number."""
    count = 0
    counts = not late

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count, counts
        if event == "os.rename" and str(arguments[1]).endswith("build_state.json"):
            counts = True
        if event in _EVENTS and counts:
            count += 1
            if count >= last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    result = build(path)
    os._exit(result.exit_code)


def kill_until_complete(path: Path, rng: random.Random) -> int:
    """Build a project until it is complete; return how many builds were killed."""
    killed = 0
    # At first so early that each build gets a little further, if it goes on at all.
    reach = 60.0
    while killed < _MOST:
        late = rng.random() < 0.5
        last = rng.randrange(1, _LATE if late else int(reach))
        child = os.fork()
        if not child:
            build_until(path, last, late=late)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, f"exit code {os.WEXITSTATUS(status)}"
            return killed
        killed += 1
        reach *= 1.08
    raise AssertionError("it never came to its end")


def main() -> None:
    """Kill builds of one project after the other."""
    directory, seed, wanted = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    killed = number = 0
    while killed < wanted:
        number += 1
        project = make_project(directory / str(number) / "demo")
        killed += kill_until_complete(project, rng)


if __name__ == "__main__":
    main()
