"""What may be contacted still is."""

import pytest
from network import OTHER_PUBLIC, PUBLIC, page, picture, redirect

from linkcard import BlockedURL, FetchError, InvalidURL

PUBLIC_6 = "2606:2800:220:1:248:1893:25c8:1946"


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1"]
    + ["126.255.255.255", "128.0.0.1", "169.253.1.1", "172.15.0.1", "172.32.0.1"]
    + ["192.167.1.1", "192.169.1.1", "223.255.255.1", PUBLIC_6],
    ids=lambda address: "ipv6" if ":" in address else address,
)
@pytest.mark.parametrize("how", ["name", "literal", "redirect"])
def test_public_address(network, previewer, address, how):
    literal = f"[{address}]" if ":" in address else address
    network.names["site.example"] = [address]
    network.answers[address] = page("Public")
    network.answers[f"{PUBLIC}/go"] = redirect(f"https://{literal}/")
    url = {
        "name": "http://site.example/",
        "literal": f"http://{literal}/",
        "redirect": "http://example.com/go",
    }[how]
    assert previewer.preview(url).title == "Public"


def test_name_is_looked_up_once(network, previewer):
    """What was looked at is what is contacted, whatever a second look-up says."""
    network.names["turn.example"] = [[PUBLIC], ["10.0.3.7"]]
    network.answers["10.0.3.7"] = page("Internal")
    assert previewer.preview("http://turn.example/").title == "Example"
    assert network.contacted == [PUBLIC]


def test_name_in_the_request_stays(network, previewer):
    """The address is for the connection; the host is for certificate and Host."""
    previewer.preview("https://example.com/a")
    (request,) = network.requests
    assert (request.scheme, request.host) == ("https", "example.com")


def test_redirect_to_another_public_host(network, previewer):
    network.names["www.example.net"] = [OTHER_PUBLIC]
    network.answers[f"{PUBLIC}/go"] = redirect("https://www.example.net/x")
    network.answers[f"{OTHER_PUBLIC}/x"] = page("Elsewhere")
    card = previewer.preview("http://example.com/go")
    assert (card.title, card.url) == ("Elsewhere", "https://www.example.net/x")
    assert network.requests[1].port == 443


def test_all_public_addresses_are_tried(network, previewer):
    network.names["many.example"] = [OTHER_PUBLIC, "1.1.1.1", PUBLIC_6, PUBLIC]
    assert previewer.preview("http://many.example/").title == "Example"
    assert network.contacted == [OTHER_PUBLIC, "1.1.1.1", PUBLIC_6, PUBLIC]


@pytest.mark.parametrize(
    "address",
    ["10.20.0.4", "127.0.0.1", "fd00::7", "100.64.3.2"],
    ids=["private", "loopback", "ipv6", "carrier-nat"],
)
def test_trusted_host_may_have_any_address(network, previewer, address):
    network.names["wiki.corp.example"] = [address]
    network.answers[address] = page("Wiki", image="/logo.png")
    network.answers[f"{address}/logo.png"] = picture()
    card = previewer.preview("http://wiki.corp.example/page")
    assert (card.title, card.image) == ("Wiki", "http://wiki.corp.example/logo.png")


def test_trusted_host_with_a_second_address(network, previewer):
    network.names["wiki.corp.example"] = ["10.20.0.4", "10.20.0.5"]
    network.answers["10.20.0.5"] = page("Wiki")
    assert previewer.preview("http://wiki.corp.example/").title == "Wiki"


def test_redirects_to_trusted_hosts(network, previewer):
    network.names["wiki.corp.example"] = ["10.20.0.4"]
    network.names["files.corp.example"] = ["10.20.0.9"]
    network.answers["10.20.0.4"] = redirect("http://files.corp.example/f")
    network.answers["10.20.0.9"] = page("Files")
    network.answers[f"{PUBLIC}/go"] = redirect("http://wiki.corp.example/")
    assert previewer.preview("http://wiki.corp.example/").title == "Files"
    assert previewer.preview("http://example.com/go").title == "Files"


def test_picture_on_another_public_host(network, previewer):
    network.names["img.example"] = [OTHER_PUBLIC]
    network.answers[f"{PUBLIC}/a"] = page(image="//img.example/p.png")
    network.answers[OTHER_PUBLIC] = picture()
    card = previewer.preview("http://example.com/a")
    assert card.image == "http://img.example/p.png"


def test_errors_are_told_apart(network, previewer):
    network.answers[f"{PUBLIC}/ftp"] = redirect("ftp://example.com/")
    network.names["down.example"] = [OTHER_PUBLIC]
    for url, error in (
        ("http://example.com/ftp", InvalidURL),
        ("http://unknown.example/", FetchError),
        ("http://down.example/", FetchError),
        ("http://192.168.0.1/", BlockedURL),
        ("http://user@127.0.0.1/", BlockedURL),
    ):
        with pytest.raises(error):
            previewer.preview(url)
