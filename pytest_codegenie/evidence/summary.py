"""What a run came to, for each task class and agent, from its results alone."""

from __future__ import annotations

import datetime as dt
import functools
import json
import platform
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from statistics import fmean
from typing import Any

from pytest_codegenie.evidence.statistics import Bound
from pytest_codegenie.evidence.statistics import lower_bound_95
from pytest_codegenie.evidence.statistics import mean
from pytest_codegenie.evidence.statistics import stddev
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import BenchScore


@dataclass(slots=True)
class Group:
    """One task class and agent of a run.

    Counted are judged cases that are not ambiguous; errors and ambiguous cases stand
    beside the figures, never in them.
    """

    task_class: str
    agent: str
    workspace: str = ""
    rubric_digest: str = ""
    passed: int = 0
    failed: int = 0
    errors: int = 0
    ambiguous: int = 0
    #: Case id to the scores of its trials; counted cases only.
    scores: dict[str, list[float]] = field(default_factory=dict)
    #: ``<case id>`` or ``<case id>-t<trial>`` to score; counted cases only.
    per_case: dict[str, BenchScore] = field(default_factory=dict)
    #: Case id to digest, of all cases.
    digests: dict[str, str] = field(default_factory=dict)
    breakdown: dict[str, list[float]] = field(default_factory=dict)
    #: (code, severity) to how often, errors' too.
    failure_modes: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Sum of what agents reported; None where none did.
    cost_usd: float | None = None
    #: Results whose agent reported no cost.
    unpriced: int = 0
    #: Sum of the tokens that agents reported; None where none did.
    tokens: int | None = None
    #: Results whose agent reported no tokens.
    unmetered: int = 0
    seconds: float = 0.0
    started_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None

    @property
    def results(self) -> int:
        """All results, each trial of a case one."""
        return self.passed + self.failed + self.errors + self.ambiguous

    @property
    def judged(self) -> int:
        """Results that say something, counted or not."""
        return self.passed + self.failed + self.ambiguous

    @property
    def case_means(self) -> list[float]:
        """One score a case, its trials averaged, in the order of the case ids."""
        # fmean: under xdist trials come in any order, and the mean may not differ.
        return [fmean(trials) for _, trials in sorted(self.scores.items())]

    @property
    def mean_score(self) -> float | None:
        """Mean over counted cases."""
        return mean(self.case_means)

    @property
    def score_stddev(self) -> float | None:
        """Sample standard deviation over counted cases."""
        return stddev(self.case_means)

    def bound(self) -> Bound:
        """Return the 95% lower bound, seeded by what was run."""
        inputs = json.dumps([self.task_class, self.agent, sorted(self.digests.items())])
        seed = int(hash_bytes(inputs.encode()).partition(":")[2][:16], 16)
        return _bound(tuple(self.case_means), seed)

    def breakdown_means(self) -> dict[str, float]:
        """Return the mean of each breakdown key over the cases that have it."""
        return {key: fmean(values) for key, values in sorted(self.breakdown.items())}


@functools.lru_cache(maxsize=64)
def _bound(scores: tuple[float, ...], seed: int) -> Bound:
    # Every report shows it, and of thousands of cases it takes seconds.
    return lower_bound_95(scores, seed=seed)


def summarise(results: Iterable[Mapping[str, Any]]) -> list[Group]:
    """Group results, as ``read_plain_results`` yields them; sorted by their names."""
    groups: dict[tuple[str, str], Group] = {}
    for result in results:
        key = (result["task_class"], result["agent"])
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(*key)
        _add(group, result)
    return [groups[key] for key in sorted(groups)]


def _add(group: Group, result: Mapping[str, Any]) -> None:
    score, case_id = result["score"], result["case_id"]
    group.workspace = result["workspace"]
    group.rubric_digest = result["rubric_digest"]
    group.digests[case_id] = result["case_digest"]
    started = dt.datetime.fromisoformat(result["started_at"])
    ended = dt.datetime.fromisoformat(result["ended_at"])
    group.started_at = min(group.started_at or started, started)
    group.ended_at = max(group.ended_at or ended, ended)
    group.seconds += sum(result["timings"].values())
    agent = (result["output"] or {}).get("agent", {})
    if agent.get("cost_usd") is None:
        group.unpriced += 1
    else:
        group.cost_usd = (group.cost_usd or 0.0) + agent["cost_usd"]
    if agent.get("tokens_used") is None:
        group.unmetered += 1
    else:
        group.tokens = (group.tokens or 0) + agent["tokens_used"]
    ambiguous = result["disposition"] == "ambiguous"
    if ambiguous and result["outcome"] != "error":
        group.ambiguous += 1
        return
    for mode in score["failure_modes"]:
        group.failure_modes[mode["code"], mode["severity"]] += 1
    if result["outcome"] == "error":
        group.errors += 1
        return
    if result["outcome"] == "passed":
        group.passed += 1
    else:
        group.failed += 1
    group.scores.setdefault(case_id, []).append(score["score"])
    trial = result["trial"]
    name = f"{case_id}-t{trial}" if trial > 1 else case_id
    group.per_case[name] = BenchScore.model_validate(score)
    for key, value in score["breakdown"].items():
        group.breakdown.setdefault(key, []).append(value)


def make_report(
    group: Group,
    *,
    run_id: str,
    harness_version: str,
    agent_settings: Mapping[str, Any],
    complete: bool,
) -> BenchRunReport:
    """Return the report of one group.

    Args:
        group: What was counted.
        run_id: The run's id.
        harness_version: Ours.
        agent_settings: The agent's name, label and options: the system under test.
        complete: Every selected case was judged.
    """
    # A group is made of at least one result.
    assert group.started_at is not None
    assert group.ended_at is not None
    corpus = json.dumps(sorted(group.digests.items()))
    settings = json.dumps(agent_settings, sort_keys=True, default=str)
    return BenchRunReport(
        run_id=run_id,
        task_class=group.task_class,
        agent=group.agent,
        harness_version=harness_version,
        sut_digest=hash_bytes(settings.encode()),
        rubric_digest=group.rubric_digest,
        cassette_corpus_digest=hash_bytes(corpus.encode()),
        started_at=group.started_at,
        ended_at=group.ended_at,
        per_case=group.per_case,
        mean_score=group.mean_score,
        score_stddev=group.score_stddev,
        lower_bound_95=group.bound().value,
        passed_count=group.passed,
        total_cost_usd=group.cost_usd,
        block_severity_failure_modes=tuple(
            sorted(
                {code for code, severity in group.failure_modes if severity == "block"}
            )
        ),
        complete=complete and group.errors == 0,
        isolation_class=group.workspace,
        host_fingerprint=hash_bytes("\0".join(host_facts().values()).encode()),
    )


def host_facts() -> dict[str, str]:
    """Return what a reader may want to know of the machine."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
    }
