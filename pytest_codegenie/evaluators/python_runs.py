"""The evaluators ``pytest`` and ``unittest``."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.protection import dotted
from pytest_codegenie.evaluators.protection import module_file
from pytest_codegenie.evaluators.protection import protect_python
from pytest_codegenie.evaluators.protection import python_test_files
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.pytest_settings import PYTEST_FILES
from pytest_codegenie.evaluators.pytest_settings import pytest_settings
from pytest_codegenie.evaluators.witness import TestReport
from pytest_codegenie.evaluators.witness import disagreements
from pytest_codegenie.evaluators.witness import make_result
from pytest_codegenie.evaluators.witness import read_report
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted


_INSIDE = Path(__file__).with_name("inside")
#: pytest.ExitCode.USAGE_ERROR; pytest is not imported for a number.
_USAGE_ERROR = 4


class PytestEvaluator:
    """Runs tests by pytest node ids, with the case's own settings, no plugins."""

    name = "pytest"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Put back test files, conftest.py, settings and start-up hooks."""
        return protect_python(judgement, site)

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the tests and hold the report against exit code and request."""
        asked = _asked(judgement)
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
            "settings": site.inside(_place_settings(judgement, site)),
        }
        run = _run("run_pytest.py", request, judgement, site)
        if run.completed.exit_code == _USAGE_ERROR and b"conftest" not in (
            run.completed.stderr
        ):
            # It read the settings, which are the case's own, and nothing else.
            raise EvaluatorError(f"pytest does not start: {_tail(run.completed)}")
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
        names = {test: dotted(test) for test in _asked(judgement)}
        files = [module_file(test) for test in names]
        request = {
            "tests": list(dict.fromkeys(names.values())),
            "files": list(dict.fromkeys(files)),
        }
        run = _run("run_unittest.py", request, judgement, site)
        return run.verdict(judgement, names)


@dataclass(frozen=True, slots=True)
class _Run:
    """How a script of ``inside/`` ended, and what it reports."""

    completed: Completed
    report: TestReport
    tampering: tuple[str, ...]

    def verdict(
        self, judgement: Judgement, names: Mapping[str, str] | None = None
    ) -> Verdict:
        """Return what came of it.

        Args:
            judgement: What was asked for.
            names: Test id as asked for to the id in the report; None: they are equal.
        """
        for asked, reported in (names or {}).items():
            for table in (self.report.statuses, self.report.texts):
                if reported in table:
                    table[asked] = table[reported]  # type: ignore[assignment]
        result = make_result(
            judgement.instance_id,
            self.report,
            judgement.fail_to_pass,
            judgement.pass_to_pass,
            self.completed,
        )
        return Verdict(result, self.tampering)


def _asked(judgement: Judgement) -> tuple[str, ...]:
    asked = (*judgement.fail_to_pass, *judgement.pass_to_pass)
    if not asked:
        raise EvaluatorError(
            "expected/tests.toml asks for no test; list some in fail_to_pass or "
            "pass_to_pass"
        )
    return asked


def _run(
    script: str, request: Mapping[str, Any], judgement: Judgement, site: Site
) -> _Run:
    """Run a script of ``inside/`` on the tree and judge what it reports."""
    key = secrets.token_bytes(32)
    report_path = judgement.scratch / f"report-{secrets.token_hex(8)}.jsonl"
    request_path = judgement.scratch / "request.json"
    request_path.write_text(
        json.dumps(
            {
                **request,
                "roots": list(site.environment.roots),
                "plugins": site.environment.own,
                "tree": site.inside(site.tree),
                "report": site.inside(report_path),
                "seed": secrets.token_hex(16),
                "key": key.hex(),
            }
        ),
        encoding="utf-8",
    )
    # No PYTHON* variables, user site or working directory on the path, and no
    # bytecode written; what bytecode the patch brought is gone by now.
    argv = [
        site.environment.python,
        "-I",
        "-B",
        site.inside(_place_scripts(judgement) / script),
        site.inside(request_path),
    ]
    test_files = python_test_files(judgement, site.tree)
    before = _stamps(site.tree, test_files)
    completed = run_tests(argv, judgement, site)
    after = _stamps(site.tree, test_files)
    expecting = [
        path for path in test_files if _speaks_of_expected_failure(site.tree / path)
    ]
    report = read_report(
        report_path,
        key,
        expected_failures={
            test: _expects(test, expecting) for test in request["tests"]
        },
    )
    if not report.began:
        _check_start(argv[:3], judgement, site)
    tampering = [
        f"the test run wrote to {path}"
        for path in before
        if before[path] != after[path]
    ]
    tampering += disagreements(report, request["tests"], completed)
    return _Run(completed, report, tuple(tampering))


def _place_scripts(judgement: Judgement) -> Path:
    """Copy the scripts of ``inside/`` to where the workspace shows them."""
    place = judgement.scratch / f"inside-{secrets.token_hex(4)}"
    place.mkdir()
    for script in _INSIDE.glob("*.py"):
        shutil.copyfile(script, place / script.name)
    return place


def _stamps(tree: Path, files: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return what no program can set back once it has written to a file."""
    stamps: dict[str, tuple[int, ...]] = {}
    for name in files:
        try:
            status = (tree / name).stat()
        except OSError:
            stamps[name] = ()
        else:
            stamps[name] = (status.st_ino, status.st_size, status.st_ctime_ns)
    return stamps


def _speaks_of_expected_failure(path: Path) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return b"xfail" in text or b"expectedFailure" in text


def _expects(test: str, expecting: Sequence[str]) -> bool:
    """Say whether a test's file, or a conftest.py above it, is among those."""
    file = test.partition("::")[0] if "::" in test else module_file(test)
    above = {parent / "conftest.py" for parent in PurePosixPath(file).parents}
    return any(path == file or PurePosixPath(path) in above for path in expecting)


def _check_start(interpreter: Sequence[str], judgement: Judgement, site: Site) -> None:
    """See to it that it is not our own program that does not start.

    Raises:
        EvaluatorError: It does not, with no judged code about.
    """
    argv = [*interpreter, "-c", "import pytest"]
    completed = run_tests(argv, judgement, site)
    if completed.exit_code:
        raise EvaluatorError(
            f"pytest cannot be run with {interpreter[0]}: {_tail(completed)}"
        )


def run_tests(argv: Sequence[str], judgement: Judgement, site: Site) -> Completed:
    """Run a test command in the tree.

    Raises:
        EvaluatorError: It cannot be started.
    """
    limits = Limits(timeout_seconds=judgement.timeout_seconds, grace_seconds=1.0)
    try:
        return site.exec(
            argv,
            phase="judge",
            env=site.variables("judge"),
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


def _tail(completed: Completed) -> str:
    output = completed.stderr or completed.stdout
    return output.decode(errors="replace").strip()[-2000:]
