"""What can go wrong."""


class ParseError(ValueError):
    """A line that is not logfmt.

    Attributes:
        reason: What is wrong.
        column: Where, counted from 1.
    """

    def __init__(self, reason: str, column: int) -> None:
        super().__init__(f"column {column}: {reason}")
        self.reason = reason
        self.column = column
