"""Gates of a session, as far as no session is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support_runs import result
from support_runs import store_run

from pytest_codegenie.config import Configuration
from pytest_codegenie.config import load_configuration
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.session.gates import Gates


def configuration(**options: object) -> Configuration:
    return load_configuration(options=options, environment={})


def test_a_bound_needs_scipy_and_says_so_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)  # as if it were not installed
    with pytest.raises(ConfigError) as caught:
        Gates(configuration(require_lower_bound=["0.5"]), "run")
    assert str(caught.value) == (
        "command line: --codegenie-require-lower-bound: needs SciPy: pip install "
        "'pytest-codegenie[stats]'"
    )
    assert Gates(configuration(), "run").met is None


def test_a_run_that_goes_on_is_no_baseline_of_its_own(tmp_path: Path) -> None:
    store_run(tmp_path, [result("a")], run_id="mine")
    settings = configuration(out=tmp_path, baseline="latest")
    assert Gates(settings, "another").met is None
    with pytest.raises(ConfigError, match="'latest' is the run itself; name another"):
        Gates(settings, "mine")


def test_gates_are_described(tmp_path: Path) -> None:
    store_run(tmp_path, [result("a")], run_id="base")
    settings = configuration(
        out=tmp_path,
        baseline="base",
        fail_on_regression=True,
        require_lower_bound=["0.5", "demo=0.75"],
    )
    assert list(Gates(settings, "run").description()) == [
        "lower bound of at least 0.5 for every other task class",
        "lower bound of at least 0.75 for demo",
        "no regression since run base",
    ]
    assert list(Gates(configuration(), "run").description()) == []


def test_a_gate_without_a_verdict_is_not_met(tmp_path: Path) -> None:
    store_run(tmp_path, [result("a")], run_id="base")
    settings = configuration(out=tmp_path, baseline="base", fail_on_regression=True)
    assert Gates(settings, "run").met is False
