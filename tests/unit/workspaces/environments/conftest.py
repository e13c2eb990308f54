"""A small world of packages: an index that is a directory, projects that build alone.

No test here needs the network. What is installed are wheels that the fixtures write;
what builds the projects is a backend in their own tree (PEP 517), which needs nothing.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.processes import Completed
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import environments
from pytest_codegenie.workspaces.environments.installers import Installer
from pytest_codegenie.workspaces.environments.installers import find_uv
from pytest_codegenie.workspaces.environments.store import EnvironmentRecord
from pytest_codegenie.workspaces.host import run_setup


#: A project that brings its own build backend.
PROJECT = {
    "pyproject.toml": """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "demo-project"
version = "1.5"
dependencies = ["helper"]
optional-dependencies.test = ["checker"]
scripts.demo = "demo:main"
""",
    "backend.py": '''\
import base64, hashlib, os, tomllib, zipfile

LAYOUT = tomllib.load(open("pyproject.toml", "rb")).get("tool", {}).get("layout", {})
ROOT = LAYOUT.get("root", ".")
INFO = "demo_project-1.5.dist-info"
METADATA = """Metadata-Version: 2.1
Name: demo-project
Version: 1.5
Requires-Dist: helper
Provides-Extra: test
Requires-Dist: checker; extra == "test"
"""
FIXED = {
    INFO + "/METADATA": METADATA,
    INFO + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
    "Tag: py3-none-any\\n",
    INFO + "/entry_points.txt": "[console_scripts]\\ndemo = demo:main\\n",
}

def build_wheel(directory, config_settings=None, metadata_directory=None):
    files = dict(FIXED)
    for name in os.listdir(os.path.join(ROOT, "demo")):
        if name.endswith(".py"):
            files["demo/" + name] = open(os.path.join(ROOT, "demo", name)).read()
    files["demo/native.so"] = "compiled"
    with open("made-by-building.txt", "w") as file:
        file.write("made")
    return write(directory, files)

def build_editable(directory, config_settings=None, metadata_directory=None):
    path = os.path.abspath(ROOT)
    with open(os.path.join(ROOT, "demo", "native.so"), "w") as file:
        file.write("compiled")
    return write(directory, FIXED | {"__editable__.demo.pth": path + "\\n"})

def write(directory, files):
    record = ""
    name = "demo_project-1.5-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for path, text in files.items():
            digest = hashlib.sha256(text.encode()).digest()
            code = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            record += f"{path},sha256={code},{len(text)}\\n"
            wheel.writestr(path, text)
        wheel.writestr(INFO + "/RECORD", record + INFO + "/RECORD,,\\n")
    return name
''',
    "demo/__init__.py": (
        "def main():\n    import helper\n    print('first', helper.VERSION)\n"
    ),
}


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of wheels, the only index that pip and uv have."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    for name, version in (("helper", "1.0"), ("checker", "2.0"), ("pytest", "8.0")):
        write_wheel(directory, name, version)
    write_wheel(directory, "helper", "0.9")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


def write_wheel(directory: Path, name: str, version: str) -> None:
    """Write a wheel of one module that says its version."""
    info = f"{name}-{version}.dist-info"
    tag = "py3-none-any"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        ),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = f"{info}/RECORD,,\n"
    with zipfile.ZipFile(directory / f"{name}-{version}-{tag}.whl", "w") as wheel:
        for path, text in files.items():
            digest = hashlib.sha256(text.encode()).digest()
            code = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            record += f"{path},sha256={code},{len(text)}\n"
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", record)


@pytest.fixture
def make_tree(tmp_path: Path) -> Callable[..., Path]:
    """Write a tree: path to text."""
    made: list[Path] = []

    def make(files: Mapping[str, str]) -> Path:
        tree = tmp_path / f"tree-{len(made)}"
        made.append(tree)
        tree.mkdir()
        for name, text in files.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tree

    return make


@dataclass
class Provider:
    """Provides environments as the workspace ``host`` does, and counts the commands."""

    spec: WorkspaceSpec
    commands: list[str] = field(default_factory=list)

    def __call__(
        self, tree: Path, install: Any = "auto", python: str = "", repository: str = ""
    ) -> Environment:
        recipe = Recipe(tree, repository or "acme/demo", python, install)
        return environments.provide(recipe, self.spec, self._run)

    def _run(self, argv: Sequence[str], **options: Any) -> Completed:
        self.commands.append(" ".join(argv))
        return run_setup(argv, **options)

    @property
    def store(self) -> Path:
        return self.spec.cache / "environments"

    def record(self, environment: Environment) -> EnvironmentRecord:
        place = Path(environment.python).parents[2]
        return EnvironmentRecord.from_json((place / "recipe.json").read_bytes())


@pytest.fixture
def provide(tmp_path: Path, wheels: Path) -> Provider:
    directory = tmp_path / "workspace"
    directory.mkdir()
    return Provider(WorkspaceSpec(directory, tmp_path / "cache"))


@pytest.fixture(params=["uv", "pip"])
def installer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test once with uv and once without."""
    if request.param == "pip":
        monkeypatch.setattr(environments, "find_installer", lambda: Installer(None))
    elif find_uv() is None:
        pytest.skip("uv is not installed (pip install 'pytest-codegenie[uv]')")
    return str(request.param)
