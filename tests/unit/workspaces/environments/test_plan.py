"""What is decided from a project's files, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces.environments.hints import find_hint
from pytest_codegenie.workspaces.environments.hints import read_hints
from pytest_codegenie.workspaces.environments.plan import Plan
from pytest_codegenie.workspaces.environments.plan import Step
from pytest_codegenie.workspaces.environments.plan import make_plan


MakePlan = Callable[..., Plan]


@pytest.fixture
def plan(make_tree: Callable[..., Path]) -> MakePlan:
    def make(files: dict[str, str], install: Any = "auto", name: str = "a/b") -> Plan:
        return make_plan(Recipe(make_tree(files), name, install=install))

    return make


def said(plan: Plan) -> str:
    return "\n".join(plan.decisions)


BUILDS = '[build-system]\nrequires = ["setuptools"]\n'


def test_extras_for_tests_are_installed_with_the_project(plan: MakePlan) -> None:
    made = plan(
        {
            "pyproject.toml": BUILDS
            + '[project]\nname = "x"\n[project.optional-dependencies]\n'
            'Testing = ["a"]\ntests = ["b"]\ndocs = ["c"]\ndev = ["d"]\n'
        }
    )
    assert made.steps == (Step(install=(".[Testing,tests]",)),)
    assert "the extra 'tests' is for tests" in said(made)


def test_extras_for_development_count_where_there_are_none_for_tests(
    plan: MakePlan,
) -> None:
    setup = "[metadata]\nname = x\n[options.extras_require]\ndev =\n  a\ndocs =\n  b\n"
    assert plan({"setup.cfg": setup}).steps == (Step(install=(".[dev]",)),)


def test_dependency_groups_are_read_with_those_they_include(plan: MakePlan) -> None:
    groups = (
        '[dependency-groups]\nbase = ["a>1"]\n'
        'test = [{include-group = "base"}, "b; python_version > \'3\'"]\ndocs = ["c"]\n'
    )
    made = plan({"pyproject.toml": groups})
    assert made.steps == (Step(install=("a>1", 'b; python_version > "3"')),)


def test_a_project_without_a_build_system_gets_its_dependencies_alone(
    plan: MakePlan,
) -> None:
    project = (
        '[project]\nname = "x"\ndependencies = ["a"]\n'
        '[project.optional-dependencies]\ntest = ["b"]\n'
    )
    made = plan({"pyproject.toml": project})
    assert made.steps == (Step(install=("a", "b")),)
    assert "the project is no package" in said(made)


def test_poetrys_groups_are_read_by_name(plan: MakePlan) -> None:
    poetry = (
        '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.9"\n'
        '[tool.poetry.group.test.dependencies]\na = "^1.2"\n'
        '[tool.poetry.dev-dependencies]\nb = "*"\n'
    )
    lock = '[[package]]\nname = "a"\nversion = "1.3"\n'
    made = plan({"pyproject.toml": BUILDS + poetry, "poetry.lock": lock})
    assert made.steps == (Step(install=("a",)), Step(install=(".",)))
    assert made.constraints == ("a==1.3",)
    assert "Poetry's ranges are not read" in said(made)


def test_only_pip_reads_setup_py(plan: MakePlan) -> None:
    made = plan({"setup.py": "extras_require = {}; raise SystemExit('executed')"})
    assert made.steps == (Step(install=(".",)),)
    assert made.asks_for_extras
    assert "setup.py: it is not read, but run by pip" in said(made)


@pytest.mark.parametrize(
    "name",
    [
        "requirements-test.txt",
        "requirements_tests.txt",
        "requirements/testing.txt",
        "test-requirements.txt",
        "tests/requirements.txt",
    ],
)
def test_requirement_files_for_tests_are_found(plan: MakePlan, name: str) -> None:
    made = plan({name: "a\n", "requirements.txt": "b\n", "requirements-dev.txt": "c\n"})
    assert made.steps == (Step(install=("-r", "requirements.txt", "-r", name)),)
    assert {name, "requirements.txt"} <= made.files.keys()


def test_files_that_a_requirement_file_refers_to_decide_too(plan: MakePlan) -> None:
    files = {
        "requirements/test.txt": "-r base.txt\n--constraint=../c.txt\n-r https://x/y\n",
        "requirements/base.txt": "a \\\n  >= 1  # why\n",
        "c.txt": "a<2\n",
    }
    assert plan(files).files.keys() >= files.keys()
    changed = plan(files | {"c.txt": "a<3\n"})
    assert changed.fingerprint() != plan(files).fingerprint()


def test_tox_says_what_tests_need(plan: MakePlan) -> None:
    tox = (
        "[testenv]\nextras = testing\ndependency_groups =\n  checks\ndeps =\n"
        "  a>=1 # why\n  -r{toxinidir}/more.txt\n  py39: b\n  {env:C}\n"
    )
    groups = '[dependency-groups]\nchecks = ["d"]\n'
    files = {
        "tox.ini": tox,
        "pyproject.toml": BUILDS + groups,
        "more.txt": "e\n",
    }
    made = plan(files)
    assert made.steps == (
        Step(install=("a>=1", "d", "-r", "more.txt")),
        Step(install=(".[testing]",)),
    )
    assert "tox.ini: testenv.deps: not read: py39: b; {env:C}" in said(made)


@pytest.mark.parametrize(
    ("name", "text", "constraints"),
    [
        (
            "uv.lock",
            '[[package]]\nname = "a"\nversion = "1"\nsource = {registry = "x"}\n'
            '[[package]]\nname = "me"\nversion = "2"\nsource = {editable = "."}\n',
            ("a==1",),
        ),
        (
            "poetry.lock",
            '[[package]]\nname = "A_b"\nversion = "1"\n'
            '[[package]]\nname = "c"\nversion = "2"\n[package.source]\ntype = "git"\n',
            ("a-b==1",),
        ),
        ("pdm.lock", '[[package]]\nname = "a"\nversion = "1.0"\n', ("a==1.0",)),
        ("pylock.toml", '[[packages]]\nname = "a"\nversion = "1.0"\n', ("a==1.0",)),
        (
            "Pipfile.lock",
            '{"default": {"a": {"version": "==1"}}, "develop": {"b": {"git": "x"}}}',
            ("a==1",),
        ),
    ],
)
def test_versions_of_lock_files_are_constraints(
    plan: MakePlan, name: str, text: str, constraints: tuple[str, ...]
) -> None:
    made = plan({name: text})
    assert made.constraints == constraints
    assert f"{name}: 1 versions hold as constraints" in said(made)


def test_a_lock_file_with_two_versions_of_a_package_leaves_it_free(
    plan: MakePlan,
) -> None:
    lock = "".join(
        f'[[package]]\nname = "a"\nversion = "{number}"\nsource = {{registry = ""}}\n'
        for number in (1, 2)
    )
    made = plan({"uv.lock": lock})
    assert made.constraints == ()
    assert "with several versions, so free: a" in said(made)


# -- versions and hints ------------------------------------------------------------


def test_a_version_that_would_come_from_git_comes_from_pkg_info(plan: MakePlan) -> None:
    scm = {"pyproject.toml": '[build-system]\nrequires = ["setuptools_scm"]\n'}
    unknown = plan(scm)
    assert unknown.build_variables == {"SETUPTOOLS_SCM_PRETEND_VERSION": "9999.0"}
    known = plan({**scm, "PKG-INFO": "Name: x\nVersion: 1.2.3\n\nVersion: 5\n"})
    assert known.build_variables == {"SETUPTOOLS_SCM_PRETEND_VERSION": "1.2.3"}
    assert "the version would come from git, and is 1.2.3" in said(known)


def test_hints_hold_for_the_versions_they_are_about(plan: MakePlan) -> None:
    files = {"setup.py": "", "PKG-INFO": "Version: 2.2.3\n"}
    made = plan(files, name="pallets/flask")
    assert "werkzeug<2.3" in made.constraints
    assert "hints.toml: pallets/flask" in said(made)
    newer = plan(files | {"PKG-INFO": "Version: 3.0\n"}, name="pallets/flask")
    assert newer.constraints == ()


def test_every_hint_can_be_used(plan: MakePlan) -> None:
    for name, hints in read_hints().items():
        assert name == name.lower()
        for hint in hints:
            assert hint.constraints or hint.packages or hint.build_packages
    assert find_hint("nobody/knows", "1") is None
    assert find_hint("pallets/flask", "") is None


def test_packages_to_build_with_come_first(plan: MakePlan) -> None:
    files = {"setup.py": "", "PKG-INFO": "Version: 2.27.0\n"}
    made = plan(files, name="psf/requests")
    assert made.python == "3.9"
    assert made.steps[0] == Step(install=("setuptools<72", "wheel"))
    assert all("--no-build-isolation" in step.install for step in made.steps[1:])


# -- commands ----------------------------------------------------------------------


def test_whatever_commands_read_decides(plan: MakePlan) -> None:
    commands = ("pip install -r ci/deps.txt", "pip install -e .")
    files = {"ci/deps.txt": "a\n", "setup.py": "x", "other.txt": "y"}
    made = plan(files, commands)
    assert [step.shell for step in made.steps] == list(commands)
    assert made.files.keys() == {"ci/deps.txt", "setup.py"}


@pytest.mark.parametrize("name", ["x/fast.pyx", "src/lib.rs", "Cargo.toml", "a.c"])
def test_native_sources_decide(plan: MakePlan, name: str) -> None:
    one = plan({"setup.py": "", name: "1"}).fingerprint()
    assert one != plan({"setup.py": "", name: "2"}).fingerprint()
    assert one == plan({"setup.py": "", name: "1", "x/plain.py": "2"}).fingerprint()


def test_the_version_in_a_module_decides_and_its_other_lines_do_not(
    plan: MakePlan,
) -> None:
    module = "__version__ = '1'\n"
    one = plan({"setup.py": "", "src/x/__init__.py": module}).fingerprint()
    two = plan({"setup.py": "", "src/x/__init__.py": f"{module}y = 1\n"}).fingerprint()
    three = plan({"setup.py": "", "src/x/__init__.py": "__version__ = '2'\n"})
    assert one == two
    assert one != three.fingerprint()


# -- broken files ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"pyproject.toml": "[project\n"}, "pyproject.toml: not TOML: .*line 1"),
        ({"setup.cfg": "x = 1\n"}, "setup.cfg: cannot be read: .*section"),
        ({"tox.ini": "[a]\n[a]\n"}, "tox.ini: cannot be read: .*already exists"),
        ({"Pipfile.lock": "{"}, "Pipfile.lock: cannot be read"),
        ({"requirements.txt": "-r requirements.txt\n"}, "refer to each other"),
        (
            {"requirements.txt": "-r a.txt", "a.txt": "-r requirements.txt"},
            r"requirements\.txt -> a\.txt -> requirements\.txt",
        ),
        ({"requirements.txt": "-r a.txt"}, "'a.txt' is not in the repository"),
        ({"requirements.txt": "-r ../a.txt"}, r"'\.\./a\.txt' is not in the repo"),
        (
            {"pyproject.toml": '[dependency-groups]\ntest = [{include-group = "x"}]'},
            "dependency-groups",
        ),
        (
            {"pyproject.toml": '[dependency-groups]\ntest = ["no good !"]'},
            "dependency-groups",
        ),
    ],
)
def test_a_broken_file_is_named(
    plan: MakePlan, files: dict[str, str], words: str
) -> None:
    with pytest.raises(WorkspaceUnavailable, match=words):
        plan(files)


def test_a_file_that_leads_out_of_the_tree_is_refused(
    make_tree: Callable[..., Path], tmp_path: Path
) -> None:
    tree = make_tree({})
    (tmp_path / "outside").write_text("helper\n", "utf-8")
    (tree / "requirements.txt").symlink_to("../outside")
    with pytest.raises(WorkspaceUnavailable, match="leads out of the repository"):
        make_plan(Recipe(tree, "a/b", install="auto"))


def test_a_broken_file_is_for_the_commands_to_say(plan: MakePlan) -> None:
    assert plan({"pyproject.toml": "[project\n"}, ("true",)).steps
