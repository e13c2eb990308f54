import pytest

from gatekeep import Gatekeeper, UnknownRole


@pytest.fixture
def gate():
    gate = Gatekeeper()
    gate.roles.define("clerk", grants={"invoices:read"})
    gate.roles.define("team-lead", based_on=["clerk"], grants={"reports:*"})
    gate.members.assign("mira", "team-lead")
    gate.members.assign("tom", "clerk")
    return gate


def test_a_role_has_the_permissions_of_its_bases(gate):
    assert gate.permissions("mira") == ["invoices:read", "reports:*"]


def test_a_star_covers_every_verb_of_its_thing_only(gate):
    assert gate.allows("mira", "reports:delete")
    assert not gate.allows("mira", "invoices:delete")


def test_a_stranger_may_do_nothing(gate):
    assert not gate.allows("eve", "invoices:read")


def test_a_grant_counts_for_the_next_question(gate):
    assert not gate.allows("tom", "invoices:approve")
    gate.roles.grant("clerk", "invoices:approve")
    assert gate.allows("tom", "invoices:approve")


def test_a_revocation_counts_for_the_next_question(gate):
    assert gate.allows("tom", "invoices:read")
    gate.roles.revoke("clerk", "invoices:read")
    assert not gate.allows("tom", "invoices:read")


def test_a_withdrawn_role_counts_for_the_next_question(gate):
    assert gate.allows("mira", "reports:read")
    gate.members.withdraw("mira", "team-lead")
    assert not gate.allows("mira", "reports:read")


def test_an_unknown_role_cannot_be_assigned(gate):
    with pytest.raises(UnknownRole, match="'boss'"):
        gate.members.assign("mira", "boss")


def test_a_permission_has_to_be_well_formed(gate):
    with pytest.raises(ValueError, match="'invoices' is not a permission"):
        gate.allows("tom", "invoices")
