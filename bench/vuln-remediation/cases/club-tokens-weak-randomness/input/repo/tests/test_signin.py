import re

import pytest

from clubhouse import SignInError

PASSWORD = "correct horse"
ANN = "ann@example.org"


def other(pin):
    return f"{(int(pin) + 1) % 10**6:06}"


def test_both_steps(club, mailed):
    club.sign_in.start(ANN, PASSWORD)
    pin = mailed(ANN)
    assert re.fullmatch("[0-9]{6}", pin)
    club.sign_in.finish(ANN, f" {pin} ")
    with pytest.raises(SignInError, match="start again"):
        club.sign_in.finish(ANN, pin)


@pytest.mark.parametrize("address", [ANN, "eve@example.org"])
def test_wrong_password(club, address):
    with pytest.raises(SignInError):
        club.sign_in.start(address, "battery staple")
    assert club.outbox.mails == []


def test_wrong_pin_may_be_corrected(club, mailed):
    club.sign_in.start(ANN, PASSWORD)
    for _ in range(4):
        with pytest.raises(SignInError, match="wrong"):
            club.sign_in.finish(ANN, other(mailed(ANN)))
    club.sign_in.finish(ANN, mailed(ANN))


def test_five_wrong_attempts(club, mailed):
    club.sign_in.start(ANN, PASSWORD)
    for _ in range(5):
        with pytest.raises(SignInError, match="wrong"):
            club.sign_in.finish(ANN, other(mailed(ANN)))
    with pytest.raises(SignInError, match="start again"):
        club.sign_in.finish(ANN, mailed(ANN))


def test_pin_ends_after_ten_minutes(club, clock, mailed):
    club.sign_in.start(ANN, PASSWORD)
    clock.advance(minutes=11)
    with pytest.raises(SignInError, match="start again"):
        club.sign_in.finish(ANN, mailed(ANN))
