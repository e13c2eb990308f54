"""Does an imported case come out here as it is labelled? Oracle and nop tell."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from typing import NamedTuple

from pytest_codegenie.corpus.reproduction import Reason
from pytest_codegenie.harness.runner import run_case
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import TestStatus
from pytest_codegenie.workspaces.sources import NOT_FETCHED


class Finding(NamedTuple):
    """What came of it."""

    #: "": it comes out as labelled.
    reason: Reason = ""
    detail: str = ""
    #: Ids of the tests that are not as labelled.
    tests: tuple[str, ...] = ()


def reproduce_case(disposition: Disposition, make: Callable[[str], CaseJob]) -> Finding:
    """Run oracle and nop once each, and compare with what the case says of itself.

    A positive case is passed by its gold patch, and none of its fail-to-pass tests
    passes without. A negative case is passed by doing nothing.

    Args:
        disposition: Of the case, without a mark.
        make: From an agent's name to the job.

    Raises:
        BenchCaseDigestMismatch: The case changed since it was verified.
        BenchCaseLoadError: The case's task cannot be read.
    """
    if disposition == "negative":
        return _untouched(run_case(make("nop")))
    found = _after(run_case(make("oracle")))
    if found.reason:
        return found
    # Its tests are run, although there is nothing to judge.
    nop = make("nop").model_copy(update={"judge_empty_patch": True})
    return _before(run_case(nop))


def _untouched(result: CaseResult) -> Finding:
    if result.outcome == "passed":
        return Finding()
    return _broken(result) or Finding(
        "fails-untouched",
        f"doing nothing does not pass it: {result.message}",
        _not_passed(_statuses(result)),
    )


def _after(result: CaseResult) -> Finding:
    """Say how a case with its gold patch is not as labelled."""
    if result.outcome == "passed":
        return Finding()
    found = _broken(result)
    if found is not None:
        return found
    code = result.score.failure_modes[0].code if result.score.failure_modes else ""
    if code == "patch.does_not_apply":
        return Finding("gold-does-not-apply", result.message)
    if _is_timeout(result):
        return Finding("hangs", f"with the gold patch, {result.message}")
    statuses = _statuses(result)
    missing = tuple(test for test, status in statuses.items() if status == "missing")
    wrong = _not_passed(statuses)
    if missing and set(missing) == set(wrong):
        words = f"{_counted(missing, statuses)} not there after the fix"
        return Finding("missing-after", words, missing)
    words = f"{_counted(wrong, statuses)} not passed after the fix"
    return Finding("fails-after", f"{words}: {result.message}", wrong)


def _before(result: CaseResult) -> Finding:
    """Say how a case without any patch is not as labelled.

    Its pass-to-pass tests do not matter here: what breaks the test run before the fix
    breaks it for all of them, and no agent is judged by it.
    """
    found = _broken(result)
    if found is not None:
        return found
    evaluation = _evaluation(result)
    fixed = evaluation.fail_to_pass_results if evaluation else {}
    passing = tuple(test for test, status in fixed.items() if status == "passed")
    if passing:
        words = f"{len(passing)} of {len(fixed)} fail-to-pass tests pass before the fix"
        return Finding("passes-before", words, passing)
    if result.outcome == "passed":
        return Finding("passes-before", "doing nothing passes it")
    return Finding()


def _broken(result: CaseResult) -> Finding | None:
    """Return what kept a case from being judged; None: nothing did."""
    if result.outcome != "error":
        return None
    code = result.score.failure_modes[0].code
    if code != "workspace.error":
        return Finding("not-judged", f"{code}: {result.message}")
    no_base = (NOT_FETCHED, "input/task.toml: repository.", "no base can be made")
    if result.message.startswith(no_base):
        return Finding("no-base", result.message)
    return Finding("no-environment", result.message)


def _evaluation(result: CaseResult) -> EvalResult | None:
    return result.output.evaluation if result.output else None


def _is_timeout(result: CaseResult) -> bool:
    evaluation = _evaluation(result)
    return evaluation is not None and evaluation.status == "timeout"


def _statuses(result: CaseResult) -> Mapping[str, TestStatus]:
    evaluation = _evaluation(result)
    if evaluation is None:
        return {}
    return evaluation.fail_to_pass_results | evaluation.pass_to_pass_results


def _not_passed(statuses: Mapping[str, TestStatus]) -> tuple[str, ...]:
    return tuple(test for test, status in statuses.items() if status != "passed")


def _counted(tests: tuple[str, ...], statuses: Mapping[str, TestStatus]) -> str:
    return f"{len(tests)} of {len(statuses)} tests {'is' if len(tests) == 1 else 'are'}"
