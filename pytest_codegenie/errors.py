"""Every typed error, with the exit code that a session or a command ends in.

CodegenieError
 ├─ BenchCaseLoadError              6   a case cannot be read
 ├─ BenchCaseDigestMismatch         6   a case is not what was signed
 ├─ BenchCaseIDCollision            6   two cases claim one id
 ├─ DatasetError                    6   somebody's dataset cannot become cases
 ├─ TaskClassNotFound               9
 ├─ TaskClassAlreadyRegistered      9
 ├─ TaskClassIncomplete             9
 ├─ ChainTamperDetected             8
 ├─ IncompleteReportForPromotion    1
 ├─ PromotionMustBeHumanAuthorized  1
 ├─ TierConfigInvalid               1
 ├─ ConfigError                     4   an option, the run file or pyproject.toml
 ├─ RunStoreError                   1   a result cannot be recorded
 ├─ RunNotFound                     4   there is no run of that name
 ├─ RunDiffers                      4   a run cannot be resumed with this
 ├─ GradeRefused                    4   cases changed since the run to be graded
 ├─ ProjectError                    4   a foundry project cannot be built as it is
 └─ CaseError                       1   one case cannot be judged; the run goes on
     ├─ AgentError                      (agent.error)
     ├─ AgentUnavailable                (agent.unavailable)
     ├─ WorkspaceUnavailable            (workspace.error)
     ├─ EvaluatorError                  (evaluator.error)
     └─ RubricError                     (rubric.*)

``args`` of an error are exactly its contract's arguments, in order; whatever else
it carries is an attribute. A message says what is wrong, where, and what to do.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from typing import ClassVar


#: Exit codes beyond pytest's own 0 to 5, as far as anything ends in them.
EXIT_CORPUS = 6
EXIT_COST = 7
EXIT_CHAIN = 8
EXIT_TASK_CLASS = 9
EXIT_GATE = 10
EXIT_RETRIES = 11
EXIT_ITERATIONS = 12
EXIT_RULE = 13


def relative(path: Path | str) -> str:
    """Return ``path`` as messages show it: relative to the working directory."""
    path = Path(path)
    with contextlib.suppress(ValueError, FileNotFoundError):
        path = path.relative_to(Path.cwd())
    return printable(path.as_posix())


def printable(text: str) -> str:
    """Return ``text`` with escapes for what would break a line or a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest known name, or nothing."""
    nearest = difflib.get_close_matches(name, sorted(known), n=1)
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


class CodegenieError(Exception):
    """Base of every error that this project raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # The default drops keyword arguments and passes only ``args``.
        return (functools.partial(_rebuild, type(self)), (self.args, self.__dict__))


def _rebuild(
    cls: type[CodegenieError], args: tuple[Any, ...], state: dict[str, Any]
) -> CodegenieError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class BenchCaseLoadError(CodegenieError):
    """A case cannot be read: ``field`` names the key or file at fault."""

    exit_code = EXIT_CORPUS

    def __init__(self, case_directory: Path | str, field: str, reason: str) -> None:
        super().__init__(case_directory, field, reason)
        self.case_directory = Path(case_directory)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        place = relative(self.case_directory)
        return f"{place}: {printable(self.field)}: {self.reason}"


class BenchCaseDigestMismatch(CodegenieError):
    """A case's files are not those that were signed."""

    exit_code = EXIT_CORPUS

    def __init__(
        self,
        case_id: str,
        expected: str,
        computed: str,
        *,
        directory: Path | None = None,
        source: str = "cases/digests.yaml",
        differs: tuple[str, ...] = (),
        suspects: tuple[str, ...] = (),
    ) -> None:
        super().__init__(case_id, expected, computed)
        self.case_id = case_id
        self.expected = expected
        self.computed = computed
        self.directory = directory
        self.source = source
        #: Paths that differ from the last good listing known on this machine.
        self.differs = differs
        #: Files that usually get there by accident (``__pycache__``, ``.DS_Store``).
        self.suspects = suspects

    def __str__(self) -> str:
        place = relative(self.directory) if self.directory else self.case_id
        lines = [
            f"{place}: digest mismatch: not the files that were signed in "
            f"{self.source}",
            f"  expected {self.expected}",
            f"  computed {self.computed}",
        ]
        lines += [f"  differs  {printable(path)}" for path in self.differs]
        lines += [
            f"  likely cause: {printable(path)} (a stray file; delete it)"
            for path in self.suspects
        ]
        lines.append(self._remedy())
        return "\n".join(lines)

    def _remedy(self) -> str:
        if self.source == "case.toml":
            return (
                "restore the files, or give case.toml the computed case_digest (or "
                "none: the key is optional)"
            )
        task_class = (
            relative(self.directory.parent.parent) if self.directory else "<task class>"
        )
        return (
            "restore the files, or sign the case again on purpose: "
            f"codegenie sign {task_class}"
        )


