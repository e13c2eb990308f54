"""What of this package decides whether the index of a dataset file is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_codegenie
from pytest_codegenie.harness import identity
from pytest_codegenie.harness.identity import own_code
from pytest_codegenie.session import datasets


def test_what_makes_cases_is_where_it_is_said_to_be() -> None:
    package = Path(pytest_codegenie.__file__).parent
    assert [
        name for name in datasets._MAKES_CASES if not (package / name).exists()
    ] == []


def test_only_what_is_asked_for_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_PACKAGE", tmp_path)
    files = ["models.py", "datasets/a.py", "datasets/labels.json", "cli/main.py"]
    digests = []
    for name in ["", *files]:
        if name:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("", "utf-8")
        own_code.cache_clear()
        digests.append((own_code("datasets", "models.py"), own_code()))
    own_code.cache_clear()
    some, every = zip(*digests, strict=True)
    assert len(set(every)) == 5
    assert len(set(some)) == 4
    assert some[-1] == some[-2]
