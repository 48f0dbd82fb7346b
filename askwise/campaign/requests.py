"""Writes that wait for a transaction: what is to be done, and the result."""

import copy
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from askwise.campaign.state import CampaignState
from askwise.campaign.verbs import Verbs
from askwise.core.errors import Conflict, InvalidProblem, StoreError
from askwise.core.events import Event
from askwise.core.text import flaw
from askwise.store import Reply, Transaction, errors

T = TypeVar("T")


@dataclass(frozen=True)
class Action(Generic[T]):
    """What a write does, and how its result is kept and recalled for a retry.

    All of it happens while the state is in hand, so that nobody has to look up afterwards what
    the result is about.
    """

    act: Callable[[Verbs], T]
    keep: Callable[[T], dict[str, Any] | None]
    """The result as JSON, asked only if the write has a key; None: a retry is to do it again."""
    recall: Callable[[CampaignState, dict[str, Any]], T]
    """The result of the first time, from what was kept."""


@dataclass(frozen=True)
class PreparedWrite(Generic[T]):
    """A write whose arguments are checked; what it does is decided once its turn has come.

    ``text`` is canonical JSON of verb and arguments, which tells it from other writes with its key.
    """

    text: str
    key: str | None
    action: Action[T]


class Crew(ABC):
    """Commits for those who do not wait in a thread of their own, such as an event loop."""

    @abstractmethod
    def start(self, work: Callable[[], None]) -> None:
        """Do ``work`` soon, in another thread."""

    def commit(self, work: Callable[[], None]) -> None:
        """Do the same for who has just started other work, and waits for this at its end."""
        self.start(work)

    @abstractmethod
    def wake(self, requests: Sequence["Request"]) -> None:
        """Tell those whose requests are done; called in that thread, once a transaction."""


def _taken() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(eq=False)
class Request:
    """One write: what is to be done, and the result once it is ``done``."""

    write: PreparedWrite[Any]
    waiter: Any = None
    """Who is told by the crew; None where a thread waits."""
    done: bool = False
    found: Any = None
    error: Exception | None = None
    leads: bool = False
    """Whether its thread has to commit for all who wait."""
    woken: threading.Lock = field(default_factory=_taken)
    """Released once it is answered, or has to lead: so each thread is woken once, for a reason."""

    def succeed(self, found: Any) -> None:
        """Note the result."""
        self.done, self.found, self.error = True, found, None

    def fail(self, error: Exception) -> None:
        """Note why nothing came of it."""
        self.done, self.found, self.error = True, None, error

    def reset(self) -> None:
        """Make ready for another attempt."""
        self.done, self.found, self.error = False, None, None

    def result(self) -> Any:
        """The result; raises the error if there is one."""
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                # Its traceback holds this frame: a cycle would keep the store's file open.
                del error
        return self.found


@dataclass
class Work:
    """What a group of requests is about to write."""

    events: list[Event]
    kept: list[Reply] = field(default_factory=list)

    def append_to(self, transaction: Transaction, before: int) -> None:
        """Write it down after the event ``before``."""
        for reply in self.kept:
            transaction.keep(reply)
        if self.events:
            transaction.append(self.events, before)


class Overtaken(Exception):
    """Another process has written since the work of a write began: its result does not hold."""


class HalfDone(Exception):
    """A write failed after it had folded events of its own: the transaction can't go on."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def failure_of(error: BaseException, group: list[Request]) -> Exception:
    """What a failed transaction is to one request of its group."""
    if not isinstance(error, Exception):
        return interrupted()
    if len(group) == 1:
        return error
    # To raise one exception in several threads would mix up their tracebacks.
    made = copy.copy(error)
    made.__cause__ = error
    return made


def check_key(key: str) -> None:
    """Refuse a key that no store can keep: looked up with others it would fail them all."""
    wrong = flaw(key)
    if wrong is not None:
        raise InvalidProblem(f"key is {key!r}, which has {wrong}: leave it out", field="key")


def interrupted() -> StoreError:
    """Build the error for a write that may or may not have been done."""
    words = "the write was interrupted: look up the key, or read the log, before you retry"
    return errors.in_doubt(words)


def reply_again(known: Reply, request: str) -> dict[str, Any]:
    """The first reply to a key; Conflict if that was another request."""
    if known.request != request:
        raise Conflict(
            f"key {known.key!r} was used for another request: use a new key for a new request",
            field="key",
            reason="key_reused",
        )
    return json.loads(known.body)
