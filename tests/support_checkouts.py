"""Small checkouts in the layouts of QuixBugs and Exercism, with programs of our own.

``wrap`` and ``depth_first_search`` are QuixBugs' (MIT, Copyright James Koppel and
others), as the diffs of its labels show them; the tests and all else are our own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


_WRAP = """\
def wrap(text, cols):
    lines = []
    while len(text) > cols:
        end = text.rfind(' ', 0, cols)
        if end == -1:
            end = cols
        line, text = text[:end], text[end:]
        lines.append(line)

{more}    return lines

"""
_SEARCH = """\
def depth_first_search(startnode, goalnode):
    nodesvisited = set()

    def search_from(node):
        if node in nodesvisited:
            return False
        elif node is goalnode:
            return True
        else:
{more}            return any(
                search_from(nextnode) for nextnode in node.successors
            )

    return search_from(startnode)
"""
#: QuixBugs' own tests choose what they import in this way too: by an option that its
#: ``conftest.py`` adds.
_IMPORT = """\
import importlib

import pytest
{first}

program = importlib.import_module(f"{{pytest.programs}}.{name}")
{name} = program.{name}


"""
_DATA_TEST = """\
@pytest.mark.parametrize(("input_data", "expected"), read_pairs("{name}"))
def test_{name}(input_data, expected):
    result = {name}(*input_data)
    assert result == expected
"""
_GRAPH_TESTS = """\
last = Node("last")
middle = Node("middle", None, [last])
first = Node("first", None, [middle])
loop = Node("loop")
loop.successors = [loop]


def test1():
    assert depth_first_search(first, last)


def test2():
    assert not depth_first_search(last, first)


def test3():
    assert depth_first_search(first, first)


def test4():
    assert not depth_first_search(middle, first)


def test5():
    assert not depth_first_search(loop, last)
"""
#: Mixed ends of lines, as the real one has.
_WRAP_DOC = '"""\nWrap Text\n\nSpaces are kept.,Wrapping Text\r\n"""\n'
_WORDS = "one two three four five"

QUIXBUGS: Mapping[str, str] = {
    "conftest.py": (
        "import pytest\n\n\n"
        "def pytest_addoption(parser):\n"
        '    parser.addoption("--programs", default="python_programs")\n\n\n'
        "def pytest_configure(config):\n"
        '    pytest.programs = config.getoption("--programs")\n'
    ),
    "python_programs/wrap.py": _WRAP.format(more="") + _WRAP_DOC,
    "correct_python_programs/wrap.py": (
        "\n" + _WRAP.format(more="    lines.append(text)\n")
    ),
    "python_programs/depth_first_search.py": (
        _SEARCH.format(more="") + '\n\n\n"""\nDepth-first Search\n"""\n'
    ),
    "correct_python_programs/depth_first_search.py": (
        "\n" + _SEARCH.format(more="            nodesvisited.add(node)\n")
    ),
    "python_testcases/load_testdata.py": (
        "import json\nimport os\n\n\n"
        "def read_pairs(program):\n"
        "    here = os.path.dirname(__file__)\n"
        '    with open(f"{here}/../json_testcases/{program}.json") as file:\n'
        "        return list(map(json.loads, file))\n"
    ),
    "python_testcases/node.py": (
        "class Node:\n"
        "    def __init__(self, value, successor=None, successors=()):\n"
        "        self.value, self.successor = value, successor\n"
        "        self.successors = successors\n"
    ),
    "python_testcases/test_wrap.py": _IMPORT.format(
        name="wrap", first="from load_testdata import read_pairs\n"
    )
    + _DATA_TEST.format(name="wrap"),
    "python_testcases/test_depth_first_search.py": _IMPORT.format(
        name="depth_first_search", first="from node import Node\n"
    )
    + _GRAPH_TESTS,
    "json_testcases/wrap.json": "".join(
        f"{json.dumps(line)}\n"
        for line in (
            [[_WORDS, 50], [_WORDS]],
            [[_WORDS, 8], ["one two", " three", " four", " five"]],
            [["", 1], [""]],
            [["abc", 1], ["a", "b", "c"]],
            [["a b", 3], ["a b"]],
        )
    ),
}

TALLY_CONFIG: dict[str, Any] = {
    "authors": [],
    "blurb": "Count votes.",
    "files": {
        "solution": ["tally.py"],
        "test": ["tally_test.py"],
        "example": [".meta/example.py"],
    },
}
TALLY: Mapping[str, str] = {
    ".meta/config.json": json.dumps(TALLY_CONFIG),
    ".meta/example.py": (
        "def tally(votes):\n"
        "    return {vote: votes.count(vote) for vote in votes}\n\n\n"
        "def winner(votes):\n"
        "    return max(votes, key=votes.count) if votes else None\n"
    ),
    ".docs/instructions.md": "# Instructions\n\nCount votes, and say who wins.\n",
    ".docs/instructions.append.md": "# Instructions append\n\nNobody wins: `None`.",
    "tally.py": "def tally(votes):\n    pass\n\n\ndef winner(votes):\n    pass\n",
    "tally_test.py": (
        "import unittest\n\nfrom tally import tally\nfrom tally import winner\n\n\n"
        "class TallyTest(unittest.TestCase):\n"
        "    def test_counts(self):\n"
        '        self.assertEqual(tally(["a", "b", "a"]), {"a": 2, "b": 1})\n\n'
        "    def test_nobody(self):\n"
        "        self.assertIsNone(winner([]))\n\n"
        "    def test_winner(self):\n"
        '        self.assertEqual(winner(["a", "b", "b"]), "b")\n'
    ),
}


def write_tree(directory: Path, files: Mapping[str, str]) -> Path:
    """Write files, byte by byte as they are."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return directory
