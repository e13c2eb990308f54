"""Ends a test that computes for too long, and lets the next one run.

A copy of this file is ``conftest.py`` beside the hidden tests, where a faulty program
may loop for ever. QuixBugs' own tests are run with a limit of 5 seconds each, by the
plugin pytest-timeout, which judging has not.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


#: Of CPU time, so that a busy machine changes no result.
SECONDS = 5.0


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fail a test by an exception once it has used that much of the CPU."""

    def stop(_number: int, _frame: object) -> None:
        pytest.fail(f"longer than {SECONDS:g} seconds of CPU time")

    signal.signal(signal.SIGPROF, stop)
    # Again each second: the faulty program may handle the first one.
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1.0)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
