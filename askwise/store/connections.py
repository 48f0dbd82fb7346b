"""What the connections of all databases share: whose they are, and what a fork does to them."""

import os
import threading
import weakref
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from askwise.core.errors import StoreError
from askwise.store import errors


class Connection(ABC):
    """One connection.

    Parameters
    ----------
    where : object
        The database; its text names it in messages.
    patience : float
        Seconds to wait for a lock.

    Attributes
    ----------
    writing : bool
        Whether a write block is open.
    failure : StoreError or None
        Why nothing of that write can be kept any more.
    """

    def __init__(self, where: object, patience: float) -> None:
        self.where = where
        self.patience = patience
        self.writing = False
        self.failure: StoreError | None = None
        self._process = os.getpid()

    @property
    def is_foreign(self) -> bool:
        """Whether it was inherited by a fork; then it must not even be closed."""
        return self._process != os.getpid()

    def check(self) -> None:
        """Complain about a write that can't go on: it has failed, or is the parent process's."""
        if self.is_foreign:
            raise errors.forked(self.where)
        if self.failure is not None:
            raise errors.nothing_kept(self.failure) from self.failure

    @abstractmethod
    def run(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement and fetch its rows; errors come out as StoreError."""

    def run_ahead(self, statement: str, *values: Any) -> list[Any]:
        """Execute it ahead of what waits for a later round trip, where anything does."""
        return self.run(statement, *values)


AnyConnection = TypeVar("AnyConnection", bound=Connection)


class Connections(ABC, Generic[AnyConnection]):
    """The connections of one store, made when they are needed; it is told of forks.

    Parameters
    ----------
    where : object
        The database.
    patience : float
        Seconds to wait for a lock.
    """

    def __init__(self, where: object, patience: float) -> None:
        self.where = where
        self.patience = patience
        self._closed = False
        self._local = threading.local()
        with _lock:
            _all.add(self)

    @abstractmethod
    def use(self) -> AbstractContextManager[AnyConnection]:
        """Lend this thread its connection."""

    def use_outside(self, verb: str) -> AbstractContextManager[AnyConnection]:
        """Lend a connection for what can't be done inside a write block."""
        self.check_outside(verb)
        return self.use()

    def use_apart(self, verb: str) -> AbstractContextManager[AnyConnection]:
        """Lend a connection beside the thread's own, for a long look outside a write block."""
        self.check_outside(verb)
        return self._lend_another()

    def check_outside(self, verb: str) -> None:
        """Complain if this thread is inside a write block."""
        link = self._own()
        if link is not None and link.writing:
            raise errors.inside_write(verb)

    @abstractmethod
    def close(self) -> None:
        """Close all connections, each as soon as its thread is done with it."""

    @abstractmethod
    def _lend_another(self) -> AbstractContextManager[AnyConnection]:
        """Lend a connection that no thread has."""

    def _own(self) -> AnyConnection | None:
        return getattr(self._local, "link", None)

    def park(self) -> None:
        """Make ready for a fork."""

    def resume(self) -> None:
        """Go on after a fork, in the parent."""

    @abstractmethod
    def restart(self) -> None:
        """Start again after a fork, in the child, where no other thread is left."""


_all: weakref.WeakSet[Connections[Any]] = weakref.WeakSet()
_lock = threading.RLock()


def _before_fork() -> None:
    _lock.acquire()
    for connections in _all:
        connections.park()


def _after_fork_in_parent() -> None:
    for connections in _all:
        connections.resume()
    _lock.release()


def _after_fork_in_child() -> None:
    for connections in _all:
        connections.restart()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
