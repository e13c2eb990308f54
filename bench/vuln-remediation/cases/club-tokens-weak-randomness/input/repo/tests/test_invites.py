import re

import pytest

from clubhouse import ClubError, InviteError

PASSWORD = "correct horse"
EVE = "eve@example.org"


def test_invitation(club, mailed):
    code = club.invites.send(EVE)
    assert code == mailed(EVE)
    assert re.fullmatch("[2-9A-HJKMNP-Z]{5}-[2-9A-HJKMNP-Z]{5}", code)
    club.invites.redeem(code, "Eve@example.org", PASSWORD)
    assert EVE in club.members


def test_invitations_are_numbered(club):
    for number in (1, 2):
        club.invites.send(EVE)
        assert club.outbox.last_to(EVE).subject == f"Invitation no. {number}"


def test_code_as_people_type_it(club):
    code = club.invites.send(EVE)
    typed = f" {code.lower().replace('-', '')} "
    club.invites.redeem(typed, EVE, PASSWORD)
    assert EVE in club.members


def test_code_works_once(club):
    code = club.invites.send(EVE)
    club.invites.redeem(code, EVE, PASSWORD)
    with pytest.raises(InviteError):
        club.invites.redeem(code, EVE, PASSWORD)


def test_code_is_for_one_address(club):
    code = club.invites.send(EVE)
    with pytest.raises(InviteError):
        club.invites.redeem(code, "mallory@example.org", PASSWORD)


def test_code_ends_after_two_weeks(club, clock):
    code = club.invites.send(EVE)
    clock.advance(days=15)
    with pytest.raises(InviteError, match="too old"):
        club.invites.redeem(code, EVE, PASSWORD)


def test_code_stays_valid_after_a_bad_password(club):
    code = club.invites.send(EVE)
    with pytest.raises(ClubError, match="at least 10"):
        club.invites.redeem(code, EVE, "short")
    club.invites.redeem(code, EVE, PASSWORD)
