"""Running a case: one pure function from a record to a record."""

from __future__ import annotations

from pytest_codegenie.harness.runner import run_case as run_case
