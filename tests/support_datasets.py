"""Drafts of cases that tests make from datasets, as cases that really run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomli_w
from support import Bench

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import Dataset
from pytest_codegenie.importing.case_files import case_files
from pytest_codegenie.importing.case_files import case_table
from pytest_codegenie.importing.case_files import write_files


#: Real data with its licences; tests that need it skip where it is not.
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
DAY = dt.date(2026, 11, 22)


def drafts(dataset: Dataset, source: Path | str, **options: Any) -> list[CaseDraft]:
    """Return the drafts of all instances of a source."""
    values = dataset.options_type(**options)
    return [
        dataset.draft(instance, values)
        for instance in dataset.instances(str(source), values)
    ]


def place_drafts(bench: Bench, made: Iterable[CaseDraft]) -> None:
    """Write drafts into a bench as cases, and sign them."""
    for draft in made:
        directory = bench.cases_dir / draft.case_id
        write_files(directory, case_files(draft, {"dataset": "test"}))
        table = case_table(draft, bench.name, DAY)
        (directory / "case.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    bench.sign()
