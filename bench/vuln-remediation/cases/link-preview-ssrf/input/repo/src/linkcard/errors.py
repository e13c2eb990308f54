"""The errors of this package."""


class LinkcardError(Exception):
    """Base of all errors of this package."""


class InvalidURL(LinkcardError):
    """The text is not the URL of a web page."""


class BlockedURL(LinkcardError):
    """The URL leads to a host that we do not contact."""


class FetchError(LinkcardError):
    """The host did not answer, or not with anything useful."""
