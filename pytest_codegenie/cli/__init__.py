"""The shell door: ``codegenie new | sign | verify | list | run | report | ...``."""

from __future__ import annotations

from pytest_codegenie.cli.main import main as main
