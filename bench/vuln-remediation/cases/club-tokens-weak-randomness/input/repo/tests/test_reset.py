import re

import pytest

from clubhouse import ResetError

ANN = "ann@example.org"


def test_new_password(club, mailed):
    club.resets.request("Ann@example.org")
    token = mailed(ANN)
    assert re.fullmatch("[0-9a-f]{32}", token)
    club.resets.confirm(ANN, token, "battery staple")
    assert club.members.check_password(ANN, "battery staple")


def test_token_works_once(club, mailed):
    club.resets.request(ANN)
    club.resets.confirm(ANN, mailed(ANN), "battery staple")
    with pytest.raises(ResetError):
        club.resets.confirm(ANN, mailed(ANN), "another staple")


def test_token_is_for_one_member(club, mailed):
    club.resets.request(ANN)
    club.resets.request("bob@example.org")
    with pytest.raises(ResetError):
        club.resets.confirm("bob@example.org", mailed(ANN), "battery staple")


def test_token_ends_after_an_hour(club, clock, mailed):
    club.resets.request(ANN)
    clock.advance(minutes=61)
    with pytest.raises(ResetError, match="too old"):
        club.resets.confirm(ANN, mailed(ANN), "battery staple")


def test_older_token_is_void(club, mailed):
    club.resets.request(ANN)
    first = mailed(ANN)
    club.resets.request(ANN)
    with pytest.raises(ResetError):
        club.resets.confirm(ANN, first, "battery staple")


def test_strangers_get_no_mail(club):
    club.resets.request("eve@example.org")
    assert club.outbox.mails == []
