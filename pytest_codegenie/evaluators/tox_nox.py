"""The evaluators ``tox`` and ``nox``: one environment, or one session, of a project.

Judging has no network. An environment that tox or nox would have to fill first cannot
be had then: it has to be in the workspace's image, or else the case's own environment
is used (``tox --current-env`` with tox-current-env, ``nox --no-venv --no-install``).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.command import CommandEvaluator
from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.formats import junit
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.reported import ReportedTests
from pytest_codegenie.evaluators.reported import Runner
from pytest_codegenie.evaluators.running import run_tests
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.evaluators.steering import Steering


def read_junit(data: bytes, judgement: Judgement) -> Report:
    """Read a JUnit report; pytest's ids are understood, by how pytest writes them."""
    report = junit.parse(data)
    for test in (*judgement.fail_to_pass, *judgement.pass_to_pass):
        written = junit_id(test)
        if written in report.statuses:
            text = report.texts.get(written, "")
            report.add(test, report.statuses[written], text)
    return report


def junit_id(test: str) -> str:
    """Return ``tests.test_x.TestY.test_z[1]`` for a pytest id of that test."""
    place, bracket, parameters = test.partition("[")
    file, *names = place.split("::")
    module = file.removesuffix(".py").replace("/", ".")
    return ".".join((module, *names)) + bracket + parameters


class SessionEvaluator(ReportedTests):
    """Runs the tests as the project's own automation does.

    Where tests are listed, pytest has to write a JUnit report to ``{report}``, which
    has to agree with the exit code. Where none is, the exit code decides.
    """

    #: What the tool is asked for to make its environment, and to run nothing in it.
    only_install: tuple[str, ...]
    #: What to do where it cannot.
    remedy: str

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run them."""
        if judgement.fail_to_pass or judgement.pass_to_pass:
            return super().evaluate(judgement, site)
        command = judgement.command or tuple(_before_dashes(self.runner.command))
        verdict = CommandEvaluator().evaluate(
            dataclasses.replace(judgement, command=command), site
        )
        if verdict.result.status == "failed":
            self._check_start(judgement, site)
        return verdict

    def _check_start(self, judgement: Judgement, site: Site) -> None:
        """See to it that there is an environment; a patch has no part in making it.

        Raises:
            EvaluatorError: There is none.
        """
        command = judgement.command or self.runner.command
        if isinstance(command, str):
            return  # a shell's, whose end nobody knows
        probe = (*_before_dashes(command), *self.only_install)
        completed = run_tests(probe, judgement, site)
        if completed.exit_code:
            raise EvaluatorError(
                f"{' '.join(probe)} fails: {self.remedy}\n{tail(completed)}"
            )


class ToxEvaluator(SessionEvaluator):
    """Runs an environment of tox, ``py`` if the case names none."""

    name = "tox"
    only_install = ("--notest", "--skip-pkg-install")
    remedy = (
        "judging has no network, so the environment must be there already, in the "
        "workspace's image; or let tox use the case's own: install tox-current-env "
        'there and give command = ["tox", "--current-env", "-e", "py", "--", '
        '"--junitxml={report}"]'
    )
    runner = Runner(
        command=("tox", "run", "-e", "py", "--", "--junitxml={report}"),
        source="files",
        read=read_junit,
        steering=Steering(
            settings=("tox.ini", "tox.toml"), keys={"pyproject.toml": ("tool.tox",)}
        ),
        python=True,
    )


class NoxEvaluator(SessionEvaluator):
    """Runs a session of nox, ``tests`` if the case names none."""

    name = "nox"
    only_install = ("--install-only",)
    remedy = (
        "judging has no network, so the session's environment must be there already, "
        "in the workspace's image; or let nox use the case's own: command = "
        '["nox", "--no-venv", "--no-install", "-s", "tests", "--", '
        '"--junitxml={report}"]'
    )
    runner = Runner(
        command=("nox", "-s", "tests", "--", "--junitxml={report}"),
        source="files",
        read=read_junit,
        steering=Steering(settings=("noxfile.py",)),
        python=True,
    )


def _before_dashes(command: Sequence[str]) -> list[str]:
    return list(itertools.takewhile(lambda word: word != "--", command))
