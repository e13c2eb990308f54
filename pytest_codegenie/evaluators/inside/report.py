"""The report of a test run, written from inside of it. Runs on any Python 3.6+.

The judged code runs in this same process, so nothing here can be hidden from it. But
to lie it has to find the key, and to find it behind the back of ``guard.py``: each
line has its number and a code made with a key that only the request held, and the
request is gone before any of the tree is imported. What the report is held against
afterwards does not depend on it: the exit code, the set of tests that was asked for,
planted tests with random names that must fail, and the test files on the disk.
"""

import hashlib
import json
import os
import random
import sys
import types


def let_in(tree, roots, first=True):
    """Put the tree, and the directories that its modules are in, on the path.

    Args:
        tree: Its directory.
        roots: Relative to it; none: the tree itself.
        first: Before what the environment has, or after it.
    """
    places = [os.path.join(tree, root) if root else tree for root in roots or [""]]
    places = list(dict.fromkeys([tree, *places]))
    others = [place for place in sys.path if place not in places]
    sys.path[:] = places + others if first else others + places


def take_request():
    """Read the request and leave no trace of it, nor of this program's own module."""
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    os.unlink(sys.argv[1])
    del sys.argv[1:]
    sys.modules["__main__"] = types.ModuleType("__main__")
    return request


class Report(object):
    """Appends lines: what was collected, what came of it, that it ended."""

    def __init__(self, path, key):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        self.write = _make_writer(fd, bytes.fromhex(key))


def _make_writer(
    fd,
    key,
    dumps=json.dumps,
    blake2b=hashlib.blake2b,
    os_write=os.write,
    getpid=os.getpid,
):
    """Return the function that writes an event; its parts cannot be replaced."""
    pid = getpid()
    written = [0]

    def write(**event):
        if getpid() != pid:
            return  # a fork of a test's, on its way to its end
        event["number"] = written[0]
        written[0] += 1
        data = dumps(event).encode("utf-8")
        code = blake2b(data, key=key, digest_size=16).hexdigest()
        os_write(fd, code.encode("ascii") + b" " + data + b"\n")

    return write


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

    def place(self, tests, group_of):
        """An index between two groups: what a group shares is set up once."""
        groups = [group_of(test) for test in tests]
        return self._random.choice(
            [
                index
                for index in range(len(tests) + 1)
                if index in (0, len(tests)) or groups[index - 1] is not groups[index]
            ]
        )
