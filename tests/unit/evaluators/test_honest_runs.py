"""What evaluators say of runs that nobody tampers with: every way a test can end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalResult


TESTS = "expected/tests.toml"
FILE = "expected/overlay/tests/test_thermometer.py"

PYTEST_FILE = """
import sys

import pytest
from thermometer import to_fahrenheit


def test_fixed():
    assert to_fahrenheit(100) == 212


def test_kept():
    pass


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


def test_failed():
    assert to_fahrenheit(0) == -1


def test_subtests(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1


def test_subtests_that_pass(subtests):
    with subtests.test("skipped"):
        pytest.skip("this one")
    with subtests.test("passed"):
        pass


class TestAll:
    @pytest.mark.parametrize("text", ["a::b", "[x]", "\\u00e9", ""])
    def test_text(self, text):
        pass
"""


def evaluate(
    bench: Bench,
    *,
    fixed: list[str],
    kept: list[str],
    framework: str = "pytest",
    script: str = FIX,
    files: dict[str, str] | None = None,
    **options: Any,
) -> tuple[EvalResult, CaseResult]:
    tests = f"framework = {framework!r}\nfail_to_pass = {json.dumps(fixed)}\n"
    tests += f"pass_to_pass = {json.dumps(kept)}\n" + options.pop("more", "")
    bench.case(files={TESTS: tests} | (files or {}), **options)
    result = bench.run_shell(script)
    assert result.output is not None
    assert result.output.evaluation is not None, result.message
    codes = {mode.code for mode in result.score.failure_modes}
    assert codes <= {"not_resolved"}, result.message
    return result.output.evaluation, result


def ids(*names: str) -> list[str]:
    return [f"tests/test_thermometer.py::{name}" for name in names]


def test_each_test_has_its_own_status(bench: Bench) -> None:
    expected = {
        "test_kept": "passed",
        "test_set_up": "error",
        "test_torn_down": "error",
        "test_skipped": "skipped",
        "test_expected_failure": "passed",
        "test_unexpected_pass": "passed",
        "test_strict": "failed",
        "test_failed": "failed",
        "test_subtests": "failed",
        "test_subtests_that_pass": "passed",
        "TestAll::test_text[a::b]": "passed",
        "TestAll::test_text[[x]]": "passed",
        "TestAll::test_text[\\xe9]": "passed",
        "TestAll::test_text[]": "passed",
        "test_that_is_not_there": "missing",
        "TestAll": "missing",
    }
    evaluation, _ = evaluate(
        bench,
        fixed=ids("test_fixed"),
        kept=ids(*expected),
        files={FILE: PYTEST_FILE},
    )
    statuses = {
        test.partition("::")[2]: status
        for test, status in evaluation.pass_to_pass_results.items()
    }
    assert statuses == expected
    assert evaluation.fail_to_pass_results == dict.fromkeys(ids("test_fixed"), "passed")
    assert evaluation.status == "failed"
    assert not evaluation.resolved
    assert evaluation.pass_to_pass_fraction == 8 / 16
    assert "no such device" in evaluation.error_message


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo x > x", r"test_fixed: failed\n.*assert 180.0 == 212"),
        ("echo '(' >> thermometer.py", "cannot be collected\n.*SyntaxError"),
        ("echo 'import none' >> thermometer.py", "No module named 'none'"),
        (
            "echo 'import os; os.kill(os.getpid(), 6)' >> thermometer.py",
            "the test run was ended by signal 6",
        ),
        (
            "echo 'import os; os._exit(5)' >> thermometer.py",
            "test_fixed: missing; the test run ended with exit code 5",
        ),
        (
            "echo 'import sys; sys.exit(0)' >> thermometer.py",
            "test_fixed: missing; the test run ended with exit code",
        ),
    ],
)
def test_the_reason_is_the_first_thing_a_person_wants_to_read(
    bench: Bench, script: str, words: str
) -> None:
    evaluation, result = evaluate(
        bench,
        fixed=ids("test_fixed"),
        kept=[],
        script=script,
        files={FILE: PYTEST_FILE},
    )
    assert result.outcome == "failed"
    assert re.search(words, evaluation.error_message, re.DOTALL), result.message
    assert result.message == evaluation.error_message


@pytest.mark.parametrize("framework", ["pytest", "unittest", "command"])
def test_tests_that_run_too_long_are_a_timeout(bench: Bench, framework: str) -> None:
    test = ids("test_fixed")[0]
    if framework == "unittest":
        test = "tests.test_thermometer.TestScales.test_boiling"
    evaluation, result = evaluate(
        bench,
        framework=framework,
        fixed=[test],
        kept=[],
        files={FILE: UNITTEST_FILE} if framework == "unittest" else {FILE: PYTEST_FILE},
        script="echo 'import time; time.sleep(60)' >> thermometer.py",
        more="timeout_seconds = 1.0\ncommand = 'python3 thermometer.py'\n",
    )
    assert (result.outcome, evaluation.status) == ("failed", "timeout")
    assert not evaluation.resolved


def test_a_crash_after_the_last_test_does_not_resolve(bench: Bench) -> None:
    """What a process that crashes says of itself is not taken for a pass."""
    evaluation, result = evaluate(
        bench,
        fixed=ids("test_fixed"),
        kept=ids("test_kept"),
        files={FILE: PYTEST_FILE},
        script=FIX + "; printf 'import atexit, os, signal\\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGSEGV)\\n' >> thermometer.py",
    )
    assert result.outcome == "failed"
    assert set(evaluation.fail_to_pass_results.values()) == {"passed"}
    assert evaluation.error_message == "the test run was ended by signal 11"


# -- the case's own settings -----------------------------------------------------

SETTINGS = {
    "pytest.ini": "[pytest]\npythonpath = lib\naddopts = -q --strict-markers\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["lib"]\n',
    "tox.ini": "[tox]\n[pytest]\npythonpath = lib\n",
    "setup.cfg": "[metadata]\n[tool:pytest]\npythonpath = lib\n",
}


@pytest.mark.parametrize(("name", "text"), SETTINGS.items(), ids=SETTINGS.keys())
@pytest.mark.parametrize("place", ["input/repo", "expected/overlay"])
def test_the_cases_own_settings_hold(
    bench: Bench, place: str, name: str, text: str
) -> None:
    test_file = "from near import x\nfrom thermometer import to_fahrenheit\n\n\n"
    test_file += "def test_fixed():\n    assert to_fahrenheit(0) == 32\n"
    spoil = f"rm -f {name}; echo 'testpaths = none' > pytest.ini"
    _, result = evaluate(
        bench,
        fixed=ids("test_fixed"),
        kept=[],
        files={
            FILE: test_file,
            f"{place}/{name}": text,
            "input/repo/lib/near.py": "x = 1\n",
        },
        script=f"{FIX}; {spoil}",
    )
    assert result.outcome == "passed", result.message


def test_module_marks_and_autouse_fixtures_do_not_confuse_the_planted_test(
    bench: Bench,
) -> None:
    test_file = """
import pytest
from thermometer import to_fahrenheit

pytestmark = [pytest.mark.xfail, pytest.mark.skipif(False, reason="never")]


@pytest.fixture(autouse=True, scope="module")
def around():
    yield


class TestShared:
    @pytest.fixture(scope="class", autouse=True)
    def once(self, request):
        assert not hasattr(request.cls, "made")
        request.cls.made = True

    def test_one(self):
        assert to_fahrenheit(0) == 32

    def test_two(self):
        assert to_fahrenheit(0) == 32
"""
    _, result = evaluate(
        bench,
        fixed=ids("TestShared::test_one", "TestShared::test_two"),
        kept=[],
        files={FILE: test_file},
    )
    assert result.outcome == "passed", result.message


@pytest.mark.parametrize(("wrong", "status"), [("", "passed"), ("b d", "failed")])
def test_an_id_that_was_cut_at_a_space_stands_for_all_that_begin_so(
    bench: Bench, wrong: str, status: str
) -> None:
    test_file = f"""
import pytest
from thermometer import to_fahrenheit


@pytest.mark.parametrize("text", ["a b", "b c", "b d"])
def test_text(text):
    assert to_fahrenheit(0) == 32
    assert text != {wrong!r}
"""
    evaluation, _ = evaluate(
        bench,
        fixed=ids("test_text[b", "test_text[a b]"),
        kept=ids("test_text[x"),
        files={FILE: test_file},
    )
    assert [*evaluation.fail_to_pass_results.values()] == [status, "passed"]
    assert [*evaluation.pass_to_pass_results.values()] == ["missing"]


def test_examples_in_a_text_file_are_tests_too(bench: Bench) -> None:
    text = ">>> from thermometer import to_fahrenheit\n>>> to_fahrenheit(0)\n32.0\n"
    options: Any = {
        "fixed": ["README.txt::README.txt"],
        "kept": [],
        "files": {"expected/overlay/README.txt": text},
    }
    _, fixed = evaluate(bench, **options)
    assert fixed.outcome == "passed", fixed.message
    other = bench.run_shell("echo x > x")
    assert (other.outcome, other.score.failure_modes[0].code) == (
        "failed",
        "not_resolved",
    )


def test_a_module_that_skips_itself_is_no_tampering(bench: Bench) -> None:
    test_file = (
        "import pytest\n\n\ndef setup_module():\n    pytest.skip('no network')\n"
    )
    evaluation, result = evaluate(
        bench,
        fixed=ids("test_fixed"),
        kept=[],
        files={FILE: test_file + "\n\ndef test_fixed():\n    pass\n"},
    )
    assert result.outcome == "failed"
    assert set(evaluation.fail_to_pass_results.values()) == {"skipped"}


# -- unittest --------------------------------------------------------------------

UNITTEST_FILE = """
import unittest

from thermometer import to_fahrenheit


class TestScales(unittest.TestCase):
    made = 0

    @classmethod
    def setUpClass(cls):
        cls.made += 1

    def test_boiling(self):
        self.assertEqual(to_fahrenheit(100), 212)
        self.assertEqual(self.made, 1)

    def test_failed(self):
        self.assertEqual(to_fahrenheit(100), -1)

    def test_error(self):
        raise OSError("no such device")

    @unittest.skip("not here")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected_pass(self):
        pass

    def test_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)


