"""What can go wrong when a room is booked."""

from __future__ import annotations


class LodgebookError(Exception):
    """The base of every error that lodgebook raises itself."""


class UnknownRoom(LodgebookError):
    """The house has no room of that name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"no room {name!r}; the house has {', '.join(known)}")
        self.name = name


class RoomTaken(LodgebookError):
    """Somebody else has the room for part of the stay."""

    def __init__(self, room: str, guest: str, period: str) -> None:
        super().__init__(f"{room} is taken by {guest} {period}")
        self.room = room
        self.guest = guest
