"""Rubrics that break every rule: each gets its code, and the next score is fine."""

from __future__ import annotations

import http.server
import os
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Bench

from pytest_codegenie.errors import RubricError
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.scoring import score_case


#: Does what the "agent" printed.
RUBRIC = """
from pytest_codegenie import BenchScore, FailureMode

class DemoTaskRubric:
    def score(self, case, harness_output):
        scope = {"BenchScore": BenchScore, "FailureMode": FailureMode}
        exec(harness_output.agent.stdout, scope)
        return scope["score"]
"""
GOOD = "score = BenchScore(passed=True, score=1.0, breakdown={'fixed': 1})"

Score = Callable[[str], tuple[BenchScore, str]]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> BenchCase:
    bench = Bench(tmp_path_factory.mktemp("scoring") / "bench")
    (bench.directory / "rubric.py").write_text(RUBRIC, encoding="utf-8")
    bench.case(keys={"rubric_wall_clock_seconds": 20})
    return bench.load()


@pytest.fixture
def score(case: BenchCase) -> Score:
    return lambda code: score_with(case, code)


def score_with(case: BenchCase, code: str) -> tuple[BenchScore, str]:
    agent = AgentOutput(
        instance_id=case.case_id, agent_name="test", stdout=textwrap.dedent(code)
    )
    return score_case(
        case,
        HarnessOutput(agent=agent),
        task_class_dir=case.directory.parent.parent,
        breakdown_keys=("fixed", "kept"),
        taxonomy={"not_resolved": "block", "sloppy": "warn"},
    )


def test_a_good_answer_comes_through_with_what_the_rubric_printed(score: Score) -> None:
    result, printed = score("print('thinking')\n" + GOOD)
    assert result == BenchScore(passed=True, score=1.0, breakdown={"fixed": 1.0})
    assert printed == "thinking\n"


MALFORMED = {
    "no score": ("score = None", "the rubric gave no answer: .*NoneType"),
    "dict": (
        "score = {'passed': True, 'score': 1}",
        "score() returned dict, not a BenchScore",
    ),
    "look-alike": ("class score: passed = True", "returned type"),
    "raises": (
        "raise RuntimeError('broken')",
        "exit code 1: score.. raised RuntimeError: broken",
    ),
    "score above one": (
        "score = BenchScore(passed=True, score=1.5)",
        "score.. raised ValidationError: .* score Input should be less than or equal",
    ),
    "constructed above one": (
        "score = BenchScore.model_construct(passed=True, score=1.5)",
        "score: Input should be less than or equal to 1",
    ),
    "constructed not a number": (
        "score = BenchScore.model_construct(passed=True, score=float('nan'))",
        "score: Input should be a valid number",
    ),
    "constructed infinite": (
        "score = BenchScore.model_construct(passed=True, score=0.5,"
        " breakdown={'fixed': float('inf')})",
        "breakdown.fixed: Input should be",
    ),
    "constructed words": (
        "score = BenchScore.model_construct(passed='yes', score=1.0)",
        "passed: Input should be a valid boolean",
    ),
    "constructed number in quotes": (
        "score = BenchScore.model_construct(passed=True, score='1')",
        "score: Input should be a valid number",
    ),
    "constructed empty": (
        "score = BenchScore.model_construct()",
        "passed: Field required",
    ),
    "negative cost": (
        "score = BenchScore.model_construct(passed=True, score=1.0, cost_usd=-1)",
        "cost_usd: Input should be greater than or equal to 0",
    ),
    "constructed other": (
        "score = BenchScore.model_construct(passed=True, score=object())",
        "the rubric ended with exit code 1: .*Error",
    ),
    "more fields": (
        "class More(BenchScore):\n    more: int = 1\n"
        "score = More(passed=True, score=1)",
        "more: Extra inputs are not permitted",
    ),
    "other JSON": (
        "class Liar(BenchScore):\n    def model_dump_json(self): return '[]'\n"
        "score = Liar(passed=True, score=1)",
        "the rubric's answer is no BenchScore: Input should be an object",
    ),
    "severity": (
        "score = BenchScore(passed=True, score=1,"
        " failure_modes=[FailureMode(code='sloppy', severity='info')])",
        "'sloppy' the severity 'info', but failure_modes.yaml says 'warn'",
    ),
    "exit": ("import sys; sys.exit(3)", "exit code 1: score.. exited with 3"),
    "exit without a word": ("import sys; sys.exit()", "score.. exited with None"),
    "exit zero": ("import os; os._exit(0)", "the rubric gave no answer"),
    "exit with a code": ("import os; os._exit(9)", "ended with exit code 9"),
    "killed": ("import os; os.kill(os.getpid(), 9)", "ended with signal 9"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "ended with signal 11"),
    "memory": ("bytearray(3 << 30)", "MemoryError"),
    "file size": (
        "open('big', 'wb').write(bytes(65 << 20))",
        "(ended with signal 25|File too large)",
    ),
    "prints much": ("print('x' * (3 << 20)); " + GOOD, "wrote more than 1 MiB"),
    "answers much": (
        "score = BenchScore(passed=True, score=1, failure_modes=["
        "FailureMode(code='sloppy', severity='warn', detail='x' * (3 << 20))])",
        "wrote more than 1 MiB",
    ),
    "prints without end": (
        "import os\nwhile True: os.write(1, b'x' * 65536)",
        "wrote more than 1 MiB",
    ),
    "closed descriptors": ("import os; os.closerange(0, 64); " + GOOD, "exit code 1"),
    "answer twice": (
        "import os\n" + GOOD + "\nos.write(3, score.model_dump_json().encode())",
        "the rubric's answer is no BenchScore: Invalid JSON",
    ),
    "binary answer": (
        "import os\nos.write(3, b'\\xff\\x00'); os._exit(0)",
        "the rubric's answer is no BenchScore: Invalid JSON",
    ),
    "end of its host": (
        "import os; os.kill(os.getppid(), 9)",
        "the rubric's process ended",
    ),
}


