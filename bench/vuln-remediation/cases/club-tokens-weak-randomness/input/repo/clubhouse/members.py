"""The accounts of the members."""

import hashlib
import hmac
import os
from dataclasses import dataclass

from clubhouse.errors import ClubError, UnknownMember

MIN_PASSWORD = 10


@dataclass
class _Account:
    salt: bytes
    digest: bytes


class Members:
    """Accounts by mail address, which is not case-sensitive.

    Args:
        hash_rounds: How much work it is to try a password.
    """

    def __init__(self, hash_rounds: int) -> None:
        self._rounds = hash_rounds
        self._accounts: dict[str, _Account] = {}

    def __contains__(self, address: str) -> bool:
        return address.lower() in self._accounts

    def addresses(self) -> list[str]:
        return sorted(self._accounts)

    def add(self, address: str, password: str) -> None:
        """Open an account.

        Raises:
            ClubError: There is one, or the password is too short.
        """
        if address in self:
            raise ClubError(f"{address} has an account already")
        self._accounts[address.lower()] = self._account(password)

    def set_password(self, address: str, password: str) -> None:
        if address not in self:
            raise UnknownMember(f"{address} has no account")
        self._accounts[address.lower()] = self._account(password)

    def check_password(self, address: str, password: str) -> bool:
        """Whether an account exists and this is its password."""
        account = self._accounts.get(address.lower())
        if account is None:
            return False
        digest = self._digest(password, account.salt)
        return hmac.compare_digest(digest, account.digest)

    def _account(self, password: str) -> _Account:
        if len(password) < MIN_PASSWORD:
            raise ClubError(f"a password has at least {MIN_PASSWORD} characters")
        salt = os.urandom(16)
        return _Account(salt, self._digest(password, salt))

    def _digest(self, password: str, salt: bytes) -> bytes:
        return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, self._rounds)
