"""The files of a case made from a draft: the same draft gives the same bytes."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.importing.toml_text import toml_of


#: Where a case comes from; not for agents, who might know the dataset by heart.
ORIGIN_FILE = "expected/origin.toml"


def case_files(draft: CaseDraft, origin: Mapping[str, str]) -> dict[str, FileContent]:
    """Return the files of a case but ``case.toml``, by POSIX path, sorted.

    Args:
        draft: The case.
        origin: Of the dataset; the draft's own is added.
    """
    texts = {
        "input/task.toml": toml_of(draft.task.model_dump(exclude_defaults=True)),
        "input/problem.md": draft.problem,
        "input/hints.md": draft.hints,
        "expected/tests.toml": toml_of(draft.tests.model_dump(exclude_defaults=True)),
        "expected/gold.patch": draft.gold_patch,
        "expected/test.patch": draft.test_patch,
        ORIGIN_FILE: toml_of(
            {"instance_id": draft.instance_id, **origin, **draft.origin}
        ),
    }
    files = dict(draft.files)
    for name, text in texts.items():
        if text or name == "input/problem.md":
            files[name] = FileContent(text.encode())
    return dict(sorted(files.items()))


def case_table(draft: CaseDraft, task_class: str, day: dt.date) -> dict[str, Any]:
    """Return the table of ``case.toml``.

    The canary is made from what the case is, so that it is the same each time and no
    other case's.

    Args:
        draft: The case.
        task_class: Its directory's name.
        day: When it is added.
    """
    canary = hash_bytes(
        "\0".join(
            ["canary", draft.instance_id, draft.problem, draft.gold_patch]
        ).encode()
    )
    table: dict[str, Any] = {
        "case_id": draft.case_id,
        "task_class": task_class,
        "disposition": draft.disposition,
        "difficulty": draft.difficulty,
        "source": "imported",
        # Whatever is published may have been learned.
        "curation_class": "rag-corpus-derived",
        "added_at": day,
        "last_validated_at": day,
        "cassette_canary_pin": canary.removeprefix("blake3:")[:32],
    }
    if draft.commit_sha:
        table["commit_sha"] = draft.commit_sha
    if draft.timeout_seconds is not None:
        table["timeout_seconds"] = draft.timeout_seconds
    if draft.tags:
        table["tags"] = list(draft.tags)
    return table


def write_files(directory: Path, files: Mapping[str, FileContent]) -> None:
    """Write files into an empty directory.

    Args:
        directory: Made where it is missing.
        files: POSIX path relative to it to content.

    Raises:
        OSError: One cannot be written.
        ValueError: A path leads out of the directory.
    """
    made: set[str] = set()
    for name, content in files.items():
        above, _, _ = name.rpartition("/")
        if name.startswith("/") or ".." in name.split("/") or not name:
            raise ValueError(f"{name!r} leads out of the case")
        path = directory / name
        if above not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(above)
        if isinstance(content.data, Path):
            shutil.copyfile(content.data, path)
        else:
            path.write_bytes(content.data)
        if content.executable:
            path.chmod(0o755)
