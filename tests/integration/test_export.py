"""``codegenie export``: a run's results as data, and what other programs read of it."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import xmlschema
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import outcomes
from integration.sessions import properties
from support import FIX
from support_runs import result
from support_runs import store_run
from support_warm import warm_python

from pytest_codegenie import load_run
from pytest_codegenie.cli import main
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import HarnessOutput


SCHEMA = Path(__file__).parents[1] / "data" / "junit" / "junit-10.xsd"


@dataclass(frozen=True)
class Told:
    """How the command ended, and what it wrote."""

    code: int
    out: bytes
    err: str


Export = Callable[..., Told]


@pytest.fixture
def export(project: Project, capsysbinary: pytest.CaptureFixture[bytes]) -> Export:
    """Run ``codegenie export`` in the project's directory."""
    assert project.path.is_dir()

    def run(*arguments: str) -> Told:
        capsysbinary.readouterr()
        code = main(["export", *arguments])
        said = capsysbinary.readouterr()
        return Told(code, said.out, said.err.decode())

    return run


def store(project: Project, results: list[CaseResult], **options: Any) -> Path:
    """Store the run ``example`` and return its directory."""
    return store_run(project.path / ".codegenie", results, **options).directory


# -- all formats -----------------------------------------------------------------------


def test_rows_are_those_of_the_reports(project: Project, export: Export) -> None:
    store(project, [result("a", message="ä"), result("b", "failed")])
    for name in ("csv", "jsonl", "junit"):
        exported = export("--format", name)
        assert (exported.code, exported.err) == (0, "")
        assert main(["report", "--format", name, "--output", "report"]) == 0
        assert exported.out == (project.path / "report").read_bytes()
    rows = list(csv.DictReader(io.StringIO(export("--format=csv").out.decode())))
    assert [(row["case_id"], row["message"]) for row in rows] == [("a", "ä"), ("b", "")]


def test_parquet_is_written_to_a_file_or_printed(
    project: Project, export: Export
) -> None:
    store(project, [result("a"), result("b", "failed", score=0.25)])
    assert export("example", "--format=parquet", "--output=run.parquet").out == b""
    table = pq.read_table(project.path / "run.parquet")
    assert table["score"].to_pylist() == [1.0, 0.25]
    printed = export("--format=parquet").out
    assert pq.read_table(io.BytesIO(printed)).equals(table)


def test_parquet_is_nothing_for_a_terminal(project: Project) -> None:
    store(project, [result("a")])
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*warm_python(), "-m", "pytest_codegenie.cli", "export", "--format=parquet"],
        cwd=project.path,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    _, complaint = process.communicate()
    os.close(ours)
    assert (process.returncode, complaint) == (
        4,
        b"codegenie: Parquet is nothing for a terminal: add --output FILE\n",
    )


def test_without_pyarrow_the_extra_is_named(
    project: Project, export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(project, [result("a")])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export("--format=parquet", "--output=x.parquet") == Told(
        1,
        b"",
        "codegenie: pyarrow is not installed: pip install "
        "'pytest-codegenie[parquet]'\n",
    )
    assert not (project.path / "x.parquet").exists()


def test_a_run_that_was_cut_off_is_exported_as_far_as_it_is_whole(
    project: Project, export: Export
) -> None:
    directory = store(
        project, [result("a"), result("b")], selected=["a[nop]", "b[nop]", "c[nop]"]
    )
    results = directory / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-9])
    for name in ("csv", "jsonl", "junit", "swebench-predictions", "parquet"):
        done = export("--format", name)
        assert done.code == 1
        assert "codegenie: not finished: 1 of 3 items have a result; " in done.err
        assert done.err.endswith(
            "results.jsonl: the last line was cut off and is not in the export; the "
            "results before it are whole\n"
        )
        assert done.out


