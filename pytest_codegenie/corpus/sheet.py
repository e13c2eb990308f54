"""``cases/digests.yaml``: the signed digest of each case, one line a case.

Rewriting keeps what people put there: comments, and the order of the entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import parse_yaml
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import digest_fault


FILE_NAME = "digests.yaml"
_ENTRY = re.compile(
    r"(?P<quote>['\"]?)(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)(?P=quote)\s*:"
    r"\s+(?P<digest>[^\s#]+)(?P<comment>\s+#.*)?\s*"
)


def read_sheet(cases_dir: Path) -> dict[str, str]:
    """Return case id to signed digest, in the file's order.

    Raises:
        BenchCaseLoadError: It is missing, not YAML, has a key twice, or an entry that
            is no ``<case id>: blake3:<64 lower-case hex>``.
    """
    command = f"codegenie sign {relative(cases_dir.parent)}"
    try:
        value = read_yaml(cases_dir / FILE_NAME)
    except DocumentError as exc:
        remedy = (
            f"sign the cases: {command}"
            if exc.reason == "missing"
            else f"mend or delete it, and sign: {command}"
        )
        raise BenchCaseLoadError(
            cases_dir, FILE_NAME, f"{exc.reason}; {remedy}"
        ) from exc
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BenchCaseLoadError(
            cases_dir,
            FILE_NAME,
            "must map case ids to digests, one line a case; delete it, and sign: "
            f"{command}",
        )
    for case_id, digest in value.items():
        if not isinstance(case_id, str):
            fault = f"the case id {case_id!r} must stand in quotes"
        else:
            fault = digest_fault(digest)
        if fault:
            raise BenchCaseLoadError(
                cases_dir,
                FILE_NAME,
                f"{case_id}: {fault}; mend or delete the entry, and sign: {command}",
            )
    return value


def format_sheet(
    old_text: str, digests: Mapping[str, str], *, in_order: bool = False
) -> str:
    """Return the sheet with exactly ``digests``.

    Comments, and the order of the entries that were there, are kept; new entries
    follow in the order of their ids. A sheet that is laid out otherwise than one line
    a case (as a flow mapping, say) is laid out anew and keeps its whole-line comments.

    Args:
        old_text: The sheet so far, a usable one; "" for none.
        digests: Case id to digest.
        in_order: Whether a sheet of nothing but entries in the order of their ids stays
            in it, so that it is the same in whatever order cases came.
    """
    text = _edited(old_text, digests)
    if in_order and _is_in_order(old_text):
        text = _edited("", digests)
    if _parsed(text) == digests:
        return text
    comments = [line for line in old_text.split("\n") if line.startswith("#")]
    order = _parsed(old_text) or {}
    entries = [
        f"{_key(case_id)}: {digests[case_id]}"
        for case_id in order
        if case_id in digests
    ]
    return _edited("\n".join([*comments, *entries]), digests)


def _edited(old_text: str, digests: Mapping[str, str]) -> str:
    left = dict(digests)
    lines = []
    for line in old_text.removesuffix("\n").split("\n") if old_text else ():
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            lines.append(line.removesuffix("\r"))
        elif entry["id"] in left:
            case_id = entry["id"]
            comment = (entry["comment"] or "").rstrip()
            lines.append(f"{_key(case_id)}: {left.pop(case_id)}{comment}")
    lines += [f"{_key(case_id)}: {left[case_id]}" for case_id in sorted(left)]
    return "".join(f"{line}\n" for line in lines)


def _is_in_order(text: str) -> bool:
    """Tell whether a sheet is one that can be made from its digests alone."""
    entries = [_ENTRY.fullmatch(line) for line in text.splitlines()]
    ids = [entry["id"] for entry in entries if entry and not entry["comment"]]
    return len(ids) == len(entries) and ids == sorted(ids)


def _key(case_id: str) -> str:
    """Quote an id that YAML would take for a number, a date or a truth value."""
    try:
        plain = parse_yaml(case_id) == case_id
    except ValueError:
        plain = False  # looks like a date that there is not
    return case_id if plain else f"'{case_id}'"


def _parsed(text: str) -> dict[str, str] | None:
    try:
        value: dict[str, str] | None = parse_yaml(text)
    except (yaml.YAMLError, ValueError):
        return None
    return value or {}
