"""What the settings decide before a session begins: its workers, or that none does."""

from __future__ import annotations

import argparse
import copy
import os

import pytest
from _pytest.config import create_terminal_writer

from pytest_codegenie.config import show_configuration
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.evidence import check_chain
from pytest_codegenie.evidence import join_run
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


def join_resume(early_config: pytest.Config, args: list[str]) -> None:
    """Leave to pytest what it would take for the run to resume; add ``--codegenie``."""
    known = early_config.known_args_namespace
    joined = join_run(args, "--codegenie-resume")
    if not known.codegenie:
        joined.insert(0, "--codegenie")
    if joined == args:
        return
    args[:] = joined
    early_config.known_args_namespace = early_config._parser.parse_known_args(
        args, namespace=copy.copy(early_config.option)
    )
    # Pytest has found it out by now.
    early_config.known_args_namespace.confcutdir = known.confcutdir


def show_config(config: pytest.Config) -> int:
    """Print the settings; return the exit code."""
    with usage_errors():
        configuration = configured(config)
    terminal = create_terminal_writer(config)
    for line in show_configuration(configuration, os.environ):
        terminal.line(line)
    return int(pytest.ExitCode.OK)


#: Of pytest: with one of these nothing is run, or nothing of it is put on record.
_ONLY_SHOWS = (
    *("collectonly", "codegenie_validate", "help", "version", "markers"),
    *("showfixtures", "show_fixtures_per_test"),
)


def refuse_broken_chain(config: pytest.Config) -> int | None:
    """Say why no run can be put on record, before one begins; return the exit code.

    Here and not at the session's start: pytest would say it twice there.

    Returns:
        None where the audit chain verifies, or nothing is to be put on record.

    Raises:
        pytest.UsageError: It cannot be read.
    """
    only_shows = any(getattr(config.option, name, False) for name in _ONLY_SHOWS)
    if only_shows or hasattr(config, "workerinput"):
        return None
    with usage_errors():
        out = config.invocation_params.dir / configured(config).settings.out
        if not out.is_dir():
            return None  # what is wrong with that, is said when the run begins
        try:
            check_chain(out)
        except ChainTamperDetected as exc:
            create_terminal_writer(config).line(f"ERROR: {exc}", red=True)
            return exc.exit_code
    return None
