"""The report of a test run, written from inside of it. Runs on any Python 3.6+.

The judged code runs in this same process, so nothing here can be hidden from it.
What the report is held against afterwards does not depend on it: the exit code, the
set of tests that was asked for, and planted tests with random names that must fail.
"""

import json
import os
import random


class Report(object):
    """Appends JSON lines: what was collected, what came of it, that it ended."""

    def __init__(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)

    def write(self, **event):
        os.write(self._fd, (json.dumps(event) + "\n").encode("utf-8"))


class Canaries(object):
    """Planted tests: each must fail, with a text that nobody else knows."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def name(self):
        """A name like any other test's."""
        words = ("default", "empty", "order", "value", "nested", "twice", "missing")
        chosen = self._random.sample(words, 3)
        return "test_%s_%d" % ("_".join(chosen), self._random.randrange(10**6))

    def nonce(self):
        return "%032x" % self._random.getrandbits(128)

    def position(self, length):
        return self._random.randint(0, length)
