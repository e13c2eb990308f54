"""What an evaluator is: it says what the tests say about a patch."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import VerdictRule
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits


class Interpreter(Protocol):
    """The Python that judged code runs with."""

    @property
    def python(self) -> str:
        """As programs inside of the workspace name it."""
        ...

    @property
    def own(self) -> bool:
        """Made for the case: plugins that are installed in it belong to its tests."""
        ...

    @property
    def roots(self) -> tuple[str, ...]:
        """Directories of the tree that modules are imported from: "" is its root."""
        ...


class Site(Protocol):
    """What an evaluator uses of the workspace that it judges in."""

    #: On the host.
    tree: Path

    @property
    def environment(self) -> Interpreter:
        """What the tests run with."""
        ...

    def inside(self, path: Path) -> str:
        """Return how programs inside name a path in the tree or the scratch place."""
        ...

    def variables(self, phase: Literal["judge"]) -> dict[str, str]:
        """Return the environment variables of a test run."""
        ...

    def exec(
        self,
        argv: Sequence[str],
        *,
        phase: Literal["judge"],
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program in the tree to its end."""
        ...

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; None removes what is there."""
        ...


@runtime_checkable
class ShowsDirectories(Protocol):
    """A site whose programs can see a directory where they look for it."""

    def show(self, inside: str, source: Path | None) -> Path:
        """Show a directory to the programs that are started from now on.

        Args:
            inside: Its absolute path for them.
            source: What it holds, which they cannot change; None: nothing, and they
                may write to it.

        Returns:
            The directory on the host; a copy of ``source``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be judged: the base, its hidden tests, and which have to pass."""

    instance_id: str
    #: The files that the agent started from.
    base: Path
    #: The files that are laid over the tree; None where there are none.
    overlay: Path | None
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    command: str | Sequence[str] | None
    timeout_seconds: float
    #: A directory of the host beside the tree, for requests and reports; programs
    #: inside can write to it.
    scratch: Path
    #: Gets what the tests print; None: nowhere.
    log_path: Path | None
    #: Where in the tree the tests' report is, with wildcards; "": not there.
    report: str = ""
    #: What reads the output, by name; "": nothing does.
    parser: str = ""
    #: What decides: ``strict``, or ``swebench`` or ``swebench-fail-only`` as
    #: SWE-bench's own harness does.
    rule: VerdictRule = "strict"
    #: Files that the reference solution touches. Whoever solves the case may have to
    #: touch them too, though they lie among tests.
    gold_paths: frozenset[str] = frozenset()
    #: Tests that stay out of the tree, ``expected/tests``; None where there are none.
    outside: Path | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a judgement."""

    result: EvalResult
    #: How the patch tried to steer the tests, one sentence each; empty if it did not.
    tampering: tuple[str, ...] = ()


class Evaluator(Protocol):
    """Runs the tests of one framework.

    The tree is hostile. ``protect`` comes after the patch and before the hidden
    tests, ``evaluate`` after both.
    """

    #: As ``framework`` in ``expected/tests.toml``.
    name: str

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back what can steer a test run; return what was tampered with."""
        ...

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests.

        Raises:
            EvaluatorError: They cannot be run, through no fault of the patch.
        """
        ...
