"""Whatever kills a run at whatever point: resumed until it is done, it lacks nothing.

Cases that are over in no time are run, killed and resumed, again and again. In the end
each has one result that stands, and none was given up or made twice that was reported.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import Project
from integration.sessions import outcomes
from integration.sessions import wait_until

import pytest_codegenie.session  # noqa: F401 -- likewise
from pytest_codegenie.evidence import load_run
from pytest_codegenie.evidence import read_plain_results


#: What dies here is the process itself, not what stands for it.
pytestmark = pytest.mark.usefixtures("cold_starts")

CASES = tuple(f"case-{letter}" for letter in "abcdef")
#: A run that is not done after as many deaths never will be.
_MOST_ROUNDS = 60
#: Of the sessions: what runs cases, and how one of them dies.
TASK = """
harness = "instant"
[repository]
name = "acme/nothing"
source = "repo"
"""
INSTANT = """
import os
import time
from pathlib import Path

from pytest_codegenie.harness.results import make_result
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import utc_now


class Instant:
    name = "instant"

    def run(self, job, task):
        started_at = utc_now()
        # What a try that was killed has left is nobody else's.
        job.artifacts_directory.mkdir(parents=True)
        time.sleep(float(os.environ.get("CASE_SECONDS", 0)))
        passed = not job.case.case_id.endswith("c")
        score = BenchScore(passed=passed, score=float(passed))
        return make_result(
            job,
            "passed" if passed else "failed",
            score,
            started_at=started_at,
            message="some words\\n" * 800,
        )
"""
CONFTEST = """
import os
import signal

from pytest_codegenie.evidence import store


def pytest_codegenie_harnesses():
    return {"instant": "instant:Instant"}


def pytest_configure(config):
    who, _, rest = os.environ.get("DIES", "").partition(":")
    if not rest or (who == "worker") != hasattr(config, "workerinput"):
        return
    how, at, share = rest.split(":")
    append, left = store.append_whole, [int(at)]

    def dying(fd, lines):
        if who == "worker" and os.path.exists("died"):
            return append(fd, lines)
        left[0] -= 1
        if left[0]:
            return append(fd, lines)
        if how == "after":
            append(fd, lines)
        elif how == "within":
            os.lseek(fd, 0, os.SEEK_END)
            os.write(fd, lines[: int(len(lines) * float(share))])
        os.close(os.open("died", os.O_CREAT))
        os.kill(os.getpid(), signal.SIGKILL)

    store.append_whole = dying
