"""Whether what was measured is enough for the next tier of trust. Values in and out.

A gate reads no file and changes none: it says which conditions hold, with the figures
asked and found. A tier is given by a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Literal
from typing import NoReturn

from pydantic import AwareDatetime

from pytest_codegenie.errors import PromotionMustBeHumanAuthorized
from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evidence.promotion.tiers import TIERS_FILE
from pytest_codegenie.evidence.promotion.tiers import Tier
from pytest_codegenie.evidence.promotion.tiers import TrustTiers
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import Record


#: What has to be the same in all reports of a window.
_SAME = ("sut_digest", "rubric_digest", "cassette_corpus_digest", "isolation_class")

_NO_BOUND = "no bound: too little data for one, or SciPy was not installed"

ConditionName = Literal[
    "next_tier",
    "window",
    "task_class",
    "agent",
    "sut_digest",
    "rubric_digest",
    "cassette_corpus_digest",
    "isolation_class",
    "complete",
    "chain",
    "lower_bound",
    "passed",
    "held_out_passed",
    "failure_modes",
]
Figure = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class PromotionEvidence:
    """A report, and what else was found out about its run."""

    report: BenchRunReport
    #: Counted cases that passed in all of their trials; None where the results are
    #: not at hand.
    passed: int | None
    #: Those of them that are held out.
    held_out_passed: int | None
    #: Tier to the number of cases that have to pass, as the task class says.
    min_cases_for_promotion: Mapping[str, int] = field(default_factory=dict)
    #: Why the audit chain does not vouch for the report; "" where it does.
    chain_fault: str = ""

    @property
    def chain_verified(self) -> bool:
        """The audit chain verifies and holds this report."""
        return not self.chain_fault


class PromotionCondition(Record):
    """One thing that has to hold, with the figures asked and found."""

    name: ConditionName
    #: The run that it is about; "" for the window as a whole.
    run_id: str = ""
    met: bool
    asked: Figure
    #: None: unknown.
    found: Figure
    #: Why, where the figures do not say.
    detail: str = ""

    def __str__(self) -> str:
        of_run = f" (run {self.run_id})" if self.run_id else ""
        detail = f": {self.detail}" if self.detail else ""
        asked, found = _shown(self.asked), _shown(self.found)
        return f"{self.name}{of_run}: asked {asked}, found {found}{detail}"


class PromotionVerdict(Record):
    """Whether the latest runs are sufficient for a tier, and for what not."""

    task_class: str
    #: The agent's label; "" where there is no report to tell.
    agent: str
    #: None: no tier yet.
    current_tier: str | None
    target_tier: str
    #: Every condition is met.
    sufficient: bool
    #: All that were looked at, met or not.
    conditions: tuple[PromotionCondition, ...]
    #: The runs of the window, oldest first.
    run_ids: tuple[str, ...]
    #: The audit chain's head after each of them; "" where the report has none.
    chain_heads: tuple[str, ...]

    @property
    def failing(self) -> tuple[PromotionCondition, ...]:
        """Every condition that is not met."""
        return tuple(each for each in self.conditions if not each.met)


class Recommendation(Record):
    """A file in ``recommendations/``: a verdict, for the person who decides."""

    made_at: AwareDatetime
    #: Of pytest-codegenie.
    harness_version: str
    #: BLAKE3 of the tiers file that it was made with.
    tiers_digest: str
    #: What a person does who follows it.
    to_do: str
    verdict: PromotionVerdict


class PromotionGate:
    """Says whether reports are sufficient for a tier."""

    def __init__(self, tiers: TrustTiers, *, path: Path | str = TIERS_FILE) -> None:
        """Make a gate.

        Args:
            tiers: What each tier asks.
            path: Where they were read, for messages.
        """
        self._tiers = tiers
        self._path = path

    def evaluate(
        self,
        task_class: str,
        current_tier: str | None,
        target_tier: str,
        reports: Iterable[PromotionEvidence],
        *,
        agent: str = "",
    ) -> PromotionVerdict:
        """Return whether reports are sufficient for a tier. A pure function.

        A promotion goes to the tier above the current one: a tier is not skipped, and
        what goes down or stays needs no evidence and is no promotion. Of the reports
        the latest count, as many as the tier's window has; each has to meet every
        condition.

        Args:
            task_class: Its name.
            current_tier: None: no tier yet.
            target_tier: The one to be promoted to.
            reports: In any order.
            agent: Whose reports they have to be; "": of any one.

        Raises:
            TierConfigInvalid: There is no tier of one of the names.
        """
        tier = self._tier(target_tier)
        if current_tier is not None:
            self._tier(current_tier)
        ordered = sorted(reports, key=lambda e: (e.report.started_at, e.report.run_id))
        window = ordered[-tier.window :]
        conditions = (
            self._next_tier(current_tier, target_tier),
            *_of_window(task_class, agent, tier, window),
            *(each for one in window for each in _of_run(tier, one)),
        )
        agents = [one.report.agent for one in window]
        return PromotionVerdict(
            task_class=task_class,
            agent=agent or (agents[-1] if agents else ""),
            current_tier=current_tier,
            target_tier=target_tier,
            sufficient=all(condition.met for condition in conditions),
            conditions=conditions,
            run_ids=tuple(one.report.run_id for one in window),
            chain_heads=tuple(one.report.chain_head for one in window),
        )

    def apply(self, verdict: PromotionVerdict) -> NoReturn:
        """Say what a person has to do: no program gives a tier.

        Raises:
            PromotionMustBeHumanAuthorized: Always.
        """
        raise PromotionMustBeHumanAuthorized(
            verdict.task_class,
            verdict.agent,
            verdict.current_tier,
            verdict.target_tier,
            path=self._path,
            sufficient=verdict.sufficient,
        )

    def _tier(self, name: str) -> Tier:
        tier = self._tiers.tier(name)
        if tier is None:
            names = self._tiers.names
            raise TierConfigInvalid(
                self._path,
                "tiers",
                f"there is no tier {name!r}{did_you_mean(name, names)}; lowest first "
                f"there are: {', '.join(names)}",
            )
        return tier

    def _next_tier(self, current: str | None, target: str) -> PromotionCondition:
        above = self._tiers.next_above(current)
        return PromotionCondition(
            name="next_tier",
            met=above is not None and above.name == target,
            asked=above.name if above else f"nothing above {current}",
            found=target,
            detail=self._step_fault(current, target),
        )

    def _step_fault(self, current: str | None, target: str) -> str:
        names = self._tiers.names
        step = names.index(target) - (-1 if current is None else names.index(current))
        if step == 1:
            return ""
        if step == 0:
            return "that is the current tier"
        if step < 0:
            return "below the current tier: that takes no evidence, edit the file"
        return "a tier may not be skipped"


def _of_window(
    task_class: str, agent: str, tier: Tier, window: Sequence[PromotionEvidence]
) -> Iterator[PromotionCondition]:
    """Yield what holds of the reports together."""
    reports = [one.report for one in window]
    runs = len({report.run_id for report in reports})
    yield PromotionCondition(
        name="window",
        met=runs == tier.window,
        asked=tier.window,
        found=runs,
        detail="" if runs == tier.window else "too few runs with a report",
    )
    if not reports:
        return
    yield _all_are("task_class", task_class, [one.task_class for one in reports])
    agents = [one.agent for one in reports]
    yield _all_are("agent", agent or agents[-1], agents)
    for name in _SAME:
        yield _same(name, [getattr(one, name) for one in reports], tier)


def _all_are(
    name: Literal["task_class", "agent"], asked: str, found: Sequence[str]
) -> PromotionCondition:
    return PromotionCondition(
        name=name,
        met=set(found) == {asked},
        asked=asked,
        found=", ".join(dict.fromkeys(found)),
    )


def _same(name: str, values: Sequence[str], tier: Tier) -> PromotionCondition:
    """Return the condition that a value is known, and one over the window."""
    distinct = list(dict.fromkeys(values))
    accepted = tier.isolation if name == "isolation_class" else ()
    detail = ""
    if len(distinct) > 1:
        detail = "it changed within the window"
    elif not distinct[0]:
        detail = "it was not recorded"
    elif accepted and not {distinct[0], distinct[0].partition(";")[0]} & set(accepted):
        detail = "it does not count for this tier"
    return PromotionCondition.model_validate(
        {
            "name": name,
            "met": not detail,
            "asked": f"one of {', '.join(accepted)}" if accepted else "one",
            "found": ", ".join(distinct) or None,
            "detail": detail,
        }
    )


def _of_run(tier: Tier, one: PromotionEvidence) -> Iterator[PromotionCondition]:
    """Yield what holds of one report."""
    report = one.report
    yield PromotionCondition(
        name="complete",
        run_id=report.run_id,
        met=report.complete,
        asked=True,
        found=report.complete,
        detail="" if report.complete else "selected cases were not judged",
    )
    yield PromotionCondition(
        name="chain",
        run_id=report.run_id,
        met=one.chain_verified,
        asked=True,
        found=one.chain_verified,
        detail=one.chain_fault,
    )
    bound = report.lower_bound_95
    yield PromotionCondition(
        name="lower_bound",
        run_id=report.run_id,
        met=bound is not None and bound >= tier.lower_bound,
        asked=tier.lower_bound,
        found=bound,
        detail=_NO_BOUND if bound is None else "",
    )
    own = one.min_cases_for_promotion.get(tier.name, 0)
    yield _at_least("passed", report, max(tier.min_passed, own), one.passed)
    yield _at_least(
        "held_out_passed", report, tier.min_held_out_passed, one.held_out_passed
    )
    codes = ", ".join(report.block_severity_failure_modes)
    yield PromotionCondition(
        name="failure_modes",
        run_id=report.run_id,
        met=not codes,
        asked="none that block",
        found=codes or "none that block",
    )


def _at_least(
    name: Literal["passed", "held_out_passed"],
    report: BenchRunReport,
    asked: int,
    found: int | None,
) -> PromotionCondition:
    return PromotionCondition(
        name=name,
        run_id=report.run_id,
        met=found is not None and found >= asked,
        asked=asked,
        found=found,
        detail="the run's results are not at hand" if found is None else "",
    )


def _shown(figure: Figure) -> str:
    if figure is None:
        return "unknown"
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    return f"{figure:.6g}" if isinstance(figure, float) else str(figure)
