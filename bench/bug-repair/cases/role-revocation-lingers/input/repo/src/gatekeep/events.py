"""What changed, told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoleChanged:
    """A role grants something else now, or builds on other roles."""

    role: str


@dataclass(frozen=True, slots=True)
class MembershipChanged:
    """A member got a role or lost one."""

    member: str
    role: str


Event = RoleChanged | MembershipChanged
Listener = Callable[[Event], None]


class Events:
    """Calls every listener, in the order of subscription, for each event."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the function returned takes it off again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: Event) -> None:
        """Tell everyone."""
        for listener in tuple(self._listeners):
            listener(event)
