"""A change of a role counts at once for everyone who has it by inheritance."""

import json

import pytest

from gatekeep import CircularRole, Gatekeeper
from gatekeep.events import MembershipChanged, RoleChanged
from gatekeep.policy import load
from gatekeep.roles import RoleBook


@pytest.fixture
def gate():
    """Four levels, with two ways from the top to the bottom."""
    gate = Gatekeeper()
    gate.roles.define("staff", grants={"door:open", "printer:use"})
    gate.roles.define("clerk", based_on=["staff"], grants={"invoices:read"})
    gate.roles.define("buyer", based_on=["staff"], grants={"orders:read"})
    gate.roles.define("team-lead", based_on=["clerk", "buyer"])
    gate.roles.define("director", based_on=["team-lead"])
    gate.members.assign("sam", "staff")
    gate.members.assign("cleo", "clerk")
    gate.members.assign("mira", "team-lead")
    gate.members.assign("dora", "director")
    for member in ("sam", "cleo", "mira", "dora"):
        gate.permissions(member)
    return gate


@pytest.fixture
def walks(monkeypatch):
    """The roles whose lineage was worked out, in order."""
    seen = []
    lineage = RoleBook.lineage

    def counted(self, name):
        seen.append(name)
        return lineage(self, name)

    monkeypatch.setattr(RoleBook, "lineage", counted)
    return seen


@pytest.mark.parametrize("member", ["sam", "cleo", "mira", "dora"])
def test_a_revocation_reaches_every_level(gate, member):
    gate.roles.revoke("staff", "door:open")
    assert not gate.allows(member, "door:open")
    assert gate.allows(member, "printer:use")


@pytest.mark.parametrize("member", ["sam", "cleo", "mira", "dora"])
def test_a_grant_reaches_every_level(gate, member):
    gate.roles.grant("staff", "canteen:use")
    assert gate.allows(member, "canteen:use")


def test_a_new_base_reaches_those_below(gate):
    gate.roles.define("auditor", grants={"ledger:read"})
    gate.roles.rebase("clerk", ["staff", "auditor"])
    assert gate.allows("cleo", "ledger:read")
    assert gate.allows("dora", "ledger:read")
    assert not gate.allows("sam", "ledger:read")


def test_a_lost_base_reaches_those_below(gate):
    gate.roles.rebase("team-lead", ["buyer"])
    assert not gate.allows("mira", "invoices:read")
    assert not gate.allows("dora", "invoices:read")
    assert gate.allows("dora", "door:open")


def test_a_permission_stays_while_another_way_leads_to_it(gate):
    gate.roles.grant("buyer", "invoices:read")
    gate.roles.revoke("clerk", "invoices:read")
    assert gate.allows("dora", "invoices:read")
    assert not gate.allows("cleo", "invoices:read")
    gate.roles.revoke("buyer", "invoices:read")
    assert not gate.allows("dora", "invoices:read")


def test_a_change_below_does_not_reach_upwards(gate):
    gate.roles.grant("team-lead", "bonus:grant")
    assert gate.allows("dora", "bonus:grant")
    assert not gate.allows("cleo", "bonus:grant")
    assert not gate.allows("sam", "bonus:grant")


def test_a_policy_that_is_loaded_again_reaches_every_level():
    roles = {
        "reader": {"grants": ["page:read", "page:print"]},
        "editor": {"based_on": ["reader"], "grants": ["page:write"]},
        "chief": {"based_on": ["editor"]},
    }
    gate = Gatekeeper()
    load(gate, json.dumps({"roles": roles, "members": {"ada": ["chief"]}}))
    assert gate.allows("ada", "page:print")
    roles["reader"] = {"grants": ["page:read"]}
    load(gate, json.dumps({"roles": roles}))
    assert gate.permissions("ada") == ["page:read", "page:write"]


def test_a_listener_that_asks_gets_the_new_answer(gate):
    answers = []
    gate.events.subscribe(lambda _: answers.append(gate.allows("mira", "door:open")))
    gate.roles.revoke("staff", "door:open")
    gate.roles.grant("staff", "door:open")
    assert answers == [False, True]


def test_a_repeated_question_is_answered_from_memory(gate, walks):
    for _ in range(3):
        assert gate.allows("dora", "door:open")
        assert not gate.allows("dora", "vault:open")
    assert walks == []


def test_after_a_change_the_roles_are_walked_only_once(gate, walks):
    gate.roles.grant("staff", "vault:open")
    assert gate.allows("dora", "vault:open")
    walks.clear()
    for _ in range(3):
        assert gate.allows("dora", "vault:open")
    assert walks == []


def test_each_change_is_published_once(gate):
    heard = []
    gate.events.subscribe(heard.append)
    gate.roles.revoke("staff", "door:open")
    gate.roles.rebase("clerk", [])
    gate.members.withdraw("cleo", "clerk")
    assert heard == [
        RoleChanged("staff"),
        RoleChanged("clerk"),
        MembershipChanged("cleo", "clerk"),
    ]


def test_a_refused_change_changes_no_answer(gate):
    with pytest.raises(CircularRole):
        gate.roles.rebase("staff", ["director"])
    assert gate.permissions("sam") == ["door:open", "printer:use"]
