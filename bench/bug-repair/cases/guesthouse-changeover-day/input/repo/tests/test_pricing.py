from datetime import date
from decimal import Decimal

from lodgebook import Stay
from lodgebook.pricing import Season, Tariff

TARIFF = Tariff(
    base_rate=Decimal("60.00"),
    seasons=[Season("high", date(2025, 7, 12), date(2025, 8, 20), Decimal("85.00"))],
)


def test_a_stay_across_the_start_of_the_season():
    stay = Stay(date(2025, 7, 11), date(2025, 7, 14))
    assert TARIFF.price(stay) == Decimal("230.00")


def test_the_last_night_of_the_season_is_at_its_rate():
    assert TARIFF.rate(date(2025, 8, 20)) == Decimal("85.00")
    assert TARIFF.rate(date(2025, 8, 21)) == Decimal("60.00")
