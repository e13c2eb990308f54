"""Every record that crosses a process or a file, as a frozen pydantic model.

Unknown keys are errors. Numbers are finite. Times are aware UTC. ``to_json`` and
``from_json`` are inverse; ``schemas()`` gives the JSON Schema of each record.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal
from typing import Self

from pydantic import AfterValidator
from pydantic import AwareDatetime
from pydantic import BaseModel
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field
from pydantic import StringConstraints


Disposition = Literal["positive", "negative", "ambiguous"]
Difficulty = Literal["easy", "medium", "hard"]
Source = Literal[
    "curated", "outcome-ledger-derived", "regression-converted", "imported"
]
CurationClass = Literal["held-out", "rag-corpus-derived"]
Severity = Literal["block", "warn", "info"]
Outcome = Literal["passed", "failed", "error"]
#: Where a result comes from: an agent that worked in this run; its patch, or the
#: verdict on it, from the cache; its patch, from the record of another run.
Provenance = Literal["run", "patch-cache", "verdict-cache", "regraded"]
EvalStatus = Literal["passed", "failed", "error", "timeout", "skipped"]
#: What decides whether tests show that a case is solved.
VerdictRule = Literal["strict", "swebench", "swebench-fail-only"]
#: ``missing``: asked for, but it did not run. Only ``passed`` counts as passed.
TestStatus = Literal["passed", "failed", "error", "skipped", "missing"]

CaseId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
]
TaskClassName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^blake3:[0-9a-f]{64}$")]
CanaryPin = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _parse_size(value: Any) -> Any:
    """Read ``4g`` as Docker does, in powers of 1024; leave the rest to pydantic."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", str(value).lower())
    if found is None or isinstance(value, bool):
        raise ValueError("must be a number of bytes, or one with k, m, g or t: 4g")
    return int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " "))


def _check_network(name: str) -> str:
    if name == "host":
        raise ValueError(
            "'host' is this machine's own network, which no isolated agent gets; name "
            "one that was made for agents: docker network create agents"
        )
    return name


#: Of a network of a container engine.
NetworkName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"),
    AfterValidator(_check_network),
]


#: Bytes; ``4g`` is four times 1024 to the power of three.
Size = Annotated[int, BeforeValidator(_parse_size), Field(gt=0)]


class Record(BaseModel):
    """Base of all records: frozen, closed, JSON both ways."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what ``to_json`` wrote.

        Raises:
            pydantic.ValidationError: The text is no such record.
        """
        return cls.model_validate_json(text)


class BenchCase(Record):
    """A case's identity: the keys of ``case.toml``, where it is and what was signed."""

    case_id: CaseId
    task_class: TaskClassName
    #: Something to do, nothing to do, or reported and never counted.
    disposition: Disposition
    difficulty: Difficulty
    #: Where the case comes from.
    source: Source
    #: Whether a corpus was made from it that agents may have seen.
    curation_class: CurationClass
    commit_sha: str | None = None
    added_at: dt.date | AwareDatetime
    last_validated_at: dt.date | AwareDatetime
    cassette_canary_pin: CanaryPin
    #: The digest of the case's files, computed and equal to the signed one.
    case_digest: Digest
    #: A file of the case with recorded model calls.
    cassette_path: str | None = None
    #: Of the agent's work, in seconds; None: the configuration's.
    timeout_seconds: Positive | None = None
    #: What the rubric may take to score the case.
    rubric_wall_clock_seconds: Annotated[float, Field(gt=0, le=300)] = 60.0
    tags: tuple[str, ...] = ()
    #: The case's directory, absolute, on the machine that loaded it.
    directory: Path

    @property
    def input_dir(self) -> Path:
        """What the agent may see."""
        return self.directory / "input"

    @property
    def expected_dir(self) -> Path:
        """What only the evaluator and the rubric may see."""
        return self.directory / "expected"


class EvalInstance(Record):
    """A case's task: what an agent works on and how its work is judged."""

    instance_id: str
    repo: str
    base_commit: str = ""
    problem_statement: str
    hints_text: str = ""
    #: Unified diffs, "" where there is none.
    test_patch: str = ""
    gold_patch: str = ""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)

    def without_answers(self) -> EvalInstance:
        """Return what an agent may see of the instance."""
        return self.model_copy(
            update={
                "test_patch": "",
                "gold_patch": "",
                "fail_to_pass": (),
                "pass_to_pass": (),
            }
        )


