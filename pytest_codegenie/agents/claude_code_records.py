"""What Claude Code's transcripts and output say of a run.

A transcript (``.claude/projects/<directory>/<session>.jsonl``; a helper's in a
directory beside it) has a line for each *block* of an answer, and each repeats the
answer's usage. What it prints with ``--output-format stream-json`` has the same lines,
with the usage as it was when the answer began, and lines of its own: ``init``,
``api_retry`` and, at the end alone, ``result``, with the sums and the cost. Killed, it
leaves no ``result``.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from typing import Literal

from pytest_codegenie.agents.base import AgentReport
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


#: What it calls answers that it made up itself, such as the text of an API error.
_NO_MODEL = "<synthetic>"
_LIMITS: Mapping[str, Literal["turns", "cost"]] = {
    "error_max_budget_usd": "cost",
    "error_max_turns": "turns",
}
_LONG_WAIT_MS = 10_000
_EDITING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_INPUT_PARTS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_SUMMED_INPUT_PARTS = (
    "inputTokens",
    "cacheCreationInputTokens",
    "cacheReadInputTokens",
)

_Entry = Mapping[str, Any]


class ClaudeRun:
    """One run, as far as it is told."""

    def __init__(self, stdout: str, stderr: str, records: Mapping[str, bytes]) -> None:
        self._stderr = stderr
        self._printed = list(json_lines(stdout))
        transcripts = [
            entry
            for name, data in records.items()
            if name.endswith(".jsonl")
            for entry in json_lines(data)
        ]
        #: In order, helpers' too.
        self._entries = [
            entry
            for entry in transcripts or self._printed
            if isinstance(entry.get("message"), dict)
        ]
        self._answers = _join_blocks(self._entries)
        ends = [entry for entry in self._printed if entry.get("type") == "result"]
        self._end: _Entry = ends[-1] if ends else {}
        self._init: _Entry = next(
            (one for one in self._printed if one.get("subtype") == "init"), {}
        )

    @property
    def has_key(self) -> bool:
        """A key paid for it, and no subscription."""
        return text_at(self._init, "apiKeySource") == "ANTHROPIC_API_KEY"

    def report(self) -> AgentReport:
        """Return all of it."""
        models = [
            answer.model
            for (helper, _), answer in self._answers.items()
            if answer.model and not helper
        ]
        denials = at(self._end, "permission_denials")
        count = len(denials) if isinstance(denials, list) else 0
        return AgentReport(
            usage=self._usage(),
            error=self._error(),
            stopped_by=_LIMITS.get(text_at(self._end, "subtype") or "", ""),
            model=models[-1] if models else text_at(self._init, "model"),
            version=self._first("claude_code_version") or self._first("version"),
            session_id=self._first("session_id") or self._first("sessionId"),
            steps=self._steps(),
            facts={"permission_denials": count} if count else None,
        )

    def _first(self, key: str) -> str | None:
        found = (text_at(entry, key) for entry in (*self._printed, *self._entries))
        return next((text for text in found if text), None)

    # -- what it used -------------------------------------------------------------

    def _usage(self) -> Usage:
        turns = len(self._answers) or None
        by_model = at(self._end, "modelUsage")
        sums = list(by_model.values()) if isinstance(by_model, dict) else []
        if sums:
            # Helpers and answers that were cut off are in here alone.
            return Usage(
                input_tokens=total(
                    count_at(one, part) for one in sums for part in _SUMMED_INPUT_PARTS
                ),
                cached_tokens=total(
                    count_at(one, "cacheReadInputTokens") for one in sums
                ),
                output_tokens=total(count_at(one, "outputTokens") for one in sums),
                cost_usd=amount_at(self._end, "total_cost_usd"),
                turns=turns,
            )
        metrics = [answer.metrics() for answer in self._answers.values()]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            cached_tokens=total(one.cached_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            turns=turns,
        )

    # -- why it says nothing of the work -------------------------------------------

    def _error(self) -> str:
        if self._end:
            return self._error_at_end()
        last = self._printed[-1] if self._printed else {}
        if last.get("subtype") == "api_retry" and _is_persistent(last):
            words = f"{at(last, 'error_status') or ''} {text_at(last, 'error') or ''}"
            return (
                "claude-code: the model's server answered with errors "
                f"({words.strip() or 'unknown'}), and it was still trying"
            )
        if at(last, "message", "model") == _NO_MODEL:
            return f"claude-code: {plain(at(last, 'message', 'content'))}"
        if not self._printed and not self._entries and self._stderr.strip():
            return f"claude-code did not begin: {self._stderr.strip()[-500:]}"
        return ""

    def _error_at_end(self) -> str:
        kind = text_at(self._end, "subtype") or ""
        if kind in _LIMITS:
            return ""
        if self._end.get("is_error") is True:
            words = text_at(self._end, "result") or plain(at(self._end, "errors"))
            return f"claude-code: {words or kind or 'no reason given'}"
        return self._refusal()

    def _refusal(self) -> str:
        """Return which change of its own permissions kept it from; "" for none.

        One that went through later, or that lies outside of the tree, is none.
        """
        denials = at(self._end, "permission_denials")
        refused = denials if isinstance(denials, list) else []
        done = set(self._done())
        changed = {path for name, path in done if name in _EDITING}
        for one in refused:
            name, path = text_at(one, "tool_name"), _path_of(at(one, "tool_input"))
            if name in _EDITING and self._is_inside(path) and path not in changed:
                return self._refused_words(name, path)
            if name == "Bash" and not changed and ("Bash", "") not in done:
                return self._refused_words(name, text_at(one, "tool_input", "command"))
        return ""

    @staticmethod
    def _refused_words(tool: str, what: str | None) -> str:
        return (
            f"claude-code: its permissions refused {tool} ({(what or '')[:200]}); see "
            "the options 'permissions' and 'allowed_tools'"
        )

    def _is_inside(self, path: str) -> bool:
        directory = self._first("cwd")
        place = PurePosixPath(path)
        return not (
            directory and place.is_absolute() and not place.is_relative_to(directory)
        )

    def _done(self) -> Iterator[tuple[str, str]]:
        """Yield the tools that did what was asked, with the paths that they took."""
        failed = {
            text_at(block, "tool_use_id"): at(block, "is_error") is True
            for entry in self._entries
            for block in _blocks(entry["message"])
            if at(block, "type") == "tool_result"
        }
        for answer in self._answers.values():
            for block in answer.calls():
                if failed.get(text_at(block, "id"), True) is False:
                    yield text_at(block, "name") or "", _path_of(at(block, "input"))

    # -- what it did --------------------------------------------------------------

    def _steps(self) -> TrajectoryBuilder:
        steps = TrajectoryBuilder()
        told: set[tuple[str, str]] = set()
        for entry in self._entries:
            if _helper(entry):
                continue
            message = entry["message"]
            if message.get("role") == "user":
                _tell(steps, message, entry.get("timestamp"))
            elif (key := _key(entry)) in self._answers and key not in told:
                told.add(key)
                self._answers[key].add_to(steps)
            elif message.get("model") == _NO_MODEL:
                steps.say("system", plain(message.get("content")))
        return steps


class _Answer:
    """An answer of the model, put together from its blocks."""

    def __init__(self, entry: _Entry) -> None:
        self.model = text_at(entry, "message", "model")
        self._time = entry.get("timestamp")
        self._blocks: list[Any] = []
        self._usage: Any = None
        self._is_whole = False

    def add(self, message: _Entry) -> None:
        """Add the block, or the blocks, of one line."""
        self._blocks += _blocks(message)
        is_whole = message.get("stop_reason") is not None
        if is_whole or not self._is_whole:
            self._usage = message.get("usage")
        self._is_whole = self._is_whole or is_whole

    def calls(self) -> list[Any]:
        """Return the blocks that call tools."""
        return self._of("tool_use")

    def _of(self, kind: str) -> list[Any]:
        return [block for block in self._blocks if at(block, "type") == kind]

    def metrics(self) -> Metrics:
        """Return what it took; before its end nobody knows how much was put out."""
        output = count_at(self._usage, "output_tokens") if self._is_whole else None
        return Metrics(
            prompt_tokens=total(count_at(self._usage, part) for part in _INPUT_PARTS),
            cached_tokens=count_at(self._usage, "cache_read_input_tokens"),
            completion_tokens=output,
        )

    def add_to(self, steps: TrajectoryBuilder) -> None:
        """Add it to a trajectory."""
        steps.act(
            plain(self._of("text")),
            reasoning=plain(self._of("thinking")),
            calls=tuple(
                ToolCall(
                    tool_call_id=text_at(block, "id") or "",
                    function_name=text_at(block, "name") or "",
                    arguments=_arguments(at(block, "input")),
                )
                for block in self.calls()
            ),
            metrics=self.metrics(),
            model_name=self.model,
            timestamp=self._time,
        )


def _is_persistent(retry: _Entry) -> bool:
    """Tell whether it waits because of errors; after one, the answer may be slow."""
    attempt = count_at(retry, "attempt") or 0
    return attempt > 1 or (amount_at(retry, "retry_delay_ms") or 0) > _LONG_WAIT_MS


def _join_blocks(entries: Iterable[_Entry]) -> dict[tuple[str, str], _Answer]:
    """Return the answers of the model, in order."""
    answers: dict[tuple[str, str], _Answer] = {}
    for entry in entries:
        message = entry["message"]
        if message.get("role") != "assistant" or message.get("model") == _NO_MODEL:
            continue
        answers.setdefault(_key(entry), _Answer(entry)).add(message)
    return answers


def _key(entry: _Entry) -> tuple[str, str]:
    """Return what the lines of one answer share."""
    own = text_at(entry, "message", "id") or text_at(entry, "uuid") or ""
    return _helper(entry), own


def _helper(entry: _Entry) -> str:
    """Return which helper an entry is of; "" for the agent itself."""
    for key in ("agentId", "parent_tool_use_id"):
        if found := text_at(entry, key):
            return found
    return "helper" if entry.get("isSidechain") is True else ""


def _tell(steps: TrajectoryBuilder, message: _Entry, time: Any) -> None:
    content = message.get("content")
    if isinstance(content, str):
        steps.say("user", content, timestamp=time)
    for block in _blocks(message):
        if at(block, "type") == "tool_result":
            result = _without_images(at(block, "content"))
            steps.observe(plain(result), text_at(block, "tool_use_id"))
        elif at(block, "type") == "text":
            steps.say("user", plain(block), timestamp=time)


def _blocks(message: _Entry) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _without_images(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return ["[image]" if at(one, "type") == "image" else one for one in content]


def _arguments(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"input": value}


def _path_of(arguments: Any) -> str:
    return text_at(arguments, "file_path") or text_at(arguments, "notebook_path") or ""
