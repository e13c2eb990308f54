"""From a recipe to a plan: what is installed, and why that.

A plan names no interpreter and no tool, so it holds for a virtual environment as for a
container.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.declared import Declared
from pytest_codegenie.workspaces.environments.declared import read_declared
from pytest_codegenie.workspaces.environments.hints import Hint
from pytest_codegenie.workspaces.environments.hints import find_hint
from pytest_codegenie.workspaces.environments.lock_files import read_lock_file
from pytest_codegenie.workspaces.environments.project_files import ProjectFiles
from pytest_codegenie.workspaces.protocol import Recipe


#: What asks git for the project's version, and the variable that answers instead.
_VERSION_TOOLS = {
    "setuptools_scm": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "setuptools-scm": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "use_scm_version": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "hatch-vcs": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "flit_scm": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "pdm-backend": "PDM_BUILD_SCM_VERSION",
    "pbr": "PBR_VERSION",
    "poetry-dynamic-versioning": "POETRY_DYNAMIC_VERSIONING_BYPASS",
}
#: Newer than whatever is compared with it: so the head of a repository sees itself.
_UNKNOWN_VERSION = "9999.0"


@dataclass(frozen=True, slots=True)
class Step:
    """One command: a shell line, or what ``pip install`` is to install."""

    shell: str = ""
    #: Arguments of ``pip install``; paths are relative to the tree.
    install: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """How an environment is made."""

    #: ``major.minor``; "": any.
    python: str
    #: One after the other, in a copy of the tree.
    steps: tuple[Step, ...]
    #: The tree matters; without it an environment is the same for all.
    needs_tree: bool
    #: Extras of the project that a step installs.
    extras: tuple[str, ...] = ()
    #: It may have others, which come out once it is built.
    asks_for_extras: bool = False
    #: pytest is installed where nothing else asks for it.
    wants_pytest: bool = False
    #: Requirements that hold for all that ``install`` steps install.
    constraints: tuple[str, ...] = ()
    #: For the commands that build.
    build_variables: Mapping[str, str] = field(default_factory=dict)
    #: For programs that run in the environment.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: One sentence each: what was read, what was decided.
    decisions: tuple[str, ...] = ()
    #: The files that were read, with their digests.
    files: Mapping[str, str] = field(default_factory=dict)
    #: Digest of what building reads of the code.
    sources: str = ""

    def fingerprint(self) -> dict[str, object]:
        """Return all of it that decides what comes out."""
        return {
            "steps": [[step.shell, *step.install] for step in self.steps],
            "asks_for_extras": self.asks_for_extras,
            "wants_pytest": self.wants_pytest,
            "constraints": self.constraints,
            "build_variables": dict(self.build_variables),
            "variables": dict(self.variables),
            "files": dict(self.files),
            "sources": self.sources,
        }


def make_plan(recipe: Recipe) -> Plan:
    """Decide how an environment is made. Nothing is started, nothing is written.

    Raises:
        WorkspaceUnavailable: A file that decides on it is broken.
    """
    if recipe.install == "none":
        words = 'install = "none": pytest alone'
        return Plan(
            recipe.python,
            (Step(install=("pytest", *recipe.packages)),),
            False,
            decisions=(words,),
        )
    files = ProjectFiles(recipe.tree)
    if recipe.install == "auto":
        return _automatic(recipe, files)
    return _listed(recipe, files, recipe.install)


def _listed(recipe: Recipe, files: ProjectFiles, commands: tuple[str, ...]) -> Plan:
    """Run what the case says; whatever it may read is part of what decides."""
    try:
        declared = read_declared(files)
    except WorkspaceUnavailable:
        declared = Declared()  # the commands will say whether it matters
    words = {word for line in commands for word in re.split(r"[\s'\"=]+", line)}
    for name in sorted(words):
        if name and not name.startswith(("/", "..")) and files.has(name):
            files.text(name)
    hint = find_hint(recipe.repository, declared.version) or Hint()
    variables, sentences = _version_variables(files, declared.version)
    return Plan(
        recipe.python or hint.python,
        (*(Step(shell=line) for line in commands), *_tools(recipe)),
        needs_tree=True,
        build_variables=variables | hint.build_variables,
        variables=hint.variables,
        decisions=(f"install: {len(commands)} commands of the case", *sentences),
        files=files.digests,
        sources=files.digest_sources(),
    )


def _automatic(recipe: Recipe, files: ProjectFiles) -> Plan:
    """Install what the project's files ask for, then the project."""
    declared = read_declared(files)
    locked, locked_words = read_lock_file(files)
    hint = find_hint(recipe.repository, declared.version)
    decisions = [*declared.decisions, *([locked_words] if locked_words else [])]
    if hint is not None:
        decisions.append(_hint_words(recipe.repository, hint))
    hint = hint or Hint()
    variables: dict[str, str] = {}
    if declared.is_package:
        variables, sentences = _version_variables(files, declared.version)
        decisions += sentences
    return Plan(
        recipe.python or hint.python,
        (*_steps(declared, hint), *_tools(recipe)),
        needs_tree=True,
        extras=tuple(declared.extras),
        asks_for_extras=declared.is_package and declared.asks_for_extras,
        wants_pytest=True,
        constraints=(*locked, *_unlocked(hint.constraints, locked)),
        build_variables=variables | hint.build_variables,
        variables=hint.variables,
        decisions=tuple(decisions),
        files=files.digests,
        sources=files.digest_sources(),
    )


def _tools(recipe: Recipe) -> Iterator[Step]:
    """Yield what installs the tools, once all else is there: they take what fits."""
    if recipe.packages:
        yield Step(install=recipe.packages)


def _steps(declared: Declared, hint: Hint) -> Iterator[Step]:
    if hint.build_packages:
        yield Step(install=hint.build_packages)
    first = [*declared.requirements, *hint.packages]
    for name in declared.requirement_files:
        first += ["-r", name]
    isolation = ("--no-build-isolation",) if hint.build_packages else ()
    if first:
        yield Step(install=(*isolation, *first))
    if declared.is_package:
        extras = f"[{','.join(declared.extras)}]" if declared.extras else ""
        yield Step(install=(*isolation, f".{extras}"))


def _unlocked(constraints: Iterable[str], locked: Iterable[str]) -> list[str]:
    """Return constraints on what no lock file has fixed."""
    fixed = {Requirement(one).name for one in locked}
    return [
        one
        for one in constraints
        if canonicalize_name(Requirement(one).name) not in fixed
    ]


def _hint_words(repository: str, hint: Hint) -> str:
    said = ", ".join(
        f"{key} {value}" for key, value in hint.model_dump(mode="json").items() if value
    )
    return f"hints.toml: {repository}: {said}"


def _version_variables(
    files: ProjectFiles, version: str
) -> tuple[dict[str, str], list[str]]:
    """Return what answers for git, where the version would come from it."""
    texts = [files.text(name) for name in ("pyproject.toml", "setup.py", "setup.cfg")]
    variables = {
        variable: version or _UNKNOWN_VERSION
        for tool, variable in _VERSION_TOOLS.items()
        if any(tool in text for text in texts)
    }
    if not variables:
        return {}, []
    source = "PKG-INFO says so" if version else "no file says which it is"
    return variables, [
        f"the version would come from git, and is {version or _UNKNOWN_VERSION}, as "
        f"{source} ({', '.join(sorted(variables))})"
    ]