class BenchCaseIDCollision(CodegenieError):
    """Two case directories claim one id (ids are compared without case)."""

    exit_code = EXIT_CORPUS

    def __init__(self, case_id: str, paths: Iterable[Path | str]) -> None:
        self.case_id = case_id
        self.paths = tuple(sorted(Path(path) for path in paths))
        super().__init__(case_id, self.paths)

    def __str__(self) -> str:
        places = ", ".join(relative(path) for path in self.paths)
        return (
            f"case id {self.case_id!r} is used more than once: {places}; ids must "
            "differ by more than case, over all task classes of a run: rename all but "
            "one directory, with its case_id, and sign again"
        )


class DatasetError(CodegenieError):
    """Somebody's dataset, or one instance of it, cannot become cases.

    Args:
        place: What is at fault, as a person finds it: ``rows.jsonl, line 12
            (pallets__flask-4992)``.
        field: The key at fault; "": all of it.
        reason: What is wrong, and what to do.
    """

    exit_code = EXIT_CORPUS

    def __init__(self, place: str, field: str, reason: str) -> None:
        super().__init__(place, field, reason)
        self.place = place
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        parts = (self.place, self.field, self.reason)
        return ": ".join(printable(part) for part in parts if part)


class TaskClassNotFound(CodegenieError):
    """No task class of that name; ``available`` are the names there are."""

    exit_code = EXIT_TASK_CLASS

    def __init__(
        self, name: str, available: Iterable[str] = (), *, place: str = ""
    ) -> None:
        self.name = name
        self.available = tuple(available)
        self.place = place
        super().__init__(name, self.available)

    def __str__(self) -> str:
        where = f" in {self.place}" if self.place else ""
        known = ", ".join(repr(name) for name in self.available) or "none"
        return (
            f"task class {self.name!r} not found{where}; available: {known}"
            f"{did_you_mean(self.name, self.available)}; a task class is a directory "
            "with registration.py and cases/, registered under the directory's name"
        )


class TaskClassAlreadyRegistered(CodegenieError):
    """One name was registered twice; the first registration stands."""

    exit_code = EXIT_TASK_CLASS

    def __init__(self, name: str, existing: str, incoming: str) -> None:
        super().__init__(name, existing, incoming)
        self.name = name
        self.existing = existing
        self.incoming = incoming

    def __str__(self) -> str:
        return (
            f"task class {self.name!r} is already registered by {self.existing}; "
            f"{self.incoming} cannot be registered too: keep exactly one "
            "@register_task_class in a registration.py, under its directory's name"
        )


class TaskClassIncomplete(CodegenieError):
    """A part of a task class is missing or unusable; ``reason`` says how."""

    exit_code = EXIT_TASK_CLASS

    def __init__(self, name: str, missing_path: Path | str, reason: str = "") -> None:
        super().__init__(name, missing_path)
        self.name = name
        self.missing_path = Path(missing_path)
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"task class {self.name!r} is incomplete: {relative(self.missing_path)}: "
            f"{self.reason or 'missing'}; 'codegenie new task-class' makes one "
            "that is whole, to compare with"
        )


class ChainTamperDetected(CodegenieError):
    """A record of the audit chain is not what was appended."""

    exit_code = EXIT_CHAIN

    def __init__(
        self,
        record: str,
        expected: str,
        computed: str,
        *,
        what: str = "digest",
        path: Path | str = "chain.jsonl",
    ) -> None:
        super().__init__(record, expected, computed)
        #: Its number, and of which run, task class and agent it is.
        self.record = record
        #: What is on record.
        self.expected = expected
        self.computed = computed
        #: The key that differs.
        self.what = what
        self.path = Path(path)

    def __str__(self) -> str:
        return (
            f"{relative(self.path)}: audit chain: record {printable(self.record)} does "
            f"not verify: {printable(self.what)} differs\n"
            f"  recorded {printable(self.expected)}\n"
            f"  computed {printable(self.computed)}\n"
            "restore what was changed from a backup; or move the directory audit away, "
            "and a new chain begins: trust no record from this one on"
        )


