"""The files of a foundry project, as records: ``docs/reference/foundry.md``."""

from __future__ import annotations

import re
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import AfterValidator
from pydantic import Field
from pydantic import StringConstraints

from pytest_codegenie.models import Finite
from pytest_codegenie.models import NonNegative
from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.task_files import Environment


#: What may ever be modified.
AREAS = ("src", "tests")

Percentage = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
PylintScore = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
#: Of a gate; the three of ours are taken.
GateName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


def _check_pattern(pattern: str) -> str:
    if pattern.startswith("!"):
        raise ValueError("negation is not known; say what is meant without it")
    if pattern.split("/")[0] not in AREAS or ".." in pattern.split("/"):
        raise ValueError(
            "has to begin with src/ or tests/: nothing else is ever modified"
        )
    return pattern


#: ``src/**``: as in .gitignore, from the project's root.
Pattern = Annotated[str, AfterValidator(_check_pattern)]


class PromptMetadata(Record):
    """The fence ``yaml metadata`` below a prompt's heading."""

    #: Of this prompt, instead of the project's.
    max_retries: Count | None = None
    #: What has to be reached for it, instead of ``thresholds``.
    coverage: Percentage | None = None
    pylint: PylintScore | None = None
    #: What the agent has for one try.
    timeout_seconds: Positive | None = None


class Thresholds(Record):
    """``thresholds`` of ``harness.yaml``."""

    #: Per cent of the lines of src/ that the tests run.
    coverage: Percentage = 90.0
    #: Pylint's score of src/, 10 at best.
    pylint: PylintScore = 9.5


class BuildLimits(Record):
    """``limits`` of ``harness.yaml``."""

    #: Tries of one prompt beside its first.
    max_retries: Count = 3
    #: Tries of all prompts together, over all builds of the project.
    max_iterations: Annotated[int, Field(ge=1)] = 50
    #: What the agent has for one try.
    agent_seconds: Positive = 600.0
    #: What each tool of a gate has.
    tool_seconds: Positive = 300.0
    #: What the agent may cost, over all builds of the project; None: anything.
    max_cost_usd: Positive | None = None


class BuildAgent(Record):
    """``agent`` of ``harness.yaml``: who writes the program."""

    #: As ``codegenie list agents`` shows it.
    name: str
    #: The agent's own settings.
    options: dict[str, Any] = Field(default_factory=dict)
    #: Added to the agent's environment; an empty string unsets.
    env: dict[str, str] = Field(default_factory=dict)


class CommandGate(Record):
    """A gate of ``harness.yaml`` that is any command: exit code 0 is passed."""

    #: As it is called in what is said.
    name: GateName
    #: The program and its arguments; it runs in the project's root.
    command: Annotated[list[str], Field(min_length=1)]


class HarnessFile(Record):
    """``harness.yaml``."""

    #: What the gates ask for.
    thresholds: Thresholds = Thresholds()
    #: What a build may take.
    limits: BuildLimits = BuildLimits()
    #: None: ``--agent`` has to name one.
    agent: BuildAgent | None = None
    #: Beside tests, coverage and pylint.
    gates: list[GateName | CommandGate] = Field(default_factory=list)
    #: What src/ and tests/ run with.
    environment: Environment = Environment()
    #: As ``--codegenie-workspace``.
    workspace: str = "auto"


class ControlPlane(Record):
    """``control-plane.yaml``."""

    #: What may be touched; it can only narrow this.
    modifiable: list[Pattern] = Field(default_factory=lambda: ["src/**", "tests/**"])
    #: And of that, what may not.
    protected: list[Pattern] = Field(default_factory=list)
    #: All that one try writes.
    max_patch_bytes: Annotated[int, Field(ge=1)] = 1_000_000
    #: Of one try.
    max_files_changed: Annotated[int, Field(ge=1)] = 50


class PromptFigures(Record):
    """What the gates said of a prompt, for the status and for rubrics."""

    #: Of the last run of the gates.
    coverage: NonNegative = 0.0
    pylint_score: Finite = 0.0
    passed: bool = False
    tries: Count = 0
    #: The gates passed when they were run for the first time.
    first_passed: bool | None = None


class Applying(Record):
    """A commit whose files are being put into the project."""

    commit: str
    #: What the project held before; None: nobody knows.
    previous: str | None = None
    #: The prompts that are complete once it is done.
    completed: list[str]


class Failure(Record):
    """Why the last try of a prompt came to nothing."""

    prompt: str
    text: str


class BuildState(Record):
    """``build_state.json``, and each line of the journal."""

    format: Literal[1] = 1
    #: Counts up with each change that was written.
    revision: Count = 0
    #: When the build of the project began; "": it has not.
    started_at: str = ""
    #: Digests of the six documents.
    documents: dict[str, str] = Field(default_factory=dict)
    #: Ids of prompts, in the order in which they were done.
    completed: list[str] = Field(default_factory=list)
    #: Id to tries that failed.
    retries: dict[str, Count] = Field(default_factory=dict)
    #: Tries of all prompts together.
    iterations: Count = 0
    #: Tries that broke a rule.
    rules_broken: Count = 0
    #: As the agent says; of tries that came to their end.
    cost_usd: NonNegative = 0.0
    #: The commit of the build history that src/ and tests/ were at first.
    start: str = ""
    #: And the one that they are now.
    head: str = ""
    #: Id of a prompt to the commit that completed it.
    commits: dict[str, str] = Field(default_factory=dict)
    #: What is being put into the project; None: nothing.
    applying: Applying | None = None
    #: Id of a prompt to what the gates said of it.
    gates: dict[str, PromptFigures] = Field(default_factory=dict)
    #: What the next try of a prompt is told.
    last_failure: Failure | None = None


PROMPT_ID = re.compile(r"P-(\d{3})")
