"""Events as structlog JSON lines: ``timestamp``, ``event_type``, ``payload``.

While a run has a log, events go there and nowhere else; pytest's terminal stays
pytest's. Outside a run they go to whatever structlog is configured to use.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any


_run_log: Path | None = None


def log_to(path: Path | None) -> None:
    """Send events to the end of ``path`` from now on; None: to structlog's own."""
    global _run_log  # noqa: PLW0603 -- one process, one run
    _run_log = path


def emit(event_type: str, *, level: str = "info", **payload: Any) -> None:
    """Log one event; ``payload`` is JSON-like, other values go in as their ``str``."""
    # Imported late: it imports rich where that is installed, a quarter of our start-up.
    import structlog

    logger = structlog.get_logger("pytest_codegenie")
    if _run_log is not None:
        logger = structlog.wrap_logger(
            _LineAppender(_run_log),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                _as_line,
            ],
        )
    getattr(logger, level)(event_type, **payload)


def _as_line(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    line = {
        "timestamp": event.pop("timestamp"),
        "level": event.pop("level"),
        "event_type": event.pop("event"),
        "payload": dict(event),
    }
    return json.dumps(line, default=str)


class _LineAppender:
    """Writes whole lines, so that lines of several processes never mix.

    A line that cannot be written is dropped: no outcome may depend on the log, and of
    a full disk the run store tells.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def msg(self, line: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with (
            contextlib.suppress(OSError),
            os.fdopen(os.open(self._path, flags, 0o644), "wb", buffering=0) as file,
        ):
            file.write(f"{line}\n".encode())

    debug = info = warning = error = msg
