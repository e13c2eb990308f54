from datetime import UTC, datetime, timedelta

import pytest

from clubhouse import Club

PASSWORD = "correct horse"


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 9, 1, 18, 30, 5, 250_000, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def club(clock):
    """A club with the members Ann and Bob."""
    club = Club(clock=clock, hash_rounds=1)
    club.members.add("ann@example.org", PASSWORD)
    club.members.add("bob@example.org", PASSWORD)
    return club


@pytest.fixture
def mailed(club):
    """Return what the newest mail to an address brought, without its label."""

    def mailed(address):
        return club.outbox.last_to(address).text.partition(": ")[2]

    return mailed
