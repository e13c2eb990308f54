"""``codegenie promote``: the verdict, where it goes, and that it changes nothing."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import Project
from support_runs import NOW
from support_runs import recorded_run
from support_runs import result
from support_runs import store_run

from pytest_codegenie.cli import main
from pytest_codegenie.evidence.promotion.gate import Recommendation
from pytest_codegenie.hashing import hash_bytes


TIERS = """\
tiers:
  - name: bronze
    lower_bound: 0.5
  - name: silver
    lower_bound: 0.6
    min_held_out_passed: 5
    window: 2
current:
  demo-task:
    opus: bronze
"""


@dataclass(frozen=True)
class Told:
    """How the command ended, and what it said."""

    code: int
    out: str
    err: str


Promote = Callable[..., Told]


@pytest.fixture
def promote(project: Project, capsys: pytest.CaptureFixture[str]) -> Promote:
    """Run ``codegenie promote demo-task`` in a project with tiers."""
    project.path.joinpath("trust-tiers.yaml").write_text(TIERS)

    def run(*arguments: str) -> Told:
        capsys.readouterr()
        code = main(["promote", "demo-task", *arguments])
        said = capsys.readouterr()
        return Told(code, said.out, said.err)

    return run


def record(project: Project, number: int, **options: Any) -> None:
    """Record a run of six cases that the agent ``opus`` passes."""
    began = NOW + dt.timedelta(hours=number)
    failed = options.pop("failed", 0)
    agent = options.pop("agent", "opus")
    results = [
        result(
            f"c{case}",
            "failed" if case < failed else "passed",
            task_class="demo-task",
            agent=agent,
            rubric_digest="rubric",
            started_at=began,
            ended_at=began,
        )
        for case in range(6)
    ]
    out = project.path / ".codegenie"
    options = {"run_id": f"r{number}", "started_at": began, **options}
    recorded_run(out, results, **options)


def recommendations(project: Project) -> list[Path]:
    return sorted(project.path.joinpath("recommendations").glob("*"))


def test_a_sufficient_verdict_is_told_and_written_and_changes_no_tier(
    project: Project, promote: Promote
) -> None:
    for number in (1, 2):
        record(project, number)
    done = promote("--to", "silver")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "demo-task [opus], bronze to silver: sufficient"
    assert "  met      next_tier: asked silver, found silver" in lines
    assert "  met      passed (run r1): asked 0, found 6" in lines
    assert not any("not met" in line for line in lines)
    (path,) = recommendations(project)
    assert lines[-2] == f"written to recommendations/{path.name}"
    assert lines[-1] == (
        "a tier is given by a person, never by this program: to promote 'opus' on "
        "'demo-task', somebody who answers for it edits trust-tiers.yaml, sets "
        "current.demo-task.opus from bronze to silver, and commits that with the "
        "recommendation"
    )
    tiers = project.path / "trust-tiers.yaml"
    assert tiers.read_text() == TIERS
    written = Recommendation.from_json(path.read_bytes())
    assert written.tiers_digest == hash_bytes(TIERS.encode())
    assert written.to_do == lines[-1]
    assert written.verdict.sufficient
    assert written.verdict.run_ids == ("r1", "r2")
    assert all(len(head) == 64 for head in written.verdict.chain_heads)
    assert path.name == (
        f"demo-task-opus-to-silver-{written.made_at:%Y%m%dT%H%M%SZ}.json"
    )
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_is_not_met_comes_first_with_its_figures(
    project: Project, promote: Promote
) -> None:
    record(project, 1, failed=5)
    done = promote("--to", "silver")
    assert (done.code, done.err) == (10, "")
    lines = done.out.splitlines()
    assert lines[0] == "demo-task [opus], bronze to silver: not sufficient"
    assert lines[1:4] == [
        "  not met  window: asked 2, found 1: too few runs with a report",
        "  not met  lower_bound (run r1): asked 0.6, found 0.00851244",
        "  not met  held_out_passed (run r1): asked 5, found 1",
    ]
    assert all(line.startswith("  met") for line in lines[4:-1])
    assert lines[-1].startswith("written to recommendations/demo-task-opus-to-silver-")


def test_json_is_the_verdict(project: Project, promote: Promote) -> None:
    record(project, 1)
    done = promote("--to", "bronze", "--format", "json")
    assert done.code == 10
    (path,) = recommendations(project)
    verdict = json.loads(done.out)
    assert verdict == json.loads(path.read_text())["verdict"]
    assert [c["name"] for c in verdict["conditions"] if not c["met"]] == ["next_tier"]
    assert verdict["conditions"][0]["detail"] == "that is the current tier"


def test_the_task_class_asks_too(project: Project, promote: Promote) -> None:
    """Its registration says five for bronze."""
    record(project, 1, agent="new", failed=2)
    done = promote("--to", "bronze")
    assert done.code == 10
    assert "not met  passed (run r1): asked 5, found 4" in done.out
    assert "demo-task [new], no tier to bronze: not sufficient" in done.out


def test_an_agent_without_a_run_is_not_promoted(
    project: Project, promote: Promote
) -> None:
    done = promote("--to", "bronze", "--agent", "new")
    assert done.code == 10
    assert "  not met  window: asked 1, found 0: too few runs with a report" in done.out
    assert len(recommendations(project)) == 1


def test_no_recommendation_takes_the_place_of_another(
    project: Project, promote: Promote
) -> None:
    """Several of them in one second."""
    record(project, 1)
    told = [promote("--to", "silver").out.splitlines()[-1] for _ in range(4)]
    paths = recommendations(project)
    assert len(set(told)) == len(paths) == 4
    assert {f"written to recommendations/{path.name}" for path in paths} == set(told)
    assert all(path.suffix == ".json" for path in paths)


def test_a_chain_that_does_not_verify_is_said(
    project: Project, promote: Promote
) -> None:
    for number in (1, 2):
        record(project, number)
    chain = project.path / ".codegenie" / "audit" / "chain.jsonl"
    text = chain.read_text()
    chain.write_text(text.replace('"passed_count":6', '"passed_count":9', 1))
    done = promote("--to", "silver")
    assert done.code == 10
    assert done.out.count("not met  chain (run ") == 2
    assert "record 1 (r1, demo-task, opus)" in done.out


def test_a_run_that_was_cut_off_is_an_error_and_nothing_is_written(
    project: Project, promote: Promote
) -> None:
    record(project, 1)
    record(project, 2)
    item = "bench/demo-task/cases/c0/case.toml::c0[opus]"
    run = store_run(project.path / ".codegenie", [], run_id="r3", selected=["c0[opus]"])
    text = (run.directory / "run.json").read_text()
    text = text.replace("bench/demo/cases/x/case.toml::c0[opus]", item)
    (run.directory / "run.json").write_text(text.replace("T12:", "T23:"))
    done = promote("--to", "silver")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("codegenie: run 'r3' has no report of 'demo-task' with")
    assert recommendations(project) == []


def test_tiers_and_runs_may_be_elsewhere(project: Project, promote: Promote) -> None:
    record(project, 1)
    (project.path / "ops").mkdir()
    (project.path / "trust-tiers.yaml").rename(project.path / "ops" / "tiers.yaml")
    (project.path / ".codegenie").rename(project.path / "runs-of-ours")
    (project.path / "bench").rename(project.path / "cases-of-ours")
    done = promote(
        *("--to", "silver", "--tiers", "ops/tiers.yaml", "--out", "runs-of-ours"),
        *("--bench", "cases-of-ours"),
    )
    assert done.code == 10
    assert "written to ops/recommendations/demo-task-opus-to-silver-" in done.out


def test_wrong_usage_is_told_with_what_there_is(
    project: Project, promote: Promote, capsys: pytest.CaptureFixture[str]
) -> None:
    record(project, 1)
    record(project, 2, agent="sonnet")
    for arguments, message in (
        (
            ["--to", "silvr"],
            "--to: trust-tiers.yaml has no tier 'silvr' (did you mean 'silver'?); "
            "lowest first it has: bronze, silver",
        ),
        (
            ["--to", "silver"],
            "name the agent with --agent; with a report of 'demo-task' in .codegenie: "
            "opus, sonnet",
        ),
        (
            ["--to", "silver", "--agent", "sonet"],
            "there is no report of 'demo-task' with agent 'sonet' (did you mean "
            "'sonnet'?); with one: opus, sonnet",
        ),
        (
            ["--to", "silver", "--agent", "../../x"],
            "--agent: '../../x' is no label: it must start with a letter or digit and "
            "hold only letters, digits, '.', '_' and '-', 64 at most",
        ),
    ):
        assert promote(*arguments) == Told(4, "", f"codegenie: {message}\n")
    assert main(["promote", "demo-tsk", "--to", "silver"]) == 9
    assert "(did you mean 'demo-task'?)" in capsys.readouterr().err
    assert recommendations(project) == []


def test_what_does_not_hold_is_told_before_anything_is_written(
    project: Project, promote: Promote
) -> None:
    tiers = project.path / "trust-tiers.yaml"
    tiers.write_text(TIERS.replace("window: 2", "windw: 2"))
    done = promote("--to", "silver")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "codegenie: trust-tiers.yaml: tiers.silver.windw: unknown key 'windw' (did you "
        "mean 'window'?)"
    )
    tiers.write_text(TIERS.replace("bronze", "tin"))
    done = promote("--to", "silver")
    assert (done.code, done.err) == (
        1,
        "codegenie: trust-tiers.yaml: tiers: there is no tier 'bronze', which "
        "bench/demo-task/registration.py names in min_cases_for_promotion; there are: "
        "tin, silver\n",
    )
    tiers.unlink()
    done = promote("--to", "silver")
    assert done.err.startswith("codegenie: trust-tiers.yaml: missing; write it")
    assert recommendations(project) == []


def test_a_place_that_cannot_be_written_is_told(
    project: Project, promote: Promote
) -> None:
    record(project, 1)
    project.path.joinpath("recommendations").write_text("a file")
    done = promote("--to", "silver")
    assert (done.code, done.out) == (1, "")
    assert done.err == "codegenie: recommendations: File exists\n"


def test_a_removed_run_stays_in_the_window(project: Project, promote: Promote) -> None:
    for number in (1, 2, 3):
        record(project, number)
    shutil.rmtree(project.path / ".codegenie" / "runs" / "r3")
    done = promote("--to", "silver")
    assert done.code == 10
    assert (
        "not met  passed (run r3): asked 0, found unknown: the run's results are not "
        "at hand" in done.out
    )


def test_runs_of_a_session_are_evidence(project: Project, promote: Promote) -> None:
    for number in range(3):
        project.case(f"c{number}")
    project.run("--codegenie-run-id=first").assert_outcomes(passed=3)
    done = promote("--to", "bronze")
    assert done.code == 10
    assert [line for line in done.out.splitlines() if "not met" in line] == [
        "  not met  lower_bound (run first): asked 0.5, found 0.368403",
        "  not met  passed (run first): asked 5, found 3",
    ]


def test_a_corpus_is_checked_with_the_tiers_of_its_project(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.case()
    registration = project.bench.directory / "registration.py"
    text = registration.read_text()
    registration.write_text(text.replace('"bronze": 5', '"trusted": 5'))
    assert main(["verify", "--static"]) == 9
    said = capsys.readouterr().out
    assert "use some of bronze, silver, gold, platinum, each with" in said
    tiers = project.path / "trust-tiers.yaml"
    tiers.write_text("tiers: [{name: trusted, lower_bound: 0.5}]\n")
    assert main(["verify", "--static"]) == 0
    validate = ("--codegenie-validate", "-k", "demo-task and not case.toml")
    project.run(*validate).assert_outcomes(passed=1)
    capsys.readouterr()
    tiers.write_text("tiers: [{name: trusted, lower_bound: 50}]\n")
    assert main(["verify", "--static"]) == 1
    fault = "trust-tiers.yaml: tiers.trusted.lower_bound: Input should be less than or"
    assert fault in capsys.readouterr().err
    result = project.run(*validate)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{fault}*"])
