"""The receiver: everything between the web layer and a handler."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from parcelhook.errors import HandshakeRefused, SignatureMismatch, StaleDelivery
from parcelhook.events import TrackingEvent, parse_event
from parcelhook.keyring import KeyRing
from parcelhook.repeats import RecentIds
from parcelhook.signatures import HEADER_NAME, parse_header

Handler = Callable[[TrackingEvent], None]

TOLERANCE_SECONDS = 300


@dataclass(frozen=True)
class Receipt:
    """What became of an authentic delivery."""

    event: TrackingEvent
    key_id: str
    repeated: bool


def _unix_now() -> int:
    return int(time.time())


class Receiver:
    """Authenticates deliveries of one carrier and dispatches their events."""

    def __init__(
        self,
        keys: KeyRing,
        *,
        handshake_token: str,
        clock: Callable[[], int] = _unix_now,
        recent: RecentIds | None = None,
    ) -> None:
        if not handshake_token:
            raise ValueError("the handshake token may not be empty")
        self._keys = keys
        self._handshake_token = handshake_token
        self._clock = clock
        self._recent = RecentIds() if recent is None else recent
        self._handlers: dict[str, list[Handler]] = {}

    def on(self, kind: str, handler: Handler) -> None:
        """Call ``handler`` for every new event of this kind."""
        self._handlers.setdefault(kind, []).append(handler)

    def confirm(self, parameters: Mapping[str, str]) -> str:
        """Answer the carrier's subscription call: the challenge, to be echoed.

        Raises:
            HandshakeRefused: The call does not carry our token, or no challenge.
        """
        if parameters.get("token") != self._handshake_token:
            raise HandshakeRefused("the token is not ours")
        challenge = parameters.get("challenge")
        if not challenge:
            raise HandshakeRefused("the call carries no challenge")
        return challenge

    def receive(self, headers: Mapping[str, str], body: bytes) -> Receipt:
        """Authenticate a delivery and call the handlers of its event.

        Raises:
            ParcelhookError: It is refused; see ``docs/receiving.md``.
        """
        header = parse_header(_find(headers, HEADER_NAME))
        now = self._clock()
        if abs(now - header.timestamp) > TOLERANCE_SECONDS:
            raise StaleDelivery(f"signed at {header.timestamp}, received at {now}")
        key = self._keys.signer_of(header, body, now)
        if key is None:
            raise SignatureMismatch("no signature belongs to a key in use")
        event = parse_event(body)
        if event.event_id in self._recent:
            return Receipt(event, key.key_id, repeated=True)
        for handler in self._handlers.get(event.kind, ()):
            handler(event)
        self._recent.add(event.event_id)
        return Receipt(event, key.key_id, repeated=False)


def _find(headers: Mapping[str, str], name: str) -> str | None:
    """Look a header up without regard to case."""
    for candidate, value in headers.items():
        if candidate.lower() == name.lower():
            return value
    return None
