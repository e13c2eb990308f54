import json

import pytest

from parcelhook import (
    HandshakeRefused,
    Key,
    KeyRing,
    MalformedEvent,
    Receiver,
    SignatureMismatch,
    StaleDelivery,
    sign,
)

NOW = 1788220800
BODY = json.dumps(
    {"id": "evt_1", "type": "parcel.delivered", "parcel": "JD0146000033"}
).encode()
OLD = Key("old", b"old secret", not_after=NOW + 60)
NEW = Key("new", b"new secret", not_before=NOW - 60)
GONE = Key("gone", b"gone secret", not_after=NOW)


@pytest.fixture
def receiver():
    return Receiver(
        KeyRing([GONE, OLD, NEW]), handshake_token="hs-token", clock=lambda: NOW
    )


def headers_for(*secrets, timestamp=NOW, body=BODY):
    signatures = "".join(f",v1={sign(secret, timestamp, body)}" for secret in secrets)
    return {"parcel-signature": f"t={timestamp}{signatures}"}


def test_event_reaches_its_handler(receiver):
    seen = []
    receiver.on("parcel.delivered", seen.append)
    receipt = receiver.receive(headers_for(NEW.secret), BODY)
    assert receipt.key_id == "new"
    assert not receipt.repeated
    assert [event.parcel for event in seen] == ["JD0146000033"]


def test_repeat_is_acknowledged_once(receiver):
    seen = []
    receiver.on("parcel.delivered", seen.append)
    receiver.receive(headers_for(NEW.secret), BODY)
    assert receiver.receive(headers_for(NEW.secret), BODY).repeated
    assert len(seen) == 1


def test_either_signature_of_a_rotation_will_do(receiver):
    receipt = receiver.receive(headers_for(b"unknown", OLD.secret), BODY)
    assert receipt.key_id == "old"


def test_key_past_its_period_is_not_used(receiver):
    with pytest.raises(SignatureMismatch):
        receiver.receive(headers_for(GONE.secret), BODY)


def test_changed_body_is_refused(receiver):
    with pytest.raises(SignatureMismatch):
        receiver.receive(headers_for(NEW.secret), BODY + b" ")


@pytest.mark.parametrize("offset", [-301, 301])
def test_stale_delivery_is_refused(receiver, offset):
    with pytest.raises(StaleDelivery):
        receiver.receive(headers_for(NEW.secret, timestamp=NOW + offset), BODY)


def test_authentic_nonsense_is_refused(receiver):
    body = b"[]"
    with pytest.raises(MalformedEvent):
        receiver.receive(headers_for(NEW.secret, body=body), body)


def test_handshake(receiver):
    parameters = {"token": "hs-token", "challenge": "c-123"}
    assert receiver.confirm(parameters) == "c-123"


def test_handshake_with_another_token(receiver):
    with pytest.raises(HandshakeRefused):
        receiver.confirm({"token": "hs-tokem", "challenge": "c-123"})
