"""The evaluator ``harbor``: a script that writes a reward, as Harbor has it."""

from __future__ import annotations

import json
import math
from pathlib import Path

from pytest_codegenie.errors import EvaluatorError
from pytest_codegenie.evaluators.agreement import readable
from pytest_codegenie.evaluators.outside import check_start
from pytest_codegenie.evaluators.outside import check_tools
from pytest_codegenie.evaluators.outside import run_script
from pytest_codegenie.evaluators.outside import show_tests
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.protocol import Site
from pytest_codegenie.evaluators.protocol import Verdict
from pytest_codegenie.evaluators.report_files import read_file
from pytest_codegenie.evaluators.running import tail
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


#: Where the script leaves its reward.
_LOGS = "/logs/verifier"
#: As Harbor starts it: by its first line, or else by bash.
_COMMAND = ("bash", "-c", "/tests/test.sh")
#: Of several rewards, the one that decides.
_REWARD = "reward"
_ENOUGH = 1.0
_MAX_REWARD_BYTES = 1 << 16
_KEPT_BYTES = 1 << 16


class HarborEvaluator:
    """Runs ``/tests/test.sh``; a reward of 1 in ``/logs/verifier`` resolves the case.

    Each reward is one test of the result, by its name. Without a reward there is no
    verdict, as with Harbor: that is an error.
    """

    name = "harbor"

    def protect(self, judgement: Judgement, site: Site) -> tuple[str, ...]:
        """Leave the tree as it is: the tests are not in it."""
        return ()

    def evaluate(self, judgement: Judgement, site: Site) -> Verdict:
        """Run the script and read its reward.

        Raises:
            EvaluatorError: It gives none, or cannot be run here.
        """
        # A place of its own, empty: nothing that was there before is a reward.
        place = show_tests(judgement, site).show(_LOGS, None)
        completed = run_script(judgement, site, _COMMAND, keep_bytes=_KEPT_BYTES)
        if completed.timed_out or completed.exceeded:
            return Verdict(_ended(judgement, completed))
        rewards = read_rewards(place)
        if rewards is None or not is_enough(rewards):
            check_tools(judgement, completed)
        if rewards is None:
            check_start(completed)
            raise EvaluatorError(
                f"the test script wrote no {_LOGS}/reward.txt or reward.json, and "
                f"ended with exit code {completed.exit_code}: {tail(completed)}"
            )
        return Verdict(_result(judgement, rewards, completed))


def read_rewards(place: Path) -> dict[str, float] | None:
    """Return the rewards by their names; None where there are none.

    Raises:
        EvaluatorError: What is there is no reward.
    """
    for name in ("reward.json", "reward.txt"):
        if not (place / name).exists() and not (place / name).is_symlink():
            continue
        text = read_file(place / name, _MAX_REWARD_BYTES)
        if text is None:
            raise EvaluatorError(f"{_LOGS}/{name} is no file, or too long for a reward")
        return _parsed(name, text)
    return None


def _parsed(name: str, text: bytes) -> dict[str, float]:
    try:
        value = json.loads(text) if name.endswith(".json") else float(text)
    except (ValueError, RecursionError) as exc:
        raise EvaluatorError(
            f"{_LOGS}/{name} holds no reward: {text[:200].decode(errors='replace')!r}"
        ) from exc
    rewards = value if isinstance(value, dict) else {_REWARD: value}
    for key, number in rewards.items():
        if not isinstance(number, int | float) or not math.isfinite(number):
            raise EvaluatorError(
                f"{_LOGS}/{name}: {key}: a reward is a finite number, not {number!r}"
            )
    if not rewards:
        raise EvaluatorError(f"{_LOGS}/{name} is empty")
    return rewards


def is_enough(rewards: dict[str, float]) -> bool:
    """Say whether the reward that decides, or else each, is as much as asked for."""
    deciding = [rewards[_REWARD]] if _REWARD in rewards else rewards.values()
    return all(reward >= _ENOUGH for reward in deciding)


def _result(
    judgement: Judgement, rewards: dict[str, float], completed: Completed
) -> EvalResult:
    resolved = is_enough(rewards)
    results: dict[str, TestStatus] = {
        readable(name): "passed" if reward >= _ENOUGH else "failed"
        for name, reward in rewards.items()
    }
    told = ", ".join(f"{name} {reward:g}" for name, reward in rewards.items())
    status: EvalStatus = "passed" if resolved else "failed"
    words = f"{told}, and {_ENOUGH:g} is asked for\n{tail(completed)}"
    return EvalResult(
        instance_id=judgement.instance_id,
        status=status,
        fail_to_pass_results=results,
        pass_to_pass_results={},
        resolved=resolved,
        error_message="" if resolved else readable(words),
        duration_seconds=completed.duration_seconds,
    )


def _ended(judgement: Judgement, completed: Completed) -> EvalResult:
    """Return the result of a script that was ended before it gave a reward."""
    reason = completed.exceeded or f"{judgement.timeout_seconds:g} seconds"
    return EvalResult(
        instance_id=judgement.instance_id,
        status="timeout" if completed.timed_out else "failed",
        fail_to_pass_results={_REWARD: "missing"},
        pass_to_pass_results={},
        resolved=False,
        error_message=readable(f"the tests were ended: {reason}\n{tail(completed)}"),
        duration_seconds=completed.duration_seconds,
    )
