"""``codegenie run --dry-run``: what would be run, and all that stands in its way."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator

from pytest_codegenie.cli.foresight import Checks
from pytest_codegenie.cli.foresight import check_all
from pytest_codegenie.cli.saying import say
from pytest_codegenie.evidence.budget.ledger import dollars
from pytest_codegenie.evidence.history import Estimate
from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.evidence.history import estimate
from pytest_codegenie.evidence.history import read_history
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.rehearsal import Rehearsal
from pytest_codegenie.session.rehearsal import rehearse


_WIDTH = 14
_NO_TESTS = 5


def dry_run(arguments: list[str]) -> int:
    """Print the plan of a run and its faults; return the exit code.

    That is pytest's where it did not get as far as a plan (4: wrong usage); else that
    of a corpus that does not verify, or 1 for any other fault, or 5 for no case.
    """
    found = rehearse(arguments)
    if found.collection is None:
        sys.stderr.write(found.printed)
        return found.exit_code
    checks = check_all(found)
    for line in _lines(found, checks):
        say(line)
    faults = [*map(str, found.problems), *checks.faults]
    if faults:
        say(f"\n{len(faults)} {'fault' if len(faults) == 1 else 'faults'}:")
    for fault in faults:
        first, *rest = fault.splitlines()
        say("\n".join([f"- {first}", *(f"  {line}" for line in rest)]))
    if found.problems:
        return max(problem.exit_code for problem in found.problems)
    return 1 if faults else found.exit_code


def _lines(found: Rehearsal, checks: Checks) -> Iterator[str]:
    assert found.collection is not None
    settings = found.collection.runner.settings
    yield ""
    yield from _section("cases", _case_lines(found))
    yield from _section("agents", checks.agents)
    yield from _section("workspace", [checks.workspace])
    yield from _section("environments", checks.environments)
    yield from _section("disk", checks.disk)
    yield from _section("reporters", [", ".join(settings.reporters) or "none"])
    yield from _section("gates", checks.gates)
    yield from _section("workers", [str(found.workers)])
    history = read_history(settings.out)
    figures = estimate(map(_kind, found.items), history, found.workers)
    yield from _section("time", [_time(figures)])
    yield from _section("cost", [_cost(figures)])
    if settings.max_cost_usd is not None:
        yield from _section("cost cap", [_cap(figures, settings.max_cost_usd)])


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{title if number == 0 else '':<{_WIDTH}}{line}".rstrip()


def _case_lines(found: Rehearsal) -> Iterator[str]:
    cases = {item.case for item in found.items if item.case is not None}
    if not cases:
        corpus = "the corpus does not verify" if found.problems else "none is selected"
        yield f"none: {corpus}"
        return
    settings = found.collection.runner.settings if found.collection else None
    assert settings is not None
    trials = f", {settings.trials} trials" if settings.trials > 1 else ""
    agents = len(settings.agents)
    yield (
        f"{len(cases)}, verified; {agents} {'agent' if agents == 1 else 'agents'}"
        f"{trials}: {len(found.items)} items"
    )
    splits = Counter((case.task_class, case.curation_class) for case in cases)
    for (name, split), count in sorted(splits.items()):
        yield f"{name}:{split} {count}"


def _kind(item: CaseItem) -> Kind:
    job = item.make_job()
    return Kind(job.case.task_class, job.agent.label, job.agent.name)


def _time(figures: Estimate) -> str:
    if figures.seconds is None:
        return "unknown: no earlier result of these agents on these datasets"
    return (
        f"about {_spoken(figures.seconds)}, by the medians of "
        f"{_results(figures.timed_results)}{_without(figures.untimed, figures.items)}"
    )


def _cost(figures: Estimate) -> str:
    if figures.cost_usd is None:
        return "unknown: no earlier result with a cost that an agent reported"
    return (
        f"about ${figures.cost_usd:.2f} as reported by agents, by the medians of "
        f"{_results(figures.priced_results)}{_without(figures.unpriced, figures.items)}"
    )


def _cap(figures: Estimate, cap_usd: float) -> str:
    cap = f"{dollars(cap_usd)} USD"
    if figures.cost_usd is None:
        return f"{cap}; whether it is enough is not known"
    if figures.cost_usd > cap_usd:
        share = cap_usd / figures.cost_usd
        return f"{cap}: enough for about {share:.0%} of what is known of the cost"
    unknown = ", but for what is unknown" if figures.unpriced else ""
    return f"{cap}: enough by that estimate{unknown}"


def _results(count: int) -> str:
    return f"{count} earlier {'result' if count == 1 else 'results'}"


def _without(unknown: int, items: int) -> str:
    return f"; unknown for {unknown} of {items} items" if unknown else ""


def _spoken(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"
