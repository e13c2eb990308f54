"""Roles and members from a JSON file."""

from __future__ import annotations

import json

from gatekeep.gate import Gatekeeper


def load(gate: Gatekeeper, text: str) -> None:
    """Bring the gate up to date with a policy.

    A role has to come after those it is based on. Roles and members that the policy
    does not name stay as they are.
    """
    policy = json.loads(text)
    for name, entry in policy.get("roles", {}).items():
        _bring_up_to_date(gate, name, entry)
    for member, names in policy.get("members", {}).items():
        held = gate.members.roles_of(member)
        for name in sorted(held - set(names)):
            gate.members.withdraw(member, name)
        for name in names:
            gate.members.assign(member, name)


def _bring_up_to_date(gate: Gatekeeper, name: str, entry: dict[str, list[str]]) -> None:
    based_on = entry.get("based_on", [])
    wanted = set(entry.get("grants", []))
    if name not in gate.roles:
        gate.roles.define(name, based_on=based_on, grants=wanted)
        return
    gate.roles.rebase(name, based_on)
    present = gate.roles.own_grants(name)
    for permission in sorted(present - wanted):
        gate.roles.revoke(name, permission)
    for permission in sorted(wanted - present):
        gate.roles.grant(name, permission)
