"""What Codex's sessions and output say of a run.

A session (``.codex/sessions/Y/M/D/rollout-*.jsonl``) is written as the run goes: what
the model was sent and answered (``response_item``), what each answer took
(``token_usage_record``), what came of commands (``event_msg``), and how it ended
(``task_complete``). Helpers have sessions of their own. Of requests that failed and
were tried again, only what it prints with ``--json`` tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Literal

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import plain
from pytest_codegenie.agents.records import read_json
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import TrajectoryBuilder


#: What a command's output begins with where Codex's own sandbox could not be made.
_BROKEN_SANDBOX = re.compile(
    r"^(?:bwrap: |bubblewrap is unavailable|.*codex-linux-sandbox)", re.M
)
_ATTEMPT = re.compile(r"Reconnecting\.\.\. (\d{1,9})/")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")

_Entry = Mapping[str, Any]


class CodexRun:
    """One run, as far as it is told."""

    def __init__(self, stdout: str, stderr: str, records: Mapping[str, bytes]) -> None:
        self._stderr = stderr
        self._printed = list(json_lines(stdout))
        sessions = [
            list(json_lines(data))
            for name, data in records.items()
            if name.endswith(".jsonl")
        ]
        #: Of all sessions, helpers' too.
        self._entries = [entry for session in sessions for entry in session]
        self._id = next(
            (text_at(one, "thread_id") for one in self._of("thread.started")), None
        )
        self._session = next(
            (one for one in sessions if self._id and _session_id(one) == self._id),
            sessions[0] if sessions else [],
        )

    def _of(self, kind: str) -> Iterator[_Entry]:
        return (one for one in self._printed if one.get("type") == kind)

    def report(self) -> AgentReport:
        """Return all of it."""
        head = next(_payloads(self._session, "session_meta"), {})
        models = [
            text_at(one, "model") for one in _payloads(self._session, "turn_context")
        ]
        return AgentReport(
            usage=self._usage(),
            error=self._error(),
            model=next((one for one in reversed(models) if one), None),
            version=text_at(head, "cli_version"),
            session_id=text_at(head, "id") or self._id,
            steps=_Steps(self._session).build(),
        )

    # -- what it used -------------------------------------------------------------

    def _usage(self) -> Usage:
        # A helper's session may begin with a copy of what it was told by then.
        answers: list[Any] = []
        for one in _payloads(self._entries, "token_usage_record"):
            if one not in answers:
                answers.append(one)
        if answers:
            return _sum((one.get("usage") for one in answers), turns=len(answers))
        ends = [one.get("usage") for one in self._of("turn.completed")]
        return _sum(ends, turns=None)

    # -- why it says nothing of the work -------------------------------------------

    def _error(self) -> str:
        words = self._failure()
        if words:
            return f"codex: {words}"
        if self._sandbox_is_broken():
            return (
                "codex: its own sandbox does not work here, so that none of its "
                "commands ran; set the option 'permissions' to 'danger-full-access'"
            )
        if not self._printed and not self._entries and self._stderr.strip():
            return f"codex did not begin: {self._stderr.strip()[-500:]}"
        return ""

    def _failure(self) -> str:
        """Return why it gave up, or what it was trying again when it was ended."""
        for end in _events(self._session, "task_complete"):
            if end.get("error") is not None:
                return _failure_words(end["error"])
        for failed in self._of("turn.failed"):
            return _failure_words(failed.get("error"))
        last: _Entry = self._printed[-1] if self._printed else {}
        if last.get("type") != "error":
            return ""
        words = text_at(last, "message") or ""
        attempt = _ATTEMPT.match(words)
        if attempt is None:
            return _failure_words(last)
        # After one error it may have been waiting for a slow answer.
        return f"{words} (it was still trying)" if int(attempt[1]) > 1 else ""

    def _sandbox_is_broken(self) -> bool:
        """Tell whether commands met a broken sandbox, and none got past it."""
        items = [at(one, "item") for one in _events(self._entries, "item_completed")]
        ran = [
            at(one, "exit_code") == 0
            for one in items
            if at(one, "type") == "CommandExecution"
        ]
        return not any(ran) and any(
            _BROKEN_SANDBOX.search(_output(one.get("output")))
            for one in _payloads(self._entries, "response_item")
            if one.get("type") in _OUTPUTS
        )


def _payloads(entries: Iterable[_Entry], kind: str) -> Iterator[dict[str, Any]]:
    for entry in entries:
        payload = entry.get("payload")
        if entry.get("type") == kind and isinstance(payload, dict):
            yield payload


def _events(entries: Iterable[_Entry], kind: str) -> Iterator[dict[str, Any]]:
    return (one for one in _payloads(entries, "event_msg") if one.get("type") == kind)


def _failure_words(error: Any) -> str:
    words = text_at(error, "message") or plain(error) or "it gave no reason"
    # Its message for a server's own fault does not say what it was.
    kind = text_at(error, "codex_error_info")
    return f"{words} ({kind})" if kind and kind != "other" else words


def _session_id(session: Iterable[_Entry]) -> str | None:
    return text_at(next(_payloads(session, "session_meta"), {}), "id")


def _sum(usages: Iterable[Any], *, turns: int | None) -> Usage:
    usages = list(usages)
    return Usage(
        input_tokens=total(count_at(one, "input_tokens") for one in usages),
        cached_tokens=total(count_at(one, "cached_input_tokens") for one in usages),
        output_tokens=total(count_at(one, "output_tokens") for one in usages),
        turns=turns,
    )


@dataclass(slots=True)
class _Answer:
    """An answer of the model: several items, and later what it took."""

    time: Any
    model: str | None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Any = None

    def add(self, item: _Entry) -> None:
        """Add an item."""
        kind = item.get("type")
        if kind == "message":
            self.texts.append(plain(item.get("content")))
        elif kind == "reasoning":
            parts = (item.get("summary"), item.get("content"))
            self.thoughts += [text for part in parts if (text := plain(part))]
        else:
            self.calls.append(_call(item))

    def add_to(self, steps: TrajectoryBuilder) -> None:
        """Add it to a trajectory."""
        steps.act(
            "\n".join(self.texts),
            reasoning="\n".join(self.thoughts),
            calls=tuple(self.calls),
            metrics=Metrics(
                prompt_tokens=count_at(self.usage, "input_tokens"),
                cached_tokens=count_at(self.usage, "cached_input_tokens"),
                completion_tokens=count_at(self.usage, "output_tokens"),
            ),
            model_name=self.model,
            timestamp=self.time,
        )


class _Steps:
    """Puts the items of a session together to steps."""

    def __init__(self, session: Iterable[_Entry]) -> None:
        #: Answers, and what else adds itself to a trajectory.
        self._parts: list[_Answer | Callable[[TrajectoryBuilder], None]] = []
        self._model: str | None = None
        #: That more items may belong to, or what it took.
        self._open: _Answer | None = None
        self._has_results = False
        for entry in session:
            payload = entry.get("payload")
            if isinstance(payload, dict):
                self._take(entry, payload)

    def build(self) -> TrajectoryBuilder:
        """Return the steps."""
        steps = TrajectoryBuilder()
        for part in self._parts:
            if isinstance(part, _Answer):
                part.add_to(steps)
            else:
                part(steps)
        return steps

    def _take(self, entry: _Entry, payload: _Entry) -> None:
        kind, time = entry.get("type"), entry.get("timestamp")
        if kind == "session_meta":
            if text := text_at(payload, "base_instructions", "text"):
                self._say("system", text, time)
        elif kind == "turn_context":
            self._model = text_at(payload, "model")
        elif kind == "token_usage_record" and self._open is not None:
            self._open.usage = payload.get("usage")
            self._open = None
        elif kind == "response_item":
            self._take_item(payload, time)

    def _take_item(self, item: _Entry, time: Any) -> None:
        kind, role = item.get("type"), item.get("role")
        if kind in _OUTPUTS:
            output, call_id = _output(item.get("output")), text_at(item, "call_id")
            self._parts.append(lambda steps: steps.observe(output, call_id))
            self._has_results = True
        elif kind == "message" and role != "assistant":
            source: Literal["user", "system"] = "user" if role == "user" else "system"
            self._say(source, plain(item.get("content")), time)
        elif kind in ("message", "reasoning", *_CALLS):
            if self._open is None or self._has_results:
                self._open = _Answer(time, self._model)
                self._has_results = False
                self._parts.append(self._open)
            self._open.add(item)

    def _say(self, source: Literal["user", "system"], text: str, time: Any) -> None:
        self._open = None
        self._parts.append(lambda steps: steps.say(source, text, timestamp=time))


def _call(item: _Entry) -> ToolCall:
    kind = text_at(item, "type") or ""
    words = item.get("arguments", item.get("input", item.get("action")))
    arguments = read_json(words) if isinstance(words, str) else words
    return ToolCall(
        tool_call_id=text_at(item, "call_id") or text_at(item, "id") or "",
        function_name=text_at(item, "name") or kind.removesuffix("_call"),
        arguments=arguments if isinstance(arguments, dict) else {"input": words},
    )


def _output(value: Any) -> str:
    if isinstance(value, list):
        value = [
            "[image]" if at(one, "type") == "input_image" else one for one in value
        ]
    return plain(value)
