"""Letting an agent work: from a base to a patch."""

from __future__ import annotations

import contextlib
from typing import Any

from pytest_codegenie.agents import Agent
from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.agents import PatchAgent
from pytest_codegenie.agents import default_prompt
from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.harness.room import CaseRoom
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import MAX_PATCH_BYTES
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import PatchTooLarge
from pytest_codegenie.workspaces import Workspace


#: Of each of the agent's streams, this much of the start and of the end is recorded.
_RECORDED_BYTES = 1 << 15
_GRACE_SECONDS = 5.0


class Solving:
    """One agent at work on one case."""

    def __init__(self, room: CaseRoom) -> None:
        self.room = room
        self.job: CaseJob = room.job
        self.task: CaseTask = room.task
        #: What the agent left, as far as it is known; None before it was started.
        self.output: AgentOutput | None = None

    def make_agent(self) -> Agent:
        """Make and configure the agent.

        Raises:
            AgentUnavailable: There is none of that name, or its options are wrong.
        """
        spec = self.job.agent
        try:
            agent: Agent = make_part("agent", spec.name, self.job.parts.agents)
        except UnknownPartError as exc:
            raise AgentUnavailable(str(exc)) from exc
        agent.configure(spec.options)
        return agent

    def work(self, agent: Agent, base: Base) -> str:
        """Let the agent work; return its patch, "" for no change.

        ``output`` has it too.

        Raises:
            NotDone: It ran out of time, or its patch is too large.
            AgentError: It broke in a way that says nothing about its work.
            AgentUnavailable: It cannot be started.
            WorkspaceUnavailable: There is no place for it.
        """
        if isinstance(agent, PatchAgent):
            with self.room.timed("agent"):
                instance = self.task.instance
                if not agent.sees_answers:
                    instance = instance.without_answers()
                found = agent.find_patch(instance)
            self.output = found.model_copy(update={"patch": ""})
            return self._handed_in(self._checked(found.patch))
        if isinstance(agent, AgentAdapter):
            return self._handed_in(self._run_adapter(agent, base))
        raise AgentUnavailable(
            f"agent {agent.name!r} is neither a command line (build_command, "
            "build_prompt, parse_output, ...) nor a source of patches (find_patch)"
        )

    def _handed_in(self, patch: str) -> str:
        assert self.output is not None, "the agent has worked"
        self.output = self.output.model_copy(update={"patch": patch})
        return patch

    def _checked(self, patch: str) -> str:
        """Return a patch that was not taken from a tree, "" for a blank one."""
        size = len(patch.encode(errors="replace"))
        if size > MAX_PATCH_BYTES:
            self.room.write_artifact("patch.diff", patch)
            reason = str(PatchTooLarge(size, MAX_PATCH_BYTES))
            raise NotDone("patch.does_not_apply", reason)
        return patch if patch.strip() else ""

    def _run_adapter(self, agent: AgentAdapter, base: Base) -> str:
        with contextlib.ExitStack() as stack:
            with self.room.timed("prepare"):
                workspace = stack.enter_context(
                    self.room.workspace(
                        base,
                        "agent",
                        endpoints=agent.get_endpoints(),
                        readable=agent.get_readable(),
                    )
                )
            with self.room.timed("agent"):
                output = self._start_agent(agent, workspace)
            with self.room.timed("diff"):
                patch = self._take_patch(workspace)
        if not patch and "exceeded" in output.metadata:
            raise AgentError(
                f"the agent was ended, as it used {output.metadata['exceeded']} (the "
                "setting 'limits'), and changed nothing"
            )
        if not patch and output.exit_code:
            raise AgentError(
                f"the agent ended with exit code {output.exit_code} and changed "
                f"nothing: {_last_lines(output)}"
            )
        return patch

    def _start_agent(self, agent: AgentAdapter, workspace: Workspace) -> AgentOutput:
        prompt_path = workspace.scratch / "problem.md"
        instance = self.task.instance.without_answers()
        instance = instance.model_copy(
            update={"metadata": {"problem_file": workspace.inside(prompt_path)}}
        )
        prompt = agent.build_prompt(instance)
        # The file is for agents that read one; its text is the prompt either way.
        prompt_path.write_text(prompt or default_prompt(instance), encoding="utf-8")
        limit = self._agent_limit(agent)
        log_path = self.room.artifact("agent.log")
        try:
            completed = workspace.exec(
                agent.build_command(instance, workspace.inside(workspace.tree)),
                phase="agent",
                env=self._agent_environment(agent, workspace),
                limits=Limits(
                    timeout_seconds=limit,
                    grace_seconds=_GRACE_SECONDS,
                    keep_bytes=_RECORDED_BYTES,
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
        output = agent.parse_output(
            completed.stdout.decode(errors="replace"),
            completed.stderr.decode(errors="replace"),
            completed.exit_code,
            completed.duration_seconds,
        )
        told: dict[str, Any] = {}
        if completed.survivors:
            told["processes_left"] = completed.survivors
        if completed.exceeded:
            told["exceeded"] = completed.exceeded
        self.output = output.model_copy(
            update={
                "instance_id": self.job.case.case_id,
                "agent_name": self.job.agent.name,
                "patch": "",
                "metadata": output.metadata | told,
            }
        )
        if completed.timed_out:
            raise NotDone(
                "agent.timeout", f"the agent was ended after {limit:g} seconds"
            )
        return self.output

    def _agent_limit(self, agent: AgentAdapter) -> float:
        limit = self.job.agent_limit_seconds
        return min(limit, agent.get_timeout_seconds() or limit)

    def _agent_environment(
        self, agent: AgentAdapter, workspace: Workspace
    ) -> dict[str, str]:
        environment = workspace.variables("agent")
        for key, value in (agent.get_environment() | self.job.agent.env).items():
            if value:
                environment[key] = value
            else:
                environment.pop(key, None)
        return environment

    def _take_patch(self, workspace: Workspace) -> str:
        # Where artifacts go there may be no room: that is no reason for a lesser diff.
        output = self.room.scratch / "patch.diff"
        try:
            return workspace.diff(output)
        except PatchTooLarge as exc:
            self.room.keep_artifact("patch.diff", output)
            raise NotDone("patch.does_not_apply", str(exc)) from exc


def _last_lines(output: AgentOutput) -> str:
    text = output.stderr.strip() or output.stdout.strip()
    return text[-500:] or "it printed nothing"
