from datetime import date

from lodgebook import House, Ledger, Room, Stay
from lodgebook.calendar import sheet


def test_the_sheet_shows_nights_not_days():
    ledger = Ledger(House([Room("Garden", beds=2), Room("Attic", beds=1)]))
    ledger.book("Garden", "Okafor", Stay(date(2025, 7, 11), date(2025, 7, 14)))
    assert sheet(ledger, date(2025, 7, 10), 6) == "Garden .OOO..\nAttic  ......"
