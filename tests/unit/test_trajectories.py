"""Trajectories: what is written is what Harbor's schema asks for."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from pytest_codegenie.trajectories import ATIF_VERSION
from pytest_codegenie.trajectories import FinalMetrics
from pytest_codegenie.trajectories import Metrics
from pytest_codegenie.trajectories import Observation
from pytest_codegenie.trajectories import ObservationResult
from pytest_codegenie.trajectories import Step
from pytest_codegenie.trajectories import ToolCall
from pytest_codegenie.trajectories import Trajectory
from pytest_codegenie.trajectories import TrajectoryAgent
from pytest_codegenie.trajectories import TrajectoryBuilder
from pytest_codegenie.trajectories import readable_time


#: Made from ``harbor.models.trajectories.Trajectory`` of harbor 0.25.0 (Apache-2.0).
SCHEMA = json.loads(
    (Path(__file__).parents[1] / "data/atif-v1.8.schema.json").read_text("utf-8")
)
AGENT = TrajectoryAgent(name="pi", version="0.73.1", model_name="fake")
CALL = ToolCall(tool_call_id="c1", function_name="bash", arguments={"command": "ls"})


def test_a_whole_trajectory_holds_against_the_schema() -> None:
    steps = TrajectoryBuilder()
    steps.say("system", "You are an agent.")
    steps.say("user", "Mend it.", timestamp="2026-11-22T06:06:04.414Z")
    steps.act(
        "Look.",
        calls=(CALL,),
        reasoning="Where?",
        metrics=Metrics(prompt_tokens=10, completion_tokens=2, cost_usd=0.1),
        model_name="fake",
        timestamp="2026-11-22T06:06:05Z",
        extra={"stop_reason": "tool_use"},
    )
    steps.observe("a.py", "c1")
    steps.act("Done.")
    totals = FinalMetrics(total_prompt_tokens=10, total_cost_usd=0.1)
    trajectory = steps.build(AGENT, session_id="s", final_metrics=totals, notes="n")
    assert trajectory is not None
    written = json.loads(trajectory.to_json())
    jsonschema.validate(written, SCHEMA)
    assert written["schema_version"] == ATIF_VERSION
    assert [step["step_id"] for step in written["steps"]] == [1, 2, 3, 4]
    assert written["steps"][2]["observation"] == {
        "results": [{"source_call_id": "c1", "content": "a.py"}]
    }
    assert "tool_calls" not in written["steps"][3]
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_the_schema_is_of_the_version_that_is_written() -> None:
    """A newer format wants a newer schema, and another look at these records."""
    trajectory = SCHEMA["$defs"]["Trajectory"]["properties"]
    assert trajectory["schema_version"]["default"] == ATIF_VERSION


def test_an_observation_of_an_unknown_call_goes_to_the_last_step() -> None:
    steps = TrajectoryBuilder()
    steps.observe("before anything")
    steps.act("Look.", calls=(CALL,))
    steps.observe("of another", "c2")
    trajectory = steps.build(AGENT)
    assert trajectory is not None
    jsonschema.validate(json.loads(trajectory.to_json()), SCHEMA)
    last = trajectory.steps[-1].observation
    assert last == Observation(results=(ObservationResult(content="of another"),))


def test_no_steps_make_no_trajectory() -> None:
    assert TrajectoryBuilder().build(AGENT) is None


def test_only_an_agent_acts() -> None:
    with pytest.raises(ValidationError, match="a step of the user cannot act"):
        Step(step_id=1, source="user", message="x", tool_calls=(CALL,))


def test_an_observation_is_of_a_call_of_its_step() -> None:
    results = (ObservationResult(source_call_id="c9", content=""),)
    with pytest.raises(ValidationError, match="no call 'c9' in this step"):
        Step(
            step_id=1,
            source="agent",
            message="x",
            tool_calls=(CALL,),
            observation=Observation(results=results),
        )


def test_steps_are_numbered_from_one() -> None:
    step = Step(step_id=2, source="agent", message="x")
    with pytest.raises(ValidationError, match="step 1 has the id 2"):
        Trajectory(agent=AGENT, steps=(step,))


@pytest.mark.parametrize(
    ("time", "written"),
    [
        ("2026-11-22T06:06:04Z", "2026-11-22T06:06:04+00:00"),
        (1795327564, "2026-11-22T06:06:04+00:00"),
        (1795327564780, "2026-11-22T06:06:04.780000+00:00"),
        ("yesterday", None),
        (None, None),
        (True, None),
        (1e300, None),
        (float("nan"), None),
        ({}, None),
    ],
)
def test_times_of_all_kinds_are_iso_or_left_out(
    time: object, written: str | None
) -> None:
    assert readable_time(time) == written
