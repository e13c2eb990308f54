"""Events as structlog JSON lines: ``timestamp``, ``event_type``, ``payload``.

While a run has a log, events go there and nowhere else; pytest's terminal stays
pytest's. Outside a run they go to whatever structlog is configured to use.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any


#: Lowest first.
LEVELS = ("debug", "info", "warning", "error")

_run_log: Path | None = None
_lowest = 0
_redact: Callable[[str], str] = str


def log_to(
    path: Path | None, *, level: str = "debug", redact: Callable[[str], str] = str
) -> None:
    """Send events to the end of ``path`` from now on; None: to structlog's own.

    Args:
        path: The run's log.
        level: What is below it is left out there.
        redact: Takes what no log may hold out of a line.
    """
    global _run_log  # noqa: PLW0603 -- one process, one run
    global _lowest  # noqa: PLW0603
    global _redact  # noqa: PLW0603
    _run_log = path
    _lowest = LEVELS.index(level)
    _redact = redact


def emit(event_type: str, *, level: str = "info", **payload: Any) -> None:
    """Log one event; ``payload`` is JSON-like, other values go in as their ``str``."""
    if _run_log is not None and LEVELS.index(level) < _lowest:
        return
    # Imported late: it imports rich where that is installed, a quarter of our start-up.
    import structlog

    logger = structlog.get_logger("pytest_codegenie")
    if _run_log is not None:
        logger = structlog.wrap_logger(
            LineAppender(_run_log),
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
    return _redact(json.dumps(line, default=str))


class LineAppender:
    """Writes whole lines, so that lines of several processes never mix.

    A line that cannot be written is dropped: no outcome may depend on the log, and of
    a full disk the run store tells.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def msg(self, line: str) -> None:
        """Add a line."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with (
            contextlib.suppress(OSError),
            os.fdopen(os.open(self._path, flags, 0o644), "wb", buffering=0) as file,
        ):
            file.write(f"{line}\n".encode())

    debug = info = warning = error = msg
