"""Running a case: one pure function from a record to a record."""

from __future__ import annotations

from pytest_codegenie.harness.caching import CaseCache as CaseCache
from pytest_codegenie.harness.grading import grade_again as grade_again
from pytest_codegenie.harness.grading import never_recorded as never_recorded
from pytest_codegenie.harness.jobs import make_job as make_job
from pytest_codegenie.harness.results import unfinished_result as unfinished_result
from pytest_codegenie.harness.room import make_recipe as make_recipe
from pytest_codegenie.harness.runner import judge_output as judge_output
from pytest_codegenie.harness.runner import run_case as run_case
from pytest_codegenie.harness.validation import validate_case as validate_case