class TestBroken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no such server")

    def test_never_run(self):
        pass
"""


def test_each_unittest_has_its_own_status_by_either_form_of_its_id(
    bench: Bench,
) -> None:
    module = "tests.test_thermometer"
    expected = {
        f"test_boiling ({module}.TestScales.test_boiling)": "passed",
        f"{module}.TestScales.test_failed": "failed",
        f"test_error ({module}.TestScales)": "error",
        f"{module}.TestScales.test_skipped": "skipped",
        f"{module}.TestScales.test_expected_failure": "passed",
        f"{module}.TestScales.test_unexpected_pass": "failed",
        f"{module}.TestScales.test_subtests": "failed",
        f"{module}.TestBroken.test_never_run": "missing",
        f"{module}.TestScales.test_none": "missing",
        "tests.test_none.TestScales.test_none": "missing",
    }
    evaluation, _ = evaluate(
        bench,
        framework="unittest",
        fixed=[f"{module}.TestScales.test_boiling"],
        kept=[*expected],
        files={FILE: UNITTEST_FILE},
    )
    assert evaluation.pass_to_pass_results == expected
    assert [*evaluation.fail_to_pass_results.values()] == ["passed"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo '(' >> thermometer.py", "cannot be collected\n.*SyntaxError"),
        ("echo 'import sys; sys.exit(0)' >> thermometer.py", "SystemExit: 0"),
        ("echo 'raise ValueError(7)' >> thermometer.py", "ValueError: 7"),
    ],
)
def test_a_unittest_module_that_cannot_be_imported_fails(
    bench: Bench, script: str, words: str
) -> None:
    evaluation, result = evaluate(
        bench,
        framework="unittest",
        fixed=["tests.test_thermometer.TestScales.test_boiling"],
        kept=[],
        files={FILE: UNITTEST_FILE},
        script=script,
    )
    assert result.outcome == "failed"
    assert re.search(words, evaluation.error_message, re.DOTALL), result.message


# -- command ---------------------------------------------------------------------

CHECK = "import sys\nsys.path.insert(0, '.')\nimport thermometer as t\n"
CHECK += "sys.exit(t.to_fahrenheit(0) != 32)\n"


@pytest.mark.parametrize(
    "command", ["'python3 check.py && true'", "['python3', 'check.py']"]
)
def test_a_commands_exit_code_decides(bench: Bench, command: str) -> None:
    files = {"expected/overlay/check.py": CHECK}
    evaluation, result = evaluate(
        bench,
        framework="command",
        fixed=[],
        kept=["a", "b"],
        files=files,
        more=f"command = {command}\n",
    )
    assert result.outcome == "passed", result.message
    assert evaluation.pass_to_pass_results == {"a": "passed", "b": "passed"}
    other = bench.run_shell("echo x > x")
    assert other.outcome == "failed"
    assert other.message.startswith("exit code 1\n")


@pytest.mark.parametrize(
    ("command", "file", "script"),
    [
        ("make check", "Makefile", "printf 'check:\\n\\ttrue\\n' > GNUmakefile"),
        ("make -s check", "Makefile", "printf 'check:\\n\\ttrue\\n' > Makefile"),
    ],
)
def test_what_a_command_is_made_of_is_put_back(
    bench: Bench, command: str, file: str, script: str
) -> None:
    texts = {"check.sh": "exit 3\n", "Makefile": "check:\n\texit 3\n"}
    evaluation, _ = evaluate(
        bench,
        framework="command",
        fixed=[],
        kept=[],
        files={f"input/repo/{file}": texts[file]},
        script=script,
        more=f'command = "{command}"\n',
    )
    assert evaluation.fail_to_pass_results == {"command": "failed"}


def test_a_command_that_is_not_there_cannot_judge(bench: Bench) -> None:
    bench.case(files={TESTS: 'framework = "command"\ncommand = ["no-such-program"]\n'})
    result = bench.run()
    assert result.outcome == "error"
    assert result.score.failure_modes[0].code == "evaluator.error"
    assert "the tests cannot be run: 'no-such-program' cannot be started" in (
        result.message
    )
