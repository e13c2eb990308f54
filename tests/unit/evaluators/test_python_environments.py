"""Judging in environments that were made for a case: old pytests, plugins of theirs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.models import CaseResult


TESTS = "expected/tests.toml"
FILE = "expected/overlay/tests/test_thermometer.py"


class EnvironmentBench:
    """A bench with one case, whose tests run in an environment of its own."""

    def __init__(self, bench: Bench, cache: Path) -> None:
        self.bench = bench
        self.cache = cache

    def case(
        self,
        *commands: str,
        tests: Sequence[str] = (),
        python: str = "",
        files: dict[str, str] | None = None,
    ) -> None:
        """Make the case; without ``tests``, with the template's own."""
        task = '[repository]\nname = "acme/thermometer"\nsource = "repo"\n'
        task += (
            f"[environment]\npython = {python!r}\ninstall = {json.dumps(commands)}\n"
        )
        asked = {TESTS: f"fail_to_pass = {json.dumps(tests)}\n"} if tests else {}
        self.bench.case(files={"input/task.toml": task} | asked | (files or {}))

    def run(self, script: str = FIX) -> CaseResult:
        """Run it with an agent that is a shell script."""
        return self.bench.run_shell(script, cache_directory=self.cache)


@pytest.fixture
def made(bench: Bench, environments: Path) -> EnvironmentBench:
    return EnvironmentBench(bench, environments)


def ids(*names: str) -> list[str]:
    return [f"tests/test_thermometer.py::{name}" for name in names]


def statuses(result: CaseResult) -> dict[str, str]:
    assert result.output is not None
    assert result.output.evaluation is not None, result.message
    results = result.output.evaluation.fail_to_pass_results
    return {test.partition("::")[2]: status for test, status in results.items()}


def codes(result: CaseResult) -> list[str]:
    return [mode.code for mode in result.score.failure_modes]


def assert_tampered(result: CaseResult) -> None:
    assert codes(result) == ["tests.tampered"], result.message


# -- versions of pytest ----------------------------------------------------------


#: Version to the Pythons that it runs on.
EVERY_PYTEST = {
    "4.6": "3.6 3.7 3.8 3.9",
    "5.4": "3.6 3.7 3.8 3.9",
    "6.2": "3.6 3.7 3.8 3.9 3.10 3.11",
    "7.0": "3.6",
    "7.4": "3.7 3.8 3.9 3.10 3.11 3.12 3.13",
    "8.3": "3.8",
    "8.4": "3.9 3.10 3.11 3.12 3.13",
    "9.0": "3.10 3.11 3.12 3.13",
}
EVERY_PAIR = [
    (version, python)
    for version, pythons in EVERY_PYTEST.items()
    for python in pythons.split()
]
#: On the Python that runs the tests, and on the newest that pytest 4.6 knows.
PAIRS = [("4.6", "3.9"), ("6.2", "")]
if os.environ.get("CODEGENIE_EVERY_PYTEST"):
    PAIRS = EVERY_PAIR


def is_installed(python: str) -> bool:
    places = Path.home() / ".pyenv" / "versions"
    return bool(shutil.which(f"python{python}") or [*places.glob(f"{python}.*")])


@pytest.fixture(params=PAIRS, ids="-".join)
def versioned(request: pytest.FixtureRequest, made: EnvironmentBench) -> Any:
    """Return what makes a case whose environment has that pytest."""
    version, python = request.param
    if python and not is_installed(python):
        pytest.skip(f"there is no python{python}: put one on PATH, or into pyenv")

    def case(**options: Any) -> EnvironmentBench:
        made.case(f"pip install pytest=={version}.*", python=python, **options)
        return made

    return case


EVERY_STATUS = """
import pytest
from thermometer import to_fahrenheit


def test_passed():
    assert to_fahrenheit(100) == 212


def test_failed():
    assert to_fahrenheit(0) == -1


@pytest.fixture
def broken():
    raise OSError("no such device")


@pytest.fixture
def broken_later():
    yield
    raise OSError("gone meanwhile")


def test_set_up(broken):
    pass


def test_torn_down(broken_later):
    pass


@pytest.mark.skip(reason="not here")
def test_skipped():
    pass


@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False


@pytest.mark.xfail(reason="known")
def test_unexpected_pass():
    pass


@pytest.mark.xfail(strict=True)
def test_strict():
    pass


class TestAll:
    @pytest.fixture(scope="class", autouse=True)
    def once(self, request):
        assert not hasattr(request.cls, "made")
        request.cls.made = True

    @pytest.mark.parametrize("text", ["a::b", "a b", "\\u00e9"])
    def test_text(self, text):
        pass
"""


