"""The two files that say what a case's task is, as records.

``input/task.toml`` is what kind of work it is and where the code comes from,
``expected/tests.toml`` what decides whether it was done.
"""

from __future__ import annotations

from typing import Annotated
from typing import Literal

from pydantic import Field
from pydantic import StringConstraints

from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.models import VerdictRule


Sha256 = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]


class Repository(Record):
    """``[repository]`` of ``task.toml``."""

    #: As people call it: ``owner/project``.
    name: str
    #: A directory, a git bundle or an archive in ``input/``; a git repository's URL or
    #: absolute path; an archive's URL; ``sdist:flask==2.2.3``, what a package index
    #: has; or ``image:/app``, a directory of the case's image, where the tree is then
    #: too (``image:``: the image's own working directory).
    source: str
    #: For a bundle or a repository.
    base_commit: str = ""
    #: Of an archive's bytes, 64 hex digits.
    sha256: Sha256 = ""


class Environment(Record):
    """``[environment]`` of ``task.toml``."""

    #: ``major.minor`` that the case needs; "": any.
    python: str = ""
    #: ``none``: the standard library and pytest. This version builds nothing else.
    install: Literal["auto", "none"] | list[str] = "auto"
    #: For workspaces that are containers.
    image: str = ""


class TaskFile(Record):
    """``input/task.toml``."""

    #: The kind of work.
    harness: str = "patch"
    #: Where the code comes from.
    repository: Repository
    #: What the code runs in.
    environment: Environment = Environment()


class TestsFile(Record):
    """``expected/tests.toml``."""

    #: As ``codegenie list evaluators`` shows it.
    framework: str = "pytest"
    #: Tests that fail on the base and pass once the work is done.
    fail_to_pass: list[str] = Field(default_factory=list)
    #: Tests that pass before and after.
    pass_to_pass: list[str] = Field(default_factory=list)
    #: A shell line, or a program and its arguments; None: the framework's own.
    command: Annotated[str, Field(min_length=1)] | list[str] | None = None
    #: For the framework ``junit``: where the tests write their report, relative to the
    #: repository, with ``*`` for several. "": to the ``{report}`` of the command.
    report: str = ""
    #: For the framework ``log``: what reads the output.
    parser: str = ""
    #: ``strict``: every test that is asked for has to pass, and report and exit code
    #: to agree. ``swebench``: as SWE-bench's own harness decides.
    #: ``swebench-fail-only``: as it decides for output that tells of failures alone: a
    #: test that is not said to have failed has passed. For the framework ``log``.
    rule: VerdictRule = "strict"
    #: Of the test run; None: as long as the agent has.
    timeout_seconds: Positive | None = None
    #: Where there is no ``gold.patch``: a program and its arguments that the oracle
    #: runs in a container, where ``expected/solution`` is ``/solution``.
    solution: list[str] = Field(default_factory=list)


def image_directory(source: str) -> str | None:
    """Return the directory of an image that a ``Repository.source`` names.

    "": the image's own working directory. None: the source is no image's.
    """
    scheme, colon, directory = source.partition(":")
    return directory if colon and scheme == "image" else None
