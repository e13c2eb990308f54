"""The reporter ``markdown``: for pull requests and ``GITHUB_STEP_SUMMARY``."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import Overview
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence.statistics import TrialFigures
from pytest_codegenie.reporters.markup import as_code
from pytest_codegenie.reporters.markup import table_head
from pytest_codegenie.reporters.markup import table_row
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.rows import FOOTNOTE
from pytest_codegenie.reporters.rows import NotPassed
from pytest_codegenie.reporters.rows import cost_of
from pytest_codegenie.reporters.rows import mean_of
from pytest_codegenie.reporters.rows import not_passed
from pytest_codegenie.reporters.rows import recalled_of
from pytest_codegenie.reporters.rows import shown
from pytest_codegenie.reporters.rows import time_of
from pytest_codegenie.reporters.rows import tokens_of


#: What GitHub takes of one step's summary; of a longer one it shows nothing.
STEP_SUMMARY_BYTES = 1 << 20
#: Less than this does not hold the headings, whatever the run.
LEAST_BYTES = 8_192
_FIGURES = (
    *("task class", "agent", "cases", "passed", "failed", "errors", "ambiguous"),
    *("mean", "95% lower bound", "cost (USD)", "tokens", "time"),
)
_TRIALS = (
    *("task class", "agent", "k", "pass@1", "pass@k", "pass^k"),
    *("cases that flip", "too few trials for k"),
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
        if trials := _trials(overview):
            blocks.append(trials)
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
        f"{as_code(f'codegenie report {run.record.run_id} --format csv')}\n"
    )


def _figures(run: StoredRun, overview: Overview) -> _Block:
    warning = overview.shortfall
    return _Block(
        before=f"### codegenie: run {as_code(run.record.run_id)}\n\n"
        + (f"**{as_code(warning, 600)}**\n\n" if warning else "")
        + table_head(_FIGURES),
        rows=[table_row(_figure_cells(group)) for group in overview.groups],
        after=f"\n{FOOTNOTE}\n" + "".join(_origins(overview)),
    )


def _origins(overview: Overview) -> Iterator[str]:
    """Yield what agents did not work on in this run."""
    for group in overview.groups:
        if recalled := recalled_of(group):
            name = f"{as_code(group.task_class)} [{as_code(group.agent)}]"
            yield f"\nOrigin of {name}: {recalled}.\n"


def _figure_cells(group: Group) -> Iterator[str]:
    yield as_code(group.task_class)
    yield as_code(group.agent)
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


def _trials(overview: Overview) -> _Block | None:
    """Return what several trials say; None where each case had one."""
    rows = [
        table_row(_trial_cells(group, trials))
        for group in overview.groups
        if (trials := group.trial_figures())
    ]
    if not rows:
        return None
    return _Block(
        before="\nAbove each trial is counted, and below each case once: k trials of a "
        f"case.\n\n{table_head(_TRIALS)}",
        rows=rows,
        after="",
    )


def _trial_cells(group: Group, trials: TrialFigures) -> Iterator[str]:
    first, last = trials.at[0], trials.at[-1]
    yield as_code(group.task_class)
    yield as_code(group.agent)
    yield str(last.k)
    yield shown(first.pass_at)
    yield shown(last.pass_at)
    yield shown(last.pass_hat)
    yield f"{trials.flipping} of {trials.repeated}"
    yield str(last.left_out)


def _cases(cases: Sequence[NotPassed]) -> _Block:
    did = "1 result is" if len(cases) == 1 else f"{len(cases)} results are"
    return _Block(
        before=f"\n<details>\n<summary>{did} no pass</summary>\n\n"
        + table_head(_CASES),
        rows=[
            table_row(
                (
                    as_code(case.name),
                    case.kind,
                    " ".join(as_code(mode) for mode in case.failure_modes),
                    as_code(case.message),
                    as_code(case.artifacts),
                )
            )
            for case in cases
        ],
        after="\n</details>\n",
    )
