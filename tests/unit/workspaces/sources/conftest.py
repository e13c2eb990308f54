"""Fixtures of the tests of where code comes from."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from support_sources import Handler
from support_sources import Origin
from support_sources import Served


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    directory = tmp_path / "served"
    directory.mkdir()
    seen: list[tuple[str, str]] = []
    handler = type("Handler", (Handler,), {"seen": seen})
    made = functools.partial(handler, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), made) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Served(directory, f"http://127.0.0.1:{server.server_port}", seen)
        server.shutdown()
        thread.join()


@pytest.fixture
def use_index(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let pip's settings be these, and no others."""

    def use(**settings: str) -> None:
        for name in list(os.environ):
            if name.startswith(("PIP_", "UV_")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        for name, value in settings.items():
            monkeypatch.setenv(name, value)

    return use
