"""Records: frozen, closed, JSON both ways, each with a schema."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import ValidationError

import pytest_codegenie
from pytest_codegenie.models import RECORDS
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvaluatorSettings
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import PartTable
from pytest_codegenie.models import Record
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import RunRecord
from pytest_codegenie.models import RunSummary
from pytest_codegenie.models import SandboxSettings
from pytest_codegenie.models import schemas


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(timezones=st.just(dt.UTC))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2)
    ),
    max_leaves=4,
)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
non_negative = st.floats(0, 1e300)
positive = st.floats(0.001, 1e9)
sizes = st.integers(1, 2**53)
fractions = st.floats(0, 1)
#: A field's strategy, where its type alone says too little of its rule.
RULES: dict[str, st.SearchStrategy[Any]] = {
    "case_id": names,
    "task_class": st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True),
    "label": names,
    "network": names.filter(lambda name: name != "host"),
    "case_digest": st.binary(min_size=32, max_size=32).map(
        lambda data: f"blake3:{data.hex()}"
    ),
    "cassette_canary_pin": st.binary(min_size=16, max_size=16).map(bytes.hex),
    "added_at": st.dates() | moments,
    "last_validated_at": st.dates() | moments,
    "timeout_seconds": positive,
    "setup_seconds": positive,
    "cpu_seconds": st.none() | positive,
    "cpus": st.none() | positive,
    **dict.fromkeys(("memory", "file_size", "disk"), sizes),
    **dict.fromkeys(("files", "open_files", "processes"), sizes),
    "rubric_wall_clock_seconds": st.floats(0.001, 300),
    "started_at": moments,
    "resumed_at": st.lists(moments, max_size=2).map(tuple),
    "ended_at": moments,
    "breakdown": st.dictionaries(texts, floats, max_size=2),
    "cost_usd": non_negative,
    "wall_clock_ms": non_negative,
    "duration_seconds": non_negative,
    "tokens_used": st.none() | st.integers(0, 2**53),
    "attempts": st.integers(1, 9),
    "trial": st.integers(1, 9),
    "attempt": st.integers(1, 9),
    "timings": st.dictionaries(texts, non_negative, max_size=2),
    "mean_score": st.none() | fractions,
    "score_stddev": st.none() | non_negative,
    "lower_bound_95": st.none() | fractions,
    "total_cost_usd": st.none() | non_negative,
}


def records(record: type[Record]) -> st.SearchStrategy[Record]:
    """Return any record of a type, field by field."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in record.model_fields.items():
        annotation: Any = field.annotation
        if record is BenchScore and name == "score":
            fields[name] = fractions
        elif annotation == dict[str, Any]:
            fields[name] = st.dictionaries(texts, json_values, max_size=2)
        else:
            fields[name] = RULES[name] if name in RULES else st.from_type(annotation)
    return st.fixed_dictionaries(fields).map(record.model_validate)


st.register_type_strategy(str, texts)
st.register_type_strategy(Path, st.just(Path("/bench/demo/cases/first")))
SETTINGS: tuple[type[Record], ...] = (
    DockerSettings,
    EvaluatorSettings,
    ResourceLimits,
    SandboxSettings,
)
for each in (*SETTINGS, *RECORDS):
    # Deferred: a record may hold another that has its strategy later.
    st.register_type_strategy(each, st.deferred(lambda record=each: records(record)))  # type: ignore[misc]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_record_comes_back_from_json_as_it_went(
    record: type[Record], data: st.DataObject
) -> None:
    before = data.draw(records(record))
    text = before.to_json()
    assert "\n" not in text
    assert record.from_json(text) == before
    assert record.from_json(text.encode()) == before


