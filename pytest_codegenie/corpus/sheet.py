"""``cases/digests.yaml``: the signed digest of each case, one line a case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.hashing import DIGEST_PATTERN


FILE_NAME = "digests.yaml"
_ENTRY = re.compile(r"(?P<key>'[^']*'|\"[^\"]*\"|[^\s#'\"][^:]*?)\s*:\s+\S.*")


def read_sheet(cases_dir: Path) -> dict[str, str]:
    """Return case id to signed digest, in the file's order.

    Raises:
        BenchCaseLoadError: It is missing, not YAML, has a key twice, or an entry that
            is no ``<case id>: blake3:<64 lower-case hex>``.
    """
    try:
        value = read_yaml(cases_dir / FILE_NAME)
    except DocumentError as exc:
        remedy = (
            "; sign the cases: codegenie sign" if exc.reason == "missing" else ""
        )
        raise BenchCaseLoadError(cases_dir, FILE_NAME, exc.reason + remedy) from exc
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BenchCaseLoadError(
            cases_dir, FILE_NAME, "must map case ids to digests, one line a case"
        )
    for case_id, digest in value.items():
        if not isinstance(case_id, str):
            raise BenchCaseLoadError(
                cases_dir, FILE_NAME, f"the case id {case_id!r} must stand in quotes"
            )
        if not isinstance(digest, str) or not DIGEST_PATTERN.fullmatch(digest):
            raise BenchCaseLoadError(
                cases_dir, FILE_NAME, f"{case_id}: {_digest_fault(digest)}"
            )
    return value


def format_sheet(old_text: str, digests: Mapping[str, str]) -> str:
    """Return the sheet with exactly ``digests``.

    Comments, and the order of the entries that were there, are kept; new entries
    follow in the order of their ids.
    """
    left = dict(digests)
    lines = []
    for line in old_text.splitlines():
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            lines.append(line)
            continue
        case_id = entry["key"].strip("'\"")
        if case_id in left:
            lines.append(_format_entry(case_id, left.pop(case_id)))
    lines += [_format_entry(case_id, left[case_id]) for case_id in sorted(left)]
    return "".join(f"{line}\n" for line in lines)


def _format_entry(case_id: str, digest: str) -> str:
    # yaml knows which ids need quotes (1e3, no, 2026-01-01).
    return yaml.safe_dump({case_id: digest}, width=1000).strip()


def _digest_fault(digest: object) -> str:
    if not isinstance(digest, str):
        return f"the digest must be a string, got {digest!r}"
    prefix, _, hexadecimal = digest.partition(":")
    if prefix != "blake3":
        return f"the digest must start with 'blake3:', got {digest[:20]!r}"
    if hexadecimal != hexadecimal.lower():
        return "the digest must be lower-case"
    if len(hexadecimal) != 64:
        return f"the digest must have 64 hex digits, got {len(hexadecimal)}"
    return f"the digest must be hexadecimal, got {digest!r}"