"""


class Doomed:
    """A run that is killed and resumed until it is done."""

    def __init__(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project = project
        self.monkeypatch = monkeypatch
        self.seed = int(os.environ.get("CRASH_SEED", random.randrange(1 << 32)))
        self.random = random.Random(self.seed)
        # pytest shows it where a test fails: CRASH_SEED=... does it again.
        print(f"CRASH_SEED={self.seed}")
        project.settings("", ini='pythonpath = ["."]')
        project.path.joinpath("instant.py").write_text(INSTANT)
        project.path.joinpath("conftest.py").write_text(CONFTEST)
        for name in CASES:
            project.case(name, files=ALWAYS_RIGHT | {"input/task.toml": TASK})
        options = {"command": ["true"]}
        agent = {"name": "command", "label": "shell", "options": options}
        self.option = project.run_file(agents=[agent], workspace="host")
        #: Verdicts that were on record when a session had died.
        self.seen: dict[str, dict[str, object]] = {}
        self.deaths = 0
        #: The disk may be.
        self.full = False

    @property
    def directory(self) -> Path:
        return self.project.path / ".codegenie/runs/doomed"

    def arguments(self) -> list[str]:
        run = ["--codegenie-resume=doomed"]
        if not self.directory.exists():
            run = ["--codegenie-run-id=doomed"]
        return ["--codegenie", "bench", "-q", self.option, *run]

    def live(
        self, dies: str = "", *, seconds: float | None = None, room: int | None = None
    ) -> int:
        """Run a session in a fork of this process; return how it ended.

        Args:
            dies: For the conftest.
            seconds: When it is killed; None: not at all.
            room: How long its files may get, in bytes.
        """
        self.monkeypatch.setenv("DIES", dies)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._session(room)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(pid, signal.SIGKILL)
        return self.ended(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    def _session(self, room: int | None) -> None:
        code = 99
        try:
            os.chdir(self.project.path)
            # Past what captures the output of this test.
            sys.stdout = sys.stderr = Path("output").open("w", encoding="utf-8")
            if room is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            code = int(pytest.main([*self.arguments(), "-p", "no:cacheprovider", "-s"]))
        finally:
            sys.stdout.flush()
            os._exit(code)

    def ended(self, code: int) -> int:
        """Take note of how a session ended; what was recorded before is still there."""
        self.deaths += code < 0
        output = self.project.path / "output"
        expected = (*((2, 4) if self.full else ()), 1, -signal.SIGKILL)
        assert code in expected, output.read_text()
        if self.directory.exists():
            now = {str(one["case_id"]): one for one in self.results()}
            assert {name: now.get(name) for name in self.seen} == self.seen
            self.seen = {n: one for n, one in now.items() if one["outcome"] != "error"}
        return code

    def results(self) -> list[dict[str, object]]:
        return list(read_plain_results(self.directory))

    def assert_whole(self) -> None:
        """Each case has one result, each try one line, and no line is torn."""
        run = load_run(self.directory)
        assert run.record.run_id == "doomed"
        assert len(run.record.items) == len(CASES)
        assert sorted(one.case_id for one in run.results) == list(CASES)
        assert {one.case_id for one in run.results if one.outcome == "failed"} == {
            "case-c"
        }
        lines = (self.directory / "results.jsonl").read_bytes().split(b"\n")
        assert lines.pop() == b""
        tries = [(one["case_id"], one["attempt"]) for one in map(json.loads, lines)]
        assert len(set(tries)) == len(tries)
        report = json.loads(
            (self.directory / "report-demo-task-shell.json").read_text()
        )
        assert (report["complete"], report["passed_count"]) == (True, 5)


@pytest.fixture
def doomed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Doomed:
    return Doomed(project, monkeypatch)


def death(doomed: Doomed, who: str) -> str:
    """Return how and when a process dies: while it appends a result."""
    how = doomed.random.choice(["before", "within", "after"])
    return f"{who}:{how}:{doomed.random.randint(1, 3)}:{doomed.random.random()}"


def test_a_session_that_dies_while_it_records_a_result(doomed: Doomed) -> None:
    rounds = 0
    while doomed.live(death(doomed, "session")) != 1:
        rounds += 1
        assert rounds < _MOST_ROUNDS
    assert doomed.deaths >= 2
    doomed.assert_whole()


def test_a_session_that_dies_at_any_moment(doomed: Doomed) -> None:
    doomed.monkeypatch.setenv("CASE_SECONDS", "0.03")
    started = time.monotonic()
    doomed.live()
    doomed.seen = {}
    life = time.monotonic() - started
    doomed.project.pytester.run("rm", "-r", str(doomed.directory))
    for _ in range(6):
        if doomed.live(seconds=doomed.random.uniform(0, life)) == 1:
            break
    assert doomed.live() == 1
    doomed.assert_whole()


def cut(doomed: Doomed, name: str) -> None:
    """Cut a file of the run as a power cut may: anywhere after what was synced."""
    path = doomed.directory / name
    data = path.read_bytes()
    keep = doomed.random.randrange(len(data) + 1)
    path.write_bytes(data[:keep])
    if doomed.random.random() < 0.3:
        # Some file systems know the length before the content.
        os.truncate(path, len(data))
    left = {one["case_id"]: one for one in doomed.results()}
    doomed.seen = {n: one for n, one in doomed.seen.items() if left.get(n) == one}


def test_a_results_file_that_is_cut_at_any_byte(doomed: Doomed) -> None:
    doomed.live()
    for _ in range(4):
        cut(doomed, "results.jsonl")
        assert doomed.live() == 1
        doomed.assert_whole()


def test_a_run_whose_record_did_not_come_to_the_disk(doomed: Doomed) -> None:
    """The first one that is written; there are no results then."""
    for content in (None, b"", bytes(300)):
        doomed.project.pytester.run("rm", "-rf", str(doomed.directory))
        doomed.directory.mkdir(parents=True)
        if content is not None:
            (doomed.directory / "run.json").write_bytes(content)
        doomed.seen = {}
        doomed.live(death(doomed, "session"))
        while doomed.live() != 1:
            pass
        doomed.assert_whole()


def test_a_disk_that_gets_full_at_any_byte(doomed: Doomed) -> None:
    doomed.full = True
    for _ in range(4):
        doomed.live(room=doomed.random.randrange(70_000))
    doomed.full = False
    assert doomed.live() == 1
    doomed.assert_whole()


def test_a_file_system_that_gets_full_and_is_made_larger(doomed: Doomed) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can mount a file system")
    disk = doomed.project.path / ".codegenie"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(disk), "-o"]
    kib = doomed.random.randint(16, 56)
    if subprocess.run([*mount, f"size={kib}k"], check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        doomed.full = True
        doomed.live()
        assert "No space left on device" in (doomed.project.path / "output").read_text()
        subprocess.run([*mount, "remount,size=4m"], check=True)
        doomed.full = False
        assert doomed.live() == 1
        doomed.assert_whole()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def in_a_subprocess(doomed: Doomed, dies: str) -> subprocess.Popen[bytes]:
    doomed.project.path.joinpath("died").unlink(missing_ok=True)
    doomed.monkeypatch.setenv("DIES", dies)
    return doomed.project.start(*doomed.arguments()[1:], "-n2", "--junitxml=out.xml")


def test_a_worker_that_dies_with_its_result_on_record(doomed: Doomed) -> None:
    """What is on record is what is reported, and nothing is recorded beside it."""
    process = in_a_subprocess(doomed, "worker:after:2:0")
    assert doomed.ended(process.wait()) == 1
    assert (doomed.project.path / "died").exists()
    doomed.assert_whole()
    assert outcomes(doomed.project.path / "out.xml") == {
        f"{name}[shell]": "failure" if name == "case-c" else "passed" for name in CASES
    }


def test_workers_and_controllers_that_die(doomed: Doomed) -> None:
    doomed.monkeypatch.setenv("CASE_SECONDS", "0.1")
    for who in ("controller", "worker", ""):
        process = in_a_subprocess(doomed, death(doomed, who) if who == "worker" else "")
        if who == "controller":
            wait_until(lambda: doomed.directory.exists() and doomed.results())
            time.sleep(doomed.random.uniform(0, 0.1))
            process.kill()
        doomed.ended(process.wait())
    # The item that a worker died of is an ERROR, which is run again.
    assert doomed.live() == 1
    doomed.assert_whole()
