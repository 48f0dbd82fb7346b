"""One campaign's state and the one way to write to it: transactions shared by those who wait.

The log is the truth; the engine here is a cache of it. Writes that arrive while a commit is under
way share the next transaction (group commit): a disk that syncs two hundred times a second then
serves thousands of writes. Each still is all or nothing, and is answered once it is durable.
"""

from __future__ import annotations

import copy
import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from askwise.campaign import folding
from askwise.campaign.engine import Engine, version_of
from askwise.campaign.rules import Rules
from askwise.campaign.spec import Spec
from askwise.core.errors import AskwiseError, Conflict, InvalidProblem, StoreError
from askwise.core.events import Event
from askwise.core.text import flaw
from askwise.store import Reply, Snapshot, Store, Transaction

FIRST_SNAPSHOT = 1024
"""Snapshots are taken at this position and each time the log has grown by a quarter.

So a start folds a fifth of the log at the most. As the positions grow geometrically, all snapshots
together cost five times the last one: still so much for each answer, whatever their number.
"""

LARGEST_GROUP = 256
"""Writes in one transaction, at the most: the last of them waits for the work of all."""

Act = Callable[[Rules], dict[str, Any]]


def _taken() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(eq=False)
class Request:
    """One write: what is to be done, and once it is done what came of it."""

    text: str
    """Canonical JSON of verb and arguments."""
    key: str | None
    act: Act
    reply: dict[str, Any] | None = None
    error: Exception | None = None
    leads: bool = False
    """Whether its thread has to commit for all who wait."""
    woken: threading.Lock = field(default_factory=_taken)
    """Released once it is answered, or has to lead: so each thread is woken once, for a reason."""

    @property
    def done(self) -> bool:
        """Whether it was answered."""
        return self.reply is not None or self.error is not None

    def result(self) -> dict[str, Any]:
        """The reply, or the error raised."""
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                # Its traceback holds this frame: a cycle would keep the store's file open.
                del error
        assert self.reply is not None
        return self.reply