def test_only_the_latest_try_is_exported(project: Project, export: Export) -> None:
    again = result("a").model_copy(update={"attempt": 2})
    store(project, [result("a", "error"), result("b"), again])
    rows = export("--format=jsonl").out.splitlines()
    assert [(r["case_id"], r["outcome"]) for r in map(json.loads, rows)] == [
        ("b", "passed"),
        ("a", "passed"),
    ]
    assert b'errors="0"' in export("--format=junit").out


def test_wrong_usage_is_told_with_what_there_is(
    project: Project, export: Export
) -> None:
    store(project, [result("a"), result("a", agent="x"), result("a", agent="y")])
    store(project, [], run_id="none", selected=["a[nop]"])
    for arguments, code, message in (
        (
            ["--format=parket"],
            4,
            "there is no format 'parket' (did you mean 'parquet'?); known: csv, jsonl, "
            "junit, parquet, swebench-predictions",
        ),
        (
            ["--format=markdown"],
            4,
            "'markdown' is a report, not data: codegenie report --format markdown",
        ),
        (
            ["--format=csv", "--trial=2"],
            4,
            "--trial is for swebench-predictions; csv has all results, with a column "
            "'trial' or a test case each",
        ),
        (
            ["exampel", "--format=csv"],
            4,
            "there is no run 'exampel' in .codegenie/runs (did you mean 'example'?); "
            "the last ones: example, none",
        ),
        (
            ["none", "--format=csv"],
            1,
            ".codegenie/runs/none/results.jsonl: no case of this run has a result (1 "
            "were to run): there is nothing to export",
        ),
        (
            ["example", "--format=csv", "--output=no/such.csv"],
            4,
            "--output: there is no directory no",
        ),
        (
            ["example", "--format=swebench-predictions"],
            4,
            "the run has results of several agents (nop, x, y), and predictions are of "
            "one: codegenie export RUN --format swebench-predictions --agent LABEL",
        ),
        (
            ["example", "--format=swebench-predictions", "--agent=nob"],
            4,
            "there is no result of agent 'nob' (did you mean 'nop'?); agents with one: "
            "nop, x, y",
        ),
        (
            ["example", "--format=swebench-predictions", "--agent=x", "--trial=3"],
            4,
            "agent 'x' has no result of trial 3 in this run; trials with one: 1",
        ),
    ):
        assert export(*arguments) == Told(code, b"", f"codegenie: {message}\n")


# -- JUnit -----------------------------------------------------------------------------


@pytest.fixture
def four_outcomes(project: Project) -> None:
    """Beside passed, failed and error: an ambiguous case that was not solved."""
    project.three_outcomes()
    project.case("unclear", files=RIGHT_IF_MENDED | {"expected/gold.patch": ""})
    case = project.bench.cases_dir / "unclear" / "case.toml"
    case.write_text(case.read_text().replace('"positive"', '"ambiguous"'))
    project.bench.sign()


@pytest.mark.usefixtures("four_outcomes")
@pytest.mark.parametrize("trials", [1, 2])
def test_junit_says_what_the_session_said(
    project: Project, export: Export, trials: int
) -> None:
    project.run("--junitxml=live.xml", f"--codegenie-trials={trials}")
    done = export("--format=junit", "--output=later.xml")
    assert (done.code, done.out, done.err) == (0, b"", "")
    live, later = project.path / "live.xml", project.path / "later.xml"
    assert outcomes(later) == outcomes(live)
    assert sorted(set(outcomes(later).values())) == [
        *("error", "failure", "passed", "skipped"),
    ]
    assert cases_of(later) == cases_of(live)
    suites = [ET.parse(path).getroot()[0] for path in (later, live)]
    assert properties(suites[0]) == properties(suites[1])
    for count in ("tests", "errors", "failures", "skipped", "name"):
        assert suites[0].get(count) == suites[1].get(count)


def cases_of(path: Path) -> list[tuple[Any, ...]]:
    """Return all that a report says of its test cases, but how long they took."""
    return sorted(
        (
            *(case.get("classname"), case.get("name")),
            *properties(case).items(),
            *((child.tag, child.get("message"), child.text) for child in case[1:]),
        )
        for case in ET.parse(path).getroot().iter("testcase")
    )


