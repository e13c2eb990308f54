"""What an installed agent finds in its home, and what it leaves there."""

from __future__ import annotations

import fnmatch
import os
import shutil
import stat
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.trees import walk


#: Of one file; a longer one is cut off there.
_MAX_FILE_BYTES = 64 << 20
#: Of all files together.
_MAX_BYTES = 128 << 20


def fill_home(home: Path, files: Mapping[str, str | Path]) -> None:
    """Put files into a home that nothing has run in yet.

    Raises:
        AgentUnavailable: One cannot be copied.
    """
    for name, content in files.items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.write_text(content, encoding="utf-8")
            continue
        try:
            shutil.copyfile(content, target)
        except OSError as exc:
            raise AgentUnavailable(
                f"{content} cannot be copied to the agent's home: {exc.strerror}"
            ) from exc
        target.chmod(0o600)


def read_records(home: Path, patterns: Sequence[str]) -> dict[str, bytes]:
    """Return the files of a home that an agent keeps records in.

    Args:
        home: Untrusted: no link is followed, and only regular files are read.
        patterns: Globs below it; ``*`` stands for ``/`` too.

    Returns:
        Path below the home to content, sorted.
    """
    records: dict[str, bytes] = {}
    left = _MAX_BYTES
    if not patterns:
        return records
    names = sorted(
        path
        for path, entry in walk(home)
        if path.isprintable()
        and entry.is_file(follow_symlinks=False)
        and any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)
    )
    for name in names:
        content = _read_regular(home / name, min(left, _MAX_FILE_BYTES))
        if content is not None:
            records[name] = content
            left -= len(content)
    return records


def _read_regular(path: Path, max_bytes: int) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return file.read(max_bytes)
