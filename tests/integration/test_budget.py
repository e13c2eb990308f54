"""``--codegenie-max-cost-usd``: one budget for all agents of a run."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import outcomes
from integration.sessions import properties
from integration.sessions import wait_until
from model_server import ModelServer
from real_agents import CANARY
from real_agents.describing import Edit
from real_agents.pi import PI

from pytest_codegenie.session import budgeting
from pytest_codegenie.session.not_running import CaseNotRun


CHANGE = "echo >> README.md; "


def tells(cost: float | str) -> str:
    """Return a command that tells a cost."""
    return "echo " + shlex.quote(f'{{"cost_usd": {cost}}}')


class Paid:
    """Cases and an agent that costs something: a shell script that says so."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def cases(self, *names: str) -> None:
        for name in names:
            self.project.case(name)

    def agent(
        self,
        script: str,
        *,
        tells_usage: bool = True,
        limit: float | None = None,
        workspace: str = "host",
        **settings: Any,
    ) -> str:
        options = {
            "command": ["/bin/sh", "-c", CHANGE + script],
            "tells_usage": tells_usage,
            "max_cost_usd": limit,
        }
        agent = {"name": "command", "label": "paid", "options": options}
        return self.project.run_file(agents=[agent], workspace=workspace, **settings)

    def ledger(self) -> list[dict[str, Any]]:
        (run,) = self.project.run_directories
        lines = (run / "budget.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def count(self, event: str) -> int:
        return sum(entry["event"] == event for entry in self.ledger())

    def report(self) -> dict[str, Any]:
        (run,) = self.project.run_directories
        path = run / "report-demo-task-paid.json"
        report: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return report


@pytest.fixture
def paid(project: Project) -> Paid:
    return Paid(project)


def counts(result: pytest.RunResult) -> dict[str, int]:
    """Return what pytest counted, words of ours among it."""
    line = next(line for line in reversed(result.outlines) if " in " in line)
    words = line.strip("= ").partition(" in ")[0].split(", ")
    return {word.partition(" ")[2]: int(word.partition(" ")[0]) for word in words}


def test_what_does_not_fit_is_not_run(paid: Paid, plugin_args: list[str]) -> None:
    """It is told apart everywhere, and neither fails nor has a result."""
    paid.cases("a", "b", "c", "d")
    run_file = paid.agent(tells(0.3))
    result = paid.project.run(
        run_file, "--codegenie-max-cost-usd=0.7", "--junitxml=out.xml", *plugin_args
    )
    assert result.ret == 7
    assert counts(result) == {"passed": 2, "not run": 2}
    result.stdout.fnmatch_lines(["codegenie: cost cap: 0.70 USD", "*n *[[]100%]"])
    run = paid.project.only_run()
    result.stdout.fnmatch_lines(
        [
            "budget: 0.60 of 0.70 USD spent, as reported by the agents",
            "  the cap was reached: 2 cases not run; to go on, with a higher cap:",
            f"  --codegenie-resume {run.record.run_id} --codegenie-max-cost-usd USD",
        ]
    )
    assert_no_traceback(result)
    assert len(run.results) == 2
    assert {item.outcome for item in run.results} == {"passed"}
    assert paid.report()["complete"] is False
    junit = outcomes(Path("out.xml"))
    assert sorted(junit.values()) == ["passed"] * 2 + ["skipped"] * 2
    left_out = next(
        case
        for case in ET.parse("out.xml").getroot().iter("testcase")
        if case.find("skipped") is not None
    )
    assert properties(left_out) == {"not_run": "budget"}
    skipped = left_out.find("skipped")
    assert skipped is not None
    assert skipped.get("message") == (
        "the cost cap of 0.70 USD: 0.60 spent, 0.10 left, 0.30 to be reserved (what "
        "such cases cost in this run)"
    )
    assert len(paid.project.events("case.not_run")) == 2


def test_agents_that_run_are_ended_in_all_workers(paid: Paid) -> None:
    """Each alone keeps to its share, and both together exceed the cap."""
    paid.cases("a", "b", "c")
    script = f"{tells(0.2)}; sleep 1; {tells(0.55)}; sleep 300"
    run_file = paid.agent(script, workspace=AUTO_WORKSPACE)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=1", "-n2")
    assert result.ret == 7
    assert counts(result) == {"errors": 2, "not run": 1}
    result.stdout.fnmatch_lines(
        [
            "agent.error: ended: the session's cost cap *; its own cost by then: "
            "0.5500 USD",
            "budget: 1.10 of 1.00 USD spent, as reported by the agents",
            "  0.10 over the cap: *",
            "  the cap was reached: 2 agents ended, 1 case not run; *",
        ]
    )
    for ended in paid.project.only_run().results:
        assert [mode.code for mode in ended.score.failure_modes] == ["agent.error"]
        assert ended.output is not None
        assert ended.output.agent.cost_usd == 0.55
        assert ended.output.agent.metadata["ended_by"] == "budget"
        assert ended.output.agent.duration_seconds < 60
    assert paid.report()["complete"] is False


def test_an_agent_may_use_what_is_left_beyond_its_reservation(paid: Paid) -> None:
    paid.cases("a")
    run_file = paid.agent(f"{tells(0.4)}; sleep 3", limit=0.1)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=1")
    assert (result.ret, counts(result)) == (0, {"passed": 1})
    assert paid.count("use") == 1
    assert paid.count("stop") == 0
    assert paid.report()["complete"] is True


def test_a_cost_that_nobody_tells_is_held(paid: Paid) -> None:
    paid.cases("a", "b", "c")
    run_file = paid.agent(tells(0.01), tells_usage=False, limit=0.4)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=1")
    assert (result.ret, counts(result)) == (7, {"passed": 2, "not run": 1})
    result.stdout.fnmatch_lines(
        [
            "  cost     unknown (no agent reported one)*",
            "budget: 0.00 of 1.00 USD spent, as reported by the agents",
            "  0.80 held for 2 results of unknown cost",
        ]
    )


def test_where_nothing_is_known_one_worker_reserves_all(paid: Paid) -> None:
    paid.cases("a", "b")
    run_file = paid.agent("true", tells_usage=False)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=1")
    assert (result.ret, counts(result)) == (7, {"passed": 1, "not run": 1})
    result.stdout.fnmatch_lines(["  1.00 held for 1 result of unknown cost"])


def test_earlier_runs_tell_what_such_cases_cost(paid: Paid) -> None:
    paid.cases("a")
    run_file = paid.agent(tells(0.2))
    paid.project.run(run_file).assert_outcomes(passed=1)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=0.19")
    assert (result.ret, counts(result)) == (7, {"not run": 1})
    # A run in which nothing was begun is removed, so there is none to go on with.
    result.stdout.fnmatch_lines(
        [
            "budget: 0.00 of 0.19 USD spent, as reported by the agents",
            "  the cap was reached: 1 case not run; to go on, with a higher cap:",
            "  --codegenie-max-cost-usd USD",
        ]
    )
    result.stdout.no_fnmatch_line("run 2* in *")
    assert len(paid.project.run_directories) == 1


def test_agents_that_cost_nothing_need_no_budget(project: Project) -> None:
    project.case("a")
    agents = ["--codegenie-agent=oracle", "--codegenie-agent=nop"]
    result = project.run(*agents, "--codegenie-max-cost-usd=0.01")
    assert (result.ret, counts(result)) == (1, {"passed": 1, "failed": 1})
    ledger = project.only_run().directory / "budget.jsonl"
    assert ledger.read_text("utf-8").count("\n") == 1
    result.stdout.fnmatch_lines(["budget: 0.00 of 0.01 USD spent, *"])


def test_an_agent_whose_own_limit_is_above_the_cap_is_not_run(paid: Paid) -> None:
    paid.cases("a")
    run_file = paid.agent(tells(0.01), limit=5)
    result = paid.project.run(
        run_file, "--codegenie-max-cost-usd=1", "--junitxml=out.xml", "-v", "-rs"
    )
    assert (result.ret, counts(result)) == (7, {"not run": 1})
    result.stdout.re_match_lines([r".*::a\[paid\] NOT RUN \(.*\) +\[100%\]"])
    result.stdout.no_re_match_line(r"SKIPPED.*")
    text = Path("out.xml").read_text("utf-8")
    assert "1.00 left, 5.00 to be reserved (the agent's own limit)" in text


def test_a_case_that_does_not_begin_gives_its_money_back(paid: Paid) -> None:
    paid.cases("a", "b")
    options = {"command": ["no-such-program"], "max_cost_usd": 0.9}
    agent = {"name": "command", "label": "paid", "options": options}
    run_file = paid.project.run_file(agents=[agent], workspace="host")
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=1")
    assert (result.ret, counts(result)) == (1, {"errors": 2})
    assert (paid.count("reserve"), paid.count("cancel")) == (2, 2)


# -- going on ----------------------------------------------------------------------


def test_the_cap_is_of_the_run_however_many_sessions_it_has(paid: Paid) -> None:
    paid.cases("a", "b", "c")
    paid.project.path.joinpath("conftest.py").write_text(
        "def pytest_runtest_teardown(item):\n"
        "    if item.config.option.codegenie_resume is None:\n"
        "        item.session.shouldstop = 'enough for today'\n"
    )
    run_file = paid.agent(tells(0.3))
    # The first has no cap at all.
    paid.project.run(run_file).assert_outcomes(passed=1)
    resume = [run_file, "--codegenie-resume"]
    second = paid.project.run(*resume, "--codegenie-max-cost-usd=0.8")
    assert (second.ret, counts(second)) == (7, {"passed": 2, "not run": 1})
    second.stdout.fnmatch_lines(["budget: 0.60 of 0.80 USD spent, *"])
    assert paid.report()["complete"] is False
    third = paid.project.run(*resume, "--codegenie-max-cost-usd=0.9")
    assert (third.ret, counts(third)) == (0, {"passed": 3})
    third.stdout.fnmatch_lines(["budget: 0.90 of 0.90 USD spent, *"])
    assert len(paid.project.only_run().results) == 3
    assert paid.report()["complete"] is True


# -- what goes wrong ---------------------------------------------------------------


def test_a_worker_that_is_killed_leaves_its_reservation_held(paid: Paid) -> None:
    for name in ("a-kills", "b", "c"):
        problem = {"input/problem.md": f"{name}\n"}
        paid.project.case(name, files=_RIGHT | problem)
    # The agent's parent is the supervisor, and the worker is that one's.
    kills = "read -r x y z worker rest < /proc/$PPID/stat; kill -9 $worker; sleep 9"
    script = f'case "$(cat)" in a-kills*) {kills};; esac; {tells(0.1)}'
    run_file = paid.agent(script, limit=0.4)
    result = paid.project.run(run_file, "--codegenie-max-cost-usd=0.75", "-n2")
    # Which of the others came before it is up to the workers.
    assert (result.ret, counts(result)["error"]) == (7, 1)
    assert counts(result)["not run"] >= 1
    result.stdout.fnmatch_lines(["  0.40 held for 1 result of unknown cost"])


_RIGHT = {"expected/tests.toml": 'framework = "command"\ncommand = "true"\n'}


def test_ctrl_c_while_a_worker_waits_for_its_part(paid: Paid) -> None:
    """The one that runs is finished; the one that waits has not begun."""
    paid.cases("a", "b")
    go, started = paid.project.path / "go", paid.project.path / "started"
    waits = f"touch {started}; while [ ! -e {go} ]; do sleep 0.05; done; "
    run_file = paid.agent(waits + tells(0.1), limit=0.6)
    stdout = paid.project.path / "stdout"
    argv = [sys.executable, "-m", "pytest", "--codegenie", run_file, "-n2"]
    with stdout.open("wb") as file:
        process = subprocess.Popen(
            [*argv, "--codegenie-max-cost-usd=1", "--junitxml=out.xml"],
            cwd=paid.project.path,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(lambda: started.exists() and _both_began(paid.project))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "finishes what runs" in stdout.read_text("utf-8"))
        wait_until(lambda: paid.project.events("case.not_run") != [])
    finally:
        go.touch()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    assert sorted(outcomes(paid.project.path / "out.xml").values()) == [
        "passed",
        "skipped",
    ]
    (event,) = paid.project.events("case.not_run")
    assert event["why"] == "interrupted"
    shown = stdout.read_text("utf-8")
    assert "1 passed, 1 not run in " in shown
    assert "interrupted: 1 of 2 cases have a result" in shown
    assert "Traceback" not in shown


def _both_began(project: Project) -> bool:
    return len(project.events("case.started")) == 2


def test_a_clock_that_guards_a_case_stands_still_while_it_waits() -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    own = signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        with budgeting._timeouts_waiting():
            assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        left, every = signal.getitimer(signal.ITIMER_REAL)
        assert 900 < left <= 1000
        assert every == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, *own)
        signal.signal(signal.SIGALRM, before)


