"""Real instances of SWE-bench come out as labelled, from a package index alone.

Environments and sources are kept for later runs where ``CODEGENIE_TEST_CACHE`` names a
directory.
"""

from __future__ import annotations

import os
import pwd
from collections import Counter
from pathlib import Path

import pytest
from integration.sessions import Project
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts

from pytest_codegenie.cli import main
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.swebench import SwebenchDataset
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.models import CaseResult
from pytest_codegenie.workspaces.sources.sdists import find_sdists


DATA = Path(__file__).parents[1] / "data" / "datasets" / "swebench-from-sdists"
#: How many tests are labelled to fail before and pass after, and to pass always.
LABELLED = {
    "pytest-dev__pytest-6202": (1, 72),
    "pytest-dev__pytest-5787": (2, 123),
    "psf__requests-6028": (2, 185),
    "pallets__flask-5063": (2, 54),
    "pallets__flask-4992": (1, 18),
    "marshmallow-code__marshmallow-1252": (1, 37),
    "marshmallow-code__marshmallow-1359": (1, 76),
    "marshmallow-code__marshmallow-1524": (5, 127),
}


@pytest.fixture(scope="module")
def made() -> dict[str, CaseDraft]:
    """The drafts of all rows, by id; skips where no index has what they need."""
    try:
        links = list(find_sdists("flask", "2.2.3"))
    except WorkspaceUnavailable as exc:
        pytest.skip(f"no package index: {exc}")
    if not links:
        pytest.skip("the package index has no source distribution of flask 2.2.3")
    bases = DATA / "bases.toml"
    found = drafts(SwebenchDataset(), DATA / "rows.jsonl", bases=bases)
    return {draft.instance_id: draft for draft in found}


def _counts(result: CaseResult) -> tuple[Counter[str], Counter[str]]:
    """Return the statuses of both lists, each with how many tests have it."""
    if result.message.startswith("Python "):
        pytest.skip(result.message)
    assert result.outcome != "error", result.message
    assert result.output is not None
    assert result.output.evaluation is not None
    evaluation = result.output.evaluation
    return (
        Counter(evaluation.fail_to_pass_results.values()),
        Counter(evaluation.pass_to_pass_results.values()),
    )


@pytest.mark.parametrize("instance_id", LABELLED)
def test_oracle_and_nop_come_out_as_labelled(
    instance_id: str, bench: Bench, kept_cache: Path, made: dict[str, CaseDraft]
) -> None:
    fixed, kept = LABELLED[instance_id]
    place_drafts(bench, [made[instance_id]])
    oracle = bench.run(instance_id, cache_directory=kept_cache)
    assert _counts(oracle) == ({"passed": fixed}, {"passed": kept})
    assert oracle.outcome == "passed"
    nop = bench.run(
        instance_id, agent="nop", cache_directory=kept_cache, judge_empty_patch=True
    )
    assert _counts(nop) == ({"failed": fixed}, {"passed": kept})
    assert nop.outcome == "failed"


def test_an_imported_instance_is_told_to_reproduce(
    project: Project,
    kept_cache: Path,
    made: dict[str, CaseDraft],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # pytester's has neither the user's settings for pip nor the versions of pyenv.
    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    out = project.path / ".codegenie"
    out.mkdir()
    kept_cache.mkdir(parents=True, exist_ok=True)
    (out / "cache").symlink_to(kept_cache)
    rows = str(DATA / "rows.jsonl")
    options = ["--select", "*marshmallow-1252", "--option", f"bases={DATA}/bases.toml"]
    assert main(["import", "swebench", rows, "--into", "bench/real", *options]) == 0
    capsys.readouterr()
    assert main(["verify", "bench/real", "--oracle"]) == 0
    case = "bench/real/cases/marshmallow-code__marshmallow-1252"
    assert f"{case}: reproduces\n" in capsys.readouterr().out
