"""Fetching a file by its URL, as the user's settings for pip say how."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO
from typing import Any
from urllib.parse import SplitResult
from urllib.parse import unquote
from urllib.parse import urlsplit

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.sources.urls import SCHEMES
from pytest_codegenie.workspaces.sources.urls import without_password


#: More than the sources of anything that is judged here.
MAX_BYTES = 4 << 30
_AGENT = "pytest-codegenie"
_BLOCK_BYTES = 1 << 20
#: That a server may say nothing.
_SILENT_SECONDS = 60.0
_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def open_url(url: str, *, accept: str = "*/*") -> IO[bytes]:
    """Begin to read what a URL names; it has ``headers`` and ``url``.

    Raises:
        WorkspaceUnavailable: It cannot be reached, or the server says no. Its
            ``__cause__`` is what urllib says.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise WorkspaceUnavailable(
            f"{without_password(url)!r} is no URL with {', '.join(SCHEMES)}"
        )
    plain = without_password(url).partition("#")[0]
    try:
        request = urllib.request.Request(  # noqa: S310 -- the scheme is one of ours
            plain, headers={"Accept": accept, "User-Agent": _AGENT}
        )
        if parts.username:
            # Not sent along when the server names another place.
            request.add_unredirected_header("Authorization", _credentials(parts))
        opener = _opener(parts.hostname or "")
        response: IO[bytes] = opener.open(request, timeout=_SILENT_SECONDS)
    except (OSError, http.client.HTTPException, ValueError) as exc:
        raise WorkspaceUnavailable(f"{plain}: {_words(exc)}") from exc
    return response


def download(url: str, target: Path, seconds: float) -> str:
    """Write what a URL names to a new file; return its SHA-256 in hex.

    Raises:
        WorkspaceUnavailable: It cannot be fetched, takes too long or is too large.
        OSError: The file cannot be written.
    """
    deadline = time.monotonic() + seconds
    digest = hashlib.sha256()
    size = 0
    shown = without_password(url)
    with open_url(url) as response, target.open("xb") as file:
        while block := _read(response, shown):
            size += len(block)
            if size > MAX_BYTES:
                raise WorkspaceUnavailable(f"{shown}: larger than {MAX_BYTES} bytes")
            if time.monotonic() > deadline:
                raise WorkspaceUnavailable(
                    f"{shown}: not fetched within {seconds:g} seconds (the setting "
                    "'setup_timeout')"
                )
            digest.update(block)
            file.write(block)
        expected = response.headers.get("Content-Length")  # type: ignore[attr-defined]
    if expected is not None and int(expected) != size:
        raise WorkspaceUnavailable(
            f"{shown}: the connection ended after {size} of {expected} bytes"
        )
    return digest.hexdigest()


def _read(response: IO[bytes], shown: str) -> bytes:
    try:
        return response.read(_BLOCK_BYTES)
    except (OSError, http.client.HTTPException) as exc:
        raise WorkspaceUnavailable(f"{shown}: {_words(exc)}") from exc


def _words(exc: Exception) -> str:
    if isinstance(exc, urllib.error.HTTPError):
        return f"the server says {exc.code} {exc.reason}"
    reason = getattr(exc, "reason", exc)
    return f"cannot be fetched: {reason or type(exc).__name__}"


def _credentials(parts: SplitResult) -> str:
    words = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(words.encode()).decode('ascii')}"


def _opener(host: str) -> urllib.request.OpenerDirector:
    """Return what opens URLs of a host: proxies, certificates, nothing else."""
    settings = IndexSettings.of_user().pip
    trusted = {name.partition(":")[0] for name in settings.get("trusted-host", ())}
    named = [os.environ.get(name, "") for name in _CERTIFICATES]
    files = (*settings.get("cert", ()), *filter(None, named))
    context = _context(files[0] if files else "", trusted=host in trusted)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


@functools.cache
def _context(certificates: str, *, trusted: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if certificates:
        options: dict[str, Any] = {"cafile": certificates}
        if Path(certificates).is_dir():
            options = {"capath": certificates}
        context.load_verify_locations(**options)
    if trusted:
        # The user says so; and whatever comes has to have the hash that is asked for.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
