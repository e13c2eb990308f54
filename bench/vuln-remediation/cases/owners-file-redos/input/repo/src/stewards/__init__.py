"""Find the owners of files."""

from stewards.errors import OwnersFileError, PatternError, StewardsError
from stewards.patterns import Pattern
from stewards.report import Report, summarise
from stewards.stewardship import Rule, Stewardship

__all__ = [
    "OwnersFileError",
    "Pattern",
    "PatternError",
    "Report",
    "Rule",
    "Stewardship",
    "StewardsError",
    "summarise",
]
