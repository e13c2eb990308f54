"""Accounts and their passwords."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping

_ITERATIONS = 1_000
_UNKNOWN = "00" * 16 + "$" + "00" * 32


def hash_password(password: str, *, salt: bytes | None = None) -> str:
    """Return ``<salt>$<hash>`` in hex, as it is kept in the accounts file."""
    salt = secrets.token_bytes(16) if salt is None else salt
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    return f"{salt.hex()}${digest.hex()}"


class Accounts:
    """The accounts, by user name."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)

    def check(self, user: str, password: str) -> bool:
        """Tell whether there is such a user and this is the password."""
        expected = self._hashes.get(user, _UNKNOWN)
        salt, _, _ = expected.partition("$")
        given = hash_password(password, salt=bytes.fromhex(salt))
        return hmac.compare_digest(given, expected) and user in self._hashes
