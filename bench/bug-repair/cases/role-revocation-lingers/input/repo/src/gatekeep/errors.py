"""The errors of gatekeep."""

from __future__ import annotations


class GatekeepError(Exception):
    """The base of the errors below."""


class UnknownRole(GatekeepError):
    """A role is used that was never defined."""

    def __init__(self, role: str) -> None:
        super().__init__(f"no role {role!r} is defined")
        self.role = role


class CircularRole(GatekeepError):
    """A role would be based on itself."""

    def __init__(self, role: str, base: str) -> None:
        super().__init__(f"{role!r} cannot be based on {base!r}, which builds on it")
        self.role = role
        self.base = base
