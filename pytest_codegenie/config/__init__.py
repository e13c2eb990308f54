"""One ``RunConfig``, from five places.

Command line > environment (``CODEGENIE_*``) > run file (YAML) > ``[tool.codegenie]``
in ``pyproject.toml`` > defaults. A later place fills only what an earlier one leaves
open, in tables key by key. Agents and datasets are taken whole from the first place
that names any; a name alone takes the settings that a later place gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.config.bounds import RequiredBound as RequiredBound
from pytest_codegenie.config.loading import Configuration as Configuration
from pytest_codegenie.config.loading import load_configuration as load_configuration
from pytest_codegenie.config.places import ENVIRONMENT_PREFIX as ENVIRONMENT_PREFIX
from pytest_codegenie.config.record import SINGULARS as SINGULARS
from pytest_codegenie.config.record import TABLES as TABLES
from pytest_codegenie.config.record import DatasetSpec as DatasetSpec
from pytest_codegenie.config.record import RunConfig as RunConfig
from pytest_codegenie.config.showing import show_configuration as show_configuration


def load_config(
    *,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    run_file: Path | None = None,
    pyproject: Path | None = None,
) -> RunConfig:
    """Return what holds; the arguments are those of ``load_configuration``.

    Raises:
        ConfigError: A place cannot be read, or a key is unknown or wrong.
    """
    return load_configuration(
        options=options,
        environment=environment,
        run_file=run_file,
        pyproject=pyproject,
    ).settings
