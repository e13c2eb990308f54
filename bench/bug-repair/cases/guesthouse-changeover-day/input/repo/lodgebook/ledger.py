"""The bookings, and the rules that keep them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodgebook.errors import RoomTaken
from lodgebook.house import House, Room
from lodgebook.stays import Stay


@dataclass(frozen=True, slots=True)
class Booking:
    """A stay of one guest in one room."""

    number: int
    room: str
    guest: str
    stay: Stay


class Ledger:
    """Every booking of one house."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._bookings: dict[int, Booking] = {}
        self._last_number = 0

    def bookings(self, room: str | None = None) -> list[Booking]:
        """All bookings, or those of one room, by the day of arrival."""
        chosen = [b for b in self._bookings.values() if room in (None, b.room)]
        return sorted(chosen, key=lambda b: (b.stay, b.number))

    def book(self, room: str, guest: str, stay: Stay) -> Booking:
        """Enter a new booking.

        Raises:
            UnknownRoom: The house has no such room.
            RoomTaken: The room is not free for the whole stay.
        """
        self.house.room(room)
        self._require_free(room, stay)
        self._last_number += 1
        booking = Booking(self._last_number, room, guest, stay)
        self._bookings[booking.number] = booking
        return booking

    def cancel(self, number: int) -> Booking:
        """Strike a booking out and return it."""
        return self._bookings.pop(number)

    def extend(self, number: int, nights: int) -> Booking:
        """Let a guest stay longer in the same room.

        Raises:
            RoomTaken: Somebody else has one of the added nights.
        """
        booking = self._bookings[number]
        longer = booking.stay.longer_by(nights)
        self._require_free(booking.room, longer, besides=number)
        self._bookings[number] = replace(booking, stay=longer)
        return self._bookings[number]

    def free_rooms(self, stay: Stay, beds: int = 1) -> list[Room]:
        """The rooms with enough beds that nobody has during ``stay``."""
        return [
            room
            for room in self.house
            if room.beds >= beds and self._conflict(room.name, stay) is None
        ]

    def _require_free(
        self, room: str, stay: Stay, *, besides: int | None = None
    ) -> None:
        taken_by = self._conflict(room, stay, besides=besides)
        if taken_by is not None:
            raise RoomTaken(room, taken_by.guest, str(taken_by.stay))

    def _conflict(
        self, room: str, stay: Stay, *, besides: int | None = None
    ) -> Booking | None:
        for booking in self.bookings(room):
            if booking.number != besides and stay.overlaps(booking.stay):
                return booking
        return None
