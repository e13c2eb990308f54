"""--codegenie-resume: what has a verdict is reported from the record, the rest run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import outcomes
from integration.sessions import properties
from integration.sessions import wait_until

from pytest_codegenie.evidence import Run
from pytest_codegenie.evidence import RunLock
from pytest_codegenie.evidence import load_run
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence import read_plain_results


RESUME = "--codegenie-resume"


class Resumed:
    """A run of ``passes``, ``fails`` and ``errs``, whose agent counts its starts."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.starts = project.path / "starts"
        self.starts.touch()
        mended = {"input/problem.md": "mend\n"}
        project.case("errs", files=NEVER_JUDGED)
        project.case("fails", files=RIGHT_IF_MENDED)
        project.case("passes", files=RIGHT_IF_MENDED | mended)
        self.agent()

    def agent(self, **settings: object) -> None:
        """Write the run file."""
        script = (
            f"echo >> {self.starts}; echo >> README.md; "
            "grep -q mend {problem} && sed -i 's,/ 5$,/ 5 + 32,' thermometer.py; true"
        )
        options = {"command": ["/bin/sh", "-c", script]}
        agent = {"name": "command", "label": "shell", "options": options}
        self.project.run_file(**{"agents": [agent], "workspace": "host"} | settings)

    def run(self, *arguments: str) -> pytest.RunResult:
        return self.project.run("--codegenie-run-file=run.yaml", *arguments)

    def started(self) -> int:
        """Return how many agents were started since this was asked last."""
        count = len(self.starts.read_text().splitlines())
        self.starts.write_text("")
        return count

    def only_run(self) -> Run:
        return self.project.only_run()

    def lines(self) -> list[tuple[str, str, int]]:
        """Return case, outcome and attempt of each line of the results."""
        plain = read_plain_results(self.only_run().directory, all_tries=True)
        return [(r["case_id"], r["outcome"], r["attempt"]) for r in plain]

    def standing(self) -> dict[str, str]:
        """Return case to outcome; a case with two results fails the test."""
        results = self.only_run().results
        assert len({result.case_id for result in results}) == len(results)
        return {result.case_id: result.outcome for result in results}


@pytest.fixture
def resumed(project: Project) -> Resumed:
    return Resumed(project)


def test_what_has_a_verdict_is_reported_as_if_it_had_just_run(
    resumed: Resumed, plugin_args: list[str]
) -> None:
    first = resumed.run("--junitxml=1.xml")
    assert resumed.started() == 3
    again = resumed.run("--junitxml=2.xml", "--durations=0", RESUME, *plugin_args)
    assert resumed.started() == 1, "the case that could not be judged, and no other"
    for result in (first, again):
        result.assert_outcomes(passed=1, failed=1, errors=1)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert_no_traceback(again)
    path = resumed.project.path
    assert outcomes(path / "1.xml") == outcomes(path / "2.xml")
    before, after = _cases(path / "1.xml"), _cases(path / "2.xml")
    for name in ("passes[shell]", "fails[shell]"):
        assert properties(before[name]) == properties(after[name])
        seconds = [float(one.get("time", "")) for one in (before[name], after[name])]
        assert seconds == pytest.approx([seconds[0]] * 2, abs=0.1)
    texts = [one["fails[shell]"].find("failure") for one in (before, after)]
    assert texts[0] is not None
    assert texts[1] is not None
    assert texts[0].text == texts[1].text
    assert "cases/fails/shell-t1" in str(texts[1].text)


def _cases(junit: Path) -> dict[str, ET.Element]:
    return {c.get("name", ""): c for c in ET.parse(junit).getroot().iter("testcase")}


def test_recorded_durations_are_shown(resumed: Resumed) -> None:
    resumed.run()
    results = resumed.only_run().directory / "results.jsonl"
    text = re.sub(
        r'("case_id":"passes".*"ended_at":")\d{4}', r"\g<1>2099", results.read_text()
    )
    results.write_text(text)
    shown = resumed.run(RESUME, "--durations=1").stdout
    shown.re_match_lines([r"\d{8,}\.\d\ds setup .*passes\[shell\]"])


