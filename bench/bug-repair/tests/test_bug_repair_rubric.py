"""The rubric, tried on results made by hand and on the shipped cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie import AgentOutput
from pytest_codegenie import BenchCase
from pytest_codegenie import EvalResult
from pytest_codegenie import HarnessOutput


CASES = Path(__file__).parent.parent / "cases"
FIXED = {"test_fault": "passed", "test_other_branch": "passed"}
KEPT = {"test_neighbour": "passed", "test_order": "passed"}


def diff(path="shop/cart.py", lines=4):
    """Return a patch that changes so many lines of a file."""
    removed, added = lines // 2, lines - lines // 2
    body = "".join(f"-old {n}\n" for n in range(removed))
    body += "".join(f"+new {n}\n" for n in range(added))
    return (
        f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n"
        f"--- a/{path}\n+++ b/{path}\n@@ -1,{removed} +1,{added} @@\n{body}"
    )


@pytest.fixture
def make_case(tmp_path):
    def make_case(disposition="positive", gold=None):
        (tmp_path / "expected").mkdir()
        if gold is not None:
            (tmp_path / "expected" / "gold.patch").write_text(gold, encoding="utf-8")
        return BenchCase(
            case_id="some-case",
            task_class="bug-repair",
            disposition=disposition,
            difficulty="easy",
            source="curated",
            curation_class="held-out",
            added_at="2026-11-21",
            last_validated_at="2026-11-21",
            cassette_canary_pin="0" * 32,
            case_digest="blake3:" + "0" * 64,
            directory=tmp_path,
        )

    return make_case


def make_output(patch="", fixed=FIXED, kept=KEPT, *, evaluated=True, **evaluation):
    results = [*fixed.values(), *kept.values()]
    resolved = all(status == "passed" for status in results)
    evaluation = {
        "status": "passed" if resolved else "failed",
        "resolved": resolved,
        **evaluation,
    }
    return HarnessOutput(
        agent=AgentOutput(
            instance_id="some-case",
            agent_name="someone",
            patch=patch,
            duration_seconds=1.5,
            cost_usd=0.25,
        ),
        patch=patch,
        evaluation=EvalResult(
            instance_id="some-case",
            fail_to_pass_results=fixed,
            pass_to_pass_results=kept,
            **evaluation,
        )
        if evaluated
        else None,
    )


def codes(score):
    return [mode.code for mode in score.failure_modes]


# Repairs.


def test_repair_of_fitting_scope_scores_one(codegenie_rubric, make_case):
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(diff()))
    assert score.passed
    assert score.score == 1.0
    assert score.breakdown == {"fail_to_pass": 1.0, "pass_to_pass": 1.0, "scope": 1.0}
    assert score.failure_modes == ()


def test_cost_and_time_are_the_agents(codegenie_rubric, make_case):
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(diff()))
    assert (score.cost_usd, score.wall_clock_ms) == (0.25, 1500.0)


def test_unknown_cost_adds_nothing(codegenie_rubric, make_case):
    output = make_output(diff())
    agent = output.agent.model_copy(update={"cost_usd": None})
    output = output.model_copy(update={"agent": agent})
    assert codegenie_rubric.score(make_case(gold=diff()), output).cost_usd == 0.0


def test_doing_nothing_is_worth_nothing(codegenie_rubric, make_case):
    output = make_output(fixed=dict.fromkeys(FIXED, "failed"))
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert not score.passed
    assert score.score == 0.0
    assert score.breakdown["pass_to_pass"] == 1.0
    assert codes(score) == ["tests.still_failing"]


def test_half_a_repair_is_worth_less_than_half(codegenie_rubric, make_case):
    half = make_output(diff(), fixed=FIXED | {"test_fault": "failed"})
    score = codegenie_rubric.score(make_case(gold=diff()), half)
    assert not score.passed
    assert score.score == pytest.approx(0.245)
    assert codes(score) == ["tests.still_failing"]
    assert score.failure_modes[0].detail == "1 of 2: test_fault"
    assert score.failure_modes[0].severity == "block"


def test_score_grows_with_the_fractions(codegenie_rubric, make_case):
    case = make_case(gold=diff())
    scores = []
    for fixed, kept in [(1, 1), (1, 4), (3, 4), (4, 3), (4, 4)]:
        output = make_output(
            diff(),
            fixed={str(n): "passed" if n < fixed else "failed" for n in range(5)},
            kept={str(n): "passed" if n < kept else "error" for n in range(5)},
        )
        scores.append(codegenie_rubric.score(case, output).score)
    assert scores == sorted(scores)
    assert len(set(scores)) == 4
    assert max(scores) < 0.5


def test_damage_is_named(codegenie_rubric, make_case):
    output = make_output(diff(), kept=dict.fromkeys("abcde", "missing"))
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert not score.passed
    assert score.score == 0.0
    assert codes(score) == ["tests.broken"]
    assert score.failure_modes[0].detail == "5 of 5: a, b, c, ..."


def test_skipped_test_is_not_passed(codegenie_rubric, make_case):
    output = make_output(diff(), fixed=FIXED | {"test_fault": "skipped"})
    assert not codegenie_rubric.score(make_case(gold=diff()), output).passed


@pytest.mark.parametrize(
    "output",
    [
        make_output(diff(), evaluated=False),
        make_output(diff(), {}, {}, status="timeout", resolved=False),
    ],
    ids=["not-evaluated", "timeout"],
)
def test_what_is_not_known_is_left_out(codegenie_rubric, make_case, output):
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert not score.passed
    assert score.score == 0.0
    assert score.breakdown == {"scope": 1.0}
    assert codes(score) == ["tests.incomplete"]


def test_timeout_halfway(codegenie_rubric, make_case):
    output = make_output(
        diff(),
        kept=KEPT | {"test_order": "missing"},
        status="timeout",
        error_message="no end after 60 s",
    )
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert codes(score) == ["tests.broken", "tests.incomplete"]
    assert score.failure_modes[1].detail == "no end after 60 s"


def test_ambiguous_case_without_reference(codegenie_rubric, make_case):
    score = codegenie_rubric.score(make_case("ambiguous"), make_output(diff()))
    assert score.passed
    assert score.score == 1.0
    assert "scope" not in score.breakdown


# Scope. The reference of 4 lines in 1 file makes 28 lines and 3 files fit.


@pytest.mark.parametrize(
    ("lines", "scope"),
    [(1, 1.0), (28, 1.0), (84, 0.5), (140, 0.0), (1000, 0.0)],
    ids=["small", "fits", "halfway", "rewrite", "more"],
)
def test_scope_by_lines(codegenie_rubric, make_case, lines, scope):
    output = make_output(diff(lines=lines))
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert score.passed
    assert score.breakdown["scope"] == pytest.approx(scope)
    assert score.score == pytest.approx(0.8 + 0.2 * scope)
    assert codes(score) == ([] if scope == 1 else ["scope.sprawl"])


@pytest.mark.parametrize(
    ("files", "scope"), [(3, 1.0), (9, 0.5), (15, 0.0)], ids=["fits", "half", "all"]
)
def test_scope_by_files(codegenie_rubric, make_case, files, scope):
    patch = "".join(diff(f"shop/part{n}.py", 1) for n in range(files))
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(patch))
    assert score.breakdown["scope"] == pytest.approx(scope)


def test_sprawl_is_a_warning(codegenie_rubric, make_case):
    output = make_output(diff(lines=84))
    (mode,) = codegenie_rubric.score(make_case(gold=diff()), output).failure_modes
    assert mode.severity == "warn"
    assert mode.detail.startswith("scope 0.50:")


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_cart.py",
        "shop/test_cart.py",
        "shop/cart_test.py",
        "conftest.py",
        "docs/index.html",
        "CHANGELOG.md",
        "a folder/tests/x y.json",
    ],
)
def test_tests_and_documentation_do_not_count(codegenie_rubric, make_case, path):
    patch = diff() + diff(path, 1000)
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(patch))
    assert score.breakdown["scope"] == 1.0


@pytest.mark.parametrize("path", ["shop/latest.py", "shop/contests.py", "docs.py"])
def test_code_with_such_a_name_counts(codegenie_rubric, make_case, path):
    output = make_output(diff(path, 1000))
    score = codegenie_rubric.score(make_case(gold=diff()), output)
    assert score.breakdown["scope"] == 0.0


def test_large_repair_of_a_large_fault_fits(codegenie_rubric, make_case):
    output = make_output(diff(lines=400))
    score = codegenie_rubric.score(make_case(gold=diff(lines=200)), output)
    assert score.score == 1.0


def test_removed_line_that_looks_like_a_header(codegenie_rubric, make_case):
    patch = (
        "diff --git a/query.sql b/query.sql\n--- a/query.sql\n+++ b/query.sql\n"
        "@@ -1,200 +0,0 @@\n" + "--- diff --git a/tests/x b/tests/x\n" * 200
    )
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(patch))
    assert score.breakdown["scope"] == 0.0


def test_renamed_and_binary_files_count_as_files(codegenie_rubric, make_case):
    patch = "".join(
        f"diff --git a/shop/part{n}.py b/shop/other{n}.py\nsimilarity index 100%\n"
        f"rename from shop/part{n}.py\nrename to shop/other{n}.py\n"
        f"diff --git a/shop/{n}.png b/shop/{n}.png\n"
        f"Binary files a/shop/{n}.png and b/shop/{n}.png differ\n"
        for n in range(8)
    )
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(patch))
    assert score.breakdown["scope"] == 0.0


def test_blank_lines_do_not_count(codegenie_rubric, make_case):
    patch = (
        "diff --git a/shop/cart.py b/shop/cart.py\n--- a/shop/cart.py\n"
        "+++ b/shop/cart.py\n@@ -1,0 +1,500 @@\n" + "+\n+    \n" * 250
    )
    score = codegenie_rubric.score(make_case(gold=diff()), make_output(patch))
    assert score.breakdown["scope"] == 1.0


# Mistaken reports.


def test_unchanged_tree_is_the_answer_to_a_mistaken_report(codegenie_rubric, make_case):
    output = make_output("", fixed={})
    score = codegenie_rubric.score(make_case("negative"), output)
    assert score.passed
    assert score.score == 1.0
    assert score.breakdown == {"fail_to_pass": 1.0, "pass_to_pass": 1.0, "scope": 1.0}
    assert score.failure_modes == ()


def test_unchanged_tree_need_not_be_evaluated(codegenie_rubric, make_case):
    output = make_output("\n", evaluated=False)
    score = codegenie_rubric.score(make_case("negative"), output)
    assert score.passed
    assert score.score == 1.0
    assert score.breakdown == {"scope": 1.0}


@pytest.mark.parametrize("path", ["shop/cart.py", "tests/test_cart.py", "README.md"])
@pytest.mark.parametrize("evaluated", [True, False])
def test_any_change_is_unneeded(codegenie_rubric, make_case, path, evaluated):
    output = make_output(diff(path, 1), fixed={}, evaluated=evaluated)
    score = codegenie_rubric.score(make_case("negative"), output)
    assert not score.passed
    assert score.score == 0.0
    assert score.breakdown["scope"] == 0.0
    assert codes(score) == ["unneeded_change"]
    assert score.failure_modes[0].severity == "block"


def test_unneeded_change_that_does_damage(codegenie_rubric, make_case):
    output = make_output(diff(), fixed={}, kept=KEPT | {"test_order": "failed"})
    score = codegenie_rubric.score(make_case("negative"), output)
    assert codes(score) == ["unneeded_change", "tests.broken"]
    assert score.breakdown["pass_to_pass"] == 0.5


def test_unchanged_tree_whose_tests_fail(codegenie_rubric, make_case):
    output = make_output("", fixed={}, kept=KEPT | {"test_order": "failed"})
    score = codegenie_rubric.score(make_case("negative"), output)
    assert not score.passed
    assert score.score < 0.5
    assert codes(score) == ["tests.broken"]


# The shipped cases.


@pytest.mark.parametrize(
    "gold", sorted(CASES.glob("*/expected/gold.patch")), ids=lambda p: p.parts[-3]
)
def test_reference_solution_scores_one(codegenie_rubric, make_case, gold):
    patch = gold.read_text(encoding="utf-8")
    score = codegenie_rubric.score(make_case(gold=patch), make_output(patch))
    assert score.score == 1.0
    assert score.breakdown["scope"] == 1.0


def test_score_depends_on_nothing_but_its_arguments(codegenie_rubric, make_case):
    case = make_case(gold=diff())
    output = make_output(diff(lines=60))
    first = codegenie_rubric.score(case, output)
    codegenie_rubric.score(case, make_output(fixed=dict.fromkeys(FIXED, "failed")))
    assert codegenie_rubric.score(case, output) == first