class _HalfDone(Exception):
    """A write failed after it had folded events of its own: the transaction can't go on."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Writer:
    """The engine of one campaign, at the end of its log, and the writes to it.

    Parameters
    ----------
    clock : callable
        Seconds now.
    later : callable
        How the saving of a snapshot is started; at once by default. A service hands it to
        another thread, off the path of writes.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        spec: Spec,
        clock: Callable[[], float],
        later: Callable[[Callable[[], None]], object] = lambda save: save(),
    ) -> None:
        self.store = store
        self.name = name
        self.spec = spec
        self.clock = clock
        self.later = later
        self.lock = threading.RLock()
        """Held while the engine is read or written."""
        self._turn = threading.Lock()
        self._writing = False
        self._waiting: deque[Request] = deque()
        self._engine: Engine | None = None
        self._saved = 0
        """Position of the newest snapshot that we know of."""
        self._mark = 0
        """Position at which the next snapshot is due."""
        self._released = 0
        """How many assignments the transaction under way has released as overdue."""

    # Writing.

    def write(self, text: str, key: str | None, act: Act) -> dict[str, Any]:
        """Do a write in a transaction, perhaps with others; on any failure nothing has happened."""
        if key is not None:
            _check_key(key)
        request = Request(text, key, act)
        try:
            with self._turn:
                self._waiting.append(request)
                if not self._writing:
                    self._writing = request.leads = True
            if not request.leads:
                request.woken.acquire()
            if request.leads:
                self._lead(request)
        except BaseException:
            self._withdraw(request)
            raise
        return request.result()

    def sweep(self) -> int:
        """Release what is overdue, if anything is; returns how many assignments that was."""
        with self.lock:
            if self.current().soonest() > self.clock():
                return 0
        # Every transaction begins with it, this one does nothing else.
        reply = self.write("", None, lambda _: {"released": self._released})
        return int(reply["released"])

    def _lead(self, request: Request) -> None:
        """Commit for all who wait, until one's own request is done; then another leads."""
        with self.lock:
            while not request.done:
                self._commit_waiting(request)
        self._pass_on(request)

    def _pass_on(self, request: Request) -> None:
        with self._turn:
            request.leads = False
            if not self._waiting:
                self._writing = False
                return
            heir = self._waiting[0]
            heir.leads = True
            heir.woken.release()

    def _withdraw(self, request: Request) -> None:
        """Let others go on without a thread that was interrupted."""
        with self._turn:
            if request in self._waiting:
                self._waiting.remove(request)
        if request.leads:
            self._pass_on(request)

    def _commit_waiting(self, leader: Request) -> None:
        group: list[Request] = []
        try:
            with self._turn:
                while self._waiting and len(group) < LARGEST_GROUP:
                    group.append(self._waiting.popleft())
            self._commit_group(group)
        finally:
            for request in group:
                if not request.done:
                    request.error = _interrupted()
                if request is not leader:
                    request.woken.release()

    def _commit_group(self, group: list[Request]) -> None:
        if len(group) == 1:
            self._commit_alone(group[0])
            return
        try:
            self._commit(group)
        except _HalfDone:
            for request in group:
                request.reply = request.error = None
            for request in group:
                self._commit_alone(request)

    def _commit_alone(self, request: Request) -> None:
        try:
            self._commit([request])
        except _HalfDone as half:
            request.error = half.error

    def _commit(self, group: list[Request]) -> None:
        """Fold what others wrote, act, append and commit: all requests that are not refused."""
        before = None
        try:
            engine = self._loaded()
            with self.store.write(self.name) as transaction:
                self._fold(engine, transaction.tail(engine.seq))
                before = engine.seq
                now = self.clock()
                # What is overdue is released whether or not the requests are granted.
                expiry = Rules(self.name, engine, now, None)
                expiry.expire_overdue()
                events = expiry.events
                self._released = len(events)
                known = transaction.replies([each.key for each in group if each.key is not None])
                for request in group:
                    events += self._run(request, engine, now, transaction, known)
                if events:
                    transaction.append(events, before)
        except BaseException as error:
            # What was folded may not be in the store: forget it, restore on next use.
            if self._engine is not None and before is not None and self._engine.seq != before:
                self._engine = None
            if isinstance(error, _HalfDone):
                raise
            for request in group:
                request.reply, request.error = None, request.error or _own(error, group)
            if not isinstance(error, Exception):
                raise
            return
        self._maybe_snapshot(engine, before)

    def _run(
        self,
        request: Request,
        engine: Engine,
        now: float,
        transaction: Transaction,
        known: dict[str, Reply],
    ) -> list[Event]:
        """Do one write of a group, return its events; a refusal is the request's own affair."""
        before = engine.seq
        try:
            if request.key in known:
                request.reply = _again(known[request.key], request.text)
                return []
            rules = Rules(self.name, engine, now, request.key)
            reply = request.act(rules)
        except StoreError:
            raise
        except Exception as error:
            if engine.seq != before:
                raise _HalfDone(error) from error
            request.error = error
            return []
        if request.key is not None:
            known[request.key] = Reply(request.key, request.text, json.dumps(reply))
            transaction.keep(known[request.key])
        request.reply = reply
        return rules.events

    # State is a cache of the log.

    def current(self) -> Engine:
        """The engine at the end of the log; hold ``lock`` while you use it."""
        engine = self._loaded()
        for events in self._stretches(engine):
            self._fold(engine, events)
        return engine

    def engine_at(self, seq: int) -> Engine:
        """A new engine that has folded exactly the first ``seq`` events."""
        engine, _ = self._nearest(seq)
        for events in self._stretches(engine, seq):
            _fold_all(engine, events)
        return engine

    def settle(self) -> None:
        """Save a snapshot if much has happened since the last one: before a graceful stop."""
        with self.lock:
            if self._engine is None:
                return
            engine = self.current()
            if engine.seq - self._saved < max(FIRST_SNAPSHOT, engine.seq // 100):
                return
            seq, version, pack = engine.seq, engine.version, engine.freeze()
        self._save(seq, version, pack)

    def _stretches(self, engine: Engine, upto: int | None = None) -> Iterator[list[Event]]:
        """The events that an engine has not folded yet, so many at a time."""
        while True:
            end = engine.seq + folding.LONG
            events = self.store.read(self.name, engine.seq, end if upto is None else min(end, upto))
            yield events
            if len(events) < folding.LONG:
                return

    def _fold(self, engine: Engine, events: list[Event]) -> None:
        try:
            _fold_all(engine, events)
        except BaseException:
            # Interrupted within an event: what is half folded must not be used again.
            self._engine = None
            raise

    def _loaded(self) -> Engine:
        if self._engine is None:
            engine, self._saved = self._nearest(None)
            # Before any transaction: nobody else has to wait while a long log is folded.
            for events in self._stretches(engine):
                _fold_all(engine, events)
            self._engine = engine
        return self._engine

    def _nearest(self, upto: int | None) -> tuple[Engine, int]:
        """The engine at the newest snapshot (not beyond ``upto``), or at the beginning."""
        found = self.store.snapshot(self.name, version_of(self.spec), upto)
        if found is None:
            return Engine(self.spec), 0
        return Engine.restore(self.spec, found.blob), found.seq

    def _maybe_snapshot(self, engine: Engine, before: int) -> None:
        if self._mark <= before:
            self._mark = FIRST_SNAPSHOT
            while self._mark <= before:
                self._mark += max(1, self._mark // 4)
        # Also if the log was folded from far back: the snapshots are gone, or of another version.
        far = before >= FIRST_SNAPSHOT and self._saved < before // 2
        if engine.seq >= self._mark or far:
            seq, version, pack = engine.seq, engine.version, engine.freeze()
            self._saved = seq
            self.later(lambda: self._save(seq, version, pack))

    def _save(self, seq: int, version: str, pack: Callable[[], bytes]) -> None:
        try:
            self.store.save(self.name, Snapshot(seq, version, pack()))
            self._saved = max(self._saved, seq)
        except AskwiseError as error:
            # The write itself is committed; a snapshot only saves time.
            logging.getLogger(__name__).warning("no snapshot at event %d: %s", seq, error)


def _fold_all(engine: Engine, events: list[Event]) -> None:
    if folding.pays(engine, len(events)):
        folding.fold_long(engine, events)
        return
    for event in events:
        engine.fold(event)


def _own(error: BaseException, group: list[Request]) -> Exception:
    """What a failed transaction is to one request of its group."""
    if not isinstance(error, Exception):
        return _interrupted()
    if len(group) == 1:
        return error
    # To raise one exception in several threads would mix up their tracebacks.
    made = copy.copy(error)
    made.__cause__ = error
    return made


def _check_key(key: str) -> None:
    """Refuse a key that no store can keep: looked up with others it would fail them all."""
    wrong = flaw(key)
    if wrong is not None:
        raise InvalidProblem(f"key is {key!r}, which has {wrong}: leave it out", field="key")


def _interrupted() -> StoreError:
    return StoreError(
        "the write was interrupted: look up the key, or read the log, before you retry"
    )


def _again(known: Reply, request: str) -> dict[str, Any]:
    if known.request != request:
        raise Conflict(
            f"key {known.key!r} was used for another request: use a new key for a new request",
            field="key",
        )
    reply: dict[str, Any] = json.loads(known.body)
    return reply
