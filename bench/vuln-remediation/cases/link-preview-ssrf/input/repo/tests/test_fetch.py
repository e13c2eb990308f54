import pytest
from network import OTHER_PUBLIC, PUBLIC, page, redirect

from linkcard import BlockedURL, FetchError, InvalidURL, Response


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "ftp://example.com/", "http://", "http://h:x/", "http://[::"],
    ids=["empty", "relative", "ftp", "no-host", "bad-port", "bad-address"],
)
def test_no_url(previewer, url):
    with pytest.raises(InvalidURL):
        previewer.preview(url)


@pytest.mark.parametrize(
    "host",
    ["localhost", "printer.localhost", "build.internal", "127.0.0.1", "10.1.2.3"],
)
def test_blocked_hosts(network, previewer, host):
    with pytest.raises(BlockedURL, match=host):
        previewer.preview(f"http://{host}/")
    assert network.contacted == []


def test_trusted_host(network, previewer):
    network.names["wiki.corp.example"] = ["10.20.0.4"]
    network.answers["10.20.0.4"] = page("Wiki")
    assert previewer.preview("https://Wiki.Corp.example/").title == "Wiki"
    assert network.requests[0].port == 443


def test_request(network, previewer):
    previewer.preview("http://Example.com:8080/a b?q=ü#part")
    (request,) = network.requests
    assert (request.host, request.port) == ("example.com", 8080)
    assert request.path == "/a%20b?q=%C3%BC"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(network, previewer, status):
    network.answers[f"{PUBLIC}/old"] = redirect("/new", status)
    network.answers[f"{PUBLIC}/new"] = page("New")
    card = previewer.preview("http://example.com/old")
    assert (card.title, card.url) == ("New", "http://example.com/new")


def test_too_many_redirects(network, previewer):
    network.answers[PUBLIC] = redirect("/again")
    with pytest.raises(FetchError, match="more than 5"):
        previewer.preview("http://example.com/")
    assert len(network.contacted) == 6


def test_next_address_is_tried(network, previewer):
    network.names["two.example"] = [OTHER_PUBLIC, PUBLIC]
    assert previewer.preview("http://two.example/").title == "Example"
    assert network.contacted == [OTHER_PUBLIC, PUBLIC]


def test_nobody_answers(network, previewer):
    network.names["down.example"] = [OTHER_PUBLIC]
    with pytest.raises(FetchError, match="does not answer"):
        previewer.preview("http://down.example/")


def test_error_of_the_host(network, previewer):
    network.answers[PUBLIC] = Response(503)
    with pytest.raises(FetchError, match="503"):
        previewer.preview("http://example.com/")
