"""A pool of authenticated sessions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mailhand.connection import Connection, Credentials, Dial
from mailhand.errors import PoolExhausted, RecipientRefused, RelayUnavailable


class SessionPool:
    """Opens sessions when they are needed and keeps them for later.

    Safe for use from several threads. Connections are opened, checked and
    closed outside of the lock, as each of these may take its time.
    """

    def __init__(self, dial: Dial, credentials: Credentials, size: int = 4) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        self._dial = dial
        self._credentials = credentials
        self._size = size
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._in_use = 0

    @property
    def in_use(self) -> int:
        """How many sessions are leased right now."""
        return self._in_use

    @property
    def idle(self) -> int:
        """How many sessions wait for their next lease."""
        return len(self._idle)

    @contextmanager
    def lease(self) -> Iterator[Connection]:
        """Lend a session for the duration of a ``with`` block.

        Raises:
            PoolExhausted: All sessions are in use.
            RelayUnavailable: A session could not be opened.
            LoginRejected: The relay does not take the credentials.
        """
        connection = self._acquire()
        try:
            yield connection
        except RecipientRefused:
            self._give_back(connection)
            raise
        except BaseException:
            self._discard(connection)
            raise
        self._give_back(connection)

    def close(self) -> None:
        """Close all idle sessions."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _acquire(self) -> Connection:
        with self._lock:
            if self._in_use >= self._size:
                raise PoolExhausted(f"all {self._size} sessions are in use")
            self._in_use += 1
        connection = self._take_idle()
        if connection is None:
            connection = self._open()
        return connection

    def _take_idle(self) -> Connection | None:
        """Take an idle session that is still alive, if there is one."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_alive():
                return connection

    def _open(self) -> Connection:
        try:
            connection = self._dial()
            connection.login(self._credentials.user, self._credentials.password)
        except OSError as exc:
            raise RelayUnavailable(f"cannot open a session: {exc}") from exc
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            self._in_use -= 1
            self._idle.append(connection)

    def _discard(self, connection: Connection) -> None:
        with self._lock:
            self._in_use -= 1
        connection.close()
