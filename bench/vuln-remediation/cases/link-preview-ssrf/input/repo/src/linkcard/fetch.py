"""Gets what a URL leads to."""

from linkcard.errors import FetchError
from linkcard.net import Request, Resolver, Response, Transport, resolve, send
from linkcard.policy import Policy
from linkcard.urls import Target, join, parse_url

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Fetcher:
    """Fetches pages from the hosts that a policy allows."""

    def __init__(
        self,
        *,
        policy: Policy | None = None,
        resolver: Resolver = resolve,
        transport: Transport = send,
    ) -> None:
        self._policy = policy or Policy()
        self._resolve = resolver
        self._send = transport

    def fetch(self, url: str, method: str = "GET") -> tuple[Target, Response]:
        """Fetch a URL and follow redirects.

        Returns:
            Where the last redirect led, and the answer from there.

        Raises:
            InvalidURL: The URL, or that of a redirect, is not one of a web page.
            BlockedURL: The policy does not allow the host.
            FetchError: Nothing came back but an error, or no end of redirects.
        """
        target = parse_url(url)
        self._policy.check(target.host)
        for _ in range(MAX_REDIRECTS + 1):
            response = self._ask(target, method)
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or location is None:
                break
            target = parse_url(join(target, location))
        else:
            raise FetchError(f"{url!r} redirects more than {MAX_REDIRECTS} times")
        if response.status != 200:
            raise FetchError(f"{target.url!r} answers {response.status}")
        return target, response

    def _ask(self, target: Target, method: str) -> Response:
        """Send one request, to the first address of the host that answers."""
        request = Request(method, target.scheme, target.host, target.port, target.path)
        try:
            addresses = self._resolve(target.host, target.port)
        except OSError as exc:
            raise FetchError(f"{target.host} cannot be found: {exc}") from exc
        reason: OSError | None = None
        for address in addresses:
            try:
                return self._send(address, request)
            except OSError as exc:
                reason = exc
        raise FetchError(f"{target.host} does not answer: {reason}") from reason
