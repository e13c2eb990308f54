"""Environments of containers: what a case's commands install, kept as an image."""

from __future__ import annotations

import json
import shlex
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from pathlib import PurePosixPath
from typing import Literal

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.processes import Limits
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.docker.containers import Box
from pytest_codegenie.workspaces.docker.containers import Container
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import engine_errors
from pytest_codegenie.workspaces.docker.images import Image
from pytest_codegenie.workspaces.docker.images import find_image
from pytest_codegenie.workspaces.docker.images import foresee_image
from pytest_codegenie.workspaces.docker.images import is_there
from pytest_codegenie.workspaces.docker.images import lock_path
from pytest_codegenie.workspaces.docker.images import look_up
from pytest_codegenie.workspaces.docker.labels import labels
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.environments.plan import Plan
from pytest_codegenie.workspaces.environments.plan import Step
from pytest_codegenie.workspaces.environments.plan import make_plan
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.layout import CONTROL
from pytest_codegenie.workspaces.layout import TREE
from pytest_codegenie.workspaces.locks import exclusive
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


#: Counts changes of how an environment is made, as all of them are out of date then.
_FORMAT = 1
_LINES_SHOWN = 20
#: What building leaves at the tree's top and nothing is imported from.
_BY_PRODUCTS = ("build", "dist", ".eggs", ".pytest_cache")
#: Runs each argument as a command; ends with the number of the first that fails.
_RUN_ALL = """\
number=0
for command; do
    number=$((number + 1))
    printf '$ %s\\n' "$command"
    /bin/sh -c "$command" || exit $number
done
"""
_NO_INPUT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "HOME": "/root",
    # The image is the case's: its Python is nobody else's system.
    "PIP_BREAK_SYSTEM_PACKAGES": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}


def provide(engine: Engine, recipe: Recipe, spec: WorkspaceSpec) -> Environment:
    """Return what a recipe's code runs with; an image is built once for all.

    Raises:
        WorkspaceUnavailable: There is no image for it, or a command fails.
    """
    image = find_image(engine, recipe, spec)
    if recipe.install == "none" and not recipe.packages:
        return Environment(
            # Without one, starting it says that it is not there.
            image.python or "python3",
            own=not image.is_ours,
            variables=image.variables,
            image=image.id,
        )
    return _Build(engine, image, recipe, spec).provide()


def foresee(engine: Engine, recipe: Recipe, spec: WorkspaceSpec) -> tuple[Needed, ...]:
    """Return the image and the environment of a recipe, and whether they are there.

    Raises:
        WorkspaceUnavailable: The engine does not answer, or a file cannot be read.
    """
    image = foresee_image(engine, recipe, spec)
    if recipe.install == "none" and not recipe.packages:
        return (image,)
    if image.state != "here":
        return (image, Needed("environment", f"on {image.name}", "to be built"))
    found = find_image(engine, recipe, spec)
    tag = _Build(engine, found, recipe, spec).tag
    state: Literal["here", "to be built"] = (
        "here" if is_there(engine, tag) else "to be built"
    )
    return (image, Needed("environment", tag, state))


