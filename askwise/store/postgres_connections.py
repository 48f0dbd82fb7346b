"""Connections to one PostgreSQL database: lent to threads, and none carried across a fork."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from askwise.core.errors import StoreError
from askwise.store.base import inside_write, store_closed
from askwise.store.postgres_address import Address
from askwise.store.postgres_link import Link, busy


class Connections:
    """The connections of one store, made when they are needed.

    Parameters
    ----------
    address : Address
        The database.
    patience : float
        Seconds to wait for a lock, or for a connection while all are in use.
    limit : int
        How many there may be at a time.
    """

    def __init__(self, address: Address, patience: float, limit: int) -> None:
        self.address = address
        self.patience = patience
        self.limit = limit
        self._closed = False
        self._reset()
        with _pools_lock:
            _pools.add(self)

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._idle: list[Link] = []
        self._lent: set[Link] = set()
        self._turns: dict[int, threading.Lock] = {}
        self._probe = Link(self.address, self.patience)
        self._probing = threading.Lock()
        self._local = threading.local()

    @contextmanager
    def use(self) -> Iterator[Link]:
        """Lend this thread a connection: within a use, the same one."""
        link = self._own()
        if link is not None:
            yield link
            return
        link = self._take()
        self._local.link = link
        try:
            link.wake()
            yield link
        finally:
            if not link.is_foreign:
                del self._local.link
            self._give_back(link)

    @contextmanager
    def use_outside(self, verb: str) -> Iterator[Link]:
        """Lend a connection for what can't be done inside a write block."""
        self.check_outside(verb)
        with self.use() as link:
            yield link

    @contextmanager
    def use_apart(self, verb: str) -> Iterator[Link]:
        """Lend a connection beside the thread's own, for a long look outside a write block."""
        self.check_outside(verb)
        link = self._take()
        try:
            link.wake()
            yield link
        finally:
            self._give_back(link)

    @contextmanager
    def use_to_probe(self) -> Iterator[Link]:
        """Lend the connection that is kept, beyond the limit, to see whether the server answers.

        It is there even while all others are in use.
        """
        with self._probing:
            if self._closed:
                raise store_closed()
            try:
                self._probe.wake()
                yield self._probe
            finally:
                self._probe.end()
                if self._closed:
                    self._probe.close()

    @contextmanager
    def turn(self, campaign: int) -> Iterator[None]:
        """Wait for the other threads that write to this campaign.

        They wait without a connection each, so that other campaigns can be written meanwhile.
        """
        with self._changed:
            lock = self._turns.setdefault(campaign, threading.Lock())
        if not lock.acquire(timeout=self.patience):
            raise busy(self.address, self.patience)
        try:
            yield
        finally:
            lock.release()

    def check_outside(self, verb: str) -> None:
        """Complain if this thread is inside a write block."""
        link = self._own()
        if link is not None and link.writing:
            raise inside_write(verb)

    def close(self) -> None:
        """Close all connections, each as soon as its thread is done with it."""
        self.check_outside("close the store")
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for link in idle:
            link.close()
        if self._probing.acquire(blocking=False):  # else its user closes it
            self._probe.close()
            self._probing.release()

    def _own(self) -> Link | None:
        link: Link | None = getattr(self._local, "link", None)
        return link

    def _take(self) -> Link:
        deadline = time.monotonic() + self.patience
        with self._changed:
            while True:
                if self._closed:
                    raise store_closed()
                if self._idle:
                    link = self._idle.pop()
                    if link.is_foreign:  # by a fork that Python did not see
                        _abandoned.append(link)
                        continue
                    break
                if len(self._lent) < self.limit:
                    link = Link(self.address, self.patience)
                    break
                if not self._changed.wait(deadline - time.monotonic()):
                    raise StoreError(
                        f"{self.address}: all {self.limit} connections were in use for more than "
                        f"{self.patience:g} s; nothing was written, try again",
                        reason="store_busy",
                    )
            self._lent.add(link)
        return link

    def _give_back(self, link: Link) -> None:
        if link.is_foreign:
            return
        try:
            link.end()
        finally:
            with self._changed:
                self._lent.discard(link)
                if not self._closed:
                    self._idle.append(link)
                self._changed.notify()
            if self._closed:
                link.close()

    def park(self) -> None:
        """Hold still for a fork."""
        self._changed.acquire()

    def resume(self) -> None:
        """Go on after a fork, in the parent."""
        self._changed.release()

    def restart(self) -> None:
        """Start anew after a fork, in the child, where no other thread is left."""
        _abandoned.extend(link.abandon() for link in (*self._idle, *self._lent, self._probe))
        self._reset()


# A child that used or closed a connection of its parent would talk into the parent's session. It
# must not keep the socket either: as long as one process holds it, the server takes the session
# for alive and keeps its locks, though the parent may be dead. So the child closes its copy of
# the socket and keeps the rest untouched for as long as it lives.
_pools: weakref.WeakSet[Connections] = weakref.WeakSet()
_pools_lock = threading.RLock()
_abandoned: list[Any] = []


def _before_fork() -> None:
    _pools_lock.acquire()
    for pool in _pools:
        pool.park()


def _after_fork_in_parent() -> None:
    for pool in _pools:
        pool.resume()
    _pools_lock.release()


def _after_fork_in_child() -> None:
    for pool in _pools:
        pool.restart()
    _pools_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
