"""From a reporter's pieces to one text, or to a file of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.protocol import Reporter


_SUFFIX = re.compile(r"[a-z0-9][a-z0-9.-]{0,31}")


class ReportError(CodegenieError):
    """A report cannot be made or written: the reporter's name, and why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"reporter {self.name!r}: {self.reason}"


def report_text(
    name: str, reporter: Reporter, run: StoredRun, form: Form | None = None
) -> str:
    """Return a reporter's whole text.

    Args:
        name: Under which it is registered, for messages.
        reporter: Anybody's.
        run: What it reports.
        form: None: no terminal, no limit.

    Raises:
        ReportError: It broke, or its text is longer than the form takes.
        RunStoreError: A result cannot be read.
    """
    form = form or Form()
    text = "".join(_pieces(name, reporter, run, form))
    try:
        size = len(text.encode())
    except UnicodeEncodeError as exc:
        raise ReportError(name, f"gave what is no text: {exc}") from exc
    if form.max_bytes is not None and size > form.max_bytes:
        raise ReportError(
            name,
            f"the report has {size} bytes, {form.max_bytes} is the limit, and this "
            "format cannot be cut; 'markdown' can",
        )
    return text


def _pieces(name: str, reporter: Reporter, run: StoredRun, form: Form) -> Iterator[str]:
    try:
        for piece in reporter.report(run, form):
            if not isinstance(piece, str):
                raise TypeError(f"report() gave {piece!r:.80}, which is no str")
            yield piece
    except CodegenieError:
        raise
    except Exception as exc:
        # Somebody else's code may raise anything.
        fault = printable(" ".join(str(exc).split()))
        raise ReportError(name, f"broke: {type(exc).__name__}: {fault:.500}") from exc


def write_report(name: str, reporter: Reporter, run: StoredRun) -> Path:
    """Write ``report.<suffix>`` into the run's directory, atomically; return its path.

    Args:
        name: Under which it is registered, for messages.
        reporter: Anybody's.
        run: What it reports.

    Raises:
        ReportError: It broke, or the file cannot be written.
        RunStoreError: A result cannot be read.
    """
    suffix = getattr(reporter, "suffix", None)
    if not isinstance(suffix, str) or not _SUFFIX.fullmatch(suffix):
        raise ReportError(
            name,
            "its suffix must be that of a file, lower-case letters and digits such as "
            f"'md', got {suffix!r:.80}",
        )
    path = run.directory / f"report.{suffix}"
    text = report_text(name, reporter, run)
    try:
        write_atomically(path, text)
    except OSError as exc:
        raise ReportError(
            name, f"{relative(path)} cannot be written: {exc.strerror}"
        ) from exc
    return path
