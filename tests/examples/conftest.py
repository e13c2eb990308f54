"""What runs a page of the documentation as a reader would.

A page is worked through from top to bottom in one fresh directory. A fenced block
with ``title="path"`` is written to that path. In a ``console`` block each line that
starts with ``$ `` is run, and what follows it is what it has to print: ``...`` in a
line stands for any text, a line of ``...`` alone for any lines. A command must succeed,
unless the next one is ``echo $?``. Other blocks are only read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support_warm import warm_programs


DOCS = Path(__file__).parents[2] / "docs"
TIMEOUT_SECONDS = 180
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S
)
_TITLE = re.compile(r'title="([^"]+)"')
#: Of the pytest that runs us, which is no business of the one that a reader starts.
_PRIVATE_PREFIXES = ("PYTEST_", "CODEGENIE_", "COV_CORE_", "GITHUB_")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    language: str
    #: The file that it is; "" for none.
    title: str
    text: str
    #: 1-based.
    line: int


def read_blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in _FENCE.finditer(text):
        info, indent = match["info"].strip(), match["indent"]
        title = _TITLE.search(info)
        content = re.sub(f"^{indent}", "", match["text"], flags=re.M)
        blocks.append(
            Block(
                language=info.partition(" ")[0],
                title=title[1] if title else "",
                text=content,
                line=text.count("\n", 0, match.start()) + 1,
            )
        )
    return blocks


def split_commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Yield (line, command, expected output) of a console block."""
    parts = re.split(r"^\$ ", block.text, flags=re.M)
    line = block.line + 1 + parts[0].count("\n")
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        yield line, command, expected
        line += part.count("\n")


def matches(expected: str, actual: str) -> bool:
    """Tell whether an output is the expected one, where ``...`` is anything."""
    pattern = ""
    for line in expected.rstrip("\n").split("\n") if expected.strip() else ():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            words = [re.escape(part) for part in line.rstrip().split("...")]
            pattern += r"[^\n]*".join(words) + r"[ ]*\n"
    text = actual.rstrip("\n") + "\n" if actual else ""
    return re.fullmatch(pattern, text) is not None


class Walk:
    """One reader, in one directory."""

    def __init__(self, directory: Path, *, programs: Path | None = None) -> None:
        """Make a reader.

        Args:
            directory: Where the reader is.
            programs: A directory whose programs come before all others; None: none.
        """
        self.directory = directory
        self._exit_code = 0
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(_PRIVATE_PREFIXES)
        }
        # Programs of the environment that the tests run in come first.
        places = [str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
        if programs is not None:
            places.insert(0, str(programs))
        self._environment = environment | {
            "PATH": os.pathsep.join(places),
            "COLUMNS": "80",
            "GIT_CONFIG_GLOBAL": os.devnull,
            # Its plugin takes a second of each run, and has no part in any page.
            "PYTEST_ADDOPTS": "-p no:hypothesispytest",
        }

    def take(self, page: Path) -> int:
        """Work through a page; return how many commands it had."""
        taken = 0
        for block in read_blocks(page):
            if block.title:
                self._write(block)
            elif block.language == "console":
                taken += self._run_block(page, block)
        return taken

    def _write(self, block: Block) -> None:
        path = self.directory / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _run_block(self, page: Path, block: Block) -> int:
        __tracebackhide__ = True
        commands = list(split_commands(block))
        for number, (line, command, expected) in enumerate(commands):
            place = f"{page.name}, line {line}: $ {command}"
            output, code = self._run(command)
            checked = commands[number + 1 :][:1]
            if code and not (checked and checked[0][1] == "echo $?"):
                pytest.fail(f"{place}\nended with exit code {code}\n{output}")
            if not matches(expected, output):
                pytest.fail(f"{place}\nprinted\n{output}\ninstead of\n{expected}")
        return len(commands)

    def _run(self, command: str) -> tuple[str, int]:
        done = subprocess.run(
            # ``$?`` is that of the command before.
            ["bash", "-c", f"(exit {self._exit_code})\n{command}"],
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_SECONDS,
            check=False,
            encoding="utf-8",
        )
        self._exit_code = done.returncode
        return done.stdout, done.returncode


@pytest.fixture
def walk_through(tmp_path: Path) -> Callable[[str], Path]:
    """Run a page of ``docs/`` by its name; return the directory that it left."""

    def walk(name: str) -> Path:
        directory = tmp_path / "reader"
        directory.mkdir()
        # There are many; the tutorial is walked with what pip has installed.
        programs = warm_programs() if name.startswith("how-to/") else None
        taken = Walk(directory, programs=programs).take(DOCS / name)
        assert taken, f"docs/{name} has no console block"
        return directory

    return walk
