"""Cards for links that people post."""

from linkcard.errors import BlockedURL, FetchError, InvalidURL, LinkcardError
from linkcard.fetch import Fetcher
from linkcard.net import Request, Response
from linkcard.page import Card
from linkcard.policy import Policy
from linkcard.preview import LinkPreviewer

__all__ = [
    "BlockedURL",
    "Card",
    "FetchError",
    "Fetcher",
    "InvalidURL",
    "LinkPreviewer",
    "LinkcardError",
    "Policy",
    "Request",
    "Response",
]
