"""What we have in a pytest run: a door for the tree, and a witness.

Runs on any pytest from 4.6. Importing it imports pytest.
"""

import ast
import os
import sys

import guard as guarding
import pytest
import report as reporting


class Unmarked(object):
    """A planted test. What marks its module (skip, xfail) does not hold for it."""

    def iter_markers_with_node(self, name=None):
        return iter(())

    def get_closest_marker(self, name, default=None):
        return default


class Canary(Unmarked, pytest.Function):
    """In a module of tests."""


class PlainCanary(Unmarked, pytest.Item):
    """In any other file: doctests, examples."""

    nonce = ""

    def runtest(self):
        raise AssertionError(self.nonce)


class Door(object):
    """Lets the tree in once the environment's plugins are loaded."""

    def __init__(self, request, witness):
        self._place = (request["tree"], request["roots"])
        self._witness = witness
        self._only_begins = request["only_begin"]

    # A wrapper comes before plain hooks, of which pytest-django's imports the project.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        self._witness.watch(early_config.pluginmanager)
        if self._only_begins:
            pytest.exit("it begins")
        reporting.let_in(*self._place)
        yield

    # pytest-xdist would run the tests where there is no witness.
    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        for name, value in (("dist", "no"), ("tx", []), ("numprocesses", 0)):
            if hasattr(config.option, name):
                setattr(config.option, name, value)


class Witness(object):
    """Keeps what was asked for, plants the canaries, writes down what happens."""

    def __init__(self, request, report):
        self._asked = set(request["tests"])
        self._cut = tuple(request["cut"])
        self._report = report
        self._canaries = reporting.Canaries(request["seed"])
        self._variants = _variants(request["settings"])
        self._sources = guarding.Sources(
            request["tree"], request["files"], self._variants
        )
        self._raised = {}
        self._codes = {}
        self._machinery = None
        self._plugins = ()
        self._tree = request["tree"]

    def watch(self, pluginmanager):
        """Keep how pytest is now: with the environment's plugins, without the tree."""
        self._plugins = _places(pluginmanager.get_plugins(), self._tree)
        own = (type(self), Canary, PlainCanary, Door, reporting.Report)
        self._machinery = guarding.Machinery(
            (*own, guarding.Machinery, guarding.Sources),
            expected=_patches_of_pytest(),
            plugins=self._plugins,
            tree=self._tree,
            variants=self._variants,
        )
        self._report.write(kind="began")

    # After pytest-cov, and before the first conftest.py: the hook that loads it was
    # there before this one.
    @pytest.hookimpl(trylast=True)
    def pytest_load_initial_conftests(self):
        self._machinery.accept_coverage()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if self._is_asked(item.nodeid)]
        modules = list(dict.fromkeys(map(_module, kept)))
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
        kept.sort(key=lambda item: modules.index(_module(item)))
        items[:] = kept
        self._report.write(kind="collected", tests=collected, canaries=planted)

    def _is_asked(self, test):
        return test in self._asked or (self._cut and test.startswith(self._cut))

    def _plant(self, module, nonce):
        def must_fail():
            raise AssertionError(nonce)

        name = self._canaries.name()
        must_fail.__name__ = name
        if isinstance(module, pytest.Module):
            return _make(Canary, module, name, callobj=must_fail)
        canary = _make(PlainCanary, module, name)
        canary.nonce = nonce
        return canary

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
        code = _code(item)
        if code is not self._codes.get(item.nodeid, code) and not (
            # It runs again, and a plugin wrapped it when it ran first.
            item.nodeid in self._raised
            and getattr(code, "co_filename", "").startswith(self._plugins)
        ):
            text = "%s was replaced after it was collected" % item.nodeid
            self._report.write(kind="intrusion", text=text)
        outcome = yield
        self._raised[item.nodeid] = outcome.excinfo is not None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if type(report).__name__.lower() == "subtestreport" and not report.failed:
            return  # its test has a report of its own
        if report.outcome == "rerun":
            return  # pytest-rerunfailures; the last run has another outcome
        self._report.write(
            kind="test",
            test=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            raised=report.when == "call" and self._raised.get(report.nodeid, False),
            text=str(report.longrepr or ""),
        )

    # Outermost: what a plugin changes while it runs a test, it has changed back.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self):
        yield
        self._look()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        self._look()
        self._report.write(kind="finished", exit_code=int(exitstatus))


def _patches_of_pytest():
    """What pytest's own plugin for old paths puts into pytest's classes."""
    legacy = sys.modules.get("_pytest.legacypath")
    values = vars(legacy).values() if legacy else ()
    return [
        value
        for value in values
        if getattr(value, "__module__", None) == "_pytest.legacypath"
    ]


def _places(plugins, tree):
    """The files and packages of plugins that are neither pytest's nor the tree's."""
    places = set()
    for plugin in plugins:
        name = getattr(plugin, "__name__", "").partition(".")[0]
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None) or tree + os.sep
        if name == "_pytest" or file.startswith(tree + os.sep):
            continue
        is_package = hasattr(module, "__path__")
        places.add(os.path.dirname(file) + os.sep if is_package else file)
    return tuple(places)


def _module(item):
    """The module of a test; of a test in another file, the collector."""
    return item.getparent(pytest.Module) or item.getparent(pytest.File) or item.parent


def _make(cls, parent, name, **values):
    # Before pytest 5.4 nodes were made directly.
    if hasattr(cls, "from_parent"):
        return cls.from_parent(parent, name=name, **values)
    return cls(name, parent, **values)


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
        if "source" in rewrite_asserts.__code__.co_varnames:
            rewrite_asserts(tree, text, path, None)
        else:  # before pytest 5
            rewrite_asserts(tree, sys.modules["py"].path.local(path), None)
        return compile(tree, path, "exec", dont_inherit=True)

    return (plain, rewritten)
