"""Keeping secrets out of whatever is written: logs, records, reports, trajectories.

A secret is the value of a variable whose name looks like one, or that the run file
lists under ``secrets``. Its usual spellings count too: in JSON, in a URL, in base64.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import urllib.parse
from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import TypeVar

from pytest_codegenie.models import Record
from pytest_codegenie.trees import walk


MARK = "[redacted]"
#: Shorter values are words and numbers that stand everywhere.
MIN_LENGTH = 8
_SECRET_NAME = re.compile(
    r"(KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE)(_|$)"
    r"|(^|_)(AUTH|PAT|PWD|DSN)(_|$)"
)
#: In a file of JSON, TOML or the like.
_LONG_WORD = re.compile(r"[\w./+=~:-]{20,}")
#: No secrets, though their names look like it.
_HARMLESS_NAMES = frozenset({"PWD", "OLDPWD", "GPG_KEY"})

_Some = TypeVar("_Some", bound=Record)


def find_secrets(
    *environments: Mapping[str, str], named: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the secrets among variables, sorted.

    Args:
        environments: Name to value.
        named: Variables that are secret whatever they are called.
    """
    named = frozenset(named)
    return tuple(
        sorted(
            {
                value
                for environment in environments
                for name, value in environment.items()
                if len(value) >= MIN_LENGTH
                and (name in named or _is_secret(name, value))
            }
        )
    )


def _is_secret(name: str, value: str) -> bool:
    if name in _HARMLESS_NAMES or not _SECRET_NAME.search(name.upper()):
        return False
    if value.isdigit() and len(value) < 2 * MIN_LENGTH:
        return False  # MAX_OUTPUT_TOKENS
    return not (value.startswith(("/", "~")) and Path(value).expanduser().exists())


def secrets_in_file(path: Path) -> tuple[str, ...]:
    """Return what may be tokens in a file that a login is kept in, sorted.

    Any long word of it but URLs; a file that cannot be read has none.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    found = {word for word in _LONG_WORD.findall(text) if "://" not in word}
    return tuple(sorted(found))


class Redactor:
    """Puts a mark where a secret stands."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        #: Longest first: one may be a part of another.
        self.spellings: tuple[str, ...] = tuple(
            sorted(spellings, key=lambda one: (-len(one), one))
        )
        self._bytes = tuple(spelling.encode() for spelling in self.spellings)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        for spelling in self.spellings:
            if spelling in text:
                text = text.replace(spelling, MARK)
        return text

    def data(self, data: bytes) -> bytes:
        """Return bytes without secrets."""
        for spelling in self._bytes:
            if spelling in data:
                data = data.replace(spelling, MARK.encode())
        return data

    def value(self, value: Any) -> Any:
        """Return JSON-like values without secrets, in keys neither."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                self.text(str(key)): self.value(item) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def record(self, record: _Some) -> _Some:
        """Return a record without secrets; the same where there are none."""
        if not self.spellings:
            return record
        text = record.to_json()
        if not any(spelling in text for spelling in self.spellings):
            return record
        return type(record).model_validate(self.value(record.model_dump(mode="json")))

    def tree(self, directory: Path) -> None:
        """Take secrets out of the files below a directory; links are not followed.

        A file that cannot be read is removed: what is in it cannot be told.
        """
        if not self._bytes:
            return
        for path, entry in walk(directory):
            if not entry.is_file(follow_symlinks=False):
                continue
            file = directory / path
            try:
                data = file.read_bytes()
                clean = self.data(data)
                if clean != data:
                    file.write_bytes(clean)
            except OSError:
                with contextlib.suppress(OSError):
                    file.unlink()


def _spellings(secret: str) -> Iterable[str]:
    encoded = secret.encode(errors="surrogateescape")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield urllib.parse.quote(encoded, safe="")
    yield base64.b64encode(encoded).decode().rstrip("=")
