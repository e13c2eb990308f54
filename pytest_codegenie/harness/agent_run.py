"""One start of an agent's program in a workspace: from its adapter to its output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.agents import default_prompt
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.harness.agent_room import AgentRoom
from pytest_codegenie.harness.records import fill_home
from pytest_codegenie.harness.records import read_records
from pytest_codegenie.harness.watching import UsageWatch
from pytest_codegenie.harness.watching import reader_of_usage
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import on_this_side
from pytest_codegenie.workspaces.protocol import Phase


#: Of each of the agent's streams, this much of the start and of the end is recorded.
_RECORDED_BYTES = 1 << 15
#: And this much is given to an agent that reads its own records in it.
_READ_BYTES = 1 << 24
_GRACE_SECONDS = 5.0


class AgentRun:
    """Starts an agent's program in a workspace and reads what it leaves."""

    def __init__(
        self, room: AgentRoom, agent: AgentAdapter, workspace: Workspace
    ) -> None:
        self.room = room
        self.agent = agent
        on_host = agent.execution_mode == "host" and workspace.name != "host"
        self.workspace = on_this_side(workspace) if on_host else workspace
        #: The agent again, if it is one that people install.
        self.installed = agent if isinstance(agent, InstalledAgent) else None
        own = agent.get_timeout_seconds()
        limit = room.agent_seconds
        #: Seconds.
        self.limit = min(limit, own or limit)
        #: The limit ended it.
        self.timed_out = False
        self.spending = room.new_spending()
        #: The budget of the run did.
        self.out_of_budget = False

    def run(self) -> AgentOutput:
        """Start it and wait for its end.

        Raises:
            AgentUnavailable: It cannot be started.
            WorkspaceUnavailable: The place itself broke.
        """
        environment = self._environment()
        if self.installed is not None:
            self._move_in(self.installed, environment)
        completed = self._start(environment)
        self.timed_out = completed.timed_out
        self.out_of_budget = completed.stopped
        if self.out_of_budget:
            self.spending.end()
        return self._read(completed)

    def _environment(self) -> dict[str, str]:
        # An installed agent gets nothing of the user's but what it asks for: as little
        # as what judges its work.
        phase: Phase = "agent" if self.installed is None else "judge"
        environment = self.workspace.variables(phase)
        added = self.agent.get_environment() | self.room.agent_spec.env
        for key, value in added.items():
            if value:
                environment[key] = value
            else:
                environment.pop(key, None)
        return environment

    def _move_in(self, agent: InstalledAgent, environment: Mapping[str, str]) -> None:
        workspace = self.workspace
        fault = agent.probe(environment, shared=workspace.shares_programs)
        if fault:
            raise AgentUnavailable(fault)
        home = workspace.inside(workspace.home)
        fill_home(workspace.home, agent.get_home_files(home))

    def _start(self, environment: Mapping[str, str]) -> Completed:
        workspace = self.workspace
        prompt_path = workspace.scratch / "problem.md"
        instance = self._instance(prompt_path)
        prompt = self.agent.build_prompt(instance)
        # The file is for agents that read one; its text is the prompt either way.
        prompt_path.write_text(prompt or default_prompt(instance), encoding="utf-8")
        log_path = self.room.artifact("agent.log")
        self.spending.start()
        try:
            with self._watched(log_path):
                return workspace.exec(
                    self.agent.build_command(
                        instance, workspace.inside(workspace.tree)
                    ),
                    phase="agent",
                    env=environment,
                    limits=Limits(
                        timeout_seconds=self.limit,
                        grace_seconds=_GRACE_SECONDS,
                        keep_bytes=_READ_BYTES if self.installed else _RECORDED_BYTES,
                        stop=self.spending.stop,
                    ),
                    stdin_path=prompt_path if prompt else None,
                    log_path=log_path,
                )
        except NotStarted as exc:
            remedy = (
                "make it executable"
                if exc.code == "EACCES"
                else "install it or correct the command"
            )
            raise AgentUnavailable(f"{exc}; {remedy}") from exc

    def _instance(self, prompt_path: Path) -> EvalInstance:
        """Return what the agent may know of the task, and of where it works."""
        workspace = self.workspace
        place: dict[str, Any] = {
            "problem_file": workspace.inside(prompt_path),
            "scratch": workspace.inside(workspace.scratch),
            "timeout_seconds": self.limit,
            "workspace": workspace.name,
        }
        if self.installed is not None:
            place["home"] = workspace.inside(workspace.home)
            place["shares_programs"] = workspace.shares_programs
        instance = self.room.instance.without_answers()
        return instance.model_copy(update={"metadata": place})

    def _watched(self, log_path: Path | None) -> UsageWatch:
        read = reader_of_usage(self.agent, self.workspace.home, log_path)
        return UsageWatch(read, self.room.progress, self.spending)

    def _read(self, completed: Completed) -> AgentOutput:
        if self.installed is not None:
            self.installed.take_records(self._keep_records(self.installed))
        output = self.agent.parse_output(
            completed.stdout.decode(errors="replace"),
            completed.stderr.decode(errors="replace"),
            completed.exit_code,
            completed.duration_seconds,
        )
        if self.installed is not None:
            trajectory = self.installed.get_trajectory()
            if trajectory is not None:
                self.room.write_artifact("trajectory.json", trajectory.to_json())
        cost = output.cost_usd
        if cost is None and completed.stopped:
            cost = self.spending.known_usd  # it was not left the time to say it again
        return output.model_copy(
            update={
                "cost_usd": cost,
                "instance_id": self.room.instance.instance_id,
                "agent_name": self.room.agent_spec.name,
                "patch": "",
                "stdout": _both_ends(output.stdout),
                "stderr": _both_ends(output.stderr),
                "metadata": output.metadata | self._facts(completed),
            }
        )

    def _keep_records(self, agent: InstalledAgent) -> Mapping[str, bytes]:
        """Return what the agent wrote of its work; it is kept as it came."""
        found = read_records(self.workspace.home, agent.get_record_patterns())
        records = {
            name: self.room.redactor.data(content) for name, content in found.items()
        }
        for name, content in records.items():
            self.room.write_artifact(f"records/{name}", content)
        return records

    def _facts(self, completed: Completed) -> dict[str, Any]:
        """Return what the adapter cannot know."""
        facts: dict[str, Any] = {}
        if completed.survivors:
            facts["processes_left"] = completed.survivors
        if completed.exceeded:
            facts["exceeded"] = completed.exceeded
        if completed.stopped:
            facts["ended_by"] = "budget"
        if self.workspace.name != self.room.workspace_name:
            facts["ran_in"] = self.workspace.name
        return facts


def _both_ends(text: str) -> str:
    """Return the beginning and the end of a long text."""
    left_out = len(text) - 2 * _RECORDED_BYTES
    if left_out < 1000:  # not worth it, or the same was done to it before
        return text
    gap = f"\n[... {left_out} characters left out ...]\n"
    return text[:_RECORDED_BYTES] + gap + text[-_RECORDED_BYTES:]
