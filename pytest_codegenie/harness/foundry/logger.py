"""``StructuredLogger``: what a build does, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from pytest_codegenie.logs import LineAppender


class StructuredLogger:
    """Writes events with ``timestamp``, ``event_type`` and ``payload``, one a line.

    A line that cannot be written is dropped: no build depends on its log.

    Args:
        path: The log; lines are added at its end.
        redact: Takes what no log may hold out of a line.
    """

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self.redact = redact
        self._logger = structlog.wrap_logger(
            LineAppender(path),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                self._as_line,
            ],
        )

    def log(
        self, event_type: str, payload: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """Write one event.

        Args:
            event_type: Such as ``try.failed``.
            payload: JSON-like; other values go in as their ``str``.
            more: Further keys of the payload.
        """
        self._logger.info(event_type, payload={**(payload or {}), **more})

    def _as_line(
        self, _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> str:
        line = {
            "timestamp": event["timestamp"],
            "event_type": event["event"],
            "payload": event["payload"],
        }
        return self.redact(json.dumps(line, default=str))
