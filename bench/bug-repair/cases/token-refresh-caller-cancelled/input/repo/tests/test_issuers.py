import asyncio
import json

import pytest

from tokendesk import IssuerError
from tokendesk.issuers import ClientCredentials


def issue(status, body):
    forms = []

    async def transport(form):
        forms.append(form)
        return status, body

    issuer = ClientCredentials(transport, "gateway", "hush", clock=lambda: 1000.0)
    return asyncio.run(issuer.issue("billing")), forms


def test_the_lifetime_counts_from_the_moment_of_asking():
    body = json.dumps({"access_token": "abc", "expires_in": 300})
    token, forms = issue(200, body)
    assert (token.header, token.expires_at) == ("Bearer abc", 1300.0)
    assert forms[0]["grant_type"] == "client_credentials"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (503, "", "status 503"),
        (200, "<html>", "unreadable answer"),
        (200, '{"access_token": "abc"}', "expires_in"),
    ],
    ids=["status", "no-json", "no-lifetime"],
)
def test_no_token(status, body, reason):
    with pytest.raises(IssuerError, match=reason):
        issue(status, body)
