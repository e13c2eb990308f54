from dataclasses import dataclass
from pathlib import Path

import pytest

from quayside import DocsApp, Settings


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """Calls a WSGI application as a server would."""

    def __init__(self, app: DocsApp) -> None:
        self.app = app

    def request(self, path: str, method: str = "GET", **environ: str) -> Answer:
        seen = {}

        def start_response(status, headers):
            seen.update(status=int(status.split()[0]), headers=dict(headers))

        wire_path = path.encode("utf-8").decode("latin-1")
        environ = {"REQUEST_METHOD": method, "PATH_INFO": wire_path, **environ}
        body = b"".join(self.app(environ, start_response))
        return Answer(seen["status"], seen["headers"], body)

    def get(self, path: str, **environ: str) -> Answer:
        return self.request(path, **environ)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A host's folder: a site, its sources, and files nobody published."""
    files = {
        "public/index.html": "<h1>Home</h1>",
        "public/404.html": "<h1>No such page</h1>",
        "public/guide/index.html": "<h1>Guide</h1>",
        "public/guide/first steps.html": "<h1>First steps</h1>",
        "public/static/site.css": "body {}",
        "rst/guide/index.rst": "Guide\n=====\n",
    }
    for name, text in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "docs"


@pytest.fixture
def client(base: Path) -> Client:
    settings = Settings(
        site=base / "public",
        sources=base / "rst",
        max_age_by_suffix={".css": 86400},
    )
    return Client(DocsApp(settings))
