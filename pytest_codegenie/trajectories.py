"""Trajectories in ATIF, the Agent Trajectory Interchange Format, version 1.8.

The format is Harbor's (RFC 0001, ``harbor.models.trajectories``): what an agent was
told, said, called and got back, step by step. A test holds these records to the JSON
Schema of Harbor's own. What we never write (images, audio, token ids, embedded
subagents) is left out here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated
from typing import Any
from typing import Literal
from typing import Self

from pydantic import Field
from pydantic import model_validator

from pytest_codegenie.models import NonNegative
from pytest_codegenie.models import Record


ATIF_VERSION: Literal["ATIF-v1.8"] = "ATIF-v1.8"

Count = Annotated[int, Field(ge=0)]


class TrajectoryAgent(Record):
    """Who worked."""

    name: str
    #: ``unknown`` where the agent does not say.
    version: str
    model_name: str | None = None
    extra: dict[str, Any] | None = None


class ToolCall(Record):
    """One action that the model asked for."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class ObservationResult(Record):
    """What came of one action."""

    #: A tool call of the same step; None: of no particular one.
    source_call_id: str | None = None
    content: str | None = None
    extra: dict[str, Any] | None = None


class Observation(Record):
    """What came of a step's actions."""

    results: tuple[ObservationResult, ...]


class Metrics(Record):
    """What one answer of the model took; None where nobody says."""

    #: Cached ones too.
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: NonNegative | None = None
    extra: dict[str, Any] | None = None


class Step(Record):
    """One turn: of the system, of the user, or of the agent."""

    #: 1-based.
    step_id: Annotated[int, Field(ge=1)]
    #: ISO 8601.
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    message: str
    # The rest is an agent's alone, but for the observation.
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _only_agents_act(self) -> Self:
        own = (self.model_name, self.reasoning_content, self.tool_calls, self.metrics)
        if self.source != "agent" and any(value is not None for value in own):
            raise ValueError(f"a step of the {self.source} cannot act")
        if self.timestamp is not None:
            dt.datetime.fromisoformat(self.timestamp)
        called: set[str | None] = {call.tool_call_id for call in self.tool_calls or ()}
        results = self.observation.results if self.observation else ()
        for result in results:
            if (
                result.source_call_id is not None
                and result.source_call_id not in called
            ):
                raise ValueError(f"no call {result.source_call_id!r} in this step")
        return self


class FinalMetrics(Record):
    """Sums over a trajectory, as the agent reports them; None where it does not."""

    total_prompt_tokens: Count | None = None
    total_completion_tokens: Count | None = None
    total_cached_tokens: Count | None = None
    total_cost_usd: NonNegative | None = None
    total_steps: Count | None = None
    extra: dict[str, Any] | None = None


class Trajectory(Record):
    """What an agent did, from the first word to the last."""

    schema_version: Literal["ATIF-v1.8"] = ATIF_VERSION
    session_id: str | None = None
    agent: TrajectoryAgent
    #: At least one, in order.
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _steps_are_numbered(self) -> Self:
        for number, step in enumerate(self.steps, 1):
            if step.step_id != number:
                raise ValueError(f"step {number} has the id {step.step_id}")
        return self

    def to_json(self) -> str:
        """Return the trajectory as readable JSON, without what is None."""
        return self.model_dump_json(indent=2, exclude_none=True) + "\n"


class TrajectoryBuilder:
    """Puts steps together in the order in which an agent's records tell of them."""

    def __init__(self) -> None:
        self._steps: list[dict[str, Any]] = []
        #: Tool call id to the step that it belongs to.
        self._callers: dict[str, dict[str, Any]] = {}

    def say(
        self,
        source: Literal["system", "user"],
        message: str,
        *,
        timestamp: str | None = None,
    ) -> None:
        """Add what the agent was told."""
        self._steps.append(
            {
                "source": source,
                "message": message,
                "timestamp": readable_time(timestamp),
            }
        )

    def act(
        self,
        message: str,
        *,
        calls: tuple[ToolCall, ...] = (),
        reasoning: str | None = None,
        metrics: Metrics | None = None,
        model_name: str | None = None,
        timestamp: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an answer of the model: what it said and the calls that it asked for."""
        step = {
            "source": "agent",
            "message": message,
            "timestamp": readable_time(timestamp),
            "reasoning_content": reasoning or None,
            "tool_calls": calls or None,
            "metrics": metrics,
            "model_name": model_name,
            "extra": dict(extra) if extra else None,
        }
        self._steps.append(step)
        self._callers |= {call.tool_call_id: step for call in calls}

    def observe(self, content: str, call_id: str | None = None) -> None:
        """Add what came of a call; of the last step's actions where none is named."""
        step = self._callers.get(call_id or "")
        if step is None:
            call_id = None
            if not self._steps:
                self.say("system", "")
            step = self._steps[-1]
        result = ObservationResult(source_call_id=call_id, content=content)
        step.setdefault("results", []).append(result)

    def build(
        self,
        agent: TrajectoryAgent,
        *,
        session_id: str | None = None,
        final_metrics: FinalMetrics | None = None,
        notes: str | None = None,
    ) -> Trajectory | None:
        """Return the trajectory; None where there was no step."""
        if not self._steps:
            return None
        steps = []
        for number, values in enumerate(self._steps, 1):
            fields = {key: value for key, value in values.items() if key != "results"}
            if "results" in values:
                fields["observation"] = Observation(results=tuple(values["results"]))
            steps.append(Step(step_id=number, **fields))
        return Trajectory(
            session_id=session_id,
            agent=agent,
            steps=tuple(steps),
            notes=notes,
            final_metrics=final_metrics,
        )


def readable_time(time: object) -> str | None:
    """Return a time of an agent's records as ISO 8601 in UTC; None for what is none.

    Args:
        time: ISO 8601, or seconds or milliseconds since 1970.
    """
    try:
        if isinstance(time, str):
            return dt.datetime.fromisoformat(time).isoformat()
        if isinstance(time, int | float) and not isinstance(time, bool):
            seconds = time / 1000 if time > 1e11 else time
            return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        pass
    return None
