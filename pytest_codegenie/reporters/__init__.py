"""From a finished run to something that a person or a program reads."""

from __future__ import annotations

from pytest_codegenie.reporters.protocol import Form as Form
from pytest_codegenie.reporters.protocol import Reporter as Reporter
from pytest_codegenie.reporters.terminal import summary_lines as summary_lines
from pytest_codegenie.reporters.writing import report_text as report_text
from pytest_codegenie.reporters.writing import write_report as write_report
