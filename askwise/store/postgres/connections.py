"""Connections to one PostgreSQL database: a pool for threads, and none carried across a fork."""

import logging
import math
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.connections import Connections
from askwise.store.postgres.address import Address
from askwise.store.postgres.connection import (
    PostgresConnection,
    RawConnection,
    has_news,
    open_connection,
)

_FIRST_LOOK, _LONGEST_LOOK = 0.02, 1.0
"""Seconds between looks at whether connecting has failed: the pool tells nobody who waits."""

_NAME = "askwise"


def _is_news(record: logging.LogRecord) -> bool:
    """Leave out what the pool says about our connections: our errors say it."""
    about = record.args if isinstance(record.args, tuple) else ()
    return not any(each == _NAME or isinstance(each, RawConnection) for each in about)


logging.getLogger("psycopg.pool").addFilter(_is_news)


class _QuietPool(ConnectionPool[RawConnection]):
    """A pool that may be forgotten: its own thread may be the last that knows it."""

    def __del__(self) -> None:
        # A thread can't wait for itself to end; it ends all the same.
        with suppress(RuntimeError):
            super().__del__()


class PostgresConnections(Connections[PostgresConnection]):
    """The connections of one store, at most ``limit`` at a time, which its threads share.

    ``patience`` is also how long a thread waits for one while all are in use.
    """

    def __init__(self, address: Address, patience: float, limit: int) -> None:
        self.address = address
        self.limit = limit
        self._reset()
        super().__init__(address, patience)

    def _reset(self) -> None:
        self._process = os.getpid()
        self._made: weakref.WeakSet[RawConnection] = weakref.WeakSet()
        self._is_connecting = False
        self._failure: StoreError | None = None
        self._failed_from = self._failed_at = -math.inf
        self._turns: dict[int, threading.Lock] = {}
        self._turns_lock = threading.Lock()
        self._probe: RawConnection | None = None
        self._probing = threading.Lock()
        self._local = threading.local()
        # The pool's thread connects through us, so that we know what became of it. It starts with
        # the first use; weakly, so that a store that nobody has any more ends it.
        self._pool = _QuietPool(
            connection_class=cast(type[RawConnection], weakref.proxy(self)),
            name=_NAME,
            min_size=0,
            max_size=self.limit,
            open=False,
            check=_check_idle,
            max_lifetime=threading.TIMEOUT_MAX,
            reconnect_timeout=0.0,
            num_workers=1,
        )

    def connect(self, _: str) -> RawConnection:
        """Make a connection; called by the pool, in its own thread."""
        self._is_connecting, begun = True, time.monotonic()
        try:
            connection = open_connection(self.address, self.patience)
        except StoreError as error:
            self._failure, self._failed_from, self._failed_at = error, begun, time.monotonic()
            raise
        finally:
            self._is_connecting = False
        self._made.add(connection)
        return connection

    @contextmanager
    def use(self) -> Iterator[PostgresConnection]:
        # Within a use, the same one.
        link = self._own()
        if link is not None:
            yield link
            return
        with self._lend_another() as link:
            self._local.link = link
            try:
                yield link
            finally:
                if not link.is_foreign:
                    del self._local.link

    @contextmanager
    def use_to_probe(self) -> Iterator[PostgresConnection]:
        """Lend the connection that is kept, beyond the limit, to see whether the server answers.

        It is there even while all others are in use.
        """
        with self._probing:
            if self._closed:
                raise errors.store_closed()
            connection = self._probe
            if connection is None or connection.closed or has_news(connection):
                if connection is not None:
                    connection.close()
                connection = self._probe = open_connection(self.address, self.patience)
                self._made.add(connection)
            link = PostgresConnection(self.address, self.patience, connection)
            try:
                yield link
            finally:
                link.end()
                if self._closed:
                    connection.close()

    @contextmanager
    def turn(self, campaign: int) -> Iterator[None]:
        """Wait for the other threads that write to this campaign.

        They wait without a connection each, so that other campaigns can be written meanwhile.
        """
        with self._turns_lock:
            lock = self._turns.setdefault(campaign, threading.Lock())
        if not lock.acquire(timeout=self.patience):
            raise errors.busy(self.address, self.patience)
        try:
            yield
        finally:
            lock.release()

    def close(self) -> None:
        self.check_outside("close the store")
        self._closed = True
        self._pool.close()
        if self._probing.acquire(blocking=False):  # else its user closes it
            if self._probe is not None:
                self._probe.close()
            self._probing.release()

    @contextmanager
    def _lend_another(self) -> Iterator[PostgresConnection]:
        connection = self._take()
        pool = self._pool
        link = PostgresConnection(self.address, self.patience, connection)
        try:
            yield link
        finally:
            if not link.is_foreign:
                try:
                    link.end()
                finally:
                    pool.putconn(connection)

    def _take(self) -> RawConnection:
        if self._process != os.getpid():  # by a fork that Python did not see
            _abandoned.append(self._pool)
            self._reset()
        begun, look = time.monotonic(), _FIRST_LOOK
        deadline = begun + self.patience
        while not self._closed:
            self._pool.open()
            try:
                return self._pool.getconn(look)
            except PoolClosed:
                break
            except PoolTimeout:
                left = deadline - time.monotonic()
                # One that began before failed for what was then: the server was restarted, say. It
                # is told if the next one takes too long.
                told_from = self._failed_from if left > 0 else self._failed_at
                if self._failure is not None and told_from >= begun:
                    raise StoreError(str(self._failure), field="store") from self._failure
                # Connecting has a time limit of its own, and then says more.
                if left <= 0 and not self._is_connecting:
                    raise StoreError(
                        f"{self.address}: all {self.limit} connections were in use for more than "
                        f"{self.patience:g} s; nothing was written, try again",
                        reason="store_busy",
                    ) from None
                look = max(_FIRST_LOOK, min(2 * look, _LONGEST_LOOK, left))
        raise errors.store_closed()

    def restart(self) -> None:
        for connection in self._made:
            if not connection.closed:
                os.close(connection.fileno())
            _abandoned.append(connection)
        _abandoned.append(self._pool)
        self._reset()


def _check_idle(connection: psycopg.Connection[Any]) -> None:
    """Refuse a connection that the server has ended: it was restarted, or ended the session."""
    if has_news(connection):
        connection.close()
        raise psycopg.OperationalError("the connection has ended")


# A child that used or closed a connection of its parent would talk into the parent's session. It
# must not keep the socket either: as long as one process holds it, the server takes the session
# for alive and keeps its locks, though the parent may be dead. So the child closes its copy of
# the socket and keeps the rest untouched for as long as it lives.
_abandoned: list[Any] = []
