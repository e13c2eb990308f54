from datetime import date

import pytest

from lodgebook import House, Ledger, Room, RoomTaken, Stay, UnknownRoom
from lodgebook.storage import load, save


def july(arrival: int, departure: int) -> Stay:
    return Stay(date(2025, 7, arrival), date(2025, 7, departure))


@pytest.fixture
def ledger():
    return Ledger(House([Room("Garden", beds=2), Room("Attic", beds=1)]))


def test_a_taken_room_is_refused_with_the_guest_and_the_dates(ledger):
    ledger.book("Garden", "Okafor", july(11, 14))
    with pytest.raises(RoomTaken, match="Okafor from 2025-07-11 to 2025-07-14"):
        ledger.book("Garden", "Lindqvist", july(13, 17))


def test_another_room_is_not_affected(ledger):
    ledger.book("Garden", "Okafor", july(11, 14))
    assert ledger.book("Attic", "Lindqvist", july(12, 13)).number == 2


def test_unknown_room(ledger):
    with pytest.raises(UnknownRoom, match="Attic, Garden"):
        ledger.book("Cellar", "Okafor", july(1, 2))


def test_cancelling_frees_the_room(ledger):
    booking = ledger.book("Garden", "Okafor", july(11, 14))
    ledger.cancel(booking.number)
    assert [room.name for room in ledger.free_rooms(july(11, 14), beds=2)] == ["Garden"]


def test_extending_into_a_free_week(ledger):
    booking = ledger.book("Garden", "Okafor", july(11, 14))
    assert ledger.extend(booking.number, 2).stay == july(11, 16)


def test_the_book_survives_the_disk(ledger, tmp_path):
    ledger.book("Garden", "Okafor", july(11, 14))
    ledger.book("Attic", "Lindqvist", july(2, 5))
    save(ledger, tmp_path / "book.json")
    guests = [b.guest for b in load(tmp_path / "book.json").bookings()]
    assert guests == ["Lindqvist", "Okafor"]
