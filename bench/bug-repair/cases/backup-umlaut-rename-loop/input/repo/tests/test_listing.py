import pytest

from driftmap import ListingError, parse
from driftmap.listing import dump


def test_a_listing_is_read_and_written():
    text = "aa\t10\tb c.txt\nbb\t0\tdir/\u00fcber.txt\n"
    listing = parse(text)
    assert listing.total_size == 10
    assert dump(listing) == text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("aa\tb.txt", "line 1: expected"),
        ("aa\tten\tb.txt", "line 1: expected"),
        ("aa\t10\t/b.txt", "not below the root"),
        ("aa\t10\tb.txt\nbb\t10\tb.txt", "'b.txt' is listed twice"),
    ],
    ids=["fields", "size", "absolute", "twice"],
)
def test_what_is_no_listing(line, reason):
    with pytest.raises(ListingError, match=reason):
        parse(line)
