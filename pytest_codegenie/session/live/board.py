"""What the live lines say: a line for each case that runs, and a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Sequence

from _pytest._io.wcwidth import wcwidth

from pytest_codegenie.errors import printable
from pytest_codegenie.harness.progress import CaseProgress


_BAR_CELLS = 20
#: Of the name of a case at least this much is shown before that of its agent.
_CASE_CELLS = 8
_COLOURS = {"passed": 32, "failed": 31, "errors": 31}


class Board:
    """What is known of a run, and the lines that show it.

    Times are readings of one clock, in seconds.

    Args:
        progress: From a node id to what its case has told.
        colours: Lines may have them.
    """

    def __init__(
        self, progress: Callable[[str], CaseProgress], *, colours: bool = False
    ) -> None:
        self._progress = progress
        self._colours = colours
        #: How many cases are to run; 0: not known yet.
        self.total = 0
        #: How many run at a time.
        self.workers = 1
        #: ``passed``, ``failed``, ``errors`` and others to how many.
        self.counts: Counter[str] = Counter()
        #: How many of them were not worked on by an agent in this run.
        self.recalled = 0
        self._done = 0
        #: Of those, how many took the time that they take: not those from a record.
        self._timed = 0
        self._spent = 0.0
        #: Node id to when it began.
        self._running: dict[str, float] = {}

    def start(self, nodeid: str, now: float) -> None:
        """Take it that a case begins."""
        self._running[nodeid] = now

    def finish(self, nodeid: str, now: float, *, ran: bool = True) -> None:
        """Take it that a case has ended.

        Args:
            nodeid: Of its item.
            now: The time.
            ran: Whether it was run; else its result was there already.
        """
        began = self._running.pop(nodeid, None)
        if began is not None:
            self._done += 1
            if ran:
                self._timed += 1
                self._spent += now - began

    def seconds_left(self, now: float) -> float | None:
        """Estimate from the mean of the cases that have run; None before one has.

        It takes the cases that are left to last as long, spread evenly over the
        workers.
        """
        if not self._timed:
            return None
        mean = self._spent / self._timed
        waiting = max(0, self.total - self._done - len(self._running))
        begun = sum(max(0.0, mean - (now - at)) for at in self._running.values())
        at_a_time = max(1, min(self.workers, waiting + len(self._running)))
        return (mean * waiting + begun) / at_a_time

    def lines(self, width: int, height: int, now: float, notice: str = "") -> list[str]:
        """Return the lines, each shorter than ``width``; none while nothing runs.

        Args:
            width: Of the terminal, in cells.
            height: How many lines there may be.
            now: The time.
            notice: What else is to be said, below the bar.
        """
        if not self._running or height < 1 or width < 2:
            return []
        below = [self._bar(width - 1, now)]
        if notice:
            below.append(cut(notice, width - 1))
        return (self._case_lines(width - 1, height - len(below), now) + below)[-height:]

    def _case_lines(self, width: int, height: int, now: float) -> list[str]:
        if height < 1:
            return []
        shown = list(self._running.items())
        more = 0
        if len(shown) > height:
            more = len(shown) - (height - 1)
            shown = shown[: height - 1]
        names = [printable(nodeid.rpartition("::")[2]) for nodeid, _ in shown]
        facts = [self._facts(nodeid, now - began) for nodeid, began in shown]
        lines = _columns(names, facts, width)
        return [*lines, cut(f"and {more} more", width)] if more else lines

    def _facts(self, nodeid: str, seconds: float) -> str:
        told = self._progress(nodeid)
        facts = f"{printable(told.phase):<8} {clock(seconds):>7}"
        if told.tokens is not None:
            facts += f"  {tokens(told.tokens)}"
        if told.cost_usd is not None:
            facts += f"  {told.cost_usd:.4f} USD"
        return facts

    def _bar(self, width: int, now: float) -> str:
        full = _BAR_CELLS * min(self._done, self.total) // max(1, self.total)
        parts = [f"[{'#' * full:-<{_BAR_CELLS}}] {self._done} of {self.total}: "]
        kinds = ["passed", "failed", "errors"]
        kinds += [kind for kind in self.counts if kind not in kinds]
        for number, kind in enumerate(kinds):
            parts += [", " if number else "", self._count(kind)]
        if self.recalled:
            parts.append(f" ({self.recalled} cached)")
        left = self.seconds_left(now)
        if left is not None:
            parts.append(f"; about {clock(left)} left")
        line = cut("".join(parts), width)
        return self._coloured(line) if self._colours else line

    def _count(self, kind: str) -> str:
        count = self.counts[kind]
        return f"{count} {'error' if (count, kind) == (1, 'errors') else kind}"

    def _coloured(self, line: str) -> str:
        for kind, colour in _COLOURS.items():
            if self.counts[kind]:
                word = self._count(kind)
                line = line.replace(f" {word}", f" \x1b[{colour}m{word}\x1b[0m", 1)
        return line


def _columns(names: Sequence[str], facts: Sequence[str], width: int) -> list[str]:
    """Put names and facts beside one another; names give way."""
    wide = max((cells(fact) for fact in facts), default=0)
    room = max(8, min(max(map(cells, names), default=0), width - wide - 2))
    lines = []
    for name, fact in zip(names, facts, strict=True):
        short = _cut_name(name, room)
        lines.append(cut(f"{short}{' ' * (room - cells(short))}  {fact}", width))
    return lines


def _cut_name(name: str, width: int) -> str:
    """Cut an item's name where its case's name ends: agents' names differ there."""
    case, bracket, agent = name.partition("[")
    left = width - cells(bracket + agent)
    if cells(name) <= width or left < _CASE_CELLS:
        return cut(name, width)
    return cut(case, left) + bracket + agent


def clock(seconds: float) -> str:
    """Return a duration as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def tokens(count: int) -> str:
    """Return a number of tokens in a few characters."""
    if count < 1000:
        return f"{count} tokens"
    return f"{count / 1000:.1f}k tokens" if count < 1_000_000 else _millions(count)


def _millions(count: int) -> str:
    return f"{count / 1_000_000:.2f}M tokens"


def cells(text: str) -> int:
    """Return how many cells of a terminal a printable text takes, as pytest counts."""
    return sum(max(0, wcwidth(char)) for char in text)


def cut(text: str, width: int) -> str:
    """Return a printable text, cut to a width; dots say that it goes on."""
    if cells(text) <= width:
        return text
    dots = "..."[: max(0, width)]
    left = max(0, width) - len(dots)
    kept = ""
    for char in text:
        left -= max(0, wcwidth(char))
        if left < 0:
            break
        kept += char
    return kept + dots