def test_errors_are_run_again_and_earlier_tries_are_kept(resumed: Resumed) -> None:
    resumed.run()
    directory = resumed.only_run().directory
    first_try = directory / "cases/errs/shell-t1"
    before = {path.name: path.read_bytes() for path in first_try.iterdir()}
    resumed.run(RESUME)
    assert [line for line in resumed.lines() if line[0] == "errs"] == [
        ("errs", "error", 1),
        ("errs", "error", 2),
    ]
    assert {path.name: path.read_bytes() for path in first_try.iterdir()} == before
    # Once it can be judged, the verdict stands alone. The case stays what it is.
    resumed.project.path.joinpath("conftest.py").write_text(
        "def pytest_codegenie_evaluators():\n"
        "    from pytest_codegenie.parts import BUILTIN_PARTS\n"
        "    return {'oracle-bones': BUILTIN_PARTS.evaluators['command']}\n"
    )
    resumed.run("--junitxml=3.xml", RESUME).assert_outcomes(passed=2, failed=1)
    assert resumed.lines()[-1] == ("errs", "passed", 3)
    assert resumed.standing() == {
        "errs": "passed",
        "fails": "failed",
        "passes": "passed",
    }
    artifacts = properties(_cases(resumed.project.path / "3.xml")["errs[shell]"])
    assert artifacts["artifacts"].endswith("/cases/errs/shell-t1-try3")
    assert sorted(path.name for path in (directory / "cases/errs").iterdir()) == [
        "shell-t1",
        "shell-t1-try2",
        "shell-t1-try3",
    ]
    report = json.loads((directory / "report-demo-task-shell.json").read_text())
    assert (report["complete"], report["passed_count"]) == (True, 2)
    # And now that there is nothing left to run, a verdict of a later try is shown.
    resumed.started()
    resumed.run("--junitxml=4.xml", RESUME).assert_outcomes(passed=2, failed=1)
    assert resumed.started() == 0
    again = properties(_cases(resumed.project.path / "4.xml")["errs[shell]"])
    assert again == artifacts


def test_what_was_not_run_is_run_and_the_summary_is_of_the_whole_run(
    resumed: Resumed,
) -> None:
    resumed.run("-x", "-k", "not errs")
    assert resumed.standing() == {"fails": "failed"}
    before = resumed.only_run().record
    assert resumed.started() == 1
    result = resumed.run(RESUME, "-k", "not errs")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            f"codegenie: resumes run {before.run_id}: 1 of 2 cases have a verdict on "
            "record",
            "*cases *1 of 2 passed*",
            f"run {before.run_id} in .codegenie/runs/{before.run_id}",
        ]
    )
    assert resumed.started() == 1
    assert resumed.standing() == {"fails": "failed", "passes": "passed"}
    after = resumed.only_run().record
    assert len(after.resumed_at) == 1
    assert after.resumed_at[0] > before.started_at
    same = after.model_copy(update={"resumed_at": (), "chain_head": before.chain_head})
    assert same == before
    report = after.run_id, "report-demo-task-shell.json"
    path = resumed.project.path.joinpath(".codegenie/runs", *report)
    assert json.loads(path.read_text())["complete"] is True


def test_to_stop_at_a_failure_is_not_to_stop_at_one_on_record(
    resumed: Resumed,
) -> None:
    arguments = ("-x", "-k", "not errs")
    resumed.run(*arguments).assert_outcomes(failed=1, deselected=1)
    resumed.run(RESUME, *arguments).assert_outcomes(passed=1, failed=1, deselected=1)
    assert resumed.standing() == {"fails": "failed", "passes": "passed"}


