"""What a run leaves behind."""

from __future__ import annotations

from pytest_codegenie.evidence.audit.chain import check_chain as check_chain
from pytest_codegenie.evidence.audit.content import chain_reports as chain_reports
from pytest_codegenie.evidence.audit.content import report_name as report_name
from pytest_codegenie.evidence.recorded import RecordedResults as RecordedResults
from pytest_codegenie.evidence.resuming import LATEST as LATEST
from pytest_codegenie.evidence.resuming import Difference as Difference
from pytest_codegenie.evidence.resuming import begun_record as begun_record
from pytest_codegenie.evidence.resuming import differences as differences
from pytest_codegenie.evidence.resuming import join_run as join_run
from pytest_codegenie.evidence.resuming import remove_unfinished as remove_unfinished
from pytest_codegenie.evidence.resuming import resume_command as resume_command
from pytest_codegenie.evidence.run_lock import RunLock as RunLock
from pytest_codegenie.evidence.run_lock import wait_for_orphans as wait_for_orphans
from pytest_codegenie.evidence.run_summary import make_summaries as make_summaries
from pytest_codegenie.evidence.store import RESULTS as RESULTS
from pytest_codegenie.evidence.store import RUN as RUN
from pytest_codegenie.evidence.store import ResultKey as ResultKey
from pytest_codegenie.evidence.store import Run as Run
from pytest_codegenie.evidence.store import append_result as append_result
from pytest_codegenie.evidence.store import artifacts_place as artifacts_place
from pytest_codegenie.evidence.store import create_run as create_run
from pytest_codegenie.evidence.store import load_run as load_run
from pytest_codegenie.evidence.store import read_plain_results as read_plain_results
from pytest_codegenie.evidence.store import read_results as read_results
from pytest_codegenie.evidence.store import read_run_record as read_run_record
from pytest_codegenie.evidence.store import result_key as result_key
from pytest_codegenie.evidence.store import write_record as write_record
from pytest_codegenie.evidence.stored import Overview as Overview
from pytest_codegenie.evidence.stored import StoredRun as StoredRun
from pytest_codegenie.evidence.stored import find_run as find_run
from pytest_codegenie.evidence.stored import latest_run as latest_run
from pytest_codegenie.evidence.stored import open_run as open_run
from pytest_codegenie.evidence.summary import Group as Group
from pytest_codegenie.evidence.summary import host_facts as host_facts
from pytest_codegenie.evidence.summary import make_report as make_report
from pytest_codegenie.evidence.summary import summarise as summarise
