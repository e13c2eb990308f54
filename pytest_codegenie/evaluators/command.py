"""The evaluator ``command``: a program whose exit code says whether all is well."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.pytest_settings import PATH_SETTINGS
from pytest_codegenie.evaluators.pytest_settings import STEERING_SETTINGS
from pytest_codegenie.evaluators.running import run_tests
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus


#: Program to the files that say what it does.
_RECIPES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "nox": ("noxfile.py",),
    "tox": ("tox.ini", "tox.toml"),
}


class CommandEvaluator:
    """Runs one command; exit code 0 means that every test that is listed passed.

    Where ``expected/tests.toml`` lists no test, the command itself is the one test,
    under the id ``command``.
    """

    name = "command"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back what steers Python, make, nox and tox.

        The command may well be pytest, and then it reads the tree's own settings. A
        script of the case's that the command runs belongs into ``expected/overlay``.
        """
        return protect_python(
            judgement,
            site,
            settings=STEERING_SETTINGS | PATH_SETTINGS,
            more_files=_recipes(judgement.command),
        )

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the command."""
        command = judgement.command
        if not command:
            raise EvaluatorError("expected/tests.toml gives no command; add one")
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        completed = run_tests(argv, judgement, site)
        passed = completed.exit_code == 0 and not completed.timed_out
        each: TestStatus = "passed" if passed else "failed"
        fixed = dict.fromkeys(judgement.fail_to_pass, each)
        kept = dict.fromkeys(judgement.pass_to_pass, each)
        if not fixed and not kept:
            fixed = {"command": each}
        status: EvalStatus = "passed" if passed else "failed"
        output = (completed.stdout + completed.stderr).decode(errors="replace")
        return Verdict(
            EvalResult(
                instance_id=judgement.instance_id,
                status="timeout" if completed.timed_out else status,
                fail_to_pass_results=fixed,
                pass_to_pass_results=kept,
                resolved=passed,
                error_message=""
                if passed
                else f"exit code {completed.exit_code}\n{output[-4000:]}",
                duration_seconds=completed.duration_seconds,
            )
        )


def _recipes(command: str | Sequence[str] | None) -> frozenset[str]:
    """Return the files in which a command's own programs look up what to do."""
    words = re.split(r"[\s;&|()'\"]+", command) if isinstance(command, str) else command
    files: set[str] = set()
    for word in words or ():
        files.update(_RECIPES.get(posixpath.basename(word), ()))
    return frozenset(files)
