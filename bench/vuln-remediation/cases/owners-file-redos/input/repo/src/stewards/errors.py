"""The errors of this package."""


class StewardsError(Exception):
    """Base of all of them."""


class PatternError(StewardsError):
    """A pattern does not follow the syntax."""


class OwnersFileError(StewardsError):
    """A line of an OWNERS file cannot be read."""

    def __init__(self, line_number: int, reason: str) -> None:
        super().__init__(f"line {line_number}: {reason}")
        self.line_number = line_number
        self.reason = reason
