"""Two runs, or two agents of one run, on the same cases: what changed, and how surely.

Only like is compared: cases that both sides judged, with the same digest and the same
rubric. All others are listed, each with its reason.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from statistics import fmean
from typing import Any

from pytest_codegenie.evidence.statistics import Interval
from pytest_codegenie.evidence.statistics import McNemar
from pytest_codegenie.evidence.statistics import mcnemar
from pytest_codegenie.evidence.statistics import mean
from pytest_codegenie.evidence.statistics import paired_difference
from pytest_codegenie.hashing import hash_bytes


@dataclass(frozen=True, slots=True)
class Side:
    """What one side is of, and what it came to as a whole, compared or not."""

    run_id: str
    #: The agent's label.
    agent: str
    #: All results, each trial of a case one.
    results: int
    #: Those that could not be judged.
    errors: int
    #: Those of ambiguous cases that were judged.
    ambiguous: int


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A case that is in no figure."""

    case_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one agent did on one task class, before and after.

    A case *passes* on a side where all its judged trials passed. Where one side judged
    more trials of a case than the other, only as many are looked at as both have, the
    first by their numbers: of three trials all pass less often than of one.

    Case ids are sorted. A case that flips may also have regressed or improved.
    """

    task_class: str
    before: Side
    after: Side
    #: How many cases were compared; those of ``not_compared`` are not in it.
    cases: int
    #: Over compared cases, the trials of each averaged; None for none.
    mean_before: float | None
    mean_after: float | None
    #: After minus before, of the same cases.
    difference: Interval
    #: ``only_before`` are the regressed, ``only_after`` the improved.
    mcnemar: McNemar
    #: Passed before, and not after.
    regressed: tuple[str, ...]
    #: Passed after, and not before.
    improved: tuple[str, ...]
    #: On one side or on both, some judged trials passed and some failed.
    flipped: tuple[str, ...]
    not_compared: tuple[NotCompared, ...]

    @property
    def unchanged(self) -> int:
        """How many compared cases neither regressed nor improved."""
        return self.cases - len(self.regressed) - len(self.improved)

    @property
    def regression(self) -> bool:
        """At least one case regressed.

        It is what was seen, not what is proven: of an agent that answers by chance some
        case regresses in most runs. ``mcnemar.p_value`` says how odd the split is.
        """
        return bool(self.regressed)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        # By way of JSON: tuples come out as the lists that they will be.
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return values | {"unchanged": self.unchanged, "regression": self.regression}


def compare(
    before: Iterable[Mapping[str, Any]],
    after: Iterable[Mapping[str, Any]],
    *,
    seed: int | None = None,
) -> Comparison:
    """Return what changed from one side to the other.

    Args:
        before: Results, as ``read_plain_results`` yields them, all of one task class
            and one agent, at least one.
        after: The same, of the same task class; the agent may be another.
        seed: Of the bootstrap; None: made from the task class, the agents' labels and
            the digests of the compared cases, so that the same results give the same
            interval, and the mirrored one when the sides are swapped.

    Raises:
        ValueError: A side has no result, or results of several task classes, agents
            or runs; or the sides are of two task classes.
    """
    old, new = _gather(before, "before"), _gather(after, "after")
    if old.task_class != new.task_class:
        raise ValueError(
            f"cases of two task classes cannot be compared: {old.task_class!r} before, "
            f"{new.task_class!r} after"
        )
    reasons = {
        case_id: _reason(old.cases.get(case_id), new.cases.get(case_id))
        for case_id in sorted({*old.cases, *new.cases})
    }
    pairs = {
        case_id: (old.cases[case_id], new.cases[case_id])
        for case_id, reason in reasons.items()
        if not reason
    }
    left_out = tuple(NotCompared(*item) for item in reasons.items() if item[1])
    if seed is None:
        digests = sorted(
            (name, *sorted(pair[0].digests)) for name, pair in pairs.items()
        )
        seed = _seed(old.task_class, sorted((old.agent, new.agent)), digests)
    return _compared(old, new, pairs, left_out, seed)


@dataclass(slots=True)
class _Case:
    """The results of one case on one side."""

    digests: set[str] = field(default_factory=set)
    rubrics: set[str] = field(default_factory=set)
    ambiguous: bool = False
    #: Trial to whether it passed and its score; errors are not in it.
    judged: dict[int, tuple[bool, float]] = field(default_factory=dict)

    @property
    def mean_score(self) -> float:
        return fmean(score for _, score in self.judged.values())

    @property
    def flips(self) -> bool:
        return len({passed for passed, _ in self.judged.values()}) > 1

    def passes(self, trials: int) -> bool:
        """Tell whether all of the first trials passed."""
        return all(self.judged[trial][0] for trial in sorted(self.judged)[:trials])


@dataclass(slots=True)
class _Results:
    """One side, case by case."""

    task_class: str
    agent: str
    run_id: str
    results: int = 0
    errors: int = 0
    ambiguous: int = 0
    cases: dict[str, _Case] = field(default_factory=dict)

    def side(self) -> Side:
        return Side(self.run_id, self.agent, self.results, self.errors, self.ambiguous)


def _gather(results: Iterable[Mapping[str, Any]], name: str) -> _Results:
    side: _Results | None = None
    for result in results:
        of = (result["task_class"], result["agent"], result["run_id"])
        if side is None:
            side = _Results(*of)
        elif of != (side.task_class, side.agent, side.run_id):
            raise ValueError(
                f"the results {name} are of more than one task class, agent or run: "
                f"{(side.task_class, side.agent, side.run_id)!r} and {of!r}"
            )
        _add(side, result)
    if side is None:
        raise ValueError(f"there is no result {name}")
    return side


def _add(side: _Results, result: Mapping[str, Any]) -> None:
    case = side.cases.setdefault(result["case_id"], _Case())
    case.digests.add(result["case_digest"])
    case.rubrics.add(result["rubric_digest"])
    case.ambiguous |= result["disposition"] == "ambiguous"
    side.results += 1
    if result["outcome"] == "error":
        side.errors += 1
        return
    if result["disposition"] == "ambiguous":
        side.ambiguous += 1
    passed, score = result["outcome"] == "passed", result["score"]["score"]
    case.judged[result["trial"]] = (passed, score)


def _reason(before: _Case | None, after: _Case | None) -> str:
    """Say why a case cannot be compared; "" where it can."""
    if before is None:
        return "only after"
    if after is None:
        return "only before"
    if before.ambiguous or after.ambiguous:
        return "ambiguous: reported, never counted"
    if len(before.digests | after.digests) > 1:
        return "the case changed: its digests differ"
    if len(before.rubrics | after.rubrics) > 1:
        return "the rubric changed: its digests differ"
    unjudged = [
        name for name, c in (("before", before), ("after", after)) if not c.judged
    ]
    return f"not judged {' and '.join(unjudged)} (errors)" if unjudged else ""


def _seed(*inputs: object) -> int:
    digest = hash_bytes(json.dumps(["comparison", *inputs]).encode())
    return int(digest.partition(":")[2][:16], 16)


def _compared(
    old: _Results,
    new: _Results,
    pairs: Mapping[str, tuple[_Case, _Case]],
    left_out: tuple[NotCompared, ...],
    seed: int,
) -> Comparison:
    means = [(a.mean_score, b.mean_score) for a, b in pairs.values()]
    passes = {case_id: _passes(*pair) for case_id, pair in pairs.items()}
    regressed = tuple(name for name, did in passes.items() if did == (True, False))
    improved = tuple(name for name, did in passes.items() if did == (False, True))
    test = mcnemar(len(regressed), len(improved))
    return Comparison(
        task_class=old.task_class,
        before=old.side(),
        after=new.side(),
        cases=len(pairs),
        mean_before=mean([a for a, _ in means]),
        mean_after=mean([b for _, b in means]),
        difference=paired_difference([b - a for a, b in means], seed=seed),
        mcnemar=test if pairs else dataclasses.replace(test, p_value=None),
        regressed=regressed,
        improved=improved,
        flipped=tuple(name for name, (a, b) in pairs.items() if a.flips or b.flips),
        not_compared=left_out,
    )


def _passes(before: _Case, after: _Case) -> tuple[bool, bool]:
    trials = min(len(before.judged), len(after.judged))
    return before.passes(trials), after.passes(trials)
