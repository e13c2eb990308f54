"""Permissions, and which grants cover them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PERMISSION = re.compile(r"[a-z][a-z-]*:(?:[a-z][a-z-]*|\*)")


def checked(permission: str) -> str:
    """The permission itself, when it is well formed.

    Raises:
        ValueError: It is not ``thing:verb``.
    """
    if not _PERMISSION.fullmatch(permission):
        raise ValueError(f"{permission!r} is not a permission such as 'page:read'")
    return permission


def covered(permission: str, grants: Iterable[str]) -> bool:
    """Whether one of the grants names the permission or all verbs of its thing."""
    thing, _, _ = permission.partition(":")
    return not {permission, f"{thing}:*"}.isdisjoint(grants)
