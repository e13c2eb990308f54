"""The occupancy sheet that hangs in the kitchen."""

from __future__ import annotations

from datetime import date, timedelta

from lodgebook.ledger import Ledger

FREE = "."


def occupancy(ledger: Ledger, room: str) -> dict[date, str]:
    """The guest of each night that is sold in ``room``."""
    return {
        night: booking.guest
        for booking in ledger.bookings(room)
        for night in booking.stay.each_night()
    }


def sheet(ledger: Ledger, first: date, days: int) -> str:
    """One line for each room, one character for each night from ``first`` on."""
    nights = [first + timedelta(days=offset) for offset in range(days)]
    width = max((len(room.name) for room in ledger.house), default=0)
    lines = []
    for room in ledger.house:
        guests = occupancy(ledger, room.name)
        marks = "".join(guests[n][:1] if n in guests else FREE for n in nights)
        lines.append(f"{room.name:<{width}} {marks}")
    return "\n".join(lines)
