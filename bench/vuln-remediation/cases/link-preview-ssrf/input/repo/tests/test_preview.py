import pytest
from network import PUBLIC, page, picture

from linkcard import Card, FetchError, Fetcher, LinkPreviewer, Response


def test_card(previewer):
    card = previewer.preview("http://example.com/")
    assert card == Card("http://example.com/", "Example", "Nothing here")


def test_picture(network, previewer):
    network.answers[f"{PUBLIC}/a"] = page(image="/p.png")
    network.answers[f"{PUBLIC}/p.png"] = picture()
    card = previewer.preview("http://example.com/a")
    assert card.image == "http://example.com/p.png"
    assert [request.method for request in network.requests] == ["GET", "HEAD"]


@pytest.mark.parametrize(
    "image",
    ["/page", "http://nowhere.example/p.png", "ftp://example.com/p.png"],
    ids=["no-picture", "no-host", "no-web"],
)
def test_picture_that_is_none(network, previewer, image):
    network.answers[f"{PUBLIC}/a"] = page(image=image)
    assert previewer.preview("http://example.com/a").image is None


def test_no_page(network, previewer):
    network.answers[PUBLIC] = Response(200, {"content-type": "application/pdf"})
    with pytest.raises(FetchError, match="not a page"):
        previewer.preview("http://example.com/")


def test_cards_are_kept_for_a_while(network):
    now = [0.0]
    fetcher = Fetcher(resolver=network.resolve, transport=network.send)
    previewer = LinkPreviewer(fetcher, lifetime=60, clock=lambda: now[0])
    for seconds, requests in ((0.0, 1), (59.0, 1), (61.0, 2)):
        now[0] = seconds
        previewer.preview("http://example.com/")
        assert len(network.requests) == requests
