"""From drafts of cases to signed case directories."""

from __future__ import annotations

from pytest_codegenie.importing.importer import ImportResult as ImportResult
from pytest_codegenie.importing.importer import Watcher as Watcher
from pytest_codegenie.importing.importer import import_dataset as import_dataset
from pytest_codegenie.importing.task_class import make_task_class as make_task_class
