"""Make a signed bench to measure with: ``python benches.py ROOT CASES KIND``.

Kinds: ``files`` (five files of 1 KiB beside case.toml), ``repairs`` (cases that a line
of shell solves, and a line of shell judges), ``tested`` (the same, judged by pytest),
``big`` (one sparse file of 2 GiB in each case).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_codegenie.corpus import new_task_class
from pytest_codegenie.corpus import plan_signing
from pytest_codegenie.corpus import sign


TASK_CLASS = "generated"
BIG_FILE = "input/repo/data.bin"
BIG_FILE_BYTES = 2 << 30

_CASE = """\
case_id = "{case_id}"
task_class = "generated"
disposition = "positive"
difficulty = "easy"
source = "curated"
curation_class = "held-out"
added_at = {today}
last_validated_at = {today}
cassette_canary_pin = "{number:032x}"
"""
_TASK = """\
[repository]
name = "acme/calculator"
source = "repo"

[environment]
install = "none"
"""
_TESTS = """\
framework = "command"
command = ["/bin/sh", "-c", "grep -q 'return a + b' calc.py"]
"""
_REPAIRS = {
    "input/task.toml": _TASK,
    "input/problem.md": "add(2, 2) gives 0.\n",
    "input/repo/calc.py": "def add(a, b):\n    return a - b\n",
    "input/repo/README.md": "# Calculator\n",
    "input/repo/shop.py": "from calc import add\n\n\nTOTAL = add(1, 2)\n",
    "input/repo/notes.txt": "Nothing here.\n",
    "expected/tests.toml": _TESTS,
}
_TESTED = _REPAIRS | {
    "expected/tests.toml": (
        'framework = "pytest"\n'
        'fail_to_pass = ["tests/test_calc.py::test_adds"]\n'
        'pass_to_pass = ["tests/test_calc.py::test_keeps"]\n'
    ),
    "expected/overlay/tests/test_calc.py": (
        "from calc import add\n\n\n"
        "def test_adds():\n    assert add(2, 2) == 4\n\n\n"
        "def test_keeps():\n    assert add(2, 0) == 2\n"
    ),
}
_FILES = (
    "input/task.toml",
    "input/problem.md",
    "input/repo/calc.py",
    "input/repo/shop.py",
    "expected/tests.toml",
)
#: What solves a case of the kind ``repairs``.
REPAIR = "sed -i 's/a - b/a + b/' calc.py"


def make(root: Path, cases: int, kind: str, today: str) -> None:
    """Make ``root/generated`` with that many cases and sign it."""
    task_class = new_task_class(TASK_CLASS, root)
    for number in range(cases):
        case_id = f"case-{number:05d}"
        directory = task_class / "cases" / case_id
        for name, content in _contents(kind, number).items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        table = _CASE.format(case_id=case_id, number=number, today=today)
        (directory / "case.toml").write_text(table, encoding="utf-8")
        if kind == "big":
            with (directory / BIG_FILE).open("wb") as file:
                file.truncate(BIG_FILE_BYTES)
    sign(plan_signing(task_class))


def _contents(kind: str, number: int) -> dict[str, bytes]:
    if kind == "files":
        return {
            name: f"# {number} {name}\n".encode().ljust(1024, b".") for name in _FILES
        }
    texts = _TESTED if kind == "tested" else _REPAIRS
    return {name: text.encode() for name, text in texts.items()}


def main() -> None:
    """Read the command line and make the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("cases", type=int)
    parser.add_argument("kind", choices=("files", "repairs", "tested", "big"))
    options = parser.parse_args()
    make(options.root, options.cases, options.kind, "2026-11-21")


if __name__ == "__main__":
    main()
