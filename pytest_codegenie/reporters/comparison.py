"""A comparison as text: lines for a terminal, Markdown, JSON.

Ids of cases and labels of agents hold no markup and no escapes where they come from a
run of ours; a record may come from anywhere, so they are shown as the rest is.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from pytest_codegenie.errors import printable
from pytest_codegenie.evidence.comparison import Comparison
from pytest_codegenie.evidence.comparison import Side
from pytest_codegenie.evidence.pairing import ComparedRun
from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.reporters.markup import as_code
from pytest_codegenie.reporters.markup import table_head
from pytest_codegenie.reporters.markup import table_row
from pytest_codegenie.reporters.rows import shown


COLUMNS = 80
#: So many ids of a kind are listed where a list has to end.
LISTED = 20
_INDENT = 15
_HEAD = (
    *("task class", "agent", "compared", "mean before", "mean after"),
    *("difference", "95% interval", "regressed", "improved", "unchanged"),
    *("McNemar p", "errors", "ambiguous"),
)
_FOOTNOTE = (
    "Only cases that both sides judged, with equal digests, are compared. Errors and "
    "ambiguous cases are in no figure."
)


def comparison_text(compared: RunComparison) -> str:
    """Return all of it for a terminal, every id listed."""
    lines = [
        *_run_lines("before", compared.before),
        *_run_lines("after", compared.after),
    ]
    for one in compared.comparisons:
        lines += ["", *comparison_lines(one)]
    if compared.unpaired:
        lines.append("")
    for alone in compared.unpaired:
        lines.append(f"only {alone.side}: {printable(str(alone))}")
    lines += ["", *textwrap.wrap(_FOOTNOTE, COLUMNS)]
    return "\n".join(lines) + "\n"


def _run_lines(side: str, run: ComparedRun) -> Iterator[str]:
    yield f"{side:<7} run {printable(run.run_id)}, in {run.directory}"
    if run.shortfall:
        yield from wrapped(f"        {printable(run.shortfall)}", 8)


def comparison_lines(one: Comparison, listed: int | None = None) -> list[str]:
    """Return a few lines for each group, at most 80 columns wide where ids allow it.

    Args:
        one: Of one task class.
        listed: So many ids of a kind at most; None: all.
    """
    lines = [group_name(one), f"  compared     {_counts(one)}"]
    if one.cases:
        lines += [
            f"  mean         {shown(one.mean_before)} before, "
            f"{shown(one.mean_after)} after",
            f"  difference   {difference_of(one)}",
            f"  passed       {passed_of(one)}",
        ]
    for name, ids in (
        ("regressed", one.regressed),
        ("improved", one.improved),
        ("flipped", one.flipped),
    ):
        if ids:
            lines.append(f"  {name:<12} {_ids(ids, listed)}")
    for reason, left_out in _why(one):
        lines.append(f"  left out     {reason}: {_ids(left_out, listed)}")
    lines += [
        f"  {name:<12} {beside}"
        for name, side in (("before", one.before), ("after", one.after))
        if (beside := _beside(side))
    ]
    return [part for line in lines for part in wrapped(line)]


def wrapped(line: str, indent: int = _INDENT) -> list[str]:
    """Return a line of a terminal in parts, 80 columns wide where words allow it."""
    return textwrap.wrap(
        line,
        COLUMNS,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def group_name(one: Comparison) -> str:
    """Return task class and agent; both agents where they differ."""
    agents = dict.fromkeys((one.before.agent, one.after.agent))
    each = " -> ".join(f"[{agent}]" for agent in agents)
    return printable(f"{one.task_class} {each}")


def _counts(one: Comparison) -> str:
    cases = "1 case" if one.cases == 1 else f"{one.cases} cases"
    return f"{cases}, {len(one.not_compared)} left out"


def difference_of(one: Comparison) -> str:
    """Return the difference of the means, and how sure it is."""
    found = one.difference
    if found.value is None:
        return f"none ({found.note})"
    if found.low is None or found.high is None:
        return f"{found.value:+z.3f} (no interval: {found.note})"
    return (
        f"{found.value:+z.3f}, 95% from {found.low:+z.3f} to {found.high:+z.3f} "
        f"({found.note})"
    )


def passed_of(one: Comparison) -> str:
    """Return how many cases passed on one side alone, and what chance says to it."""
    p_value = one.mcnemar.p_value
    chance = "" if p_value is None else f"; exact McNemar p {_p(p_value)}"
    return (
        f"{len(one.regressed)} regressed, {len(one.improved)} improved, "
        f"{one.unchanged} unchanged{chance}"
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _ids(ids: Sequence[str], listed: int | None) -> str:
    named = ids if listed is None else ids[:listed]
    more = len(ids) - len(named)
    return ", ".join(map(printable, named)) + (f", and {more} more" if more else "")


def _why(one: Comparison) -> list[tuple[str, list[str]]]:
    """Return the cases that were not compared by reason, in the order of the ids."""
    reasons: dict[str, list[str]] = {}
    for case in one.not_compared:
        reasons.setdefault(case.reason, []).append(case.case_id)
    return list(reasons.items())


def _beside(side: Side) -> str:
    """Return what is in no figure, counted by results; "" for nothing."""
    parts = []
    if side.errors:
        parts.append(f"{side.errors} of {side.results} results not judged (errors)")
    if side.ambiguous:
        parts.append(f"{side.ambiguous} ambiguous, not counted")
    return "; ".join(parts)


def comparison_json(compared: RunComparison) -> str:
    """Return all of it as one JSON object."""
    return json.dumps(compared.to_dict(), indent=2, ensure_ascii=False) + "\n"


def comparison_markdown(compared: RunComparison) -> str:
    """Return a table of the figures, and below it which cases changed."""
    before, after = compared.before, compared.after
    parts = [
        f"### codegenie: run {as_code(before.run_id)} compared with "
        f"{as_code(after.run_id)}\n\n",
    ]
    for side, run in (("before", before), ("after", after)):
        if run.shortfall:
            parts.append(f"**{side}: {as_code(run.shortfall, 600)}**\n\n")
    parts.append(table_head(_HEAD))
    parts += [table_row(_cells(one)) for one in compared.comparisons]
    parts.append(f"\n{_FOOTNOTE}\n")
    for alone in compared.unpaired:
        parts.append(f"\nOnly {alone.side}: {as_code(str(alone))}\n")
    for one in compared.comparisons:
        parts += _details(one)
    return "".join(parts)


def _cells(one: Comparison) -> Iterator[str]:
    found, p_value = one.difference, one.mcnemar.p_value
    yield as_code(one.task_class)
    agents = dict.fromkeys((one.before.agent, one.after.agent))
    yield " → ".join(map(as_code, agents))
    yield f"{one.cases} of {one.cases + len(one.not_compared)}"
    yield shown(one.mean_before)
    yield shown(one.mean_after)
    yield "n/a" if found.value is None else f"{found.value:+z.3f}"
    if found.low is None or found.high is None:
        yield f"n/a: {found.note}"
    else:
        yield f"{found.low:+z.3f} to {found.high:+z.3f}"
    for count in (len(one.regressed), len(one.improved), one.unchanged):
        yield str(count)
    yield "n/a" if p_value is None else _p(p_value).strip("= ").replace("<", "&lt;")
    yield f"{one.before.errors} before, {one.after.errors} after"
    yield f"{one.before.ambiguous} before, {one.after.ambiguous} after"


def _details(one: Comparison) -> Iterator[str]:
    kinds: list[tuple[str, Iterable[str]]] = [
        ("regressed", one.regressed),
        ("improved", one.improved),
        ("flipped", one.flipped),
        *((f"left out, {reason}", ids) for reason, ids in _why(one)),
    ]
    lines = [f"- {name}: {_codes(list(ids))}\n" for name, ids in kinds if ids]
    if lines:
        yield f"\n<details>\n<summary>{as_code(group_name(one))}</summary>\n\n"
        yield from lines
        yield "\n</details>\n"


def _codes(ids: Sequence[str]) -> str:
    more = f", and {len(ids) - LISTED} more" if len(ids) > LISTED else ""
    return ", ".join(map(as_code, ids[:LISTED])) + more
