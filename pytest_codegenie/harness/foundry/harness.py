"""The harness ``foundry``: an agent builds a program from prompts, as a case.

    workspace, the prompts one by one, the whole diff, fresh workspace, hidden tests

From the diff on it is what ``patch`` does: the same tests, rubric and failure modes.
"""

from __future__ import annotations

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
from pytest_codegenie.harness.foundry.preparing import with_source
from pytest_codegenie.harness.foundry.project import SOLUTION
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.quality_gate import make_gates
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.rooms import Surroundings
from pytest_codegenie.harness.patch import PatchRun
from pytest_codegenie.harness.patch import Source
from pytest_codegenie.harness.room import CaseRoom
from pytest_codegenie.harness.solving import Recorded
from pytest_codegenie.harness.solving import Solving
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import Provenance
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import MAX_PATCH_BYTES
from pytest_codegenie.workspaces import Base


class FoundryHarness:
    """Builds one case's program, and judges what came of it."""

    name = "foundry"

    def run(self, job: CaseJob, task: CaseTask) -> CaseResult:
        """Run one case. Whatever goes wrong with the case is in the result.

        Raises:
            BenchCaseLoadError: The project's documents are wrong.
        """
        packages = _packages_for(job, task)

        def building(room: CaseRoom) -> Source:
            room.packages = packages
            return Building(room)

        return PatchRun(job, task, building).run()

    def judge(
        self, job: CaseJob, task: CaseTask, output: AgentOutput, provenance: Provenance
    ) -> CaseResult:
        """Judge what an agent built before, as if it had just built it.

        Raises:
            BenchCaseLoadError: The project's documents are wrong.
        """
        packages = _packages_for(job, task)

        def built(room: CaseRoom) -> Source:
            # What the tests run with is what it was built with.
            room.packages = packages
            return _Built(room, output)

        return PatchRun(job, task, built).run(provenance)


class _Built(Recorded):
    """What an earlier build left."""

    def __init__(self, room: CaseRoom, output: AgentOutput) -> None:
        super().__init__(output)
        self._room = room
        tries = output.metadata.get("foundry", {}).get("tries", 1)
        self.attempts = max(1, int(tries))

    def work(self, base: Base) -> str:
        """Return the patch that was recorded."""
        self._room.environment = with_source(self._room.environment)
        return super().work(base)


class Building:
    """One agent that builds one case's program.

    Args:
        room: Of the case.
    """

    def __init__(self, room: CaseRoom) -> None:
        self._room = room
        #: What the agent left; None before it was started.
        self.output: AgentOutput | None = None
        self.attempts = 1

    def prepare(self) -> None:
        """Look whether the agent can be worked with at all.

        Raises:
            AgentUnavailable: There is none of that name, or its options are wrong.
        """
        Solving(self._room).prepare()

    def work(self, base: Base) -> str:
        """Build the program; return all that differs from the base as a git diff.

        Raises:
            CaseError: Nothing can be told of the agent's work.
        """
        room = self._room
        room.environment = with_source(room.environment)
        project = room.scratch / "project"
        copy_tree(base.tree, project)
        runner = HarnessRunner(
            project,
            BuildSettings(
                agent=room.agent_spec,
                solution=room.job.case.expected_dir / SOLUTION,
                instance_id=room.job.case.case_id,
            ),
            surroundings=Surroundings(room.job.parts),
            room=room,
        )
        with room.timed("agent"):
            result = runner.run()
        self._take(runner, result)
        room.keep_artifact("build.jsonl", runner.log.path)
        if result.error is not None:
            raise result.error
        assert self.output is not None, "it is taken"
        return self.output.patch

    def _take(self, runner: HarnessRunner, result: BuildResult) -> None:
        self.attempts = max(1, result.tries)
        patch = runner.diff()
        if len(patch.encode(errors="replace")) > MAX_PATCH_BYTES:
            raise AgentUnavailable("the program is larger than what is judged")
        outputs = runner.outputs
        last = outputs[-1] if outputs else None
        costs = [one.cost_usd for one in outputs if one.cost_usd is not None]
        tokens = [one.tokens_used for one in outputs if one.tokens_used is not None]
        self.output = AgentOutput(
            instance_id=self._room.job.case.case_id,
            agent_name=self._room.agent_spec.name,
            patch=patch,
            exit_code=last.exit_code if last else 0,
            stdout=last.stdout if last else "",
            stderr=last.stderr if last else "",
            duration_seconds=sum(one.duration_seconds for one in outputs),
            cost_usd=sum(costs) if costs else None,
            tokens_used=sum(tokens) if tokens else None,
            model_name=last.model_name if last else None,
            metadata={
                **_facts_of(outputs),
                "foundry": result.facts(),
                "build_message": result.message,
            },
        )


def _facts_of(outputs: list[AgentOutput]) -> dict[str, object]:
    """Return what was special in any try: with it, the next build may end otherwise."""
    keys = ("exceeded", "processes_left", "stopped_by", "version")
    return {
        key: one.metadata[key] for one in outputs for key in keys if key in one.metadata
    }


def _packages_for(job: CaseJob, task: CaseTask) -> tuple[str, ...]:
    """Return what the gates of a case's project need in its environment.

    Raises:
        BenchCaseLoadError: The project's documents are wrong.
    """
    name = task.task.repository.source
    try:
        project = open_project(job.case.input_dir / name)
        place = project.path / "harness.yaml"
        gates = make_gates(project.harness.gates, job.parts.gates, place)
    except ProjectError as exc:
        raise BenchCaseLoadError(job.case.directory, f"input/{name}", str(exc)) from exc
    return QualityGate(gates=gates).packages
