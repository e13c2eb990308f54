"""Whether a test run is still what it was before the tree could touch it.

``Machinery`` notices what judged code does to pytest, unittest and the few modules
that they and the tests are made of; ``Sources`` whether a test runs the code that its
file has. Both look before any of the tree is imported. Runs on any Python 3.6+.
"""

import ast
import builtins
import os
import sys
import types


#: Modules, with what is below them, that judged code has no reason to change. A test
#: may, while it runs: looked at is between tests.
_MACHINERY = frozenset(
    (
        "_pytest",
        "ast",
        "builtins",
        "functools",
        "hashlib",
        "importlib",
        "inspect",
        "iniconfig",
        "json",
        "math",
        "operator",
        "pluggy",
        "pytest",
        "traceback",
        "unittest",
    )
)
#: Tests and interactive tools do change these for longer.
_FREE = frozenset(
    (
        "_",
        "breakpoint",
        "copyright",
        "credits",
        "exit",
        "help",
        "input",
        "license",
        "open",
        "print",
        "quit",
    )
)
#: Parts of it whose answers no verdict hangs on, and which libraries mend for good:
#: exceptiongroup the one, torch the other. The environment's own code may.
_MENDED = frozenset(("inspect", "traceback"))
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, type)
_METHODS = (types.FunctionType, classmethod, staticmethod, property)


class Machinery(object):
    """A snapshot of what a test run is made of.

    Args:
        own_classes: Classes that are watched with it.
        expected: What may be put anywhere.
        plugins: Files and directories of the environment's pytest plugins. What they
            put into pytest and unittest.mock, after the snapshot, is their business.
        modules: Names of more modules, with what is below them.
        tree: Where it is, if it is on the path already.
        variants: As for Sources, of the plugins' files.
    """

    def __init__(
        self,
        own_classes,
        expected=(),
        plugins=(),
        modules=(),
        tree=None,
        variants=(),
    ):
        self._expected = list(expected)
        self._plugins = tuple(plugins)
        self._variants = variants
        self._plugin_codes = {}
        self._path = tuple(
            place for place in sys.path if place and not _is_below(place, tree)
        )
        self._entries = []
        self._codes = []
        self._names = {}
        self._tracers = ()
        self._traces = (sys.gettrace(), sys.getprofile())
        self._homes = _MACHINERY.union(modules)
        for name, module in sorted(sys.modules.items()):
            if self._is_watched(name) and module is not None:
                self._take_module(module)
        for cls in own_classes:
            self.take_class(cls)

    def _is_watched(self, name):
        return any(name == home or name.startswith(home + ".") for home in self._homes)

    def _take_module(self, module):
        names = vars(module)
        for name, value in list(names.items()):
            # A lazy object would be made if it were asked for its class.
            if not issubclass(type(value), _CALLABLES):
                continue
            if module is builtins and name in _FREE:
                continue
            self._entries.append((names, name, value))
            if isinstance(value, types.FunctionType):
                self._take_code(value)
            elif isinstance(value, type):
                home = getattr(value, "__module__", None) or ""
                if self._is_watched(str(home)):
                    self.take_class(value)

    def take_class(self, cls):
        """Watch a class too, as it is now."""
        if cls in self._names:
            return
        names = vars(cls)
        self._names[cls] = set(names)
        for name, value in list(names.items()):
            if isinstance(value, _METHODS):
                self._entries.append((names, name, value))
                self._take_code(getattr(value, "__func__", value))
                self._take_code(getattr(value, "fget", None))

    def _take_code(self, function):
        if isinstance(function, types.FunctionType):
            self._codes.append((function, function.__code__, function.__defaults__))

    def changed(self):
        """Say what is no longer as it was; "" if all is."""
        for names, name, value in self._entries:
            now = names.get(name)
            home = getattr(value, "__module__", None) or "a class"
            if now is not value and not self._expects(now, home):
                return "%s.%s was replaced" % (home, name)
        for function, code, defaults in self._codes:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return "the code of %s was replaced" % function.__qualname__
        for cls, names in self._names.items():
            if len(vars(cls)) != len(names):
                for name in set(vars(cls)) - names:
                    if self._steers(cls, name) and not self._expects(
                        vars(cls)[name], cls.__module__
                    ):
                        return "%s.%s was added" % (cls.__qualname__, name)
        for new in (sys.gettrace(), sys.getprofile()):
            # That one which was there is gone shows nobody anything.
            if new not in (None, *self._traces) and not isinstance(
                _owner(new), self._tracers
            ):
                return "a trace function was set"
        return ""

    def accept_coverage(self):
        """Take it that coverage.py traces from now on, if it does."""
        owner = type(_owner(sys.gettrace()))
        if owner.__module__.partition(".")[0] == "coverage":
            self._tracers = (owner, sys.modules["coverage.collector"].Collector)

    def _expects(self, value, home):
        function = getattr(value, "fget", value)
        if any(function is one for one in self._expected):
            return True
        # What pytest-mock puts into unittest.mock is a mock around its function.
        inner = getattr(getattr(value, "mock", None), "side_effect", None)
        if inner is not None:
            return home.startswith("unittest.mock") and self._is_of_plugin(inner)
        if home.startswith(("_pytest.", "unittest.mock")):
            return self._is_of_plugin(function)
        file = _file(function)
        from_environment = os.path.isfile(file) and file.startswith(self._path)
        return home in _MENDED and from_environment

    def _is_of_plugin(self, function):
        """Say whether a function is in a plugin's file: its code, not what it claims.

        Any code can be compiled under any file's name.
        """
        file = _file(function)
        if not file.startswith(self._plugins):
            return False
        if file not in self._plugin_codes:
            codes = []
            try:
                with open(file, "rb") as source:
                    text = source.read()
                for variant in self._variants:
                    codes += _codes_in(variant(text, file))
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                codes = []
            self._plugin_codes[file] = codes
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return code in self._plugin_codes[file]

    def _steers(self, cls, name):
        """Say whether a new attribute of a class is more than a note of its owner's."""
        value = vars(cls)[name]
        if name.startswith("__annot"):
            return False  # Python 3.14 keeps annotations once somebody asked for them
        if (
            callable(value)
            or hasattr(value, "__get__")
            or name.startswith("__unittest")
        ):
            return True
        return any(name in self._names.get(base, ()) for base in cls.__mro__[1:])


