"""One try of a prompt: agent, code, rules, gates, and only then the project's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from pytest_codegenie.harness.foundry.agent_executor import Execution
from pytest_codegenie.harness.foundry.agent_executor import Executor
from pytest_codegenie.harness.foundry.agent_executor import Step
from pytest_codegenie.harness.foundry.code import UnusableCode
from pytest_codegenie.harness.foundry.code import apply_code
from pytest_codegenie.harness.foundry.instructions import describe_gates
from pytest_codegenie.harness.foundry.instructions import thresholds_of
from pytest_codegenie.harness.foundry.instructions import title_of
from pytest_codegenie.harness.foundry.instructions import with_code
from pytest_codegenie.harness.foundry.listing import BY_PRODUCT_ENDS
from pytest_codegenie.harness.foundry.listing import BY_PRODUCTS
from pytest_codegenie.harness.foundry.listing import compare
from pytest_codegenie.harness.foundry.listing import list_tree
from pytest_codegenie.harness.foundry.project_files import ProjectFiles
from pytest_codegenie.harness.foundry.records import PromptFigures
from pytest_codegenie.harness.foundry.results import TryFailed
from pytest_codegenie.harness.foundry.rooms import BuildRoom
from pytest_codegenie.harness.foundry.taking_up import check_documents
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.trees import add_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import make_base


if TYPE_CHECKING:
    from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner


class TryRunner:
    """Makes tries, one after the other.

    Args:
        build: Of which build; its state and its rules.
        files: The project's.
        room: Of the build.
    """

    def __init__(
        self, build: HarnessRunner, files: ProjectFiles, room: BuildRoom
    ) -> None:
        self._build = build
        self._registry = build.registry
        self._project = build.project
        self._files = files
        self._room = room
        self._number = 0
        self._code = ""
        self._report: Mapping[str, Any] | None = None
        #: Who writes the code.
        self.executor: Executor
        #: What the try that goes on starts from.
        self.step: Step

    def run(self, prompt: Mapping[str, Any]) -> None:
        """Make one try; when it returns, the prompt is complete.

        Raises:
            TryFailed: It came to nothing, and the project is as it was.
            BuildStopped: A rule was broken that ends the build.
            CostReached: What the agent may cost is used up.
            CaseError: Nothing can be told of the agent's work.
        """
        self._begin(prompt)
        try:
            self._make(prompt)
        finally:
            remove_tree(self.step.base.tree)
            remove_tree(self.step.base.git_dir)

    def _begin(self, prompt: Mapping[str, Any]) -> None:
        number = self._registry.get_retry_count(prompt["id"]) + 1
        self._number += 1
        self._code, self._report = "", None
        name = f"{prompt['id']}-{self._registry.state.iterations + 1}"
        cap = self._build.limits.max_cost_usd
        left = None if cap is None else cap - self._registry.state.cost_usd
        tree = self._files.copy()
        if self._room.environment.generated is not None:
            add_tree(self._room.environment.generated, tree)
        git_dir = self._room.scratch / f"base-{self._number}.git"
        self.step = Step(name, _base_of(tree, git_dir), left)
        self._build.tell(
            "try.started", prompt=prompt["id"], title=title_of(prompt), number=number
        )

    def _make(self, prompt: Mapping[str, Any]) -> None:
        before = self._project.listing()
        self._enter(prompt, "agent")
        self._code = self._ask(prompt)
        check_documents(self._project, self._registry.state)
        self._enter(prompt, "rules")
        name = f"{self.step.name}-gates"
        with self._room.workspace(self.step.base, name) as workspace:
            tree = self._take_code(workspace)
            self._enter(prompt, "gates")
            report = self._pass_gates(prompt, workspace)
        check_documents(self._project, self._registry.state)
        self._complete(prompt, tree, report, before)

    def _enter(self, prompt: Mapping[str, Any], phase: str) -> None:
        self._build.tell("try.phase", prompt=prompt["id"], phase=phase)

    def _ask(self, prompt: Mapping[str, Any]) -> str:
        failure = self._registry.state.last_failure
        told = failure.text if failure and failure.prompt == prompt["id"] else ""
        try:
            return self.executor.execute(prompt, told)
        except NotDone as exc:
            raise TryFailed(exc.reason) from exc

    def _take_code(self, workspace: Workspace) -> str:
        """Apply the code, hold it against the rules; return the tree that comes of it.

        Raises:
            TryFailed: It does not apply, changes nothing, or breaks a rule.
        """
        temporary = self._room.scratch / f"{self.step.name}-blocks"
        temporary.mkdir()
        try:
            apply_code(self._code, workspace, temporary)
        except UnusableCode as exc:
            raise TryFailed(exc.reason) from exc
        changes = compare(list_tree(self.step.base.tree), list_tree(workspace.tree))
        if not changes.all:
            raise TryFailed("the agent changed nothing")
        broken = self._project.rules.broken_by(changes)
        if broken:
            told = "\n".join(["The code broke rules:", *(f"- {one}" for one in broken)])
            raise TryFailed("; ".join(broken), told, breaks_rule=True)
        # Before anything of it runs, as that may write to the tree.
        head = self._registry.state.head
        return self._files.history.extend_tree(head, workspace.tree, changes.written)

    def _pass_gates(
        self, prompt: Mapping[str, Any], workspace: Workspace
    ) -> Mapping[str, Any]:
        report = self._build.gate.run(workspace, thresholds_of(self._project, prompt))
        self._report = report
        self._build.tell("gates.run", prompt=prompt["id"], **report)
        if not report["passed"]:
            reasons = "; ".join(report["reasons"]) or "a gate was not passed"
            raise TryFailed(reasons, describe_gates(report))
        return report

    def _complete(
        self,
        prompt: Mapping[str, Any],
        tree: str,
        report: Mapping[str, Any],
        before: dict[str, Any],
    ) -> None:
        state, history = self._registry.state, self._files.history
        trailers = {
            "Tries": str(self._registry.get_retry_count(prompt["id"]) + 1),
            "Coverage": f"{report['coverage']:g}",
            "Pylint": f"{report['pylint_score']:g}",
            **self._agent_trailers(),
        }
        commit = history.commit(tree, state.head, title_of(prompt), trailers)
        self._files.check_untouched(before, commit)
        self._files.apply(
            commit,
            [*state.completed, prompt["id"]],
            last_failure=None,
            commits={**state.commits, prompt["id"]: commit},
            **self._counted(prompt),
        )
        self._build.tell(
            "prompt.completed",
            prompt=prompt["id"],
            title=title_of(prompt),
            commit=commit,
            tries=int(trailers["Tries"]),
            coverage=report["coverage"],
            pylint_score=report["pylint_score"],
            cost_usd=self._registry.state.cost_usd,
        )

    def _agent_trailers(self) -> dict[str, str]:
        last = self._last()
        if last is None:
            return {}
        cost = "" if last.cost_usd is None else f"{last.cost_usd:.4f}"
        return {"Agent": last.agent, "Model": last.model or "", "Cost-USD": cost}

    def _last(self) -> Execution | None:
        last: Execution | None = getattr(self.executor, "last", None)
        return last

    def _counted(self, prompt: Mapping[str, Any]) -> dict[str, Any]:
        """Return what changes of the state with each try that came to its end."""
        state = self._registry.state
        figures = state.gates.get(prompt["id"], PromptFigures())
        new: dict[str, Any] = {"tries": figures.tries + 1}
        if self._report is not None:
            passed = bool(self._report["passed"])
            new |= {key: self._report[key] for key in ("coverage", "pylint_score")}
            new["passed"] = passed
            if figures.first_passed is None:
                new["first_passed"] = passed
        figures = figures.model_copy(update=new)
        return {
            "iterations": state.iterations + 1,
            "cost_usd": state.cost_usd + self._cost(),
            "gates": {
                **{name: one.model_dump() for name, one in state.gates.items()},
                prompt["id"]: figures.model_dump(),
            },
        }

    def _cost(self) -> float:
        last = self._last()
        return (last.cost_usd if last else None) or 0.0

    def fail(self, prompt: Mapping[str, Any], failure: TryFailed) -> None:
        """Count a try that came to nothing, and keep what the next one is told."""
        redact = self._room.redactor.text
        text = redact(with_code(failure.context, self._code))
        rules = self._registry.state.rules_broken + failure.breaks_rule
        self._room.write_artifact(f"tries/{self.step.name}/failure.md", text)
        self._registry.increment_retry(
            prompt["id"],
            last_failure={"prompt": prompt["id"], "text": text},
            rules_broken=rules,
            **self._counted(prompt),
        )
        self._build.tell(
            "try.failed",
            prompt=prompt["id"],
            title=title_of(prompt),
            number=self._registry.get_retry_count(prompt["id"]),
            reason=redact(failure.reason),
            breaks_rule=failure.breaks_rule,
        )

    def count_cost(self) -> None:
        """Add what a try cost that is not counted as one."""
        if self._cost():
            self._registry.change(cost_usd=self._registry.state.cost_usd + self._cost())


def _base_of(tree: Path, git_dir: Path) -> Base:
    base = make_base(tree, git_dir)
    exclude = [f"{name}/" if name != ".coverage" else name for name in BY_PRODUCTS]
    exclude += [f"*{end}" for end in BY_PRODUCT_ENDS]
    with (base.git_dir / "info" / "exclude").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in exclude)
    return base