CASE: dict[str, Any] = {
    "case_id": "first",
    "task_class": "demo",
    "disposition": "positive",
    "difficulty": "easy",
    "source": "curated",
    "curation_class": "held-out",
    "added_at": dt.date(2026, 1, 1),
    "last_validated_at": dt.date(2026, 1, 1),
    "cassette_canary_pin": "0" * 32,
    "case_digest": f"blake3:{'0' * 64}",
    "directory": Path("/bench/demo/cases/first"),
}
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
RESULT: dict[str, Any] = {
    "run_id": "run",
    "case_id": "first",
    "task_class": "demo",
    "case_digest": "x",
    "disposition": "positive",
    "difficulty": "easy",
    "curation_class": "held-out",
    "agent": "nop",
    "agent_name": "nop",
    "trial": 1,
    "workspace": "host",
    "outcome": "failed",
    "score": BenchScore(passed=False, score=0),
    "started_at": NOW,
    "ended_at": NOW,
    "harness_version": "0",
}
REPORT: dict[str, Any] = {
    "run_id": "run",
    "task_class": "demo",
    "agent": "nop",
    "harness_version": "0",
    "sut_digest": "x",
    "rubric_digest": "x",
    "cassette_corpus_digest": "x",
    "started_at": NOW,
    "ended_at": NOW,
    "per_case": {},
    "mean_score": None,
    "score_stddev": None,
    "lower_bound_95": None,
    "passed_count": 0,
    "total_cost_usd": None,
    "block_severity_failure_modes": (),
    "complete": True,
    "isolation_class": "host",
    "host_fingerprint": "x",
}
#: The least that each record takes.
LEAST: dict[type[Record], dict[str, Any]] = {
    BenchCase: CASE,
    EvalInstance: {"instance_id": "a", "repo": "r", "problem_statement": "p"},
    FailureMode: {"code": "c", "severity": "block"},
    BenchScore: {"passed": True, "score": 1.0},
    AgentOutput: {"instance_id": "a", "agent_name": "nop"},
    EvalResult: {"instance_id": "a", "status": "passed"},
    HarnessOutput: {"agent": AgentOutput(instance_id="a", agent_name="nop")},
    AgentSpec: {"name": "nop", "label": "nop"},
    PartTable: {},
    CaseJob: {
        "run_id": "run",
        "case": BenchCase(**CASE),
        "agent": AgentSpec(name="nop", label="nop"),
        "parts": PartTable(),
        "breakdown_keys": (),
        "failure_mode_taxonomy": {},
    },
    CaseResult: RESULT,
    RunRecord: {"run_id": "run", "started_at": NOW, "config": {}, "versions": {}},
    RunSummary: {"run_id": "run", "dataset_name": "d", "agent_name": "a"},
    BenchRunReport: REPORT,
}


