"""Reading the trajectory that mini-swe-agent writes (``mini-swe-agent-1.1``).

It is one JSON document, written anew after each step: what was asked and answered
since is not in it, and one that is read at a bad moment is cut off.
"""

from __future__ import annotations

from typing import Any

from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import plain
from pytest_codegenie.agents.records import read_cut_json
from pytest_codegenie.agents.records import read_json
from pytest_codegenie.agents.records import text_at
from pytest_codegenie.agents.records import total
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import TrajectoryBuilder


#: What a kind of model calls the prompt's tokens, their details, and the answer's.
_TOKEN_NAMES = (
    ("prompt_tokens", "prompt_tokens_details", "completion_tokens"),
    ("input_tokens", "input_tokens_details", "output_tokens"),
)


class MiniTrajectory:
    """What one trajectory file says."""

    def __init__(self, content: bytes) -> None:
        document = read_cut_json(content)
        messages = at(document, "messages")
        #: What the run was and how it ended.
        self.info: Any = at(document, "info")
        self._messages: list[dict[str, Any]] = [
            message
            for message in (messages if isinstance(messages, list) else [])
            if isinstance(message, dict)
        ]

    @property
    def exit_status(self) -> str:
        """``Submitted``, a limit's name or an exception's; "" where it did not end."""
        return text_at(self.info, "exit_status") or ""

    @property
    def reason(self) -> str:
        """What the exception said that ended it."""
        last = self._messages[-1] if self._messages else {}
        return text_at(last, "extra", "exception_str") or "no reason given"

    @property
    def reached_turns(self) -> bool:
        """It has asked as often as it may."""
        limit = count_at(self.info, "config", "agent", "step_limit")
        asked = count_at(self.info, "model_stats", "api_calls")
        return bool(limit and asked and asked >= limit)

    def usage(self) -> Usage:
        """Return the sums over the model's answers."""
        metrics = [
            self._metrics(message) for message in self._messages if _answer(message)
        ]
        costs = [one.cost_usd for one in metrics]
        return Usage(
            input_tokens=total(one.prompt_tokens for one in metrics),
            cached_tokens=total(one.cached_tokens for one in metrics),
            output_tokens=total(one.completion_tokens for one in metrics),
            # A part of it would pass for the whole.
            cost_usd=None if None in costs else total(costs),
            turns=len(metrics) or None,
        )

    def steps(self) -> TrajectoryBuilder:
        """Return what was said and done."""
        steps = TrajectoryBuilder()
        for message in self._messages:
            self._add_step(steps, message)
        return steps

    def _add_step(self, steps: TrajectoryBuilder, message: dict[str, Any]) -> None:
        role, time = message.get("role"), at(message, "extra", "timestamp")
        if (answer := _answer(message)) is not None:
            said = _said(message, answer)
            steps.act(
                plain(_texts(said)),
                reasoning=_reasoning(said),
                calls=tuple(_calls(said)),
                metrics=self._metrics(message),
                model_name=text_at(answer, "model"),
                timestamp=time,
            )
        if role == "tool" or message.get("type") == "function_call_output":
            call = text_at(message, "tool_call_id") or text_at(message, "call_id")
            content = message.get("output", message.get("content"))
            steps.observe(plain(content), call)
        elif role == "user" and at(message, "extra", "returncode") is not None:
            steps.observe(plain(message.get("content")))
        elif role == "system":
            steps.say("system", plain(message.get("content")), timestamp=time)
        elif role == "user":
            steps.say("user", plain(message.get("content")), timestamp=time)

    @staticmethod
    def _metrics(message: dict[str, Any]) -> Metrics:
        usage = at(_answer(message), "usage")
        # It writes 0 where litellm knows no price.
        cost = amount_at(message, "extra", "cost") or None
        for given, details, taken in _TOKEN_NAMES:
            if at(usage, given) is not None:
                return Metrics(
                    prompt_tokens=count_at(usage, given),
                    cached_tokens=count_at(usage, details, "cached_tokens"),
                    completion_tokens=count_at(usage, taken),
                    cost_usd=cost,
                )
        return Metrics(cost_usd=cost)


def _answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the model's response that a message came from; None where it did not.

    One that could not be used is kept with what the model was told about that.
    """
    if message.get("object") == "response":
        return message
    response = at(message, "extra", "response")
    return response if isinstance(response, dict) else None


def _said(message: dict[str, Any], answer: dict[str, Any]) -> Any:
    """Return the part of it that speaks: a list of items, or a message."""
    if answer.get("object") == "response":
        return answer.get("output")
    if message.get("role") == "assistant":
        return message
    return at(answer, "choices", 0, "message")


def _items(said: Any) -> list[Any]:
    return said if isinstance(said, list) else []


def _texts(said: Any) -> Any:
    if isinstance(said, list):
        return [at(item, "content") for item in said if at(item, "type") == "message"]
    return at(said, "content")


def _reasoning(said: Any) -> str:
    thoughts = [item for item in _items(said) if at(item, "type") == "reasoning"]
    parts = [plain(at(item, "summary") or at(item, "content")) for item in thoughts]
    return "\n".join(part for part in parts if part) or plain(
        at(said, "reasoning_content")
    )


def _calls(said: Any) -> list[ToolCall]:
    items = [item for item in _items(said) if at(item, "type") == "function_call"]
    given = at(said, "tool_calls")
    calls = [_call(at(call, "id"), at(call, "function")) for call in _items(given)]
    return calls + [_call(at(item, "call_id"), item) for item in items]


def _call(call_id: Any, function: Any) -> ToolCall:
    given = text_at(function, "arguments") or ""
    arguments = read_json(given)
    return ToolCall(
        tool_call_id=call_id if isinstance(call_id, str) else "",
        function_name=text_at(function, "name") or "",
        arguments=arguments if isinstance(arguments, dict) else {"arguments": given},
    )
