"""The shell door: ``codegenie new | sign | verify | list | schema``."""

from __future__ import annotations

from pytest_codegenie.cli.main import main as main
