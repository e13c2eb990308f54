"""Two sides on the same cases: what is compared, and what comes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from support_runs import result
from support_runs import store_run

from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence.comparison import Comparison
from pytest_codegenie.evidence.comparison import NotCompared
from pytest_codegenie.evidence.comparison import Side
from pytest_codegenie.evidence.comparison import compare


def plain(case_id: str, outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    """A result as ``read_plain_results`` yields it."""
    fields.setdefault("rubric_digest", "rubric")
    values: dict[str, Any] = json.loads(result(case_id, outcome, **fields).to_json())
    return values


def side(run_id: str = "before", **cases: str) -> list[dict[str, Any]]:
    """Results of cases: ``a="pf"`` is a pass, then a failure; ``e`` is an error."""
    words = {"p": "passed", "f": "failed", "e": "error"}
    return [
        plain(case_id, words[letter], trial=trial, run_id=run_id)
        for case_id, letters in cases.items()
        for trial, letter in enumerate(letters, 1)
    ]


def of(comparison: Comparison) -> tuple[str, str, str]:
    """Regressed, improved and flipped, each in a word."""
    parts = (comparison.regressed, comparison.improved, comparison.flipped)
    regressed, improved, flipped = map("".join, parts)
    return regressed, improved, flipped


def test_each_case_regressed_improved_or_did_not_change() -> None:
    compared = compare(
        side(a="p", b="p", c="f", d="f", e="p", g="f"),
        side("after", g="p", e="f", a="p", b="f", c="p", d="f"),
    )
    assert (compared.task_class, compared.cases) == ("demo", 6)
    assert compared.before == Side("before", "nop", 6, 0, 0)
    assert compared.after == Side("after", "nop", 6, 0, 0)
    assert of(compared) == ("be", "cg", "")
    assert (compared.unchanged, compared.regression) == (2, True)
    assert (compared.mean_before, compared.mean_after) == (0.5, 0.5)
    assert compared.difference.value == 0.0
    assert (compared.mcnemar.only_before, compared.mcnemar.only_after) == (2, 2)
    assert compared.mcnemar.p_value == 1.0
    assert compared.not_compared == ()


def test_sides_that_agree_everywhere_show_no_certainty() -> None:
    cases = {letter: "p" for letter in "abcdefgh"}
    compared = compare(side(**cases), side("after", **cases))
    assert (compared.cases, compared.unchanged, compared.regression) == (8, 8, False)
    difference = compared.difference
    assert (difference.value, difference.low, difference.high) == (0.0, None, None)
    assert difference.note == "all differences are equal: nothing to resample"
    assert compared.mcnemar.p_value == 1.0


def test_only_like_is_compared_and_the_rest_is_listed_with_its_reason() -> None:
    before = [
        plain("a"),
        plain("gone"),
        plain("changed", case_digest="old"),
        plain("judged-anew", rubric_digest="old"),
        plain("unclear", disposition="ambiguous"),
        plain("now-unclear"),
        plain("broke", "error"),
        plain("breaks"),
        plain("broken", "error"),
        plain("mixed", case_digest="old"),
        plain("mixed", case_digest="new", trial=2),
    ]
    after = [
        plain("a", "failed"),
        plain("new"),
        plain("changed", case_digest="new"),
        plain("judged-anew", rubric_digest="new"),
        plain("unclear", disposition="ambiguous"),
        plain("now-unclear", disposition="ambiguous"),
        plain("broke"),
        plain("breaks", "error"),
        plain("broken", "error"),
        plain("mixed", case_digest="new"),
    ]
    compared = compare(before, after)
    assert compared.cases == 1
    assert compared.regressed == ("a",)
    assert (compared.mean_before, compared.mean_after) == (1.0, 0.0)
    assert compared.not_compared == (
        NotCompared("breaks", "not judged after (errors)"),
        NotCompared("broke", "not judged before (errors)"),
        NotCompared("broken", "not judged before and after (errors)"),
        NotCompared("changed", "the case changed: its digests differ"),
        NotCompared("gone", "only before"),
        NotCompared("judged-anew", "the rubric changed: its digests differ"),
        NotCompared("mixed", "the case changed: its digests differ"),
        NotCompared("new", "only after"),
        NotCompared("now-unclear", "ambiguous: reported, never counted"),
        NotCompared("unclear", "ambiguous: reported, never counted"),
    )
    # Counted beside the figures, compared or not.
    assert compared.before == Side("example", "nop", 11, 2, 1)
    assert compared.after == Side("example", "nop", 10, 2, 2)


def test_nothing_comparable_gives_none_never_zero() -> None:
    compared = compare(side(a="p"), side("after", b="p"))
    assert (compared.cases, compared.unchanged, compared.regression) == (0, 0, False)
    assert (compared.mean_before, compared.mean_after) == (None, None)
    assert compared.difference.value is None
    assert compared.mcnemar.p_value is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # A case passes where all of its judged trials did.
        ("ppp", "ppf", ("x", "", "x")),
        ("pfp", "ppp", ("", "x", "x")),
        ("ppf", "pff", ("", "", "x")),
        ("fff", "fpf", ("", "", "x")),
        ("ppp", "fff", ("x", "", "")),
        ("ppp", "ppp", ("", "", "")),
        # Errors say nothing; as many trials are looked at as both have judged.
        ("pep", "ppe", ("", "", "")),
        ("p", "ppf", ("", "", "x")),
        ("ppf", "p", ("", "", "x")),
        ("f", "fpp", ("", "", "x")),
        ("p", "fpp", ("x", "", "x")),
        ("p", "epf", ("", "", "x")),
    ],
)
def test_trials_of_a_case_are_one_case(
    before: str, after: str, expected: tuple[str, str, str]
) -> None:
    compared = compare(side(x=before), side("after", x=after))
    assert of(compared) == expected
    assert compared.cases == 1
    judged = [[c == "p" for c in letters if c != "e"] for letters in (before, after)]
    means = [sum(one) / len(one) for one in judged]
    assert [compared.mean_before, compared.mean_after] == pytest.approx(means)
    assert compared.before.errors == before.count("e")


def test_scores_are_paired_by_case() -> None:
    """All cases gain as much, however much they differ from one another."""
    base = [0.1, 0.3, 0.35, 0.5, 0.62, 0.7, 0.8]
    gains = [0.11, 0.1, 0.09, 0.1, 0.12, 0.08, 0.1]
    before = [plain(f"c{n}", "failed", score=s) for n, s in enumerate(base)]
    after = [
        plain(f"c{n}", "failed", score=s + gain, agent="other")
        for n, (s, gain) in enumerate(zip(base, gains, strict=True))
    ]
    difference = compare(before, after[::-1]).difference
    assert difference.note == "BCa bootstrap"
    assert difference.value == pytest.approx(0.1)
    assert difference.low is not None
    assert difference.high is not None
    assert 0.08 < difference.low < 0.1 < difference.high < 0.12


SCORED = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("pf")),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(SCORED, st.randoms())
def test_swapped_sides_are_the_mirrored_comparison_in_any_order(
    cases: Sequence[tuple[float, float, str]], generator: random.Random
) -> None:
    def results(column: int, agent: str) -> list[dict[str, Any]]:
        made = [
            plain(
                f"c{number}",
                "passed" if (case[2] == "p") is (column == 0) else "failed",
                score=case[column],
                agent=agent,
            )
            for number, case in enumerate(cases)
        ]
        generator.shuffle(made)
        return made

    there = compare(results(0, "x"), results(1, "y"))
    back = compare(results(1, "y"), results(0, "x"))
    assert compare(results(0, "x"), results(1, "y")) == there
    assert (back.before, back.after) == (there.after, there.before)
    assert (back.regressed, back.improved) == (there.improved, there.regressed)
    assert back.mcnemar.p_value == there.mcnemar.p_value
    assert there.difference.value is not None
    assert back.difference.value == -there.difference.value
    if there.difference.low is not None and back.difference.high is not None:
        assert back.difference.high == pytest.approx(-there.difference.low, abs=1e-9)


def test_the_interval_is_seeded_by_what_is_compared_and_not_by_run_ids() -> None:
    scores = [0.13, 0.41, 0.55, 0.97, 0.385, 0.664, 0.81]

    def both(change: dict[str, Any], **options: Any) -> Comparison:
        before = [plain(f"c{n}", "failed", score=0.3) for n in range(7)]
        after = [plain(f"c{n}", "failed", score=s) for n, s in enumerate(scores)]
        changed = [[one | change for one in results] for results in (before, after)]
        return compare(*changed, **options)

    plainly = both({})
    assert both({"run_id": "another"}).difference == plainly.difference
    assert both({"case_digest": "another"}).difference != plainly.difference
    assert both({}, seed=1).difference != plainly.difference
    assert both({}, seed=1).difference == both({"run_id": "r"}, seed=1).difference


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([], side(a="p"), "there is no result before"),
        (side(a="p"), [], "there is no result after"),
        (side(a="p"), side(a="p") + side("other", b="p"), "the results after are of"),
        ([plain("a"), plain("a", agent="x")], side(a="p"), "results before are of mor"),
        (
            [plain("a")],
            [plain("a", task_class="other")],
            "two task classes cannot be compared: 'demo' before, 'other' after",
        ),
    ],
)
def test_what_is_no_side_is_refused(
    before: list[dict[str, Any]], after: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare(before, after)


def test_it_is_plain_values_with_everything_in_them() -> None:
    compared = compare(
        side(a="p", b="pf", c="p", d="e"), side("after", a="f", b="pp", c="p", d="p")
    )
    values = compared.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["before"] == {
        "run_id": "before",
        "agent": "nop",
        "results": 5,
        "errors": 1,
        "ambiguous": 0,
    }
    assert (values["regressed"], values["improved"]) == (["a"], ["b"])
    assert values["flipped"] == ["b"]
    assert (values["unchanged"], values["regression"]) == (1, True)
    assert values["mcnemar"] == {"only_before": 1, "only_after": 1, "p_value": 1.0}
    assert values["difference"] == {
        "value": compared.difference.value,
        "low": compared.difference.low,
        "high": compared.difference.high,
        "note": "BCa bootstrap",
    }
    assert values["not_compared"] == [
        {"case_id": "d", "reason": "not judged before (errors)"}
    ]


def test_it_compares_what_a_store_has(tmp_path: Any) -> None:
    old = store_run(tmp_path, [result("a"), result("b")])
    new = store_run(
        tmp_path,
        [result("a", run_id="2"), result("b", "failed", run_id="2")],
        run_id="2",
    )
    compared = compare(
        read_plain_results(old.directory), read_plain_results(new.directory)
    )
    assert (compared.before.run_id, compared.after.run_id) == ("example", "2")
    assert compared.regressed == ("b",)
    assert compared.difference.note == "too few cases (2 of at least 3)"