def test_a_case_that_is_not_run_says_why() -> None:
    left_out = CaseNotRun("budget", "no more money")
    assert (left_out.why, str(left_out)) == ("budget", "no more money")


# -- the setting -------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "abc", ""])
def test_a_wrong_cap_is_a_usage_error(project: Project, value: str) -> None:
    project.case()
    result = project.run(f"--codegenie-max-cost-usd={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: command line: --codegenie-max-cost-usd: must be a number of US "
            f"dollars above 0, such as 2.50, got {value!r}"
        ]
    )


def test_the_cap_may_stand_in_any_place(
    paid: Paid, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid.cases("a")
    header = "codegenie: cost cap: {} USD"
    paid.project.settings("max_cost_usd = 4")
    plain = paid.agent(tells(0.1))
    result = paid.project.run(plain, "--collect-only")
    result.stdout.fnmatch_lines([header.format("4.00")])
    in_file = paid.agent(tells(0.1), max_cost_usd=3)
    result = paid.project.run(in_file, "--collect-only")
    result.stdout.fnmatch_lines([header.format("3.00")])
    monkeypatch.setenv("CODEGENIE_MAX_COST_USD", "2")
    result = paid.project.run(in_file, "--collect-only")
    result.stdout.fnmatch_lines([header.format("2.00")])
    result = paid.project.run(in_file, "--collect-only", "--codegenie-max-cost-usd=1")
    result.stdout.fnmatch_lines([header.format("1.00")])
    assert paid.project.run_directories == []


def test_a_wrong_cap_in_a_run_file_names_the_file(paid: Paid) -> None:
    paid.cases("a")
    result = paid.project.run(paid.agent("true", max_cost_usd="lots"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: run.yaml: max_cost_usd: must be a number *, got 'lots'"]
    )


def test_a_rehearsal_compares_the_cap_with_what_is_known(paid: Paid) -> None:
    paid.cases("a")
    run_file = paid.agent(tells(0.5))
    paid.project.run(run_file).assert_outcomes(passed=1)
    paid.agent(tells(0.5), max_cost_usd=0.4)
    known = paid.project.command("run", "-c", "run.yaml", "--dry-run").stdout
    assert "cost cap      0.40 USD: enough for about 80% of what is known" in known


# -- an agent that people install --------------------------------------------------


def test_an_installed_agent_tells_its_cost(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PI.key_variable, CANARY)
    edit = Edit("thermometer.py", "9 / 5\n", "9 / 5 + 32\n")
    for case_id in ("one", "two", "three"):
        project.case(case_id, files={})
    with ModelServer(PI.fix(edit)) as server:
        options = {"program": str(PI.path()), **PI.options(server)}
        run_file = project.run_file(agents=[{"name": "pi", "options": options}])
        result = project.run(run_file, "--codegenie-max-cost-usd=0.03")
    assert (result.ret, counts(result)) == (7, {"passed": 2, "not run": 1})
    result.stdout.fnmatch_lines(["budget: 0.0225 of 0.03 USD spent, *"])
