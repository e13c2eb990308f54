"""Whatever is sent instead of a signature or a token is refused, never a crash."""

import json

import pytest

from parcelhook import (
    HandshakeRefused,
    Key,
    KeyRing,
    Receiver,
    SignatureMismatch,
    sign,
)

NOW = 1788220800
BODY = json.dumps({"id": "evt_1", "type": "parcel.lost", "parcel": "X"}).encode()
SECRET = b"secret"
RIGHT = sign(SECRET, NOW, BODY)


def make_receiver(token="hs-token"):
    return Receiver(
        KeyRing([Key("k", SECRET)]), handshake_token=token, clock=lambda: NOW
    )


@pytest.mark.parametrize(
    "signature",
    [
        "",
        RIGHT[:-1],
        RIGHT + "0",
        RIGHT[:-1] + ("0" if RIGHT[-1] != "0" else "1"),
        "z" * 64,
        "abc",
        "\u00e9" * 64,
        RIGHT[:-1] + "\u00df",
        "\N{SNOWMAN}",
    ],
    ids=[
        "empty",
        "short",
        "long",
        "last-digit",
        "not-hex",
        "odd",
        "latin-1",
        "last-not-ascii",
        "snowman",
    ],
)
def test_anything_but_the_signature_is_a_mismatch(signature):
    with pytest.raises(SignatureMismatch):
        make_receiver().receive({"Parcel-Signature": f"t={NOW},v1={signature}"}, BODY)


def test_right_signature_beside_an_odd_one():
    header = f"t={NOW},v1=\u00e9,v1={RIGHT}"
    receipt = make_receiver().receive({"Parcel-Signature": header}, BODY)
    assert receipt.key_id == "k"


@pytest.mark.parametrize(
    "token",
    ["gr\u00fc\u00dfe-vom-hof", "\u9375", "plain"],
    ids=["latin-1", "cjk", "ascii"],
)
def test_token_may_be_any_text(token):
    receiver = make_receiver(token)
    assert receiver.confirm({"token": token, "challenge": "c"}) == "c"
    with pytest.raises(HandshakeRefused):
        receiver.confirm({"token": token + "x", "challenge": "c"})


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"challenge": "c"},
        {"token": "", "challenge": "c"},
        {"token": "h\u00e4", "challenge": "c"},
        {"token": "hs-toke", "challenge": "c"},
        {"token": "hs-token"},
        {"token": "hs-token", "challenge": ""},
    ],
    ids=[
        "nothing",
        "no-token",
        "empty-token",
        "not-ascii",
        "short-token",
        "no-challenge",
        "empty-challenge",
    ],
)
def test_incomplete_or_wrong_handshake_is_refused(parameters):
    with pytest.raises(HandshakeRefused):
        make_receiver().confirm(parameters)
