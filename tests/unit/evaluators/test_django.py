"""Django's tests: a real project, run by its own ``manage.py``, by ids as printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Bench

from pytest_codegenie.evaluators.django import canonical
from pytest_codegenie.models import CaseResult


MANAGE = """
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")

from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
"""
SETTINGS = """
SECRET_KEY = "x"
INSTALLED_APPS = ["stock"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = True
"""
MODELS = """
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=20)
    count = models.IntegerField(default=0)

    def add(self, number):
        self.count -= number
        self.save()
"""
FIX = "sed -i 's/-= number/+= number/' stock/models.py"
HIDDEN = """
import unittest

from django.test import TestCase
from stock.models import Item


class ItemTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.item = Item.objects.create(name="pen")

    def test_add(self):
        self.item.add(3)
        self.assertEqual(Item.objects.get().count, 3)

    def test_described(self):
        \"\"\"Adding twice (or more often) adds up.

        More words.
        \"\"\"
        self.item.add(1)
        self.item.add(1)
        self.assertEqual(self.item.count, 2)

    def test_each(self):
        for number in (1, 2):
            with self.subTest(number=number):
                item = Item.objects.create(name="ink")
                item.add(number)
                self.assertEqual(item.count, number)

    def test_nothing(self):
        self.assertEqual(Item.objects.count(), 1)

    @unittest.skip("not here")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()


class BrokenTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        raise OSError("no such device")

    def test_never_run(self):
        pass
"""
PROJECT = {
    "manage.py": MANAGE,
    "shop/__init__.py": "",
    "shop/settings.py": SETTINGS,
    "stock/__init__.py": "",
    "stock/models.py": MODELS,
    "stock/tests.py": "from django.test import TestCase\n",
}
ITEM_TESTS = "stock.tests.ItemTests"
FIXED = (
    f"test_add ({ITEM_TESTS})",
    f"test_each ({ITEM_TESTS}.test_each)",
    "Adding twice (or more often) adds up.",
)
KEPT = (f"{ITEM_TESTS}.test_nothing", f"test_expected_failure ({ITEM_TESTS})")


class Project:
    """A case that is a Django project whose stock shrinks when something is added."""

    def __init__(self, bench: Bench, cache: Path) -> None:
        self.bench = bench
        self.cache = cache

    def case(
        self,
        *,
        fixed: tuple[str, ...] = FIXED,
        kept: tuple[str, ...] = KEPT,
        command: str = "",
        files: dict[str, str] | None = None,
    ) -> None:
        tests = 'framework = "django"\n'
        tests += f"fail_to_pass = {json.dumps(fixed)}\n"
        tests += f"pass_to_pass = {json.dumps(kept)}\n"
        tests += f"command = {json.dumps(command)}\n" if command else ""
        task = '[repository]\nname = "acme/shop"\nsource = "repo"\n'
        task += "[environment]\ninstall = [\"pip install 'django>=4.2'\"]\n"
        repository = {f"input/repo/{name}": text for name, text in PROJECT.items()}
        self.bench.case(
            files={
                "input/task.toml": task,
                "expected/tests.toml": tests,
                "expected/overlay/stock/tests.py": HIDDEN,
                **repository,
                **(files or {}),
            }
        )

    def run(self, script: str = FIX) -> CaseResult:
        return self.bench.run_shell(script, cache_directory=self.cache)


@pytest.fixture
def project(bench: Bench, environments: Path) -> Project:
    return Project(bench, environments)


def codes(result: CaseResult) -> list[str]:
    return [mode.code for mode in result.score.failure_modes]


def statuses(result: CaseResult) -> dict[str, Any]:
    assert result.output is not None
    assert result.output.evaluation is not None, result.message
    evaluation = result.output.evaluation
    return {**evaluation.fail_to_pass_results, **evaluation.pass_to_pass_results}


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("test_x (app.tests.Case)", "app.tests.Case.test_x"),
        ("test_x (app.tests.Case.test_x)", "app.tests.Case.test_x"),
        ("test_x (app.tests.Case) (number=1)", "app.tests.Case.test_x"),
        ("test_x (app.tests.Case) [as it says]", "app.tests.Case.test_x"),
        ("app.tests.Case.test_x", "app.tests.Case.test_x"),
        ("Adds numbers (two or more).", "Adds numbers (two or more)."),
        ("#1234 -- It works (at last)", "#1234 -- It works (at last)"),
    ],
)
def test_an_id_is_understood_as_django_prints_it(test: str, name: str) -> None:
    assert canonical(test) == name


def test_a_fix_passes_and_no_fix_does_not(project: Project) -> None:
    project.case()
    fixed, other = project.run(), project.run("echo x > x")
    assert fixed.outcome == "passed", fixed.message
    assert codes(other) == ["not_resolved"], other.message
    assert statuses(other) == dict.fromkeys(FIXED, "failed") | dict.fromkeys(
        KEPT, "passed"
    )


@pytest.mark.parametrize(
    "command",
    [
        "python manage.py test stock --parallel 2",
        "./manage.py test stock.tests -v 0",
        "manage.py test",
    ],
)
def test_the_cases_own_command_runs(project: Project, command: str) -> None:
    project.case(command=command)
    result = project.run()
    assert result.outcome == "passed", result.message


def test_what_did_not_pass_is_told_apart(project: Project) -> None:
    expected = {
        f"test_skipped ({ITEM_TESTS})": "skipped",
        f"test_none ({ITEM_TESTS})": "missing",
        "test_never_run (stock.tests.BrokenTests)": "missing",
    }
    project.case(fixed=FIXED[:1], kept=tuple(expected))
    result = project.run()
    assert statuses(result) == {FIXED[0]: "passed"} | expected
    assert codes(result) == ["not_resolved"], result.message


@pytest.mark.parametrize(
    "script",
    [
        "echo '(' >> stock/models.py",
        "echo 'import sys; sys.exit(0)' >> stock/models.py",
        "echo 'raise ValueError' >> shop/settings.py",
        "rm stock/models.py",
    ],
)
def test_a_patch_that_breaks_the_project_fails(project: Project, script: str) -> None:
    project.case()
    result = project.run(script)
    assert result.outcome == "failed"
    assert "passed" not in statuses(result).values()


ATTACKS = {
    "exit": "import os\nos._exit(0)",
    "assertion": "import unittest\nunittest.TestCase.assertEqual = lambda *_: None",
    "django": "import django.test\ndjango.test.TestCase._fixture_setup = print",
    "runner": """
