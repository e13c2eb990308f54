"""The reference is what the code says today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "python docs/generate_reference.py"


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    pytest.importorskip("scipy", reason="pip install 'pytest-codegenie[stats]'")
    spec = importlib.util.spec_from_file_location(
        "generate_reference", DOCS / "generate_reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages: dict[str, str] = module.pages()
    return pages


def test_the_committed_pages_are_those_that_are_generated(
    generated: dict[str, str],
) -> None:
    committed = {
        path.name: path.read_text(encoding="utf-8")
        for path in (DOCS / "reference").glob("*.md")
    }
    stale = sorted(
        name
        for name in generated.keys() | committed.keys()
        if generated.get(name) != committed.get(name)
    )
    assert not stale, f"out of date: {', '.join(stale)}; run: {COMMAND}"


def test_every_option_command_and_record_has_its_place(
    generated: dict[str, str],
) -> None:
    for page, words in {
        "options.md": ("--codegenie-run-file FILE", "codegenie_rubric", "held_out"),
        "commands.md": ("codegenie verify", "--static"),
        "configuration.md": ("timeout_margin", "trials"),
        "case-files.md": ("cassette_canary_pin", "base_commit", "fail_to_pass"),
        "records.md": ("## BenchRunReport", '"additionalProperties": false'),
        "failures.md": ("agent.no_patch", "rubric.timeout", "BenchCaseDigestMismatch"),
        "hooks.md": ("pytest_codegenie_workspaces", "Workspace.diff"),
        "junit.md": ("breakdown.<key>", "lower_bound_95", "cost_usd"),
        "run-store.md": ("results.jsonl", "patch.diff"),
    }.items():
        missing = [word for word in words if word not in generated[page]]
        assert not missing, f"{page} lacks {missing}"
