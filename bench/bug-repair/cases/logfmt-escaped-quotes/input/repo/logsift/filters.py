"""Conditions on the fields of a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """That a field has a value, or with ``negated`` that it has another or none."""

    key: str
    value: str
    negated: bool = False

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition written as ``key=value`` or ``key!=value``.

        Raises:
            ValueError: There is no ``=`` in the text or nothing before it.
        """
        key, separator, value = text.partition("=")
        negated = key.endswith("!")
        key = key.removesuffix("!")
        if not separator or not key:
            raise ValueError(f"expected key=value or key!=value, got {text!r}")
        return cls(key, value, negated)

    def holds(self, record: Mapping[str, str | bool]) -> bool:
        """Return whether the condition holds for a record."""
        return (record.get(self.key) == self.value) != self.negated


def matches(record: Mapping[str, str | bool], conditions: Iterable[Condition]) -> bool:
    """Return whether all conditions hold."""
    return all(condition.holds(record) for condition in conditions)
