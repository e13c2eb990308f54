"""The parts put together."""

from __future__ import annotations

from gatekeep.decisions import Decisions
from gatekeep.events import Events
from gatekeep.members import Members
from gatekeep.roles import RoleBook


class Gatekeeper:
    """Roles, members and the answer to "may they?"."""

    def __init__(self) -> None:
        self.events = Events()
        self.roles = RoleBook(self.events)
        self.members = Members(self.roles, self.events)
        self._decisions = Decisions(self.roles, self.members, self.events)

    def allows(self, member: str, permission: str) -> bool:
        """Whether the member may do what ``permission`` names."""
        return self._decisions.allows(member, permission)

    def permissions(self, member: str) -> list[str]:
        """All grants of the member, sorted, for a page that shows them."""
        return sorted(self._decisions.effective(member))
