"""Owners: accounts and addresses."""

import re

_ACCOUNT = re.compile(r"@(?:[a-z0-9]+-?)+(?:/(?:[a-z0-9]+-?)+)?")
_ADDRESS = re.compile(r"[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.IGNORECASE)


def is_owner(text: str) -> bool:
    """Tell whether a text has the form of an account or of an address."""
    return bool(_ACCOUNT.fullmatch(text) or _ADDRESS.fullmatch(text))
