"""Runs pytest on a hostile tree: ``python -I -B run_pytest.py REQUEST.json``.

Everything that pytest needs is imported before the tree gets on ``sys.path``.
"""

import ast
import os
import sys


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import guard as guarding
import report as reporting


sys.path.pop(0)
sys.modules.pop("guard")
sys.modules.pop("report")

import pytest  # noqa: E402 -- after our own, before the tree


class Canary(pytest.Function):
    """A planted test. What marks its module (skip, xfail) does not hold for it."""

    def iter_markers_with_node(self, name=None):
        return iter(())

    def get_closest_marker(self, name, default=None):
        return default


class Witness(object):
    """Keeps what was asked for, plants the canaries, writes down what happens."""

    def __init__(self, request, report):
        self._asked = set(request["tests"])
        self._report = report
        self._canaries = reporting.Canaries(request["seed"])
        self._sources = guarding.Sources(
            request["tree"], request["files"], _variants(request["settings"])
        )
        self._raised = {}
        self._codes = {}
        self._machinery = None

    # After pytest's own plugins, one of which patches pytest, and before the first
    # conftest.py: the hook that loads it was there before this one.
    @pytest.hookimpl(trylast=True)
    def pytest_load_initial_conftests(self):
        own = (type(self), Canary, reporting.Report)
        self._machinery = guarding.Machinery(
            (*own, guarding.Machinery, guarding.Sources)
        )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if item.nodeid in self._asked]
        modules = []
        for item in kept:
            module = item.getparent(pytest.Module)
            if module is not None and module not in modules:
                modules.append(module)
        collected = [item.nodeid for item in kept]
        for item in kept:
            self._codes[item.nodeid] = _code(item)
        self._look(kept)
        planted = {}
        for module in modules:
            nonce = self._canaries.nonce()
            canary = self._plant(module, nonce)
            planted[canary.nodeid] = nonce
            place = self._canaries.place(kept, lambda item: item.parent)
            kept.insert(place, canary)
        # A module's tests have to stay together for its fixtures.
        order = {id(module): number for number, module in enumerate(modules)}
        kept.sort(key=lambda item: order.get(id(item.getparent(pytest.Module)), -1))
        items[:] = kept
        self._report.write(kind="collected", tests=collected, canaries=planted)

    def _plant(self, module, nonce):
        def must_fail():
            raise AssertionError(nonce)

        name = self._canaries.name()
        must_fail.__name__ = name
        if hasattr(pytest.Function, "from_parent"):
            return Canary.from_parent(module, name=name, callobj=must_fail)
        return Canary(name, module, callobj=must_fail)

    def _look(self, items=()):
        """Write down what is no longer as it should be."""
        changed = self._machinery.changed()
        if changed:
            self._report.write(kind="intrusion", text=changed)
        for item in items:
            file, *names = item.nodeid.partition("[")[0].split("::")
            function = getattr(item, "obj", None)
            if self._sources.contradicts(file, names, function):
                text = "%s is not what its file says" % item.nodeid
                self._report.write(kind="intrusion", text=text)

    def pytest_collectreport(self, report):
        if report.failed:
            self._report.write(
                kind="collect_error", place=report.nodeid, text=str(report.longrepr)
            )

    # Innermost: nothing stands between this and the test.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        if _code(item) is not self._codes.get(item.nodeid, _code(item)):
            text = "%s was replaced after it was collected" % item.nodeid
            self._report.write(kind="intrusion", text=text)
        outcome = yield
        self._raised[item.nodeid] = outcome.excinfo is not None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if type(report).__name__ == "SubtestReport" and not report.failed:
            return  # its test has a report of its own
        self._report.write(
            kind="test",
            test=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            raised=report.when == "call" and self._raised.get(report.nodeid, False),
            text=str(report.longrepr or ""),
        )
        if report.when == "teardown":
            self._look()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        self._look()
        self._report.write(kind="finished", exit_code=int(exitstatus))


def _code(item):
    function = getattr(item, "obj", None)
    return getattr(getattr(function, "__func__", function), "__code__", None)


def _variants(settings):
    """Return how pytest may compile a test file: with its asserts rewritten or not."""
    with open(settings, "rb") as file:
        if b"enable_assertion_pass_hook" in file.read():
            return ()  # the rewritten code then depends on hooks

    def plain(text, path):
        return compile(text, path, "exec", dont_inherit=True)

    def rewritten(text, path):
        from _pytest.assertion.rewrite import rewrite_asserts

        tree = ast.parse(text, filename=path)
        rewrite_asserts(tree, text, path, None)
        return compile(tree, path, "exec", dont_inherit=True)

    return (plain, rewritten)


def main():
    request = reporting.take_request()
    report = reporting.Report(request["report"], request.pop("key"))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    if not request["plugins"]:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = [
        "-c",
        request["settings"],
        "--rootdir=" + request["tree"],
        "--confcutdir=" + request["tree"],
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "--maxfail=0",
        "--tb=short",
    ]
    witness = Witness(request, report)
    report.write(kind="began")
    reporting.let_in(request["tree"], request["roots"])
    sys.exit(int(pytest.main(arguments + request["files"], plugins=[witness])))


if __name__ == "__main__":
    main()
