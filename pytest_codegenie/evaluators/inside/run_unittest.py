"""Runs unittest on a hostile tree: ``python -I -B run_unittest.py REQUEST.json``."""

import json
import os
import sys
import unittest
import unittest.loader


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import report as reporting


sys.path.pop(0)
sys.modules.pop("report")


class WitnessResult(unittest.TextTestResult):
    """Writes down what happens to each test; a failed subtest fails its test."""

    witness = None

    def _note(self, test, outcome, text=""):
        self.witness.write(
            kind="test",
            test=test.id(),
            when="call",
            outcome=outcome,
            xfail=outcome == "skipped" and text == "expected failure",
            text=text,
        )

    def addSuccess(self, test):
        unittest.TextTestResult.addSuccess(self, test)
        self._note(test, "passed")

    def addFailure(self, test, err):
        unittest.TextTestResult.addFailure(self, test, err)
        self._note(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        unittest.TextTestResult.addError(self, test, err)
        self._note(test, "error", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        unittest.TextTestResult.addSkip(self, test, reason)
        self._note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        unittest.TextTestResult.addExpectedFailure(self, test, err)
        self._note(test, "skipped", "expected failure")

    def addUnexpectedSuccess(self, test):
        unittest.TextTestResult.addUnexpectedSuccess(self, test)
        self._note(test, "failed", "unexpected success")

    def addSubTest(self, test, subtest, err):
        unittest.TextTestResult.addSubTest(self, test, subtest, err)
        if err is not None:
            self._note(test, "failed", self._exc_info_to_string(err, test))


def plant(suite, modules, canaries):
    """Add a test that must fail to each module; return id to nonce."""
    planted = {}
    for module_name in modules:
        nonce = canaries.nonce()
        name = canaries.name()

        def must_fail(self, nonce=nonce):
            raise AssertionError(nonce)

        case = type(
            "Test" + name[5:].title().replace("_", ""),
            (unittest.TestCase,),
            {name: must_fail, "__module__": module_name},
        )
        canary = case(name)
        planted[canary.id()] = nonce
        suite.addTest(canary)
    return planted


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    WitnessResult.witness = reporting.Report(request["report"])
    sys.path.insert(0, request["tree"])
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite()
    collected = []
    modules = []
    for name in request["tests"]:
        for test in loader.loadTestsFromName(name):
            if isinstance(test, unittest.loader._FailedTest):
                WitnessResult.witness.write(
                    kind="collect_error", place=name, text=str(test._exception)
                )
                continue
            collected.append(test.id())
            if test.__class__.__module__ not in modules:
                modules.append(test.__class__.__module__)
            suite.addTest(test)
    canaries = reporting.Canaries(request["seed"])
    planted = plant(suite, modules, canaries)
    WitnessResult.witness.write(kind="collected", tests=collected, canaries=planted)
    runner = unittest.TextTestRunner(verbosity=2, resultclass=WitnessResult)
    exit_code = 0 if runner.run(suite).wasSuccessful() else 1
    WitnessResult.witness.write(kind="finished", exit_code=exit_code)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
