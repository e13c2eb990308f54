"""New task classes and cases, complete enough to run, each with what to fill in."""

from __future__ import annotations

import datetime as dt
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any
from typing import get_args

import tomli_w

from pytest_codegenie.corpus.loader import CASES
from pytest_codegenie.corpus.loader import case_directories
from pytest_codegenie.corpus.loader import hash_case
from pytest_codegenie.corpus.loader import is_task_class
from pytest_codegenie.corpus.signing import SigningPlan
from pytest_codegenie.corpus.signing import sign
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.errors import relative
from pytest_codegenie.models import CurationClass
from pytest_codegenie.models import Difficulty
from pytest_codegenie.models import Disposition
from pytest_codegenie.registry import NAME_PATTERN


TEMPLATES = Path(__file__).with_name("templates")
_CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class ScaffoldError(CodegenieError):
    """A new task class or case cannot be made there."""


def new_task_class(
    name: str, bench_root: Path, *, texts: Mapping[str, str] | None = None
) -> Path:
    """Make the task class ``bench_root/name``, without cases; return its directory.

    A ``conftest.py`` in a new ``bench_root`` keeps a plain pytest run from collecting
    the tests inside of cases.

    Args:
        name: Of the task class.
        bench_root: Where it goes; made where it is missing.
        texts: Files of it that are otherwise than the template's: name to text.

    Raises:
        ScaffoldError: The name is none, or the directory exists.
        OSError: It cannot be written; nothing is left behind.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise ScaffoldError(
            f"{name!r} is not a task class name; use lower-case letters, digits and "
            "'-', such as bug-repair"
        )
    directory = bench_root / name
    words = name.split("-")
    class_name = "".join(word.capitalize() for word in words) + "Rubric"
    values = {
        "name": name,
        # A task class may start with a digit, a class may not.
        "class_name": class_name if class_name.isidentifier() else f"Task{class_name}",
        "title": " ".join(words).capitalize(),
    }
    bench_root.mkdir(parents=True, exist_ok=True)
    _place(TEMPLATES / "task_class", directory, values, texts)
    conftest = bench_root / "conftest.py"
    if not conftest.exists():
        shutil.copyfile(TEMPLATES / "bench_conftest.py.txt", conftest)
    return directory


def new_case(
    task_class_dir: Path,
    case_id: str,
    *,
    disposition: str = "positive",
    difficulty: str = "easy",
    curation_class: str = "held-out",
) -> Path:
    """Make and sign a small case that works, to be changed; return its directory.

    Raises:
        TaskClassNotFound: ``task_class_dir`` is no task class.
        ScaffoldError: The id is none or taken, or an option is not in the contract.
        BenchCaseLoadError: ``digests.yaml`` is there and cannot be used.
        OSError: It cannot be written; nothing is left behind.
    """
    task_class_dir = task_class_dir.absolute()
    if not is_task_class(task_class_dir):
        raise TaskClassNotFound(task_class_dir.name, place=relative(task_class_dir))
    if not _CASE_ID.fullmatch(case_id):
        raise ScaffoldError(
            f"{case_id!r} is not a case id; start with a letter or digit and use "
            "letters, digits, '.', '_' and '-', 128 at most"
        )
    _check_option("disposition", disposition, Disposition)
    _check_option("difficulty", difficulty, Difficulty)
    _check_option("curation_class", curation_class, CurationClass)
    cases_dir = task_class_dir / CASES
    for other in case_directories(cases_dir):
        if other.name.casefold() == case_id.casefold():
            raise ScaffoldError(
                f"{relative(other)} exists; choose an id that differs by more than case"
            )
    today = dt.datetime.now(dt.UTC).date()
    table = {
        "case_id": case_id,
        "task_class": task_class_dir.name,
        "disposition": disposition,
        "difficulty": difficulty,
        "source": "curated",
        "curation_class": curation_class,
        "added_at": today,
        "last_validated_at": today,
        "cassette_canary_pin": secrets.token_hex(16),
    }
    template = "negative_case" if disposition == "negative" else "positive_case"
    directory = cases_dir / case_id
    _place(
        TEMPLATES / template,
        directory,
        {"case_id": case_id},
        {"case.toml": tomli_w.dumps(table)},
    )
    try:
        # Only the new case is vouched for; what else changed stays unsigned.
        signed = {case_id: hash_case(directory).digest}
        sign(SigningPlan(cases_dir, before={}, after=signed))
    except BaseException:
        shutil.rmtree(directory)
        raise
    return directory


def _check_option(key: str, value: str, choices: Any) -> None:
    known = get_args(choices)
    if value not in known:
        raise ScaffoldError(f"{key} must be one of {', '.join(known)}, got {value!r}")


def _place(
    template: Path,
    target: Path,
    values: dict[str, str],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Fill a template tree in beside ``target`` and move it there in one step.

    Args:
        template: The tree.
        target: Where it goes.
        values: What is filled in.
        texts: More files at its top: name to text.
    """
    if target.exists():
        raise ScaffoldError(f"{relative(target)} exists; choose another name")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        tree = Path(scratch, target.name)
        for source in sorted(template.rglob("*")):
            copy = tree / source.relative_to(template)
            if source.is_dir():
                copy.mkdir(parents=True)
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = Template(source.read_text(encoding="utf-8"))
            # Templates end in .txt, so that no tool takes them for our own code.
            copy.with_suffix("").write_text(
                text.safe_substitute(values), encoding="utf-8"
            )
        for name, content in (texts or {}).items():
            (tree / name).write_text(content, encoding="utf-8")
        tree.rename(target)