@pytest.mark.parametrize(("code", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_has_its_code_and_the_next_score_is_fine(
    score: Score, code: str, words: str
) -> None:
    with pytest.raises(RubricError, match=words.replace("()", r"\(\)")) as caught:
        score(code)
    assert caught.value.code == "rubric.malformed_output"
    assert score(GOOD)[0].passed


@pytest.mark.parametrize(
    ("code", "error_code", "words"),
    [
        (
            "score = BenchScore(passed=True, score=1, breakdown={'fixd': 1})",
            "rubric.unknown_breakdown_key",
            r"the key 'fixd' \(did you mean 'fixed'\?\); add it to BreakdownKey",
        ),
        (
            "score = BenchScore(passed=True, score=1,"
            " failure_modes=[FailureMode(code='slopy', severity='warn')])",
            "rubric.unknown_failure_mode",
            r"'slopy' \(did you mean 'sloppy'\?\); add it to failure_modes.yaml",
        ),
    ],
)
def test_an_unknown_name_has_its_code_and_a_suggestion(
    score: Score, code: str, error_code: str, words: str
) -> None:
    with pytest.raises(RubricError, match=words) as caught:
        score(code)
    assert caught.value.code == error_code


def test_what_a_failing_rubric_printed_is_on_the_error(score: Score) -> None:
    with pytest.raises(RubricError) as caught:
        score("print('so far'); raise ValueError('no further')")
    assert caught.value.printed.startswith("so far\nTraceback")
    assert "ValueError: no further" in caught.value.printed


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "while True: pass",
        "import signal, time\nfor n in range(1, 32):\n"
        "    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["sleep", "busy", "deaf", "stopped"],
)
def test_a_rubric_past_its_limit_is_a_timeout(case: BenchCase, code: str) -> None:
    hurried = case.model_copy(update={"rubric_wall_clock_seconds": 0.2})
    with pytest.raises(RubricError, match=r"took more than 0\.2 seconds") as caught:
        score_with(hurried, code)
    assert caught.value.code == "rubric.timeout"
    assert score_with(case, GOOD)[0].passed


DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0), os.close(1), os.close(2)
        open({pid!r}, "w").write(str(os.getpid()))
        import time
        time.sleep(60)
    os._exit(0)
import pathlib, time
while not (pathlib.Path({pid!r}).exists() and pathlib.Path({pid!r}).read_text()):
    time.sleep(0.01)
