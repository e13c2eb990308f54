"""The tutorial does what it says, command by command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie import load_run
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part


def test_the_tutorial_works(walk_through: Callable[[str], Path]) -> None:
    directory = walk_through("tutorial.md")
    outcomes = {
        path.name: [(result.agent, result.outcome) for result in load_run(path).results]
        for path in (directory / ".codegenie" / "runs").iterdir()
    }
    assert outcomes == {
        "first": [("oracle", "passed")],
        "nothing": [("nop", "failed")],
        "astray": [("careless", "error")],
        "careless": [("careless", "failed")],
    }


def test_the_program_is_built(walk_through: Callable[[str], Path]) -> None:
    pytest.importorskip("pylint", reason="pip install 'pytest-codegenie[foundry]'")
    directory = walk_through("build-a-program.md")
    built = (directory / "slug" / "src" / "slug.py").read_text(encoding="utf-8")
    assert "def words" in built
    assert "def slug" not in built
    # And what the page says of a real agent is something that it takes.
    wanted = open_project(directory / "slug").harness.agent
    assert wanted is not None
    agent = make_part("agent", wanted.name, BUILTIN_PARTS.agents)
    agent.configure(wanted.options)
