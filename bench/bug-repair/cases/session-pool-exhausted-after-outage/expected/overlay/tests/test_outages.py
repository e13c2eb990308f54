import pytest

from mailhand import (
    Credentials,
    LoginRejected,
    MemoryRelay,
    Message,
    PoolExhausted,
    RelayUnavailable,
    Sender,
    SessionPool,
)

CREDENTIALS = Credentials("worker", "s3cret")
SIZE = 3
HELLO = Message("ops@example.org", ["ada@example.org"], "Hi", "It works.")


class ShakyConnection:
    """A connection that does what its relay says."""

    def __init__(self, relay):
        self.relay = relay
        self.closed = 0
        self.hung_up = False

    def login(self, user, password):
        if self.relay.login_error:
            raise self.relay.login_error

    def deliver(self, sender, recipient, text):
        assert not self.closed
        if self.relay.deliver_error:
            raise self.relay.deliver_error

    def is_alive(self):
        if self.relay.check_error:
            raise self.relay.check_error
        return not self.hung_up

    def close(self):
        self.closed += 1


class ShakyRelay:
    """A relay on which each step can be made to fail."""

    def __init__(self):
        self.connections = []
        self.dial_error = None
        self.login_error = None
        self.deliver_error = None
        self.check_error = None

    def dial(self):
        if self.dial_error:
            raise self.dial_error
        connection = ShakyConnection(self)
        self.connections.append(connection)
        return connection

    @property
    def left_open(self):
        return sum(not connection.closed for connection in self.connections)


@pytest.fixture
def relay():
    return ShakyRelay()


@pytest.fixture
def pool(relay):
    return SessionPool(relay.dial, CREDENTIALS, size=SIZE)


def fill(pool, count=SIZE):
    """Leave ``count`` idle sessions in the pool."""
    leases = [pool.lease() for _ in range(count)]
    connections = [lease.__enter__() for lease in leases]
    for lease in leases:
        lease.__exit__(None, None, None)
    assert (pool.in_use, pool.idle) == (0, count)
    return connections


def fail(pool, error, times=2 * SIZE):
    for _ in range(times):
        with pytest.raises(error), pool.lease():
            raise AssertionError("there should be no session")
    assert pool.in_use == 0


def test_refused_connections_cost_nothing(relay, pool):
    relay.dial_error = ConnectionRefusedError("no one there")
    fail(pool, RelayUnavailable)
    relay.dial_error = None
    fill(pool)


def test_rejected_logins_cost_nothing(relay, pool):
    relay.login_error = LoginRejected("wrong password")
    fail(pool, LoginRejected)
    assert len(relay.connections) == 2 * SIZE
    assert relay.left_open == 0
    relay.login_error = None
    fill(pool)
    assert relay.left_open == SIZE


def test_relay_that_hangs_up_at_login(relay, pool):
    relay.login_error = ConnectionResetError("bye")
    fail(pool, RelayUnavailable)
    assert relay.left_open == 0
    relay.login_error = None
    fill(pool)


@pytest.mark.parametrize("step", ["dial_error", "login_error"])
def test_unexpected_errors_cost_nothing(relay, pool, step):
    setattr(relay, step, ZeroDivisionError("a bug in the transport"))
    fail(pool, ZeroDivisionError)
    assert relay.left_open == 0
    setattr(relay, step, None)
    fill(pool)


def test_interrupted_login_costs_nothing(relay, pool):
    relay.login_error = KeyboardInterrupt()
    fail(pool, KeyboardInterrupt, times=1)
    assert relay.left_open == 0


def test_dead_idle_sessions_are_closed(relay, pool):
    dead = fill(pool)
    for connection in dead:
        connection.hung_up = True
    with pool.lease() as connection:
        assert connection not in dead
        assert (pool.in_use, pool.idle) == (1, 0)
    assert [connection.closed for connection in dead] == [1] * SIZE
    assert relay.left_open == 1


def test_living_sessions_behind_dead_ones_are_used(relay, pool):
    connections = fill(pool)
    connections[-1].hung_up = True
    with pool.lease() as connection:
        assert connection in connections[:-1]
    assert relay.left_open == SIZE - 1
    assert len(relay.connections) == SIZE


def test_outage_with_idle_sessions(relay, pool):
    for connection in fill(pool):
        connection.hung_up = True
    relay.dial_error = ConnectionRefusedError("no one there")
    fail(pool, RelayUnavailable)
    assert relay.left_open == 0
    relay.dial_error = None
    fill(pool)


def test_failed_check_costs_nothing(relay, pool):
    fill(pool, 1)
    relay.check_error = TimeoutError("no answer")
    try:
        with pool.lease():
            pass
    except (RelayUnavailable, TimeoutError):
        pass
    assert pool.in_use == 0
    assert relay.connections[0].closed
    relay.check_error = None
    assert relay.left_open == pool.idle
    fill(pool)


def test_worker_recovers_after_the_outage(relay, pool):
    sender = Sender(pool)
    relay.dial_error = ConnectionRefusedError("no one there")
    report = sender.send_all([HELLO] * SIZE)
    assert len(report.failed) == SIZE
    assert {type(error) for _, error in report.failed} == {RelayUnavailable}
    relay.dial_error = None
    assert len(sender.send_all([HELLO] * SIZE).sent) == SIZE
    assert pool.in_use == 0


def test_worker_recovers_after_a_new_password():
    relay = MemoryRelay(password="other")
    pool = SessionPool(relay.dial, CREDENTIALS, size=SIZE)
    sender = Sender(pool)
    for _ in range(2 * SIZE):
        with pytest.raises(LoginRejected):
            sender.send(HELLO)
    assert relay.open_connections == 0
    relay.password = CREDENTIALS.password
    sender.send(HELLO)
    assert (relay.open_connections, pool.in_use, pool.idle) == (1, 0, 1)


def test_cause_is_kept(relay, pool):
    relay.dial_error = ConnectionRefusedError("no one there")
    with pytest.raises(RelayUnavailable, match="no one there") as caught, pool.lease():
        pass
    assert caught.value.__cause__ is relay.dial_error


def test_full_pool_opens_and_closes_nothing(relay, pool):
    leases = [pool.lease() for _ in range(SIZE)]
    for lease in leases:
        lease.__enter__()
    for _ in range(2):
        with pytest.raises(PoolExhausted), pool.lease():
            pass
    assert (pool.in_use, len(relay.connections)) == (SIZE, SIZE)
    for lease in leases:
        lease.__exit__(None, None, None)
    assert (pool.in_use, pool.idle, relay.left_open) == (0, SIZE, SIZE)


def test_session_is_closed_once_after_a_failed_delivery(relay, pool):
    relay.deliver_error = BrokenPipeError("gone")
    with pytest.raises(RelayUnavailable, match="gone"):
        Sender(pool).send(HELLO)
    assert [connection.closed for connection in relay.connections] == [1]
    assert (pool.in_use, pool.idle) == (0, 0)
