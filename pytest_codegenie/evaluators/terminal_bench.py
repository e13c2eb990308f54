"""The evaluator ``terminal-bench``: a script that runs pytest, and its summary."""

from __future__ import annotations

import re

from pytest_codegenie.evaluators.agreement import readable
from pytest_codegenie.evaluators.outside import TESTS
from pytest_codegenie.evaluators.outside import check_start
from pytest_codegenie.evaluators.outside import check_tools
from pytest_codegenie.evaluators.outside import run_script
from pytest_codegenie.evaluators.outside import show_tests
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


_COMMAND = ("env", f"TEST_DIR={TESTS}", "bash", f"{TESTS}/run-tests.sh")
_KEPT_BYTES = 16 << 20
_SUMMARY = re.compile(r"=+\s*short test summary info\s*=+", re.IGNORECASE)
_LINE = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS):?\s+(\S.*)$", re.M)
#: Terminal-Bench's: what is skipped, or fails as expected, has passed.
_GOOD = ("PASSED", "SKIPPED", "XFAIL")


class TerminalBenchEvaluator:
    """Runs ``/tests/run-tests.sh``; all tests of pytest's summary have to pass.

    Without a summary the case is not resolved, as with Terminal-Bench, unless the
    script could not be run, or for want of a network: that is an error.
    """

    name = "terminal-bench"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Leave the tree as it is: the tests are not in it."""
        return ()

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the script and read the summary.

        Raises:
            EvaluatorError: It cannot be run here.
        """
        show_tests(judgement, site)
        completed = run_script(judgement, site, _COMMAND, keep_bytes=_KEPT_BYTES)
        results = read_summary(completed.stdout.decode(errors="replace"))
        resolved = _is_resolved(results, completed)
        if not resolved and not results and not completed.timed_out:
            check_tools(judgement, completed)
            check_start(completed)
        return Verdict(_result(judgement, results, completed, resolved=resolved))


def read_summary(output: str) -> dict[str, TestStatus]:
    """Return what pytest's short summary says of each test; empty where there is none.

    A test that any line calls failed has failed: what is judged can print lines, too.
    """
    _, *rest = _SUMMARY.split(output, maxsplit=1)
    results: dict[str, TestStatus] = {}
    for word, told in _LINE.findall(rest[0] if rest else ""):
        name = told.partition(" - ")[0].rpartition("::")[2].strip() or told
        if word not in _GOOD:
            results[name] = "failed"
        else:
            results.setdefault(name, "passed")
    return results


def _is_resolved(results: dict[str, TestStatus], completed: Completed) -> bool:
    ended = completed.timed_out or completed.exceeded
    return bool(results) and not ended and "failed" not in results.values()


def _result(
    judgement: Judgement,
    results: dict[str, TestStatus],
    completed: Completed,
    *,
    resolved: bool,
) -> EvalResult:
    status: EvalStatus = "passed" if resolved else "failed"
    failed = [name for name, result in results.items() if result == "failed"]
    words = "the tests printed no short summary"
    if completed.timed_out:
        words = f"the tests ran longer than {judgement.timeout_seconds:g} seconds"
    elif failed:
        words = f"failed: {', '.join(failed[:5])}"
    return EvalResult(
        instance_id=judgement.instance_id,
        status="timeout" if completed.timed_out else status,
        fail_to_pass_results={
            readable(name): result for name, result in results.items()
        }
        or {"tests": "missing"},
        pass_to_pass_results={},
        resolved=resolved,
        error_message=""
        if resolved
        else readable(f"{completed.exceeded or words}\n{tail(completed)}"),
        duration_seconds=completed.duration_seconds,
    )