def test_a_finished_run_is_reported_and_nothing_is_appended(resumed: Resumed) -> None:
    resumed.run("-k", "not errs")
    results = resumed.only_run().directory / "results.jsonl"
    before = results.read_bytes()
    resumed.started()
    result = resumed.run(RESUME, "-k", "not errs", "--codegenie-reporter=csv")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    assert resumed.started() == 0
    assert results.read_bytes() == before
    assert "demo-task,passes,positive" in (results.parent / "report.csv").read_text()
    assert not (results.parent / "cases/passes/shell-t1-try2").exists()


def test_a_part_of_a_run_can_be_resumed_and_the_rest_stays_unfinished(
    resumed: Resumed,
) -> None:
    resumed.run("-x", "-p", "no:randomly", "-k", "fails or passes")
    result = resumed.run(RESUME, "-k", "fails")
    result.assert_outcomes(failed=1, deselected=2)
    assert resumed.standing() == {"fails": "failed"}
    assert len(resumed.only_run().record.items) == 2


def test_the_run_is_told_from_what_is_to_be_collected(project: Project) -> None:
    project.case("passes", files=RIGHT_IF_MENDED)
    agent = project.shell_agent("sed -i 's,/ 5$,/ 5 + 32,' *.py", workspace="host")
    project.run(agent).assert_outcomes(passed=1)
    # Where nothing is named there is nothing: what is collected comes from the words.
    project.settings("", ini='testpaths = ["nothing"]')
    (directory,) = project.run_directories
    for times, words in enumerate(
        (
            ["bench", RESUME],
            [RESUME, "bench"],
            [RESUME, "bench/demo-task/cases/passes/case.toml::passes[shell]"],
            [RESUME, directory.name, "bench"],
            [f"{RESUME}={directory}", "bench"],
        ),
        start=1,
    ):
        # --codegenie goes without saying.
        result = project.pytester.runpytest_inprocess(agent, *words)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["codegenie: resumes run *: 1 of 1 cases have *"])
        assert project.run_directories == [directory]
        assert len(project.only_run().record.resumed_at) == times


def test_a_run_that_is_not_there_is_named_with_those_that_are(
    resumed: Resumed,
) -> None:
    result = resumed.run(RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: there is no run in .codegenie/runs; --out (of pytest: "
            "--codegenie-out) says where runs are"
        ]
    )
    resumed.run("--codegenie-run-id=first", "-k", "fails")
    for word, reason in (
        (
            "fist",
            "there is no run 'fist' in * (did you mean 'first'?); *",
        ),
        ("no/where", "there is no directory no/where"),
        (f"{RESUME}=bench/", "bench/run.json: cannot be read: *; is this a run?"),
    ):
        words = [word] if word.startswith("-") else [RESUME, word]
        result = resumed.run(*words)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {reason}"])
        assert_no_traceback(result)
    assert not (resumed.project.path / "bench/session.lock").exists()
    assert resumed.started() == 1


def test_it_goes_on_only_with_the_same_configuration_and_says_all_that_differs(
    resumed: Resumed,
) -> None:
    resumed.run("-k", "fails")
    resumed.started()
    before = resumed.only_run()
    resumed.agent(
        agents=[
            {
                "name": "command",
                "label": "shell",
                "options": {"command": ["true"]},
                "env": {"FLAG": "1", "HOME": ""},
            },
            {"name": "oracle", "label": "second"},
        ],
        timeout=30,
        limits={"memory": "1g"},
        evaluator={"timeout_seconds": 5},
        trials=2,
        # None of these changes a verdict.
        log_level="debug",
        reporters=["csv"],
        keep="failed",
        secrets=["TOKEN"],
    )
    result = resumed.run(RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = result.stderr.str().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("ERROR: run "))
    run_id = before.record.run_id
    assert lines[start] == (
        f"ERROR: run {run_id!r} cannot be resumed: what would run now differs from "
        "what it is made of"
    )
    command = lines[start + 1]
    assert re.fullmatch(
        r"  agents\.shell\.options\.command: recorded \[.*\.\.\., now \[\"true\"\]",
        command,
    )
    assert lines[start + 2 : start + 10] == [
        '  agents.shell.env.FLAG: recorded nothing, now "(set)"',
        '  agents.shell.env.HOME: recorded nothing, now "(unset)"',
        "  agents.second: recorded nothing, now second",
        "  trials: recorded 1, now 2",
        "  timeout: recorded 600.0, now 30.0",
        "  limits.memory: recorded 4294967296, now 1073741824",
        "  evaluator.timeout_seconds: recorded nothing, now 5.0",
        "make it as it was, or begin a run of its own",
    ]
    assert resumed.started() == 0
    assert resumed.only_run() == before
    assert_no_traceback(result)


