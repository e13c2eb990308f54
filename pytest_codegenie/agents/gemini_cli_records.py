"""What Gemini CLI writes into its sessions, and prints as ``stream-json``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import plain
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import TrajectoryBuilder


_TURNS = "FatalTurnLimitedError"
#: Of its own accord, or because it was ended.
_OWN_ENDS = frozenset({_TURNS, "FatalCancellationError"})
#: What it prints before it asks again.
_ASKS_AGAIN = re.compile(r"^Attempt \d+ failed(?: with status)? ?(.*)", re.MULTILINE)


class GeminiRun:
    """One run, as far as it came."""

    def __init__(self, stdout: str, stderr: str, records: Mapping[str, bytes]) -> None:
        self._stderr = stderr
        events = list(json_lines(stdout))
        self._result = next((e for e in events if e.get("type") == "result"), {})
        sessions = [_Session(text) for text in records.values()]
        self._sessions = sessions
        self._main = next((one for one in sessions if one.is_main), _Session(b""))
        start = next((e for e in events if e.get("type") == "init"), {})
        self.session_id: str | None = text_at(start, "session_id") or text_at(
            self._main.head, "sessionId"
        )
        self._answers = [a for one in sessions for a in one.answers()]
        models = [text_at(answer, "model") for answer in self._main.answers()]
        self.model: str | None = next(
            (model for model in reversed(models) if model), text_at(start, "model")
        )

    def usage(self) -> Usage:
        """Return the sum over its answers, and those of subagents."""
        metrics = [_metrics(answer) for answer in self._answers]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            cached_tokens=total(one.cached_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            turns=len(metrics) or None,
        )

    def reached_its_turns(self) -> bool:
        """Return whether its own limit of turns ended it."""
        return text_at(self._result, "error", "type") == _TURNS

    def error(self, exit_code: int) -> str:
        """Return why the run says nothing of its work; "" where it does."""
        kind = text_at(self._result, "error", "type")
        if self._result.get("status") == "error" and kind not in _OWN_ENDS:
            words = text_at(self._result, "error", "message") or "no reason given"
            return f"gemini-cli: the model's server answered with an error: {words}"
        if self._result or self._answers:
            return ""
        # One that was ended while it tried again; with answers before, nothing tells
        # whether that came to something.
        failed = _ASKS_AGAIN.findall(self._stderr)
        if failed:
            words = failed[-1][:500]
            return f"gemini-cli: the model's server answered with an error: {words}"
        if exit_code > 0 and not self._sessions and self._stderr.strip():
            return f"gemini-cli did not begin: {self._stderr.strip()[-500:]}"
        return ""

    def steps(self) -> TrajectoryBuilder:
        """Return what it did itself; its subagents' work is a call's result there."""
        steps = TrajectoryBuilder()
        for message in self._main.messages():
            if message.get("type") == "gemini":
                _add_answer(steps, message)
            elif message.get("type") == "user" and not _is_result(message):
                said = plain(message.get("content"))
                steps.say("user", said, timestamp=message.get("timestamp"))
        return steps


class _Session:
    """One session's file: messages, of which the last of an id is the whole one."""

    def __init__(self, text: bytes) -> None:
        entries = list(json_lines(text))
        self.head = next((one for one in entries if "sessionId" in one), {})
        self.is_main: bool = self.head.get("kind", "main") == "main"
        self._messages: dict[str, dict[str, Any]] = {}
        for entry in entries:
            for message in _told(entry):
                key = text_at(message, "id")
                if key is not None:
                    self._messages[key] = message

    def messages(self) -> Iterator[dict[str, Any]]:
        return iter(self._messages.values())

    def answers(self) -> list[dict[str, Any]]:
        return [m for m in self.messages() if m.get("type") == "gemini"]


def _told(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of one line, which may set several."""
    several = at(entry, "$set", "messages")
    for message in several if isinstance(several, list) else [entry]:
        if isinstance(message, dict) and "type" in message:
            yield message


def _is_result(message: dict[str, Any]) -> bool:
    return any(
        at(message, "content", place, "functionResponse") is not None
        for place in range(_length(message.get("content")))
    )


def _metrics(message: dict[str, Any]) -> Metrics:
    parts = ("output", "thoughts")
    return Metrics(
        prompt_tokens=total(
            count_at(message, "tokens", part) for part in ("input", "tool")
        ),
        cached_tokens=count_at(message, "tokens", "cached"),
        completion_tokens=total(count_at(message, "tokens", part) for part in parts),
    )


def _add_answer(steps: TrajectoryBuilder, message: dict[str, Any]) -> None:
    calls = message.get("toolCalls")
    calls = calls if isinstance(calls, list) else []
    thoughts = message.get("thoughts")
    steps.act(
        plain(message.get("content")),
        reasoning=_reasoning(thoughts if isinstance(thoughts, list) else []),
        calls=tuple(
            ToolCall(
                tool_call_id=text_at(call, "id") or "",
                function_name=text_at(call, "name") or "",
                arguments=_arguments(at(call, "args")),
            )
            for call in calls
        ),
        metrics=_metrics(message),
        model_name=text_at(message, "model"),
        timestamp=message.get("timestamp"),
    )
    for call in calls:
        results = at(call, "result")
        for result in results if isinstance(results, list) else []:
            steps.observe(_came_of(result), text_at(call, "id"))


def _reasoning(thoughts: list[Any]) -> str:
    parts = ("subject", "description")
    lines = [
        ": ".join(text for part in parts if (text := text_at(thought, part)))
        for thought in thoughts
    ]
    return "\n".join(line for line in lines if line)


def _arguments(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _came_of(result: Any) -> str:
    """Return the text of a tool's answer, or the whole where it has none."""
    response = at(result, "functionResponse", "response")
    found = [text_at(response, key) for key in ("output", "error")]
    return next((text for text in found if text is not None), plain(response))


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0