@pytest.mark.usefixtures("four_outcomes")
def test_junit_is_xunit2_but_for_the_properties_of_test_cases(
    project: Project, export: Export
) -> None:
    """The schema has no place for those; pytest puts them there all the same."""
    project.run("--junitxml=live.xml")
    export("--format=junit", "--output=later.xml")
    schema = xmlschema.XMLSchema(str(SCHEMA))
    for name in ("live.xml", "later.xml"):
        root = ET.parse(project.path / name).getroot()
        assert not schema.is_valid(root)
        bare = copy.deepcopy(root)
        for case in bare.iter("testcase"):
            for own in case.findall("properties"):
                case.remove(own)
        schema.validate(bare)


def test_junit_holds_whatever_text_there_is(project: Project, export: Export) -> None:
    hostile = "]]></failure>&<b> \"' \x00\x1b[31m\x7f\ufffe\U0001f600\nsecond line"
    store(project, [result("a", "failed", message=hostile, mode="x<y>&\x01")])
    text = export("--format=junit").out
    (case,) = ET.fromstring(text).iter("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == (
        "x<y>&#x01: ]]></failure>&<b> \"' #x00#x1B[31m#x7F#xFFFE\U0001f600"
    )
    assert "second line" in str(failure.text)
    assert properties(case)["failure_mode.x<y>&#x01"] == "block"


def test_junit_of_a_run_whose_items_were_never_recorded(
    project: Project, export: Export
) -> None:
    store(project, [result("a")], selected=[])
    (case,) = ET.fromstring(export("--format=junit").out).iter("testcase")
    assert (case.get("classname"), case.get("name")) == ("demo", "a[nop]")


# -- SWE-bench's predictions -----------------------------------------------------------


def predictions(told: Told) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.out.splitlines()]


def handed_in(case_id: str, patch: str = "diff", **fields: Any) -> CaseResult:
    """Return a result with a patch."""
    metadata = fields.pop("metadata", {})
    model = fields.pop("model", None)
    agent = AgentOutput(
        instance_id=case_id,
        agent_name="nop",
        patch=patch,
        model_name=model,
        metadata=metadata,
    )
    return result(case_id, output=HarnessOutput(agent=agent, patch=patch), **fields)


def test_predictions_are_one_line_a_case(project: Project, export: Export) -> None:
    store(project, [handed_in("b", "ä\r\n"), handed_in("a", outcome="failed")])
    done = export("--format=swebench-predictions")
    assert (done.code, done.err) == (0, "")
    assert predictions(done) == [
        {"instance_id": "b", "model_name_or_path": "nop", "model_patch": "ä\r\n"},
        {"instance_id": "a", "model_name_or_path": "nop", "model_patch": "diff"},
    ]


@pytest.mark.parametrize(
    ("models", "name"),
    [(["m", "m"], "m"), (["m", "n"], "nop"), (["m", None], "nop"), ([None] * 2, "nop")],
)
def test_predictions_bear_the_name_of_the_only_model(
    project: Project, export: Export, models: list[str | None], name: str
) -> None:
    """Else that of the agent: SWE-bench takes it for the name of the whole."""
    store(project, [handed_in(f"c{n}", model=m) for n, m in enumerate(models)])
    found = predictions(export("--format=swebench-predictions"))
    assert [one["model_name_or_path"] for one in found] == [name, name]


def test_predictions_are_of_one_agent_and_trial(
    project: Project, export: Export
) -> None:
    results = [
        handed_in("a", f"{agent} {trial}", agent=agent, trial=trial)
        for agent in ("x", "y")
        for trial in (1, 2)
    ]
    store(project, results, trials=2)
    for arguments, patch in (
        (["--agent=x"], "x 1"),
        (["--agent=y", "--trial=2"], "y 2"),
    ):
        done = export("--format=swebench-predictions", *arguments)
        assert [one["model_patch"] for one in predictions(done)] == [patch]


