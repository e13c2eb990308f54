"""The evaluators ``pytest`` and ``unittest``."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import dotted
from pytest_codegenie.evaluators.protection import module_file
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.pytest_in_tree import PYTEST_MODULES
from pytest_codegenie.evaluators.pytest_in_tree import pytest_in_tree
from pytest_codegenie.evaluators.pytest_settings import PYTEST_FILES
from pytest_codegenie.evaluators.pytest_settings import pytest_settings
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.evaluators.witnessed import Script
from pytest_codegenie.evaluators.witnessed import asked_tests
from pytest_codegenie.evaluators.witnessed import run_witnessed


#: pytest.ExitCode.USAGE_ERROR; pytest is not imported for a number.
_USAGE_ERROR = 4


class PytestEvaluator:
    """Runs tests by pytest node ids, with the case's own settings.

    Plugins are loaded where the environment was made for the case. An id that ends
    within its parameters stands for all tests that begin so.
    """

    name = "pytest"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back test files, conftest.py, settings and start-up hooks."""
        in_tree = pytest_in_tree(judgement.base, site.environment.roots)
        return protect_python(
            judgement,
            site,
            more_modules=PYTEST_MODULES if in_tree else frozenset(),
        )

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests and hold the report against exit code and request."""
        asked = asked_tests(judgement)
        files = tuple(dict.fromkeys(test.partition("::")[0] for test in asked))
        for name in files:
            if not (site.tree / name).is_file():
                raise EvaluatorError(
                    f"{name} is asked for in expected/tests.toml, but neither the "
                    "repository nor the hidden tests have it; mend the ids"
                )
        script = Script(
            "run_pytest.py",
            runs="pytest",
            tests={test: test for test in asked},
            files=files,
            more={
                "settings": site.inside(_place_settings(judgement, site)),
                "pytest_in_tree": pytest_in_tree(
                    judgement.base, site.environment.roots
                ),
            },
        )
        run = run_witnessed(script, judgement, site)
        if run.completed.exit_code == _USAGE_ERROR and b"conftest" not in (
            run.completed.stderr
        ):
            # It read the settings, which are the case's own, and nothing else.
            raise EvaluatorError(f"pytest does not start: {tail(run.completed)}")
        return run.verdict(judgement)


class UnittestEvaluator:
    """Runs tests by dotted ids (``tests.test_x.TestY.test_z``).

    ``test_z (tests.test_x.TestY)``, as unittest prints it, is understood too.
    """

    name = "unittest"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back test files and start-up hooks."""
        return protect_python(judgement, site)

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests and hold the report against exit code and request."""
        asked = asked_tests(judgement)
        script = Script(
            "run_unittest.py",
            runs="unittest",
            tests={test: dotted(test) for test in asked},
            files=tuple(dict.fromkeys(map(module_file, asked))),
        )
        return run_witnessed(script, judgement, site).verdict(judgement)


def _place_settings(judgement: Judgement, site: Site) -> Path:
    """Put the case's own pytest settings into the tree, under a name of ours.

    They have to lie in the tree's root, as paths in them are relative to their place.
    """
    own = [tree for tree in (judgement.overlay, judgement.base) if tree is not None]
    source = pytest_settings(own)
    if source is None:
        source = judgement.scratch / "pytest.ini"
        source.write_text("[pytest]\n", encoding="utf-8")
    if source.name in PYTEST_FILES:
        name = source.name
    else:
        name = f".codegenie-{secrets.token_hex(4)}{source.suffix}"
    copy = judgement.scratch / f"settings{source.suffix}"
    shutil.copyfile(source, copy)
    site.put({name: copy})
    return site.tree / name