class FailureMode(Record):
    """One named way in which a case went wrong."""

    code: str
    severity: Severity
    detail: str = ""


class BenchScore(Record):
    """A rubric's answer."""

    passed: bool
    score: Fraction
    breakdown: dict[str, Finite] = Field(default_factory=dict)
    failure_modes: tuple[FailureMode, ...] = ()
    cost_usd: NonNegative = 0.0
    wall_clock_ms: NonNegative = 0.0


class AgentOutput(Record):
    """What one start of an agent left."""

    instance_id: str
    agent_name: str
    #: Git diff against the base; "" when nothing changed.
    patch: str = ""
    exit_code: int = 0
    #: The last part of what it printed; the whole is in ``agent.log``.
    stdout: str = ""
    stderr: str = ""
    duration_seconds: NonNegative = 0.0
    #: As reported by the agent; None where it says nothing, never 0.
    cost_usd: NonNegative | None = None
    tokens_used: Annotated[int, Field(ge=0)] | None = None
    model_name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class EvalResult(Record):
    """What the tests say about a patch."""

    instance_id: str
    status: EvalStatus
    fail_to_pass_results: dict[str, TestStatus] = Field(default_factory=dict)
    pass_to_pass_results: dict[str, TestStatus] = Field(default_factory=dict)
    #: Every fail-to-pass and every pass-to-pass test passed.
    resolved: bool = False
    error_message: str = ""
    duration_seconds: NonNegative = 0.0

    @property
    def fail_to_pass_fraction(self) -> float:
        """Share of fail-to-pass tests that passed; 1.0 for an empty list."""
        return _passed_fraction(self.fail_to_pass_results)

    @property
    def pass_to_pass_fraction(self) -> float:
        """Share of pass-to-pass tests that passed; 1.0 for an empty list."""
        return _passed_fraction(self.pass_to_pass_results)


def _passed_fraction(results: dict[str, TestStatus]) -> float:
    if not results:
        return 1.0
    return sum(status == "passed" for status in results.values()) / len(results)


class HarnessOutput(Record):
    """What a rubric judges."""

    agent: AgentOutput
    patch: str = ""
    evaluation: EvalResult | None = None
    attempts: Annotated[int, Field(ge=1)] = 1
    #: Name of an artifact to its path relative to the run's directory.
    artifacts: dict[str, str] = Field(default_factory=dict)


class AgentSpec(Record):
    """One agent of a run: which, how it is called in node ids, how it is set up."""

    #: As ``codegenie list agents`` shows it.
    name: str
    #: What appears in node ids; the name where none is given.
    label: Label
    #: The agent's own settings.
    options: dict[str, Any] = Field(default_factory=dict)
    #: Added to the agent's environment; an empty string unsets.
    env: dict[str, str] = Field(default_factory=dict)
    #: Instead of the configuration's limit; never over the case's.
    timeout_seconds: Positive | None = None


class ResourceLimits(Record):
    """What all programs of a workspace may use together, where that can be held.

    Where the machine gives no cgroups, memory and processes are limited for each
    process (memory) and for the user (processes) instead.
    """

    memory: Size = 4 << 30
    #: Cores; None: all there are.
    cpus: Positive | None = None
    #: Of each process; None: wall time is the limit.
    cpu_seconds: Positive | None = None
    processes: Annotated[int, Field(gt=0)] = 512
    #: Of one file.
    file_size: Size = 2 << 30
    open_files: Annotated[int, Field(gt=0)] = 1024
    #: Of all files that it writes; measured while it runs.
    disk: Size = 8 << 30
    #: How many files those may be.
    files: Annotated[int, Field(gt=0)] = 500_000


class SandboxSettings(Record):
    """What the workspace ``sandbox`` shows beside the system and the case."""

    #: Directories and files of the host, read-only, by the same paths: where an agent
    #: is installed.
    readable: tuple[Path, ...] = ()


