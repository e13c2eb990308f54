"""The shell door: ``codegenie new | sign | verify | list | clean | schema``."""

from __future__ import annotations

from pytest_codegenie.cli.main import main as main
