"""Other people's formats: what a dataset holds, as drafts of cases."""

from __future__ import annotations

from pytest_codegenie.datasets.protocol import CaseDraft as CaseDraft
from pytest_codegenie.datasets.protocol import Dataset as Dataset
from pytest_codegenie.datasets.protocol import DatasetOptions as DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent as FileContent
from pytest_codegenie.datasets.protocol import Instance as Instance
from pytest_codegenie.datasets.protocol import case_id_of as case_id_of
