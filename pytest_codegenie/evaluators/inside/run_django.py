"""Runs Django's tests on a hostile tree: ``python -I -B run_django.py REQUEST.json``.

The tree's own program does it as ever: ``manage.py test``, ``tests/runtests.py``.
Whatever it sets up, in the end it calls ``unittest.TextTestRunner.run``; the first such
call of a process gets our suite and our result. Later ones are a test's own business.
"""

import os
import runpy
import sys
import unittest


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import guard as guarding
import report as reporting
import unittest_witness as witness


sys.path.pop(0)
for own in ("guard", "report", "unittest_witness"):
    sys.modules.pop(own)


class Stage(object):
    """Stands in for ``unittest.TextTestRunner.run``, once."""

    def __init__(self, request, report):
        self._asked = set(request["tests"])
        self._seed = request["seed"]
        self._directory = os.path.dirname(request["program"])
        self._report = report
        self._sources = guarding.Sources(
            request["tree"], request["files"], (witness.plain,)
        )
        self._run = unittest.TextTestRunner.run
        self._is_over = False
        self.machinery = None

    def run(self, runner, suite):
        if self._is_over:
            return self._run(runner, suite)
        self._is_over = True
        tests = [test for test in witness.flat(suite) if self._is_asked(test)]
        titles = {test.id(): _title(test) for test in tests if _title(test)}
        for test in tests:
            module = type(test).__module__.replace(".", "/") + ".py"
            for file in {module, os.path.join(self._directory, module)}:
                witness.look_at(test, file, self._report, self._sources)
        witness.look(self._report, self.machinery)
        runner.resultclass = self._result_class(runner.resultclass)
        planted = witness.with_planted(tests, self._seed, self._report, titles)
        result = self._run(runner, planted)
        witness.look(self._report, self.machinery)
        return result

    def _is_asked(self, test):
        if isinstance(test, unittest.loader._FailedTest):
            place, text = test._testMethodName, str(test._exception)
            self._report.write(kind="collect_error", place=place, text=text)
            return False
        return test.id() in self._asked or _title(test) in self._asked

    def _result_class(self, base):
        names = {"report": self._report, "machinery": self.machinery}
        result_class = type("WitnessResult", (witness.Noting, base), names)
        self.machinery.take_class(result_class)
        return result_class


def _title(test):
    """What Django prints in the place of a test's id, or None."""
    return test.shortDescription() if isinstance(test, unittest.TestCase) else None


def run_program(path, arguments):
    """Run a Python program as ``python PATH ARGUMENTS``; return its exit code."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.argv[:] = [path, *arguments]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as exc:
        if isinstance(exc.code, str):
            sys.stderr.write(exc.code + "\n")
            return 1
        return int(exc.code or 0)
    return 0


def main():
    request = reporting.take_request()
    report = reporting.Report(request["report"], request.pop("key"))
    stage = Stage(request, report)

    def run(runner, suite):
        return stage.run(runner, suite)

    unittest.TextTestRunner.run = run
    if not request["django_in_tree"]:
        import django.test  # noqa: F401 -- so that it is watched
    stage.machinery = witness.watch(modules=("django.test",))
    report.write(kind="began")
    if request["only_begin"]:
        return
    reporting.let_in(request["tree"], request["roots"])
    program = os.path.join(request["tree"], request["program"])
    exit_code = run_program(program, request["arguments"])
    witness.look(report, stage.machinery)
    report.write(kind="finished", exit_code=exit_code)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