def test_other_versions_and_another_id_are_differences(resumed: Resumed) -> None:
    resumed.run("-k", "fails")
    path = resumed.only_run().directory / "run.json"
    record = json.loads(path.read_text())
    record["versions"] |= {"pytest-codegenie": "0.0.1", "agent shell": "7"}
    record["versions"] |= {"pytest": "1.0", "pydantic": "1.0"}
    path.write_text(json.dumps(record))
    result = resumed.run(RESUME, "--codegenie-run-id=other")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: run * cannot be resumed: *",
            '  versions.pytest-codegenie: recorded "0.0.1", now *',
            '  versions.agent shell: recorded "7", now nothing',
            f"  run_id: recorded {record['run_id']}, now other",
            "make it as it was, *",
        ],
        consecutive=True,
    )
    resumed.started()
    assert len(resumed.project.run_directories) == 1


def test_it_goes_on_only_with_the_same_corpus(
    resumed: Resumed, plugin_args: list[str]
) -> None:
    resumed.run("-k", "fails or errs", "-x")
    resumed.started()
    before = resumed.only_run()
    bench = resumed.project.bench
    (bench.cases_dir / "fails/input/problem.md").write_text("other\n")
    with (bench.directory / "rubric.py").open("a") as file:
        file.write("# other\n")
    bench.sign()
    result = resumed.run(RESUME, *plugin_args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    shown = result.stdout.str()
    digests = r"recorded blake3:\w{64}, now blake3:\w{64}"
    lines = (
        f"run '{before.record.run_id}' cannot be resumed: what would run now differs "
        "from what it is made of",
        rf"  case demo-task/fails: {digests}",
        rf"  rubric of demo-task: {digests}",
        r"  bench/demo-task/cases/passes/case\.toml::passes\[shell\]: not in the run",
        "make it as it was, or begin a run of its own",
    )
    # Each once, whoever collects.
    assert len(re.findall("(?m)^" + "\n".join(lines) + "$", shown)) == 1, shown
    assert len(re.findall("cannot be resumed: ", shown)) == 1, shown
    assert "codegenie summary" not in shown
    assert resumed.started() == 0
    assert_no_traceback(result)
    assert resumed.only_run() == before


def test_what_the_run_did_not_select_is_refused_with_what_it_did(
    resumed: Resumed,
) -> None:
    resumed.run("-k", "fails")
    result = resumed.run(RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    run_id = resumed.only_run().record.run_id
    result.stdout.fnmatch_lines(
        [
            "  bench/demo-task/cases/errs/case.toml::errs[[]shell]: not in the run",
            "  bench/demo-task/cases/passes/case.toml::passes[[]shell]: not in the run",
            "select only what the run has: pytest --codegenie "
            f"--codegenie-run-file=run.yaml -k fails --codegenie-resume {run_id}",
        ],
        consecutive=True,
    )
    assert resumed.started() == 1


def test_a_case_that_is_gone_is_a_difference(resumed: Resumed) -> None:
    resumed.run()
    resumed.started()
    for name in ("errs", "passes"):
        shutil.rmtree(resumed.project.bench.cases_dir / name)
    resumed.project.bench.sign()
    result = resumed.run(RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "  bench/demo-task/cases/errs/case.toml: in the run, and gone now",
            "  bench/demo-task/cases/passes/case.toml: in the run, and gone now",
        ],
        consecutive=True,
    )
    assert resumed.started() == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--codegenie-validate"], "*: --codegenie-validate records no run"),
        (["-n2", "--dist=each"], "*: --dist each runs each case once in every worker*"),
    ],
)
def test_what_cannot_be_resumed_is_refused(
    resumed: Resumed, arguments: list[str], reason: str
) -> None:
    resumed.run("-k", "fails")
    result = resumed.run(*arguments, RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --codegenie-resume: latest{reason}"])
    assert resumed.started() == 1


def test_to_look_what_would_be_collected_touches_no_run(resumed: Resumed) -> None:
    resumed.run("-k", "fails")
    before = resumed.only_run()
    resumed.run(RESUME, "--collect-only").assert_outcomes()
    assert resumed.only_run() == before


def test_two_sessions_never_work_on_one_run(resumed: Resumed) -> None:
    """Neither while it runs for the first time, nor while it is resumed."""
    go = resumed.project.path / "go"
    script = f"touch {go}.waits; while [ ! -e {go} ]; do sleep 0.05; done"
    agent = resumed.project.shell_agent(script, workspace="host")
    waits = Path(f"{go}.waits")
    for arguments in (["-k", "fails"], ["-k", "fails", RESUME]):
        waits.unlink(missing_ok=True)
        go.unlink(missing_ok=True)
        session = resumed.project.start(agent, *arguments)
        wait_until(waits.exists)
        result = resumed.run(RESUME)
        (directory,) = resumed.project.run_directories
        go.touch()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [
                f"ERROR: --codegenie-resume: {directory.name}: another session works "
                f"on this run, in .codegenie/runs/{directory.name}; wait for its end, "
                "or stop it"
            ]
        )
        assert session.wait() == pytest.ExitCode.TESTS_FAILED
        # As if its power had failed before the result: there is something to resume.
        (directory / "results.jsonl").write_bytes(b"")
    assert resumed.started() == 0