import unittest
unittest.TextTestRunner.run = lambda *_: unittest.TestResult()
""",
    "result": "import unittest\nunittest.TestResult.addFailure = lambda *_: None",
    "call": """
import unittest
original = unittest.TestCase._callTestMethod
def lie(self, method):
    if method.__func__.__code__.co_name == "must_fail":
        original(self, method)
unittest.TestCase._callTestMethod = lie
""",
    "writer": """
import gc
for cls in gc.get_objects():
    if isinstance(cls, type) and cls.__name__ == "Noting":
        cls.addFailure = lambda self, test, err: self.addSuccess(test)
""",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_code_that_attacks_the_run_is_tampering(project: Project, attack: str) -> None:
    project.case()
    result = project.run(
        f"cat >> stock/models.py <<'END_OF_FILE'\n{attack}\nEND_OF_FILE"
    )
    assert codes(result) == ["tests.tampered"], result.message


def test_tests_and_program_are_put_back(project: Project) -> None:
    project.case()
    result = project.run("echo > stock/tests.py; echo 'raise SystemExit' > manage.py")
    assert codes(result) == ["not_resolved"], result.message
    assert set(statuses(result).values()) == {"failed", "passed"}


def test_a_case_that_names_no_program_cannot_be_judged(bench: Bench) -> None:
    ids = 'framework = "django"\nfail_to_pass = ["test_x (app.tests.Case)"]\n'
    bench.case(files={"expected/tests.toml": ids})
    result = bench.run()
    assert codes(result) == ["evaluator.error"]
    assert "neither tests/runtests.py nor manage.py; give" in result.message
    ids += 'command = "make test"\n'
    bench.case("second", files={"expected/tests.toml": ids})
    result = bench.run("second")
    assert codes(result) == ["evaluator.error"]
    assert "'make test' names no Python program of the tree" in result.message


def test_labels_are_asked_for_where_no_id_has_a_module(project: Project) -> None:
    project.case(fixed=FIXED[2:], kept=())
    result = project.run()
    assert codes(result) == ["evaluator.error"]
    assert "no id says which module its test is in" in result.message


def test_an_environment_without_django_cannot_judge(bench: Bench) -> None:
    files = {f"input/repo/{name}": text for name, text in PROJECT.items()}
    ids = 'framework = "django"\nfail_to_pass = ["test_x (stock.tests.Case)"]\n'
    bench.case(files={"expected/tests.toml": ids} | files)
    result = bench.run()
    assert codes(result) == ["evaluator.error"]
    assert "No module named 'django'" in result.message
