"""What is the workspace ``docker``'s own; what all share is tested for all."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import FIX
from support import Bench
from support_docker import BASE
from support_docker import build_base
from support_docker import missing

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import connect
from pytest_codegenie.workspaces.docker.labels import sweep_containers
from pytest_codegenie.workspaces.docker.workspace import DockerWorkspace


class Dock:
    """Makes workspaces of the kind ``docker`` that share a cache."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.tree = directory / "tree"
        self.tree.mkdir()
        (self.tree / "main.py").write_text("print('hello')\n")
        self._count = 0
        self.made: list[DockerWorkspace] = []

    @property
    def engine(self) -> Engine:
        return connect()

    def configured(self, **spec: Any) -> DockerWorkspace:
        self._count += 1
        place = self.directory / f"workspace-{self._count}"
        place.mkdir()
        workspace = DockerWorkspace()
        self.made.append(workspace)
        cache = self.directory / "cache"
        workspace.configure(WorkspaceSpec(place, cache, run_id="a-run", **spec))
        return workspace

    def provide(self, *, spec: Any = None, **recipe: Any) -> Environment:
        workspace = self.configured(**(spec or {}))
        return workspace.provide(Recipe(self.tree, "acme/demo", **recipe))

    def prepared(
        self, environment: Environment | None = None, **spec: Any
    ) -> DockerWorkspace:
        workspace = self.configured(**spec)
        if environment is None:
            environment = workspace.provide(Recipe(self.tree, "acme/demo"))
        workspace.prepare(self._base(), environment)
        return workspace

    def _base(self) -> Base:
        git_dir = self.directory / "base.git"
        if git_dir.exists():
            return Base(self.tree, git_dir)
        return make_base(self.tree, git_dir)

    def containers(self) -> list[str]:
        """Return what the engine has of this one's containers."""
        place = str(self.directory)
        return [
            container["Id"]
            for container in self.engine.api.containers(all=True)
            if container["Labels"]
            .get("pytest-codegenie.directory", "")
            .startswith(place)
        ]

    def close(self) -> None:
        for workspace in self.made:
            workspace.destroy()
        assert self.containers() == []


def run(workspace: DockerWorkspace, *argv: str, **options: Any) -> Completed:
    phase = options.pop("phase", "agent")
    return workspace.exec(
        argv,
        phase=phase,
        env=options.pop("env", workspace.variables(phase)),
        limits=Limits(**options),
    )


@pytest.fixture
def dock(tmp_path: Path) -> Iterator[Dock]:
    if missing():
        pytest.skip(missing())
    dock = Dock(tmp_path)
    yield dock
    dock.close()


@pytest.fixture
def removes_image(dock: Dock) -> Iterator[Callable[[str], None]]:
    """Remove images at the end of the test."""
    images: list[str] = []
    yield images.append
    for image in images:
        dock.engine.api.remove_image(image, force=True)


