"""tox and nox run a project's own automation: by JUnit report, or by exit code."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.evaluators.tox_nox import junit_id
from pytest_codegenie.models import CaseResult


TOX = f"""
[tox]
env_list = py
no_package = true

[testenv]
allowlist_externals = {sys.executable}
set_env = PYTHONPATH = {{tox_root}}
commands = {sys.executable} -m pytest -p no:cacheprovider {{posargs}} tests
"""
NOX = f"""
import nox


@nox.session
def tests(session):
    session.run(
        {sys.executable!r}, "-m", "pytest", "-p", "no:cacheprovider",
        *session.posargs, "tests", env={{"PYTHONPATH": "."}}, external=True,
    )
"""
COMMANDS = {
    "tox": [sys.executable, "-m", "tox", "run", "-e", "py"],
    "nox": [sys.executable, "-m", "nox", "--no-venv", "-s", "tests"],
}
FILES = {"tox": {"tox.ini": TOX}, "nox": {"noxfile.py": NOX}}
REPORT = ["--", "--junitxml={report}"]


@pytest.fixture(params=["tox", "nox"])
def tool(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install {name}")
    return name


def case(
    bench: Bench,
    tool: str,
    *,
    command: list[str],
    tests: str | None = None,
    configuration: dict[str, str] | None = None,
) -> None:
    text = tests or (
        'fail_to_pass = ["tests/test_thermometer.py::test_fahrenheit[100-212]"]\n'
        "pass_to_pass = [\n"
        '    "tests/test_thermometer.py::test_absolute_zero",\n'
        '    "tests.test_thermometer.test_fahrenheit[0-32]",\n'
        "]\n"
    )
    text = f"framework = {tool!r}\n{text}command = {json.dumps(command)}\n"
    files = FILES[tool] if configuration is None else configuration
    placed = {f"input/repo/{name}": data for name, data in files.items()}
    bench.case(files={"expected/tests.toml": text} | placed)


def codes(result: CaseResult) -> list[str]:
    return [mode.code for mode in result.score.failure_modes]


def statuses(result: CaseResult) -> dict[str, Any]:
    assert result.output is not None
    assert result.output.evaluation is not None, result.message
    evaluation = result.output.evaluation
    return {**evaluation.fail_to_pass_results, **evaluation.pass_to_pass_results}


@pytest.mark.parametrize(
    ("test", "written"),
    [
        ("tests/test_x.py::test_y", "tests.test_x.test_y"),
        (
            "tests/test_x.py::TestY::test_z[a::b]",
            "tests.test_x.TestY.test_z[a::b]",
        ),
        ("tests.test_x.test_y", "tests.test_x.test_y"),
    ],
)
def test_an_id_is_what_pytest_writes_into_a_report(test: str, written: str) -> None:
    assert junit_id(test) == written


def test_each_test_is_told_of_by_the_report(bench: Bench, tool: str) -> None:
    case(bench, tool, command=COMMANDS[tool] + REPORT)
    fixed, other = bench.run(), bench.run_shell("echo x > x")
    assert fixed.outcome == "passed", fixed.message
    assert codes(other) == ["not_resolved"], other.message
    assert [*statuses(other).values()] == ["failed", "passed", "failed"]


def test_the_exit_code_decides_where_no_test_is_listed(bench: Bench, tool: str) -> None:
    case(bench, tool, command=COMMANDS[tool], tests="fail_to_pass = []\n")
    fixed, other = bench.run_shell(FIX), bench.run_shell("echo x > x")
    assert (fixed.outcome, statuses(fixed)) == ("passed", {"command": "passed"})
    assert (codes(other), statuses(other)) == (
        ["not_resolved"],
        {"command": "failed"},
    )


SPOILED = {
    "tox": "sed -i 's/^commands.*/commands = true/' tox.ini",
    "nox": "echo > noxfile.py",
}


def test_its_configuration_is_put_back(bench: Bench, tool: str) -> None:
    case(bench, tool, command=COMMANDS[tool], tests="fail_to_pass = []\n")
    result = bench.run_shell(SPOILED[tool])
    assert (codes(result), statuses(result)) == (
        ["not_resolved"],
        {"command": "failed"},
    )


def test_tables_of_tox_in_pyproject_are_put_back(bench: Bench) -> None:
    pytest.importorskip("tox", reason="tox is not installed: pip install tox")
    table = "[tool.tox.env_run_base]\nskip_install = true\n"
    table += f'allowlist_externals = ["*"]\ncommands = [["{sys.executable}", '
    table += '"-c", "import sys; sys.exit(3)"]]\n'
    case(
        bench,
        "tox",
        command=COMMANDS["tox"],
        tests="fail_to_pass = []\n",
        configuration={"pyproject.toml": table},
    )
    result = bench.run_shell("sed -i s/exit.3/exit\\(0/ pyproject.toml")
    assert statuses(result) == {"command": "failed"}, result.message


UNREACHABLE = {
    "tox": {"tox.ini": "[testenv]\nskip_install = true\ndeps = ./no-such-package\n"},
    "nox": {
        "noxfile.py": "import nox\n@nox.session\ndef tests(session):\n"
        "    session.install('./no-such-package')\n"
    },
}


@pytest.mark.parametrize("listed", [True, False], ids=["tests listed", "none listed"])
def test_an_environment_that_cannot_be_made_is_no_fault_of_the_patch(
    bench: Bench, tool: str, listed: bool
) -> None:
    command = [word for word in COMMANDS[tool] if word != "--no-venv"]
    case(
        bench,
        tool,
        command=command + REPORT,
        tests=None if listed else "fail_to_pass = []\n",
        configuration=UNREACHABLE[tool],
    )
    result = bench.run_shell(FIX)
    assert (result.outcome, codes(result)) == ("error", ["evaluator.error"])
    assert "judging has no network" in result.message
