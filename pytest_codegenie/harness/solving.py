"""Letting an agent work: from a base to a patch."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pytest_codegenie.agents import Agent
from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.agents import PatchAgent
from pytest_codegenie.agents import RunsSolutions
from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.harness.agent_room import AgentRoom
from pytest_codegenie.harness.agent_run import AgentRun
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets
from pytest_codegenie.redaction import secrets_in_file
from pytest_codegenie.workspaces import MAX_PATCH_BYTES
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import HasImages
from pytest_codegenie.workspaces import PatchTooLarge
from pytest_codegenie.workspaces import Workspace


#: Harbor's place for it, and Terminal-Bench's.
SOLUTION_PLACES = ("/solution", "/oracle")


class Recorded:
    """What an agent left in an earlier run: there is nothing for it to do here."""

    def __init__(self, output: AgentOutput) -> None:
        self.output = output

    def prepare(self) -> None:
        """Do nothing."""

    def work(self, base: Base) -> str:
        """Return the patch that was recorded.

        Args:
            base: Not looked at: the patch was made for an equal one.
        """
        return self.output.patch


class Solving:
    """One agent at work on one case, or on one step of a build."""

    def __init__(self, room: AgentRoom) -> None:
        self.room = room
        #: What the agent left, as far as it is known; None before it was started.
        self.output: AgentOutput | None = None
        self._agent: Agent | None = None

    def prepare(self) -> None:
        """Make and configure the agent.

        Raises:
            AgentUnavailable: There is none of that name, or its options are wrong.
        """
        with self.room.timed("agent"):
            self._agent = self._make_agent()

    def _make_agent(self) -> Agent:
        spec = self.room.agent_spec
        try:
            agent: Agent = make_part("agent", spec.name, self.room.agent_table)
        except UnknownPartError as exc:
            raise AgentUnavailable(str(exc)) from exc
        agent.configure(spec.options)
        own = agent.get_environment() if isinstance(agent, AgentAdapter) else {}
        secrets = find_secrets(os.environ, own, spec.env, named=self.room.secret_names)
        if isinstance(agent, InstalledAgent):
            copied = agent.get_home_files("").values()
            files = [file for file in copied if isinstance(file, Path)]
            secrets += tuple(word for file in files for word in secrets_in_file(file))
        self.room.redactor = Redactor(secrets)
        return agent

    def work(self, base: Base) -> str:
        """Let the agent work; return its patch, "" for no change.

        ``output`` has it too. ``prepare`` comes before.

        Raises:
            NotDone: It ran out of time, or its patch is too large.
            AgentError: It broke in a way that says nothing about its work.
            AgentUnavailable: It cannot be started.
            WorkspaceUnavailable: There is no place for it.
        """
        agent = self._agent
        assert agent is not None, "it is prepared"
        solution = self.room.solution
        if solution is not None and isinstance(agent, RunsSolutions):
            program = agent.solution_program(solution.command)
            return self._handed_in(self._run_adapter(program, base, solution.directory))
        if isinstance(agent, PatchAgent):
            with self.room.timed("agent"):
                instance = self.room.instance
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

    def _run_adapter(
        self, agent: AgentAdapter, base: Base, solution: Path | None = None
    ) -> str:
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
                if solution is not None:
                    _show_solution(solution, workspace)
            with self.room.timed("agent"):
                output = self._end_of(agent, workspace)
            with self.room.timed("diff"):
                patch = self._take_patch(workspace)
        if not patch and "exceeded" in output.metadata:
            raise AgentError(
                f"the agent was ended, as it used {output.metadata['exceeded']} (the "
                "setting 'limits'), and changed nothing"
            )
        if not patch and output.exit_code and "stopped_by" not in output.metadata:
            raise AgentError(
                f"the agent ended with exit code {output.exit_code} and changed "
                f"nothing: {_last_lines(output)}"
            )
        return patch

    def _end_of(self, agent: AgentAdapter, workspace: Workspace) -> AgentOutput:
        run = AgentRun(self.room, agent, workspace)
        self.output = output = run.run()
        if run.out_of_budget:
            raise AgentError(
                "ended: the session's cost cap (--codegenie-max-cost-usd) was reached "
                f"while it worked; its own cost by then: {_cost(output)}"
            )
        late = f"the agent was ended after {run.limit:g} seconds"
        if error := output.metadata.get("error"):
            raise AgentError(f"{error} ({late})" if run.timed_out else str(error))
        if run.timed_out:
            raise NotDone("agent.timeout", late)
        return output

    def _take_patch(self, workspace: Workspace) -> str:
        # Where artifacts go there may be no room: that is no reason for a lesser diff.
        output = self.room.scratch / "patch.diff"
        try:
            return workspace.diff(output)
        except PatchTooLarge as exc:
            self.room.keep_artifact("patch.diff", output)
            raise NotDone("patch.does_not_apply", str(exc)) from exc


def _show_solution(solution: Path, workspace: Workspace) -> None:
    if not isinstance(workspace, HasImages):
        raise WorkspaceUnavailable(
            "the reference solution is a program in expected/solution that runs in the "
            f"case's image, and the workspace {workspace.name!r} has none; use "
            "--codegenie-workspace docker"
        )
    for place in SOLUTION_PLACES:
        workspace.show(place, solution)


def _cost(output: AgentOutput) -> str:
    return "unknown" if output.cost_usd is None else f"{output.cost_usd:.4f} USD"


def _last_lines(output: AgentOutput) -> str:
    text = output.stderr.strip() or output.stdout.strip()
    return text[-500:] or "it printed nothing"
