"""Reading what aider writes: its analytics log, its chat history, its model's history.

The log (JSON Lines) has the numbers, the chat history (Markdown) what it told its user,
and the model's history (text, a word for the role before each line) what was sent to
the model and what came back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import TrajectoryBuilder


LOG = "aider/analytics.jsonl"
CHAT = "aider/chat.md"
HISTORY = "aider/llm.history"

_HEAD = re.compile(r"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)$")
_ROLE = re.compile(r"(SYSTEM|USER|ASSISTANT)( |$)")
_ASKS_AGAIN = re.compile(r"Retrying in [\d.]+ seconds\.\.\.$")
_WRONG_SETTINGS = re.compile(r"^> (Error loading aider model settings: .*?)\s*$", re.M)
_ENDED_BY_TOKENS = re.compile(r"Model \S+ has hit a token limit!$")
_ENDED_BY_TURNS = re.compile(r"Only \d+ reflections allowed, stopping\.$")


class AiderRecords:
    """What one run of aider left."""

    def __init__(self, records: Mapping[str, bytes]) -> None:
        self._events = list(json_lines(records.get(LOG, b"")))
        self._names = [text_at(event, "event") for event in self._events]
        chat = records.get(CHAT, b"").decode(errors="replace")
        self._last_words = _last_words(chat)
        wrong = _WRONG_SETTINGS.search(chat)
        #: What it says of a model settings file that it cannot read; "" for nothing.
        self.settings_fault = wrong[1] if wrong else ""
        self._exchanges = list(_exchanges(records.get(HISTORY, b"")))

    @property
    def asked(self) -> bool:
        """It came to ask the model."""
        return "message_send_starting" in self._names

    @property
    def ended(self) -> bool:
        """It came to its own end."""
        return "exit" in self._names

    @property
    def hit_tokens(self) -> bool:
        """The model's limit of tokens ended it."""
        return any(_ENDED_BY_TOKENS.match(line) for line in self._last_words)

    @property
    def hit_turns(self) -> bool:
        """It went back to the model as often as it may."""
        return any(_ENDED_BY_TURNS.match(line) for line in self._last_words)

    @property
    def fault(self) -> str:
        """Why its last question was not answered; "" where it was, or may yet be."""
        if not self._is_waiting():
            return ""
        asks_again = bool(self._last_words) and _ASKS_AGAIN.match(self._last_words[-1])
        if not self.ended and not asks_again:
            return ""
        faults = [line for line in self._last_words if line.startswith("litellm.")]
        if faults:
            return faults[-1]
        return self._exception() or "; ".join(self._last_words[-3:]) or "no answer came"

    def _is_waiting(self) -> bool:
        names = [
            name
            for name in self._names
            if name in {"message_send_starting", "message_send"}
        ]
        return names[-1:] == ["message_send_starting"]

    def _exception(self) -> str:
        told = [
            text_at(event, "properties", "exception")
            for event, name in zip(self._events, self._names, strict=True)
            if name == "message_send_exception"
        ]
        return (told[-1] if told else None) or ""

    def _metrics(self) -> list[Metrics]:
        answers = [
            at(event, "properties")
            for event, name in zip(self._events, self._names, strict=True)
            if name == "message_send"
        ]
        if self.hit_tokens and not self._is_waiting():
            # Refused for its length: aider counts what it sent by a guess.
            answers = answers[:-1]
        return [
            Metrics(
                prompt_tokens=count_at(answer, "prompt_tokens"),
                completion_tokens=count_at(answer, "completion_tokens"),
                # It writes 0 where it knows no price.
                cost_usd=amount_at(answer, "cost") or None,
            )
            for answer in answers
        ]

    def usage(self) -> Usage:
        """Return the sums over the answers of the main model."""
        metrics = self._metrics()
        costs = [one.cost_usd for one in metrics]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            # A part of it would pass for the whole.
            cost_usd=None if None in costs else total(costs),
            turns=len(metrics) or None,
        )

    def steps(self) -> TrajectoryBuilder:
        """Return what was asked and answered, without what is sent again each time."""
        steps = TrajectoryBuilder()
        answered = [one for one in self._exchanges if one.answer.strip()]
        metrics: list[Metrics | None] = [*self._metrics()]
        if len(metrics) != len(answered):
            metrics = [None] * len(answered)
        open_end = [one for one in self._exchanges[-1:] if one not in answered]
        for number, one in enumerate([*answered, *open_end]):
            if number == 0 and one.system:
                steps.say("system", one.system, timestamp=one.asked_at)
            steps.say("user", one.question, timestamp=one.asked_at)
            if number < len(answered):
                steps.act(
                    one.answer, metrics=metrics[number], timestamp=one.answered_at
                )
        return steps


@dataclass(slots=True)
class _Exchange:
    """One question to the model, and what came back."""

    asked_at: str
    answered_at: str | None = None
    #: (role, text), in order.
    sent: list[tuple[str, str]] = field(default_factory=list)
    answer: str = ""

    @property
    def system(self) -> str:
        return "\n".join(text for role, text in self.sent if role == "SYSTEM").strip()

    @property
    def question(self) -> str:
        """What is new in it: the user's last words."""
        said = [text for role, text in self.sent if role == "USER"]
        return said[-1].strip() if said else ""


def _exchanges(content: bytes) -> Iterator[_Exchange]:
    """Yield the exchanges of a model's history."""
    one: _Exchange | None = None
    lines: list[str] = []
    for line in content.decode(errors="replace").split("\n"):
        head = _HEAD.match(line)
        if head is None:
            lines.append(line)
            continue
        if one is not None:
            _close(one, lines)
        lines = []
        if head[1] == "LLM RESPONSE" and one is not None:
            one.answered_at = head[2]
            continue
        if one is not None:
            yield one
        one = _Exchange(asked_at=head[2])
    if one is not None:
        _close(one, lines)
        yield one


def _close(one: _Exchange, lines: list[str]) -> None:
    """Put the lines since the last head to where they belong."""
    blocks = list(_blocks(lines))
    if one.answered_at is None:
        one.sent = blocks
    else:
        one.answer = "\n".join(text for role, text in blocks if role == "ASSISTANT")


def _blocks(lines: list[str]) -> Iterator[tuple[str, str]]:
    role, block = "", list[str]()
    for line in lines:
        start = _ROLE.match(line)
        if line == "-------" or (start and start[1] != role):
            if role:
                yield role, "\n".join(block)
            role, block = "", []
        if start:
            role = start[1]
            block.append(line[start.end() :])
        elif role and line != "-------":
            block.append(line)
    if role:
        yield role, "\n".join(block)


def _last_words(chat: str) -> list[str]:
    """Return the last lines of a chat in which aider itself speaks."""
    words: list[str] = []
    for line in reversed(chat.rstrip().split("\n")):
        if not line.startswith(">"):
            break
        words.append(line[1:].strip())
    return words[::-1]
