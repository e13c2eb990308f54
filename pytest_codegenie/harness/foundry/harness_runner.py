"""``HarnessRunner``: goes through a project's prompts until all are complete."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import CaseError
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.agent_executor import AgentExecutor
from pytest_codegenie.harness.foundry.agent_executor import CostReached
from pytest_codegenie.harness.foundry.agent_executor import Executor
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.instructions import max_retries_of
from pytest_codegenie.harness.foundry.instructions import title_of
from pytest_codegenie.harness.foundry.logger import StructuredLogger
from pytest_codegenie.harness.foundry.project import SOLUTION
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.harness.foundry.project_files import ProjectFiles
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.quality_gate import make_gates
from pytest_codegenie.harness.foundry.records import BuildLimits
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.results import BuildStopped
from pytest_codegenie.harness.foundry.results import TryFailed
from pytest_codegenie.harness.foundry.rooms import BuildRoom
from pytest_codegenie.harness.foundry.rooms import ProjectRoom
from pytest_codegenie.harness.foundry.rooms import Surroundings
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.harness.foundry.state_registry import now
from pytest_codegenie.harness.foundry.tries import TryRunner
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import make_base


#: Told of each event of a build: its type and its payload.
Watch = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What is said of one build, beside the project's own files."""

    #: None: what ``harness.yaml`` names.
    agent: AgentSpec | None = None
    #: Instead of those of ``harness.yaml``; None: those.
    max_retries: int | None = None
    max_iterations: int | None = None
    max_cost_usd: float | None = None
    #: The last prompt that is worked on; None: the last one there is.
    until: str | None = None
    #: Forget how far the project is, and put src/ and tests/ back to what they were.
    from_scratch: bool = False
    #: Where the reference solution is; None: ``solution`` in the project.
    solution: Path | None = None
    #: Of the case that the project is; "": it is none.
    instance_id: str = ""


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
        self.limits = self._limits()
        self.prompt_ids = self._prompts_to_do()
        self.registry = StateRegistry(self.project.path)
        self.log = StructuredLogger(self.project.work / "log.jsonl")
        self.surroundings = surroundings or Surroundings(BUILTIN_PARTS)
        self.gate = gate or self._make_gate()
        self._room = room
        self._executor = executor
        self._watch = watch
        #: What the agent left each time, in order.
        self.outputs: list[AgentOutput] = []

    def _limits(self) -> BuildLimits:
        given = {
            key: getattr(self.settings, key)
            for key in ("max_retries", "max_iterations", "max_cost_usd")
        }
        told = {key: value for key, value in given.items() if value is not None}
        return self.project.harness.limits.model_copy(update=told)

    def _prompts_to_do(self) -> list[str]:
        until, known = self.settings.until, self.project.prompt_ids
        if until is None:
            return known
        if until not in known:
            raise ProjectError(
                self.project.path / "prompt.md",
                f"has no prompt {until!r}{did_you_mean(until, known)}; it has "
                f"{known[0]} to {known[-1]}",
            )
        return known[: known.index(until) + 1]

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

    def _build_in(self, room: BuildRoom) -> BuildResult:
        # By the room: what is secret is known once there is an agent.
        self.log.redact = lambda text: room.redactor.text(text)  # noqa: PLW0108
        try:
            files = ProjectFiles(self.project, self.registry, self.tell, room.scratch)
            self._take_up(files)
            if self.registry.get_next_prompt(self.prompt_ids) is not None:
                self._go_on(files, room)
        except BuildStopped as exc:
            return self._result(exc)
        except CaseError as exc:
            remedy = "mend that and run the build again: it goes on where it is"
            return self._result(BuildStopped("error", exc.reason, remedy, exc))
        return self._result(None)

    # -- where the build is -------------------------------------------------------

    def _take_up(self, files: ProjectFiles) -> None:
        """Read how far the project is; make good what a kill left half done."""
        registry = self.registry
        registry.load()
        for problem in registry.problems:
            self.tell("state.problem", message=problem)
        if registry.is_lost:
            raise ProjectError(
                registry.path,
                f"{registry.problems[-1]}; put a good one there, or run the build "
                "again: it then begins with src/ and tests/ as they are",
            )
        known = self.project.digests()
        if not registry.state.start:
            files.begin(known)
        files.check_history()
        files.finish()
        if self.settings.from_scratch:
            self._begin_again(files, known)
        self.check_documents()
        files.take_changes()
        self.tell(
            "build.started",
            prompts=len(self.project.prompts),
            completed=list(registry.state.completed),
        )

    def _begin_again(self, files: ProjectFiles, documents: dict[str, str]) -> None:
        """Put src/ and tests/ back to what they were at first; all stays in history."""
        files.take_changes()
        fresh = {
            "started_at": now(),
            "documents": documents,
            "retries": {},
            "iterations": 0,
            "rules_broken": 0,
            "cost_usd": 0.0,
            "gates": {},
            "commits": {},
            "last_failure": None,
        }
        files.apply(self.registry.state.start, (), **fresh)

    def undo(self, prompt_id: str) -> list[str]:
        """Take a step back, and all after it; return the prompts that are to do again.

        What they made stays in the build history.

        Raises:
            ProjectError: The prompt is not complete, a document changed, or another
                build goes on.
        """
        with self.registry.locked(), tempfile.TemporaryDirectory() as scratch:
            files = ProjectFiles(self.project, self.registry, self.tell, Path(scratch))
            try:
                self._take_up(files)
            except BuildStopped as exc:
                reason = f"{exc.message}; {exc.remedy}"
                raise ProjectError(self.project.path, reason) from exc
            state = self.registry.state
            if prompt_id not in state.commits:
                done = ", ".join(state.completed) or "none"
                raise ProjectError(
                    self.registry.path,
                    f"{prompt_id} is not complete, so it cannot be undone; complete: "
                    f"{done}",
                )
            index = state.completed.index(prompt_id)
            kept, undone = state.completed[:index], state.completed[index:]
            before = files.history.parent(state.commits[prompt_id])
            files.apply(
                before,
                kept,
                commits=_without(state.commits, undone),
                gates=_without(state.gates, undone),
                retries=_without(state.retries, undone),
                last_failure=None,
            )
            self.tell("build.undone", prompts=undone, commit=before)
        return undone

    def check_documents(self) -> None:
        """See to it that no document has changed since the build began.

        Raises:
            BuildStopped: One has.
        """
        known = self.registry.state.documents
        found = self.project.digests().items()
        changed = [name for name, digest in found if known.get(name) != digest]
        if changed:
            places = ", ".join(relative(self.project.path / name) for name in changed)
            many = len(changed) > 1
            raise BuildStopped(
                "rule",
                f"{places} changed since the build began, and no document may: what "
                "was built so far was built by what stood there then",
                f"put {'them' if many else 'it'} back; or begin again with "
                f"{'them' if many else 'it'} as {'they are' if many else 'it is'}: "
                f"codegenie build {relative(self.project.path)} --from-scratch",
            )

    # -- the prompts --------------------------------------------------------------

    def _go_on(self, files: ProjectFiles, room: BuildRoom) -> None:
        self._prepare(files, room)
        tries = TryRunner(self, files, room)
        tries.executor = self._executor or AgentExecutor(
            room,
            self.project,
            lambda: tries.step,
            self.log,
            solution=self.settings.solution or self.project.path / SOLUTION,
            instance_id=self.settings.instance_id,
        )
        by_id = {prompt["id"]: prompt for prompt in self.project.prompts}
        while True:
            prompt_id = self.registry.get_next_prompt(self.prompt_ids)
            if prompt_id is None:
                return
            prompt = by_id[prompt_id]
            self._check_limits(prompt)
            self._try(tries, prompt)

    def _prepare(self, files: ProjectFiles, room: BuildRoom) -> None:
        """Provide what src/ and tests/ run with, and look whether the tools are there.

        Raises:
            CaseError: It cannot be provided, or they are not: no agent is asked then.
        """
        tree = files.copy()
        if isinstance(room, ProjectRoom):
            room.provide(self._recipe(tree))
        room.environment = with_source(room.environment)
        base = make_base(tree, room.scratch / "tools.git")
        with room.workspace(base, "tools") as workspace:
            missing = self.gate.missing(workspace)
        if missing:
            raise AgentUnavailable(
                f"no gate can be run: {missing}; with 'install: none' that is what "
                "codegenie itself runs in: pip install 'pytest-codegenie[foundry]'"
            )

    def _recipe(self, tree: Path) -> Recipe:
        wanted = self.project.harness.environment
        install = wanted.install
        return Recipe(
            tree=tree,
            repository=self.project.path.name,
            python=wanted.python,
            install=tuple(install) if isinstance(install, list) else install,
            image=wanted.image,
            packages=self.gate.packages,
        )

    def _check_limits(self, prompt: Mapping[str, Any]) -> None:
        """Stop where a prompt, the build or its cost has reached what is allowed.

        Raises:
            BuildStopped: It has.
        """
        state, limits = self.registry.state, self.limits
        place = relative(self.project.path)
        allowed = self._retries_allowed(prompt)
        failed = self.registry.get_retry_count(prompt["id"])
        if failed > allowed:
            raise BuildStopped(
                "retries",
                f"{title_of(prompt)}: {failed} tries failed, and {allowed} retries are "
                "allowed",
                f"see why in {relative(self.project.work / 'tries')}; give it more: "
                f"codegenie build {place} --max-retries {failed + 2}; or change src/ "
                "and tests/ by hand, and build again with one more",
            )
        if state.iterations >= limits.max_iterations:
            raise BuildStopped(
                "iterations",
                f"{state.iterations} tries were made of all prompts together, and no "
                "more are allowed (max_iterations)",
                f"give it more: codegenie build {place} --max-iterations "
                f"{state.iterations + 10}",
            )
        cap = limits.max_cost_usd
        if cap is not None and state.cost_usd >= cap:
            raise self._cost_reached()

    def _cost_reached(self) -> BuildStopped:
        cost, cap = self.registry.state.cost_usd, self.limits.max_cost_usd
        return BuildStopped(
            "cost",
            f"the build has cost {cost:.4f} USD, and {cap:g} are allowed "
            "(max_cost_usd)",
            f"allow more: codegenie build {relative(self.project.path)} "
            f"--max-cost-usd {max(cost, cap or 0) * 2:g}",
        )

    def _try(self, tries: TryRunner, prompt: Mapping[str, Any]) -> None:
        try:
            self._run_try(tries, prompt)
        except TryFailed as exc:
            tries.fail(prompt, exc)
        except CostReached:
            tries.count_cost()
            raise self._cost_reached() from None
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

    def _retries_allowed(self, prompt: Mapping[str, Any]) -> int:
        given = self.settings.max_retries
        return max_retries_of(self.limits, prompt) if given is None else given

    # -- the end ------------------------------------------------------------------

    def _result(self, stopped: BuildStopped | None) -> BuildResult:
        state, all_ids = self.registry.state, self.project.prompt_ids
        done = [one for one in all_ids if one in state.completed]
        result = BuildResult(
            ended="complete" if len(done) == len(all_ids) else "until",
            message=f"all {len(all_ids)} prompts are complete",
            remedy="",
            prompts=len(all_ids),
            completed=len(done),
            tries=state.iterations,
            retries=self._retries_used(),
            retries_allowed=sum(map(self._retries_allowed, self.project.prompts)),
            rules_broken=state.rules_broken,
            cost_usd=state.cost_usd,
            gates={
                name: figures.model_dump(exclude={"first_passed"})
                for name, figures in state.gates.items()
            },
        )
        if stopped is not None:
            return dataclasses.replace(
                result,
                ended=stopped.ended,
                message=stopped.message,
                remedy=stopped.remedy,
                error=stopped.error,
            )
        if result.ended == "until":
            left = next(one for one in all_ids if one not in state.completed)
            return dataclasses.replace(
                result,
                message=f"complete until {self.settings.until}",
                remedy=f"go on with {left}: codegenie build "
                f"{relative(self.project.path)}",
            )
        return result

    def _retries_used(self) -> int:
        """Return how many tries were made beside the first of each prompt."""
        state = self.registry.state
        # Of a prompt that is not complete, one of the tries that failed is its first.
        return sum(
            failed if prompt_id in state.completed else max(0, failed - 1)
            for prompt_id, failed in state.retries.items()
        )


def _without(table: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


def with_source(environment: Environment) -> Environment:
    """Return an environment in which modules are imported from src/ of the tree."""
    if "src" in environment.roots:
        return environment
    return dataclasses.replace(environment, roots=("src", *environment.roots))


def agent_of(project: Project) -> AgentSpec:
    """Return who works where nobody says anything else.

    Raises:
        ProjectError: ``harness.yaml`` names nobody.
    """
    wanted = project.harness.agent
    if wanted is None:
        raise ProjectError(
            project.path / "harness.yaml",
            "names no agent: add 'agent: {name: ...}', or give --agent (codegenie list "
            "agents)",
        )
    return AgentSpec(
        name=wanted.name, label=wanted.name, options=wanted.options, env=wanted.env
    )
