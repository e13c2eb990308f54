"""What can go wrong, from the caller's point of view."""


class StockroomError(Exception):
    """Base of all errors of this package."""


class SearchError(StockroomError):
    """The search is not one that can be run."""


class StockError(StockroomError):
    """A movement of stock is not possible."""
