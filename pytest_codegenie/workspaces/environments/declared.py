"""What a project says that it needs: ``pyproject.toml``, ``setup.cfg``, ``tox.ini``.

Nothing of the project is executed here. What only ``setup.py`` knows comes out when
pip builds the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from packaging.dependency_groups import DependencyGroupResolver
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.project_files import ProjectFiles
from pytest_codegenie.workspaces.environments.requirement_files import (
    read_requirement_file,
)
from pytest_codegenie.workspaces.environments.requirement_files import requirement_lines


#: How people call what tests need. Where none of the first line is there, the second
#: counts, as that often brings linters and documentation tools too.
TEST_NAMES = ("test", "tests", "testing")
DEVELOPMENT_NAMES = ("dev", "develop", "development")
_PATTERNS = (
    "requirements-{}.txt",
    "requirements_{}.txt",
    "requirements/{}.txt",
    "requirements/requirements-{}.txt",
    "{}-requirements.txt",
    "{}_requirements.txt",
    "{}/requirements.txt",
)


@dataclass(slots=True)
class Declared:
    """What was found, in the order in which it was."""

    #: The project's name and version; "" where no file says them.
    name: str = ""
    version: str = ""
    #: It can be built and installed.
    is_package: bool = False
    #: Some of its extras are known only once it is built.
    asks_for_extras: bool = False
    requirements: list[str] = field(default_factory=list)
    requirement_files: list[str] = field(default_factory=list)
    #: One of the requirement files installs the project itself.
    installs_project: bool = False
    extras: list[str] = field(default_factory=list)
    #: Sentences: what was read, what was decided.
    decisions: list[str] = field(default_factory=list)


def read_declared(files: ProjectFiles) -> Declared:
    """Read a project's files.

    Raises:
        WorkspaceUnavailable: One is broken.
    """
    found = Declared()
    _read_pyproject(files, found)
    _read_setup(files, found)
    _read_tox(files, found)
    _read_requirement_files(files, found)
    if not found.is_package:
        found.decisions.append(
            "the project is no package (no build system in pyproject.toml, no setup.py "
            "or setup.cfg): nothing of it is installed"
        )
    if not found.version:
        found.version = _header(files.text("PKG-INFO"), "Version")
    found.name = found.name or _header(files.text("PKG-INFO"), "Name")
    return found


def for_tests(names: Iterable[str]) -> list[str]:
    """Return those of some names that stand for what tests need, in their order."""
    known = list(names)
    for wanted in (TEST_NAMES, DEVELOPMENT_NAMES):
        chosen = [name for name in known if canonicalize_name(name) in wanted]
        if chosen:
            return chosen
    return []


def _read_pyproject(files: ProjectFiles, found: Declared) -> None:
    table = files.toml("pyproject.toml")
    project, tool = _table(table, "project"), _table(table, "tool")
    found.name, found.version = _word(project, "name"), _word(project, "version")
    found.is_package = "build-system" in table
    found.asks_for_extras = "optional-dependencies" in project.get("dynamic", ())
    if _table(tool, "uv").get("package") is False:
        found.is_package = False
    _take_extras(found, "pyproject.toml", _table(project, "optional-dependencies"))
    _take_groups(found, table, for_tests(_table(table, "dependency-groups")))
    poetry = _table(tool, "poetry")
    if poetry:
        _read_poetry(poetry, found)
    for name in for_tests(_table(_table(tool, "pdm"), "dev-dependencies")):
        _take_requirements(
            found,
            f"pyproject.toml: tool.pdm.dev-dependencies.{name}",
            tool["pdm"]["dev-dependencies"][name],
        )
    if project and not found.is_package:
        where = "pyproject.toml: project.dependencies"
        _take_requirements(found, where, project.get("dependencies", []))
        for name in found.extras:
            where = f"pyproject.toml: project.optional-dependencies.{name}"
            extra = project["optional-dependencies"][name]
            _take_requirements(found, where, extra)


def _read_poetry(poetry: Mapping[str, Any], found: Declared) -> None:
    """Take Poetry's own tables; they name versions in Poetry's own way."""
    found.name = found.name or _word(poetry, "name")
    found.version = found.version or _word(poetry, "version")
    if poetry.get("package-mode") is False:
        found.is_package = False
    _take_extras(found, "pyproject.toml: tool.poetry", _table(poetry, "extras"))
    groups = {
        name: _table(group, "dependencies")
        for name, group in _table(poetry, "group").items()
    }
    groups["dev"] = _table(poetry, "dev-dependencies") | groups.get("dev", {})
    chosen = {f"group {name}": groups[name] for name in for_tests(groups)}
    if not found.is_package:
        chosen["dependencies"] = _table(poetry, "dependencies")
    for name, table in chosen.items():
        names = [key for key in table if key != "python"]
        if names:
            found.requirements += names
            found.decisions.append(
                f"pyproject.toml: tool.poetry: {name}: {', '.join(names)}; which "
                "version is for a lock file to say, as Poetry's ranges are not read"
            )


def _take_groups(
    found: Declared, table: Mapping[str, Any], names: Sequence[str]
) -> None:
    """Take PEP 735 dependency groups, with those that they include."""
    groups = _table(table, "dependency-groups")
    try:
        resolver = DependencyGroupResolver(groups)
        for name in names:
            wanted = [str(one) for one in resolver.resolve(name)]
            _take_requirements(
                found, f"pyproject.toml: dependency-groups.{name}", wanted
            )
    except (ValueError, LookupError, ExceptionGroup) as exc:
        raise WorkspaceUnavailable(f"pyproject.toml: dependency-groups: {exc}") from exc


def _read_setup(files: ProjectFiles, found: Declared) -> None:
    """Take what ``setup.cfg`` says; ``setup.py`` is for pip."""
    if files.has("setup.cfg"):
        parser = files.ini("setup.cfg")
        if parser.has_section("metadata"):
            found.is_package = True
            found.name = found.name or parser.get("metadata", "name", fallback="")
            version = parser.get("metadata", "version", fallback="")
            if not version.startswith(("attr:", "file:")):
                found.version = found.version or version
        if parser.has_section("options.extras_require"):
            _take_extras(found, "setup.cfg", dict(parser["options.extras_require"]))
    if files.has("setup.py"):
        found.is_package = True
        text = files.text("setup.py")
        found.asks_for_extras |= "extras_require" in text
        found.decisions.append(
            "setup.py: it is not read, but run by pip, which then knows what it says"
        )


def _read_tox(files: ProjectFiles, found: Declared) -> None:
    """Take what tox installs into its plain environment."""
    parser = files.ini("tox.ini")
    if not parser.has_section("testenv"):
        return
    section = parser["testenv"]
    wanted, left = [], []
    deps = section.get("deps", "").replace("{toxinidir}/", "")
    for line in requirement_lines(deps):
        if line.startswith("-r"):
            name = line.removeprefix("-r").strip()
            if files.has(name):
                found.requirement_files.append(name)
            else:
                left.append(line)
        elif line and _is_requirement(line):
            wanted.append(line)
        elif line:
            left.append(line)
    if wanted:
        _take_requirements(found, "tox.ini: testenv.deps", wanted)
    if left:
        found.decisions.append(f"tox.ini: testenv.deps: not read: {'; '.join(left)}")
    for name in re.split(r"[\s,]+", section.get("extras", "").strip()):
        if name and not re.search(r"[{:]", name) and name not in found.extras:
            found.extras.append(name)
            found.decisions.append(f"tox.ini: testenv.extras: {name}")
    groups = section.get("dependency_groups", "").split()
    _take_groups(found, files.toml("pyproject.toml"), groups)


def _read_requirement_files(files: ProjectFiles, found: Declared) -> None:
    names = ["requirements.txt"] if files.has("requirements.txt") else []
    for kind in (TEST_NAMES, DEVELOPMENT_NAMES):
        candidates = [pattern.format(name) for pattern in _PATTERNS for name in kind]
        chosen = [name for name in candidates if files.has(name)]
        if chosen:
            names += chosen
            break
    names = list(dict.fromkeys([*names, *found.requirement_files]))
    found.requirement_files = names
    for name in names:
        found.installs_project |= read_requirement_file(files, name).installs_project
        found.decisions.append(f"{name}: installed as it is")


def _take_extras(found: Declared, where: str, extras: Mapping[str, Any]) -> None:
    chosen = [name for name in for_tests(extras) if name not in found.extras]
    found.extras += chosen
    for name in chosen:
        found.decisions.append(f"{where}: the extra {name!r} is for tests")


def _take_requirements(found: Declared, where: str, wanted: Sequence[Any]) -> None:
    for one in wanted:
        if not isinstance(one, str) or not _is_requirement(one):
            raise WorkspaceUnavailable(f"{where}: {one!r} is no requirement")
    found.requirements += [one for one in wanted if one not in found.requirements]
    found.decisions.append(f"{where}: {', '.join(wanted) or 'nothing'}")


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {}) if isinstance(table, Mapping) else {}
    return value if isinstance(value, dict) else {}


def _word(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    return value if isinstance(value, str) else ""


def _header(text: str, name: str) -> str:
    found = re.search(rf"(?m)^{name}:[ \t]*(\S+)", text.partition("\n\n")[0])
    return found[1] if found else ""