class Sources(object):
    """The code of each test that is written down in a file.

    Args:
        tree: The directory that the files are in.
        files: Paths relative to it.
        variants: Functions from (text, path) to a code object: the ways in which the
            file may be compiled.
    """

    def __init__(self, tree, files, variants):
        self._codes = {}
        for name in files:
            path = os.path.join(tree, *name.split("/"))
            try:
                with open(path, "rb") as file:
                    text = file.read()
                decorated = _decorated_lines(ast.parse(text, filename=path))
                codes = [variant(text, path) for variant in variants]
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # then it cannot be collected either
            for code in codes:
                self._add(name, (), code, decorated)

    def _add(self, file, place, code, decorated):
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                here = (*place, inner.co_name)
                if inner.co_firstlineno in decorated:
                    inner_known = None
                else:
                    inner_known = inner
                self._codes.setdefault((file, here), []).append(inner_known)
                self._add(file, here, inner, decorated)

    def contradicts(self, file, place, function):
        """Say whether the file has other code for the test; unknown tests are believed.

        Args:
            file: A path as it was given.
            place: Names of classes and of the test, such as ``("TestA", "test_b")``.
            function: What is going to run.
        """
        known = self._codes.get((file, tuple(place)))
        if not known or None in known:
            return False
        function = getattr(function, "__func__", function)
        return getattr(function, "__code__", None) not in known


def _is_below(place, tree):
    return tree is not None and (place + os.sep).startswith(tree + os.sep)


def _owner(trace):
    return getattr(trace, "__self__", trace)


def _file(function):
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return getattr(code, "co_filename", "")


def _codes_in(code):
    """Return a code object and all that are defined in it."""
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _codes_in(constant)
    return found


def _decorated_lines(tree):
    """Return where functions begin whose decorators may replace them."""
    lines = set()
    for node in ast.walk(tree):
        decorators = getattr(node, "decorator_list", ())
        if any(
            _root_name(decorator) not in ("pytest", "mark") for decorator in decorators
        ):
            lines.add(node.lineno)
            lines.add(min(decorator.lineno for decorator in decorators))
    return lines


def _root_name(node):
    while not isinstance(node, ast.Name):
        node = getattr(node, "value", None) or getattr(node, "func", None)
        if node is None:
            return ""
    return node.id
