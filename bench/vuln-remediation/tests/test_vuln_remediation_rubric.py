"""The rubric: what it makes of good, bad and needless changes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pytest_codegenie import AgentOutput
from pytest_codegenie import BenchCase
from pytest_codegenie import EvalResult
from pytest_codegenie import HarnessOutput


CASES = Path(__file__).parents[1] / "cases"
CASE_IDS = sorted(path.name for path in CASES.iterdir() if path.is_dir())
BLOCKED = {"exploit_a": "passed", "exploit_b": "passed"}
KEPT = {f"test_{n}": "passed" for n in range(4)}


def make_patch(*sizes, path="app/core_{}.py"):
    """Return a git diff that adds so many lines to each of as many files."""
    return "".join(
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"
        f"@@ -1 +1,{size + 1} @@\n context\n" + "+line\n" * size
        for name, size in ((path.format(n), size) for n, size in enumerate(sizes))
    )


REFERENCE = make_patch(10)


def make_output(patch, blocked=BLOCKED, kept=KEPT, **agent):
    statuses = [*blocked.values(), *kept.values()]
    resolved = all(status == "passed" for status in statuses)
    evaluation = EvalResult(
        instance_id="x",
        status="passed" if resolved else "failed",
        fail_to_pass_results=blocked,
        pass_to_pass_results=kept,
        resolved=resolved,
    )
    agent_output = AgentOutput(instance_id="x", agent_name="a", patch=patch, **agent)
    return HarnessOutput(agent=agent_output, patch=patch, evaluation=evaluation)


def unjudged(output):
    return output.model_copy(update={"evaluation": None})


def codes(score):
    return [mode.code for mode in score.failure_modes]


def read_case(directory):
    fields = tomllib.loads((directory / "case.toml").read_text(encoding="utf-8"))
    return BenchCase(**fields, case_digest="blake3:" + "0" * 64, directory=directory)


@pytest.fixture
def make_case(tmp_path):
    """Make a case; its reference solution adds ten lines to one file."""

    def make_case(disposition="positive", gold=REFERENCE):
        (tmp_path / "expected").mkdir()
        if gold and disposition != "negative":
            path = tmp_path / "expected" / "gold.patch"
            path.write_text(gold, encoding="utf-8", newline="")
        return BenchCase(
            case_id="some-hole",
            task_class="vuln-remediation",
            disposition=disposition,
            difficulty="medium",
            source="curated",
            curation_class="held-out",
            added_at="2026-11-21",
            last_validated_at="2026-11-21",
            cassette_canary_pin="0" * 32,
            case_digest="blake3:" + "0" * 64,
            directory=tmp_path,
        )

    return make_case


def test_closed_hole(codegenie_rubric, make_case):
    score = codegenie_rubric.score(make_case(), make_output(make_patch(4)))
    assert score.passed
    assert score.score == 1.0
    assert score.failure_modes == ()
    assert score.breakdown == {
        "exploit_blocked": 1.0,
        "behaviour_kept": 1.0,
        "change_scope": 1.0,
    }


def test_hole_left_open(codegenie_rubric, make_case):
    blocked = dict.fromkeys(BLOCKED, "failed")
    output = make_output(make_patch(4), blocked=blocked)
    score = codegenie_rubric.score(make_case(), output)
    assert not score.passed
    assert score.score == 0.0
    assert codes(score) == ["exploit.still_works"]
    assert score.failure_modes[0].severity == "block"
    assert score.failure_modes[0].detail == "exploit_a, exploit_b"
    assert score.breakdown["exploit_blocked"] == 0.0
    assert score.breakdown["behaviour_kept"] == 1.0


def test_half_of_a_hole_left_open(codegenie_rubric, make_case):
    output = make_output(make_patch(4), blocked=BLOCKED | {"exploit_b": "failed"})
    score = codegenie_rubric.score(make_case(), output)
    assert codes(score) == ["exploit.still_works"]
    assert score.breakdown["exploit_blocked"] == 0.5
    assert 0.0 < score.score < 0.5


def test_hole_closed_by_breaking_things(codegenie_rubric, make_case):
    kept = KEPT | {"test_3": "failed"}
    score = codegenie_rubric.score(make_case(), make_output(make_patch(4), kept=kept))
    assert not score.passed
    assert codes(score) == ["behaviour.broken"]
    assert score.failure_modes[0].detail == "test_3"
    assert score.breakdown["behaviour_kept"] == 0.75
    assert 0.0 < score.score < 0.5


def test_closing_a_hole_by_breaking_everything_is_worth_nothing(
    codegenie_rubric, make_case
):
    output = make_output(make_patch(4), kept=dict.fromkeys(KEPT, "error"))
    score = codegenie_rubric.score(make_case(), output)
    assert score.score == 0.0
    assert score.failure_modes[0].detail == "test_0, test_1, test_2 and 1 more"


@pytest.mark.parametrize("status", ["failed", "error", "skipped", "missing"])
def test_only_passed_counts(codegenie_rubric, make_case, status):
    output = make_output(
        make_patch(4), {"exploit_a": status}, {"test_0": status, "test_1": "passed"}
    )
    score = codegenie_rubric.score(make_case(), output)
    assert codes(score) == ["exploit.still_works", "behaviour.broken"]
    assert score.breakdown["exploit_blocked"] == 0.0
    assert score.breakdown["behaviour_kept"] == 0.5


def test_best_unresolved_is_below_half(codegenie_rubric, make_case):
    blocked = {f"exploit_{n}": "passed" for n in range(999)}
    output = make_output(make_patch(4), blocked | {"exploit_last": "failed"})
    score = codegenie_rubric.score(make_case(), output)
    assert not score.passed
    assert 0.4 < score.score < 0.5


def test_tests_that_ran_out_of_time(codegenie_rubric, make_case):
    output = make_output(make_patch(4), kept=KEPT | {"test_3": "missing"})
    evaluation = output.evaluation.model_copy(
        update={"status": "timeout", "error_message": "longer than 60 seconds"}
    )
    output = output.model_copy(update={"evaluation": evaluation})
    score = codegenie_rubric.score(make_case(), output)
    assert not score.passed
    assert codes(score) == ["behaviour.broken", "verdict.incomplete"]
    assert score.failure_modes[1].detail == "longer than 60 seconds"


def test_positive_case_without_a_verdict(codegenie_rubric, make_case):
    score = codegenie_rubric.score(make_case(), unjudged(make_output(make_patch(4))))
    assert not score.passed
    assert score.score == 0.0
    assert codes(score) == ["verdict.incomplete"]
    assert score.breakdown == {"change_scope": 1.0}


def test_results_that_are_empty_are_not_taken_for_success(codegenie_rubric, make_case):
    output = make_output(make_patch(4), {}, {})
    evaluation = output.evaluation.model_copy(
        update={"status": "error", "resolved": False}
    )
    output = output.model_copy(update={"evaluation": evaluation})
    score = codegenie_rubric.score(make_case(), output)
    assert not score.passed
    assert score.score == 0.0
    assert codes(score) == ["verdict.incomplete"]
    assert score.failure_modes[0].detail == "status 'error'"


class TestChangeScope:
    """The reference: ten lines in one file. 45 lines in 3 files fit."""

    @pytest.fixture
    def scope_of(self, codegenie_rubric, make_case):
        case = make_case()

        def scope_of(patch):
            score = codegenie_rubric.score(case, make_output(patch))
            assert score.passed
            assert 0.8 <= score.score <= 1.0
            scope = score.breakdown["change_scope"]
            assert codes(score) == ([] if scope == 1.0 else ["scope.sprawl"])
            assert score.score == pytest.approx(0.8 + 0.2 * scope)
            return scope

        return scope_of

    @pytest.mark.parametrize(
        ("patch", "scope"),
        [
            (make_patch(45), 1.0),
            (make_patch(15, 15, 15), 1.0),
            (make_patch(90), 2 / 3),
            (make_patch(135), 1 / 3),
            (make_patch(180), 0.0),
            (make_patch(5_000), 0.0),
            (make_patch(*[1] * 6), 2 / 3),
            (make_patch(*[1] * 12), 0.0),
            (make_patch(*[1] * 6, 90), 5 / 9),
        ],
    )
    def test_size(self, scope_of, patch, scope):
        assert scope_of(patch) == pytest.approx(scope)

    @pytest.mark.parametrize(
        "path",
        [
            "tests/unit/core_{}.py",
            "app/test_core_{}.py",
            "app/core_{}_test.py",
            "{}/conftest.py",
            "docs/page_{}.html",
            "README_{}.md",
            "changes/{}.rst",
        ],
    )
    def test_tests_and_docs_do_not_count(self, scope_of, path):
        assert scope_of(make_patch(10) + make_patch(*[400] * 9, path=path)) == 1.0

    @pytest.mark.parametrize(
        "path", ["app/testing_{}.py", "app/docs_{}.py", "contest_{}.py"]
    )
    def test_names_that_only_look_like_tests_or_docs(self, scope_of, path):
        assert scope_of(make_patch(400, path=path)) == 0.0

    def test_removed_lines_count(self, scope_of):
        body = "-line\n" * 90
        patch = (
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
            f"@@ -1,90 +0,0 @@\n{body}"
        )
        assert scope_of(patch) == pytest.approx(2 / 3)

    def test_blank_lines_do_not_count(self, scope_of):
        assert scope_of(make_patch(400).replace("+line", "+ ")) == 1.0

    def test_lines_that_look_like_headers_are_lines(self, scope_of):
        body = "--- a/x.py\n" * 45 + "+++ b/x.py\n" * 45
        patch = (
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
            f"@@ -1,45 +1,45 @@\n{body}"
        )
        assert scope_of(patch) == pytest.approx(2 / 3)

    def test_several_hunks_and_files_without_a_final_newline(self, scope_of):
        hunk = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline\n"
        head = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        assert scope_of(head + hunk * 20) == 1.0
        assert scope_of(head + hunk * 45) == pytest.approx(2 / 3)

    def test_files_without_hunks_are_files(self, scope_of):
        renames = "".join(
            f"diff --git a/o{n}.py b/n{n}.py\nsimilarity index 100%\n"
            f"rename from o{n}.py\nrename to n{n}.py\n"
            for n in range(6)
        )
        assert scope_of(renames) == pytest.approx(2 / 3)

    def test_names_with_spaces_and_in_quotes(self, scope_of):
        assert scope_of(make_patch(400, path="docs/a b/c {}.py")) == 1.0
        assert scope_of(make_patch(400, path="a b/docs/{}.py")) == 1.0
        assert scope_of(make_patch(400, path="app/my docs/{}.py")) == 0.0
        quoted = make_patch(400).replace(
            "diff --git a/app/core_0.py b/app/core_0.py",
            'diff --git "a/docs/\\303\\274.py" "b/docs/\\303\\274.py"',
        )
        assert scope_of(quoted) == 1.0


def test_tests_and_docs_of_the_reference_do_not_widen_the_scope(
    codegenie_rubric, make_case
):
    gold = make_patch(10) + make_patch(500, path="tests/test_{}.py")
    score = codegenie_rubric.score(make_case(gold=gold), make_output(make_patch(90)))
    assert score.breakdown["change_scope"] == pytest.approx(2 / 3)


def test_no_reference_no_scope(codegenie_rubric, make_case):
    score = codegenie_rubric.score(
        make_case("ambiguous", gold=None), make_output(make_patch(5_000))
    )
    assert score.passed
    assert score.score == 1.0
    assert set(score.breakdown) == {"exploit_blocked", "behaviour_kept"}


@pytest.mark.parametrize("judged", [True, False])
def test_false_alarm_left_alone(codegenie_rubric, make_case, judged):
    output = make_output("", blocked={})
    score = codegenie_rubric.score(
        make_case("negative"), output if judged else unjudged(output)
    )
    assert score.passed
    assert score.score == 1.0
    assert score.failure_modes == ()
    assert score.breakdown["change_scope"] == 1.0


@pytest.mark.parametrize("path", ["app/{}.py", "tests/test_{}.py", "README{}.md"])
@pytest.mark.parametrize("judged", [True, False])
def test_false_alarm_that_was_acted_on(codegenie_rubric, make_case, path, judged):
    output = make_output(make_patch(1, path=path), blocked={})
    score = codegenie_rubric.score(
        make_case("negative"), output if judged else unjudged(output)
    )
    assert not score.passed
    assert score.score == 0.0
    assert codes(score) == ["unneeded_change"]
    assert score.failure_modes[0].severity == "block"
    assert score.breakdown["change_scope"] == 0.0


def test_false_alarm_acted_on_with_damage(codegenie_rubric, make_case):
    output = make_output(make_patch(1), blocked={}, kept=KEPT | {"test_0": "failed"})
    score = codegenie_rubric.score(make_case("negative"), output)
    assert codes(score) == ["unneeded_change", "behaviour.broken"]


def test_false_alarm_whose_tests_do_not_pass(codegenie_rubric, make_case):
    output = make_output("", blocked={}, kept=KEPT | {"test_0": "failed"})
    score = codegenie_rubric.score(make_case("negative"), output)
    assert not score.passed
    assert codes(score) == ["behaviour.broken"]


def test_cost_and_time_are_the_agents(codegenie_rubric, make_case):
    output = make_output(make_patch(4), cost_usd=0.25, duration_seconds=1.5)
    score = codegenie_rubric.score(make_case(), output)
    assert score.cost_usd == 0.25
    assert score.wall_clock_ms == 1500.0


def test_agent_that_does_not_say_what_it_cost(codegenie_rubric, make_case):
    assert codegenie_rubric.score(make_case(), make_output("")).cost_usd == 0.0


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_reference_solution_is_worth_all(codegenie_rubric, case_id):
    case = read_case(CASES / case_id)
    tests = tomllib.loads(
        (case.expected_dir / "tests.toml").read_text(encoding="utf-8")
    )
    gold = case.expected_dir / "gold.patch"
    output = make_output(
        gold.read_text(encoding="utf-8") if gold.exists() else "",
        dict.fromkeys(tests["fail_to_pass"], "passed"),
        dict.fromkeys(tests["pass_to_pass"], "passed"),
    )
    score = codegenie_rubric.score(case, output)
    assert score.passed
    assert score.score == 1.0
    assert set(score.breakdown.values()) == {1.0}
    assert codegenie_rubric.score(case, output) == score


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_every_exploit_is_called_so(case_id):
    path = CASES / case_id / "expected" / "tests.toml"
    tests = tomllib.loads(path.read_text(encoding="utf-8"))
    assert all("test_exploit_" in test for test in tests["fail_to_pass"])
