import pytest

from gatekeep import CircularRole, Gatekeeper, UnknownRole
from gatekeep.events import RoleChanged


@pytest.fixture
def gate():
    gate = Gatekeeper()
    gate.roles.define("a")
    gate.roles.define("b", based_on=["a"])
    gate.roles.define("c", based_on=["b", "a"])
    return gate


def test_the_lineage_names_each_role_once(gate):
    assert gate.roles.lineage("c") == ["c", "b", "a"]


def test_a_role_cannot_build_on_itself_by_a_detour(gate):
    with pytest.raises(CircularRole):
        gate.roles.rebase("a", ["c"])
    assert gate.roles.bases("a") == ()


def test_a_base_has_to_be_defined(gate):
    with pytest.raises(UnknownRole):
        gate.roles.define("d", based_on=["nobody"])


def test_only_real_changes_are_published(gate):
    heard = []
    gate.events.subscribe(heard.append)
    gate.roles.grant("a", "page:read")
    gate.roles.grant("a", "page:read")
    gate.roles.revoke("a", "page:write")
    assert heard == [RoleChanged("a")]
