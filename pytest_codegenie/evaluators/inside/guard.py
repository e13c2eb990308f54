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
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, type)
_METHODS = (types.FunctionType, classmethod, staticmethod, property)


class Machinery(object):
    """A snapshot of what a test run is made of."""

    def __init__(self, own_classes):
        self._entries = []
        self._codes = []
        self._names = {}
        self._traces = (sys.gettrace(), sys.getprofile())
        for name, module in sorted(sys.modules.items()):
            if name.partition(".")[0] in _MACHINERY and module is not None:
                self._take_module(module)
        for cls in own_classes:
            self._take_class(cls)

    def _take_module(self, module):
        names = vars(module)
        for name, value in list(names.items()):
            if not isinstance(value, _CALLABLES):
                continue
            if module is builtins and name in _FREE:
                continue
            self._entries.append((names, name, value))
            if isinstance(value, types.FunctionType):
                self._take_code(value)
            elif isinstance(value, type):
                home = getattr(value, "__module__", None) or ""
                if str(home).partition(".")[0] in _MACHINERY:
                    self._take_class(value)

    def _take_class(self, cls):
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
            if names.get(name) is not value:
                home = getattr(value, "__module__", None) or "a class"
                return "%s.%s was replaced" % (home, name)
        for function, code, defaults in self._codes:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return "the code of %s was replaced" % function.__qualname__
        for cls, names in self._names.items():
            if len(vars(cls)) != len(names):
                for name in set(vars(cls)) - names:
                    if self._steers(cls, name):
                        return "%s.%s was added" % (cls.__qualname__, name)
        if (sys.gettrace(), sys.getprofile()) != self._traces:
            return "a trace function was set"
        return ""

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
            except Exception:  # noqa: S112 -- then it cannot be collected either
                continue
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
