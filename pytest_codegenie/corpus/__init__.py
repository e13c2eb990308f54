"""Case directories: read, verify, sign, scaffold, check."""

from __future__ import annotations

from pytest_codegenie.corpus.case_file import warn_when_stale as warn_when_stale
from pytest_codegenie.corpus.checks import TIERS as TIERS
from pytest_codegenie.corpus.checks import Complaint as Complaint
from pytest_codegenie.corpus.checks import check_task_class as check_task_class
from pytest_codegenie.corpus.listing import remember_listing as remember_listing
from pytest_codegenie.corpus.loader import CaseListing as CaseListing
from pytest_codegenie.corpus.loader import case_directories as case_directories
from pytest_codegenie.corpus.loader import find_task_classes as find_task_classes
from pytest_codegenie.corpus.loader import hash_case as hash_case
from pytest_codegenie.corpus.loader import hash_task_class as hash_task_class
from pytest_codegenie.corpus.loader import id_collisions as id_collisions
from pytest_codegenie.corpus.loader import is_task_class as is_task_class
from pytest_codegenie.corpus.loader import list_cases as list_cases
from pytest_codegenie.corpus.loader import load_case as load_case
from pytest_codegenie.corpus.loader import load_cases as load_cases
from pytest_codegenie.corpus.loader import load_task_class as load_task_class
from pytest_codegenie.corpus.loader import read_task_class as read_task_class
from pytest_codegenie.corpus.scaffold import new_case as new_case
from pytest_codegenie.corpus.scaffold import new_task_class as new_task_class
from pytest_codegenie.corpus.signing import SigningPlan as SigningPlan
from pytest_codegenie.corpus.signing import plan_signing as plan_signing
from pytest_codegenie.corpus.signing import sign as sign
from pytest_codegenie.corpus.task import CaseTask as CaseTask
from pytest_codegenie.corpus.task import read_task as read_task