class IncompleteReportForPromotion(CodegenieError):
    """A run of the window was cut off and has no report to promote on."""

    def __init__(
        self, run_id: str, task_class: str, agent: str, *, reason: str = ""
    ) -> None:
        super().__init__(run_id, task_class, agent)
        self.run_id = run_id
        self.task_class = task_class
        self.agent = agent
        #: What is missing, as far as it is known.
        self.reason = reason

    def __str__(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return (
            f"run {self.run_id!r} has no report of {self.task_class!r} with agent "
            f"{self.agent!r}: it was cut off, or still goes on{reason}; finish it "
            f"(pytest --codegenie-resume {self.run_id}), or run anew: only the latest "
            "runs count"
        )


class PromotionMustBeHumanAuthorized(CodegenieError):
    """Tiers are changed by a person, never by this program."""

    def __init__(
        self,
        task_class: str,
        agent: str,
        current_tier: str | None,
        target_tier: str,
        *,
        path: Path | str = "trust-tiers.yaml",
        sufficient: bool = True,
    ) -> None:
        super().__init__(task_class, agent, current_tier, target_tier)
        self.task_class = task_class
        self.agent = agent
        #: None: it has no tier yet.
        self.current_tier = current_tier
        self.target_tier = target_tier
        #: The file that a person edits.
        self.path = Path(path)
        #: What the verdict said.
        self.sufficient = sufficient

    def __str__(self) -> str:
        evidence = "" if self.sufficient else "; the evidence is not sufficient"
        change = f"from {self.current_tier} to " if self.current_tier else "to "
        return (
            f"a tier is given by a person, never by this program{evidence}: to promote "
            f"{self.agent!r} on {self.task_class!r}, somebody who answers for it edits "
            f"{relative(self.path)}, sets current.{self.task_class}.{self.agent} "
            f"{change}{self.target_tier}, and commits that with the recommendation"
        )


class TierConfigInvalid(CodegenieError):
    """``trust-tiers.yaml`` does not hold: file, key, reason."""

    def __init__(self, path: Path | str, key: str, reason: str) -> None:
        super().__init__(path, key, reason)
        self.path = Path(path)
        self.key = key
        self.reason = reason

    def __str__(self) -> str:
        parts = (relative(self.path), printable(self.key), self.reason)
        return ": ".join(part for part in parts if part)


class ConfigError(CodegenieError):
    """An option, the run file or ``[tool.codegenie]`` is wrong: source, key, reason."""

    exit_code = 4

    def __init__(self, source: str, key: str, reason: str) -> None:
        super().__init__(source, key, reason)
        self.source = source
        self.key = key
        self.reason = reason

    def __str__(self) -> str:
        return ": ".join(part for part in (self.source, self.key, self.reason) if part)


class RunStoreError(CodegenieError):
    """A record cannot be written, or what is there cannot be read.

    Nothing may be reported without a record.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason

    def __str__(self) -> str:
        return f"{relative(self.path)}: {self.reason}"


class RunNotFound(CodegenieError):
    """There is no such run; the reason says which there are."""

    exit_code = 4

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class RunDiffers(CodegenieError):
    """A run cannot be resumed: what would run now is not what it is made of."""

    exit_code = 4

    def __init__(
        self, run_id: str, differences: Iterable[str], *, remedy: str = ""
    ) -> None:
        self.run_id = run_id
        #: One line each: what, as recorded, as now.
        self.differences = tuple(differences)
        self.remedy = remedy
        super().__init__(run_id, self.differences)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"run {self.run_id!r} cannot be resumed: what would run now differs "
                "from what it is made of",
                *(f"  {printable(line)}" for line in self.differences),
                self.remedy or "make it as it was, or begin a run of its own",
            )
        )


class GradeRefused(CodegenieError):
    """Cases changed since the run that is to be graded again: run id, their names."""

    exit_code = 4

    def __init__(self, run_id: str, cases: Iterable[str]) -> None:
        self.run_id = run_id
        #: ``<task class>/<case id>``.
        self.cases = tuple(cases)
        super().__init__(run_id, self.cases)

    def __str__(self) -> str:
        many = len(self.cases) > 1
        return "\n".join(
            (
                f"run {self.run_id!r} is not graded again: {len(self.cases)} "
                f"{'cases' if many else 'case'} changed since, and what was asked may "
                "have changed with the answer key",
                *(f"  {printable(case)}" for case in self.cases),
                "restore them; or leave them out (-k, --codegenie-case); or, where "
                "only what judges changed, --codegenie-grade-changed",
            )
        )


class ProjectError(CodegenieError):
    """A foundry project cannot be built as it is: a file, the line, what is wrong."""

    exit_code = 4

    def __init__(self, path: Path | str, reason: str, line: int | None = None) -> None:
        super().__init__(path, reason, line)
        self.path = Path(path)
        self.reason = reason
        #: 1-based; None: it is about all of the file.
        self.line = line

    def __str__(self) -> str:
        line = "" if self.line is None else f", line {self.line}"
        return f"{relative(self.path)}{line}: {self.reason}"


class CaseError(CodegenieError):
    """One case cannot be judged. ``code`` is the harness's failure mode for it."""

    code: str = "agent.error"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AgentError(CaseError):
    """The agent broke in a way that says nothing about its work."""


class AgentUnavailable(CaseError):
    """The agent cannot be started here; the reason says how to get it."""

    code = "agent.unavailable"


class WorkspaceUnavailable(CaseError):
    """A place to work in cannot be made."""

    code = "workspace.error"


class EvaluatorError(CaseError):
    """The tests cannot be run, through no fault of the patch."""

    code = "evaluator.error"


class RubricError(CaseError):
    """The rubric gave no usable answer; ``code`` says in which way."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        #: What the rubric printed, for its log.
        self.printed = ""