def test_workers_that_outlive_their_session_are_waited_for(
    resumed: Resumed, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed.run("-k", "fails")
    monkeypatch.setattr("pytest_codegenie.evidence.run_lock.PATIENCE_SECONDS", 0.1)
    orphan = RunLock.of_worker(resumed.only_run().directory)
    result = resumed.run(RESUME, "-k", "fails")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["codegenie: waits for workers of a session that was killed"]
    )
    result.stderr.fnmatch_lines(
        ["ERROR: --codegenie-resume: *: workers of a session that was killed still *"]
    )
    orphan.release()
    resumed.run(RESUME, "-k", "fails").assert_outcomes(failed=1, deselected=2)


def test_a_try_that_was_killed_keeps_its_directory(resumed: Resumed) -> None:
    resumed.run("-k", "fails or passes")
    directory = resumed.only_run().directory
    results = directory / "results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(lines[0] + lines[1][:-9])
    kept = directory / "cases/passes/shell-t1/agent.log"
    kept.write_text("what was killed\n")
    result = resumed.run(RESUME, "-k", "fails or passes")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    assert resumed.lines() == [("fails", "failed", 1), ("passes", "passed", 2)]
    assert kept.read_text() == "what was killed\n"
    assert (directory / "cases/passes/shell-t1-try2/patch.diff").exists()


@pytest.mark.parametrize("torn", [None, b'{"run_id": "fir'])
def test_a_run_that_was_killed_before_it_had_a_record_begins(
    resumed: Resumed, torn: bytes | None
) -> None:
    directory = resumed.project.path / ".codegenie/runs/first"
    directory.mkdir(parents=True)
    (directory / ".run.json.x1").write_text('{"run_id": "f')
    if torn is not None:
        (directory / "run.json").write_bytes(torn)
        (directory / "results.jsonl").write_bytes(torn)
    result = resumed.run(RESUME, "first", "-k", "fails")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert resumed.started() == 1
    run = load_run(directory)
    assert (run.record.run_id, len(run.record.items)) == ("first", 1)
    assert [one.run_id for one in run.results] == ["first"]
    assert not list(directory.glob(".*"))


