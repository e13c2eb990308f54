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
        "/",
        "/reports/7?page=2#top",
        "/archive/2026%2F07%2Freport.pdf",
        "https://billing.acme.example/invoices/1",
        "https://BILLING.acme.example:443/",
        "https://north.partners.acme.example/portal",
        "https://status.hostpage.example/acme",
    ],
)
def test_followed(policy, wanted):
    assert policy.target(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        "",
        "reports",
        "//evil.example/",
        "https://evil.example/",
        "http://billing.acme.example/",
        "https://partners.acme.example/",
        "https://evilpartners.acme.example/",
        "javascript:alert(1)",
    ],
)
def test_not_followed(policy, wanted):
    assert policy.target(wanted) == "/home"


@pytest.mark.parametrize("host", ["", "*", "*.", "example", "https://a.b", "a.b:80"])
def test_entry_that_is_not_a_host(host):
    with pytest.raises(ValueError, match="is not a host"):
        RedirectPolicy([host])


def test_default_has_to_be_a_path():
    with pytest.raises(ValueError, match="not a path"):
        RedirectPolicy([], default="//evil.example")