def test_each_version_of_pytest_tells_of_each_status(versioned: Any) -> None:
    expected = {
        "test_passed": "passed",
        "test_failed": "failed",
        "test_set_up": "error",
        "test_torn_down": "error",
        "test_skipped": "skipped",
        "test_expected_failure": "passed",
        "test_unexpected_pass": "passed",
        "test_strict": "failed",
        "TestAll::test_text[a::b]": "passed",
        "TestAll::test_text[a b]": "passed",
        "TestAll::test_text[a": "passed",
        "TestAll::test_text[\\xe9]": "passed",
        "test_that_is_not_there": "missing",
    }
    case = versioned(tests=ids(*expected), files={FILE: EVERY_STATUS})
    result = case.run()
    assert codes(result) == ["not_resolved"], result.message
    assert statuses(result) == expected


def test_each_version_of_pytest_passes_a_fix_and_no_other(versioned: Any) -> None:
    case = versioned()
    fixed, other = case.run(), case.run("echo x > x")
    assert fixed.outcome == "passed", fixed.message
    assert (other.outcome, codes(other)) == ("failed", ["not_resolved"])


ATTACKS = {
    "report": """
import _pytest.reports
original = _pytest.reports.TestReport.from_item_and_call.__func__
def lie(cls, item, call):
    if "must_fail" not in item.obj.__code__.co_name:
        call.excinfo = None
    return original(cls, item, call)
_pytest.reports.TestReport.from_item_and_call = classmethod(lie)
""",
    "module": """
import sys, types
name = "test_thermometer"
fake = types.ModuleType(name)
fake.__file__, fake.__spec__ = sys.modules[name].__file__, sys.modules[name].__spec__
exec("def test_passed(): pass", vars(fake))
sys.modules[name] = fake
""",
    "trace": """
import sys
sys.settrace(lambda *_: None)
""",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_each_version_of_pytest_is_watched(versioned: Any, attack: str) -> None:
    case = versioned(tests=ids("test_passed"), files={FILE: EVERY_STATUS})
    assert_tampered(case.run(appended(attack)))


def appended(text: str) -> str:
    """Return a shell line that adds to the judged module."""
    return f"cat >> thermometer.py <<'END_OF_FILE'\n{text}\nEND_OF_FILE\n"


# -- plugins of the environment --------------------------------------------------

PLUGINS = "pip install pytest pytest-asyncio pytest-cov pytest-mock pytest-xdist "
PLUGINS += "pytest-rerunfailures pytest-subtests hypothesis exceptiongroup"
PLUGIN_TESTS = """
import asyncio
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies
from thermometer import to_fahrenheit

seen = []


def test_plain():
    assert to_fahrenheit(0) == 32


@pytest.mark.asyncio
async def test_asynchronous():
    await asyncio.sleep(0)
    assert to_fahrenheit(0) == 32


def test_mocked(mocker):
    mocker.patch("json.dumps")
    mocked = mocker.patch("thermometer.to_fahrenheit")
    mocked.assert_not_called()


@given(strategies.integers(-1000, 1000))
def test_any(celsius):
    assert to_fahrenheit(celsius) == celsius * 9 / 5 + 32


@pytest.mark.flaky(reruns=2)
def test_the_second_time():
    seen.append(None)
    assert len(seen) == 2


def test_parts(subtests):
    with subtests.test("one"):
        assert to_fahrenheit(0) == 32
"""


@pytest.mark.parametrize(
    "addopts", ["", "-n 2 --dist=loadfile", "--cov=thermometer --reruns=1 -x --lf"]
)
def test_the_environments_plugins_work_and_are_no_tampering(
    made: EnvironmentBench, addopts: str
) -> None:
    names = "plain", "asynchronous", "mocked", "any", "the_second_time", "parts"
    made.case(
        PLUGINS,
        tests=ids(*(f"test_{name}" for name in names)),
        files={
            FILE: PLUGIN_TESTS,
            "input/repo/pytest.ini": f"[pytest]\naddopts = {addopts}\n",
        },
    )
    fixed, other = made.run(), made.run("echo x > x")
    assert fixed.outcome == "passed", fixed.message
    assert codes(other) == ["not_resolved"], other.message


def test_a_patch_cannot_stand_in_for_a_plugin(made: EnvironmentBench) -> None:
    made.case(PLUGINS)
    result = made.run(FIX + "; echo 'import os; os._exit(0)' > pytest_mock.py")
    assert result.outcome == "passed", result.message


def test_a_patch_may_not_replace_what_a_plugin_may(made: EnvironmentBench) -> None:
    made.case(PLUGINS)
    for attack in (
        "import traceback\ntraceback.TracebackException.format = id\n",
        "import inspect\ninspect.getfile = lambda _: ''\n",
        "import pytest_mock.plugin\nimport unittest\n"
        "unittest.TestCase.assertEqual = pytest_mock.plugin.pytest_addoption\n",
        "from unittest import mock\n"
        "mock.NonCallableMock.assert_called = lambda *_: None\n",
        "import _pytest.python, pytest_mock.plugin\n"
        "code = compile('def setup(self): pass', pytest_mock.plugin.__file__, 'exec')\n"
        "exec(code, vars(_pytest.python.Function.setup).setdefault('it', {}))\n"
        "_pytest.python.Function.setup = _pytest.python.Function.setup.it['setup']\n",
    ):
        assert_tampered(made.run(appended(attack)))


def plugin(module: str) -> str:
    """Return a command that installs the metadata of a plugin of pytest's."""
    script = (
        "import pathlib, sysconfig; "
        "place = pathlib.Path(sysconfig.get_path('purelib'), 'own-1.dist-info'); "
        "place.mkdir(); "
        "(place / 'METADATA').write_text('Name: own\\nVersion: 1'); "
        f"(place / 'entry_points.txt').write_text('[pytest11]\\nown = {module}')"
    )
    return f'python -c "{script}"'


def test_a_project_that_is_a_plugin_runs_from_the_tree(made: EnvironmentBench) -> None:
    test = "def test_it(own):\n    assert own(0) == 32\n"
    module = "import pytest\nfrom thermometer import to_fahrenheit\n\n\n"
    module += "@pytest.fixture\ndef own():\n    return to_fahrenheit\n"
    made.case(
        "pip install pytest",
        plugin("own_plugin"),
        tests=ids("test_it"),
        files={FILE: test, "input/repo/own_plugin.py": module},
    )
    fixed, broken = made.run(), made.run("echo '(' >> own_plugin.py")
    assert fixed.outcome == "passed", fixed.message
    assert codes(broken) == ["not_resolved"], broken.message


def test_a_plugin_that_is_broken_is_no_fault_of_the_patch(
    made: EnvironmentBench,
) -> None:
    made.case("pip install pytest", plugin("no_such_plugin"))
    result = made.run()
    assert (result.outcome, codes(result)) == ("error", ["evaluator.error"])
    assert "pytest cannot be run with" in result.message
    assert "no_such_plugin" in result.message


# -- repositories of pytest's own parts ------------------------------------------


def test_a_part_of_pytest_is_judged_as_the_tree_has_it(made: EnvironmentBench) -> None:
    """The environment has its own copy, which pytest would import first."""
    test = "import iniconfig\n\n\ndef test_it():\n    assert iniconfig.FIXED\n"
    made.case(
        "pip install pytest 'iniconfig>=2'",
        tests=ids("test_it"),
        files={FILE: test, "input/repo/iniconfig/__init__.py": INICONFIG},
    )
    fixed = made.run("echo 'FIXED = True' >> iniconfig/__init__.py")
    other = made.run("echo x > x")
    assert fixed.outcome == "passed", fixed.message
    assert codes(other) == ["not_resolved"], other.message


#: As much of it as pytest needs.
INICONFIG = """
import configparser


class ParseError(Exception):
    pass


class SectionWrapper(dict):
    pass


FIXED = False


class IniConfig:
    def __init__(self, path, data=None, encoding="utf-8"):
        self.path = path
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(str(path))
        self.sections = {name: dict(parser[name]) for name in parser.sections()}

    def __contains__(self, name):
        return name in self.sections

    def __getitem__(self, name):
        return self.sections[name]

    def get(self, section, name, default=None, convert=str):
        return self.sections.get(section, {}).get(name, default)
"""