class _Build:
    """One environment that commands make."""

    def __init__(
        self, engine: Engine, image: Image, recipe: Recipe, spec: WorkspaceSpec
    ) -> None:
        self._engine = engine
        self._image = image
        self._tree = recipe.tree
        self._spec = spec
        self._plan = make_plan(recipe)
        self._settings = IndexSettings.of_user()
        self._commands = list(_shell_lines(self._plan))
        words = {
            "format": _FORMAT,
            "image": image.id,
            "commands": self._commands,
            "plan": self._plan.fingerprint(),
            "index": self._settings.fingerprint(),
        }
        digest = hash_bytes(json.dumps(words, sort_keys=True).encode())
        self._digest = digest.partition(":")[2]
        self.tag = f"codegenie-environment:{self._digest}"
        self._place = spec.cache / "docker" / self._digest

    def provide(self) -> Environment:
        """Return the environment; build it if nobody has."""
        made_of = self._place / "image"
        with exclusive(lock_path(self._spec, self.tag)):
            image = look_up(self._engine, self.tag, self._spec)
            known = made_of.read_text("ascii") if made_of.exists() else ""
            if image is None or image.id != known:
                remove_tree(self._place)
                self._place.mkdir(parents=True)
                self._build()
                image = look_up(self._engine, self.tag, self._spec)
                if image is None:
                    raise WorkspaceUnavailable(f"{self.tag} was built and is gone")
                made_of.write_text(image.id, encoding="ascii")
        generated = self._place / "generated"
        return Environment(
            image.python or "python3",
            own=True,
            roots=("src",) if (self._tree / "src").is_dir() else ("",),
            generated=generated if generated.is_dir() else None,
            variables={**self._image.variables, **self._plan.variables},
            image=image.id,
        )

    def _build(self) -> None:
        """Run the commands in a copy of the tree, and keep what they have made."""
        with tempfile.TemporaryDirectory(dir=self._spec.directory) as directory:
            control = Path(directory)
            control.chmod(0o755)
            with self._container(control) as container:
                self._copy_tree_to(container)
                self._run(container)
                self._keep_generated(container)
                self._commit(container)

    def _container(self, control: Path) -> Container:
        """Make a container that reaches the network, and whose files may change."""
        constraints = "".join(f"{line}\n" for line in self._plan.constraints)
        (control / "constraints.txt").write_text(constraints, encoding="utf-8")
        box = Box(
            image=self._image.id,
            user="0:0",
            working_directory=TREE,
            labels=labels("setup", self._spec),
            mounts=((control, CONTROL, True),),
            options={
                "mem_limit": self._spec.docker.memory or self._spec.limits.memory,
                "pids_limit": self._spec.limits.processes,
                "security_opt": ["no-new-privileges"],
            },
            ulimits={"core": 0, "nofile": self._spec.limits.open_files},
        )
        env = {
            **self._image.variables,
            **_NO_INPUT,
            **_index_variables(self._settings, control),
            **self._plan.build_variables,
        }
        argv = ["/bin/sh", "-c", _RUN_ALL, "sh", *self._commands]
        return Container(self._engine, box, argv, env=env)

    def _copy_tree_to(self, container: Container) -> None:
        with tempfile.TemporaryFile(dir=self._spec.directory) as archive:
            with tarfile.open(fileobj=archive, mode="w") as tar:
                tar.add(self._tree, TREE.name, filter=_as_roots)
            archive.seek(0)
            with engine_errors("the tree cannot be copied to a container"):
                self._engine.api.put_archive(container.id, "/", archive)

    def _run(self, container: Container) -> None:
        log_path = self._place / "build.log"
        limits = Limits(timeout_seconds=self._spec.setup_seconds)
        completed = container.run(limits, log_path)
        if not completed.exit_code and not completed.timed_out:
            return
        number = completed.exit_code
        command = self._commands[number - 1] if number > 0 else self._commands[-1]
        if completed.timed_out:
            words = f"did not end within {self._spec.setup_seconds:g} seconds"
        else:
            words = completed.exceeded or "failed"
        output = log_path.read_text("utf-8", "replace").splitlines()[-_LINES_SHOWN:]
        repeat = [
            *("docker", "run", "--rm", "-it", "-v", f"{self._tree}:{TREE}:ro"),
            *("-w", str(TREE), self._image.name, "/bin/sh", "-c", command),
        ]
        raise WorkspaceUnavailable(
            "\n".join(
                [
                    f"the environment cannot be built: `{command}` {words}",
                    *(f"  {line}" for line in output),
                    f"all of its output: {log_path}",
                    f"to repeat it: {shlex.join(repeat)}",
                ]
            )
        )

    def _keep_generated(self, container: Container) -> None:
        """Keep the files that are in the tree now and were not."""
        place = self._place / "generated"
        with (
            tempfile.TemporaryFile(dir=self._spec.directory) as archive,
            engine_errors("the tree cannot be copied from a container"),
        ):
            parts, _ = self._engine.api.get_archive(container.id, str(TREE))
            archive.writelines(parts)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as tar:
                for member, path in _new_files(tar, self._tree):
                    _unpack(tar, member, place / path)

    def _commit(self, container: Container) -> None:
        made = labels("environment", self._spec)
        changes = [
            *(f"LABEL {name}={json.dumps(value)}" for name, value in made.items()),
            *("ENTRYPOINT []", 'CMD ["/bin/sh"]', f"WORKDIR {TREE}"),
        ]
        with engine_errors("the environment cannot be kept as an image"):
            self._engine.api.commit(
                container.id,
                repository="codegenie-environment",
                tag=self._digest,
                changes=changes,
            )


def _shell_lines(plan: Plan) -> Iterator[str]:
    """Yield the steps of a plan as the image's own tools do them."""
    for step in plan.steps:
        yield step.shell or _pip(step, constrained=bool(plan.constraints))
    if any(step.install for step in plan.steps):
        yield "python3 -c 'import pytest' 2>/dev/null || python3 -m pip install pytest"


def _pip(step: Step, *, constrained: bool) -> str:
    words = ["python3", "-m", "pip", "install"]
    if constrained:
        words += ["--constraint", str(CONTROL / "constraints.txt")]
    for word in step.install:
        # The tree has the same place later on, and the project is imported from it.
        words += ["--editable", word] if word.startswith(".") else [word]
    return shlex.join(words)


def _index_variables(settings: IndexSettings, control: Path) -> dict[str, str]:
    """Return the user's own settings for pip, uv and the network.

    A file that one names, such as certificates, is copied to where it is seen inside.
    """
    pip = {
        f"PIP_{name.upper().replace('-', '_')}": " ".join(values)
        for name, values in settings.pip.items()
    }
    variables = {**pip, **settings.variables}
    for name, value in variables.items():
        path = Path(value)
        if path.is_absolute() and path.is_file():
            shutil.copyfile(path, control / name)
            variables[name] = str(CONTROL / name)
    return variables


def _as_roots(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def _new_files(
    tar: tarfile.TarFile, tree: Path
) -> Iterator[tuple[tarfile.TarInfo, PurePosixPath]]:
    """Yield the files below ``testbed/`` that the tree has not, with their paths."""
    for member in tar:
        path = PurePosixPath(member.name).relative_to(TREE.name)
        if member.isdir() or (tree / path).exists() or (tree / path).is_symlink():
            continue
        if path.suffix == ".pyc" or path.parts[0] in _BY_PRODUCTS:
            continue
        yield member, path


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write a file or a link; what is neither is left out.

    ``TarFile.extractall`` is safe from Python 3.11.4 on, and Debian 12 has 3.11.2.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        target.symlink_to(member.linkname)
    elif member.isreg() or member.islnk():
        source = tar.extractfile(member)
        if source is not None:
            with source, target.open("xb") as file:
                shutil.copyfileobj(source, file)
            target.chmod(member.mode & 0o777 | 0o600)
