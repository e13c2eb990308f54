"""``run``: programs end, their output is bounded, and nothing they start lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from typing import NoReturn

import pytest

from pytest_codegenie.processes import CompanionDied
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import DiskLimit
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.processes import run
from pytest_codegenie.processes.descendants import KEYCTL


ENV = {"PATH": os.defpath + ":" + str(Path(sys.executable).parent)}


def shell(script: str, tmp_path: Path, **limits: float) -> Completed:
    log = tmp_path / "log"
    return run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env=ENV,
        log_path=log,
        limits=Limits(**limits),  # type: ignore[arg-type]
    )


def python(code: str, tmp_path: Path, **limits: float) -> Completed:
    return run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=ENV,
        limits=Limits(**limits),  # type: ignore[arg-type]
    )


def is_alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


# -- output ----------------------------------------------------------------------


def test_both_streams_and_the_exit_code_come_back(tmp_path: Path) -> None:
    done = shell("echo out; echo err >&2; exit 7", tmp_path)
    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 7)
    assert (done.timed_out, done.survivors) == (False, 0)
    assert sorted((tmp_path / "log").read_bytes().split()) == [b"err", b"out"]


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert shell("kill -SEGV $$", tmp_path).exit_code == -signal.SIGSEGV


def test_of_long_output_both_ends_are_kept(tmp_path: Path) -> None:
    done = shell("seq 100000", tmp_path, keep_bytes=20, log_bytes=50)
    whole = b"".join(b"%d\n" % number for number in range(1, 100001))
    left_out = len(whole) - 40
    middle = b"\n[... %d bytes left out ...]\n" % left_out
    assert done.stdout == whole[:20] + middle + whole[-20:]
    assert (tmp_path / "log").read_bytes() == whole[:50]


@pytest.mark.parametrize("length", [39, 40, 41])
def test_output_that_just_fits_is_whole(tmp_path: Path, length: int) -> None:
    done = shell(f"head -c {length} /dev/zero | tr '\\0' x", tmp_path, keep_bytes=20)
    if length <= 40:
        assert done.stdout == b"x" * length
    else:
        assert b"[... 1 bytes left out ...]" in done.stdout


def test_a_gigabyte_of_output_is_read_in_constant_memory(tmp_path: Path) -> None:
    done = shell("head -c 1G /dev/zero; head -c 1G /dev/zero >&2; echo end", tmp_path)
    assert len(done.stdout) < 600_000
    assert done.stdout.endswith(b"\0end\n")
    assert (tmp_path / "log").stat().st_size == 2 * (10 << 20)


def test_output_that_is_still_in_the_pipe_at_the_end_is_not_lost(
    tmp_path: Path,
) -> None:
    done = shell("(echo from-a-child) & printf x", tmp_path)
    assert b"x" in done.stdout


def test_a_log_that_exists_is_continued(tmp_path: Path) -> None:
    for _ in range(2):
        shell("echo more", tmp_path)
    assert (tmp_path / "log").read_bytes() == b"more\nmore\n"


# -- input -----------------------------------------------------------------------


def test_standard_input_is_the_file_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"hello\0\xff")
    done = run(["cat"], cwd=tmp_path, env=ENV, stdin_path=tmp_path / "in")
    assert done.stdout == b"hello\0\xff"
    assert run(["cat"], cwd=tmp_path, env=ENV).stdout == b""


def test_input_that_nobody_reads_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(1 << 20))
    assert (
        run(["true"], cwd=tmp_path, env=ENV, stdin_path=tmp_path / "in").exit_code == 0
    )


def test_the_environment_is_exactly_the_given_one(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    done = run(["/usr/bin/env", "-0"], cwd=tmp_path, env={"A": name, "B": ""})
    assert sorted(done.stdout.split(b"\0")) == [b"", b"A=caf\xe9", b"B="]


def test_a_program_has_its_own_session_and_no_descriptor_of_ours(
    tmp_path: Path,
) -> None:
    code = "import os; print(os.getsid(0) == os.getpid(), os.listdir('/proc/self/fd'))"
    assert python(code, tmp_path).stdout == b"True ['0', '1', '2', '3']\n"


# -- not started -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["no-such-program"], "ENOENT", "'no-such-program' cannot be started: No such"),
        (["./plain"], "EACCES", "'./plain' cannot be started: Permission denied"),
        (["."], "EACCES", "'.' cannot be started: Permission denied"),
        (
            ["./no-start"],
            "ENOENT",
            "'./no-start' cannot be started: No such",
        ),
        (["./binary"], "ENOEXEC", "'./binary' cannot be started: Exec format error"),
        (["echo", "x" * (1 << 18)], "E2BIG", "'echo' cannot be started: Argument list"),
        (["echo", "a\0b"], "", "'echo' cannot be started: embedded null byte"),
        (["x" * 5000], "ENAMETOOLONG", "cannot be started: File name too long"),
    ],
)
def test_a_program_that_cannot_be_started_says_why(
    tmp_path: Path, argv: list[str], code: str, words: str
) -> None:
    (tmp_path / "plain").write_text("echo", encoding="utf-8")
    (tmp_path / "no-start").write_text("#!/no/such/thing\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\0\1\2\3")
    for name in ("no-start", "binary"):
        (tmp_path / name).chmod(0o755)
    with pytest.raises(NotStarted) as caught:
        run(argv, cwd=tmp_path, env=ENV)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert run(["true"], cwd=tmp_path, env=ENV).exit_code == 0


@pytest.mark.parametrize("place", ["cwd", "stdin_path", "log_path"])
def test_a_place_that_is_missing_is_named(tmp_path: Path, place: str) -> None:
    missing = tmp_path / "none" / "x"
    arguments: dict[str, Any] = {"cwd": tmp_path, place: missing}
    with pytest.raises(NotStarted, match=r"none/x' cannot be started: No such file"):
        run(["true"], env=ENV, **arguments)


# -- the end ---------------------------------------------------------------------


def test_at_the_time_limit_a_program_may_tidy_up(tmp_path: Path) -> None:
    script = "trap 'echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    done = shell(script, tmp_path, timeout_seconds=0.2, grace_seconds=20)
    assert (done.timed_out, done.exit_code) == (True, 3)
    assert done.stdout == b"ready\ntidied\n"
    assert done.duration_seconds >= 0.2


@pytest.mark.parametrize(
    "script",
    ["trap '' TERM; while :; do sleep 0.01; done", "kill -STOP $$; sleep 60"],
    ids=["deaf", "stopped"],
)
def test_what_does_not_end_at_sigterm_is_killed(tmp_path: Path, script: str) -> None:
    done = shell(script, tmp_path, timeout_seconds=0.1, grace_seconds=0.1)
    assert done.timed_out
    assert done.exit_code in (-signal.SIGKILL, -signal.SIGTERM)


WAIT = "while ! [ -s pid ]; do sleep 0.01; done"
LEAVING = {
    "background": "sleep 60 & echo $! > pid",
    "own session": f"setsid sh -c 'echo $$ > pid; exec sleep 60' & {WAIT}",
    "nohup": "nohup sleep 60 > /dev/null 2>&1 & echo $! > pid",
    "deaf": f"sh -c 'trap \"\" TERM HUP; echo $$ > pid; sleep 60' & {WAIT}",
    "stopped": "sleep 60 & echo $! > pid; kill -STOP $!",
}


@pytest.mark.parametrize("script", LEAVING.values(), ids=LEAVING.keys())
def test_what_a_program_leaves_running_is_ended(tmp_path: Path, script: str) -> None:
    done = shell(script, tmp_path)
    assert done.exit_code == 0
    assert done.survivors >= 1
    assert not is_alive(int((tmp_path / "pid").read_text(encoding="utf-8")))


DAEMON = """
import os, pathlib, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 64)
        pathlib.Path("pid").write_text(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
os.wait()
while not (os.path.exists("pid") and os.path.getsize("pid")):
    time.sleep(0.01)
"""


@pytest.mark.parametrize("ending", ["", "time.sleep(60)", "os.kill(os.getpid(), 9)"])
def test_a_daemon_is_ended_however_its_parent_ends(tmp_path: Path, ending: str) -> None:
    done = python(DAEMON + ending, tmp_path, timeout_seconds=1, grace_seconds=0.1)
    assert done.survivors == 1
    assert not is_alive(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_a_tree_of_processes_is_ended(tmp_path: Path) -> None:
    code = """
import os, time
for _ in range(6):
    os.fork()
    os.setsid() if os.getpgid(0) != os.getpid() else None
open(str(os.getpid()), "w").close()
while len(os.listdir(".")) < 64:
    time.sleep(0.01)
"""
    python(code, tmp_path, timeout_seconds=20)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 64
    assert not any(map(is_alive, pids))


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("RLIMIT_NOFILE", 10, "[open('/dev/null') for _ in range(20)]; x"),
        (
            "RLIMIT_FSIZE",
            10,
            "f = open('x', 'wb', 0); f.write(b'xx' * 9); f.write(b'x')",
        ),
        ("RLIMIT_AS", 1 << 28, "bytearray(1 << 29)"),
    ],
)
def test_limits_hold_for_the_program(
    tmp_path: Path, name: str, value: int, code: str
) -> None:
    done = run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=ENV,
        limits=Limits(rlimits={name: value}),
    )
    assert done.exit_code
    assert b"NameError" not in done.stderr


# -- keys ------------------------------------------------------------------------

FIND_KEY = """
import ctypes, sys
KEYCTL_SEARCH, SESSION = 10, -3
found = ctypes.CDLL(None).syscall(
    int(sys.argv[1]), KEYCTL_SEARCH, SESSION, b"user", b"name", 0
)
print(found > 0, flush=True)
"""
#: Finds a key in its session keyring; what it runs looks for the same.
WITH_KEY = """
import ctypes, subprocess, sys
from pathlib import Path
from pytest_codegenie.processes import run

keyctl, code = int(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None)
libc.syscall(keyctl, 1, None)  # a session keyring of its own
libc.syscall(keyctl - 2, b"user", b"name", b"secret", 6, -3)
argv = [sys.executable, "-c", code, str(keyctl)]
subprocess.run(argv, check=True)
print(run(argv, cwd=Path("/"), env={}).stdout.decode())
"""


def test_a_program_has_no_key_of_our_session_keyring() -> None:
    number = KEYCTL.get(os.uname().machine)
    if number is None:
        pytest.skip(f"the number of keyctl(2) on {os.uname().machine} is not known")
    argv = [sys.executable, "-c", WITH_KEY, str(number), FIND_KEY]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    ours, theirs = done.stdout.split()
    if ours == "False":
        pytest.skip("the kernel keeps no keys here (keyrings(7))")
    assert theirs == "False"


# -- the parent ------------------------------------------------------------------

PARENT = """
import sys
from pathlib import Path
from pytest_codegenie.processes import run
script = "echo $$ > pid; (setsid sleep 60 & echo $! > child); sleep 60"
run(["/bin/sh", "-c", script], cwd=Path(sys.argv[1]), env={"PATH": sys.argv[2]})
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_parent_is_killed_the_program_dies(
    tmp_path: Path, number: signal.Signals
) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), ENV["PATH"]],
        stderr=subprocess.DEVNULL,
    )
    files = [tmp_path / "pid", tmp_path / "child"]
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    pids = [int(file.read_text(encoding="utf-8")) for file in files]
    parent.send_signal(number)
    parent.wait()
    wait_until(lambda: not any(map(is_alive, pids)))


