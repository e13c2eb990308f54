"""``AgentExecutor``: from a prompt to the code that an agent has for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import Protocol

from pytest_codegenie.errors import AgentError
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.agent_room import AgentRoom
from pytest_codegenie.harness.foundry.instructions import write_instructions
from pytest_codegenie.harness.foundry.logger import StructuredLogger
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.rooms import TryRoom
from pytest_codegenie.harness.foundry.spending import TrySpending
from pytest_codegenie.harness.solving import Solving
from pytest_codegenie.harness.spending import Spending
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.processes import redacting
from pytest_codegenie.workspaces import Base


class CostReached(Exception):
    """The build's own cap on cost ended the agent."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a try starts from."""

    #: Of the try, such as ``P-001-2``.
    name: str
    base: Base
    #: What the build's agent may still cost; None: anything.
    left_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """What is known of one start of an agent."""

    agent: str
    model: str | None = None
    duration_seconds: float = 0.0
    #: None: the agent does not say.
    tokens: int | None = None
    cost_usd: float | None = None
    exit_code: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """Whatever writes code for prompts; a build needs no more of it."""

    def execute(self, prompt: Mapping[str, Any], failure_context: str = "") -> str:
        """Return code for a prompt: a git diff, or file blocks (``code.py``).

        Raises:
            NotDone: It came to nothing, for a reason of the agent's: a failed try.
            CaseError: The agent cannot be asked, or broke: the build stops.
            CostReached: What it may cost is used up: the build stops.
        """
        ...


class AgentExecutor:
    """Runs any registered agent on prompts. It writes no file of the project.

    An agent that edits files works in a scratch copy, from which the diff is taken.

    Args:
        room: Of the build.
        project: The project.
        step: Returns what the next try starts from.
        log: Gets what is known of each start of the agent.
        solution: Where the steps of the reference solution are: ``P-001.patch``, ...
        instance_id: Of the case; "": the project is no case.
    """

    def __init__(
        self,
        room: AgentRoom,
        project: Project,
        step: Callable[[], Step],
        log: StructuredLogger,
        *,
        solution: Path,
        instance_id: str = "",
    ) -> None:
        self._room = room
        self._project = project
        self._step = step
        self._log = log
        self._solution = solution
        self._instance_id = instance_id
        #: What is known of the last start; None: there was none.
        self.last: Execution | None = None
        #: What the agent left then.
        self.output: AgentOutput | None = None
        self._spent_usd = 0.0

    def execute(self, prompt: Mapping[str, Any], failure_context: str = "") -> str:
        """Return an agent's code for a prompt.

        Args:
            prompt: As ``PromptLoader`` returns it.
            failure_context: What was wrong with the last try; "": it is the first.

        Returns:
            A git diff, or file blocks; "" where the agent changed nothing.

        Raises:
            NotDone: It ran out of time, or handed in too much.
            AgentError: It broke in a way that says nothing about its work.
            AgentUnavailable: It cannot be started.
            WorkspaceUnavailable: There is no place for it.
            CostReached: It was ended, as the build has no money left.
        """
        step = self._step()
        spending = self._spending(step)
        limits = self._project.harness.limits
        room = TryRoom(
            self._room,
            step.name,
            self._instance(prompt, failure_context),
            prompt["metadata"].get("timeout_seconds", limits.agent_seconds),
            spending,
        )
        room.write_artifact("prompt.md", room.instance.problem_statement)
        self.last = self.output = None
        solving = Solving(room)
        started = time.monotonic()
        try:
            return self._work(solving, step)
        except AgentError as exc:
            if spending.is_over:
                raise CostReached from exc
            raise
        finally:
            self._keep(solving.output, spending, time.monotonic() - started)
            self._tell(prompt["id"], step.name)

    def _work(self, solving: Solving, step: Step) -> str:
        solving.prepare()
        with redacting(self._room.redactor.spellings):
            code = solving.work(step.base)
        solving.room.write_artifact("code.diff", code)
        return code

    def _spending(self, step: Step) -> TrySpending:
        stop = self._room.scratch / f"{step.name}-end-the-agent"
        run: Spending | None = None
        if self._instance_id:
            run = self._room.new_spending()
        return TrySpending(stop, step.left_usd, self._spent_usd, run)

    def _instance(
        self, prompt: Mapping[str, Any], failure_context: str
    ) -> EvalInstance:
        number = prompt["id"]
        return EvalInstance(
            instance_id=f"{self._instance_id}/{number}"
            if self._instance_id
            else number,
            repo=self._project.path.name,
            problem_statement=write_instructions(
                self._project, prompt, failure_context
            ),
            gold_patch=self._gold_patch(number),
        )

    def _gold_patch(self, prompt_id: str) -> str:
        """Return the reference solution of a step; only the oracle is shown it.

        Raises:
            AgentUnavailable: The oracle is to work, and there is none.
        """
        path = self._solution / f"{prompt_id}.patch"
        try:
            return path.read_bytes().decode()
        except FileNotFoundError:
            if self._room.agent_spec.name != "oracle":
                return ""
            raise AgentUnavailable(
                f"the agent 'oracle' hands in a reference solution, and there is no "
                f"{relative(path)}: put one there, a git diff for each prompt, or name "
                "another agent (--agent)"
            ) from None
        except (OSError, UnicodeDecodeError) as exc:
            raise AgentUnavailable(f"{relative(path)} cannot be read: {exc}") from exc

    def _keep(
        self, output: AgentOutput | None, spending: TrySpending, seconds: float
    ) -> None:
        if output is None:
            return
        cost = output.cost_usd
        if cost is None:
            cost = spending.known_usd
        self._spent_usd += cost or 0.0
        self.output = output
        self.last = Execution(
            agent=output.agent_name,
            model=output.model_name,
            duration_seconds=round(output.duration_seconds or seconds, 3),
            tokens=output.tokens_used,
            cost_usd=cost,
            exit_code=output.exit_code,
            metadata=output.metadata,
        )

    def _tell(self, prompt_id: str, name: str) -> None:
        last = self.last
        if last is None:
            self._log.log("agent.not_executed", prompt=prompt_id, step=name)
            return
        self._log.log(
            "agent.executed",
            prompt=prompt_id,
            step=name,
            agent=last.agent,
            model=last.model,
            duration_seconds=last.duration_seconds,
            tokens=last.tokens,
            cost_usd=last.cost_usd,
            exit_code=last.exit_code,
        )
