"""Who has which roles."""

from __future__ import annotations

from gatekeep.errors import UnknownRole
from gatekeep.events import Events, MembershipChanged
from gatekeep.roles import RoleBook


class Members:
    """The roles that were given to each member directly."""

    def __init__(self, roles: RoleBook, events: Events) -> None:
        self._roles = roles
        self._events = events
        self._assigned: dict[str, set[str]] = {}

    def assign(self, member: str, role: str) -> None:
        """Give a member a role.

        Raises:
            UnknownRole: There is no such role.
        """
        if role not in self._roles:
            raise UnknownRole(role)
        held = self._assigned.setdefault(member, set())
        if role not in held:
            held.add(role)
            self._events.publish(MembershipChanged(member, role))

    def withdraw(self, member: str, role: str) -> None:
        """Take a role from a member; nothing where they do not have it."""
        held = self._assigned.get(member, set())
        if role in held:
            held.remove(role)
            self._events.publish(MembershipChanged(member, role))

    def roles_of(self, member: str) -> frozenset[str]:
        """The roles that the member was given."""
        return frozenset(self._assigned.get(member, ()))

    def holders(self, role: str) -> frozenset[str]:
        """The members who were given the role."""
        return frozenset(m for m, held in self._assigned.items() if role in held)
