"""Runs unittest on a hostile tree: ``python -I -B run_unittest.py REQUEST.json``."""

import os
import sys
import unittest
import unittest.loader


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import guard as guarding
import report as reporting
import unittest_witness as witness


sys.path.pop(0)
for own in ("guard", "report", "unittest_witness"):
    sys.modules.pop(own)


class WitnessResult(witness.Noting, unittest.TextTestResult):
    """What each test comes to."""


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
        for test in witness.flat(suite):
            if isinstance(test, unittest.loader._FailedTest):
                report.write(
                    kind="collect_error", place=name, text=str(test._exception)
                )
                continue
            tests.append(test)
            file = type(test).__module__.replace(".", "/") + ".py"
            witness.look_at(test, file, report, sources)
    return tests


def main():
    request = reporting.take_request()
    report = reporting.Report(request["report"], request.pop("key"))
    sources = guarding.Sources(request["tree"], request["files"], (witness.plain,))
    WitnessResult.report = report
    WitnessResult.machinery = machinery = witness.watch()
    machinery.take_class(WitnessResult)
    report.write(kind="began")
    if request["only_begin"]:
        return
    reporting.let_in(request["tree"], request["roots"])
    tests = load(request["tests"], report, sources)
    witness.look(report, machinery)
    suite = witness.with_planted(tests, request["seed"], report)
    runner = unittest.TextTestRunner(verbosity=2, resultclass=WitnessResult)
    successful = runner.run(suite).wasSuccessful()
    exit_code = 0 if successful and tests else 1
    witness.look(report, machinery)
    report.write(kind="finished", exit_code=exit_code)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
