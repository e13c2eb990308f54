"""The promotion gate: each condition alone, all of them, and that none promotes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_runs import NOW

from pytest_codegenie.errors import PromotionMustBeHumanAuthorized
from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.evidence.promotion.gate import PromotionCondition
from pytest_codegenie.evidence.promotion.gate import PromotionEvidence
from pytest_codegenie.evidence.promotion.gate import PromotionGate
from pytest_codegenie.evidence.promotion.gate import PromotionVerdict
from pytest_codegenie.evidence.promotion.tiers import Tier
from pytest_codegenie.evidence.promotion.tiers import TrustTiers
from pytest_codegenie.models import BenchRunReport


TIERS = TrustTiers(
    tiers=(
        Tier(name="bronze", lower_bound=0.5),
        Tier(
            name="silver",
            lower_bound=0.8,
            min_passed=10,
            min_held_out_passed=5,
            window=2,
        ),
        Tier(name="gold", lower_bound=0.9, min_passed=10, min_held_out_passed=5),
    )
)
GATE = PromotionGate(TIERS)


def report(number: int = 1, **fields: Any) -> BenchRunReport:
    values: dict[str, Any] = {
        "run_id": f"r{number}",
        "task_class": "demo",
        "agent": "opus",
        "harness_version": "0",
        "sut_digest": "sut",
        "rubric_digest": "rubric",
        "cassette_corpus_digest": "corpus",
        "started_at": NOW + dt.timedelta(hours=number),
        "ended_at": NOW + dt.timedelta(hours=number, minutes=5),
        "per_case": {},
        "mean_score": 0.95,
        "score_stddev": 0.1,
        "lower_bound_95": 0.85,
        "passed_count": 11,
        "total_cost_usd": None,
        "block_severity_failure_modes": (),
        "complete": True,
        "isolation_class": "sandbox",
        "host_fingerprint": "host",
        "chain_head": f"{number}" * 64,
    }
    return BenchRunReport.model_validate(values | fields)


def evidence(number: int = 1, **fields: Any) -> PromotionEvidence:
    own: dict[str, Any] = {
        "passed": 11,
        "held_out_passed": 6,
        "min_cases_for_promotion": {"silver": 8},
        "chain_fault": "",
    }
    own |= {key: fields.pop(key) for key in own if key in fields}
    return PromotionEvidence(report(number, **fields), **own)


def evaluate(*reports: PromotionEvidence, **options: Any) -> PromotionVerdict:
    return GATE.evaluate("demo", "bronze", "silver", reports, **options)


def failing(verdict: PromotionVerdict) -> dict[str, tuple[object, object, str]]:
    return {c.name: (c.asked, c.found, c.detail) for c in verdict.failing}


def test_what_meets_every_condition_is_sufficient() -> None:
    verdict = evaluate(evidence(1), evidence(2))
    assert verdict.sufficient
    assert verdict.failing == ()
    assert (verdict.task_class, verdict.agent) == ("demo", "opus")
    assert (verdict.current_tier, verdict.target_tier) == ("bronze", "silver")
    assert verdict.run_ids == ("r1", "r2")
    assert verdict.chain_heads == ("1" * 64, "2" * 64)
    assert [(c.name, c.run_id) for c in verdict.conditions] == [
        *((name, "") for name in ("next_tier", "window", "task_class", "agent")),
        *((name, "") for name in ("sut_digest", "rubric_digest")),
        *((name, "") for name in ("cassette_corpus_digest", "isolation_class")),
        *(
            (name, run)
            for run in ("r1", "r2")
            for name in (
                *("complete", "chain", "lower_bound"),
                *("passed", "held_out_passed", "failure_modes"),
            )
        ),
    ]


@pytest.mark.parametrize(
    ("fields", "name", "figures"),
    [
        ({"lower_bound_95": 0.7999}, "lower_bound", (0.8, 0.7999, "")),
        (
            {"lower_bound_95": None},
            "lower_bound",
            (
                *(0.8, None),
                "no bound: too little data for one, or SciPy was not installed",
            ),
        ),
        ({"passed": 9}, "passed", (10, 9, "")),
        (
            {"passed": None},
            "passed",
            (10, None, "the run's results are not at hand"),
        ),
        ({"held_out_passed": 4}, "held_out_passed", (5, 4, "")),
        (
            {"min_cases_for_promotion": {"silver": 12, "gold": 90}},
            "passed",
            (12, 11, ""),
        ),
        (
            {"block_severity_failure_modes": ("agent.timeout", "not_resolved")},
            "failure_modes",
            ("none that block", "agent.timeout, not_resolved", ""),
        ),
        (
            {"complete": False},
            "complete",
            (True, False, "selected cases were not judged"),
        ),
        (
            {"chain_fault": "record 3 does not verify"},
            "chain",
            (True, False, "record 3 does not verify"),
        ),
        (
            {"sut_digest": "other"},
            "sut_digest",
            ("one", "sut, other", "it changed within the window"),
        ),
        (
            {"rubric_digest": "other"},
            "rubric_digest",
            ("one", "rubric, other", "it changed within the window"),
        ),
        (
            {"cassette_corpus_digest": "other"},
            "cassette_corpus_digest",
            ("one", "corpus, other", "it changed within the window"),
        ),
        (
            {"isolation_class": "host"},
            "isolation_class",
            ("one", "sandbox, host", "it changed within the window"),
        ),
        ({"agent": "other"}, "agent", ("other", "opus, other", "")),
        ({"task_class": "other"}, "task_class", ("demo", "demo, other", "")),
        ({"run_id": "r1"}, "window", (2, 1, "too few runs with a report")),
    ],
)
def test_each_condition_alone_is_enough_to_fail(
    fields: dict[str, Any], name: str, figures: tuple[object, object, str]
) -> None:
    verdict = evaluate(evidence(1), evidence(2, **fields))
    assert not verdict.sufficient
    assert failing(verdict) == {name: figures}


@pytest.mark.parametrize(
    "fields",
    [
        {"lower_bound_95": 0.8},
        {"passed": 10},
        {"held_out_passed": 5},
        {"min_cases_for_promotion": {"silver": 11}},
    ],
)
def test_what_is_asked_for_is_enough(fields: dict[str, Any]) -> None:
    assert evaluate(evidence(1), evidence(2, **fields)).sufficient


def test_every_failing_condition_is_listed() -> None:
    bad = evidence(
        2,
        lower_bound_95=0.1,
        passed=1,
        held_out_passed=0,
        complete=False,
        block_severity_failure_modes=("x",),
        chain_fault="broken",
        sut_digest="a",
        rubric_digest="b",
        cassette_corpus_digest="c",
        isolation_class="host",
        agent="other",
        task_class="other",
    )
    verdict = GATE.evaluate("demo", None, "silver", [evidence(1), bad], agent="opus")
    assert set(failing(verdict)) == {
        *("next_tier", "task_class", "agent", "sut_digest", "rubric_digest"),
        *("cassette_corpus_digest", "isolation_class", "complete", "chain"),
        *("lower_bound", "passed", "held_out_passed", "failure_modes"),
    }
    assert {c.run_id for c in verdict.failing} == {"", "r2"}


def test_an_empty_window_is_not_sufficient_and_says_why() -> None:
    verdict = evaluate(agent="opus")
    assert not verdict.sufficient
    assert failing(verdict) == {"window": (2, 0, "too few runs with a report")}
    assert (verdict.agent, verdict.run_ids) == ("opus", ())
    assert evaluate().agent == ""


def test_the_latest_runs_count_in_whatever_order_they_come() -> None:
    old = evidence(1, lower_bound_95=0.0, isolation_class="host")
    verdict = evaluate(evidence(3), old, evidence(2))
    assert verdict.sufficient
    assert verdict.run_ids == ("r2", "r3")
    assert not evaluate(evidence(1), evidence(3, lower_bound_95=0.0)).sufficient


@pytest.mark.parametrize(
    ("current", "target", "asked", "detail"),
    [
        (None, "silver", "bronze", "a tier may not be skipped"),
        (None, "gold", "bronze", "a tier may not be skipped"),
        ("bronze", "gold", "silver", "a tier may not be skipped"),
        ("silver", "silver", "gold", "that is the current tier"),
        (
            "silver",
            "bronze",
            "gold",
            "below the current tier: that takes no evidence, edit the file",
        ),
        ("gold", "gold", "nothing above gold", "that is the current tier"),
    ],
)
def test_a_promotion_goes_to_the_tier_above(
    current: str | None, target: str, asked: str, detail: str
) -> None:
    good = [evidence(n, lower_bound_95=1.0) for n in (1, 2)]
    verdict = GATE.evaluate("demo", current, target, good)
    assert not verdict.sufficient
    assert failing(verdict) == {"next_tier": (asked, target, detail)}


def test_a_tier_may_ask_for_an_isolation() -> None:
    tiers = TrustTiers(
        tiers=(Tier(name="a", lower_bound=0, isolation=("docker", "sandbox")),)
    )
    gate = PromotionGate(tiers)
    assert gate.evaluate("demo", None, "a", [evidence()]).sufficient
    own = evidence(isolation_class="docker; rubric host")
    assert gate.evaluate("demo", None, "a", [own]).sufficient
    verdict = gate.evaluate("demo", None, "a", [evidence(isolation_class="host")])
    assert failing(verdict) == {
        "isolation_class": (
            *("one of docker, sandbox", "host"),
            "it does not count for this tier",
        )
    }


def test_what_was_not_recorded_is_not_the_same() -> None:
    verdict = evaluate(*(evidence(n, rubric_digest="") for n in (1, 2)))
    assert failing(verdict) == {"rubric_digest": ("one", None, "it was not recorded")}


@pytest.mark.parametrize(("current", "target"), [("tin", "gold"), ("gold", "tin")])
def test_a_tier_that_there_is_not_is_an_error(current: str, target: str) -> None:
    with pytest.raises(TierConfigInvalid) as excinfo:
        GATE.evaluate("demo", current, target, [])
    assert str(excinfo.value) == (
        "trust-tiers.yaml: tiers: there is no tier 'tin'; lowest first there are: "
        "bronze, silver, gold"
    )


def test_nobody_is_ever_promoted() -> None:
    for verdict in (evaluate(evidence(1), evidence(2)), evaluate()):
        with pytest.raises(PromotionMustBeHumanAuthorized) as excinfo:
            GATE.apply(verdict)
        error = excinfo.value
        assert error.args == ("demo", verdict.agent, "bronze", "silver")
        assert error.sufficient is verdict.sufficient
        assert "sets current.demo." in str(error)
        assert "from bronze to silver" in str(error)


def test_a_condition_reads_as_a_sentence() -> None:
    condition = PromotionCondition(
        name="lower_bound", run_id="r1", met=False, asked=0.8, found=None, detail="why"
    )
    assert str(condition) == "lower_bound (run r1): asked 0.8, found unknown: why"
    whole = PromotionCondition(name="complete", met=True, asked=True, found=False)
    assert str(whole) == "complete: asked yes, found no"


@given(
    bounds=st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=4),
    passed=st.none() | st.integers(0, 20),
    complete=st.booleans(),
    fault=st.sampled_from(["", "broken"]),
    agent=st.sampled_from(["opus", "other"]),
)
def test_sufficient_is_that_nothing_fails_and_the_same_every_time(
    bounds: list[float | None],
    passed: int | None,
    agent: str,
    fault: str,
    *,
    complete: bool,
) -> None:
    own = [
        evidence(
            n,
            lower_bound_95=bound,
            passed=passed,
            complete=complete,
            chain_fault=fault,
            agent=agent,
        )
        for n, bound in enumerate(bounds)
    ]
    verdict = evaluate(*own)
    assert verdict.sufficient == (not verdict.failing)
    assert verdict.sufficient == (
        len(bounds) > 1
        and all(bound is not None and bound >= 0.8 for bound in bounds[-2:])
        and (passed or 0) >= 10
        and complete
        and not fault
    )
    assert evaluate(*reversed(own)) == verdict
    assert PromotionVerdict.from_json(verdict.to_json()) == verdict
