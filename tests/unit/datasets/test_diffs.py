"""Diffs of texts are what git makes of the same files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_codegenie.datasets.diffs import file_diff


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n", "b\n"),
        ("a", "b"),
        ("a", "a\n"),
        ("a\r\nb\n", "a\r\nc\n"),
        ("a\x0cb\n\x1cc\n", "a\x0cb\n\x1cd\n"),
        (None, "a\nb\n"),
        ("a\n", None),
        ("", "a\n"),
        ("ä\u2028ö\n", "ä\u2028ü\n"),
    ],
)
def test_git_makes_the_new_text_of_the_old(
    old: str | None, new: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.py"
    if old is not None:
        path.write_bytes(old.encode())
    subprocess.run(
        ["git", "apply", "-"],
        input=file_diff("x.py", old, new).encode(),
        cwd=tmp_path,
        check=True,
    )
    assert (path.read_bytes().decode() if path.exists() else None) == new


def test_nothing_is_said_of_what_is_the_same() -> None:
    assert file_diff("x.py", "a\n", "a\n") == ""
