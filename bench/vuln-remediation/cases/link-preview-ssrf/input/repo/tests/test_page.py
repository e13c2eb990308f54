from linkcard.page import MAX_TEXT, read_page

URL = "http://example.com/"


def test_meta_goes_before_title():
    html = '<title>Plain</title><meta property="og:title" content=" Rich\n title ">'
    assert read_page(URL, html).title == "Rich title"


def test_plain_description():
    html = '<meta name="Description" content="About &amp; more">'
    card = read_page(URL, html)
    assert (card.title, card.description) == (URL, "About & more")


def test_long_text_is_cut():
    card = read_page(URL, f"<title>{'word ' * 100}</title>")
    assert len(card.title) <= MAX_TEXT
    assert card.title.endswith("…")
