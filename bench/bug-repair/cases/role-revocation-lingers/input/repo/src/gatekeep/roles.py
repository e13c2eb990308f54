"""Roles: what each grants, and on which others it builds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gatekeep.errors import CircularRole, UnknownRole
from gatekeep.events import Events, RoleChanged
from gatekeep.permissions import checked


@dataclass(slots=True)
class _Role:
    based_on: tuple[str, ...] = ()
    grants: set[str] = field(default_factory=set)


class RoleBook:
    """Every role by name. Each change that matters is published."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._roles: dict[str, _Role] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._roles

    def __iter__(self) -> Iterator[str]:
        return iter(self._roles)

    def define(
        self, name: str, *, based_on: Iterable[str] = (), grants: Iterable[str] = ()
    ) -> None:
        """Add a role.

        Raises:
            ValueError: The role exists, or a grant is no permission.
            UnknownRole: It builds on a role that is not defined.
        """
        if name in self._roles:
            raise ValueError(f"role {name!r} is defined already")
        bases = self._known(based_on)
        self._roles[name] = _Role(bases, {checked(grant) for grant in grants})
        self._events.publish(RoleChanged(name))

    def grant(self, name: str, permission: str) -> None:
        """Let the role have the permission itself."""
        grants = self._role(name).grants
        if checked(permission) not in grants:
            grants.add(permission)
            self._events.publish(RoleChanged(name))

    def revoke(self, name: str, permission: str) -> None:
        """Take a permission of the role's own away; nothing where it has none."""
        grants = self._role(name).grants
        if permission in grants:
            grants.remove(permission)
            self._events.publish(RoleChanged(name))

    def rebase(self, name: str, based_on: Iterable[str]) -> None:
        """Let the role build on other roles than before.

        Raises:
            CircularRole: One of them builds on this role.
        """
        role = self._role(name)
        bases = self._known(based_on)
        for base in bases:
            if name in self.lineage(base):
                raise CircularRole(name, base)
        if bases != role.based_on:
            role.based_on = bases
            self._events.publish(RoleChanged(name))

    def bases(self, name: str) -> tuple[str, ...]:
        """The roles that ``name`` builds on directly."""
        return self._role(name).based_on

    def own_grants(self, name: str) -> frozenset[str]:
        """What the role grants itself, without its bases."""
        return frozenset(self._role(name).grants)

    def lineage(self, name: str) -> list[str]:
        """The role and all that it builds on, each once, the nearest first."""
        found = [name]
        for each in found:
            bases = self._role(each).based_on
            found.extend(base for base in bases if base not in found)
        return found

    def _role(self, name: str) -> _Role:
        try:
            return self._roles[name]
        except KeyError:
            raise UnknownRole(name) from None

    def _known(self, names: Iterable[str]) -> tuple[str, ...]:
        bases = tuple(dict.fromkeys(names))
        for base in bases:
            self._role(base)
        return bases
