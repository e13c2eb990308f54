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
from pytest_codegenie.evidence.statistics import TrialFigures
from pytest_codegenie.evidence.statistics import lower_bound_95
from pytest_codegenie.evidence.statistics import mean
from pytest_codegenie.evidence.statistics import stddev
from pytest_codegenie.evidence.statistics import trial_figures
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
    #: Case id to whether its trials passed; counted cases only.
    passes: dict[str, list[bool]] = field(default_factory=dict)
    #: Case id to how many results it has, errors' too; no ambiguous cases.
    attempts: Counter[str] = field(default_factory=Counter)
    #: ``<case id>`` or ``<case id>[t<trial>]`` to score; counted cases only.
    per_case: dict[str, BenchScore] = field(default_factory=dict)
    #: Case id to digest, of all cases.
    digests: dict[str, str] = field(default_factory=dict)
    #: Breakdown key to case id to the values of its trials.
    breakdown: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    #: (code, severity) to how often, errors' too.
    failure_modes: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Sum of what agents reported; None where none did.
    cost_usd: float | None = None
    #: Results whose agent reported no cost.
    unpriced: int = 0
    #: Of ``cost_usd``, what agents reported in earlier runs: it was not spent again.
    earlier_cost_usd: float = 0.0
    #: What no agent worked on in this run: ``Provenance`` to how many results.
    recalled: Counter[str] = field(default_factory=Counter)
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

    def trial_figures(self) -> TrialFigures | None:
        """Return what several trials say; None where each case has one."""
        trials = max(self.attempts.values(), default=0)
        return trial_figures(self.passes.values(), trials) if trials > 1 else None

    def breakdown_means(self) -> dict[str, float]:
        """Return the mean of each breakdown key over the cases that have it."""
        return {
            key: fmean(fmean(trials) for trials in cases.values())
            for key, cases in sorted(self.breakdown.items())
        }


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
    provenance = result.get("provenance", "run")
    if provenance != "run":
        group.recalled[provenance] += 1
    agent = (result["output"] or {}).get("agent", {})
    if agent.get("cost_usd") is None:
        group.unpriced += 1
    else:
        group.cost_usd = (group.cost_usd or 0.0) + agent["cost_usd"]
        if provenance != "run":
            group.earlier_cost_usd += agent["cost_usd"]
    if agent.get("tokens_used") is None:
        group.unmetered += 1
    else:
        group.tokens = (group.tokens or 0) + agent["tokens_used"]
    ambiguous = result["disposition"] == "ambiguous"
    if ambiguous and result["outcome"] != "error":
        group.ambiguous += 1
        return
    if not ambiguous:
        group.attempts[case_id] += 1
    for mode in score["failure_modes"]:
        group.failure_modes[mode["code"], mode["severity"]] += 1
    if result["outcome"] == "error":
        group.errors += 1
        return
    passed = result["outcome"] == "passed"
    group.passed += passed
    group.failed += not passed
    group.passes.setdefault(case_id, []).append(passed)
    group.scores.setdefault(case_id, []).append(score["score"])
    trial = result["trial"]
    # No case id has brackets: a case may well be called "a-t2".
    name = f"{case_id}[t{trial}]" if trial > 1 else case_id
    group.per_case[name] = BenchScore.model_validate(score)
    for key, value in score["breakdown"].items():
        group.breakdown.setdefault(key, {}).setdefault(case_id, []).append(value)


def make_report(
    group: Group,
    *,
    run_id: str,
    harness_version: str,
    agent_settings: Mapping[str, Any],
    complete: bool,
    rubric_isolation: str = "",
) -> BenchRunReport:
    """Return the report of one group.

    Args:
        group: What was counted.
        run_id: The run's id.
        harness_version: Ours.
        agent_settings: The agent's name, label and options: the system under test.
        complete: Every selected case was judged.
        rubric_isolation: ``offline`` or ``online``; "": nobody knows.
    """
    # A group is made of at least one result.
    assert group.started_at is not None
    assert group.ended_at is not None
    settings = json.dumps(agent_settings, sort_keys=True, default=str)
    return BenchRunReport(
        run_id=run_id,
        task_class=group.task_class,
        agent=group.agent,
        harness_version=harness_version,
        sut_digest=hash_bytes(settings.encode()),
        rubric_digest=group.rubric_digest,
        cassette_corpus_digest=corpus_digest(group.digests),
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
        isolation_class=group.workspace
        + (f"; rubric {rubric_isolation}" if rubric_isolation else ""),
        host_fingerprint=host_fingerprint(host_facts()),
    )


def corpus_digest(cases: Mapping[str, str]) -> str:
    """Return one digest of cases: their ids and digests."""
    return hash_bytes(json.dumps(sorted(cases.items())).encode())


def host_fingerprint(facts: Mapping[str, str]) -> str:
    """Return one digest of what ``host_facts`` says."""
    return hash_bytes("\0".join(facts.values()).encode())


def host_facts() -> dict[str, str]:
    """Return what a reader may want to know of the machine."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
    }
