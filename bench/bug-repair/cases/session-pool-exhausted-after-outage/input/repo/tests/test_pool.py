import pytest

from mailhand import Credentials, MemoryRelay, PoolExhausted, SessionPool
from mailhand.errors import RecipientRefused


@pytest.fixture
def relay():
    return MemoryRelay()


@pytest.fixture
def pool(relay):
    return SessionPool(relay.dial, Credentials("worker", "s3cret"), size=2)


def test_sessions_are_reused(pool, relay):
    with pool.lease() as first:
        assert (pool.in_use, pool.idle) == (1, 0)
    with pool.lease() as second:
        assert second is first
    assert (pool.in_use, pool.idle) == (0, 1)
    assert relay.open_connections == 1


def test_never_more_than_size(pool):
    with pool.lease(), pool.lease():
        with pytest.raises(PoolExhausted, match="all 2 sessions"), pool.lease():
            pass
        assert pool.in_use == 2
    assert (pool.in_use, pool.idle) == (0, 2)


def test_session_is_discarded_after_an_error(pool, relay):
    with pytest.raises(KeyError), pool.lease():
        raise KeyError("x")
    assert (pool.in_use, pool.idle) == (0, 0)
    assert relay.open_connections == 0


def test_session_survives_a_refused_recipient(pool):
    with pytest.raises(RecipientRefused), pool.lease():
        raise RecipientRefused("x")
    assert (pool.in_use, pool.idle) == (0, 1)


def test_close(pool, relay):
    with pool.lease(), pool.lease():
        pass
    pool.close()
    assert (pool.idle, relay.open_connections) == (0, 0)


def test_size_is_positive(relay):
    with pytest.raises(ValueError, match="at least 1"):
        SessionPool(relay.dial, Credentials("worker", "s3cret"), size=0)


def test_password_is_not_shown():
    assert "s3cret" not in repr(Credentials("worker", "s3cret"))