def test_what_was_not_handed_in_is_left_out_and_said(
    project: Project, export: Export
) -> None:
    """An empty patch is an answer; that the agent ran out of time is none."""
    store(
        project,
        [
            handed_in("changed-nothing", "", outcome="failed", mode="agent.no_patch"),
            handed_in("judge-broke", outcome="error"),
            handed_in("right-to-do-nothing", "", disposition="negative"),
            handed_in("late", "", outcome="failed", mode="agent.timeout"),
            handed_in(
                *("late-where-nothing-is-right", ""),
                outcome="failed",
                mode="agent.timeout",
                disposition="negative",
            ),
            handed_in("broke", "", outcome="error", mode="agent.error"),
            result("never-began", "error", output=None),
        ],
    )
    done = export("--format=swebench-predictions")
    assert done.code == 0
    assert [one["instance_id"] for one in predictions(done)] == [
        *("changed-nothing", "judge-broke", "right-to-do-nothing", "late"),
    ]
    assert done.err == (
        "codegenie: left out, as the agent handed nothing in: broke, "
        "late-where-nothing-is-right, never-began\n"
    )


def test_a_patch_without_its_secrets_is_said(project: Project, export: Export) -> None:
    store(project, [handed_in("a", metadata={"patch_redacted": True}), handed_in("b")])
    done = export("--format=swebench-predictions")
    assert (done.code, done.err) == (
        0,
        "codegenie: not what was judged, as secrets were taken out of the patch: a\n",
    )
    assert len(predictions(done)) == 2


def test_results_of_several_workers_are_no_predictions(
    project: Project, export: Export
) -> None:
    store(project, [handed_in("a"), handed_in("a")])
    done = export("--format=swebench-predictions")
    assert (done.code, done.out, done.err) == (
        *(4, b""),
        "codegenie: case 'a' has 2 results of one trial, and predictions have one a "
        "case\n",
    )


def test_the_agent_predictions_comes_to_the_same_verdicts(
    project: Project, export: Export
) -> None:
    for case_id, problem, files in (
        ("mended", "mend it", RIGHT_IF_MENDED),
        ("not-mended", "add a file", RIGHT_IF_MENDED),
        ("untouched", "leave it", RIGHT_IF_MENDED),
        ("no-verdict", "mend it", NEVER_JUDGED),
    ):
        project.case(case_id, files=files | {"input/problem.md": f"{problem}\n"})
    right = ALWAYS_RIGHT | {"input/problem.md": "leave it\n"}
    project.case("right-as-it-is", disposition="negative", files=right)
    agent = project.shell_agent(
        f"case $(cat) in *mend*) {FIX} ;; *add*) printf 'caf\\351' > latin.txt ;; esac"
    )
    project.run(agent, "--codegenie-run-id=first")
    done = export("first", "--format=swebench-predictions", "--output=preds.jsonl")
    assert (done.code, done.out, done.err) == (0, b"", "")
    agent = project.run_file(
        agents=[{"name": "predictions", "options": {"path": "preds.jsonl"}}]
    )
    project.run(agent, "--codegenie-run-id=second")
    first, second = (verdicts(project, name) for name in ("first", "second"))
    assert {case_id: outcome for case_id, (outcome, *_) in first.items()} == {
        "mended": "passed",
        "not-mended": "failed",
        "untouched": "failed",
        "no-verdict": "error",
        "right-as-it-is": "passed",
    }
    assert "GIT binary patch" in first["not-mended"][-1]
    assert second == first


def verdicts(project: Project, run_id: str) -> dict[str, tuple[Any, ...]]:
    """Return outcome, score, failure modes and patch of each case."""
    run = load_run(project.path / ".codegenie" / "runs" / run_id)
    return {
        one.case_id: (
            *(one.outcome, one.score.score),
            tuple(mode.code for mode in one.score.failure_modes),
            one.output.patch if one.output else None,
        )
        for one in run.results
    }
