"""Reading what test runners report: one module for each format, text in, record out."""

from __future__ import annotations

from pytest_codegenie.evaluators.formats.report import Report as Report