@pytest.mark.parametrize(
    "moment",
    [dt.date(2026, 1, 1), NOW, NOW.replace(hour=10), NOW.replace(microsecond=1)],
)
def test_a_day_comes_back_as_a_day_and_a_moment_as_a_moment(
    moment: dt.date | dt.datetime,
) -> None:
    before = BenchCase(**(CASE | {"added_at": moment}))
    after = BenchCase.from_json(before.to_json())
    assert after.added_at == moment
    assert type(after.added_at) is type(moment)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_frozen_and_closed_and_needs_what_has_no_default(
    record: type[Record],
) -> None:
    values = LEAST[record]
    made = record(**values)
    first = next(iter(record.model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, first, getattr(made, first))
    with pytest.raises(ValidationError, match="surprise\n  Extra inputs are not"):
        record(**values | {"surprise": 1})
    required = {
        name for name, field in record.model_fields.items() if field.is_required()
    }
    assert required == set(values)


def _patterns(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            yield from _patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _patterns(value)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_schema_is_closed_json_and_its_patterns_are_ecma_262s(
    record: type[Record],
) -> None:
    schema = schemas()[record.__name__]
    assert json.loads(json.dumps(schema)) == schema
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(record.model_fields)
    for pattern in _patterns(schema):
        # \A and \z are Python's and Rust's; to JavaScript they are an A and a z.
        assert pattern.startswith("^")
        assert pattern.endswith("$")
        assert re.compile(pattern)
        assert not re.search(r"\\[^.\\/-]", pattern)


def test_every_public_record_has_a_schema() -> None:
    public = {
        name
        for name in pytest_codegenie.__all__
        if isinstance(getattr(pytest_codegenie, name), type)
        and issubclass(getattr(pytest_codegenie, name), Record)
    }
    assert public <= set(schemas())


@pytest.mark.parametrize(
    ("record", "values"),
    [
        (BenchCase, {"case_id": "a b"}),
        (BenchCase, {"case_id": "first\n"}),
        (BenchCase, {"case_id": "a" * 129}),
        (BenchCase, {"case_id": ".first"}),
        (BenchCase, {"task_class": "Demo"}),
        (BenchCase, {"task_class": "demo\n"}),
        (BenchCase, {"case_digest": f"blake3:{'A' * 64}"}),
        (BenchCase, {"case_digest": f"blake3:{'a' * 64}\n"}),
        (BenchCase, {"cassette_canary_pin": "0" * 31}),
        (BenchCase, {"added_at": dt.datetime(2026, 1, 1, 10)}),  # noqa: DTZ001
        (BenchCase, {"timeout_seconds": 0}),
        (BenchCase, {"timeout_seconds": float("inf")}),
        (BenchCase, {"rubric_wall_clock_seconds": 300.1}),
        (BenchCase, {"rubric_wall_clock_seconds": float("nan")}),
        (BenchScore, {"score": 1.0000001}),
        (BenchScore, {"score": -0.1}),
        (BenchScore, {"score": float("nan")}),
        (BenchScore, {"breakdown": {"fixed": float("inf")}}),
        (BenchScore, {"cost_usd": -1}),
        (BenchScore, {"wall_clock_ms": float("nan")}),
        (AgentOutput, {"tokens_used": -1}),
        (AgentOutput, {"cost_usd": float("inf")}),
        (AgentOutput, {"duration_seconds": -1}),
        (AgentSpec, {"label": "a/b"}),
        (AgentSpec, {"label": "a" * 65}),
        (HarnessOutput, {"attempts": 0}),
        (CaseJob, {"trial": 0}),
        (CaseJob, {"attempt": 0}),
        (CaseJob, {"keep": "sometimes"}),
        (CaseResult, {"timings": {"agent": float("nan")}}),
        (CaseResult, {"started_at": dt.datetime(2026, 1, 1)}),  # noqa: DTZ001
        (CaseResult, {"outcome": "maybe"}),
        (EvalResult, {"status": "unsure"}),
        (EvalResult, {"fail_to_pass_results": {"t": "odd"}}),
        (BenchRunReport, {"lower_bound_95": float("nan")}),
    ],
)
def test_a_value_outside_of_the_contract_is_refused(
    record: type[Record], values: dict[str, Any]
) -> None:
    record(**LEAST[record])
    with pytest.raises(ValidationError) as caught:
        record(**(LEAST[record] | values))
    assert {error["loc"][0] for error in caught.value.errors()} == set(values)


@pytest.mark.parametrize("record", [CaseResult, RunSummary])
@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", "{}", '{"run_id": 1}', "\udcff"]
)
def test_what_is_no_record_is_refused(record: type[Record], text: str) -> None:
    with pytest.raises(ValidationError):
        record.from_json(text.encode(errors="surrogatepass"))


def test_fractions_count_only_what_passed() -> None:
    result = EvalResult(
        instance_id="a",
        status="failed",
        fail_to_pass_results={
            "a": "passed",
            "b": "failed",
            "c": "missing",
            "d": "skipped",
        },
    )
    assert result.fail_to_pass_fraction == 0.25
    assert result.pass_to_pass_fraction == 1.0


@pytest.mark.parametrize(
    ("counts", "rate"),
    [
        ({"total": 10, "resolved": 4, "failed": 4, "errors": 1, "skipped": 1}, 0.5),
        ({"total": 2, "errors": 2}, None),
        ({}, None),
        ({"total": 3, "failed": 3}, 0.0),
    ],
)
def test_a_resolve_rate_is_over_judged_cases_and_none_without_any(
    counts: dict[str, int], rate: float | None
) -> None:
    summary = RunSummary(run_id="r", dataset_name="d", agent_name="a", **counts)
    assert summary.resolve_rate == rate
    assert summary.to_dict()["resolve_rate"] == rate
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()


def test_an_agent_never_sees_the_answers() -> None:
    instance = EvalInstance(
        instance_id="a",
        repo="r",
        base_commit="b",
        problem_statement="p",
        hints_text="h",
        test_patch="SECRET",
        gold_patch="SECRET",
        fail_to_pass=("SECRET",),
        pass_to_pass=("SECRET",),
        metadata={"framework": "pytest"},
    )
    shown = instance.without_answers()
    assert "SECRET" not in shown.to_json()
    assert (shown.instance_id, shown.problem_statement, shown.hints_text) == (
        "a",
        "p",
        "h",
    )


def test_a_case_knows_where_its_two_halves_are() -> None:
    case = BenchCase(**CASE)
    assert case.input_dir == Path("/bench/demo/cases/first/input")
    assert case.expected_dir == Path("/bench/demo/cases/first/expected")
