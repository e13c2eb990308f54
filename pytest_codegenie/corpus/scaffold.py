"""New task classes and cases, complete enough to run, each with what to fill in."""

from __future__ import annotations

import datetime as dt
import re
import secrets
import shutil
import tempfile
from pathlib import Path
from string import Template

import tomli_w

from pytest_codegenie.corpus.loader import CASES
from pytest_codegenie.corpus.loader import is_task_class
from pytest_codegenie.corpus.signing import plan_signing
from pytest_codegenie.corpus.signing import sign
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.errors import relative
from pytest_codegenie.registry import NAME_PATTERN


TEMPLATES = Path(__file__).with_name("templates")
_CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class ScaffoldError(CodegenieError):
    """A new task class or case cannot be made there."""


def new_task_class(name: str, bench_root: Path) -> Path:
    """Make the task class ``bench_root/name``, without cases; return its directory.

    A ``conftest.py`` in a new ``bench_root`` keeps a plain pytest run from collecting
    the tests inside of cases.

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
    values = {
        "name": name,
        "class_name": "".join(word.capitalize() for word in words) + "Rubric",
        "title": " ".join(words).capitalize(),
    }
    bench_root.mkdir(parents=True, exist_ok=True)
    _place(TEMPLATES / "task_class", directory, values)
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
        ScaffoldError: The id is none, or the directory exists.
        BenchCaseLoadError: ``digests.yaml`` is there and cannot be used.
        OSError: It cannot be written; nothing is left behind.
    """
    if not is_task_class(task_class_dir):
        raise TaskClassNotFound(task_class_dir.name, place=relative(task_class_dir))
    if not _CASE_ID.fullmatch(case_id):
        raise ScaffoldError(
            f"{case_id!r} is not a case id; start with a letter or digit and use "
            "letters, digits, '.', '_' and '-', 128 at most"
        )
    directory = task_class_dir / CASES / case_id
    _place(TEMPLATES / f"{disposition}_case", directory, {"case_id": case_id})
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
    (directory / "case.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    plan = plan_signing(task_class_dir)
    # Only the new case is vouched for; what else changed stays unsigned.
    signed = {**plan.before, case_id: plan.after[case_id]}
    try:
        sign(type(plan)(plan.cases_dir, plan.before, signed))
    except BenchCaseLoadError:
        shutil.rmtree(directory)
        raise
    return directory


def _place(template: Path, target: Path, values: dict[str, str]) -> None:
    """Fill a template tree in beside ``target`` and move it there in one step."""
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
        tree.rename(target)
