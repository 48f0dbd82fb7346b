"""One campaign's state and the one way to write to it: transactions shared by those who wait.

The log is the truth; the state here is a cache of it. Writes that arrive while a commit is under
way share the next transaction (group commit): a disk that syncs two hundred times a second then
serves thousands of writes. Each still is all or nothing, and is answered once it is durable.

What a write does is worked out before its transaction begins: a decision may take seconds, and a
store that is locked meanwhile would keep other campaigns waiting. The transaction then only
appends, if nobody else has written since; if somebody has, the work is done again.

Where commits take long, a crew does them in a second thread, and the first one meanwhile works out
what comes next (``_append_and_go_on``). The state is then ahead of the log, so it is not lent to
anybody: those who wait for it get it once all of that is committed.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from askwise.campaign import requests
from askwise.campaign.commits import Commit, WriteGroup
from askwise.campaign.loading import Renamed
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
from askwise.campaign.worked import WorkedState, keys_of
from askwise.core.errors import AskwiseError, Conflict
from askwise.core.event_columns import EventColumns
from askwise.store import Store

log = logging.getLogger("askwise.campaign")

T = TypeVar("T")

LARGEST_GROUP = 256
"""The most writes in one transaction: the last of them waits for the work of all."""

ATTEMPTS = 3
"""How often long work is done before its transaction; another process came first each time."""

LONG_WORK = 0.1
"""Seconds from which on the work of a write is long: it is not done inside a transaction."""

SLOW_APPEND = 0.004
"""Seconds that an append takes on average from which on work goes on meanwhile: for less it is not
worth handing it to another thread.
"""

PAUSE = 0.001
"""Seconds between looks at who has come during a commit."""

SHARED_FOR = 64
"""Transactions for which a campaign counts as shared after another process has written to it."""


class Writer(WorkedState):
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
        super().__init__(store, name, spec, clock, later)
        self.crew = crew
        self._turn = threading.Lock()
        self._writing = False
        self._waiting: deque[Request] = deque()
        self._append_takes = 0.0
        """Seconds that appends took of late."""
        self._goes_on = True
        """Whether work may go on during a commit: not once after that has failed."""
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
                    self._commit_waiting(going_on=True)
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

    def _commit_waiting(self, *, going_on: bool = False) -> None:
        """Commit for all who wait; ``going_on``, for those who come meanwhile too."""
        group, following = WriteGroup(), WriteGroup()
        while True:
            try:
                if group.work is None:
                    self._take(group)
                if group.requests:
                    self._commit_group(group, following if going_on else None)
            finally:
                if not group.told:
                    self._tell(group)
            if not following.requests:
                return
            group, following = following, WriteGroup()

    def _take(self, group: WriteGroup) -> None:
        with self._turn:
            while self._waiting and len(group.requests) < LARGEST_GROUP:
                group.requests.append(self._waiting.popleft())

    def _tell(self, group: WriteGroup) -> None:
        for request in group.requests:
            if not request.done:
                request.fail(requests.interrupted())
            if request.waiter is None and not request.leads:
                request.woken.release()
        submitted = [request for request in group.requests if request.waiter is not None]
        if submitted and self.crew is not None:
            self.crew.wake(submitted)

    def _commit_group(self, group: WriteGroup, following: WriteGroup | None) -> None:
        if len(group.requests) == 1:
            self._commit_alone(group, following)
            return
        try:
            self._commit(group, following)
        except HalfDone:
            for request in group.requests:
                request.reset()
            for request in group.requests:
                self._commit_alone(WriteGroup([request]), None)

    def _commit_alone(self, group: WriteGroup, following: WriteGroup | None) -> None:
        try:
            self._commit(group, following)
        except HalfDone as half:
            group.requests[0].fail(half.error)

    def _commit(self, group: WriteGroup, following: WriteGroup | None) -> None:
        """Work out what the requests of a group write, append it and commit.

        The work of those in ``following``, if it is given, is done meanwhile: they are next.
        """
        attempt = 1
        while True:
            begun = time.perf_counter()
            try:
                inside = group.work is None and (self._shared > 0 or attempt == ATTEMPTS)
                self._commit_once(group, following, inside=inside, trusting=attempt == 1)
                return
            except Outdated:
                # By another process: a long log is not folded inside a transaction.
                self._state = None
            except Overtaken:
                attempt += 1
                group.work = None
                for request in group.requests:
                    request.reset()
                # To do the work again costs a fold of the log: from now on those who write wait
                # for each other, unless their work would keep others waiting for long.
                if time.perf_counter() - begun < LONG_WORK:
                    self._shared = SHARED_FOR

    def _commit_once(
        self, group: WriteGroup, following: WriteGroup | None, *, inside: bool, trusting: bool
    ) -> None:
        """Do the work of a group, ``inside`` a transaction or before it, and append it.

        ``trusting``, nobody looks beforehand whether another process has written: that the log
        ends where the state does is seen once the work is done, and else it is done again.
        """
        before = None
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
                    known = transaction.replies(keys_of(group.requests))
                    work = Work([])
                    self._work(group.requests, state, known, work)
                    work.append_to(transaction, before)
            else:
                state = self._loaded() if trusting else self.current()
                before = state.seq
                if group.work is None:
                    group.before, work = before, Work([])
                    self._work(group.requests, state, self._known(group.requests), work)
                    group.work = work
                before = group.before
                if not group.work.events and not group.work.kept:
                    if trusting:
                        self._refuse_overtaken(group, before)
                elif following is not None and self._may_go_on(group, state):
                    self._append_and_go_on(group, state, following)
                else:
                    self._append(group)
        except BaseException as error:
            # What was folded may not be in the store: forget it, restore on next use.
            if self._state is not None and before is not None and self._state.seq != before:
                self._state = None
            if isinstance(error, HalfDone | Overtaken | Outdated):
                raise
            if not group.told:
                for request in group.requests:
                    request.fail(request.error or requests.failure_of(error, group.requests))
            if not isinstance(error, Exception):
                raise
            return
        # Not of a state that is ahead of the log, or was given up.
        if self._state is state and (following is None or not following.requests):
            self._maybe_snapshot(state, before)

    def _may_go_on(self, group: WriteGroup, state: CampaignState) -> bool:
        """Whether it pays to work during the commit of a group, and nothing else is to be done."""
        goes_on, self._goes_on = self._goes_on, True
        return (
            goes_on
            and self._append_takes > SLOW_APPEND
            and (len(group.requests) > 1 or bool(self._waiting))
            and not self.lock.wanted
            and not self._keeps_state(state, group.before)
        )

    def _append_and_go_on(
        self, group: WriteGroup, state: CampaignState, following: WriteGroup
    ) -> None:
        """Append what a group writes in another thread, and meanwhile do the work of the next."""
        assert self.crew is not None
        commit = Commit(group, self._append, self._tell)
        self.crew.commit(commit.run)
        failed = True
        try:
            self._work_ahead(group, state, following, commit)
            failed = False
        except Exception:
            # It is done once more, without going on, and the request at fault gets the error then.
            log.debug("work during a commit failed", exc_info=True)
        finally:
            commit.ended(None)
            if failed or commit.error is not None:
                self._state = None
                self._goes_on = False
                self._put_back(following)
        if commit.error is not None:
            raise commit.error

    def _work_ahead(
        self, group: WriteGroup, state: CampaignState, following: WriteGroup, commit: Commit
    ) -> None:
        """Do the work of those who come until a commit has ended, on the state that it leads to."""
        assert group.work is not None
        following.before = state.seq
        following.work = work = Work([])
        # What the commit is about to keep is not in the store yet.
        known = {reply.key: reply for reply in group.work.kept}
        while not self.lock.wanted:
            over, taken = commit.ended(), len(following.requests)
            self._take(following)
            came = following.requests[taken:]
            if came:
                known |= self._known(came)
                self._work(came, state, known, work, commit)
            if over or len(following.requests) == LARGEST_GROUP:
                return
            if not came:
                commit.ended(PAUSE)

    def _put_back(self, group: WriteGroup) -> None:
        """Let the requests of a group wait as if they had just come, before all others."""
        for request in group.requests:
            request.reset()
        with self._turn:
            self._waiting.extendleft(reversed(group.requests))
        group.requests, group.work = [], None

    def _refuse_overtaken(self, group: WriteGroup, before: int) -> None:
        try:
            position = self.store.position(self.name)
        except AskwiseError:
            # The log was moved away: what an old state has refused does not count.
            for request in group.requests:
                request.reset()
            raise
        if position != before:
            raise Overtaken

    def _append(self, group: WriteGroup) -> None:
        """Append what a group writes, unless another process has written."""
        assert group.work is not None
        begun = time.perf_counter()
        try:
            self.store.append(self.name, group.work.events, group.before, group.work.kept)
        except Conflict as error:
            # Another process has written, or has answered one of the keys.
            raise Overtaken from error
        self._append_takes += (time.perf_counter() - begun - self._append_takes) / 8
