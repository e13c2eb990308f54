"""The secrets shared with a carrier, and which of them are in use when."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from parcelhook.signatures import SignatureHeader, sign


@dataclass(frozen=True)
class Key:
    """One shared secret and its period, ``not_before`` <= time < ``not_after``."""

    key_id: str
    secret: bytes = field(repr=False)
    not_before: int = 0
    not_after: int | None = None

    def in_use_at(self, time: int) -> bool:
        if time < self.not_before:
            return False
        return self.not_after is None or time < self.not_after


class KeyRing:
    """All keys of a carrier. Periods overlap while a secret is being rotated."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = tuple(keys)
        names = [key.key_id for key in self._keys]
        if len(set(names)) != len(names):
            raise ValueError(f"key ids are not unique: {sorted(names)}")
        for key in self._keys:
            if not key.secret:
                raise ValueError(f"key {key.key_id!r} has an empty secret")

    def in_use_at(self, time: int) -> tuple[Key, ...]:
        return tuple(key for key in self._keys if key.in_use_at(time))

    def signer_of(self, header: SignatureHeader, body: bytes, now: int) -> Key | None:
        """Return the key in use at ``now`` that signed the body, or None."""
        for key in self.in_use_at(now):
            if sign(key.secret, header.timestamp, body) in header.signatures:
                return key
        return None
