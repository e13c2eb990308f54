"""What a program inside can reach of the machine: tried, in every workspace.

Each test here tries what its mark says, and must be able to exactly where the mark says
so. ``docs/how-to/choose-a-workspace.md`` has its table from these marks.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest
from support_workspaces import SHARES_FILES
from support_workspaces import SHARES_NETWORK
from support_workspaces import SHARES_PROCESSES
from support_workspaces import Lab
from support_workspaces import isolates

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.processes.descendants import KEYCTL
from pytest_codegenie.workspaces import Workspace


Shell = Callable[..., str]

#: Prints those of its arguments that are files it can read a byte of.
READABLE = """
import sys
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError:
        continue
    print(path)
"""


def readable(lab: Lab, workspace: Workspace, *paths: Path) -> list[str]:
    return lab.python(workspace, READABLE, *map(str, paths)).splitlines()


# -- files -----------------------------------------------------------------------


def files_of_home() -> list[Path]:
    """Return files of the user's home: settings, and what lies next to them."""
    home = Path.home()
    places = [home, *(home / name for name in (".ssh", ".config", ".aws", ".cache"))]
    found = [
        path
        for place in places
        if place.is_dir()
        for path in sorted(place.iterdir())
        if path.is_file() and os.access(path, os.R_OK)
    ]
    return found[:200]


