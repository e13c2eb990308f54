"""Validators and lifetimes for HTTP caches."""

import os


def etag(status: os.stat_result) -> str:
    """A strong validator made of a file's size and time of modification."""
    return f'"{status.st_mtime_ns:x}-{status.st_size:x}"'


def is_fresh(current: str, if_none_match: str | None) -> bool:
    """Whether the copy that a client has is still the current one.

    Args:
        current: The validator of the file as it is now.
        if_none_match: The header of the request: a list of validators, ``*``,
            or None where the client sent none.
    """
    if if_none_match is None:
        return False
    known = [entry.strip() for entry in if_none_match.split(",")]
    return "*" in known or current in (e.removeprefix("W/") for e in known)


def cache_control(max_age: int) -> str:
    return f"public, max-age={max_age}" if max_age > 0 else "no-cache"
