"""Receive and authenticate the tracking webhooks of carriers."""

from parcelhook.errors import (
    HandshakeRefused,
    MalformedEvent,
    MalformedHeader,
    ParcelhookError,
    SignatureMismatch,
    StaleDelivery,
)
from parcelhook.events import TrackingEvent
from parcelhook.keyring import Key, KeyRing
from parcelhook.receiver import Receipt, Receiver
from parcelhook.signatures import sign

__all__ = [
    "HandshakeRefused",
    "Key",
    "KeyRing",
    "MalformedEvent",
    "MalformedHeader",
    "ParcelhookError",
    "Receipt",
    "Receiver",
    "SignatureMismatch",
    "StaleDelivery",
    "TrackingEvent",
    "sign",
]
