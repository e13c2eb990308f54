import asyncio
import itertools

import pytest

from tokendesk import IssuerError, Token, TokenBroker


class CountingIssuer:
    """Numbers its tokens, each good for 100 seconds; fails when told to."""

    def __init__(self, clock):
        self.clock = clock
        self.asked = []
        self.failing = False
        self._numbers = itertools.count(1)

    async def issue(self, audience):
        self.asked.append(audience)
        await asyncio.sleep(0)
        if self.failing:
            raise IssuerError(audience, "status 503")
        secret = f"{audience}-{next(self._numbers)}"
        return Token(audience, secret, self.clock() + 100)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def issuer(clock):
    return CountingIssuer(clock)


@pytest.fixture
def broker(issuer, clock):
    return TokenBroker(issuer, clock=clock)


def test_callers_at_the_same_time_share_a_request(broker, issuer):
    async def steps():
        return await asyncio.gather(*(broker.token("billing") for _ in range(5)))

    tokens = asyncio.run(steps())
    assert {token.secret for token in tokens} == {"billing-1"}
    assert issuer.asked == ["billing"]
    assert (broker.stats.issued, broker.stats.joined) == (1, 4)


def test_a_token_is_reused_until_the_leeway(broker, clock):
    async def steps():
        secrets = []
        for clock.now in (0, 69, 70):
            secrets.append((await broker.token("billing")).secret)
        return secrets

    assert asyncio.run(steps()) == ["billing-1", "billing-1", "billing-2"]
    assert broker.stats.reused == 1


def test_a_failure_is_raised_to_all_and_not_remembered(broker, issuer):
    async def steps():
        issuer.failing = True
        calls = (broker.token("billing") for _ in range(3))
        failures = await asyncio.gather(*calls, return_exceptions=True)
        issuer.failing = False
        return failures, await broker.token("billing")

    failures, token = asyncio.run(steps())
    assert [type(failure) for failure in failures] == [IssuerError] * 3
    assert token.secret == "billing-1"


def test_only_the_token_at_hand_is_rejected(broker, clock):
    async def steps():
        old = await broker.token("billing")
        clock.now = 90
        new = await broker.token("billing")
        broker.reject(old)
        assert await broker.token("billing") == new
        broker.reject(new)
        assert (await broker.token("billing")).secret == "billing-3"

    asyncio.run(steps())


def test_warm_fetches_each_audience(broker, issuer):
    asyncio.run(broker.warm(["billing", "mail"]))
    assert sorted(issuer.asked) == ["billing", "mail"]
