"""What opencode prints with ``--format json``, and what its log adds to that."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import plain
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import TrajectoryBuilder


#: A fault of its work, or its end, not a fault of the model's server.
_OWN_FAULTS = frozenset(
    {"ContextOverflowError", "MessageAbortedError", "MessageOutputLengthError"}
)
#: What it says where it did not even ask a model.
_ITS_OWN_SERVER = "Unexpected server error. Check server logs"
_FIELD = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)')
_REFUSED = re.compile(r"^! *permission requested: (.+); auto-rejecting", re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class OpencodeRun:
    """One run, as far as it came."""

    def __init__(self, stdout: str, log: bytes) -> None:
        self._stdout = _COLOURS.sub("", stdout)
        self._events = [one for one in json_lines(self._stdout) if "type" in one]
        self._log = log.decode(errors="replace")
        created = self._last_logged("created")
        self.version: str | None = created.get("version")
        self.session_id: str | None = next(
            (found for one in self._events if (found := text_at(one, "sessionID"))),
            created.get("id"),
        )

    def _of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (one for one in self._events if one["type"] == kind)

    def usage(self, *, priced: bool) -> Usage:
        """Return the sum over its answers; those of subagents are not told."""
        parts = [at(one, "part") for one in self._of("step_finish")]
        metrics = [_metrics(part, priced=priced) for part in parts]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            cached_tokens=total(one.cached_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            cost_usd=total(one.cost_usd for one in metrics),
            turns=len(parts) or None,
        )

    def facts(self) -> Mapping[str, Any] | None:
        """Return what its figures leave out."""
        tools = {text_at(one, "part", "tool") for one in self._of("tool_use")}
        if "task" not in tools:
            return None
        return {"cost_note": "tokens and cost of its subagents are left out"}

    def error(self, stderr: str) -> str:
        """Return why the run says nothing of its work; "" where it does."""
        words = self._server_error()
        if words.startswith(_ITS_OWN_SERVER):
            return (
                "opencode failed and does not say why; it may not know the model or "
                "its provider: 'opencode models' lists those that it knows"
            )
        if words:
            return f"opencode: the model's server answered with an error: {words}"
        refused = _REFUSED.search(self._stdout) or _REFUSED.search(
            _COLOURS.sub("", stderr)
        )
        if refused:
            return (
                f"opencode asked for a permission that it did not get: {refused[1]}; "
                "see the option 'permissions'"
            )
        if not self._events and stderr.strip():
            return f"opencode did not begin: {stderr.strip()[-500:]}"
        return ""

    def _server_error(self) -> str:
        """Return the error that the run came to an end with."""
        last = self._events[-1] if self._events else {}
        if last.get("type") == "error":
            error = at(last, "error")
            name = text_at(error, "name") or "unknown"
            if name in _OWN_FAULTS:
                return ""
            return text_at(error, "data", "message") or name
        # It prints nothing while it tries again, so that of one that was ended in the
        # meantime only the log tells.
        asked, failed = self._last_logged("stream"), self._last_logged("stream error")
        since = max(_time(asked), self._last_answer())
        words = failed.get("error.error", "no reason given")
        if failed and _time(failed) > since and not words.startswith("AbortError"):
            return words
        return ""

    def _last_answer(self) -> float:
        kinds = ("text", "tool_use", "step_finish")
        times = [amount_at(o, "timestamp") for o in self._events if o["type"] in kinds]
        return max((time for time in times if time is not None), default=0.0)

    def _last_logged(self, message: str) -> dict[str, str]:
        """Return the fields of the last line of the log with a message."""
        for line in reversed(self._log.split("\n")):
            fields = {name: _unquoted(text) for name, text in _FIELD.findall(line)}
            if fields.get("message") == message:
                return fields
        return {}

    def steps(self, prompt: str, *, priced: bool) -> TrajectoryBuilder:
        """Return what it did; what it was told comes from elsewhere."""
        steps = TrajectoryBuilder()
        if prompt:
            steps.say("user", prompt)
        answer: list[Mapping[str, Any]] = []
        for event in self._events:
            if event["type"] in ("text", "reasoning", "tool_use"):
                answer.append(event)
            elif event["type"] == "step_finish":
                _add(steps, answer, _metrics(at(event, "part"), priced=priced))
                answer = []
        if answer:
            _add(steps, answer, None)
        return steps


def _metrics(part: Any, *, priced: bool) -> Metrics:
    def of(*keys: str) -> int | None:
        return count_at(part, "tokens", *keys)

    cost = amount_at(part, "cost")
    return Metrics(
        prompt_tokens=total(
            [of("input"), of("cache", "read"), of("cache", "write")],
        ),
        cached_tokens=of("cache", "read"),
        completion_tokens=total([of("output"), of("reasoning")]),
        cost_usd=cost if priced else None,
    )


def _add(
    steps: TrajectoryBuilder,
    answer: list[Mapping[str, Any]],
    metrics: Metrics | None,
) -> None:
    """Add an answer of the model, with what came of its calls."""

    def said(kind: str) -> str:
        return plain([at(one, "part") for one in answer if one["type"] == kind])

    tools = [at(one, "part") for one in answer if one["type"] == "tool_use"]
    steps.act(
        said("text"),
        reasoning=said("reasoning"),
        calls=tuple(
            ToolCall(
                tool_call_id=text_at(tool, "callID") or "",
                function_name=text_at(tool, "tool") or "",
                arguments=_arguments(at(tool, "state", "input")),
            )
            for tool in tools
        ),
        metrics=metrics,
        timestamp=at(answer[0], "timestamp") if answer else None,
    )
    for tool in tools:
        state = at(tool, "state")
        came = (
            at(state, "error") if at(state, "output") is None else at(state, "output")
        )
        if came is not None:
            steps.observe(plain(came), text_at(tool, "callID"))


def _arguments(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')


def _time(fields: Mapping[str, str]) -> float:
    """Return a line's time in milliseconds; 0 where it has none."""
    try:
        return dt.datetime.fromisoformat(fields.get("timestamp", "")).timestamp() * 1e3
    except ValueError:
        return 0.0
