"""Running programs: what goes in and comes out, the same in every workspace."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from support_workspaces import Lab

from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import Workspace


def test_both_streams_and_the_exit_code_come_back(
    lab: Lab, workspace: Workspace
) -> None:
    done = lab.run(workspace, ["/bin/sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 7)
    assert (done.timed_out, done.survivors, done.exceeded) == (False, 0, "")
    assert done.duration_seconds > 0


@pytest.mark.parametrize("code", [0, 1, 126, 127, 128, 255])
def test_an_exit_code_is_an_exit_code(
    lab: Lab, workspace: Workspace, code: int
) -> None:
    assert lab.run(workspace, ["/bin/sh", "-c", f"exit {code}"]).exit_code == code


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGTERM", "SIGKILL", "SIGABRT"])
def test_a_signal_is_a_negative_exit_code(
    lab: Lab, workspace: Workspace, name: str
) -> None:
    argv = ["/bin/sh", "-c", f"kill -{name.removeprefix('SIG')} $$"]
    assert lab.run(workspace, argv).exit_code == -signal.Signals[name]


def test_the_environment_is_exactly_the_given_one(
    lab: Lab, workspace: Workspace
) -> None:
    given = {"A": "caf\u00e9", "B": "", "C": "a\nb=c", "PWD": "/elsewhere"}
    done = workspace.exec(
        ["/usr/bin/env", "-0"], phase="judge", env=given, limits=Limits()
    )
    lines = [f"{name}={value}".encode() for name, value in given.items()]
    assert sorted(done.stdout.split(b"\0")) == [b"", *lines]


def test_arguments_arrive_as_they_are(lab: Lab, workspace: Workspace) -> None:
    arguments = ["", " ", "--", "-n", "a'b\"c", "$HOME", "*", "a\nb", "\u00e9"]
    done = lab.run(workspace, ["printf", "%s\\0", *arguments])
    assert done.stdout == b"".join(os.fsencode(word) + b"\0" for word in arguments)


def test_bytes_that_are_not_utf_8_arrive_as_they_are(
    lab: Lab, workspace: Workspace
) -> None:
    if workspace.environment.image:
        pytest.skip("an engine is asked in JSON, which has no such bytes")
    word = os.fsdecode(b"caf\xe9")
    script = 'printf "%s\\0" "$0" "$WORD"'
    done = lab.run(workspace, ["/bin/sh", "-c", script, word], env={"WORD": word})
    assert done.stdout == b"caf\xe9\0caf\xe9\0"


def test_standard_input_is_the_file_or_nothing(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(b"hello\0\xff")
    done = lab.run(workspace, ["cat"], stdin_path=tmp_path / "in")
    assert done.stdout == b"hello\0\xff"
    assert lab.run(workspace, ["cat"]).stdout == b""


def test_a_log_gets_both_streams_while_they_come(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        lab.shell(workspace, "echo out; echo err >&2", log_path=log)
    assert sorted(log.read_bytes().split()) == [b"err", b"err", b"out", b"out"]


def test_of_long_output_both_ends_are_kept(
    lab: Lab, workspace: Workspace, tmp_path: Path
) -> None:
    done = lab.run(
        workspace,
        ["seq", "100000"],
        keep_bytes=20,
        log_bytes=50,
        log_path=tmp_path / "log",
    )
    whole = b"".join(b"%d\n" % number for number in range(1, 100001))
    middle = b"\n[... %d bytes left out ...]\n" % (len(whole) - 40)
    assert done.stdout == whole[:20] + middle + whole[-20:]
    assert (tmp_path / "log").read_bytes() == whole[:50]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("no-such-program", "ENOENT"),
        ("./no-such-file", "ENOENT"),
        ("/no/such/file", "ENOENT"),
        ("./main.py", "EACCES"),
        ("./data", "EACCES"),
    ],
)
def test_a_program_that_cannot_be_started_says_why(
    lab: Lab, workspace: Workspace, program: str, code: str
) -> None:
    with pytest.raises(NotStarted) as caught:
        lab.run(workspace, [program])
    assert caught.value.code == code
    assert f"{program!r} cannot be started: " in str(caught.value)
    assert lab.shell(workspace, "echo again") == "again\n"


def test_a_program_is_found_on_the_path_that_it_is_given(
    lab: Lab, workspace: Workspace
) -> None:
    script = "mkdir bin; printf '#!/bin/sh\\necho mine' > bin/ls; chmod +x bin/ls"
    lab.shell(workspace, script)
    own = f"{workspace.inside(workspace.tree)}/bin"
    assert lab.run(workspace, ["ls"], env={"PATH": f"{own}:/bin"}).stdout == b"mine\n"
    with pytest.raises(NotStarted):
        lab.run(workspace, ["ls"], env={"PATH": own.replace("bin", "none")})


def test_a_program_of_the_tree_is_started_by_its_path(
    lab: Lab, workspace: Workspace
) -> None:
    lab.shell(workspace, "printf '#!/bin/sh\\necho \"$1\"\\n' > run.sh")
    assert lab.run(workspace, ["./run.sh", "hello"]).stdout == b"hello\n"


def test_python_of_the_environment_runs_and_finds_pytest(
    lab: Lab, workspace: Workspace
) -> None:
    assert lab.python(workspace, "import sys; print(sys.version_info[0])") == "3"
    if not workspace.environment.image:
        assert lab.python(workspace, "import pytest; print(pytest.__name__)")


@pytest.mark.parametrize("name", ["HOME", "TMPDIR"])
@pytest.mark.parametrize("phase", ["agent", "judge"])
def test_there_is_a_home_and_a_place_for_temporary_files(
    lab: Lab, workspace: Workspace, name: str, phase: str
) -> None:
    if lab.name == "host" and (name, phase) == ("HOME", "agent"):
        pytest.skip("an agent on the host has the user's own home")
    script = f"echo 1 > ${name}/x; cat ${name}/x; rm ${name}/x"
    assert lab.shell(workspace, script, phase=phase) == "1\n"


def test_a_program_has_no_terminal(lab: Lab, workspace: Workspace) -> None:
    script = "for fd in 0 1 2; do [ ! -t $fd ]; done; ! (: < /dev/tty) 2> /dev/null"
    lab.shell(workspace, script)


def test_a_program_has_no_descriptor_of_ours(lab: Lab, workspace: Workspace) -> None:
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:3])"
    assert lab.python(workspace, code) == "[0, 1, 2]"
    code = """
import os
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        kept = fd > 2 and os.get_inheritable(fd)
    except OSError:
        continue
    if kept:
        print(fd, os.readlink(f"/proc/self/fd/{fd}"))
"""
    assert lab.python(workspace, code) == ""
