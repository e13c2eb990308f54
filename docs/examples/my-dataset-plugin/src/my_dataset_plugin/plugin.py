"""What pytest loads: the name of the format, and where it is."""

from __future__ import annotations


def pytest_codegenie_datasets() -> dict[str, str]:
    """Return the format."""
    return {"quiz": "my_dataset_plugin.dataset:QuizDataset"}
