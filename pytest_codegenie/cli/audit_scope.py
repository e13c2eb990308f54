"""What ``codegenie audit verify`` compares with, and from which record on."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.chain import GENESIS
from pytest_codegenie.evidence.audit.chain import Entry
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.verifying import audit
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_tree


_HEAD = re.compile(r"[0-9a-f]{64}")


class Corpus:
    """The digests of cases as they are now."""

    def __init__(self, bench: Path) -> None:
        self._bench = bench
        self._known: dict[tuple[str, str], str | None] = {}

    def __call__(self, task_class: str, case_id: str) -> str | None:
        """Return the digest of a case; None where there is none of that name."""
        key = (task_class, case_id)
        if key not in self._known:
            self._known[key] = self._digest(task_class, case_id)
        return self._known[key]

    def _digest(self, task_class: str, case_id: str) -> str | None:
        # A record may say anything.
        if any(Path(name).name != name or not name for name in (task_class, case_id)):
            return None
        directory = self._bench / task_class / "cases" / case_id
        if not directory.is_dir():
            return None
        try:
            return hash_tree(directory).digest
        except UnhashableEntryError as exc:
            return f"none: {exc.path}: {exc.reason}"


class Since:
    """Which records are derived again."""

    def __init__(self, text: str | None, out: Path) -> None:
        """Understand what was given.

        Raises:
            UsageFault: It is no head, no date, and no run of the chain.
        """
        self._text = text or ""
        self._path = out / AUDIT / CHAIN
        self._date: dt.datetime | None = None
        self._begun = not text or text == GENESIS
        self._is_head = bool(_HEAD.fullmatch(self._text))
        if self._begun or self._is_head:
            return
        runs = {run_id for run_id, *_ in audit(out, selects=select_none).latest}
        if text not in runs:
            self._date = _date(self._text, runs)

    def __call__(self, entry: Entry, report: Mapping[str, Any]) -> bool:
        """Tell whether a record is derived again."""
        if self._date is not None:
            return dt.datetime.fromisoformat(report["ended_at"]) >= self._date
        if self._is_head:
            begun = self._begun
            self._begun = begun or entry.link.chain_head == self._text
            return begun
        self._begun = self._begun or report["run_id"] == self._text
        return self._begun

    def check(self, found: Audit) -> None:
        """Refuse a chain that the head is not in.

        Raises:
            ChainTamperDetected: It was, and the chain is another now.
        """
        if self._is_head and not self._begun:
            raise ChainTamperDetected(
                "of --since",
                self._text,
                f"no such head among {found.records} records",
                what="chain_head",
                path=self._path,
            )


def _date(text: str, runs: set[str]) -> dt.datetime:
    try:
        date = dt.datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(
            f"--since: {text!r} is no head (64 hex digits), no date (2026-11-21), and "
            f"no run with a record{did_you_mean(text, runs)}"
        ) from None
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)


def select_none(entry: Entry, report: Mapping[str, Any]) -> bool:
    """Derive nothing again."""
    return False
