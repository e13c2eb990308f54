"""A caller who goes away takes nobody along."""

import asyncio

from tokendesk import IssuerError, Token, TokenBroker


class GatedIssuer:
    """Answers when its gate is opened; knows how many requests were under way."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.failing = False
        self.asked = []
        self.most_at_once = 0
        self._under_way = {}

    async def issue(self, audience):
        self.asked.append(audience)
        self._under_way[audience] = self._under_way.get(audience, 0) + 1
        self.most_at_once = max(self.most_at_once, self._under_way[audience])
        try:
            await self.gate.wait()
            if self.failing:
                raise IssuerError(audience, "status 503")
            return Token(audience, f"{audience}-secret", expires_at=1000.0)
        finally:
            self._under_way[audience] -= 1


def run(steps):
    """Run ``steps(broker, issuer)``; whatever fails, the gate is open at the end."""

    async def main():
        # Tasks that a failed test leaves behind have nothing to add to its report.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        issuer = GatedIssuer()
        broker = TokenBroker(issuer, clock=lambda: 0.0)
        try:
            async with asyncio.timeout(2):
                await steps(broker, issuer)
        finally:
            issuer.gate.set()
            await settle()

    asyncio.run(main())


async def settle():
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def callers(broker, count, audience="billing"):
    """Tasks that wait for a token, in the order in which they asked."""
    tasks = [asyncio.create_task(broker.token(audience)) for _ in range(count)]
    await settle()
    return tasks


async def outcomes(tasks):
    """The secret that each task got, or the type of what it raised."""
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [getattr(result, "secret", type(result)) for result in results]


GOT_IT = "billing-secret"
GONE = asyncio.CancelledError


def test_the_first_caller_goes_away():
    async def steps(broker, issuer):
        tasks = await callers(broker, 3)
        tasks[0].cancel()
        await settle()
        issuer.gate.set()
        assert await outcomes(tasks) == [GONE, GOT_IT, GOT_IT]
        assert issuer.most_at_once == 1

    run(steps)


def test_a_caller_who_joined_goes_away():
    async def steps(broker, issuer):
        tasks = await callers(broker, 3)
        tasks[1].cancel()
        await settle()
        issuer.gate.set()
        assert await outcomes(tasks) == [GOT_IT, GONE, GOT_IT]
        assert issuer.asked == ["billing"]

    run(steps)


def test_all_but_the_last_go_away_one_by_one():
    async def steps(broker, issuer):
        tasks = await callers(broker, 4)
        for task in tasks[:-1]:
            task.cancel()
            await settle()
        issuer.gate.set()
        assert await outcomes(tasks) == [GONE, GONE, GONE, GOT_IT]
        assert issuer.most_at_once == 1

    run(steps)


def test_the_first_caller_goes_away_at_the_moment_of_the_answer():
    async def steps(broker, issuer):
        tasks = await callers(broker, 3)
        issuer.gate.set()
        tasks[0].cancel()
        assert (await outcomes(tasks))[1:] == [GOT_IT, GOT_IT]
        assert issuer.most_at_once == 1

    run(steps)


def test_a_newcomer_after_the_first_caller_has_gone():
    async def steps(broker, issuer):
        tasks = await callers(broker, 2)
        tasks[0].cancel()
        await settle()
        tasks += await callers(broker, 1)
        issuer.gate.set()
        assert await outcomes(tasks) == [GONE, GOT_IT, GOT_IT]
        assert issuer.most_at_once == 1

    run(steps)


def test_a_cancelled_warm_up_leaves_a_caller_alone():
    async def steps(broker, issuer):
        warming = asyncio.create_task(broker.warm(["mail", "billing"]))
        await settle()
        tasks = await callers(broker, 1)
        warming.cancel()
        await settle()
        assert warming.cancelled()
        issuer.gate.set()
        assert await outcomes(tasks) == [GOT_IT]

    run(steps)


def test_a_failure_reaches_those_who_are_left():
    async def steps(broker, issuer):
        tasks = await callers(broker, 3)
        tasks[0].cancel()
        await settle()
        issuer.failing = True
        issuer.gate.set()
        assert await outcomes(tasks) == [GONE, IssuerError, IssuerError]
        issuer.failing = False
        assert (await broker.token("billing")).secret == GOT_IT

    run(steps)


def test_the_first_caller_ends_at_once_when_cancelled():
    async def steps(broker, issuer):
        tasks = await callers(broker, 2)
        tasks[0].cancel()
        await settle()
        assert tasks[0].cancelled()
        assert not issuer.gate.is_set()

    run(steps)


def test_a_caller_who_joined_ends_at_once_when_cancelled():
    async def steps(broker, issuer):
        tasks = await callers(broker, 2)
        tasks[1].cancel()
        await settle()
        assert tasks[1].cancelled()
        assert not tasks[0].done()
        assert not issuer.gate.is_set()

    run(steps)


def test_a_caller_who_runs_out_of_time_gets_a_timeout():
    async def steps(broker, issuer):
        tasks = await callers(broker, 1)
        tasks.append(
            asyncio.create_task(asyncio.wait_for(broker.token("billing"), 0.01))
        )
        await asyncio.wait(tasks[1:], timeout=0.5)
        issuer.gate.set()
        assert await outcomes(tasks) == [GOT_IT, TimeoutError]

    run(steps)


def test_when_everybody_has_gone_the_next_caller_gets_a_token():
    async def steps(broker, issuer):
        tasks = await callers(broker, 2)
        for task in tasks:
            task.cancel()
        await settle()
        assert [task.cancelled() for task in tasks] == [True, True]
        tasks = await callers(broker, 1)
        issuer.gate.set()
        assert await outcomes(tasks) == [GOT_IT]
        assert issuer.most_at_once == 1

    run(steps)


def test_another_audience_is_not_affected():
    async def steps(broker, issuer):
        billing = await callers(broker, 1)
        mail = await callers(broker, 2, audience="mail")
        billing[0].cancel()
        await settle()
        issuer.gate.set()
        assert await outcomes(mail) == ["mail-secret", "mail-secret"]
        assert issuer.asked.count("mail") == 1

    run(steps)


def test_the_token_is_at_hand_after_a_caller_went_away():
    async def steps(broker, issuer):
        tasks = await callers(broker, 2)
        tasks[0].cancel()
        await settle()
        issuer.gate.set()
        await outcomes(tasks)
        asked = len(issuer.asked)
        assert (await broker.token("billing")).secret == GOT_IT
        assert len(issuer.asked) == asked
        assert broker.stats.reused == 1

    run(steps)
