from datetime import date

import pytest

from lodgebook import House, Ledger, Room, RoomTaken, Stay
from lodgebook.calendar import sheet
from lodgebook.storage import load, save


def july(arrival: int, departure: int) -> Stay:
    return Stay(date(2025, 7, arrival), date(2025, 7, departure))


@pytest.fixture
def ledger():
    ledger = Ledger(House([Room("Garden", beds=2), Room("Attic", beds=1)]))
    ledger.book("Garden", "Okafor", july(11, 14))
    return ledger


def test_arriving_on_the_day_the_others_leave(ledger):
    ledger.book("Garden", "Lindqvist", july(14, 17))
    assert [b.guest for b in ledger.bookings("Garden")] == ["Okafor", "Lindqvist"]


def test_leaving_on_the_day_the_others_arrive(ledger):
    ledger.book("Garden", "Lindqvist", july(9, 11))
    assert [b.guest for b in ledger.bookings("Garden")] == ["Lindqvist", "Okafor"]


def test_one_night_fits_between_two_stays(ledger):
    ledger.book("Garden", "Lindqvist", july(15, 18))
    ledger.book("Garden", "Moreau", july(14, 15))
    assert sheet(ledger, date(2025, 7, 11), 7).splitlines()[0] == "Garden OOOMLLL"


@pytest.mark.parametrize("stay", [july(14, 16), july(8, 11)], ids=["after", "before"])
def test_the_room_is_offered_on_a_changeover_day(ledger, stay):
    assert [room.name for room in ledger.free_rooms(stay, beds=2)] == ["Garden"]


def test_extending_up_to_the_next_arrival(ledger):
    ledger.book("Garden", "Lindqvist", july(16, 18))
    assert ledger.extend(1, 2).stay == july(11, 16)


def test_extending_past_the_next_arrival_is_refused(ledger):
    ledger.book("Garden", "Lindqvist", july(16, 18))
    with pytest.raises(RoomTaken, match="Lindqvist"):
        ledger.extend(1, 3)
    assert ledger.bookings("Garden")[0].stay == july(11, 14)


def test_a_book_with_changeovers_survives_the_disk(ledger, tmp_path):
    ledger.book("Garden", "Lindqvist", july(14, 17))
    save(ledger, tmp_path / "book.json")
    assert len(load(tmp_path / "book.json").bookings()) == 2


@pytest.mark.parametrize("other", [july(14, 16), july(8, 11)], ids=["after", "before"])
def test_stays_that_touch_do_not_overlap_either_way_round(other):
    assert not july(11, 14).overlaps(other)
    assert not other.overlaps(july(11, 14))


@pytest.mark.parametrize(
    "stay",
    [july(13, 14), july(11, 12), july(12, 13), july(10, 12), july(13, 15)],
    ids=["last-night", "first-night", "middle-night", "into-start", "into-end"],
)
def test_a_single_night_in_common_is_still_refused(ledger, stay):
    with pytest.raises(RoomTaken, match="Okafor"):
        ledger.book("Garden", "Lindqvist", stay)
