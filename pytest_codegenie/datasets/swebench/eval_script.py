"""``eval_script``: what SWE-bench runs in an instance's container, taken apart.

Such a script activates an environment, installs the project again, puts the files of
the tests back, applies the test patch, runs the tests between two marks, and puts the
files back once more. Here the parts are needed one by one. It is read, never run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


_START = ">>>>> Start Test Output"
_END = ">>>>> End Test Output"
#: Where the test patch begins: its words follow until a line that is the delimiter.
_APPLY = re.compile(r"git apply .*<<'?(\w+)'?")
#: What every script does, or what a container alone can do.
_NOT_OURS = re.compile(
    r"#|set -|source |\. |conda |cd |git |: |echo |rm -f |cat >|mkdir |cp /"
    r"|(sudo )?(apt|apt-get|locale-gen|dpkg|apk|yum) "
    r"|.*/etc/"
)
_EXPORT = re.compile(r"export \w+=")
#: Whose exit code, or meaning, is another one in a plain shell; or whose trace is read.
_BASH = re.compile(
    r"[|]|\[\[|<\(|\bsource |-Dtest=|\bxvfb-run |node_modules/\.bin/(jest|mocha) "
)
#: Installs the project and nothing that ``install = "auto"`` would not.
_PROJECT_ALONE = re.compile(
    r"(python3? -m )?pip3? install( -[ev]| --editable| --verbose)* "
    r"(['\"]?)\.(\[[\w,-]+\])?\3( --verbose)?"
)


@dataclass(frozen=True, slots=True)
class EvalScript:
    """The parts of a script that a case is made of."""

    #: What installs.
    installs: tuple[str, ...]
    #: ``export NAME=value``, for the tests.
    exports: tuple[str, ...]
    #: What has to run between the test patch and the tests, as compilers do.
    builds: tuple[str, ...]
    #: The tests.
    tests: tuple[str, ...]

    @property
    def installs_project_alone(self) -> bool:
        """Say whether nothing but the project is installed, with extras of its own."""
        return all(map(_PROJECT_ALONE.fullmatch, self.installs))

    @property
    def command(self) -> str | list[str]:
        """Return what runs the tests: a shell line, or what only Bash may understand.

        A script of several commands is run as SWE-bench does, its commands traced: what
        reads the output may want to see them.
        """
        if not self.builds and len(self.tests) == 1 and not _BASH.search(self.tests[0]):
            return "\n".join((*self.exports, *self.tests))
        # What a build prints is no test's.
        marks = (f"echo '{_START}'", f"echo '{_END}'")
        lines = (
            "set -uxo pipefail",
            *self.exports,
            *self.builds,
            marks[0],
            *self.tests,
            "status=$?",
            marks[1],
            "exit $status",
        )
        return ["bash", "-c", "\n".join(lines)]


def parse(script: str) -> EvalScript | None:
    """Return the parts of a script; None where it has no marks around its tests."""
    before, start, rest = _at_mark(script, _START)
    tests, end, _ = _at_mark(rest, _END)
    if not start or not end:
        return None
    setup, builds = _around_patch(before.split("\n"))
    setup = [line for line in setup if line.strip()]
    return EvalScript(
        installs=tuple(_ours(setup)),
        exports=tuple(line for line in setup if _EXPORT.match(line)),
        builds=tuple(_ours(builds)),
        tests=tuple(line for line in tests.split("\n") if line.strip()),
    )


def _at_mark(text: str, mark: str) -> tuple[str, str, str]:
    """Part a text at the line that has a mark."""
    before, found, after = text.partition(mark)
    if not found:
        return text, "", ""
    return before.rpartition("\n")[0], found, after.partition("\n")[2]


def _around_patch(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return what comes before the test patch is applied, and what after."""
    for number, line in enumerate(lines):
        if found := _APPLY.match(line):
            try:
                end = lines.index(found[1], number)
            except ValueError:
                end = len(lines)
            return lines[:number], lines[end + 1 :]
    return lines, []


def _ours(lines: list[str]) -> list[str]:
    return [
        line
        for line in lines
        if line.strip() and not _EXPORT.match(line) and not _NOT_OURS.match(line)
    ]
