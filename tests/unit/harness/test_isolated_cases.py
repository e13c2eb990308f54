"""Whole cases in each workspace: who goes looking for the answer, and what comes of it.

On the host such an agent finds it, which shows that these tests can fail.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part


@pytest.fixture(params=["host", "sandbox"])
def workspace(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    fault = make_part("workspace", name, BUILTIN_PARTS.workspaces).probe()
    if fault:
        pytest.skip(f"workspace {name!r}: {fault}")
    return name


@pytest.fixture(autouse=True)
def scratch_root(tmp_path: Path) -> Iterator[Path]:
    """Where workspaces are made; nothing may be left there."""
    root = tmp_path / "scratch"
    root.mkdir()
    yield root
    assert list(root.iterdir()) == []


def ends(result: CaseResult) -> list[str]:
    """Return the outcome and the failure modes."""
    return [result.outcome, *(mode.code for mode in result.score.failure_modes)]


#: What an agent tries; it mends the code if that works.
LOOKING = {
    "the reference solution": "git apply {case}/expected/gold.patch",
    "the hidden tests": "cat {case}/expected/tests.toml && {fix}",
    "the case": "ls {case} && {fix}",
    "results of others": "cat {run}/results.jsonl && {fix}",
    "workspaces of others": "cat {scratch}/../elsewhere && {fix}",
    "its own artifacts": "ls {run}/cases && {fix}",
    "this project": f"cat {Path(__file__).resolve()} && {{fix}}",
    "the harness itself": "[ -r /proc/$PPID/environ ] && kill -0 $PPID &&"
    " grep -q super''visor /proc/$PPID/cmdline && {fix}",
}


@pytest.mark.parametrize("script", LOOKING.values(), ids=LOOKING.keys())
def test_an_agent_that_looks_for_the_answer(
    bench: Bench, tmp_path: Path, scratch_root: Path, workspace: str, script: str
) -> None:
    run = tmp_path / "run"
    (run / "cases").mkdir(parents=True)
    (run / "results.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "elsewhere").write_text("", encoding="utf-8")
    case = bench.case()
    script = script.format(case=case, run=run, scratch=scratch_root, fix=FIX)
    result = bench.run_shell(
        f"{script} || true",
        workspace=workspace,
        run_directory=run,
        artifacts_path="cases/first",
        scratch_root=scratch_root,
    )
    found = ["passed"] if workspace == "host" else ["failed", "agent.no_patch"]
    assert ends(result) == found, result.message


def test_an_honest_agent_passes_everywhere(
    bench: Bench, scratch_root: Path, workspace: str
) -> None:
    bench.case()
    result = bench.run_shell(FIX, workspace=workspace, scratch_root=scratch_root)
    assert ends(result) == ["passed"], result.message
    assert result.workspace == workspace


CALLING = """
import socket
try:
    with socket.create_connection(("127.0.0.1", PORT), timeout=20) as connection:
        connection.sendall(b"the tests are ...")
except OSError:
    pass
"""


def test_judged_code_reaches_no_network(
    bench: Bench, scratch_root: Path, workspace: str
) -> None:
    bench.case()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        code = CALLING.replace("PORT", str(server.getsockname()[1]))
        script = f"{FIX}; cat >> thermometer.py <<'END'\n{code}\nEND"
        result = bench.run_shell(script, workspace=workspace, scratch_root=scratch_root)
        try:
            server.accept()[0].close()
            called = True
        except BlockingIOError:
            called = False
    assert ends(result) == ["passed"], result.message
    assert called is (workspace == "host")


def test_judged_code_reads_nothing_of_the_machine(
    bench: Bench, tmp_path: Path, scratch_root: Path, workspace: str
) -> None:
    bench.case()
    secret = tmp_path / "secret"
    secret.write_text("32", encoding="utf-8")
    # Right where the file can be read, wrong where not.
    code = (
        f"import pathlib\ndef read():\n    p = pathlib.Path({str(secret)!r})\n"
        "    return int(p.read_text()) if p.exists() else 0\n"
    )
    script = f"{FIX.replace('+ 32', '+ read()')}; cat >> thermometer.py <<'E'\n{code}E"
    result = bench.run_shell(script, workspace=workspace, scratch_root=scratch_root)
    expected = "passed" if workspace == "host" else "failed"
    assert result.outcome == expected, result.message


def test_an_agent_out_of_time_is_ended_and_not_judged(
    bench: Bench, scratch_root: Path, workspace: str
) -> None:
    bench.case(keys={"timeout_seconds": 1})
    script = f"{FIX}; (setsid sleep 600 &); sleep 600"
    result = bench.run_shell(script, workspace=workspace, scratch_root=scratch_root)
    assert ends(result) == ["failed", "agent.timeout"]


def test_what_an_agent_left_running_does_not_reach_the_judging(
    bench: Bench, scratch_root: Path, workspace: str
) -> None:
    bench.case()
    script = (
        "(trap '' TERM HUP; : > up; while :; do touch late; done) > /dev/null 2>&1 &"
        f" while ! [ -e up ]; do sleep 0.01; done; {FIX}"
    )
    result = bench.run_shell(script, workspace=workspace, scratch_root=scratch_root)
    assert ends(result) == ["passed"], result.message


def test_an_agent_that_ends_what_it_can_see(bench: Bench, scratch_root: Path) -> None:
    """Not on the host, where that would be everything of this user's."""
    fault = make_part("workspace", "sandbox", BUILTIN_PARTS.workspaces).probe()
    if fault:
        pytest.skip(f"workspace 'sandbox': {fault}")
    bench.case()
    guard = "[ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ] || exit 1"
    result = bench.run_shell(
        f"{guard}; {FIX}; kill -9 -1; kill -9 $PPID",
        workspace="sandbox",
        scratch_root=scratch_root,
    )
    assert ends(result) == ["passed"], result.message
