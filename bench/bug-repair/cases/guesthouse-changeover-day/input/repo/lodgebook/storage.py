"""Reading and writing the book as JSON."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from lodgebook.house import House, Room
from lodgebook.ledger import Ledger
from lodgebook.stays import Stay


def save(ledger: Ledger, path: Path) -> None:
    """Write the house and every booking."""
    book = {
        "rooms": [{"name": room.name, "beds": room.beds} for room in ledger.house],
        "bookings": [
            {
                "room": booking.room,
                "guest": booking.guest,
                "arrival": booking.stay.arrival.isoformat(),
                "departure": booking.stay.departure.isoformat(),
            }
            for booking in ledger.bookings()
        ],
    }
    path.write_text(json.dumps(book, indent=2) + "\n", encoding="utf-8")


def load(path: Path) -> Ledger:
    """Read a book back; the bookings are numbered anew, by the day of arrival."""
    book = json.loads(path.read_text(encoding="utf-8"))
    ledger = Ledger(House(Room(**room) for room in book["rooms"]))
    for entry in book["bookings"]:
        stay = Stay(
            date.fromisoformat(entry["arrival"]),
            date.fromisoformat(entry["departure"]),
        )
        ledger.book(entry["room"], entry["guest"], stay)
    return ledger
