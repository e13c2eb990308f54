import pytest

from mailhand import (
    Credentials,
    LoginRejected,
    MemoryRelay,
    Message,
    RecipientRefused,
    Sender,
    SessionPool,
)

HELLO = Message("ops@example.org", ["ada@example.org"], "Hi\nthere", "Line\nline")


def sender_for(relay):
    return Sender(SessionPool(relay.dial, Credentials("worker", "s3cret")))


def test_send():
    relay = MemoryRelay()
    sender_for(relay).send(HELLO)
    assert relay.delivered == [("ops@example.org", "ada@example.org", HELLO.render())]


def test_render():
    assert HELLO.render() == (
        "From: ops@example.org\r\nTo: ada@example.org\r\nSubject: Hi there\r\n"
        "\r\nLine\r\nline\r\n"
    )


def test_message_needs_a_recipient():
    with pytest.raises(ValueError, match="recipient"):
        Message("ops@example.org", [], "Hi", "")


def test_rejected_login():
    with pytest.raises(LoginRejected, match="wrong password for worker"):
        sender_for(MemoryRelay(password="other")).send(HELLO)


def test_batch():
    relay = MemoryRelay(refuses=frozenset({"bob@example.org"}))
    to_bob = Message("ops@example.org", ["bob@example.org"], "Hi", "")
    report = sender_for(relay).send_all([HELLO, to_bob, HELLO])
    assert report.sent == [HELLO, HELLO]
    ((message, error),) = report.failed
    assert message is to_bob
    assert isinstance(error, RecipientRefused)