def test_a_run_that_was_killed_before_it_had_collected_begins(
    resumed: Resumed,
) -> None:
    resumed.run("-k", "fails")
    directory = resumed.only_run().directory
    path = directory / "run.json"
    record = json.loads(path.read_text())
    unset: dict[str, object] = {"items": [], "case_digests": {}, "rubric_digests": {}}
    path.write_text(json.dumps(record | unset))
    shutil.rmtree(directory / "cases")
    (directory / "results.jsonl").unlink()
    resumed.run(RESUME, "-k", "passes").assert_outcomes(passed=1, deselected=2)
    run = resumed.only_run()
    assert [item.partition("::")[2] for item in run.record.items] == ["passes[shell]"]
    assert run.record.case_digests.keys() == {"demo-task/passes"}


def test_results_without_a_record_of_what_they_are_of_are_not_gone_on_with(
    resumed: Resumed,
) -> None:
    resumed.run("-k", "fails", "--codegenie-run-id=first")
    resumed.started()
    directory = resumed.only_run().directory
    (directory / "run.json").write_text("{")
    before = sorted(directory.iterdir())
    result = resumed.run(RESUME, "first")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *first/run.json: is no run record: *"])
    assert sorted(directory.iterdir()) == before


def test_a_line_that_is_no_result_is_named(resumed: Resumed) -> None:
    resumed.run("-k", "fails")
    resumed.started()
    with (resumed.only_run().directory / "results.jsonl").open("a") as file:
        file.write("[]\n")
    result = resumed.run(RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *results.jsonl: line 2 is no result: *"])
    assert resumed.started() == 0


def test_a_refused_session_leaves_the_run_to_others(resumed: Resumed) -> None:
    """In the same process too: its lock is let go of."""
    resumed.run("-k", "fails")
    assert resumed.run(RESUME, "--codegenie-timeout=9").ret == 4
    resumed.run(RESUME, "-k", "fails").assert_outcomes(failed=1, deselected=2)


def test_what_a_stopped_session_says_resumes_it(resumed: Resumed) -> None:
    go = resumed.project.path / "go"
    script = (
        f"echo >> README.md; echo >> {resumed.starts}; grep -q mend {{problem}} || "
        f"exit 0; while [ ! -e {go} ]; do sleep 0.05; done"
    )
    agent = resumed.project.shell_agent(script, workspace="host")
    command = [sys.executable, "-m", "pytest", "--codegenie", "bench", agent]
    session = subprocess.Popen(
        [*command, "-k", "fails or passes"],
        cwd=resumed.project.path,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    wait_until(lambda: resumed.starts.read_text() == "\n\n")
    session.terminate()
    shown = session.communicate()[0]
    assert session.returncode == pytest.ExitCode.INTERRUPTED
    (directory,) = resumed.project.run_directories
    words = next(
        line for line in shown.splitlines() if line.startswith("resume it: ")
    ).removeprefix("resume it: ")
    assert words == (
        f"pytest --codegenie bench {agent} -k 'fails or passes' --codegenie-resume "
        f"{directory.name}"
    )
    assert open_run(directory).overview().shortfall == (
        "not finished: 1 of 2 items have a result; without one: passes[shell]; "
        f"resume it: {words}"
    )
    go.touch()
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(words)],
        cwd=resumed.project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert resumed.standing() == {"fails": "failed", "passes": "failed"}
    assert len(resumed.starts.read_text().splitlines()) == 3


def test_the_command_resumes_too(resumed: Resumed) -> None:
    resumed.run("-k", "fails")
    resumed.started()
    words = ["--resume", "bench", "--config=run.yaml", "--", "-kfails"]
    done = resumed.project.command("run", *words)
    assert done.stdout.splitlines()[0] == (
        "$ pytest --codegenie bench --codegenie-run-file=run.yaml "
        "--codegenie-resume=latest -kfails"
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 deselected" in done.stdout
    assert resumed.started() == 0
