"""The signature scheme of a delivery: what is signed and how it is written."""

import hashlib
import hmac
from dataclasses import dataclass

from parcelhook.errors import MalformedHeader

HEADER_NAME = "Parcel-Signature"
SCHEME = "v1"


@dataclass(frozen=True)
class SignatureHeader:
    """A parsed header: when it was signed, and one signature for each key."""

    timestamp: int
    signatures: tuple[str, ...]


def sign(secret: bytes, timestamp: int, body: bytes) -> str:
    """Return the signature of a body sent at ``timestamp``, as lower-case hex."""
    message = b"%d.%b" % (timestamp, body)
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def parse_header(value: str | None) -> SignatureHeader:
    """Read ``t=<unix seconds>,v1=<hex>[,v1=<hex>...]``.

    Raises:
        MalformedHeader: There is no header, no time or no signature in it.
    """
    if not value:
        raise MalformedHeader(f"the request has no {HEADER_NAME} header")
    timestamp: int | None = None
    signatures: list[str] = []
    for part in value.split(","):
        name, separator, content = part.strip().partition("=")
        if not separator:
            raise MalformedHeader(f"{part!r} is not of the form name=value")
        if name == "t":
            timestamp = _parse_timestamp(content)
        elif name == SCHEME:
            signatures.append(content)
    if timestamp is None:
        raise MalformedHeader("the header has no time (t=...)")
    if not signatures:
        raise MalformedHeader(f"the header has no {SCHEME} signature")
    return SignatureHeader(timestamp, tuple(signatures))


def _parse_timestamp(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise MalformedHeader(f"{text!r} is not a time in Unix seconds")
    return int(text)
