"""From a finished run to something that a person or a program reads."""

from __future__ import annotations

from pytest_codegenie.reporters.protocol import Reporter as Reporter
from pytest_codegenie.reporters.terminal import TerminalReporter as TerminalReporter
