"""Environments that are really built, by uv and by pip, from wheels of our own."""

from __future__ import annotations

import dataclasses
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces.sandbox import SandboxWorkspace

from .conftest import PROJECT
from .conftest import Provider


MakeTree = Callable[..., Path]


def python(environment: Environment, tree: Path, code: str) -> str:
    """Run code as a workspace would: the tree's roots on the path."""
    paths = ":".join(str(tree / root) for root in environment.roots)
    return subprocess.run(
        [environment.python, "-c", code],
        cwd="/",
        env={"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def src_layout() -> dict[str, str]:
    files = {name.replace("demo/", "src/demo/"): text for name, text in PROJECT.items()}
    files["pyproject.toml"] += '\n[tool.layout]\nroot = "src"\n'
    return files


# -- auto --------------------------------------------------------------------------


def test_auto_installs_what_the_project_and_its_tests_need(
    provide: Provider, make_tree: MakeTree, installer: str
) -> None:
    tree = make_tree(PROJECT)
    environment = provide(tree)
    record = provide.record(environment)
    assert environment.own
    assert record.installer == installer
    assert (
        record.packages.items()
        >= {
            "checker": "2.0",
            "demo-project": "1.5",
            "helper": "1.0",
            "pytest": "8.0",
        }.items()
    )
    assert "pyproject.toml: the extra 'test' is for tests" in record.decisions
    assert "nothing asks for pytest: it is installed" in record.decisions
    log = (Path(environment.python).parents[2] / "build.log").read_text("utf-8")
    assert "install" in log


@pytest.mark.parametrize(("files", "root"), [(PROJECT, ""), (src_layout(), "src")])
def test_the_projects_code_comes_from_the_workspace(
    provide: Provider,
    make_tree: MakeTree,
    tmp_path: Path,
    files: dict[str, str],
    root: str,
) -> None:
    environment = provide(make_tree(files))
    workspace = tmp_path / "repo"
    copy_tree(make_tree(files), workspace)
    module = workspace / root / "demo" / "__init__.py"
    module.write_text(module.read_text("utf-8").replace("first", "second"), "utf-8")
    assert environment.roots == (root,)
    assert python(environment, workspace, "import demo; demo.main()") == "second 1.0"
    assert python(environment, workspace, "import demo; print(demo.__file__)") == str(
        module
    )
    code = "import importlib.metadata as m; print(m.version('demo-project'))"
    assert python(environment, workspace, code) == "1.5"
    script = Path(environment.python).with_name("demo")
    done = subprocess.run(
        [script],
        env={"PYTHONPATH": str(workspace / root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "second 1.0\n"


def test_nothing_in_the_environment_leads_to_the_copy_that_was_built_from(
    provide: Provider, make_tree: MakeTree, installer: str
) -> None:
    for install in ("auto", ("python -m pip install -e .",)):
        environment = provide(make_tree(PROJECT), install)
        place = Path(environment.python).parents[2]
        assert not (place / "tree").exists()
        found = [
            path
            for path in (place / "venv").rglob("*")
            if path.is_file() and str(place / "tree").encode() in path.read_bytes()
        ]
        assert found == []
        with pytest.raises(subprocess.CalledProcessError):
            python(environment, Path("/nowhere"), "import demo")


def test_what_installing_made_belongs_to_the_tree(
    provide: Provider, make_tree: MakeTree
) -> None:
    for install in ("auto", ("python -m pip install -e .",)):
        environment = provide(make_tree(PROJECT), install)
        assert environment.generated is not None
        generated = {
            path.relative_to(environment.generated).as_posix()
            for path in environment.generated.rglob("*")
            if path.is_file()
        }
        assert "demo/native.so" in generated
        assert generated <= {"demo/native.so", "made-by-building.txt"}
        assert not list(Path(environment.python).parents[1].rglob("native.so"))


def test_a_project_under_another_name_than_in_its_tree_is_refused(
    provide: Provider, make_tree: MakeTree
) -> None:
    backend = PROJECT["backend.py"].replace('"demo/" + name', '"other/" + name')
    backend = backend.replace('    files["demo/native.so"] = "compiled"\n', "")
    with pytest.raises(WorkspaceUnavailable, match="installs other, but has nothing"):
        provide(make_tree({**PROJECT, "backend.py": backend}))


def test_a_tree_that_is_no_package_still_gets_its_requirements(
    provide: Provider, make_tree: MakeTree
) -> None:
    environment = provide(
        make_tree({"app.py": "", "requirements.txt": "helper<1  # old\n"})
    )
    record = provide.record(environment)
    assert record.packages["helper"] == "0.9"
    assert environment.roots == ("",)
    assert any("the project is no package" in words for words in record.decisions)


def test_a_lock_file_fixes_versions(provide: Provider, make_tree: MakeTree) -> None:
    lock = '[[package]]\nname = "helper"\nversion = "0.9"\n'
    environment = provide(make_tree({**PROJECT, "poetry.lock": lock}))
    assert provide.record(environment).packages["helper"] == "0.9"


# -- commands ----------------------------------------------------------------------


def test_commands_run_in_order_in_a_copy_of_the_tree(
    provide: Provider, make_tree: MakeTree
) -> None:
    tree = make_tree({"word.txt": "helper\n"})
    environment = provide(
        tree, ("echo changed > word.txt", "pip install helper", "test -s word.txt")
    )
    assert (tree / "word.txt").read_text("utf-8") == "helper\n"
    assert provide.record(environment).packages["helper"] == "1.0"
    assert environment.roots == ("",)
    assert environment.generated is None


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="needs a Python that comes with setuptools"
)
def test_a_legacy_development_installation_keeps_its_metadata(
    provide: Provider, make_tree: MakeTree
) -> None:
    setup = (
        "from setuptools import setup\n"
        "setup(name='old', version='3', py_modules=['old'])\n"
    )
    tree = make_tree({"setup.py": setup, "old.py": "print('old')\n"})
    environment = provide(tree, ("python setup.py -q develop --no-deps",))
    code = "import old, importlib.metadata as m; print(m.version('old'))"
    assert python(environment, tree, code) == "old\n3"
    assert environment.roots == ("",)


# -- none, and other Pythons -------------------------------------------------------


def test_none_is_the_python_that_runs_us(
    provide: Provider, make_tree: MakeTree
) -> None:
    environment = provide(make_tree({}), "none")
    assert (environment.python, environment.own) == (sys.executable, False)
    assert provide.commands == []


def test_none_with_another_python_has_pytest_alone(
    provide: Provider, make_tree: MakeTree
) -> None:
    other = another_python()
    environment = provide(make_tree(PROJECT), "none", other)
    packages = provide.record(environment).packages.keys()
    assert packages <= {"pip", "pytest", "setuptools"}
    assert "pytest" in packages
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    assert python(environment, Path("/"), code) == other


def another_python() -> str:
    for minor in range(9, 15):
        version = f"3.{minor}"
        if sys.version_info[1] != minor and shutil.which(f"python{version}"):
            return version
    pytest.skip("needs a second Python on PATH (uv python install, pyenv, apt-get)")


# -- what comes out is shared ------------------------------------------------------


def test_an_environment_is_read_only_and_compiled(
    provide: Provider, make_tree: MakeTree
) -> None:
    environment = provide(make_tree(PROJECT))
    venv = Path(environment.python).parents[1]
    for path in venv.rglob("*"):
        if not path.is_symlink():
            assert not stat.S_IMODE(path.stat().st_mode) & 0o222, path
    assert list(venv.rglob("__pycache__/helper.*.pyc"))


def test_the_sandbox_builds_the_same(
    wheels: Path, make_tree: MakeTree, tmp_path: Path, provide: Provider
) -> None:
    sandbox = SandboxWorkspace()
    if sandbox.probe():
        pytest.skip(sandbox.probe())
    sandbox.configure(provide.spec)
    environment = sandbox.provide(Recipe(make_tree(PROJECT), "a/b", install="auto"))
    assert provide.record(environment).packages["demo-project"] == "1.5"
    sandbox.destroy()


# -- failures ----------------------------------------------------------------------


def test_a_command_that_fails_is_shown_with_its_output_and_can_be_repeated(
    provide: Provider, make_tree: MakeTree
) -> None:
    command = "seq 1 30; echo $VIRTUAL_ENV > where; false"
    with pytest.raises(WorkspaceUnavailable) as caught:
        provide(make_tree({}), (command,))
    words = str(caught.value).splitlines()
    assert words[0] == (
        f"the environment cannot be built: `{command}` ended with exit code 1"
    )
    assert words[1:21] == [f"  {number}" for number in range(11, 31)]
    log = Path(words[-2].removeprefix("all of its output: "))
    assert "\n30\n" in log.read_text("utf-8")
    line = words[-1].removeprefix("to repeat it: ")
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, b"30")


def test_a_failed_build_is_tried_again(provide: Provider, make_tree: MakeTree) -> None:
    switch = provide.spec.directory / "switch"
    command = f"test -e {switch}"
    for _ in range(2):
        with pytest.raises(WorkspaceUnavailable):
            provide(make_tree({}), (command,))
    switch.touch()
    assert provide(make_tree({}), (command,)).own


def test_a_command_that_hangs_is_ended(provide: Provider, make_tree: MakeTree) -> None:
    provide.spec = dataclasses.replace(provide.spec, setup_seconds=0.01)
    with pytest.raises(WorkspaceUnavailable, match=r"within 0\.01 seconds.*'setup_tim"):
        provide(make_tree({}), ("sleep 1000",))


def test_a_package_that_does_not_exist_is_named(
    provide: Provider, make_tree: MakeTree, installer: str
) -> None:
    with pytest.raises(WorkspaceUnavailable, match="there-is-none"):
        provide(make_tree({"requirements.txt": "there-is-none\n"}))


def test_no_secret_of_the_users_is_in_a_message(
    provide: Provider, make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://me:hush@localhost:1/simple")
    monkeypatch.setenv("SOME_TOKEN", "hush")
    with pytest.raises(WorkspaceUnavailable) as caught:
        provide(make_tree({}), ("env | grep TOKEN",))
    assert "hush" not in str(caught.value)


def test_commands_get_nothing_of_the_users_environment(
    provide: Provider, make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush")
    monkeypatch.setenv("PIP_TARGET", str(provide.spec.directory))
    monkeypatch.setenv("https_proxy", "http://localhost:1")
    command = 'test -z "$SOME_TOKEN" -a -z "$PIP_TARGET" -a -n "$https_proxy"'
    assert provide(make_tree({}), (command,)).own


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to what is read-only")
def test_a_read_only_cache_is_named(
    provide: Provider, make_tree: MakeTree, tmp_path: Path
) -> None:
    cache = tmp_path / "read-only"
    cache.mkdir(0o555)
    provide.spec = dataclasses.replace(provide.spec, cache=cache)
    with pytest.raises(WorkspaceUnavailable, match=r"cannot be kept in .*read-only"):
        provide(make_tree({}), ("true",))


def test_a_cache_that_is_a_file_is_named(
    provide: Provider, make_tree: MakeTree, tmp_path: Path
) -> None:
    cache = tmp_path / "file"
    cache.touch()
    provide.spec = dataclasses.replace(provide.spec, cache=cache)
    with pytest.raises(WorkspaceUnavailable, match=r"cannot be kept in .*file"):
        provide(make_tree({}), ("true",))
