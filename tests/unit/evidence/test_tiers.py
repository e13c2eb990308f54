"""``trust-tiers.yaml``: what it may say, and how a fault in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.evidence.promotion.tiers import Tier
from pytest_codegenie.evidence.promotion.tiers import TrustTiers
from pytest_codegenie.evidence.promotion.tiers import read_tiers


WHOLE = """\
tiers:
  - name: bronze
    lower_bound: 0.5
  - name: silver
    lower_bound: 0.8
    min_passed: 10
    min_held_out_passed: 5
    window: 3
    isolation: [sandbox, docker]
current:
  bug-repair:
    opus-high: bronze
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("trust-tiers.yaml")


def test_tiers_are_in_their_order_with_what_they_ask(path: Path) -> None:
    path.write_text(WHOLE, "utf-8")
    tiers = read_tiers(path)
    assert tiers.tiers == (
        Tier(name="bronze", lower_bound=0.5),
        Tier(
            name="silver",
            lower_bound=0.8,
            min_passed=10,
            min_held_out_passed=5,
            window=3,
            isolation=("sandbox", "docker"),
        ),
    )
    bronze = tiers.tiers[0]
    assert (bronze.min_passed, bronze.min_held_out_passed, bronze.window) == (0, 0, 1)
    assert bronze.isolation == ()
    assert tiers.names == ("bronze", "silver")
    assert tiers.current_tier("bug-repair", "opus-high") == "bronze"
    assert tiers.current_tier("bug-repair", "other") is None
    assert tiers.current_tier("other", "opus-high") is None
    assert TrustTiers.from_json(tiers.to_json()) == tiers


def test_the_reference_shows_this_file() -> None:
    reference = Path(__file__).parents[3] / "docs" / "reference" / "trust-tiers.md"
    assert f"```yaml\n{WHOLE}```" in reference.read_text(encoding="utf-8")


def test_a_promotion_goes_one_tier_up() -> None:
    tiers = TrustTiers(
        tiers=tuple(Tier(name=name, lower_bound=0.5) for name in ("a", "b", "c"))
    )
    above = [tiers.next_above(name) for name in (None, "a", "b", "c")]
    assert [tier and tier.name for tier in above] == ["a", "b", "c", None]
    assert tiers.tier("d") is None


@pytest.mark.parametrize(
    "rest", ["", "current:\n", "current: {}\n", "current: {x: }\n"]
)
def test_nobody_needs_to_have_a_tier(path: Path, rest: str) -> None:
    path.write_text("tiers: [{name: only, lower_bound: 1}]\n" + rest, "utf-8")
    assert read_tiers(path).current_tier("x", "y") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a mapping with 'tiers' and 'current'; what it holds: "),
        ("- a\n", "must be a mapping with 'tiers' and 'current'; what it holds: "),
        ("tiers: [", "not usable YAML: "),
        ("current: {}\n", "tiers: required key is missing; what it holds: "),
        ("tiers: []\n", "tiers: must be a list of tiers, lowest first, at least one"),
        ("tiers: {a: 1}\n", "tiers: must be a list of tiers, lowest first"),
        ("tiers: [a]\n", "tiers.number 1: must be a mapping (name, lower_bound, ...)"),
        (
            "tiers: [{name: a, lower_bound: 0.5, windw: 3}]\n",
            "tiers.a.windw: unknown key 'windw' (did you mean 'window'?); known: name, "
            "lower_bound, min_passed, min_held_out_passed, window, isolation",
        ),
        (
            WHOLE + "curent: {}\n",
            "curent: unknown key 'curent' (did you mean 'current'?); known: tiers, "
            "current",
        ),
        ("tiers: [{name: a}]\n", "tiers.a.lower_bound: required key is missing"),
        ("tiers: [{lower_bound: 1}]\n", "tiers.number 1.name: required key is missing"),
        (
            "tiers: [{name: a, lower_bound: 80}]\n",
            "tiers.a.lower_bound: Input should be less than or equal to 1, got 80",
        ),
        (
            "tiers: [{name: a, lower_bound: -0.1}]\n",
            "tiers.a.lower_bound: Input should",
        ),
        (
            "tiers: [{name: a, lower_bound: .nan}]\n",
            "tiers.a.lower_bound: Input should",
        ),
        (
            "tiers: [{name: a, lower_bound: '0.8'}]\n",
            "tiers.a.lower_bound: Input should be a valid number, got '0.8'",
        ),
        (
            "tiers: [{name: a, lower_bound: 0.8, window: yes}]\n",
            "tiers.a.window: Input should be a valid integer, got True",
        ),
        (
            "tiers: [{name: a, lower_bound: 0.8, window: 0}]\n",
            "tiers.a.window: Input should be greater than or equal to 1, got 0",
        ),
        (
            "tiers: [{name: a b, lower_bound: 0.8}]\n",
            "tiers.a b.name: must start with a letter or digit and hold only letters",
        ),
        (
            "tiers: [{name: a, lower_bound: 0.8, isolation: sandbox}]\n",
            "tiers.a.isolation: must be a list, got 'sandbox'",
        ),
        (
            "tiers: [{name: a, lower_bound: 0.8}, {name: a, lower_bound: 0.9}]\n",
            "tiers.a: stands twice; each tier needs a name of its own",
        ),
        (
            "tiers: [{name: gold, lower_bound: 0.8}, {name: tin, lower_bound: 0.5}]\n",
            "tiers.tin.lower_bound: is 0.5, less than the 0.8 of 'gold' below it; list "
            "the lowest tier first",
        ),
        (
            WHOLE.replace("opus-high: bronze", "opus-high: slver"),
            "current.bug-repair.opus-high: unknown tier 'slver' (did you mean "
            "'silver'?); known: bronze, silver",
        ),
        (
            WHOLE.replace("opus-high: bronze", "opus-high: 3"),
            "current.bug-repair.opus-high: must be the name of a tier; leave out who "
            "has none; got 3",
        ),
        (
            WHOLE.replace("bug-repair:", "Bug Repair:"),
            "current.Bug Repair: must start with a letter or digit",
        ),
        (
            "tiers: [{name: a, lower_bound: 1}]\ncurrent: {x: a}\n",
            "current.x: must be a mapping (agent: tier), got 'a'",
        ),
        (
            "tiers: [{name: a, lower_bound: 1}]\ncurrent: [x]\n",
            "current: must be a mapping (task class: {agent: tier}), got ['x']",
        ),
        (WHOLE + "tiers: []\n", "not usable YAML: key 'tiers' stands twice (line 13)"),
    ],
)
def test_a_fault_is_told_with_file_and_key(path: Path, text: str, message: str) -> None:
    path.write_text(text, "utf-8")
    with pytest.raises(TierConfigInvalid) as excinfo:
        read_tiers(path)
    assert str(excinfo.value).startswith(f"trust-tiers.yaml: {message}")
    assert excinfo.value.exit_code == 1


def test_a_file_that_is_not_there_says_how_to_get_one(path: Path) -> None:
    with pytest.raises(TierConfigInvalid) as excinfo:
        read_tiers(path)
    assert str(excinfo.value) == (
        "trust-tiers.yaml: missing; write it (what it holds: codegenie schema "
        "TrustTiers), or name another with --tiers"
    )
    path.mkdir()
    with pytest.raises(TierConfigInvalid, match="is a directory"):
        read_tiers(path)
