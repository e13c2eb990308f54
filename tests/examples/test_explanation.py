"""The figures in the explanation are those that the code gives."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import pytest
from support_runs import result

from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence.statistics import MIN_SAMPLE
from pytest_codegenie.evidence.statistics import RESAMPLES
from pytest_codegenie.evidence.statistics import lower_bound_95
from pytest_codegenie.evidence.statistics import mcnemar
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.terminal import summary_lines


PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"
SCIPY = "pip install 'pytest-codegenie[stats]'"


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_examples_print_what_they_say() -> None:
    pytest.importorskip("scipy", reason=SCIPY)
    examples = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", text(), re.M | re.S))
    parsed = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, None, 0)
    assert len(parsed.examples) == 17
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(parsed, out=said.append).failed
    assert failed == 0, "".join(said)


def summary(*results: CaseResult) -> str:
    """What the terminal shows, as the page has it."""
    plain = [json.loads(one.to_json()) for one in results]
    lines = summary_lines(summarise(plain))
    return "\n".join(line for line in lines if not line.startswith("  cost "))


def of(case_id: str, letters: str) -> list[CaseResult]:
    """Results of a case, one for each letter: pass, fail or error."""
    words = {"p": "passed", "f": "failed", "e": "error"}
    return [
        result(
            case_id,
            words[letter],
            trial=trial,
            task_class="bug-repair",
            agent="my-agent",
        )
        for trial, letter in enumerate(letters, 1)
    ]


@pytest.mark.parametrize(
    "cases",
    [
        {**{f"c{number:02}": "p" for number in range(11)}, "c11": "e"},
        {"a": "ppp", "b": "ppp", "c": "pff", "d": "fff"},
    ],
    ids=["one-trial", "three-trials"],
)
def test_the_summaries_are_those_of_the_code(cases: dict[str, str]) -> None:
    pytest.importorskip("scipy", reason=SCIPY)
    results = [one for name, letters in cases.items() for one in of(name, letters)]
    assert f"```text\n{summary(*results)}\n```" in text()


def test_the_bounds_are_those_of_the_code() -> None:
    pytest.importorskip("scipy", reason=SCIPY)
    of_twelve = lower_bound_95([1.0] * 12, seed=0)
    assert f"a bound of {of_twelve.value:.3f}." in text()
    of_ten = lower_bound_95([1.0] * 10, seed=0)
    assert f"have a bound of {of_ten.value:.3f} after one trial" in text()
    most = next(n for n in range(3, 99) if bound_of_all(n) >= 0.95)
    assert f"a bound of 0.95 needs at least {most} cases" in text()


def bound_of_all(cases: int) -> float:
    value = lower_bound_95([1.0] * cases, seed=0).value
    assert value is not None
    return value


def test_the_limits_are_those_of_the_code() -> None:
    assert f"{RESAMPLES} resamples" in text()
    assert MIN_SAMPLE == 3
    assert "fewer than three cases" in text()
    p_values = [mcnemar(changed, 0).p_value or 0 for changed in range(1, 9)]
    assert sum(p >= 0.05 for p in p_values) == 5
    assert "below six cases that changed no split is" in " ".join(text().split())


def test_what_chance_does_is_what_the_page_says() -> None:
    assert 1 / 0.8**12 == pytest.approx(15, abs=0.5)
    # Of a tossed coin a case passes before and not after one time in four.
    assert 1 - 0.75**10 == pytest.approx(0.94, abs=0.005)
