"""May a member do this? Worked out once, then answered from memory."""

from __future__ import annotations

from gatekeep.events import Event, Events, MembershipChanged, RoleChanged
from gatekeep.members import Members
from gatekeep.permissions import checked, covered
from gatekeep.roles import RoleBook


class Decisions:
    """Answers questions and keeps what each member may do at hand."""

    def __init__(self, roles: RoleBook, members: Members, events: Events) -> None:
        self._roles = roles
        self._members = members
        self._effective: dict[str, frozenset[str]] = {}
        events.subscribe(self._forget)

    def allows(self, member: str, permission: str) -> bool:
        """Whether one of the member's roles grants the permission."""
        return covered(checked(permission), self.effective(member))

    def effective(self, member: str) -> frozenset[str]:
        """Every grant that the member has through all roles."""
        known = self._effective.get(member)
        if known is None:
            known = self._effective[member] = self._work_out(member)
        return known

    def _work_out(self, member: str) -> frozenset[str]:
        return frozenset(
            grant
            for held in self._members.roles_of(member)
            for role in self._roles.lineage(held)
            for grant in self._roles.own_grants(role)
        )

    def _forget(self, event: Event) -> None:
        match event:
            case MembershipChanged(member=member):
                self._effective.pop(member, None)
            case RoleChanged(role=role):
                for member in self._members.holders(role):
                    self._effective.pop(member, None)
