"""``HarnessRunner``: goes through a project's prompts until all are complete."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import CaseError
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.agent_executor import AgentExecutor
from pytest_codegenie.harness.foundry.agent_executor import CostReached
from pytest_codegenie.harness.foundry.agent_executor import Executor
from pytest_codegenie.harness.foundry.allowance import Allowance
from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.build_settings import agent_of
from pytest_codegenie.harness.foundry.build_settings import prompts_to_do
from pytest_codegenie.harness.foundry.ending import sum_up
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.logger import StructuredLogger
from pytest_codegenie.harness.foundry.preparing import prepare
from pytest_codegenie.harness.foundry.project import SOLUTION
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.harness.foundry.project_files import ProjectFiles
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.quality_gate import make_gates
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.results import BuildStopped
from pytest_codegenie.harness.foundry.results import TryFailed
from pytest_codegenie.harness.foundry.rooms import BuildRoom
from pytest_codegenie.harness.foundry.rooms import ProjectRoom
from pytest_codegenie.harness.foundry.rooms import Surroundings
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.harness.foundry.taking_up import TakingUp
from pytest_codegenie.harness.foundry.tries import TryRunner
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.parts import BUILTIN_PARTS


#: Told of each event of a build: its type and its payload.
Watch = Callable[[str, Mapping[str, Any]], None]


class HarnessRunner:
    """Builds one project.

    Args:
        path: The project's directory.
        settings: What is said of this build.
        surroundings: What it runs in.
        room: Of a case, open, its environment in it; None: one is made.
        executor: Instead of an ``AgentExecutor``.
        gate: Instead of the gates of ``harness.yaml``.
        watch: Told of each event.
    """

    def __init__(
        self,
        path: Path | str,
        settings: BuildSettings | None = None,
        *,
        surroundings: Surroundings | None = None,
        room: BuildRoom | None = None,
        executor: Executor | None = None,
        gate: QualityGate | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.settings = settings or BuildSettings()
        self.project = open_project(Path(path))
        self.allowance = Allowance(self.project, self.settings)
        self.limits = self.allowance.limits
        self.prompt_ids = prompts_to_do(self.project, self.settings.until)
        self.registry = StateRegistry(self.project.path)
        self.log = StructuredLogger(self.project.work / "log.jsonl")
        self.surroundings = surroundings or Surroundings(BUILTIN_PARTS)
        self.gate = gate or self._make_gate()
        self._room = room
        self._executor = executor
        self._watch = watch
        #: What the agent left each time, in order.
        self.outputs: list[AgentOutput] = []

    def _make_gate(self) -> QualityGate:
        harness = self.project.harness
        place = self.project.path / "harness.yaml"
        return QualityGate(
            harness.thresholds,
            tool_seconds=harness.limits.tool_seconds,
            gates=make_gates(harness.gates, self.surroundings.parts.gates, place),
        )

    def run(self) -> BuildResult:
        """Build until all prompts are complete, or the build has to stop.

        Raises:
            ProjectError: Another build of the project goes on, or its state is lost.
        """
        with self.registry.locked():
            room = self._room or self._make_room()
            try:
                result = self._build_in(room)
            finally:
                if isinstance(room, ProjectRoom):
                    room.close()
        facts = {"ended": result.ended, "message": result.message}
        self.tell("build.ended", **facts, completed=result.completed)
        return result

    def diff(self) -> str:
        """Return all that was built, as a git diff; "" for nothing."""
        state = self.registry.state
        if not state.head:
            return ""
        history = History(self.project.work / "history.git")
        return history.diff(state.start, state.head)

    def tell(self, event_type: str, **payload: Any) -> None:
        """Log an event, and tell whoever watches."""
        self.log.log(event_type, payload)
        if self._watch is not None:
            self._watch(event_type, payload)

    def _make_room(self) -> BuildRoom:
        agent = self.settings.agent or agent_of(self.project)
        return ProjectRoom(agent, self.surroundings, self.project.work)

    def undo(self, prompt_id: str) -> list[str]:
        """Take a step back, and all after it; return the prompts that are to do again.

        What they made stays in the build history.

        Raises:
            ProjectError: The prompt is not complete, a document changed, or another
                build goes on.
        """
        with self.registry.locked(), tempfile.TemporaryDirectory() as scratch:
            taking_up = self._taking_up(self._files(Path(scratch)))
            try:
                taking_up.take_up()
            except BuildStopped as exc:
                reason = f"{exc.message}; {exc.remedy}"
                raise ProjectError(self.project.path, reason) from exc
            return taking_up.undo(prompt_id)

    def _files(self, scratch: Path) -> ProjectFiles:
        return ProjectFiles(self.project, self.registry, self.tell, scratch)

    def _taking_up(self, files: ProjectFiles) -> TakingUp:
        return TakingUp(self.project, self.registry, files, self.tell)

    def _build_in(self, room: BuildRoom) -> BuildResult:
        # By the room: what is secret is known once there is an agent.
        self.log.redact = lambda text: room.redactor.text(text)  # noqa: PLW0108
        stopped = None
        try:
            self._build_all(room)
        except BuildStopped as exc:
            stopped = exc
        except CaseError as exc:
            remedy = "mend that and run the build again: it goes on where it is"
            stopped = BuildStopped("error", exc.reason, remedy, exc)
        return sum_up(self.project, self.registry.state, self.allowance, stopped)

    def _build_all(self, room: BuildRoom) -> None:
        files = self._files(room.scratch)
        self._taking_up(files).take_up(from_scratch=self.settings.from_scratch)
        self.tell(
            "build.started",
            prompts=len(self.project.prompts),
            completed=list(self.registry.state.completed),
        )
        if self.registry.get_next_prompt(self.prompt_ids) is not None:
            prepare(self.project, self.gate, room, files.copy())
            self._go_on(self._try_runner(files, room))

    def _try_runner(self, files: ProjectFiles, room: BuildRoom) -> TryRunner:
        tries = TryRunner(self, files, room)
        tries.executor = self._executor or AgentExecutor(
            room,
            self.project,
            lambda: tries.step,
            self.log,
            solution=self.settings.solution or self.project.path / SOLUTION,
            instance_id=self.settings.instance_id,
        )
        return tries

    def _go_on(self, tries: TryRunner) -> None:
        by_id = {prompt["id"]: prompt for prompt in self.project.prompts}
        while prompt_id := self.registry.get_next_prompt(self.prompt_ids):
            self.allowance.check(by_id[prompt_id], self.registry.state)
            self._try(tries, by_id[prompt_id])

    def _try(self, tries: TryRunner, prompt: Mapping[str, Any]) -> None:
        try:
            self._run_try(tries, prompt)
        except TryFailed as exc:
            tries.fail(prompt, exc)
        except CostReached:
            tries.count_cost()
            raise self.allowance.cost_reached(self.registry.state) from None
        except CaseError:
            tries.count_cost()
            raise

    def _run_try(self, tries: TryRunner, prompt: Mapping[str, Any]) -> None:
        try:
            tries.run(prompt)
        finally:
            output = getattr(tries.executor, "output", None)
            if output is not None:
                self.outputs.append(output)
