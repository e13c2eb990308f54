"""Under xdist the corpus is read once, by the controller."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.sessions import Project


_IN_OPEN = 0x20
_IN_CLOSE = 0x08 | 0x10
_EVENT = struct.Struct("iIII")


class OpenCounter:
    """Counts how often any process opens a file, as the kernel tells."""

    def __init__(self, path: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        mask = _IN_OPEN | _IN_CLOSE
        if self._libc.inotify_add_watch(self._fd, os.fsencode(path), mask) < 0:
            pytest.skip("inotify does not work here")

    def count(self) -> int:
        """Return how often the file was opened since the last call."""
        opened = 0
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                return opened
            for offset in range(0, len(data), _EVENT.size):
                opened += bool(_EVENT.unpack_from(data, offset)[1] & _IN_OPEN)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def counter(project: Project) -> Iterator[OpenCounter]:
    """Watches a file that nothing but hashing reads."""
    directory = project.case(
        "first",
        files={
            "expected/tests.toml": 'framework = "command"\ncommand = "true"\n',
            "expected/notes.txt": "nobody reads this but the digest\n",
        },
    )
    counter = OpenCounter(directory / "expected/notes.txt")
    yield counter
    counter.close()


def test_one_process_reads_each_file_once_to_verify_it(
    project: Project, counter: OpenCounter
) -> None:
    project.run("--collect-only").assert_outcomes()
    assert counter.count() == 1


@pytest.mark.parametrize("place", [".", "bench/demo-task/cases/first/case.toml"])
def test_workers_do_not_read_what_the_controller_has_hashed(
    project: Project, counter: OpenCounter, place: str
) -> None:
    result = project.run("-n2", "-k", "nothing-of-the-kind", place)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert counter.count() == 1


def test_workers_read_what_changed_since_then(
    project: Project, counter: OpenCounter
) -> None:
    project.path.joinpath("conftest.py").write_text(
        "def pytest_configure_node(node):\n"
        "    case = node.config.rootpath / 'bench/demo-task/cases/first'\n"
        "    case.joinpath('expected/notes.txt').touch()\n"
    )
    result = project.run("-n2", "-k", "nothing-of-the-kind")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    # The controller and each worker; the kernel may make one of two at once.
    assert counter.count() in (2, 3)
