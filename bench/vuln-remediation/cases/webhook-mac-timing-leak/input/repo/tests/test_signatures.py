import pytest

from parcelhook import MalformedHeader, sign
from parcelhook.signatures import parse_header


def test_signature_covers_time_and_body():
    signature = sign(b"secret", 1788220800, b"{}")
    assert len(signature) == 64
    assert signature == sign(b"secret", 1788220800, b"{}")
    assert signature != sign(b"secret", 1788220801, b"{}")
    assert signature != sign(b"secret", 1788220800, b"{} ")
    assert signature != sign(b"Secret", 1788220800, b"{}")


def test_header_with_two_signatures():
    header = parse_header("t=1788220800, v1=aa, v1=bb, v9=later")
    assert header.timestamp == 1788220800
    assert header.signatures == ("aa", "bb")


@pytest.mark.parametrize(
    "value",
    [None, "", "v1=aa", "t=1788220800", "t=soon,v1=aa", "t=-5,v1=aa", "nonsense"],
)
def test_unreadable_header(value):
    with pytest.raises(MalformedHeader):
        parse_header(value)
