"""Runs unittest on a hostile tree: ``python -I -B run_unittest.py REQUEST.json``."""

import os
import sys
import unittest
import unittest.loader


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import guard as guarding
import report as reporting


sys.path.pop(0)
sys.modules.pop("guard")
sys.modules.pop("report")


class WitnessResult(unittest.TextTestResult):
    """Writes down what happens to each test; a failed subtest fails its test."""

    report = None
    machinery = None

    def _note(self, test, outcome, text="", xfail=False):
        if not isinstance(test, unittest.TestCase):
            # setUpClass or setUpModule: its tests do not run.
            self.report.write(kind="collect_error", place=test.id(), text=text)
            return
        self.report.write(
            kind="test",
            test=test.id(),
            when="call",
            outcome=outcome,
            xfail=xfail,
            raised=False,
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
        self._note(test, "skipped", "expected failure", xfail=True)

    def addUnexpectedSuccess(self, test):
        unittest.TextTestResult.addUnexpectedSuccess(self, test)
        self._note(test, "failed", "unexpected success")

    def addSubTest(self, test, subtest, err):
        unittest.TextTestResult.addSubTest(self, test, subtest, err)
        if err is not None:
            self._note(test, "failed", self._exc_info_to_string(err, test))

    def stopTest(self, test):
        unittest.TextTestResult.stopTest(self, test)
        look(self.report, self.machinery)


def look(report, machinery):
    """Write down what is no longer as it should be."""
    changed = machinery.changed()
    if changed:
        report.write(kind="intrusion", text=changed)


def plant(modules, canaries):
    """Return a test that must fail for each module, and id to nonce."""
    planted = {}
    tests = []
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
        tests.append(canary)
    return tests, planted


def load(names, report, sources):
    """Return the tests of those names; write down what cannot be loaded."""
    tests = []
    for name in names:
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(name)
        except (Exception, SystemExit) as exc:
            text = "%s: %s" % (type(exc).__name__, exc)
            report.write(kind="collect_error", place=name, text=text)
            continue
        for test in flat(suite):
            if isinstance(test, unittest.loader._FailedTest):
                report.write(
                    kind="collect_error", place=name, text=str(test._exception)
                )
                continue
            tests.append(test)
            cls, method = type(test), test._testMethodName
            place = (*cls.__qualname__.split("."), method)
            file = cls.__module__.replace(".", "/") + ".py"
            if sources.contradicts(file, place, getattr(test, method, None)):
                text = "%s is not what its file says" % test.id()
                report.write(kind="intrusion", text=text)
    return tests


def flat(suite):
    """Yield the tests of nested suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            for inner in flat(test):
                yield inner
        else:
            yield test


def plain(text, path):
    return compile(text, path, "exec", dont_inherit=True)


def main():
    request = reporting.take_request()
    report = reporting.Report(request["report"], request.pop("key"))
    sources = guarding.Sources(request["tree"], request["files"], (plain,))
    own = (WitnessResult, reporting.Report, guarding.Machinery, guarding.Sources)
    machinery = guarding.Machinery(own)
    report.write(kind="began")
    reporting.let_in(request["tree"], request["roots"])
    tests = load(request["tests"], report, sources)
    look(report, machinery)
    modules = sorted({type(test).__module__ for test in tests})
    canaries = reporting.Canaries(request["seed"])
    planted_tests, planted = plant(modules, canaries)
    collected = [test.id() for test in tests]
    for canary in planted_tests:
        tests.insert(canaries.place(tests, type), canary)
    report.write(kind="collected", tests=collected, canaries=planted)
    WitnessResult.report = report
    WitnessResult.machinery = machinery
    runner = unittest.TextTestRunner(verbosity=2, resultclass=WitnessResult)
    successful = runner.run(unittest.TestSuite(tests)).wasSuccessful()
    exit_code = 0 if successful and tests else 1
    look(report, machinery)
    report.write(kind="finished", exit_code=exit_code)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
