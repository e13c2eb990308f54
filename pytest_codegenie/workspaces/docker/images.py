"""The image that a case's containers are made from: found, pulled or built, once."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces.docker.containers import Box
from pytest_codegenie.workspaces.docker.containers import Container
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import engine_errors
from pytest_codegenie.workspaces.docker.engine import within
from pytest_codegenie.workspaces.docker.labels import KIND
from pytest_codegenie.workspaces.docker.labels import labels
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.locks import exclusive
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


_BASE_DOCKERFILE = Path(__file__).with_name("base.Dockerfile")
#: Counts what was changed in our base; ``docker/base/build`` has it too.
_BASE_VERSION = 1
#: Of the base where a case does not say; the same on every machine, and Debian 12's.
_BASE_PYTHON = "3.11"
#: What of a Dockerfile reads the directory that it is in.
_READS_CONTEXT = re.compile(r"(?im)^\s*(?:ONBUILD\s+)?(?:ADD|COPY)\s|--mount=")
_LINES_SHOWN = 20
#: Where an image sets none; Docker's own.
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ASK_PYTHON = (
    "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2], sep='\\n')"
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is there."""

    #: Its content's digest: a tag may be given to another image while we run.
    id: str
    #: For messages.
    name: str
    #: The environment variables that it sets.
    variables: Mapping[str, str]
    #: The interpreter's path, "" where it has none.
    python: str
    #: ``major.minor``.
    python_version: str
    #: It is the base, so nothing in it is meant for a case.
    is_ours: bool


def find_image(engine: Engine, recipe: Recipe, spec: WorkspaceSpec) -> Image:
    """Return the image that a recipe starts from; pull or build it if need be.

    What comes first, counts: the image that the case names, its ``Dockerfile``, the
    run's image, our own base.

    Raises:
        WorkspaceUnavailable: There is no such image, or it cannot be built, or it has
            another Python than the case asks for.
    """
    if recipe.image:
        image = _present(engine, recipe.image, spec)
    elif recipe.dockerfile is not None:
        image = _built_by_case(engine, recipe.dockerfile, spec)
    elif spec.docker.image:
        image = _present(engine, spec.docker.image, spec)
    else:
        image = _base(engine, recipe.python or _BASE_PYTHON, spec)
    if recipe.python and image.python_version != recipe.python:
        has = f"Python {image.python_version}" if image.python else "no python3"
        raise WorkspaceUnavailable(
            f"the case asks for Python {recipe.python}, and the image {image.name!r} "
            f"has {has}; name an image that has it (environment.image in task.toml)"
        )
    return image


def foresee_image(engine: Engine, recipe: Recipe, spec: WorkspaceSpec) -> Needed:
    """Return the image that a recipe starts from, and whether it is there.

    Raises:
        WorkspaceUnavailable: The engine does not answer, or a file cannot be read.
    """
    given = recipe.image or ("" if recipe.dockerfile else spec.docker.image)
    if given:
        there = is_there(engine, given)
        return Needed("image", given, "here" if there else "to be pulled")
    if recipe.dockerfile is not None:
        tag = _tag_of(recipe.dockerfile)[0]
    else:
        tag = _base_tag(recipe.python or _BASE_PYTHON)
    return Needed("image", tag, "here" if is_there(engine, tag) else "to be built")


def is_there(engine: Engine, name: str) -> bool:
    """Say whether the engine has an image of that name.

    Raises:
        WorkspaceUnavailable: It does not answer.
    """
    from docker.errors import ImageNotFound

    with engine_errors(f"the image {name!r} cannot be looked up"):
        try:
            engine.client.images.get(name)
        except ImageNotFound:
            return False
    return True


def _base_tag(python: str) -> str:
    return f"codegenie-base:{_BASE_VERSION}-python{python}"


def _present(engine: Engine, name: str, spec: WorkspaceSpec) -> Image:
    """Return an image that somebody else has made."""
    found = look_up(engine, name, spec)
    if found is not None:
        return found
    with engine_errors(
        f"there is no image {name!r} here, and it cannot be pulled; build or load it "
        "(docker build -t, docker load -i), or correct its name"
    ):
        repository, tag = _split(name)
        within(
            spec.setup_seconds,
            lambda: engine.client.images.pull(repository, tag=tag),
        )
    pulled = look_up(engine, name, spec)
    if pulled is None:
        raise WorkspaceUnavailable(f"the image {name!r} was pulled and is not there")
    return pulled


def _split(name: str) -> tuple[str, str | None]:
    """Return an image's repository and tag; a digest belongs to the repository."""
    repository, colon, tag = name.rpartition(":")
    if "@" in name:
        return name, None
    return (repository, tag) if colon and "/" not in tag else (name, "latest")


def _built_by_case(engine: Engine, dockerfile: Path, spec: WorkspaceSpec) -> Image:
    """Return what a case's Dockerfile makes; cases with an equal one share it."""
    tag, context = _tag_of(dockerfile)
    with tempfile.TemporaryDirectory(dir=spec.directory) as directory:
        if context is None:
            context = Path(directory)
            shutil.copyfile(dockerfile, context / "Dockerfile")
        return _built_as(engine, "image", tag, context, dockerfile, spec)


def _tag_of(dockerfile: Path) -> tuple[str, Path | None]:
    """Return the tag of what a Dockerfile makes, and the directory that it reads."""
    text = dockerfile.read_bytes()
    context = None
    digest = hash_bytes(text)
    if _READS_CONTEXT.search(text.decode(errors="replace")):
        context = dockerfile.parent
        digest = _digest(context)
    return f"codegenie-image:{digest.partition(':')[2]}", context


