"""SWE-bench's rows, and those of datasets that are made like it."""

from __future__ import annotations

from pytest_codegenie.datasets.swebench.dataset import (
    SwebenchDataset as SwebenchDataset,
)
