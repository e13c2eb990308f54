"""The reporter ``markdown``: for pull requests and ``GITHUB_STEP_SUMMARY``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_codegenie.errors import printable
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import Overview
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.rows import FOOTNOTE
from pytest_codegenie.reporters.rows import NotPassed
from pytest_codegenie.reporters.rows import cost_of
from pytest_codegenie.reporters.rows import mean_of
from pytest_codegenie.reporters.rows import not_passed
from pytest_codegenie.reporters.rows import time_of
from pytest_codegenie.reporters.rows import tokens_of


#: What GitHub takes of one step's summary; of a longer one it shows nothing.
STEP_SUMMARY_BYTES = 1 << 20
#: Less than this does not hold the headings, whatever the run.
LEAST_BYTES = 8_192
#: Characters of somebody else's text.
_SHOWN = 300
#: Whatever Markdown, or what GitHub adds to it, could take for markup.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#!|~$&@\"']|://|www\.")
_FIGURES = (
    *("task class", "agent", "cases", "passed", "failed", "errors", "ambiguous"),
    *("mean", "95% lower bound", "cost (USD)", "tokens", "time"),
)
_CASES = ("case", "outcome", "failure modes", "message", "artifacts")


@dataclass(frozen=True, slots=True)
class _Block:
    """A table's rows, with what stands before and after them."""

    before: str
    rows: Sequence[str]
    after: str


class MarkdownReporter:
    """A table of all task classes and agents, and below it what did not pass.

    It is never longer than GitHub takes of one step's summary (1 MiB), nor than
    ``Form.max_bytes``: rows beyond that are left out, and a sentence says how many.
    """

    name = "markdown"
    suffix = "md"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the parts."""
        overview = run.overview()
        blocks = [_figures(run, overview)]
        if cases := not_passed(run):
            blocks.append(_cases(cases))
        limit = min(form.max_bytes or STEP_SUMMARY_BYTES, STEP_SUMMARY_BYTES)
        yield from _fitted(blocks, run, limit)


def _fitted(blocks: Sequence[_Block], run: StoredRun, limit: int) -> Iterator[str]:
    """Yield the blocks, without the last rows where the whole is too long."""
    every_row = sum(len(block.rows) for block in blocks)
    frame = "".join(block.before + block.after for block in blocks)
    # The sentence can only get shorter when fewer rows than all are left out.
    room = limit - len((frame + _left_out(every_row, run)).encode())
    left_out = 0
    for block in blocks:
        yield block.before
        for row in block.rows:
            room -= len(row.encode())
            if room < 0:
                left_out += 1
            else:
                yield row
        yield block.after
    if left_out:
        yield _left_out(left_out, run)


def _left_out(count: int, run: StoredRun) -> str:
    rows = "1 row is" if count == 1 else f"{count} rows are"
    return (
        f"\n**{rows} left out**: GitHub takes no more than this. All results: "
        f"{_code(f'codegenie report {run.record.run_id} --format csv')}\n"
    )


def _figures(run: StoredRun, overview: Overview) -> _Block:
    warning = overview.shortfall
    return _Block(
        before=f"### codegenie: run {_code(run.record.run_id)}\n\n"
        + (f"**{_code(warning, 600)}**\n\n" if warning else "")
        + _table_head(_FIGURES),
        rows=[_row(_figure_cells(group)) for group in overview.groups],
        after=f"\n{FOOTNOTE}\n",
    )


def _figure_cells(group: Group) -> Iterator[str]:
    yield _code(group.task_class)
    yield _code(group.agent)
    for count in (
        *(len(group.digests), group.passed),
        *(group.failed, group.errors, group.ambiguous),
    ):
        yield str(count)
    yield mean_of(group)
    bound = group.bound()
    yield f"n/a: {bound.note}" if bound.value is None else f"{bound.value:.3f}"
    yield cost_of(group)
    yield tokens_of(group)
    yield time_of(group.seconds)


def _cases(cases: Sequence[NotPassed]) -> _Block:
    did = "1 result is" if len(cases) == 1 else f"{len(cases)} results are"
    return _Block(
        before=f"\n<details>\n<summary>{did} no pass</summary>\n\n"
        + _table_head(_CASES),
        rows=[
            _row(
                (
                    _code(case.name),
                    case.kind,
                    " ".join(_code(mode) for mode in case.failure_modes),
                    _code(case.message),
                    _code(case.artifacts),
                )
            )
            for case in cases
        ],
        after="\n</details>\n",
    )


def _table_head(names: Iterable[str]) -> str:
    return _row(names) + _row("---" for _ in names)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _code(text: str, shown: int = _SHOWN) -> str:
    """Return somebody else's text so that it is shown, whatever it holds.

    As code GitHub looks for no names, issues or emoji in it; as entities no character
    is markup.
    """
    line = printable(" ".join(text.split()))
    if len(line) > shown:
        line = f"{line[:shown]}…"
    if not line:
        return ""
    escaped = _MARKUP.sub(lambda found: _entities(found[0]), line)
    return f"<code>{escaped}</code>"


def _entities(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)
