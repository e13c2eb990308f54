"""What docs/redirects.md promises to follow."""

import pytest

from frontdoor import RedirectPolicy


@pytest.fixture
def policy():
    return RedirectPolicy(
        ["billing.acme.example", "*.partners.acme.example", "status.hostpage.example"],
        default="/home",
    )


@pytest.mark.parametrize(
    "wanted",
    [
        "https://status.hostpage.example/acme",
        "https://status.hostpage.example",
        "https://anything-at-all.partners.acme.example/",
        "https://eu.north.partners.acme.example/portal?next=https://x.example/",
        "HTTPS://Billing.Acme.Example/Invoices",
        "https://billing.acme.example:443/a%2Fb",
        "/%2Fevil.example",
        "/%5Cevil.example",
        "/archive/2026%2F07%2Freport.pdf",
        "/archive/%2F2026",
        "/a//b",
        "/search?q=https://x.example//y&sort=%25",
        "/#//fragment",
        "/100%25",
        "/@jo/notes",
    ],
)
def test_followed_unchanged(policy, wanted):
    assert policy.target(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "https://partners.acme.example/",
        "https://evilpartners.acme.example/",
        "https://north.partners.acme.example.evil.example/",
        "https://hostpage.example/",
        "https://www.status.hostpage.example/",
        "https://login.acme.example/",
    ],
)
def test_list_is_exact(policy, wanted):
    assert policy.target(wanted) == "/home"


def test_without_hosts_only_paths_are_followed():
    policy = RedirectPolicy([])
    assert policy.target("/a") == "/a"
    assert policy.target("https://billing.acme.example/") == "/"