class Interrupted(BaseException):
    """As pytest-timeout raises one."""


def test_an_exception_from_a_signal_handler_ends_the_program(tmp_path: Path) -> None:
    def interrupt(*_: object) -> NoReturn:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    pid_file = tmp_path / "pid"

    def send() -> None:
        wait_until(lambda: pid_file.exists() and pid_file.read_text())
        os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with pytest.raises(Interrupted):
            shell("echo $$ > pid; sleep 60", tmp_path)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))
    assert shell("echo again", tmp_path).stdout == b"again\n"


def test_a_program_that_kills_its_supervisor_dies_with_it(tmp_path: Path) -> None:
    with pytest.raises(CompanionDied, match="a helper process died"):
        shell("echo $$ > pid; kill -9 $PPID; sleep 60", tmp_path)
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    wait_until(lambda: not is_alive(pid))
    assert shell("echo again", tmp_path).stdout == b"again\n"


def test_programs_run_side_by_side_from_threads(tmp_path: Path) -> None:
    """Each waits for all the others, so one after the other would never end."""
    script = "echo {0}; : > {0}; while [ $(ls | wc -l) -lt 6 ]; do sleep 0.01; done"
    outputs: dict[int, bytes] = {}

    def one(number: int) -> None:
        done = run(
            ["/bin/sh", "-c", script.format(number)],
            cwd=tmp_path,
            env=ENV,
            limits=Limits(timeout_seconds=20),
        )
        outputs[number] = done.stdout

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {number: b"%d\n" % number for number in range(6)}


