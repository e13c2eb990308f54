import json

from gatekeep import Gatekeeper
from gatekeep.policy import load

POLICY = {
    "roles": {
        "reader": {"grants": ["page:read"]},
        "editor": {"based_on": ["reader"], "grants": ["page:write"]},
    },
    "members": {"ada": ["editor"]},
}


def test_a_policy_defines_roles_and_members():
    gate = Gatekeeper()
    load(gate, json.dumps(POLICY))
    assert gate.permissions("ada") == ["page:read", "page:write"]


def test_loading_again_withdraws_what_is_gone():
    gate = Gatekeeper()
    load(gate, json.dumps(POLICY))
    load(gate, json.dumps({**POLICY, "members": {"ada": ["reader"]}}))
    assert gate.permissions("ada") == ["page:read"]