"""


@pytest.mark.parametrize("ending", [GOOD, "os.kill(os.getpid(), 9)"])
def test_a_daemon_does_not_outlive_its_score(
    score: Score, tmp_path: Path, ending: str
) -> None:
    pid_file = tmp_path / "pid"
    code = DAEMON.format(pid=str(pid_file)) + ending
    if ending == GOOD:
        assert score(code)[0].passed
    else:
        with pytest.raises(RubricError):
            score(code)
    assert not is_alive(int(pid_file.read_text()))


def test_many_processes_are_all_ended(case: BenchCase, tmp_path: Path) -> None:
    """A fork bomb that stops by itself, lest a broken host takes the machine along."""
    hurried = case.model_copy(update={"rubric_wall_clock_seconds": 0.3})
    code = f"""
        import os, time
        for _ in range(6):
            os.fork()
        open(f"{tmp_path}/{{os.getpid()}}", "w").close()
        time.sleep(60)
    """
    with pytest.raises(RubricError, match="took more than"):
        score_with(hurried, code)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert pids
    assert not any(map(is_alive, pids))


def test_a_fork_bomb_soon_finds_no_process_left(score: Score) -> None:
    parent, reason = cgroup_parent()
    if parent is None:
        pytest.skip(f"no cgroups here ({reason}); run as root, or in a delegated group")
    with pytest.raises(RubricError, match="Resource temporarily unavailable"):
        score(
            """
            import os, time
            for _ in range(1000):
                if os.fork() == 0:
                    time.sleep(60)
            """
        )


def is_alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def test_nothing_is_handed_to_a_rubric(
    score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No environment, no descriptor but its own four, nothing in its directory."""
    monkeypatch.setenv("SECRET", "token")
    _, printed = score(
        """
        import os, pathlib, sys
        print(dict(os.environ), pathlib.Path("/proc/self/environ").read_bytes())
        print(sorted(os.listdir("/proc/self/fd"))[:-1], os.listdir("."))
        print(sys.stdin.read(), os.getsid(0) == os.getpid())
        """
        + GOOD
    )
    environment, descriptors, rest = printed.splitlines()
    assert environment.startswith("{} b'")
    assert "SECRET" not in environment
    assert descriptors == "['0', '1', '2', '3'] []"
    assert rest == " True"


def test_nothing_is_remembered_from_one_score_to_the_next(score: Score) -> None:
    look = """
        import builtins, os, sys
        print(hasattr(builtins, "memory"), "memory" in os.environ, os.listdir("."))
        print(BenchScore.__doc__, sys.getrecursionlimit())
        """
    first = score(look + GOOD)[1]
    score(
        """
        import builtins, os, sys
        builtins.memory = os.environ["memory"] = "kept"
        open("memory", "w").write("kept")
        os.mkdir("deep"); open("deep/x", "w"); os.chmod("deep", 0)
        BenchScore.__doc__ = "patched"
        sys.setrecursionlimit(123456)
        os.chdir("/")
        """
        + GOOD
    )
    assert score(look + GOOD)[1] == first
    assert first.startswith("False False []")


def test_a_rubrics_scratch_directory_is_removed(score: Score) -> None:
    _, printed = score(
        "import os; print(os.getcwd()); os.mkdir('shut'); open('shut/x', 'w');"
        "os.chmod('shut', 0);" + GOOD
    )
    assert not Path(printed.strip()).exists()


def test_a_rubric_that_ends_its_host_dies_with_it_and_leaves_nothing(
    score: Score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pid_file = tmp_path / "pid"
    with pytest.raises(RubricError, match="the rubric's process ended"):
        score(
            f"""
            import os, time
            open({str(pid_file)!r}, "w").write(str(os.getpid()))
            os.kill(os.getppid(), 9)
            time.sleep(60)
            """
        )
    deadline = time.monotonic() + 20
    while is_alive(int(pid_file.read_text(encoding="utf-8"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [path.name for path in tmp_path.iterdir()] == ["pid"]


def test_a_rubric_does_not_reach_this_machines_network(score: Score) -> None:
    server = http.server.HTTPServer(
        ("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        _, printed = score(
            f"""
            import os, socket
            try:
                socket.create_connection(("127.0.0.1", {server.server_port}), 5)
                print("reached", os.readlink("/proc/self/ns/net"))
            except OSError as exc:
                print("refused")
            """
            + GOOD
        )
    finally:
        server.shutdown()
        server.server_close()
    if printed.strip() == f"reached {os.readlink('/proc/self/ns/net')}":  # noqa: PTH115
        pytest.skip("this kernel lets nobody leave its network")
    assert printed.strip() == "refused"


@pytest.mark.parametrize(
    ("registration", "words"),
    [
        ("import os; os._exit(0)", "the rubric's process ended"),
        ("raise SystemExit(0)", "importing it raised SystemExit"),
        ("import no_such_module", "No module named 'no_such_module'"),
    ],
)
def test_a_rubric_that_cannot_be_imported_is_malformed(
    tmp_path: Path, case: BenchCase, registration: str, words: str
) -> None:
    bench = Bench(tmp_path / "bench")
    bench.case()
    moved = case.model_copy(update={"directory": bench.load().directory})
    (bench.directory / "registration.py").write_text(registration, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RubricError, match=words) as caught:
            score_with(moved, GOOD)
        assert caught.value.code == "rubric.malformed_output"


def test_scores_from_several_threads_do_not_mix(score: Score) -> None:
    results: dict[int, float] = {}

    def ask(number: int) -> None:
        code = f"score = BenchScore(passed=True, score={number / 10})"
        results[number] = score(code)[0].score

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: number / 10 for number in range(4)}


def test_the_rubrics_host_stays_from_one_score_to_the_next(score: Score) -> None:
    parents = {score("import os; print(os.getppid());" + GOOD)[1] for _ in range(3)}
    assert len(parents) == 1
