"""The reporter ``console``: tables for a terminal, by Rich."""

from __future__ import annotations

import io
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import Overview
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.rows import FOOTNOTE
from pytest_codegenie.reporters.rows import NotPassed
from pytest_codegenie.reporters.rows import mean_of
from pytest_codegenie.reporters.rows import not_passed
from pytest_codegenie.reporters.rows import recalled_of
from pytest_codegenie.reporters.rows import shown
from pytest_codegenie.reporters.rows import time_of
from pytest_codegenie.reporters.rows import trials_of


#: So many results that did not pass are listed; nobody reads more on a terminal.
LISTED = 100
#: Of a message.
_SHOWN = 200
#: Less does not hold the figures.
_LEAST_COLUMNS = 80
_AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
_STYLES = {"failed": "red", "error": "magenta", "ambiguous": "yellow"}


class ConsoleReporter:
    """A table of figures for each task class, and one of what did not pass."""

    name = "console"
    suffix = "txt"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the lines."""
        console = _console(form)
        for part in _parts(run):
            with console.capture() as captured:
                # What has a command in it is there to be copied.
                whole = isinstance(part, Text) and part.no_wrap is True
                console.print(part, soft_wrap=whole)
            for line in captured.get().splitlines():
                yield f"{line.rstrip()}\n"


def _console(form: Form) -> Console:
    """Return a console that asks neither the environment nor a terminal."""
    return Console(
        file=io.StringIO(),
        width=max(form.columns, _LEAST_COLUMNS),
        height=25,
        force_terminal=form.colours,
        color_system="standard" if form.colours else None,
        no_color=not form.colours,
        force_jupyter=False,
        highlight=False,
        legacy_windows=False,
    )


def _parts(run: StoredRun) -> Iterator[RenderableType]:
    overview = run.overview()
    record = run.record
    began = f"{record.started_at:%Y-%m-%d %H:%M:%S %Z}"
    yield Text(f"run {printable(record.run_id)}, begun {began}", style="bold")
    if overview.shortfall:
        yield Text(printable(overview.shortfall), style="yellow", no_wrap=True)
    for task_class, groups in groupby(overview.groups, key=lambda g: g.task_class):
        yield Text("")
        yield _figures(task_class, list(groups))
    yield from _notes(overview)
    cases = not_passed(run)
    if cases:
        yield Text("")
        yield _cases(cases[:LISTED])
    if len(cases) > LISTED:
        yield Text(
            f"and {len(cases) - LISTED} more: codegenie report "
            f"{printable(record.run_id)} --format csv"
        )
    yield Text("")
    yield Text(f"artifacts are below {relative(run.directory)}")


def _table() -> Table:
    # A box of spaces parts the columns already.
    return Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)


def _figures(task_class: str, groups: Sequence[Group]) -> Table:
    table = _table()
    table.title = Text(printable(task_class), style="bold")
    table.title_justify = "left"
    table.add_column("agent", overflow="fold")
    for name in (
        *("cases", "pass", "fail", "error", "ambi-\nguous"),
        *("mean", "lower\nbound", "cost\nUSD", "tokens", "time"),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for group in groups:
        table.add_row(*_figure_cells(group))
    return table


def _figure_cells(group: Group) -> Iterator[Text]:
    yield Text(printable(group.agent))
    yield Text(str(len(group.digests)))
    yield Text(str(group.passed), style="green" if group.passed else "")
    yield Text(str(group.failed), style="red" if group.failed else "")
    yield Text(str(group.errors), style="magenta" if group.errors else "")
    yield Text(str(group.ambiguous))
    yield Text(mean_of(group))
    yield Text(shown(group.bound().value))
    yield _at_least(group.cost_usd, group.unpriced, "{:.4f}".format)
    yield _at_least(group.tokens, group.unmetered, _short)
    yield Text(time_of(group.seconds))


def _at_least(known: float | None, without: int, form: Callable[[float], str]) -> Text:
    if known is None:
        return Text("unknown")
    return Text(f"{_AT_LEAST if without else ''}{form(known)}")


def _short(count: float) -> str:
    """Return a count in three or four digits: 950, 12.3k, 1.2M."""
    for unit in ("", "k", "M"):
        if count < (1000 if not unit else 999.95):
            return f"{count:.1f}{unit}" if unit else f"{count:.0f}"
        count /= 1000
    return f"{count:.1f}G"


def _notes(overview: Overview) -> Iterator[Text]:
    """Yield what a reader must know to read the figures."""
    if not overview.groups:
        return
    for group in overview.groups:
        bound = group.bound()
        if bound.value is None:
            name = printable(f"{group.task_class} [{group.agent}]")
            yield Text(f"no bound for {name}: {bound.note}")
    if any(group.results != len(group.digests) for group in overview.groups):
        yield Text("Each trial of a case is a result of its own, counted as one.")
    for group in overview.groups:
        name = printable(f"{group.task_class} [{group.agent}]")
        if trials := group.trial_figures():
            yield Text(f"trials of {name}: {trials_of(trials)}")
        if recalled := recalled_of(group):
            yield Text(f"origin of {name}: {recalled}")
    if any(
        0 < without < group.results
        for group in overview.groups
        for without in (group.unpriced, group.unmetered)
    ):
        yield Text(f"{_AT_LEAST}: of other results the agent reported none.")
    yield Text(f"Lower bound: of the mean, 95%. {FOOTNOTE}")


def _cases(cases: Sequence[NotPassed]) -> Table:
    table = _table()
    table.add_column("no pass", no_wrap=True)
    table.add_column("case and artifacts", overflow="fold")
    table.add_column("failure modes", overflow="fold")
    for case in cases:
        name = printable(f"{case.task_class} {case.name}")
        modes = printable(", ".join(case.failure_modes)) or "not passed"
        message = printable(case.message)
        if len(message) > _SHOWN:
            message = f"{message[:_SHOWN]}..."
        table.add_row(
            Text(case.kind, style=_STYLES[case.kind]),
            Text("\n".join(filter(None, (name, printable(case.artifacts))))),
            Text("\n".join(filter(None, (modes, message)))),
        )
    return table
