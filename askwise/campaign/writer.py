"""One campaign's state and the one way to write to it: transactions shared by those who wait.

The log is the truth; the state here is a cache of it. Writes that arrive while a commit is under
way share the next transaction (group commit): a disk that syncs two hundred times a second then
serves thousands of writes. Each still is all or nothing, and is answered once it is durable.

What a write does is worked out before its transaction begins: a decision may take seconds, and a
store that is locked meanwhile would keep other campaigns waiting. The transaction then only
appends, if nobody else has written since; if somebody has, the work is done again.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from askwise.campaign import requests
from askwise.campaign.cached import CachedState
from askwise.campaign.loading import Loaded, Renamed
from askwise.campaign.requests import (
    Action,
    Crew,
    HalfDone,
    Overtaken,
    PreparedWrite,
    Request,
    Work,
)
from askwise.campaign.revisions import Outdated
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.verbs import Verbs
from askwise.core.errors import AskwiseError, Conflict, StoreError
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event
from askwise.store import Reply, Store

T = TypeVar("T")

LARGEST_GROUP = 256
"""The most writes in one transaction: the last of them waits for the work of all."""

ATTEMPTS = 3
"""How often long work is done before its transaction; another process came first each time."""

LONG_WORK = 0.1
"""Seconds from which on the work of a write is long: it is not done inside a transaction."""

LONGEST_CHANGE = 60.0
"""Seconds that the change of an old answer may take, as the log is folded again from there."""

SHARED_FOR = 64
"""Transactions for which a campaign counts as shared after another process has written to it."""


class Writer(CachedState):
    """The state of one campaign, at the end of its log, and the writes to it.

    Parameters
    ----------
    clock : callable
        Seconds now.
    later : callable
        How the saving of a snapshot is started, see :class:`CachedState`.
    crew : Crew, optional
        Who commits for those that :meth:`submit`; a library's threads need none.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        spec: Spec,
        clock: Callable[[], float],
        later: Callable[[Callable[[], None]], object] | None = None,
        crew: Crew | None = None,
    ) -> None:
        super().__init__(store, name, spec, later)
        self.clock = clock
        self.crew = crew
        self._turn = threading.Lock()
        self._writing = False
        self._waiting: deque[Request] = deque()
        self._released = 0
        """How many assignments the transaction under way has released as overdue."""
        self._shared = 0
        """Transactions left for which short work is done inside them, as others write too."""

    def write(self, write: PreparedWrite[T]) -> T:
        """Do a write in a transaction, perhaps with others; on any failure nothing has happened."""
        request = Request(write)
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

    def submit(self, write: PreparedWrite[Any], waiter: object) -> None:
        """Let a write wait for a transaction and return at once; the crew tells ``waiter``."""
        assert self.crew is not None
        with self._turn:
            self._waiting.append(Request(write, waiter))
            if self._writing:
                return
            self._writing = True
        self.crew.start(self._lead_crew)

    def sweep(self) -> int:
        """Release what is overdue, if anything is; returns how many assignments that was."""
        with self.lock:
            if self.current().soonest() > self.clock():
                return 0
        # Every transaction begins with it, this one does nothing else.
        action = Action(
            lambda _: self._released,
            lambda released: {"released": released},
            lambda _, kept: int(kept["released"]),
        )
        return self.write(PreparedWrite("", None, action))

    def _lead(self, request: Request) -> None:
        """Commit for all who wait, until one's own request is done; then another leads."""
        with self.lock:
            while not request.done:
                self._commit_waiting()
        request.leads = False
        self._pass_on()

    def _lead_crew(self) -> None:
        """Commit for all who wait, until nobody does; those who read take turns with it."""
        try:
            while True:
                with self.lock:
                    self._commit_waiting()
                with self._turn:
                    if not self._waiting:
                        self._writing = False
                        return
        except BaseException:
            # Those of the group were told; others go on without this thread.
            self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Let another of those who wait lead, if there is any."""
        with self._turn:
            if not self._waiting:
                self._writing = False
                return
            heir = self._waiting[0]
            if heir.waiter is None:
                heir.leads = True
                heir.woken.release()
                return
        assert self.crew is not None
        self.crew.start(self._lead_crew)

    def _withdraw(self, request: Request) -> None:
        """Let others go on without a thread that was interrupted."""
        with self._turn:
            if request in self._waiting:
                self._waiting.remove(request)
        if request.leads:
            request.leads = False
            self._pass_on()

    def _commit_waiting(self) -> None:
        group: list[Request] = []
        try:
            with self._turn:
                while self._waiting and len(group) < LARGEST_GROUP:
                    group.append(self._waiting.popleft())
            self._commit_group(group)
        finally:
            for request in group:
                if not request.done:
                    request.fail(requests.interrupted())
                if request.waiter is None and not request.leads:
                    request.woken.release()
            submitted = [request for request in group if request.waiter is not None]
            if submitted and self.crew is not None:
                self.crew.wake(submitted)

    def _commit_group(self, group: list[Request]) -> None:
        if len(group) == 1:
            self._commit_alone(group[0])
            return
        try:
            self._commit(group)
        except HalfDone:
            for request in group:
                request.reset()
            for request in group:
                self._commit_alone(request)

    def _commit_alone(self, request: Request) -> None:
        try:
            self._commit([request])
        except HalfDone as half:
            request.fail(half.error)

    def _commit(self, group: list[Request]) -> None:
        """Work out what the requests of a group write, append it and commit."""
        attempt = 1
        while True:
            begun = time.perf_counter()
            try:
                inside = self._shared > 0 or attempt == ATTEMPTS
                self._commit_once(group, inside=inside, trusting=attempt == 1)
                return
            except Outdated:
                # By another process: a long log is not folded inside a transaction.
                self._state = None
            except Overtaken:
                attempt += 1
                for request in group:
                    request.reset()
                # To do the work again costs a fold of the log: from now on those who write wait
                # for each other, unless their work would keep others waiting for long.
                if time.perf_counter() - begun < LONG_WORK:
                    self._shared = SHARED_FOR

    def _commit_once(self, group: list[Request], *, inside: bool, trusting: bool) -> None:
        """Do the work of a group, ``inside`` a transaction or before it, and append it.

        ``trusting``, nobody looks beforehand whether another process has written: that the log
        ends where the state does is seen once the work is done, and else it is done again.
        """
        before = None
        keys = [each.write.key for each in group if each.write.key is not None]
        try:
            if inside:
                state = self._loaded()
                with self.store.write(self.name) as transaction:
                    tail = EventColumns.of(transaction.tail(state.seq))
                    self._shared = SHARED_FOR if len(tail) else max(0, self._shared - 1)
                    try:
                        self.loader.refuse_renamed(tail)
                        self._fold(state, tail)
                    except Renamed as renamed:
                        state = self._reloaded(renamed)
                    before = state.seq
                    work = self._work(group, state, transaction.replies(keys))
                    work.append_to(transaction, before)
            else:
                state = self._loaded() if trusting else self.current()
                before = state.seq
                known = self.store.replies(self.name, keys) if keys else {}
                work = self._work(group, state, known)
                if work.events or work.kept:
                    self._append_unless_overtaken(work, before)
                elif trusting:
                    self._refuse_overtaken(group, before)
        except BaseException as error:
            # What was folded may not be in the store: forget it, restore on next use.
            if self._state is not None and before is not None and self._state.seq != before:
                self._state = None
            if isinstance(error, HalfDone | Overtaken | Outdated):
                raise
            for request in group:
                request.fail(request.error or requests.failure_of(error, group))
            if not isinstance(error, Exception):
                raise
            return
        self._maybe_snapshot(state, before)

    def _refuse_overtaken(self, group: list[Request], before: int) -> None:
        try:
            position = self.store.position(self.name)
        except AskwiseError:
            # The log was moved away: what an old state has refused does not count.
            for request in group:
                request.reset()
            raise
        if position != before:
            raise Overtaken

    def _append_unless_overtaken(self, work: Work, before: int) -> None:
        try:
            self.store.append(self.name, work.events, before, work.kept)
        except Conflict as error:
            # Another process has written, or has answered one of the keys.
            raise Overtaken from error

    def _work(self, group: list[Request], state: CampaignState, known: dict[str, Reply]) -> Work:
        """Act for all requests that are not refused, on a state at the end of the log."""
        now = self.clock()
        # What is overdue is released whether or not the requests are granted.
        expiry = Verbs(self.name, state, now, None)
        expiry.expire_overdue()
        work = Work(expiry.events)
        self._released = len(expiry.events)
        for request in group:
            self._run(request, state, now, known, work)
        return work

    def _run(
        self,
        request: Request,
        state: CampaignState,
        now: float,
        known: dict[str, Reply],
        work: Work,
    ) -> None:
        """Do one write of a group; a refusal is the request's own affair."""
        write, key, before = request.write, request.write.key, state.seq
        try:
            if key in known:
                first = requests.reply_again(known[key], write.text)
                request.succeed(write.action.recall(state, first))
                return
            verbs = Verbs(self.name, state, now, key)
            verbs.refold = lambda events, prepared: self._refolded(
                [*work.events, *events], prepared
            )
            found = write.action.act(verbs)
        except (StoreError, Overtaken):
            raise
        except Exception as error:
            if state.seq != before:
                raise HalfDone(error) from error
            request.fail(error)
            return
        kept = None if key is None else write.action.keep(found)
        if key is not None and kept is not None:
            known[key] = Reply(key, write.text, json.dumps(kept))
            work.kept.append(known[key])
        request.succeed(found)
        work.events += verbs.events

    def prepare(self, change: Event) -> Loaded:
        """Fold the log with a change of an answer that is about to follow.

        Nobody else waits for it: the write that follows has to fold only what was written
        meanwhile. TooLarge if it would take longer than ``LONGEST_CHANGE``.
        """
        return self._load(lambda: self.loader.refold([change], most=LONGEST_CHANGE))

    def _refolded(self, events: Sequence[Event], prepared: list[Loaded]) -> CampaignState:
        """A state that has folded the log and these events, whose last is a change of an answer.

        What was ``prepared`` for it is used up.
        """
        if prepared and prepared[0].state.seq >= events[0].seq:
            raise Overtaken
        loaded = self.loader.follow(events, prepared.pop() if prepared else None)
        self._saved = min(self._saved, loaded.saved)
        return loaded.state