def _digest(context: Path) -> str:
    try:
        return hash_tree(context, exclude="").digest
    except (UnhashableEntryError, OSError) as exc:
        raise WorkspaceUnavailable(
            f"{relative(context)}: what its Dockerfile may copy cannot be read: {exc}"
        ) from exc


def _base(engine: Engine, python: str, spec: WorkspaceSpec) -> Image:
    """Return our own image: Python, git, pytest."""
    tag = _base_tag(python)
    source = _BASE_DOCKERFILE
    with tempfile.TemporaryDirectory(dir=spec.directory) as directory:
        shutil.copyfile(source, Path(directory, "Dockerfile"))
        try:
            return _built_as(
                engine, "base", tag, Path(directory), source, spec, PYTHON=python
            )
        except _BuildFailed as exc:
            raise WorkspaceUnavailable(
                f"{exc}\nWhere nothing can be pulled, docker/base/build of our "
                f"repository makes codegenie-base:{_BASE_VERSION}-python{_BASE_PYTHON} "
                "from Debian's packages, and docker load reads what docker save wrote "
                "elsewhere; or name an image of your own (the setting 'docker.image')"
            ) from exc


def _built_as(
    engine: Engine,
    kind: str,
    tag: str,
    context: Path,
    source: Path,
    spec: WorkspaceSpec,
    **arguments: str,
) -> Image:
    """Return an image of our own making; build it if nobody has.

    Args:
        engine: Where.
        kind: For its label.
        tag: Its name.
        context: The directory with its ``Dockerfile``.
        source: The same file where people find it.
        spec: Of the workspace that asks for it.
        **arguments: Of the build.

    Raises:
        _BuildFailed: The build fails.
        WorkspaceUnavailable: The engine is gone, or the image breaks.
    """
    with exclusive(lock_path(spec, tag)):
        found = look_up(engine, tag, spec)
        if found is not None:
            return found
        lines: list[str] = []
        failed = f"{relative(source)} cannot be built"
        with engine_errors(failed, _BuildFailed):
            parts = engine.api.build(
                path=str(context),
                tag=tag,
                labels={KIND: kind},
                buildargs=arguments,
                rm=True,
                forcerm=True,
                decode=True,
                timeout=int(spec.setup_seconds),
            )
            fault = _follow(parts, lines)
        if fault:
            shown = "\n".join(f"  {line}" for line in lines[-_LINES_SHOWN:])
            given = "".join(f"--build-arg {k}={v} " for k, v in arguments.items())
            repeat = f"docker build {given}- < {relative(source)}"
            if context == source.parent:
                repeat = f"docker build {relative(context)}"
            raise _BuildFailed(f"{failed}: {fault}\n{shown}\nto repeat it: {repeat}")
        built = look_up(engine, tag, spec)
        if built is None:
            raise WorkspaceUnavailable(f"{tag} was built and is not there")
        return built


class _BuildFailed(WorkspaceUnavailable):
    """An image cannot be built, or what it starts from cannot be pulled."""


def _follow(parts: Iterator[Any], lines: list[str]) -> str:
    """Take the output of a build until it ends; return what went wrong, or ""."""
    fault = ""
    for part in parts:
        lines += filter(None, part.get("stream", "").splitlines())
        fault = fault or str(part.get("error", "")).strip()
    return fault


def lock_path(spec: WorkspaceSpec, tag: str) -> Path:
    """Return the file whose lock is held while an image of that tag is made."""
    return spec.cache / "docker" / f"{tag.replace(':', '-')}.lock"


def look_up(engine: Engine, name: str, spec: WorkspaceSpec) -> Image | None:
    """Return an image of the engine's own store; None: it has none of that name."""
    from docker.errors import ImageNotFound

    with engine_errors(f"the image {name!r} cannot be looked up"):
        try:
            found = engine.client.images.get(name).attrs
        except ImageNotFound:
            return None
    variables = dict(
        line.partition("=")[::2] for line in found["Config"].get("Env") or ()
    )
    kind = (found["Config"].get("Labels") or {}).get(KIND, "")
    record = spec.cache / "docker" / f"{found['Id'].partition(':')[2]}.python"
    if record.exists():
        words = record.read_text("utf-8")
    else:
        path = variables.get("PATH", _DEFAULT_PATH)
        words = _ask_python(engine, found["Id"], path, spec)
        record.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record, words)
    python, _, version = words.partition("\n")
    return Image(found["Id"], name, variables, python, version, kind == "base")


def _ask_python(engine: Engine, image: str, path: str, spec: WorkspaceSpec) -> str:
    """Return the path and the version of an image's Python; "" where it has none."""
    box = Box(
        image=image,
        user="65534:65534",
        working_directory=PurePosixPath("/"),
        labels=labels("probe", spec),
        options={"network_mode": "none"},
    )
    argv = ["python3", "-I", "-c", _ASK_PYTHON]
    with Container(engine, box, argv, env={"PATH": path}) as container:
        try:
            completed = container.run(Limits(timeout_seconds=60.0))
        except NotStarted:
            return ""
    if completed.exit_code:
        words = completed.stderr.decode(errors="replace").strip()
        raise WorkspaceUnavailable(f"python3 of image {image} does not run: {words}")
    return completed.stdout.decode().strip()
