"""Runs pytest on a hostile tree: ``python -I -B run_pytest.py REQUEST.json``.

Everything that pytest needs is imported before the tree gets on ``sys.path``.
"""

import json
import os
import sys


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import report as reporting


sys.path.pop(0)
sys.modules.pop("report")

import pytest  # noqa: E402 -- after our own, before the tree


class Witness(object):
    """Keeps what was asked for, plants the canaries, writes down what happens."""

    def __init__(self, request):
        self._asked = set(request["tests"])
        self._report = reporting.Report(request["report"])
        self._canaries = reporting.Canaries(request["seed"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if item.nodeid in self._asked]
        modules = []
        for item in kept:
            module = item.getparent(pytest.Module)
            if module is not None and module not in modules:
                modules.append(module)
        collected = [item.nodeid for item in kept]
        planted = {}
        for module in modules:
            nonce = self._canaries.nonce()
            canary = self._plant(module, nonce)
            planted[canary.nodeid] = nonce
            kept.insert(self._canaries.position(len(kept)), canary)
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
            return pytest.Function.from_parent(module, name=name, callobj=must_fail)
        return pytest.Function(name, module, callobj=must_fail)

    def pytest_collectreport(self, report):
        if report.failed:
            self._report.write(
                kind="collect_error", place=report.nodeid, text=str(report.longrepr)
            )

    def pytest_runtest_logreport(self, report):
        self._report.write(
            kind="test",
            test=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            text=str(report.longrepr or ""),
        )

    def pytest_sessionfinish(self, exitstatus):
        self._report.write(kind="finished", exit_code=int(exitstatus))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, request["tree"])
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
    sys.exit(
        int(pytest.main(arguments + request["files"], plugins=[Witness(request)]))
    )


if __name__ == "__main__":
    main()
