"""The evaluators ``pytest`` and ``unittest``."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import PYTEST_FILES
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protection import pytest_settings
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.witness import disagreements
from pytest_codegenie.evaluators.witness import make_result
from pytest_codegenie.evaluators.witness import read_report
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted


_INSIDE = Path(__file__).with_name("inside")
#: pytest.ExitCode.INTERNAL_ERROR; pytest is not imported for a number.
_INTERNAL_ERROR = 3


class PytestEvaluator:
    """Runs tests by pytest node ids, with the case's own settings, no plugins."""

    name = "pytest"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back test files, conftest.py, settings and start-up hooks."""
        return protect_python(judgement, site)

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests and hold the report against exit code and request."""
        asked = (*judgement.fail_to_pass, *judgement.pass_to_pass)
        files = list(dict.fromkeys(test.partition("::")[0] for test in asked))
        for name in files:
            if not (site.tree / name).is_file():
                raise EvaluatorError(
                    f"{name} is asked for in expected/tests.toml, but neither the "
                    "repository nor the hidden tests have it; mend the ids"
                )
        request = {
            "tests": asked,
            "files": files,
            "settings": str(_place_settings(judgement, site)),
        }
        verdict, completed = _run("run_pytest.py", request, judgement, site)
        if completed.exit_code == _INTERNAL_ERROR and not verdict.tampering:
            raise EvaluatorError(
                f"pytest had an internal error: {_tail(completed.stdout)}"
            )
        return verdict


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
        asked = (*judgement.fail_to_pass, *judgement.pass_to_pass)
        request = {"tests": [_dotted(test) for test in asked]}
        names = {_dotted(test): test for test in asked}
        verdict, _ = _run("run_unittest.py", request, judgement, site, names)
        return verdict


def _dotted(test: str) -> str:
    method, separator, rest = test.partition(" (")
    place = rest.rstrip(")")
    if not separator:
        return test
    # Since 3.11 unittest repeats the method in the parentheses.
    return place if place.endswith(f".{method}") else f"{place}.{method}"


def _run(
    script: str,
    request: Mapping[str, Any],
    judgement: Judgement,
    site: Site,
    names: Mapping[str, str] | None = None,
) -> tuple[Verdict, Completed]:
    """Run a script of ``inside/`` on the tree and judge what it reports."""
    report_path = judgement.scratch / "report.jsonl"
    request_path = judgement.scratch / "request.json"
    request_path.write_text(
        json.dumps(
            {
                **request,
                "tree": str(site.tree),
                "report": str(report_path),
                "seed": secrets.token_hex(16),
            }
        ),
        encoding="utf-8",
    )
    argv = [
        sys.executable,
        # No PYTHON* variables, user site or working directory on the path, and no
        # bytecode written; what bytecode the patch brought is gone by now.
        "-I",
        "-B",
        str(_INSIDE / script),
        str(request_path),
    ]
    completed = run_tests(argv, judgement, site)
    report = read_report(report_path)
    asked: Sequence[str] = request["tests"]
    tampering = disagreements(report, asked, completed)
    for dotted, name in (names or {}).items():
        if dotted in report.statuses:
            report.statuses[name] = report.statuses[dotted]
        if dotted in report.texts:
            report.texts[name] = report.texts[dotted]
    result = make_result(
        judgement.instance_id,
        report,
        judgement.fail_to_pass,
        judgement.pass_to_pass,
        completed,
    )
    return Verdict(result, tampering), completed


def run_tests(argv: Sequence[str], judgement: Judgement, site: Site) -> Completed:
    """Run a test command in the tree.

    Raises:
        EvaluatorError: It cannot be started.
    """
    limits = Limits(timeout_seconds=judgement.timeout_seconds, grace_seconds=1.0)
    try:
        return site.exec(
            argv,
            env=site.environment("judge"),
            limits=limits,
            log_path=judgement.log_path,
        )
    except NotStarted as exc:
        raise EvaluatorError(f"the tests cannot be run: {exc}") from exc


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


def _tail(output: bytes) -> str:
    return output.decode(errors="replace").strip()[-2000:]
