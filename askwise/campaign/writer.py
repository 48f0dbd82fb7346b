"""One campaign's state and the one way to write to it: transactions shared by those who wait.

The log is the truth; the engine here is a cache of it. Writes that arrive while a commit is under
way share the next transaction (group commit): a disk that syncs two hundred times a second then
serves thousands of writes. Each still is all or nothing, and is answered once it is durable.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from askwise.campaign.engine import Engine
from askwise.campaign.rules import Rules
from askwise.campaign.spec import Spec
from askwise.core.errors import AskwiseError, Conflict, StoreError
from askwise.core.events import Event
from askwise.store import Reply, Snapshot, Store, Transaction

FIRST_SNAPSHOT = 1024
"""Snapshots are taken at this position and each time the log has doubled."""

LARGEST_GROUP = 256
"""Writes in one transaction, at the most: the last of them waits for the work of all."""

Act = Callable[[Rules], dict[str, Any]]


@dataclass(eq=False)
class Request:
    """One write: what is to be done, and once it is done what came of it."""

    text: str
    """Canonical JSON of verb and arguments."""
    key: str | None
    act: Act
    reply: dict[str, Any] | None = None
    error: Exception | None = None

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
        self._turn = threading.Condition()
        self._writing = False
        self._waiting: deque[Request] = deque()
        self._engine: Engine | None = None

    # Writing.

    def write(self, text: str, key: str | None, act: Act) -> dict[str, Any]:
        """Do a write in a transaction, perhaps with others; on any failure nothing has happened."""
        request = Request(text, key, act)
        with self._turn:
            self._waiting.append(request)
            while self._writing and not request.done:
                self._turn.wait()
            if not request.done:
                self._writing = True
        if not request.done:
            self._lead(request)
        return request.result()

    def _lead(self, request: Request) -> None:
        """Commit for all who wait, until one's own request is done."""
        try:
            with self.lock:
                while not request.done:
                    self._commit_waiting()
        finally:
            with self._turn:
                self._writing = False
                # Those who are answered go; of the others one leads on.
                self._turn.notify_all()

    def _commit_waiting(self) -> None:
        group: list[Request] = []
        while self._waiting and len(group) < LARGEST_GROUP:
            group.append(self._waiting.popleft())
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
            with self.store.write(self.name) as transaction:
                engine = self._caught_up(transaction)
                before = engine.seq
                now = self.clock()
                # What is overdue is released whether or not the requests are granted.
                expiry = Rules(self.name, engine, now, None)
                expiry.expire_overdue()
                if expiry.events:
                    transaction.append(expiry.events, before)
                for request in group:
                    self._run(request, engine, now, transaction)
        except BaseException as error:
            # What was folded may not be in the store: forget it, restore on next use.
            if self._engine is not None and before is not None and self._engine.seq != before:
                self._engine = None
            if isinstance(error, _HalfDone):
                raise
            cause = error if isinstance(error, Exception) else _interrupted()
            for request in group:
                request.reply, request.error = None, request.error or cause
            if cause is not error:
                raise
            return
        self._maybe_snapshot(before)

    def _run(self, request: Request, engine: Engine, now: float, transaction: Transaction) -> None:
        """Do one write of a group; a refusal is the request's own affair."""
        before = engine.seq
        try:
            known = None if request.key is None else transaction.reply(request.key)
            if known is not None:
                request.reply = _again(known, request.text)
                return
            rules = Rules(self.name, engine, now, request.key)
            reply = request.act(rules)
        except StoreError:
            raise
        except Exception as error:
            if engine.seq != before:
                raise _HalfDone(error) from error
            request.error = error
            return
        if rules.events:
            transaction.append(rules.events, before)
        if request.key is not None:
            transaction.keep(Reply(request.key, request.text, json.dumps(reply)))
        request.reply = reply

    # State is a cache of the log.

    def current(self) -> Engine:
        """The engine at the end of the log; hold ``lock`` while you use it."""
        engine = self._loaded()
        return self._fold_all(engine, self.store.read(self.name, engine.seq))

    def engine_at(self, seq: int) -> Engine:
        """A new engine that has folded exactly the first ``seq`` events."""
        engine = self._nearest(seq)
        for event in self.store.read(self.name, engine.seq, seq):
            engine.fold(event)
        return engine

    def _caught_up(self, transaction: Transaction) -> Engine:
        engine = self._loaded()
        return self._fold_all(engine, transaction.tail(engine.seq))

    def _fold_all(self, engine: Engine, events: Iterable[Event]) -> Engine:
        try:
            for event in events:
                engine.fold(event)
        except BaseException:
            # Interrupted within an event: what is half folded must not be used again.
            self._engine = None
            raise
        return engine

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = self._nearest(None)
        return self._engine

    def _nearest(self, upto: int | None) -> Engine:
        """The engine at the newest snapshot (not beyond ``upto``), or at the beginning."""
        engine = Engine(self.spec)
        found = self.store.snapshot(self.name, engine.version, upto)
        return engine if found is None else Engine.restore(self.spec, found.blob)

    def _maybe_snapshot(self, before: int) -> None:
        engine = self._engine
        if engine is None:
            return
        mark = FIRST_SNAPSHOT
        while mark <= before:
            mark *= 2
        if engine.seq >= mark:
            seq, version, pack = engine.seq, engine.version, engine.freeze()
            self.later(lambda: self._save(seq, version, pack))

    def _save(self, seq: int, version: str, pack: Callable[[], bytes]) -> None:
        try:
            self.store.save(self.name, Snapshot(seq, version, pack()))
        except AskwiseError as error:
            # The write itself is committed; a snapshot only saves time.
            logging.getLogger(__name__).warning("no snapshot at event %d: %s", seq, error)


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
