import asyncio
from dataclasses import dataclass

from tokendesk import Token, TokenBroker
from tokendesk.auth import Authorized


@dataclass
class Answer:
    status: int


class Numbered:
    count = 0

    async def issue(self, audience):
        self.count += 1
        return Token(audience, f"t{self.count}", expires_at=1000.0)


def send_with(statuses):
    sent = []

    async def send(headers):
        sent.append(headers["Authorization"])
        return Answer(statuses[len(sent) - 1])

    async def steps():
        broker = TokenBroker(Numbered(), clock=lambda: 0.0)
        return await Authorized(broker, "billing").send(send)

    return asyncio.run(steps()).status, sent


def test_an_accepted_token_is_sent_once():
    assert send_with([200]) == (200, ["Bearer t1"])


def test_a_refused_token_is_replaced_once():
    assert send_with([401, 401]) == (401, ["Bearer t1", "Bearer t2"])
