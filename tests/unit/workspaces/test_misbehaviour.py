"""Programs that misbehave: they are ended, told of, and the next one works."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support_workspaces import SHARES_FILES
from support_workspaces import Lab
from support_workspaces import isolates

from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.workspaces import Workspace


Shell = Callable[..., str]

MIB = 1 << 20


# -- time ------------------------------------------------------------------------


def test_at_the_time_limit_a_program_may_tidy_up(
    lab: Lab, workspace: Workspace
) -> None:
    script = "trap 'echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    done = lab.run(
        workspace, ["/bin/sh", "-c", script], timeout_seconds=1, grace_seconds=60
    )
    assert (done.timed_out, done.exit_code) == (True, 3)
    assert done.stdout == b"ready\ntidied\n"


@pytest.mark.parametrize(
    "script",
    [
        "trap '' TERM; while :; do sleep 0.01; done",
        "kill -STOP $$; sleep 600",
        "sleep 600",
        "while :; do :; done",
        "(trap '' TERM; exec setsid sleep 600) & sleep 600",
    ],
    ids=["deaf", "stopped", "asleep", "busy", "hidden"],
)
def test_what_does_not_end_at_the_time_limit_is_killed(
    lab: Lab, workspace: Workspace, script: str
) -> None:
    done = lab.run(
        workspace, ["/bin/sh", "-c", script], timeout_seconds=0.5, grace_seconds=0.2
    )
    assert done.timed_out
    assert done.exit_code in (-signal.SIGKILL, -signal.SIGTERM)
    assert lab.processes() == []


@pytest.mark.parametrize("deaf", [False, True])
def test_a_program_that_is_told_to_end_does_so_as_at_the_end_of_its_time(
    lab: Lab, workspace: Workspace, tmp_path: Path, deaf: bool
) -> None:
    stop, log = tmp_path / "stop", tmp_path / "log"
    reaction = "" if deaf else "echo tidied; exit 3"
    script = f"trap '{reaction}' TERM; echo ready; while :; do sleep 0.01; done"

    over = threading.Event()

    def tell() -> None:
        while not (log.exists() and b"ready" in log.read_bytes()):
            if over.wait(0.01):
                return  # it was never started
        stop.touch()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    argv = ["/bin/sh", "-c", script]
    grace = 0.2 if deaf else 60
    try:
        done = lab.run(workspace, argv, log_path=log, stop=stop, grace_seconds=grace)
    finally:
        over.set()
        teller.join()
    assert (done.stopped, done.timed_out) == (True, False)
    assert done.exit_code == (-signal.SIGKILL if deaf else 3)
    assert done.stdout == (b"ready\n" if deaf else b"ready\ntidied\n")
    assert lab.processes() == []


def test_a_program_that_nobody_told_to_end_was_not_stopped(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    done = lab.run(workspace, ["/bin/true"], stop=tmp_path / "stop")
    assert (done.stopped, done.timed_out, done.exit_code) == (False, False, 0)


LATE = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: None)
for _ in range(2):
    if os.fork():
        os.setsid() if os.getpgid(0) != os.getpid() else None
print("ready", flush=True)
while True:
    with open("late", "a") as file:
        file.write("x")
"""


