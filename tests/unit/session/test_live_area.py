"""The lines below pytest's output leave no trace in it, on a real terminal."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import closing
from typing import TextIO

import pytest
from _pytest._io.terminalwriter import TerminalWriter
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from support_terminal import Screen
from support_terminal import open_terminal
from support_terminal import resize

from pytest_codegenie.session.live.area import Position
from pytest_codegenie.session.live.area import TerminalArea


COLUMNS, ROWS = 20, 8


class Desk:
    """A writer as pytest has one, on a terminal that is looked at."""

    def __init__(self) -> None:
        self._ours, self.theirs = open_terminal(COLUMNS, ROWS)
        self.file: TextIO = os.fdopen(os.dup(self.theirs), "w", encoding="utf-8")
        self.writer = TerminalWriter(self.file)
        self.screen = Screen(COLUMNS, ROWS)
        self.faults: list[Exception] = []

    def area(self) -> TerminalArea:
        return TerminalArea(self.writer, self.faults.append)

    def write(self, text: str) -> None:
        self.writer.write(text, flush=True)
        self.look()

    def look(self) -> None:
        while select.select([self._ours], [], [], 0)[0]:
            self.screen.feed(os.read(self._ours, 1 << 16))

    def close(self) -> None:
        self.file.close()
        os.close(self.theirs)
        os.close(self._ours)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


def showing(*lines: str) -> Callable[[int, int], Sequence[str]]:
    return lambda _columns, _rows: lines


def test_lines_are_below_the_output_and_the_cursor_where_pytest_left_it(
    desk: Desk,
) -> None:
    desk.write("one\ntwo ")
    area = desk.area()
    area.show(showing("first", "second"))
    desk.look()
    assert desk.screen.lines()[:4] == ["one", "two", "first", "second"]
    assert desk.screen.cursor == (1, 4)
    desk.write(".")
    assert desk.screen.lines()[:4] == ["one", "two .", "first", "second"]
    desk.write("\nthree\n")
    assert desk.screen.lines()[:6] == ["one", "two .", "three", "", "first", "second"]
    area.close()
    desk.look()
    assert desk.screen.text() == "one\ntwo .\nthree"
    assert desk.screen.cursor == (3, 0)
    assert not desk.faults


TEXTS = (".", "F", "word ", "\n", "\r", "\t", "ab\b", "é", "\rcollected 6 items\n")
WIDE = ("x" * 19, "x" * 20, "x" * 21, "y" * 47)
CODES = ("\x1b[32m.\x1b[0m", "\x1b]9;4;1;50\x1b\\")
PIECES = st.lists(
    st.tuples(st.sampled_from(TEXTS + WIDE + CODES), st.integers(0, 4)), max_size=40
)


@settings(deadline=None, max_examples=150)
@given(pieces=PIECES)
def test_what_is_left_on_the_screen_is_what_pytest_wrote(
    pieces: list[tuple[str, int]],
) -> None:
    with closing(Desk()) as with_lines, closing(Desk()) as without:
        area = with_lines.area()
        for text, lines in pieces:
            with_lines.write(text)
            area.show(showing(*(f"line {number}" for number in range(lines))))
            without.write(text)
        area.close()
        with_lines.look()
        assert with_lines.screen.text() == without.screen.text()
        assert with_lines.screen.cursor[1] == without.screen.cursor[1]
        assert not with_lines.faults


def test_what_the_terminal_echoes_of_a_key_hides_no_outcome(desk: Desk) -> None:
    area = desk.area()
    desk.write("..")
    area.show(showing("line"))
    os.write(desk.theirs, b"^C")
    desk.write("F")
    area.close()
    desk.look()
    assert desk.screen.text() == "..F"


def test_keys_do_not_show_while_there_are_lines_and_do_again_afterwards(
    desk: Desk,
) -> None:
    def echoes() -> bool:
        return bool(termios.tcgetattr(desk.theirs)[3] & termios.ECHO)

    assert echoes()
    area = desk.area()
    assert not echoes()
    area.close()
    assert echoes()


def test_the_lines_are_made_for_the_size_of_the_moment(desk: Desk) -> None:
    sizes = []

    def compose(columns: int, rows: int) -> list[str]:
        sizes.append((columns, rows))
        return []

    area = desk.area()
    area.show(compose)
    resize(desk.theirs, 33, 5)
    area.show(compose)
    resize(desk.theirs, 0, 0)
    area.show(compose)
    area.close()
    assert sizes == [(COLUMNS, ROWS), (33, 5), (80, 24)]


def test_nothing_is_drawn_into_captured_output(
    desk: Desk, tmp_path: os.PathLike[str]
) -> None:
    area = desk.area()
    area.show(showing("line"))
    desk.look()
    path = os.path.join(tmp_path, "captured")  # noqa: PTH118
    captured = os.open(path, os.O_RDWR | os.O_CREAT)
    terminal = os.dup(desk.file.fileno())
    os.dup2(captured, desk.file.fileno())
    desk.write("words of a case")
    os.dup2(terminal, desk.file.fileno())
    area.close()
    desk.look()
    assert os.pread(captured, 100, 0) == b"words of a case"
    assert desk.screen.text() == ""
    os.close(captured)
    os.close(terminal)


def test_what_goes_wrong_while_drawing_ends_the_lines_alone(desk: Desk) -> None:
    def broken(_columns: int, _rows: int) -> list[str]:
        raise ZeroDivisionError("by nothing")

    area = desk.area()
    area.show(showing("line"))
    area.show(broken)
    assert not area.is_open
    assert [str(fault) for fault in desk.faults] == ["by nothing"]
    assert desk.writer._file is desk.file
    desk.write("goes on\n")
    area.show(showing("line"))
    area.close()
    desk.look()
    assert desk.screen.text() == "goes on"


def test_a_terminal_that_is_gone_leaves_pytest_its_own_error(desk: Desk) -> None:
    area = desk.area()
    area.show(showing("line"))
    os.close(area._fd)
    desk.write("still written\n")
    assert not area.is_open
    assert [type(fault) for fault in desk.faults] == [OSError]
    assert "still written" in desk.screen.text()


@pytest.mark.parametrize(
    ("column", "text", "after"),
    [
        (0, "abc", 3),
        (3, "\r", 0),
        (3, "x\ny", 1),
        (19, "x", 20),
        (20, "x", 1),
        (0, "x" * 41, 1),
        (19, "好", 2),
        (18, "好", 20),
        (20, "\b", 18),
        (0, "\b", 0),
        (3, "\t", 8),
        (19, "\t", 19),
        (0, "e\N{COMBINING ACUTE ACCENT}", 1),
        (5, "\x1b[1;31m\x1b[0m\x1b]9;4;1;50\x07\x1b]8;;http://x\x1b\\", 5),
    ],
)
def test_the_column_after_a_text(column: int, text: str, after: int) -> None:
    assert Position(column, column).after(text, 20).column == after


def test_the_end_of_a_line_is_known_when_the_cursor_is_not_there() -> None:
    cursor = Position().after("1/2 workers\r2/2", 80)
    assert cursor == Position(3, 11)
    assert cursor.after(" workers.", 80) == Position(12, 12)
    assert cursor.after("\n", 80) == Position(0, 0)
