"""The reservation book of a small guesthouse."""

from lodgebook.errors import LodgebookError, RoomTaken, UnknownRoom
from lodgebook.house import House, Room
from lodgebook.ledger import Booking, Ledger
from lodgebook.stays import Stay

__all__ = [
    "Booking",
    "House",
    "Ledger",
    "LodgebookError",
    "Room",
    "RoomTaken",
    "Stay",
    "UnknownRoom",
]