def test_what_is_done_late_is_not_in_the_diff(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    argv = [workspace.environment.python, "-c", LATE]
    done = lab.run(workspace, argv, timeout_seconds=1, grace_seconds=0.1)
    assert done.timed_out
    assert lab.processes() == []
    # All of it is dead, so the file does not grow between these two.
    patches = [workspace.diff(tmp_path / name) for name in ("one", "two")]
    assert patches[0] == patches[1]


# -- what is left running --------------------------------------------------------

#: ``started`` says that what is left behind is there.
WAIT = "while ! [ -e started ]; do sleep 0.01; done"
LEAVING = {
    "background": "sleep 600 & : > started",
    "own session": f"setsid sh -c ': > started; exec sleep 600' & {WAIT}",
    "nohup": "nohup sleep 600 > /dev/null 2>&1 & : > started",
    "deaf": f"sh -c 'trap \"\" TERM HUP INT; : > started; sleep 600' & {WAIT}",
    "stopped": "sleep 600 & kill -STOP $!; : > started",
    "double fork": f"(setsid sh -c '(: > started; exec sleep 600) &') & {WAIT}",
    "no output left open": "sleep 600 < /dev/null > /dev/null 2>&1 & : > started",
    "its parent was killed": f"sh -c 'sleep 600 & : > started; kill -9 $$'; {WAIT}",
    "no variables": f"env -i sh -c ': > started; exec sleep 599.25' & {WAIT}",
}


@isolates("leave processes running")
@pytest.mark.parametrize("script", LEAVING.values(), ids=LEAVING.keys())
def test_what_a_program_leaves_running_is_ended(
    lab: Lab, workspace: Workspace, script: str
) -> None:
    done = lab.run(workspace, ["/bin/sh", "-c", script])
    assert done.exit_code == 0
    assert (workspace.tree / "started").exists()
    assert lab.processes() == []
    assert running("599.25") == []


def running(argument: str) -> list[Path]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in arguments:
            found.append(process)
    return found


def test_what_is_left_is_ended_after_a_kill_too(lab: Lab, workspace: Workspace) -> None:
    script = f"setsid sh -c ': > started; exec sleep 600' & {WAIT}; kill -9 $$"
    done = lab.run(workspace, ["/bin/sh", "-c", script])
    assert done.exit_code == -signal.SIGKILL
    assert lab.processes() == []


# -- resources -------------------------------------------------------------------


def by_cgroups() -> bool:
    return cgroup_parent()[0] is not None


FORK_BOMB = """
import os, sys, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        count += 1
except OSError as exc:
    print(count, exc.errno)
"""


@isolates("start processes without end")
def test_a_fork_bomb_is_contained(lab: Lab) -> None:
    if not by_cgroups() and os.geteuid() == 0:
        pytest.skip("the kernel holds root to no rlimit, and here are no cgroups")
    workspace = lab.make(limits=ResourceLimits(processes=60))
    argv = [workspace.environment.python, "-c", FORK_BOMB]
    done = lab.run(workspace, argv)
    count, error = map(int, done.stdout.split())
    assert error == errno.EAGAIN
    if by_cgroups():
        assert 0 < count < 60  # an rlimit counts what else this user runs, too
    assert lab.processes() == []
    assert lab.shell(workspace, "echo again") == "again\n"


def test_a_fork_bomb_that_never_waits_is_ended_at_the_time_limit(lab: Lab) -> None:
    if not by_cgroups() and os.geteuid() == 0:
        pytest.skip("the kernel holds root to no rlimit, and here are no cgroups")
    workspace = lab.make(limits=ResourceLimits(processes=60))
    script = "f() { f | f & }; while :; do f; done"
    done = lab.run(
        workspace, ["/bin/sh", "-c", script], timeout_seconds=1, grace_seconds=0.1
    )
    assert done.timed_out or done.exit_code
    assert lab.processes() == []
    assert lab.shell(workspace, "echo again") == "again\n"


HOG = """
kept = []
try:
    while len(kept) < 10_000:
        kept.append(b"x" * (1 << 20))
except MemoryError:
    print("no more memory")
"""


@isolates("use memory without end")
def test_a_hog_of_memory_is_stopped(lab: Lab) -> None:
    limit = 200 * MIB
    workspace = lab.make(limits=ResourceLimits(memory=limit))
    done = lab.run(workspace, [workspace.environment.python, "-c", HOG])
    if done.exceeded:
        assert done.exceeded == f"more than {limit} bytes of memory"
        assert done.exit_code
    else:
        assert done.stdout == b"no more memory\n"
    assert lab.shell(workspace, "echo again") == "again\n"
    # The next one is not blamed for it.
    assert lab.run(workspace, ["true"]).exceeded == ""


def test_children_use_memory_together(lab: Lab) -> None:
    if not by_cgroups():
        pytest.skip(f"rlimits hold for each process alone: {cgroup_parent()[1]}")
    workspace = lab.make(limits=ResourceLimits(memory=200 * MIB))
    code = (
        "import os\n"
        'for _ in range(4): os.fork() or exec(\'x = bytes(b"x") * (100 << 20); '
        "import time; time.sleep(600)')\n"
        "print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(1)])"
    )
    done = lab.run(workspace, [workspace.environment.python, "-c", code])
    assert "bytes of memory" in done.exceeded


SHARED = """
import sys
try:
    with open("/dev/shm/x", "wb", 0) as file:
        for _ in range(400):
            file.write(bytes(1 << 20))
except OSError:
    sys.exit(1)
print("written")
"""


def test_files_in_memory_count(lab: Lab) -> None:
    if lab.name in SHARES_FILES:
        pytest.skip("/dev/shm is the machine's own: filling it would harm others")
    workspace = lab.make(limits=ResourceLimits(memory=200 * MIB))
    done = lab.run(workspace, [workspace.environment.python, "-c", SHARED])
    assert done.stdout == b""
    assert lab.shell(workspace, "ls /dev/shm; echo again") == "again\n"


@isolates("leave files outside of its workspace", open_in=SHARES_FILES)
@pytest.mark.parametrize("place", ["/dev/shm", "/tmp", "/var/tmp"])
def test_files_elsewhere(
    lab: Lab, workspace: Workspace, is_open: bool, place: str
) -> None:
    path = Path(place) / f"codegenie-{secrets.token_hex(8)}"
    lab.run(workspace, ["touch", str(path)])
    left = path.exists()
    path.unlink(missing_ok=True)
    assert left is is_open


@isolates("write a file of any size")
@pytest.mark.parametrize("how", ["sparse", "real"])
def test_a_file_has_a_limit(lab: Lab, how: str) -> None:
    workspace = lab.make(limits=ResourceLimits(file_size=MIB))
    command = {"sparse": "truncate -s 10G big", "real": "head -c 10G /dev/zero > big"}
    done = lab.run(workspace, ["/bin/sh", "-c", command[how]])
    assert done.exit_code
    assert (workspace.tree / "big").stat().st_size <= MIB


WRITE = """
import os
while True:
    for number in range(10**9):
        with open(f"{number}", "wb") as file:
            file.write(b"x" * SIZE)
"""


@isolates("fill the disk")
@pytest.mark.parametrize("place", ["tree", "home", "temporary"])
def test_all_files_together_have_a_limit(lab: Lab, place: str) -> None:
    workspace = lab.make(limits=ResourceLimits(disk=20 * MIB))
    directory = {"tree": ".", "home": "$HOME", "temporary": "$TMPDIR"}[place]
    code = WRITE.replace("SIZE", "(1 << 20)").replace("range(10**9)", "range(2000)")
    argv = ["/bin/sh", "-c", f'cd {directory}; exec "$0" -c "$1"']
    argv += [workspace.environment.python, code]
    done = lab.run(workspace, argv, phase="judge")
    assert done.exceeded == f"more than {20 * MIB} bytes on disk"
    assert done.exit_code == -signal.SIGKILL
    assert not done.timed_out


@isolates("make files without end")
def test_there_is_a_limit_on_how_many_files(lab: Lab) -> None:
    workspace = lab.make(limits=ResourceLimits(files=500))
    code = WRITE.replace("SIZE", "0").replace("range(10**9)", "range(100_000)")
    done = lab.run(workspace, [workspace.environment.python, "-c", code])
    assert done.exceeded == "more than 500 files"


def test_there_is_a_limit_on_open_files(lab: Lab) -> None:
    workspace = lab.make(limits=ResourceLimits(open_files=50))
    code = """
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError as exc:
    print(exc.strerror)
"""
    assert lab.python(workspace, code) == "Too many open files"


def test_there_is_a_limit_on_processor_time(lab: Lab) -> None:
    workspace = lab.make(limits=ResourceLimits(cpu_seconds=1))
    done = lab.run(workspace, ["/bin/sh", "-c", "while :; do :; done"])
    assert done.exit_code in (-signal.SIGXCPU, -signal.SIGKILL)
    assert not done.timed_out


def test_a_program_cannot_raise_its_limits(lab: Lab) -> None:
    workspace = lab.make(limits=ResourceLimits(file_size=MIB))
    script = "ulimit -f unlimited 2> /dev/null; head -c 2M /dev/zero > big"
    lab.run(workspace, ["/bin/sh", "-c", script])
    if lab.name == "host" and os.geteuid() == 0:
        pytest.skip("root raises its own limits: agents on the host run as you")
    assert (workspace.tree / "big").stat().st_size <= MIB


@isolates("print without end")
def test_output_without_end_takes_no_memory_and_ends_in_time(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    done = lab.run(
        workspace,
        ["/bin/sh", "-c", "cat /dev/zero & exec cat /dev/zero >&2"],
        timeout_seconds=1,
        grace_seconds=0.1,
        log_path=log,
        log_bytes=MIB,
    )
    assert done.timed_out
    assert max(len(done.stdout), len(done.stderr)) < MIB
    assert log.stat().st_size <= 2 * MIB


def test_gigabytes_of_output_are_read_through(lab: Lab, workspace: Workspace) -> None:
    done = lab.run(workspace, ["/bin/sh", "-c", "head -c 2G /dev/zero; echo end"])
    assert done.exit_code == 0
    assert done.stdout.endswith(b"\0end\n")
    assert b" bytes left out ...]" in done.stdout


# -- trees that are hard to be rid of --------------------------------------------

STUBBORN = {
    "shut directories": "mkdir -p a/b/c; : > a/b/c/x; chmod 0 a/b/c a/b a",
    "read-only files": "chmod 0 main.py data/table.bin; chmod 0500 data .",
    "deep": "mkdir -p $(printf 'd/%.0s' $(seq 1500))",
    "deep and shut": "p=$(printf 'd/%.0s' $(seq 1500)); mkdir -p $p; chmod 0 d",
    "longer than any path": "mkdir a; PYTHON -c 'import os\nfor _ in range(20):"
    ' os.mkdir("x" * 255); os.chdir("x" * 255)\nopen("x", "w")\'',
    "links out": "ln -s / root; ln -s ../../.. up; ln -s nowhere dangling",
    "pipes": "mkfifo pipe data/pipe",
    "scratch and home": "mkdir -p $TMPDIR/a/b ~/a/b; : > ~/a/b/x; chmod 0 ~/a/b ~/a",
    "immutable files": "chattr +i main.py data/table.bin run.sh; chattr +a latin.txt",
    "immutable directories": "chattr +i data .",
    "other owners": "chown -R 54321:54321 data main.py; chmod 700 data",
    "a mount": "mkdir m; mount -t tmpfs none m; : > m/x",
    "a mount of the tree": "mkdir m; mount --bind data m",
}
#: What not every user, or file system, or workspace lets anyone do.
PRIVILEGED = ("immutable", "other owners", "a mount")


@isolates("leave files that cannot be removed")
@pytest.mark.parametrize("name", STUBBORN)
def test_whatever_a_tree_is_like_it_is_read_and_removed(
    lab: Lab, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    workspace = lab.make()
    script = STUBBORN[name].replace("PYTHON", workspace.environment.python)
    argv = ["/bin/sh", "-ec", f"echo 1 > new; {script}"]
    done = lab.run(workspace, argv, phase="judge")
    if done.exit_code and name.startswith(PRIVILEGED):
        pytest.skip(f"{lab.name} does not let a program do it: {done.stderr.decode()}")
    assert done.exit_code == 0, done.stderr
    assert "+++ b/new\n" in workspace.diff(tmp_path / "patch.diff")
    workspace.destroy()
    assert not workspace.tree.parent.exists()


def test_what_is_mounted_into_a_tree_is_not_removed_with_it(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("", encoding="utf-8")
    script = f"mkdir m; mount --bind {kept} m"
    done = lab.run(workspace, ["/bin/sh", "-ec", script])
    if done.exit_code:
        pytest.skip(f"{lab.name} does not let a program do it: {done.stderr.decode()}")
    workspace.destroy()
    assert (kept / "file").exists()
    assert not workspace.tree.parent.exists()


# -- many at once ----------------------------------------------------------------


def test_workspaces_work_side_by_side(lab: Lab) -> None:
    workspaces = [lab.make() for _ in range(4)]
    outputs: dict[int, str] = {}

    def one(number: int) -> None:
        script = f"echo {number} > own; sleep 0.1; cat own"
        outputs[number] = lab.shell(workspaces[number], script)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {n: f"{n}\n" for n in range(4)}