def in_new_process(code: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@contextlib.contextmanager
def acting_once_started(dock: Dock, act: Callable[[str], object]) -> Iterator[None]:
    """Call ``act`` with the container, once its program has made ``/scratch/up``."""
    up = dock.made[-1].scratch / "up"
    over = threading.Event()

    def wait_and_act() -> None:
        while not up.exists():
            if over.wait(0.005):
                return  # no container was started
        act(dock.containers()[0])

    thread = threading.Thread(target=wait_and_act, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


UP = "touch /scratch/up"
UP_AND_WAIT = ("/bin/sh", "-c", f"{UP}; sleep 1000")


# -- no engine -------------------------------------------------------------------

PROBE = (
    "from pytest_codegenie.workspaces.docker.workspace import DockerWorkspace\n"
    "print(DockerWorkspace().probe())\n"
)


def test_an_engine_that_does_not_run_is_told_with_the_remedy(tmp_path: Path) -> None:
    words = in_new_process(PROBE, DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert words.startswith(
        f"no engine answers at unix://{tmp_path}/none.sock: it does"
    )
    assert "DOCKER_HOST" in words
    assert "\n" not in words


def test_a_socket_where_nobody_listens_is_told(tmp_path: Path) -> None:
    path = tmp_path / "deaf.sock"
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
    words = in_new_process(PROBE, DOCKER_HOST=f"unix://{path}")
    assert "it does not run (Connection refused)" in words


def test_a_missing_docker_py_is_told_with_the_remedy() -> None:
    hidden = "import sys; sys.modules['docker'] = None\n"
    words = in_new_process(hidden + PROBE)
    assert words == "docker-py is missing: pip install 'pytest-codegenie[docker]'"


def test_docker_py_is_not_imported_before_it_is_needed() -> None:
    code = (
        "import sys, pytest_codegenie.workspaces.docker.workspace\n"
        "print('docker' in sys.modules, 'requests' in sys.modules)\n"
    )
    assert in_new_process(code) == "False False"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_socket_that_is_shut_is_told_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "shut.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0o600)
        for parent in (tmp_path, *tmp_path.parents):
            if parent.stat().st_uid == 0 and "pytest" in str(parent):
                parent.chmod(parent.stat().st_mode | 0o055)
        become = "import os; os.setuid(65534)\nprint(DockerWorkspace().probe())\n"
        words = in_new_process(
            "import docker\n"
            + PROBE.replace("print(DockerWorkspace().probe())\n", become),
            DOCKER_HOST=f"unix://{path}",
        )
    assert "permission denied; join its group" in words


# -- what a container is made of -------------------------------------------------


def test_a_program_is_nobody_special_and_may_become_nothing_else(dock: Dock) -> None:
    done = run(dock.prepared(), "cat", "/proc/self/status")
    status = dict(line.split(":\t", 1) for line in done.stdout.decode().splitlines())
    assert status["Uid"].split()[0] == str(os.getuid() or 1000)
    assert {status[key] for key in ("CapPrm", "CapEff", "CapBnd")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"


def test_nothing_of_the_host_is_bound_but_the_workspace(dock: Dock) -> None:
    workspace = dock.prepared()
    mounts: list[dict[str, Any]] = []

    def look(container: str) -> None:
        try:
            mounts.extend(dock.engine.api.inspect_container(container)["Mounts"])
        finally:
            (workspace.scratch / "down").touch()

    wait = "until [ -e /scratch/down ]; do sleep 0.01; done"
    with acting_once_started(dock, look):
        run(workspace, "/bin/sh", "-c", f"{UP}; {wait}", timeout_seconds=60.0)
    places = {mount["Destination"]: Path(mount["Source"]) for mount in mounts}
    writable = {mount["Destination"] for mount in mounts if mount["RW"]}
    assert set(places) == writable | {"/run/codegenie"}
    assert writable == {"/testbed", "/scratch", "/home/agent", "/tmp", "/var/tmp"}
    own = workspace.spec.directory
    assert all(path.is_relative_to(own) for path in places.values())


def test_limits_are_the_engines_too(dock: Dock) -> None:
    limits = ResourceLimits(memory=256 << 20, processes=50, cpus=0.5)
    workspace = dock.prepared(limits=limits)
    words = (
        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max "
        "2>/dev/null; cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max "
        "2>/dev/null; ulimit -c; ulimit -n"
    )
    done = run(workspace, "/bin/sh", "-c", words)
    assert done.stdout.split() == [b"268435456", b"51", b"0", b"1024"]


def test_the_runs_own_memory_comes_before_the_limits(dock: Dock) -> None:
    workspace = dock.prepared(docker=DockerSettings(memory=128 << 20))
    code = "x = bytearray(512 << 20)"
    done = run(workspace, workspace.environment.python, "-c", code)
    assert done.exit_code == -9
    if not dock.engine.is_podman:
        assert done.exceeded == f"more than {128 << 20} bytes of memory"


def test_the_image_says_what_is_on_the_path(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    dockerfile = dock.directory / "input" / "Dockerfile"
    dockerfile.parent.mkdir()
    dockerfile.write_text(f"FROM {BASE}\nENV PATH=/opt/bin:$PATH LEVEL=7\n")
    environment = dock.provide(dockerfile=dockerfile)
    removes_image(environment.image)
    workspace = dock.prepared(environment)
    done = run(workspace, "/bin/sh", "-c", "echo $LEVEL $HOME $PATH")
    assert done.stdout.startswith(b"7 /home/agent /opt/bin:/usr/local/sbin:")
    assert environment.own


def test_a_program_without_variables_gets_none(dock: Dock) -> None:
    done = run(dock.prepared(), "/usr/bin/env", env={})
    assert done.stdout == b""


def test_what_was_put_there_is_the_programs(dock: Dock, tmp_path: Path) -> None:
    workspace = dock.prepared()
    secret = tmp_path / "test_hidden.py"
    secret.write_text("x = 1\n")
    secret.chmod(0o600)
    workspace.put({"deep/down/test_hidden.py": secret})
    done = run(workspace, "/bin/sh", "-c", "cd deep/down && echo >> test_hidden.py")
    assert done.exit_code == 0


# -- images ----------------------------------------------------------------------


def test_an_image_that_is_not_there_is_named_with_the_remedy(dock: Dock) -> None:
    with pytest.raises(WorkspaceUnavailable) as caught:
        dock.provide(image="localhost:1/no-such-image:7")
    words = str(caught.value)
    assert "there is no image 'localhost:1/no-such-image:7' here" in words
    assert "docker load" in words


NO_END = """\
import json, sys
from pathlib import Path
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces import Recipe, WorkspaceSpec
from pytest_codegenie.workspaces.docker.workspace import DockerWorkspace

place = Path(sys.argv[1])
workspace = DockerWorkspace()
workspace.configure(WorkspaceSpec(place, place / "cache", setup_seconds=0.5))
try:
    workspace.provide(Recipe(place, "acme/demo", image="far.example.org/away:1"))
except WorkspaceUnavailable as exc:
    print(exc)
"""


class Stalled(http.server.BaseHTTPRequestHandler):
    """An engine that answers, and whose pulls do not end."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if "/images/" in self.path:
            self.answer(404, {"message": "No such image"})
        else:
            about = {"Version": "1", "ApiVersion": "1.41", "MinAPIVersion": "1.12"}
            self.answer(200, about)

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.rfile.read(1)  # until the one who asks goes away

    def answer(self, code: int, value: dict[str, str]) -> None:
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_pull_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stalled) as engine:
        threading.Thread(target=engine.serve_forever, args=(0.02,)).start()
        try:
            done = subprocess.run(
                [sys.executable, "-c", NO_END, str(tmp_path)],
                env={
                    **os.environ,
                    "DOCKER_HOST": f"tcp://127.0.0.1:{engine.server_port}",
                },
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            engine.shutdown()
    assert done.stdout.startswith("there is no image 'far.example.org/away:1' here")
    assert "it did not end within 0.5 seconds" in done.stdout


def test_an_image_with_another_python_is_refused(dock: Dock) -> None:
    with pytest.raises(
        WorkspaceUnavailable, match=r"asks for Python 3[.]2, and the image"
    ):
        dock.provide(image=BASE, python="3.2")


def test_the_cases_image_comes_before_the_runs(dock: Dock) -> None:
    spec = {"docker": DockerSettings(image="localhost:1/no-such-image")}
    assert dock.provide(spec=spec, image=BASE).image
    with pytest.raises(WorkspaceUnavailable, match="no-such-image"):
        dock.provide(spec=spec)


def test_a_dockerfile_that_fails_is_told_with_its_last_lines(dock: Dock) -> None:
    dockerfile = dock.directory / "Dockerfile"
    dockerfile.write_text(f"FROM {BASE}\nRUN echo so far; exit 4\n")
    with pytest.raises(WorkspaceUnavailable) as caught:
        dock.provide(dockerfile=dockerfile)
    words = str(caught.value)
    assert "  so far\n" in words
    assert "to repeat it: docker build - < " in words


def test_equal_dockerfiles_are_built_once(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    text = f"FROM {BASE}\nRUN head -c 16 /dev/urandom > /etc/stamp\n"
    dockerfiles = [dock.directory / name / "Dockerfile" for name in "abcd"]
    for dockerfile in dockerfiles:
        dockerfile.parent.mkdir()
        dockerfile.write_text(text)
        (dockerfile.parent / "problem.md").write_text(str(dockerfile))
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda path: dock.provide(dockerfile=path), dockerfiles))
    assert len({environment.image for environment in made}) == 1
    removes_image(made[0].image)


def test_what_a_dockerfile_copies_makes_another_image(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    images = set()
    for name in "ab":
        dockerfile = dock.directory / name / "Dockerfile"
        dockerfile.parent.mkdir()
        dockerfile.write_text(f"FROM {BASE}\nCOPY data /data\n")
        (dockerfile.parent / "data").write_text(name)
        environment = dock.provide(dockerfile=dockerfile)
        removes_image(environment.image)
        images.add(environment.image)
    assert len(images) == 2


# -- environments ----------------------------------------------------------------


def test_what_commands_install_is_an_image_that_is_made_once(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    (dock.tree / "src").mkdir(exist_ok=True)
    commands = ("echo one > /opt/one", "cp /opt/one made.txt; ls > /opt/list")
    first = dock.provide(install=commands)
    removes_image(first.image)
    assert dock.provide(install=commands) == first
    assert (first.own, first.roots) == (True, ("src",))
    assert first.generated is not None
    assert [path.name for path in first.generated.iterdir()] == ["made.txt"]
    done = run(dock.prepared(first), "cat", "/opt/one", "/opt/list")
    assert done.stdout == b"one\nmade.txt\nmain.py\nsrc\n"


def test_another_command_makes_another_environment(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    images = {dock.provide(install=(f"echo {word}",)).image for word in ("a", "b")}
    for image in images:
        removes_image(image)
    assert len(images) == 2


def test_a_command_that_fails_is_told_and_leaves_nothing(dock: Dock) -> None:
    commands = ("echo fine", "echo broken >&2; exit 9", "echo never")
    with pytest.raises(WorkspaceUnavailable) as caught:
        dock.provide(install=commands)
    words = str(caught.value)
    assert "`echo broken >&2; exit 9` failed" in words
    assert "  broken\n" in words
    assert "to repeat it: docker run --rm -it" in words
    assert "never" not in words
    assert dock.containers() == []


def test_a_command_that_does_not_end_is_ended(dock: Dock) -> None:
    with pytest.raises(WorkspaceUnavailable, match="did not end within 1 seconds"):
        dock.provide(spec={"setup_seconds": 1.0}, install=("sleep 1000",))


# -- endpoints -------------------------------------------------------------------


def test_an_endpoint_is_reached_by_the_agent_and_by_nobody_else(dock: Dock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)  # of a program that never comes
        port = server.getsockname()[1]
        workspace = dock.prepared(endpoints=(f"localhost:{port}",))
        code = (
            f"import socket; s = socket.create_connection(('localhost', {port}), 9); "
            "s.sendall(b'hello'); print(s.recv(9))"
        )

        def answer() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.sendall(connection.recv(9).upper())

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        argv = (workspace.environment.python, "-c", code)
        assert run(workspace, *argv).stdout == b"b'HELLO'\n"
        thread.join()
        assert run(workspace, *argv, phase="judge").exit_code == 1


def test_a_program_that_is_not_there_is_not_taken_for_the_forwarder(dock: Dock) -> None:
    workspace = dock.prepared(endpoints=("localhost:9",))
    with pytest.raises(NotStarted) as caught:
        run(workspace, "no-such-program")
    assert caught.value.code == "ENOENT"


def test_an_endpoint_without_a_name_is_refused(dock: Dock) -> None:
    with pytest.raises(WorkspaceUnavailable, match="give it a name"):
        dock.configured(endpoints=("192.0.2.1:443",))


def test_an_endpoint_needs_a_python_in_the_image(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    dockerfile = dock.directory / "Dockerfile"
    dockerfile.write_text(f"FROM {BASE}\nRUN rm /usr/bin/python3\n")
    environment = dock.provide(dockerfile=dockerfile)
    removes_image(environment.image)
    workspace = dock.prepared(environment, endpoints=("localhost:9",))
    with pytest.raises(WorkspaceUnavailable, match="no python3"):
        run(workspace, "true")
    assert run(workspace, "true", phase="judge").exit_code == 0


# -- a network of the engine's -----------------------------------------------------


def interfaces(workspace: DockerWorkspace, phase: str) -> list[str]:
    done = run(workspace, "ls", "/sys/class/net", phase=phase)
    return done.stdout.decode().split()


def test_agents_join_the_network_that_is_named_and_tests_do_not(dock: Dock) -> None:
    workspace = dock.prepared(
        docker=DockerSettings(network="bridge"), endpoints=("api.example.org:443",)
    )
    assert "eth0" in interfaces(workspace, "agent")
    assert interfaces(workspace, "judge") == ["lo"]
    # What stands in for an endpoint would hide it.
    hosts = run(workspace, "cat", "/etc/hosts").stdout
    assert b"api.example.org" not in hosts


def test_a_network_that_is_not_there_is_named(dock: Dock) -> None:
    workspace = dock.prepared(docker=DockerSettings(network="no-such-network"))
    with pytest.raises(WorkspaceUnavailable, match="no-such-network"):
        run(workspace, "true")
    assert run(workspace, "true", phase="judge").exit_code == 0


# -- what is needed beforehand -----------------------------------------------------


def test_it_says_what_has_to_be_made_and_makes_nothing(
    dock: Dock, removes_image: Callable[[str], None]
) -> None:
    def foresee(docker: DockerSettings | None = None, **recipe: Any) -> list[str]:
        workspace = dock.configured(docker=docker or DockerSettings())
        needed = workspace.foresee(Recipe(dock.tree, "acme/demo", **recipe))
        return [f"{one.kind} {one.state}" for one in needed]

    assert foresee(install="none") == ["image here"]
    assert foresee(install="none", image="no.such/image:1") == ["image to be pulled"]
    absent = DockerSettings(image="no.such/image:1")
    assert foresee(absent, install=("true",)) == [
        "image to be pulled",
        "environment to be built",
    ]
    dockerfile = dock.directory / "Dockerfile"
    dockerfile.write_text(f"FROM {BASE}\nRUN echo {dock.directory}\n")
    assert foresee(dockerfile=dockerfile, install="none") == ["image to be built"]
    command = f"echo {dock.directory}"
    assert foresee(install=(command,)) == ["image here", "environment to be built"]
    removes_image(dock.provide(install=(command,)).image)
    assert foresee(install=(command,)) == ["image here", "environment here"]


# -- when the engine, or somebody, takes things away -----------------------------


def test_a_container_that_somebody_removes_is_an_error(dock: Dock) -> None:
    workspace = dock.prepared()

    def remove(container: str) -> None:
        dock.engine.api.remove_container(container, force=True)

    with (
        acting_once_started(dock, remove),
        pytest.raises(WorkspaceUnavailable, match=r"is gone|removes the container"),
    ):
        run(workspace, *UP_AND_WAIT)


def test_an_image_that_somebody_removes_is_an_error(dock: Dock) -> None:
    dockerfile = dock.directory / "Dockerfile"
    dockerfile.write_text(f"FROM {BASE}\nLABEL short=lived\n")
    environment = dock.provide(dockerfile=dockerfile)
    workspace = dock.prepared(environment)
    dock.engine.api.remove_image(environment.image, force=True)
    with pytest.raises(WorkspaceUnavailable, match="no container can be made from"):
        run(workspace, "true")


def test_containers_stay_for_a_look_if_they_are_not_to_be_cleaned_up(
    dock: Dock,
) -> None:
    """Ended, also one whose time was over; the next run removes them."""
    workspace = dock.prepared(docker=DockerSettings(cleanup=False))
    assert run(workspace, "echo", "hello").stdout == b"hello\n"
    assert run(workspace, "sleep", "100", timeout_seconds=0.5).timed_out
    stayed = dock.containers()
    assert len(stayed) == 2
    for container in stayed:
        state = dock.engine.api.inspect_container(container)["State"]
        assert state["Running"] is False
    directory = workspace.spec.directory
    swept = sweep_containers(dock.engine, directory.__eq__, dry_run=False)
    assert len(swept) == 2
    assert dock.containers() == []


def test_containers_of_killed_runs_are_removed_and_no_others(dock: Dock) -> None:
    workspace = dock.prepared()
    place = workspace.spec.directory
    seen: list[list[str]] = []

    def sweep(_: str) -> None:
        seen.append(sweep_containers(dock.engine, lambda path: False, dry_run=False))
        seen.append(sweep_containers(dock.engine, place.__eq__, dry_run=True))
        seen.append(sweep_containers(dock.engine, place.__eq__, dry_run=False))

    with (
        acting_once_started(dock, sweep),
        pytest.raises(WorkspaceUnavailable, match=r"is gone|removes the container"),
    ):
        run(workspace, *UP_AND_WAIT)
    assert seen[0] == []
    assert seen[1] == seen[2]
    assert seen[1][0].endswith("of the run a-run")


# -- podman ----------------------------------------------------------------------


@pytest.fixture
def podman(tmp_path: Path) -> Iterator[str]:
    """A service of Podman's own; its address."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed (apt-get install podman catatonit)")
    if fault := build_base("podman"):
        pytest.skip(fault)
    # A socket's path may not be long.
    address = f"unix:///tmp/codegenie-podman-{os.getpid()}.sock"
    settings = tmp_path / "containers.conf"
    # As root it would raise these to values that a machine in a machine refuses.
    settings.write_text(
        '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
    )
    service = subprocess.Popen(
        ["podman", "system", "service", "--time", "0", address],
        env={**os.environ, "CONTAINERS_CONF": str(settings)},
        stderr=subprocess.DEVNULL,
    )
    try:
        path = address.removeprefix("unix://")
        while service.poll() is None:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(path)
                break
            time.sleep(0.01)
        yield address
    finally:
        service.terminate()
        service.wait()
        Path(address.removeprefix("unix://")).unlink(missing_ok=True)


IN_PODMAN = """\
import json, sys
from pathlib import Path
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Limits
from pytest_codegenie.workspaces import Recipe, WorkspaceSpec, make_base
from pytest_codegenie.workspaces.docker.workspace import DockerWorkspace

place = Path(sys.argv[1])
(place / "tree").mkdir()
(place / "w").mkdir()
workspace = DockerWorkspace()
try:
    workspace.configure(WorkspaceSpec(place / "w", place / "cache"))
    environment = workspace.provide(Recipe(place / "tree", "acme/demo"))
    workspace.prepare(make_base(place / "tree", place / "base.git"), environment)
    def run(script, **limits):
        done = workspace.exec(
            ["/bin/sh", "-c", script],
            phase="agent",
            env=workspace.variables("agent"),
            limits=Limits(**limits),
        )
        return [done.exit_code, done.stdout.decode(), done.timed_out]
    print(json.dumps([
        workspace.isolation,
        run("id -u; echo x > new; setsid sleep 1000 & exit 3"),
        run("sleep 1000", timeout_seconds=1.0),
        workspace.diff(place / "diff").splitlines()[0],
    ]))
except WorkspaceUnavailable as exc:
    print(json.dumps(str(exc)))
"""


def test_podman_does_as_well(podman: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_PODMAN, str(tmp_path)],
        env={**os.environ, "DOCKER_HOST": podman},
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(done.stdout)
    if isinstance(seen, str):
        pytest.skip(f"podman runs no container here: {seen}")
    isolation, first, second, diff = seen
    assert isolation.startswith("Podman ")
    assert first == [3, f"{os.getuid() or 1000}\n", False]
    assert second == [-15, "", True]
    assert diff == "diff --git a/new b/new"


# -- whole cases -----------------------------------------------------------------


def test_a_case_is_solved_and_judged_in_containers(dock: Dock, bench: Bench) -> None:
    bench.case()
    result = bench.run_shell(FIX, workspace="docker")
    assert (result.outcome, result.message) == ("passed", "")


def test_an_agent_does_not_find_the_answer(dock: Dock, bench: Bench) -> None:
    bench.case()
    script = f"find / -name expected -o -name gold.patch | grep -v /proc > found; {FIX}"
    result = bench.run_shell(script, workspace="docker")
    assert result.outcome == "passed"
    assert result.output is not None
    assert "diff --git a/found b/found" in result.output.patch
    assert "+/" not in result.output.patch
