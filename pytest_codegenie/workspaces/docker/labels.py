"""Labels: how we know what is ours, and what a killed run has left behind."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_codegenie.workspaces.docker.containers import remove_container
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import engine_errors
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


_PREFIX = "pytest-codegenie."
#: ``program``, ``setup``, ``image``, ``environment``.
KIND = f"{_PREFIX}kind"
_RUN = f"{_PREFIX}run"
#: The workspace's directory; who has locked the run's tells whether it lives.
_DIRECTORY = f"{_PREFIX}directory"
#: An engine may serve several machines, and containers that are machines to us.
_HOST = f"{_PREFIX}host"
_USER = f"{_PREFIX}user"

IMAGES = ("codegenie-base", "codegenie-image")
ENVIRONMENTS = ("codegenie-environment",)


def labels(kind: str, spec: WorkspaceSpec) -> dict[str, str]:
    """Return the labels of what is made for a workspace."""
    return {
        KIND: kind,
        _RUN: spec.run_id,
        _DIRECTORY: str(spec.directory),
        _HOST: socket.gethostname(),
        _USER: str(os.getuid()),
    }


def sweep_containers(
    engine: Engine, abandoned: Callable[[Path], bool], *, dry_run: bool
) -> list[str]:
    """Remove this user's containers whose runs were killed; return what they are.

    Args:
        engine: Where.
        abandoned: Says of a workspace's directory whether nobody uses it any more.
        dry_run: Remove nothing.

    Raises:
        WorkspaceUnavailable: The engine does not do it.
    """
    own = [f"{_HOST}={socket.gethostname()}", f"{_USER}={os.getuid()}"]
    with engine_errors("containers cannot be listed"):
        found = engine.api.containers(all=True, filters={"label": own})
    removed = []
    for container in found:
        told: dict[str, str] = container.get("Labels") or {}
        if not abandoned(Path(told.get(_DIRECTORY, "/"))):
            continue
        if not dry_run:
            remove_container(engine, container["Id"])
        run = told.get(_RUN) or "without an id"
        removed.append(f"container {container['Id'][:12]} of the run {run}")
    return removed


def remove_images(
    engine: Engine, repositories: tuple[str, ...], *, dry_run: bool
) -> list[str]:
    """Remove the images of our own making; return their names.

    Raises:
        WorkspaceUnavailable: The engine does not do it, as when one is in use.
    """
    with engine_errors("images cannot be listed"):
        found: list[dict[str, Any]] = engine.api.images(filters={"label": [KIND]})
    names = sorted(
        name
        for image in found
        for name in image.get("RepoTags") or ()
        if _repository(name) in repositories
    )
    for name in () if dry_run else names:
        with engine_errors(f"the image {name} cannot be removed"):
            engine.api.remove_image(name)
    return [f"image {name}" for name in names]


def _repository(name: str) -> str:
    """Return a tag's repository; Podman puts ``localhost/`` before it."""
    return name.rpartition(":")[0].removeprefix("localhost/")
