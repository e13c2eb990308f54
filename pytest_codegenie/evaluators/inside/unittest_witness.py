"""What we have in a unittest run: results that are written down, planted tests."""

import unittest

import guard as guarding
import report as reporting


class Noting(object):
    """Writes down what happens to each test; a failed subtest fails its test.

    To be mixed into a ``unittest.TextTestResult``.
    """

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
        super().addSuccess(test)
        self._note(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self._note(test, "error", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note(test, "skipped", "expected failure", xfail=True)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note(test, "failed", "unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(test, "failed", self._exc_info_to_string(err, test))

    def stopTest(self, test):
        super().stopTest(test)
        look(self.report, self.machinery)


def watch(modules=()):
    """A snapshot of unittest, of other modules, and of what is ours."""
    own = (Noting, reporting.Report, guarding.Machinery, guarding.Sources)
    return guarding.Machinery(own, modules=modules)


def look(report, machinery):
    """Write down what is no longer as it should be."""
    changed = machinery.changed()
    if changed:
        report.write(kind="intrusion", text=changed)


def look_at(test, file, report, sources):
    """Write down if a test does not run what its file says."""
    cls, method = type(test), test._testMethodName
    place = (*cls.__qualname__.split("."), method)
    if sources.contradicts(file, place, getattr(test, method, None)):
        text = "%s is not what its file says" % test.id()
        report.write(kind="intrusion", text=text)


def with_planted(tests, seed, report, titles=None):
    """Plant a test that must fail for each module, and write down what was collected.

    Args:
        tests: Those that are going to run.
        seed: Of names and places.
        report: Gets the ids, planted ones apart.
        titles: Id to the first line of its documentation.
    """
    canaries = reporting.Canaries(seed)
    collected = [test.id() for test in tests]
    tests = list(tests)
    planted = {}
    for module in sorted({type(test).__module__ for test in tests}):
        nonce = canaries.nonce()
        canary = _canary(module, canaries.name(), nonce)
        planted[canary.id()] = nonce
        tests.insert(canaries.place(tests, type), canary)
    report.write(
        kind="collected", tests=collected, canaries=planted, titles=titles or {}
    )
    return unittest.TestSuite(tests)


def _canary(module, name, nonce):
    def must_fail(self):
        raise AssertionError(nonce)

    case = type(
        "Test" + name[5:].title().replace("_", ""),
        (unittest.TestCase,),
        {name: must_fail, "__module__": module},
    )
    return case(name)


def flat(suite):
    """Yield the tests of nested suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            for inner in flat(test):
                yield inner
        else:
            yield test


def plain(text, path):
    """The way in which a file of unittests may be compiled."""
    return compile(text, path, "exec", dont_inherit=True)
