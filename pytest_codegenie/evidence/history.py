"""What a run may take, from what earlier runs took: medians, and what they stand on.

Only judged results count: an agent that could not be started took no time at all.
What nobody has measured or reported is unknown, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.store import read_plain_results


class Kind(NamedTuple):
    """What results have in common that are expected to be alike."""

    task_class: str
    #: The agent's label.
    agent: str
    agent_name: str


@dataclass(frozen=True, slots=True)
class Past:
    """What the cases of one kind took, one value a result."""

    seconds: list[float] = field(default_factory=list)
    #: Of those whose agent reported a cost.
    costs: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of items may take together."""

    items: int
    #: With so many workers; None: of no item is anything known.
    seconds: float | None
    #: Items that are not in ``seconds``.
    untimed: int
    #: None: of no item is anything known.
    cost_usd: float | None
    #: Items that are not in ``cost_usd``.
    unpriced: int
    #: Earlier results that the time, or the cost, stands on.
    timed_results: int
    priced_results: int


def read_history(out: Path, *, without: str = "") -> dict[Kind, Past]:
    """Return what all earlier runs of a store took.

    A run that cannot be read, and what is no result, is left out.

    Args:
        out: Where runs are kept.
        without: The id of a run that does not count.
    """
    history: dict[Kind, Past] = {}
    for directory in sorted((out / "runs").glob("*")):
        if directory.name == without:
            continue
        try:
            for result in read_plain_results(directory):
                _add(history, result)
        except (RunStoreError, KeyError, TypeError, AttributeError):
            continue
    return history


def _add(history: dict[Kind, Past], result: Mapping[str, object]) -> None:
    if result["outcome"] == "error":
        return
    if result.get("provenance", "run") != "run":
        return  # no agent worked: it says nothing of what one takes
    kind = Kind(
        str(result["task_class"]), str(result["agent"]), str(result["agent_name"])
    )
    timings, output = result["timings"], result["output"]
    if not isinstance(timings, Mapping):
        return
    past = history.setdefault(kind, Past())
    past.seconds.append(float(sum(timings.values())))
    agent = output.get("agent") if isinstance(output, Mapping) else None
    cost = agent.get("cost_usd") if isinstance(agent, Mapping) else None
    if cost is not None:
        past.costs.append(float(cost))


def estimate(
    items: Iterable[Kind], history: Mapping[Kind, Past], workers: int
) -> Estimate:
    """Return what items may take: for each the median of its kind.

    Args:
        items: The kind of each item.
        history: Of earlier runs.
        workers: How many items run at a time.
    """
    kinds = list(items)
    timed = [kind for kind in kinds if kind in history and history[kind].seconds]
    priced = [kind for kind in kinds if kind in history and history[kind].costs]
    seconds = [median(history[kind].seconds) for kind in timed]
    costs = [median(history[kind].costs) for kind in priced]
    at_a_time = max(1, min(workers, len(kinds)))
    return Estimate(
        items=len(kinds),
        # No case is faster for having company.
        seconds=max(sum(seconds) / at_a_time, *seconds) if seconds else None,
        untimed=len(kinds) - len(timed),
        cost_usd=sum(costs) if costs else None,
        unpriced=len(kinds) - len(priced),
        timed_results=sum(len(history[kind].seconds) for kind in set(timed)),
        priced_results=sum(len(history[kind].costs) for kind in set(priced)),
    )
