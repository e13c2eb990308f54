"""What can be wrong with an expression or a table."""

from __future__ import annotations


class ExpressionError(ValueError):
    """A field or an expression that cannot be read."""


class TableError(ValueError):
    """A line of a job table that cannot be read."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