# -- what it inherits, joins and writes --------------------------------------------


def test_a_descriptor_is_inherited_with_a_new_file_behind_it(tmp_path: Path) -> None:
    file = tmp_path / "status"
    done = run(
        ["/bin/sh", "-c", "echo said >&5"],
        cwd=tmp_path,
        env=ENV,
        inherited={5: file},
    )
    assert (done.exit_code, file.read_text(encoding="ascii")) == (0, "said\n")


def test_a_file_to_inherit_that_exists_is_not_written_to(tmp_path: Path) -> None:
    file = tmp_path / "status"
    file.write_text("mine", encoding="ascii")
    with pytest.raises(NotStarted, match="File exists"):
        run(["true"], cwd=tmp_path, env=ENV, inherited={5: file})
    assert file.read_text(encoding="ascii") == "mine"


def test_a_program_joins_before_it_starts(tmp_path: Path) -> None:
    # Any file will do to see that it is written to.
    group = tmp_path / "cgroup.procs"
    limits = Limits(join=(group,))
    done = run(["cat", str(group)], cwd=tmp_path, env=ENV, limits=limits)
    assert done.stdout == b"0"


def test_what_cannot_be_joined_is_not_started(tmp_path: Path) -> None:
    limits = Limits(join=(tmp_path / "gone" / "cgroup.procs",))
    with pytest.raises(NotStarted, match="No such file"):
        run(["true"], cwd=tmp_path, env=ENV, limits=limits)


