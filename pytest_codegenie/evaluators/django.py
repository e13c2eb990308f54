"""The evaluator ``django``: Django's own suite, and projects that are made with it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import dotted
from pytest_codegenie.evaluators.protection import module_file
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.witnessed import Script
from pytest_codegenie.evaluators.witnessed import asked_tests
from pytest_codegenie.evaluators.witnessed import run_witnessed


#: Where a repository has one: how its tests are run, labels left out.
_PROGRAMS = {
    "tests/runtests.py": ("--verbosity=2", "--settings=test_sqlite", "--parallel=1"),
    "manage.py": ("test", "--verbosity=2", "--noinput"),
}
#: ``test_x (app.tests.Case)``, and what follows where it is a subtest's.
_PRINTED = re.compile(r"(\w+ \([\w.]+\))(?: [(\[].*)?")
#: ``app.tests.Case.test_x``
_DOTTED = re.compile(r"\w+(\.\w+){2,}")


class DjangoEvaluator:
    """Runs tests by ids as Django prints them, or by dotted ones.

    ``test_x (app.tests.Case)``, ``test_x (app.tests.Case.test_x)`` as Python 3.11 has
    it, ``app.tests.Case.test_x``; and for a test with a docstring its first line, which
    Django prints instead. The command is a Python program of the tree and its
    arguments; the default is ``tests/runtests.py`` or ``manage.py test``, and as labels
    the modules that the ids name.
    """

    name = "django"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back test files, start-up hooks and the program itself."""
        program = _program(judgement)
        steering = {program.path, *_candidates(program, judgement)}
        return protect_python(judgement, site, more_files=frozenset(steering))

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests and hold the report against exit code and request."""
        program = _program(judgement)
        if not (site.tree / program.path).is_file():
            raise EvaluatorError(
                f"expected/tests.toml: command: there is no {program.path} in the tree"
            )
        files = [
            path
            for path in _candidates(program, judgement)
            if (site.tree / path).is_file()
        ]
        script = Script(
            "run_django.py",
            runs="django",
            tests={test: canonical(test) for test in asked_tests(judgement)},
            files=files,
            more={
                "program": program.path,
                "arguments": list(program.arguments),
                "django_in_tree": _has_django(judgement.base, site),
            },
        )
        return run_witnessed(script, judgement, site).verdict(judgement)


@dataclass(frozen=True, slots=True)
class _Program:
    #: POSIX, relative to the tree.
    path: str
    arguments: tuple[str, ...]


def canonical(test: str) -> str:
    """Return the dotted id; what has not the form of an id is a docstring's line."""
    printed = _PRINTED.fullmatch(test)
    return dotted(printed[1]) if printed else test


def _program(judgement: Judgement) -> _Program:
    if judgement.command:
        return _given_program(judgement.command)
    for path, arguments in _PROGRAMS.items():
        if (judgement.base / path).is_file():
            return _Program(path, (*arguments, *_labels(judgement)))
    raise EvaluatorError(
        f"the repository has neither {' nor '.join(_PROGRAMS)}; give the program that "
        "runs its tests as command in expected/tests.toml"
    )


def _given_program(command: str | Sequence[str]) -> _Program:
    words = shlex.split(command) if isinstance(command, str) else list(command)
    for number, word in enumerate(words):
        path = posixpath.normpath(word)
        if path.endswith(".py") and not path.startswith(("/", "../")):
            return _Program(path, tuple(words[number + 1 :]))
    raise EvaluatorError(
        f"expected/tests.toml: command: {shlex.join(words)!r} names no Python program "
        "of the tree; expected one like 'manage.py test app.tests'"
    )


def _labels(judgement: Judgement) -> list[str]:
    """Return the modules of the tests, as far as their ids name them."""
    modules = {
        ".".join(name.split(".")[:-2])
        for name in map(canonical, asked_tests(judgement))
        if _DOTTED.fullmatch(name)
    }
    if not modules:
        raise EvaluatorError(
            "expected/tests.toml: no id says which module its test is in; give a "
            "command with labels, like 'manage.py test app.tests'"
        )
    return sorted(modules)


def _candidates(program: _Program, judgement: Judgement) -> list[str]:
    """Return where the files of the tests may be."""
    directory = posixpath.dirname(program.path)
    files = [
        module_file(name)
        for name in map(canonical, asked_tests(judgement))
        if _DOTTED.fullmatch(name)
    ]
    beside = [posixpath.join(directory, file) for file in files]
    return list(dict.fromkeys((*beside, *files)))


def _has_django(base: Path, site: Site) -> bool:
    return any(
        (base / root / "django/__init__.py").is_file()
        for root in ("", *site.environment.roots)
    )
