"""The rooms of the house."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lodgebook.errors import UnknownRoom


@dataclass(frozen=True, slots=True)
class Room:
    """A room that can be booked as a whole."""

    name: str
    beds: int

    def __post_init__(self) -> None:
        if self.beds < 1:
            raise ValueError(f"{self.name} has no bed")


class House:
    """Rooms by name, in the order in which they were given."""

    def __init__(self, rooms: Iterable[Room]) -> None:
        self._rooms = {room.name: room for room in rooms}

    def __iter__(self) -> Iterator[Room]:
        return iter(self._rooms.values())

    def __len__(self) -> int:
        return len(self._rooms)

    def room(self, name: str) -> Room:
        """The room called ``name``.

        Raises:
            UnknownRoom: The house has none.
        """
        try:
            return self._rooms[name]
        except KeyError:
            raise UnknownRoom(name, sorted(self._rooms)) from None
