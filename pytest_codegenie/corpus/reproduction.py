"""Which imported cases come out here as their labels say, and marks on the others.

A case whose label does not hold on this machine says nothing about an agent. So it is
``ambiguous``, which is reported and never counted, until the label holds again::

    <task class>/reproduction.toml   all that was found, by case
    <task class>/cases/<id>/case.toml   disposition and the tag of those that do not

Neither is under a case's digest.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

import tomli_w
from pydantic import ValidationError

from pytest_codegenie.corpus.case_file import FILE_NAME
from pytest_codegenie.corpus.case_file import read_case_table
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import Digest
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import Record


REPRODUCTION_FILE = "reproduction.toml"
#: On cases that are marked.
TAG = "does-not-reproduce"
#: As many ids are kept of the tests that are not as labelled.
MAX_TESTS = 20
Reason = Literal[
    "",
    "no-base",
    "no-environment",
    "not-judged",
    "gold-does-not-apply",
    "hangs",
    "missing-after",
    "fails-after",
    "passes-before",
    "fails-untouched",
]
#: The machine lacks something: nothing is known of the label.
NOT_TOLD: frozenset[Reason] = frozenset({"no-base", "no-environment", "not-judged"})
_HEADER = """\
# Written by codegenie verify --oracle: which cases come out here as they are labelled.
# Those that do not have the disposition "ambiguous" until they do.

"""


class Reproduction(Record):
    """What was found out of one case."""

    reproduces: bool
    #: Why not.
    reason: Reason = ""
    #: The same for people, with what the machine says.
    detail: str = ""
    #: Ids that are not as labelled, the first 20.
    tests: tuple[str, ...] = ()
    #: Of the case, when it is not marked.
    disposition: Disposition
    case_digest: Digest
    #: ``major.minor`` that the case asks for; "": any.
    python: str = ""
    #: Where it was run.
    workspace: str
    day: dt.date


def read_reproductions(task_class: Path) -> dict[str, Reproduction]:
    """Return what is known of a task class: case id to finding; empty for nothing.

    Raises:
        BenchCaseLoadError: The file is not what ``write_reproductions`` writes.
    """
    path = task_class / REPRODUCTION_FILE
    if not path.exists():
        return {}
    try:
        cases = read_toml(path).get("cases", {})
        return {
            case_id: Reproduction.model_validate(values)
            for case_id, values in cases.items()
        }
    except (AttributeError, DocumentError, ValidationError) as exc:
        reason = exc.reason if isinstance(exc, DocumentError) else str(exc)
        raise BenchCaseLoadError(
            task_class,
            REPRODUCTION_FILE,
            f"cannot be read: {reason}; remove it: codegenie verify --oracle writes it "
            "again",
        ) from exc


def write_reproductions(task_class: Path, found: Mapping[str, Reproduction]) -> None:
    """Replace what is known of a task class.

    Raises:
        OSError: It cannot be written.
    """
    tables = {
        case_id: one.model_dump(exclude_defaults=True)
        for case_id, one in sorted(found.items())
    }
    text = _HEADER + tomli_w.dumps({"cases": tables}, multiline_strings=True)
    write_atomically(task_class / REPRODUCTION_FILE, text)


def labelled_disposition(
    case: BenchCase, known: Mapping[str, Reproduction]
) -> Disposition:
    """Return the disposition of a case without our mark.

    Where somebody removed what was known, it is what nearly all imported cases are.
    """
    if TAG not in case.tags:
        return case.disposition
    return known[case.case_id].disposition if case.case_id in known else "positive"


def mark_case(directory: Path, found: Reproduction) -> None:
    """Write into ``case.toml`` whether the case counts, in one step.

    Comments in it are lost; imported cases have none.

    Raises:
        BenchCaseLoadError: It cannot be read.
        OSError: It cannot be written.
    """
    table = read_case_table(directory)
    marked = _marked(table, found)
    if marked != table:
        write_atomically(directory / FILE_NAME, tomli_w.dumps(marked))


def _marked(table: Mapping[str, Any], found: Reproduction) -> dict[str, Any]:
    tags = [tag for tag in table.get("tags", ()) if tag != TAG]
    marked = {key: value for key, value in table.items() if key != "tags"}
    if found.reproduces:
        marked["disposition"] = found.disposition
        marked["last_validated_at"] = found.day
    else:
        marked["disposition"] = "ambiguous"
        tags.append(TAG)
    return {**marked, "tags": tags} if tags else marked