@isolates("read the files of your home directory", open_in=SHARES_FILES)
def test_home(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    files = files_of_home()
    if not files:
        pytest.skip(f"{Path.home()} has no file to try; put one there")
    seen = readable(lab, workspace, *files)
    assert seen == ([str(path) for path in files] if is_open else [])


@isolates("read the project that pytest runs in", open_in=SHARES_FILES)
def test_project(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    assert bool(readable(lab, workspace, Path(__file__).resolve())) is is_open


@isolates("read the answers in `expected/` and the run store", open_in=SHARES_FILES)
@pytest.mark.parametrize("place", ["apart", "below what is shown", "in the home"])
def test_bench(lab: Lab, tmp_path: Path, is_open: bool, place: str) -> None:
    shown = tmp_path / "shown"
    hidden = {
        "apart": tmp_path / "bench",
        "below what is shown": shown / "bench",
        "in the home": Path(tempfile.mkdtemp(dir=tmp_path)) / "home" / "bench",
    }[place]
    answer = hidden / "cases" / "first" / "expected" / "gold.patch"
    answer.parent.mkdir(parents=True)
    answer.write_text("the answer", encoding="utf-8")
    shown.mkdir(exist_ok=True)
    agent = shown / "agent"
    agent.write_text("the agent", encoding="utf-8")
    workspace = lab.make(hidden=(hidden.resolve(),), readable=(shown.resolve(),))
    assert bool(readable(lab, workspace, answer)) is is_open
    if not workspace.environment.image:  # an agent in a container is in its image
        assert readable(lab, workspace, agent) == [str(agent)]


@isolates("read other workspaces", open_in=SHARES_FILES)
def test_other_workspaces(
    lab: Lab, workspace: Workspace, shell: Shell, is_open: bool
) -> None:
    other = lab.make()
    secret = other.tree / "secret"
    secret.write_text("secret", encoding="utf-8")
    assert bool(readable(lab, workspace, secret)) is is_open
    # Not by going up from the own tree either.
    found = shell("find ../../.. -maxdepth 5 -name secret 2> /dev/null || true")
    assert bool(found) is is_open


@isolates("read the system's secrets, as far as you can", open_in=SHARES_FILES)
@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/sudoers", "/etc/machine-id"])
def test_system_secrets(
    lab: Lab, workspace: Workspace, is_open: bool, path: str
) -> None:
    if not os.access(path, os.R_OK):
        pytest.skip(f"this user cannot read {path} in the first place")
    seen = lab.run(workspace, ["cat", path]).stdout
    assert (seen == Path(path).read_bytes()) is is_open


#: Prints those of its arguments that it may write to.
WRITABLE = """
import os, sys
for path in sys.argv[1:]:
    if os.access(path, os.W_OK):
        print(path)
"""


@isolates("write to the system, as far as you can", open_in=SHARES_FILES)
def test_system_is_read_only(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    paths = ["/", "/bin/sh", "/usr", "/usr/bin", "/usr/lib", "/etc", "/etc/passwd"]
    paths += ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe"]
    paths += ["/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/sys", "/dev/kmsg"]
    paths += ["/var", "/run", "/home", "/root", "/boot", "/opt", "/srv", "/mnt"]
    mine = [path for path in paths if os.access(path, os.W_OK)]
    seen = lab.python(workspace, WRITABLE, *paths).splitlines()
    if lab.name == "host":
        assert seen == mine
    elif is_open:
        assert set(seen) <= set(mine)
    else:
        assert seen == []


@isolates("change the Python environment that others use", open_in=SHARES_FILES)
def test_environment_is_read_only(
    lab: Lab, workspace: Workspace, is_open: bool
) -> None:
    code = "import os, sysconfig; p = sysconfig.get_paths(); print(p['purelib'])"
    place = lab.python(workspace, code)
    mine = os.access(place, os.W_OK)
    assert bool(lab.python(workspace, WRITABLE, place)) is (is_open and mine)


# -- variables and keys ----------------------------------------------------------


@isolates("get your environment variables", open_in=["host"])
def test_variables(
    lab: Lab, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    printed = {
        phase: lab.shell(workspace, "echo $API_TOKEN", phase=phase).strip()
        for phase in ("agent", "judge")
    }
    assert printed == {"agent": "secret" if is_open else "", "judge": ""}


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's, with a secret in its environment and arguments."""
    secret = secrets.token_hex(8)
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()", f"argument-{secret}"],
        env={"SECRET": f"variable-{secret}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()  # it is up, with its own arguments
    yield process
    process.kill()
    process.communicate()


GREP = """
import os, sys
for pid in os.listdir("/proc"):
    try:
        with open(f"/proc/{pid}/{sys.argv[1]}", "rb") as file:
            if sys.argv[2].encode() in file.read() and int(pid) != os.getpid():
                print(pid)
    except (OSError, ValueError):
        pass
"""


def secret_of(process: subprocess.Popen[bytes]) -> str:
    assert isinstance(process.args, list)
    return str(process.args[-1]).partition("-")[2]


@isolates("read the variables of your processes", open_in=["host"])
def test_variables_of_processes(
    lab: Lab,
    workspace: Workspace,
    process: subprocess.Popen[bytes],
    is_open: bool,
) -> None:
    secret = f"variable-{secret_of(process)}"
    found = lab.python(workspace, GREP, "environ", secret)
    assert found == (str(process.pid) if is_open else "")


@isolates("see your processes and their arguments", open_in=SHARES_PROCESSES)
def test_seeing_processes(
    lab: Lab,
    workspace: Workspace,
    process: subprocess.Popen[bytes],
    is_open: bool,
) -> None:
    # Put together inside: the words must not be in the arguments of the search.
    code = GREP.replace("sys.argv[2]", "('argument-' + sys.argv[2])")
    found = lab.python(workspace, code, "cmdline", secret_of(process))
    assert found == (str(process.pid) if is_open else "")


@isolates("end your processes", open_in=SHARES_PROCESSES)
def test_signalling_processes(
    lab: Lab,
    workspace: Workspace,
    process: subprocess.Popen[bytes],
    is_open: bool,
) -> None:
    lab.run(workspace, ["/bin/sh", "-c", f"kill -9 {process.pid}"])
    if is_open:
        process.wait()
    assert (process.poll() is not None) is is_open


ATTACH = """
import ctypes, sys
PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
print(libc.ptrace(PTRACE_SEIZE, int(sys.argv[1]), 0, 0))
"""


@isolates("attach a debugger to your processes", open_in=["host"])
def test_attaching_to_processes(
    lab: Lab,
    workspace: Workspace,
    process: subprocess.Popen[bytes],
    is_open: bool,
) -> None:
    if is_open and not may_attach():
        pytest.skip("this machine lets nobody attach (kernel.yama.ptrace_scope)")
    found = lab.python(workspace, ATTACH, str(process.pid))
    assert found == ("0" if is_open else "-1")


def may_attach() -> bool:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not scope.exists() or scope.read_bytes() == b"0\n"


@isolates("end the process that supervises it", open_in=SHARES_PROCESSES)
def test_killing_the_parent(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    argv = ["/bin/sh", "-c", "kill -9 $PPID; echo alive; sleep 0.1"]
    if is_open:
        # That is an error, not a result; and the next program runs.
        with pytest.raises(WorkspaceUnavailable, match="a helper process died"):
            lab.run(workspace, argv)
    else:
        assert lab.run(workspace, argv).stdout == b"alive\n"
    assert lab.shell(workspace, "echo again") == "again\n"


@isolates("end every process that it can see", open_in=SHARES_PROCESSES)
def test_killing_everything(
    lab: Lab,
    workspace: Workspace,
    shell: Shell,
    process: subprocess.Popen[bytes],
    is_open: bool,
) -> None:
    namespace = "readlink /proc/self/ns/pid"
    own = str(Path("/proc/self/ns/pid").readlink())
    assert (shell(namespace).strip() == own) is is_open
    if is_open:
        return  # it could: the test's own machine is not to be ended for proof
    lab.run(workspace, ["/bin/sh", "-c", "kill -9 -1"])
    assert process.poll() is None
    assert shell("echo again") == "again\n"


KEY = f"codegenie-{os.getpid()}"
FIND_KEY = """
import ctypes, sys
keyctl, name = int(sys.argv[1]), sys.argv[2].encode()
KEYCTL_SEARCH, USER_KEYRING = 10, -4
print(ctypes.CDLL(None).syscall(keyctl, KEYCTL_SEARCH, USER_KEYRING, b"user", name, 0))
"""


@pytest.fixture
def key() -> Iterator[int]:
    """A key in the user's keyring, as a log-in or a mount leaves one."""
    number = KEYCTL.get(os.uname().machine)
    if number is None:
        pytest.skip(f"the number of keyctl(2) on {os.uname().machine} is not known")
    libc = ctypes.CDLL(None)
    user_keyring, unlink = -4, 9
    add_key = number - 2
    made = libc.syscall(add_key, b"user", KEY.encode(), b"secret", 6, user_keyring)
    if made < 0:
        pytest.skip("the kernel keeps no keys for this user (keyrings(7))")
    yield made
    libc.syscall(number, unlink, made, user_keyring)


@isolates("use the keys in your kernel keyring", open_in=["host"])
def test_keyring(lab: Lab, workspace: Workspace, key: int, is_open: bool) -> None:
    number = str(KEYCTL[os.uname().machine])
    found = lab.python(workspace, FIND_KEY, number, KEY)
    assert found == (str(key) if is_open else "-1")


# -- the network -----------------------------------------------------------------

CONNECT = """
import socket, sys
if sys.argv[1] == "unix":
    sock = socket.socket(socket.AF_UNIX)
    address = sys.argv[2].replace("@", "\\0")
else:
    kinds = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
    sock = socket.socket(socket.AF_INET, kinds[sys.argv[1]])
    address = (sys.argv[2], int(sys.argv[3]))
sock.settimeout(20)
try:
    sock.connect(address)
    sock.sendall(b"x")
except OSError:
    print("closed")
else:
    print("open")
"""


def connects(lab: Lab, workspace: Workspace, phase: str, *arguments: str) -> bool:
    argv = [workspace.environment.python, "-c", CONNECT, *arguments]
    done = lab.run(workspace, argv, phase=phase)  # type: ignore[arg-type]
    assert done.exit_code == 0, done
    return {b"open\n": True, b"closed\n": False}[done.stdout]


def own_address() -> str:
    """Return the address of the interface that the machine reaches others by."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no network to reach")
        return str(sock.getsockname()[0])


@isolates("reach the network while an agent works or tests run", open_in=SHARES_NETWORK)
@pytest.mark.parametrize("phase", ["agent", "judge"])
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_network(
    lab: Lab, workspace: Workspace, is_open: bool, phase: str, kind: str
) -> None:
    assert reaches(lab, workspace, phase, kind, own_address()) is is_open


@isolates("reach servers on your localhost (DNS, databases)", open_in=SHARES_NETWORK)
@pytest.mark.parametrize("phase", ["agent", "judge"])
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_loopback(
    lab: Lab, workspace: Workspace, is_open: bool, phase: str, kind: str
) -> None:
    assert reaches(lab, workspace, phase, kind, "127.0.0.1") is is_open


def reaches(
    lab: Lab, workspace: Workspace, phase: str, kind: str, address: str
) -> bool:
    """Say whether a program inside reaches a server of ours: whether we hear of it."""
    kinds = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
    with socket.socket(socket.AF_INET, kinds[kind]) as server:
        server.bind((address, 0))
        server.setblocking(False)
        if kind == "tcp":
            server.listen()
        connects(lab, workspace, phase, kind, address, str(server.getsockname()[1]))
        try:
            if kind == "tcp":
                server.accept()[0].close()
            else:
                server.recv(1)
        except BlockingIOError:
            return False
        return True


@isolates("reach services by abstract sockets (X11, D-Bus)", open_in=SHARES_NETWORK)
def test_abstract_sockets(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    name = f"codegenie-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        assert connects(lab, workspace, "agent", "unix", f"@{name}") is is_open


@isolates("reach services by socket files (docker.sock)", open_in=SHARES_FILES)
def test_socket_files(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    with (
        tempfile.TemporaryDirectory() as directory,
        socket.socket(socket.AF_UNIX) as server,
    ):
        server.bind(f"{directory}/service.sock")
        server.listen()
        places = [f"{directory}/service.sock"]
        if os.access("/var/run/docker.sock", os.W_OK):
            places.append("/var/run/docker.sock")
        for place in places:
            assert connects(lab, workspace, "agent", "unix", place) is is_open


ASK = """
import socket, sys
for port in sys.argv[2:]:
    try:
        with socket.create_connection((sys.argv[1], int(port)), timeout=20) as sock:
            sock.sendall(b"x")
            print(sock.recv(9).decode())
    except OSError:
        print("closed")
"""


@contextlib.contextmanager
def answering() -> Iterator[str]:
    """Serve on a port of the loopback until the block ends; yield the port."""

    def serve() -> None:
        with contextlib.suppress(OSError):  # of the end
            while True:
                connection = server.accept()[0]
                with connection, contextlib.suppress(OSError):
                    connection.recv(1)
                    connection.sendall(b"answer")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield str(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread; closing does not
            thread.join()


@isolates("reach more than the `host:port`s that are listed", open_in=SHARES_NETWORK)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_endpoints(lab: Lab, is_open: bool, host: str) -> None:
    with answering() as listed, answering() as other:
        workspace = lab.make(endpoints=(f"{host}:{listed}",))
        argv = [workspace.environment.python, "-c", ASK, host, listed, other]
        agent = lab.run(workspace, argv, phase="agent").stdout.decode().split()
        judged = lab.run(workspace, argv, phase="judge").stdout.decode().split()
    if is_open:
        assert agent == judged == ["answer", "answer"]
    else:
        # A third party may reach none at all.
        assert agent[0] == "answer" or lab.name not in BUILTIN_PARTS.workspaces
        assert (agent[1], judged) == ("closed", ["closed", "closed"])


# -- privileges ------------------------------------------------------------------


@isolates("mount file systems, where you can", open_in=["host"])
def test_mounting(lab: Lab, workspace: Workspace, shell: Shell, is_open: bool) -> None:
    script = "mkdir m; mount -t tmpfs none m && umount m && echo mounted || true"
    assert bool(shell(script)) is (is_open and can("mount -t tmpfs none {}"))


def can(command: str) -> bool:
    """Try a command of this user's, outside; undo a mount on ``{}``."""
    with tempfile.TemporaryDirectory() as directory:
        argv = command.format(directory).split()
        done = subprocess.run(argv, capture_output=True, check=False)
        if os.path.ismount(directory):
            subprocess.run(["umount", directory], check=True)
    return done.returncode == 0


@isolates("make namespaces of its own, where you can", open_in=SHARES_FILES)
def test_new_namespaces(shell: Shell, is_open: bool) -> None:
    script = "unshare --user --map-root-user echo made 2> /dev/null || true"
    allowed = can("unshare --user --map-root-user true")
    assert bool(shell(script)) is (is_open and allowed)


@isolates("gain rights by setuid programs (sudo)", open_in=SHARES_FILES)
def test_setuid_programs(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    code = "print(open('/proc/self/status').read())"
    status = lab.python(workspace, code).splitlines()
    assert ("NoNewPrivs:\t0" in status) is is_open


def _devices() -> Iterator[Path]:
    for pattern in ("sd?", "vd?", "nvme*", "mem", "kvm", "fuse", "loop-control"):
        with contextlib.suppress(OSError):
            yield from Path("/dev").glob(pattern)


@isolates("open disks and other devices, where you can", open_in=SHARES_FILES)
def test_devices(lab: Lab, workspace: Workspace, is_open: bool) -> None:
    mine = [path for path in _devices() if os.access(path, os.R_OK)]
    if not mine:
        pytest.skip("this user can open no device in the first place")
    seen = lab.python(
        workspace,
        "import os, sys\nfor p in sys.argv[1:]:\n if os.access(p, 4): print(p)",
        *map(str, mine),
    )
    assert bool(seen) is is_open
