"""Where a run is, on the terminal of somebody who watches; nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import Project
from support_terminal import Terminal
from support_warm import warm_python


#: What erases the lines; pytest itself never writes it.
ERASES = b"\x1b[J"
RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")


class Watched:
    """Three cases; the agent works on the one called ``b-held`` until it may go on."""

    def __init__(self, project: Project) -> None:
        self.project = project
        for name in ("a-quick", "b-held", "c-quick"):
            problem = {"input/problem.md": f"{name}\n"}
            project.case(name, files=ALWAYS_RIGHT | problem)
        self.go = project.path / "go"
        script = (
            "echo >> README.md; name=$(cat); while [ $name = b-held ] "
            f"&& [ ! -e {self.go} ]; do sleep 0.05; done"
        )
        self.option = project.shell_agent(script, workspace="host")

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 30,
    ) -> Terminal:
        argv = [*warm_python(), "-m", "pytest", "--codegenie", self.option]
        return Terminal(
            [*argv, *arguments],
            self.project.path,
            env={"COLUMNS": str(columns), **(env or {})},
            columns=columns,
            rows=rows,
        )

    def let_go(self, terminal: Terminal) -> int:
        self.go.touch()
        return terminal.end()


@pytest.fixture
def watched(project: Project) -> Watched:
    return Watched(project)


def without_times(text: str) -> str:
    """Return what a run shows without what no two runs have in common."""
    text = re.sub(r"chain head \w{64}", "", text)
    text = RUN_ID.sub("RUN", text.replace("\n", ""))
    return re.sub(r"\d+\.\d+ ?s|=+", "", text)


def test_lines_show_what_runs_and_leave_no_trace(
    watched: Watched, plugin_args: list[str]
) -> None:
    terminal = watched.start(*plugin_args)
    done = 2 if plugin_args else 1
    terminal.wait_for(
        lambda screen: f"{done} of 3: {done} passed, 0 failed, 0 errors" in screen
    )
    terminal.wait_for(lambda screen: re.search(r"b-held\[shell\]  agent +0:0", screen))
    screen = terminal.screen.lines()
    (row,) = [n for n, line in enumerate(screen) if line.startswith("b-held[shell]")]
    assert screen[row + 1].startswith("[######" if done == 1 else "[#############-")
    assert screen[row + 1].endswith(" left")
    # The cursor is where pytest goes on, right above.
    assert terminal.screen.cursor[0] == row - 1
    assert watched.let_go(terminal) == 0
    assert ERASES in terminal.screen.raw
    seen = terminal.screen.text()
    assert "3 of 3 passed" in seen
    assert "[##" not in seen
    assert not re.search(r"b-held\[shell\]  agent", seen)


def test_the_screen_is_left_as_without_lines(watched: Watched) -> None:
    terminal = watched.start()
    terminal.wait_for(lambda screen: "1 of 3: 1 passed" in screen)
    assert watched.let_go(terminal) == 0
    seen = without_times(terminal.screen.text())
    in_ci = watched.start(env={"CI": "true"})
    switched_off = watched.start("-p", "no:codegenie-live")
    for plain in (in_ci, switched_off):
        assert plain.end() == 0
        assert ERASES not in plain.screen.raw
        assert without_times(plain.screen.text()) == seen


def test_what_goes_to_a_file_has_no_trace_of_them(watched: Watched) -> None:
    watched.go.touch()
    result = watched.project.run(watched.option, "--color=no")
    result.assert_outcomes(passed=3)
    assert "\x1b" not in result.stdout.str() + result.stderr.str()


def test_a_small_terminal_without_colours_shows_the_bar(watched: Watched) -> None:
    terminal = watched.start("-v", env={"NO_COLOR": "1"}, columns=50, rows=5)
    terminal.wait_for(lambda screen: "1 of 3: 1 passed" in screen)
    assert all(len(line) < 50 for line in terminal.screen.lines()[-2:])
    assert watched.let_go(terminal) == 0
    assert ERASES in terminal.screen.raw
    assert b"\x1b[32m" not in terminal.screen.raw
    assert "b-held/case.toml::b-held[shell] PASSED" in terminal.screen.text().replace(
        "\n", ""
    )


def test_a_debugger_has_the_terminal_to_itself(watched: Watched) -> None:
    watched.project.path.joinpath("conftest.py").write_text(
        "def pytest_runtest_call(item):\n"
        "    if item.name.startswith('b-held'):\n"
        "        breakpoint()\n"
    )
    terminal = watched.start("-p", "no:timeout")
    terminal.wait_for(lambda screen: "1 of 3: 1 passed" in screen)
    watched.go.touch()
    terminal.wait_for(lambda screen: "(Pdb)" in screen)
    assert "of 3:" not in "\n".join(terminal.screen.lines())
    shown = len(terminal.screen.raw)
    terminal.type("c\n")
    assert terminal.end() == 0
    assert ERASES not in terminal.screen.raw[shown:]
