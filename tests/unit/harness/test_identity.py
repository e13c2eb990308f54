"""The keys of the cache: all that decides is in them, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import Bench

from pytest_codegenie.harness.identity import Identities
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob


OUTPUT = AgentOutput(instance_id="first", agent_name="oracle", patch="diff")
Change = Callable[[CaseJob], CaseJob]


def changed(**fields: Any) -> Change:
    return lambda job: job.model_copy(update=fields)


def agent(**fields: Any) -> Change:
    return lambda job: changed(agent=job.agent.model_copy(update=fields))(job)


def case(**fields: Any) -> Change:
    return lambda job: changed(case=job.case.model_copy(update=fields))(job)


def part(kind: str, name: str, reference: str) -> Change:
    def change(job: CaseJob) -> CaseJob:
        table = getattr(job.parts, kind) | {name: reference}
        return changed(parts=job.parts.model_copy(update={kind: table}))(job)

    return change


def nested(field: str, **fields: Any) -> Change:
    return lambda job: changed(
        **{field: getattr(job, field).model_copy(update=fields)}
    )(job)


#: Nobody can say what a patch depends on that is made under another one of these.
PATCH = {
    "case id": case(case_id="second"),
    "task class": case(task_class="other-task"),
    "case digest": case(case_digest=f"blake3:{'1' * 64}"),
    "canary pin": case(cassette_canary_pin="f" * 32),
    "trial": changed(trial=2),
    "agent": agent(name="nop"),
    "agent's variables": agent(env={"FLAG": "1"}),
    "agent's limit": agent(timeout_seconds=7),
    "case's limit": case(timeout_seconds=7),
    "limit": changed(timeout_seconds=7),
    "setup limit": changed(setup_seconds=7),
    "workspace": changed(workspace="sandbox"),
    "limits": nested("limits", memory=1 << 30),
    "sandbox": nested("sandbox", readable=(Path("/opt"),)),
    "docker": nested("docker", image="debian:12"),
    "harness": part("harnesses", "patch", "elsewhere:Harness"),
    "adapter": part("agents", "oracle", "pytest_codegenie.agents.nop:NopAgent"),
}
#: Only what is said of the patch depends on these.
VERDICT = {
    "rubric": changed(rubric_digest=f"blake3:{'2' * 64}"),
    "breakdown keys": changed(breakdown_keys=("other",)),
    "failure modes": changed(failure_mode_taxonomy={"x": "warn"}),
    "evaluator": part("evaluators", "pytest", "elsewhere:Evaluator"),
    "evaluator's limit": nested("evaluator", timeout_seconds=7),
    "empty patches": changed(judge_empty_patch=True),
    "disposition": case(disposition="negative"),
    "rubric's limit": case(rubric_wall_clock_seconds=7),
    "tags": case(tags=("x",)),
}
#: Nothing depends on these.
NEITHER = {
    "label": agent(label="another"),
    "run": changed(run_id="another"),
    "try": changed(attempt=2),
    "places": changed(
        run_directory=Path("/r"), scratch_root=Path("/s"), cache_directory=Path("/c")
    ),
    "artifacts": changed(artifacts_path="cases/x"),
    "directory": case(directory=Path("/elsewhere")),
    "keep": changed(keep="always"),
}


@pytest.fixture
def job(bench: Bench) -> CaseJob:
    bench.case()
    return bench.job(rubric_digest=f"blake3:{'0' * 64}")


def keys(job: CaseJob) -> tuple[str | None, str | None]:
    identities = Identities()
    return identities.patch_key(job), identities.verdict_key(job, OUTPUT)


@pytest.mark.parametrize("change", PATCH.values(), ids=PATCH)
def test_a_patch_and_its_verdict_depend_on(job: CaseJob, change: Change) -> None:
    before, after = keys(job), keys(change(job))
    assert None not in (*before, *after)
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("change", VERDICT.values(), ids=VERDICT)
def test_only_the_verdict_depends_on(job: CaseJob, change: Change) -> None:
    before, after = keys(job), keys(change(job))
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("change", NEITHER.values(), ids=NEITHER)
def test_neither_depends_on(job: CaseJob, change: Change) -> None:
    assert keys(job) == keys(change(job))
    assert None not in keys(job)


def test_a_patch_and_a_verdict_never_have_one_key(job: CaseJob) -> None:
    assert len(set(keys(job))) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"patch": "other"},
        {"cost_usd": 0.5},
        {"metadata": {"turns": 3}},
        {"stdout": "x"},
    ],
)
def test_a_verdict_depends_on_all_that_the_rubric_sees(
    job: CaseJob, changes: dict[str, Any]
) -> None:
    identities = Identities()
    other = OUTPUT.model_copy(update=changes)
    one = identities.verdict_key(job, OUTPUT)
    assert one != identities.verdict_key(job, other)
    assert one == identities.verdict_key(job, OUTPUT.model_copy())


@pytest.mark.parametrize(
    "change",
    [
        agent(name="command", options={"command": "true"}),
        agent(name="claude-code"),
        agent(name="nobody"),
        agent(options={"wrong": 1}),
        agent(env={"X": "half of a pair \ud800"}),
        agent(name="predictions", options={"path": "not-there.jsonl"}),
        changed(rubric_digest=""),
    ],
    ids=["changing", "installed", "unknown", "option", "no-text", "no-file", "rubric"],
)
def test_there_is_no_key_where_nobody_can_say(job: CaseJob, change: Change) -> None:
    assert Identities().patch_key(change(job)) is None


def test_the_content_of_predictions_counts_while_a_session_runs(
    job: CaseJob, tmp_path: Path
) -> None:
    file = tmp_path / "preds.jsonl"
    file.write_text("one", "utf-8")
    job = agent(name="predictions", options={"path": str(file)})(job)
    identities = Identities()
    first = identities.patch_key(job)
    assert first == identities.patch_key(job) == Identities().patch_key(job)
    file.write_text("two, longer", "utf-8")
    second = identities.patch_key(job)
    assert None not in (first, second)
    assert first != second


AGENT = """\
from pytest_codegenie.agents.nop import NopAgent


class Mine(NopAgent):
    name = "mine"

    def configure(self, options):
        self.options = options

    def version(self):
        return {version!r}
"""


def test_somebody_elses_agent_counts_with_version_options_and_code(
    job: CaseJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key(text: str, **options: str) -> str | None:
        (tmp_path / "my_agent_module.py").write_text(text, "utf-8")
        sys.modules.pop("my_agent_module", None)
        mine = agent(name="mine", options=options)
        return Identities().patch_key(
            part("agents", "mine", "my_agent_module:Mine")(mine(job))
        )

    first = AGENT.format(version="1")
    found = [
        key(first),
        key(AGENT.format(version="2")),
        key(first, model="large"),
        key(f"{first}\n# changed\n"),
    ]
    assert None not in found
    assert len(set(found)) == 4
    assert key(first) == found[0]