def test_a_shielded_program_lets_what_it_starts_end_first(tmp_path: Path) -> None:
    script = """
    env --default-signal=TERM sh -c '
        trap "echo bye; exit" TERM; echo up; sleep 60 & wait'
    echo after
    """
    limits = Limits(timeout_seconds=1, grace_seconds=20, shielded=True)
    done = run(["/bin/sh", "-c", script], cwd=tmp_path, env=ENV, limits=limits)
    assert (done.stdout, done.timed_out) == (b"up\nbye\nafter\n", True)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "while :; do head -c 100000 /dev/zero >> big; done",
            "more than 1000000 bytes",
        ),
        ("i=0; while :; do i=$((i+1)); : > $i; done", "more than 200 files"),
        (
            "while mkdir d 2>/dev/null && cd d; do for i in 1 2 3 4 5; do : > $i; done;"
            " done; sleep 60",
            "more than 200 files",
        ),
    ],
)
def test_a_program_that_fills_the_disk_is_ended(
    tmp_path: Path, script: str, words: str
) -> None:
    directory = tmp_path / "place"
    directory.mkdir()
    limits = Limits(disk=DiskLimit(directory, max_bytes=1_000_000, max_files=200))
    done = run(["/bin/sh", "-c", script], cwd=directory, env=ENV, limits=limits)
    assert (done.exit_code, done.timed_out) == (-signal.SIGKILL, False)
    assert words in done.exceeded


def test_a_hole_in_a_file_is_not_on_the_disk(tmp_path: Path) -> None:
    limits = Limits(disk=DiskLimit(tmp_path, max_bytes=1_000_000, max_files=200))
    script = "truncate -s 10G hole; sleep 1"
    done = run(["/bin/sh", "-c", script], cwd=tmp_path, env=ENV, limits=limits)
    assert (done.exit_code, done.exceeded) == (0, "")
