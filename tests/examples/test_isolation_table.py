"""The table of what each workspace isolates is what the tests expect today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate_isolation", DOCS / "generate_isolation.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_table_that_is_generated(generator: ModuleType) -> None:
    committed = (DOCS / "how-to" / "choose-a-workspace.md").read_text("utf-8")
    command = "python docs/generate_isolation.py"
    assert committed == generator.page(), f"out of date; run: {command}"


def test_the_workspaces_differ_where_they_should(generator: ModuleType) -> None:
    suite = DOCS.parent / "tests" / "unit" / "workspaces"
    opened = dict(generator.rows(generator.load(suite / "test_isolation.py")))
    assert len(opened) > 20
    assert all("host" in open_in for open_in in opened.values())
    assert not any("sandbox" in open_in for open_in in opened.values())


def test_the_workspace_of_the_page_is_the_one_that_the_suite_runs() -> None:
    page = (DOCS / "how-to" / "write-a-workspace.md").read_text("utf-8")
    code = (DOCS.parent / "tests" / "offline_workspace.py").read_text("utf-8")
    assert f'```python title="offline_workspace.py"\n{code}```\n' in page
