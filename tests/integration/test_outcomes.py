"""FAILED and ERROR, in the terminal, in JUnit, and in every way to run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import outcomes
from integration.sessions import properties


EXPECTED = {
    "passes[oracle]": "passed",
    "fails[oracle]": "failure",
    "errs[oracle]": "error",
}


def test_failed_and_error_are_pytests_own(
    project: Project, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    result = project.run(*plugin_args, "--junitxml=out.xml", "-rA")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert_no_traceback(result)
    assert outcomes(project.path / "out.xml") == EXPECTED
    suite = ET.parse(project.path / "out.xml").getroot().find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of errs?oracle?*",
            "evaluator.error: expected/tests.toml: framework: unknown evaluator*",
            "not judged *(agent oracle, *prepare * s*)",
            "artifacts  .codegenie/runs/*/cases/errs/oracle-t1",
        ],
    )
    result.stdout.fnmatch_lines(
        [
            "*_ fails?oracle? _*",
            "agent.no_patch: the agent changed nothing",
            "score 0.000 *",
            "artifacts  .codegenie/runs/*/cases/fails/oracle-t1",
        ],
    )
    run = project.only_run()
    assert {r.case_id: r.outcome for r in run.results} == {
        "passes": "passed",
        "fails": "failed",
        "errs": "error",
    }
    assert len(run.record.items) == 3


@pytest.mark.parametrize(
    "dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal"]
)
def test_every_way_to_distribute_gives_the_same(project: Project, dist: str) -> None:
    project.three_outcomes()
    result = project.run("-n2", "--dist", dist, "--junitxml=out.xml")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert outcomes(project.path / "out.xml") == EXPECTED
    assert len(project.only_run().results) == 3


def test_each_runs_every_case_in_every_worker_and_keeps_both(project: Project) -> None:
    project.case("passes", files=RIGHT_IF_MENDED)
    result = project.run("-n2", "--dist=each")
    result.assert_outcomes(passed=2)
    assert [r.outcome for r in project.only_run().results] == ["passed", "passed"]
    places = project.run_directories[0].glob("cases/passes/oracle-t1*/result.json")
    assert len(list(places)) == 2


def test_a_failing_case_shows_what_matters(project: Project) -> None:
    project.case(
        "fails",
        files={
            "expected/tests.toml": 'framework = "command"\n'
            "command = \"seq 100 | sed 's/^/line /'; exit 3\"\n"
        },
    )
    result = project.run("--tb=long")
    result.stdout.fnmatch_lines(
        [
            "not_resolved: *",
            "score 0.500 *(agent oracle, *judge * s*)",
            "breakdown  fixed 0.000  kept 1.000",
            "block      not_resolved",
            "artifacts  *",
            "*= codegenie summary =*",
        ]
    )
    assert_no_traceback(result)
    log = project.run_directories[0] / "cases/fails/oracle-t1/tests.log"
    assert log.read_text().endswith("line 100\n")


@pytest.mark.parametrize("style", ["short", "line", "native", "no"])
def test_no_traceback_style_shows_ours(project: Project, style: str) -> None:
    project.three_outcomes()
    result = project.run(f"--tb={style}", "-vv", "--showlocals")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert_no_traceback(result)


def test_an_ambiguous_case_is_reported_and_not_counted(
    project: Project, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    for case_id in ("passes", "fails", "errs"):
        path = project.bench.cases_dir / case_id / "case.toml"
        path.write_text(path.read_text().replace('"positive"', '"ambiguous"'))
    gold = project.bench.cases_dir / "fails/expected/gold.patch"
    gold.write_text(
        "diff --git a/README.md b/README.md\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/NEW.md\n@@ -0,0 +1 @@\n+new\n".replace(
            "a/README.md b/README.md", "a/NEW.md b/NEW.md"
        )
    )
    project.bench.sign()
    result = project.run(*plugin_args, "-rxX", "--junitxml=out.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # for the error alone
    result.assert_outcomes(xpassed=1, xfailed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "  cases    0 of 0 passed; *ambiguous, not counted",
            "  score    none: no case was judged",
        ]
    )
    result.stdout.fnmatch_lines(
        ["XFAIL *::fails?oracle? - ambiguous case: reported, never counted*"]
    )


def test_junit_says_of_each_case_what_came_of_it(
    project: Project, plugin_args: list[str]
) -> None:
    project.case("passes", files=RIGHT_IF_MENDED)
    project.case("fails", files=RIGHT_IF_MENDED | {"expected/gold.patch": ""})
    predictions = project.path / "predictions.jsonl"
    patch = (project.bench.cases_dir / "passes/expected/gold.patch").read_text()
    predictions.write_text(
        "".join(
            json.dumps(
                {
                    "instance_id": case_id,
                    "model_name_or_path": "small-model",
                    "model_patch": text,
                }
            )
            + "\n"
            for case_id, text in (("passes", patch), ("fails", ""))
        )
    )
    agent = {
        "name": "predictions",
        "label": "small",
        "options": {"path": str(predictions)},
    }
    run_file = project.run_file(agents=[agent])
    result = project.run(run_file, *plugin_args, "--junitxml=out.xml")
    result.assert_outcomes(passed=1, failed=1)
    (run_directory,) = project.run_directories
    root = ET.parse(project.path / "out.xml").getroot()
    cases = {case.get("name"): properties(case) for case in root.iter("testcase")}
    assert cases["passes[small]"] == {
        "score": "1.0",
        "passed": "true",
        "breakdown.fixed": "1.0",
        "breakdown.kept": "1.0",
        "agent": "small",
        "model": "small-model",
        "run_id": run_directory.name,
        "provenance": "run",
        "artifacts": f".codegenie/runs/{run_directory.name}/cases/passes/small-t1",
    }
    assert cases["fails[small]"]["passed"] == "false"
    assert cases["fails[small]"]["score"] == "0.0"
    assert cases["fails[small]"]["failure_mode.agent.no_patch"] == "block"
    suite = root.find("testsuite")
    assert suite is not None
    of_suite = properties(suite)
    assert of_suite["codegenie.run_id"] == run_directory.name
    assert of_suite["codegenie.workspace"] == AUTO_WORKSPACE
    assert of_suite["codegenie.demo-task.small.passed"] == "1"
    assert of_suite["codegenie.demo-task.small.failed"] == "1"
    assert of_suite["codegenie.demo-task.small.errors"] == "0"
    assert of_suite["codegenie.demo-task.small.mean_score"] == "0.5"


def test_the_summary_fits_the_terminal_and_says_where_the_run_is(
    project: Project,
) -> None:
    project.three_outcomes()
    result = project.run("--codegenie-agent=oracle", "--codegenie-agent=nop")
    text = result.stdout.str().partition("codegenie summary")[2]
    lines = text.partition("short test summary")[0].splitlines()[1:-1]
    assert [line for line in lines if len(line) > 80] == []
    result.stdout.fnmatch_lines(
        [
            "demo-task [[]nop[]]",
            "  cases    0 of 3 passed",
            "  score    mean 0.000  stddev 0.000*",
            "  block    agent.no_patch x3",
            "demo-task [[]oracle[]]",
            "  cases    1 of 2 passed; 1 not judged (errors)",
            "  means    fixed 1.000  kept 1.000",
            "  cost     unknown (no agent reported one); time * s",
            f"run * in .codegenie/runs/{project.run_directories[0].name}",
        ]
    )


def test_a_case_that_a_conftest_skips_is_skipped(
    project: Project, plugin_args: list[str]
) -> None:
    project.case("first")
    project.case("second")
    project.path.joinpath("conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.skip(reason='not today'))\n"
    )
    result = project.run("-rs", *plugin_args)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED [[]1[]] bench/demo-task/cases/first/case.toml: not today"]
    )
