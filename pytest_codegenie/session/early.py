"""What the settings decide before a session begins: its workers, or that none does."""

from __future__ import annotations

import argparse
import os

import pytest
from _pytest.config import create_terminal_writer

from pytest_codegenie.config import show_configuration
from pytest_codegenie.session.settings import configured
from pytest_codegenie.session.settings import usage_errors


def add_workers(early_config: pytest.Config, args: list[str]) -> None:
    """Add ``-n`` to pytest's arguments where the settings name workers.

    Not where the command line says how to distribute, or that nothing is (``--pdb``);
    nor in a worker of xdist, nor without xdist.
    """
    option = early_config.known_args_namespace
    if not early_config.pluginmanager.hasplugin("xdist") or _distributes(option, args):
        return
    with usage_errors():
        workers = configured(early_config, option).settings.workers
    if workers is not None:
        args[:] = ["-n", str(workers), *args]


def _distributes(option: argparse.Namespace, args: list[str]) -> bool:
    """Say whether pytest was told what to distribute, if only that it is nothing."""
    return (
        option.numprocesses is not None
        or option.distload
        or bool(option.tx)
        or option.usepdb
        # "no" is the default, but may be given.
        or any(word == "--dist" or word.startswith("--dist=") for word in args)
    )


def show_config(config: pytest.Config) -> int:
    """Print the settings; return the exit code."""
    with usage_errors():
        configuration = configured(config)
    terminal = create_terminal_writer(config)
    for line in show_configuration(configuration, os.environ):
        terminal.line(line)
    return int(pytest.ExitCode.OK)