class DockerSettings(Record):
    """Whether the workspace ``docker`` is used, and what its containers are like."""

    #: True: what ``workspace: auto`` takes. False: it is refused, whoever names it.
    #: None: it is used where it is named.
    enabled: bool | None = None
    #: Where the case has no Dockerfile and names no image; "": ours, built once.
    image: str = ""
    #: Instead of the one in ``limits``.
    memory: Size | None = None
    cpus: Positive | None = None
    #: ``none``: agents reach what they declare, and nothing else. Else a network of the
    #: engine, which agents' containers join instead; tests never do.
    network: NetworkName = "none"
    #: False: a container stays, ended, for a look (``docker inspect``) until the next
    #: run, or ``codegenie clean``.
    cleanup: bool = True


class EvaluatorSettings(Record):
    """How hidden tests are run where a case does not say."""

    #: Seconds for the tests where ``tests.toml`` says nothing; None: the case's limit,
    #: or else the agent's.
    timeout_seconds: Positive | None = None


class PartTable(Record):
    """Names of parts to where they are: ``"package.module:attribute"``.

    The attribute is called without arguments and gives the part. Strings, so that
    a job can be run in another process or on another machine.
    """

    agents: dict[str, str] = Field(default_factory=dict)
    workspaces: dict[str, str] = Field(default_factory=dict)
    evaluators: dict[str, str] = Field(default_factory=dict)
    harnesses: dict[str, str] = Field(default_factory=dict)
    gates: dict[str, str] = Field(default_factory=dict)
    reporters: dict[str, str] = Field(default_factory=dict)
    datasets: dict[str, str] = Field(default_factory=dict)


class CaseJob(Record):
    """Everything that ``run_case`` needs to run one case with one agent once."""

    run_id: str
    case: BenchCase
    agent: AgentSpec
    #: 1-based.
    trial: Annotated[int, Field(ge=1)] = 1
    #: 1-based; 2 and more where an earlier try ended without a verdict.
    attempt: Annotated[int, Field(ge=1)] = 1
    workspace: str = "host"
    #: Seconds for the agent where it has no limit of its own.
    timeout_seconds: Positive = 600.0
    keep: Literal["never", "failed", "always"] = "never"
    #: Judge a positive case without a patch too, instead of failing it at once.
    judge_empty_patch: bool = False
    parts: PartTable
    breakdown_keys: tuple[str, ...]
    failure_mode_taxonomy: dict[str, Severity]
    #: Of the task class's own code; "" where nobody needs it.
    rubric_digest: str = ""
    limits: ResourceLimits = ResourceLimits()
    sandbox: SandboxSettings = SandboxSettings()
    docker: DockerSettings = DockerSettings()
    evaluator: EvaluatorSettings = EvaluatorSettings()
    #: Seconds that building the case's environment may take.
    setup_seconds: Positive = 1800.0
    #: Where workspaces are made; None: a directory of its own below the system's.
    scratch_root: Path | None = None
    #: Where environments are kept; None: in the scratch directory, for this job alone.
    cache_directory: Path | None = None
    #: The run's directory; None: no artifacts are written.
    run_directory: Path | None = None
    #: Below ``run_directory``; "" is that directory itself.
    artifacts_path: str = ""
    #: Where it is told how far the case is; None: nobody watches.
    progress_path: Path | None = None
    #: Variables whose values are written nowhere, beside those that look like keys.
    secret_names: tuple[str, ...] = ()
    #: What else has the answers in it, beside the bench and the run's directory.
    hidden: tuple[Path, ...] = ()
    #: The run's ledger, where its agents share a budget; None: there is none.
    budget_path: Path | None = None
    #: What is reserved there for this job.
    reservation: str = ""

    @property
    def agent_limit_seconds(self) -> float:
        """Time for the agent: its own or the configuration's, never over the case's."""
        limit = self.agent.timeout_seconds or self.timeout_seconds
        return min(limit, self.case.timeout_seconds or limit)

    def tests_limit_seconds(self, own: float | None) -> float:
        """Return the time for the hidden tests.

        Args:
            own: What ``tests.toml`` says; None: nothing.
        """
        return (
            own
            or self.evaluator.timeout_seconds
            or self.case.timeout_seconds
            or self.timeout_seconds
        )

    @property
    def artifacts_directory(self) -> Path | None:
        """Where the case's artifacts go; None: nowhere."""
        return self.run_directory and self.run_directory / self.artifacts_path


