"""Tracking events, as carriers put them into the body of a delivery."""

import json
from dataclasses import dataclass

from parcelhook.errors import MalformedEvent


@dataclass(frozen=True)
class TrackingEvent:
    """Something happened to a parcel."""

    event_id: str
    kind: str
    parcel: str
    details: dict[str, object]


def parse_event(body: bytes) -> TrackingEvent:
    """Read an event from a JSON body.

    Raises:
        MalformedEvent: The body is not JSON, or a required field is missing.
    """
    try:
        document = json.loads(body)
    except ValueError as error:
        raise MalformedEvent(f"the body is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise MalformedEvent("the body is not a JSON object")
    required = {}
    for name in ("id", "type", "parcel"):
        value = document.get(name)
        if not isinstance(value, str) or not value:
            raise MalformedEvent(f"the event has no {name!r}")
        required[name] = value
    details = document.get("details", {})
    if not isinstance(details, dict):
        raise MalformedEvent("'details' is not a JSON object")
    return TrackingEvent(required["id"], required["type"], required["parcel"], details)
