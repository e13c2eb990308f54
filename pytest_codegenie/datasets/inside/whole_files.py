"""Runs whole files of unittests as one test, as ``python -m unittest`` does.

A copy of this file is in each case whose dataset says that all tests have to pass, but
not which of them fail to begin with. The files are read and compiled before any of the
solution runs.
"""

from __future__ import annotations

import ast
import sys
import types
import unittest
from collections.abc import Iterator
from collections.abc import Sequence

from tests.one_file import HERE
from tests.one_file import cpu_limit
from tests.one_file import end_after


def run(case: unittest.TestCase, *, files: Sequence[str], cpu_seconds: float) -> None:
    """Run all tests of the files; each that does not pass is a failed subtest.

    Args:
        case: The test that this is.
        files: Relative to the tree, in its root.
        cpu_seconds: For all of them. Time of the CPU, so that a busy machine changes
            no result.
    """
    texts = {name: (HERE.parent / name).read_bytes() for name in files}
    expected = {name: _named_tests(text) for name, text in texts.items()}
    codes = {
        name: compile(text, str(HERE.parent / name), "exec", dont_inherit=True)
        for name, text in texts.items()
    }
    end_after(2 * cpu_seconds)
    with cpu_limit(cpu_seconds):
        for name, code in codes.items():
            module = types.ModuleType(name[: -len(".py")])
            module.__file__ = code.co_filename
            sys.modules[module.__name__] = module
            exec(code, vars(module))  # noqa: S102 -- the case's own, signed with it
            ran = _run_module(case, module, may_skip=b"skip" in texts[name])
            lost = sorted(expected[name] - ran)
            if lost:
                case.fail(f"{name}: tests did not run: {lost}")


def _named_tests(text: bytes) -> set[str]:
    """Return the tests that stand in a file: ``TestLeap.test_year``."""
    return {
        f"{node.name}.{item.name}"
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test")
    }


def _run_module(
    case: unittest.TestCase, module: types.ModuleType, *, may_skip: bool
) -> set[str]:
    """Run a module's tests; return those that ran, as a file names them."""
    ran = set()
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    for test in _flat(suite):
        ran.add(test.id().partition(".")[2])
        result = unittest.TestResult()
        unittest.TestSuite([test]).run(result)
        with case.subTest(test=test.id()):
            for _, trace in [*result.errors, *result.failures]:
                case.fail(trace)
            if result.unexpectedSuccesses or (result.skipped and not may_skip):
                case.fail(f"{test.id()} did not pass: skipped or expected to fail")
    return ran


def _flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test