class CaseResult(Record):
    """What came of one ``CaseJob``."""

    run_id: str
    case_id: str
    task_class: str
    case_digest: str
    rubric_digest: str = ""
    disposition: Disposition
    difficulty: Difficulty
    curation_class: CurationClass
    #: The agent's label.
    agent: str
    agent_name: str
    trial: int
    #: 1-based; a later try takes the place of an earlier one, which stays on record.
    attempt: Annotated[int, Field(ge=1)] = 1
    provenance: Provenance = "run"
    workspace: str
    outcome: Outcome
    score: BenchScore
    output: HarnessOutput | None = None
    #: Why the case could not be judged, or what the agent did not do; "" if passed.
    message: str = ""
    #: Phase to seconds: prepare, agent, diff, judge, rubric.
    timings: dict[str, NonNegative] = Field(default_factory=dict)
    started_at: AwareDatetime
    ended_at: AwareDatetime
    harness_version: str
    #: Where the workspace was kept; None when it was removed.
    kept_workspace: str | None = None


class RunRecord(Record):
    """``run.json``: what a run was asked to do, by which versions, where."""

    run_id: str
    started_at: AwareDatetime
    #: Id of the run whose patches were judged again in this one; None: agents worked.
    graded_from: str | None = None
    #: When sessions went on with it, in order.
    resumed_at: tuple[AwareDatetime, ...] = ()
    config: dict[str, Any]
    versions: dict[str, str]
    #: ``<task class>/<case id>`` to the verified digest of every selected case.
    case_digests: dict[str, str] = Field(default_factory=dict)
    #: Task class to the digest of its own code.
    rubric_digests: dict[str, str] = Field(default_factory=dict)
    #: Node ids of the items that were to run, in order.
    items: tuple[str, ...] = ()
    host: dict[str, str] = Field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    #: Of the audit chain, when the run's last record was appended; "" before that.
    chain_head: str = ""


class RunSummary(Record):
    """A run's counts over one dataset and agent."""

    run_id: str
    dataset_name: str
    agent_name: str
    total: int = 0
    resolved: int = 0
    failed: int = 0
    errors: int = 0
    timeouts: int = 0
    skipped: int = 0
    results: tuple[EvalResult, ...] = ()

    @property
    def resolve_rate(self) -> float | None:
        """Resolved over judged (errors and skipped left out); None when none was."""
        judged = self.total - self.errors - self.skipped
        return self.resolved / judged if judged else None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, the resolve rate among them."""
        return self.model_dump(mode="json") | {"resolve_rate": self.resolve_rate}


class BenchRunReport(Record):
    """One task class and agent of a run, as the audit chain and promotion take it."""

    run_id: str
    task_class: str
    agent: str
    harness_version: str
    #: Digest of the system under test: the agent's name, label and options.
    sut_digest: str
    rubric_digest: str
    cassette_corpus_digest: str
    started_at: AwareDatetime
    ended_at: AwareDatetime
    #: ``<case id>`` or ``<case id>[t<trial>]`` to its score; errors are left out.
    per_case: dict[str, BenchScore]
    #: Over counted cases; None where there is none.
    mean_score: Fraction | None
    #: Sample standard deviation; None for fewer than two cases.
    score_stddev: NonNegative | None
    #: One-sided 95% lower bound of the mean score; None with too little data.
    lower_bound_95: Fraction | None
    passed_count: int
    #: None where no agent reported a cost.
    total_cost_usd: NonNegative | None
    block_severity_failure_modes: tuple[str, ...]
    #: Every selected case was judged.
    complete: bool
    #: ``<workspace>; rubric offline``, or ``; rubric online`` where rubrics cannot be
    #: kept from the network; the workspace alone where nobody knows.
    isolation_class: str
    #: Digest of the facts about the machine in ``run.json``.
    host_fingerprint: str
    prev_hash: str = ""
    chain_head: str = ""


RECORDS: tuple[type[Record], ...] = (
    BenchCase,
    EvalInstance,
    FailureMode,
    BenchScore,
    AgentOutput,
    EvalResult,
    HarnessOutput,
    AgentSpec,
    PartTable,
    CaseJob,
    CaseResult,
    RunRecord,
    RunSummary,
    BenchRunReport,
)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of every record, by name."""
    return {record.__name__: record.model_json_schema() for record in RECORDS}


def utc_now() -> dt.datetime:
    """Return the present time, aware, in UTC."""
    return dt.datetime.now(dt.UTC)
