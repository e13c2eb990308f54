"""Parts by name."""

from __future__ import annotations

import pytest

from pytest_codegenie.models import PartTable
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part


KINDS = tuple(PartTable.model_fields)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in KINDS for name in getattr(BUILTIN_PARTS, kind)],
)
def test_every_part_that_ships_can_be_made_and_is_new_each_time(
    kind: str, name: str
) -> None:
    table = getattr(BUILTIN_PARTS, kind)
    part = make_part(kind.removesuffix("s"), name, table)
    assert type(part).__module__ == table[name].partition(":")[0]
    assert make_part(kind.removesuffix("s"), name, table) is not part


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        (
            "orcale",
            {"oracle": "a:B", "nop": "a:C"},
            "unknown agent 'orcale' (did you mean 'oracle'?); known: nop, oracle "
            "(codegenie list agents)",
        ),
        ("x", {}, "unknown agent 'x'; known: none (codegenie list agents)"),
        (
            "x",
            {"x": "no_such_package.mod:Agent"},
            "agent 'x' is registered as 'no_such_package.mod:Agent', which cannot be "
            "imported: ModuleNotFoundError: No module named 'no_such_package'",
        ),
        (
            "x",
            {"x": "pytest_codegenie.parts:NoSuch"},
            "which cannot be imported: AttributeError: module 'pytest_codegenie.parts' "
            "has no attribute 'NoSuch'",
        ),
        ("x", {"x": "json"}, "agent 'x' is registered as 'json', which cannot be"),
        ("x", {"x": ":Agent"}, "agent 'x' is registered as ':Agent', which cannot be"),
    ],
)
def test_a_part_that_cannot_be_made_is_named(
    name: str, table: dict[str, str], message: str
) -> None:
    with pytest.raises(UnknownPartError) as caught:
        make_part("agent", name, table)
    assert message in str(caught.value)
