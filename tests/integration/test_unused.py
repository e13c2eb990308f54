"""Being installed costs nothing where nobody asks for cases."""

from __future__ import annotations

import pytest
from integration.sessions import Project


#: What is imported is what these look at.
pytestmark = pytest.mark.usefixtures("cold_starts")

LIST_OUR_MODULES = """
import sys
def pytest_unconfigure():
    ours = sorted(m for m in sys.modules if m.startswith("pytest_codegenie"))
    print("\\nours:", *ours)
    heavy = {"blake3", "pydantic", "structlog", "yaml", "tomli_w", "scipy", "rich"}
    heavy |= {"pydantic_settings"}
    print("heavy:", *sorted(heavy & sys.modules.keys()))
"""


@pytest.fixture
def project(project: Project) -> Project:
    project.case("first")
    project.path.joinpath("conftest.py").write_text(LIST_OUR_MODULES)
    return project


def test_a_run_without_the_option_imports_next_to_nothing_of_ours(
    project: Project,
) -> None:
    project.path.joinpath("test_ordinary.py").write_text("def test_it(): pass\n")
    result = project.pytester.runpytest_subprocess("-s", "test_ordinary.py")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "ours: pytest_codegenie pytest_codegenie.hookspecs pytest_codegenie.plugin",
            "heavy:",
        ]
    )
    result.stdout.no_fnmatch_line("codegenie: *")


def test_ordinary_tests_are_collected_as_ever_and_cases_are_not(
    project: Project,
) -> None:
    project.path.joinpath("test_ordinary.py").write_text("def test_it(): pass\n")
    package = project.path / "package"
    package.mkdir()
    for name in ("__init__.py", "conftest.py"):
        package.joinpath(name).write_text("")
    package.joinpath("test_more.py").write_text(
        "import pytest\n@pytest.mark.parametrize('x', 'ab')\ndef test_x(x): pass\n"
    )
    result = project.pytester.runpytest_subprocess("--collect-only", "-q")
    with_plugin = [line for line in result.outlines if "::" in line]
    result = project.pytester.runpytest_subprocess(
        "--collect-only", "-q", "-p", "no:codegenie", "--ignore=bench"
    )
    without = [line for line in result.outlines if "::" in line]
    assert set(without) == {
        "test_ordinary.py::test_it",
        "package/test_more.py::test_x[a]",
        "package/test_more.py::test_x[b]",
    }
    bench = [line for line in with_plugin if line.startswith("bench/")]
    assert all(line.startswith("bench/demo-task/tests/") for line in bench)
    assert bench
    assert [line for line in with_plugin if line not in bench] == without


def test_the_plugin_can_be_switched_off(project: Project) -> None:
    result = project.pytester.runpytest_subprocess("-p", "no:codegenie", "--codegenie")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unrecognized arguments: --codegenie*"])


def test_help_and_markers_say_what_there_is(project: Project) -> None:
    result = project.pytester.runpytest_inprocess("--help")
    result.stdout.fnmatch_lines(["evaluation of coding agents:", "*--codegenie *"])
    result = project.run("--markers")
    result.stdout.fnmatch_lines(
        ["@pytest.mark.codegenie: *", "@pytest.mark.held_out: a bench case *"]
    )
    assert not project.run_directories
