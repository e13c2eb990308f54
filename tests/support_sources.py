"""Archives, repositories and servers that tests of sources make for themselves."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from collections.abc import Mapping
from http.server import SimpleHTTPRequestHandler
from pathlib import Path


FILES = {"setup.py": b"import setuptools\n", "pkg/__init__.py": b"", "PKG-INFO": b"x\n"}


def make_tar(path: Path, files: Mapping[str, bytes], mode: str = "w:gz") -> str:
    """Write a tar file; return its SHA-256."""
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_sdist(path: Path) -> str:
    """Write an sdist, by the name that it has; return its SHA-256."""
    top = path.name.removesuffix(".tar.gz")
    return make_tar(path, {f"{top}/{name}": data for name, data in FILES.items()})


def contents(tree: Path) -> dict[str, bytes]:
    """Return the files of a tree."""
    return {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file()
    }


class Origin:
    """A git repository of two commits, ``old`` and ``new``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=trunk")
        self.old = self.commit("one\r\n")
        self.new = self.commit("two\r\n")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, text: str) -> str:
        (self.path / "file.txt").write_bytes(text.encode())
        (self.path / ".gitattributes").write_text("* text=auto eol=lf\n", "utf-8")
        self.git("add", "--all")
        self.git("-c", "core.autocrlf=false", "commit", "--quiet", "-m", text)
        return self.git("rev-parse", "HEAD")


class Handler(SimpleHTTPRequestHandler):
    """Serves a directory; notes what was asked for, and with which headers."""

    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization", "")))
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.end_headers()
            return
        super().do_GET()

    def guess_type(self, path: object) -> str:
        if "json-one" in str(path):
            return "application/vnd.pypi.simple.v1+json"
        return super().guess_type(str(path))

    def log_message(self, *_: object) -> None:
        pass


class Served:
    """A directory that an HTTP server of this machine serves."""

    def __init__(self, directory: Path, url: str, seen: list[tuple[str, str]]) -> None:
        self.directory = directory
        self.url = url
        #: (path, header ``Authorization``) of each request.
        self.seen = seen
