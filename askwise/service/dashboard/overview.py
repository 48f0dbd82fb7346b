"""What the dashboard shows of campaigns: worked out once for all who watch.

Numbers are worked out of a copy when the log has moved, and charts are drawn from them; who writes
to the campaign waits for the copying alone. Both rest in between: for a second or two at least,
and for ten times as long as the work took. So a campaign with hundreds of events a second is worked
out once a second, a huge one once in a few seconds, and one that nobody watches never; who looks
meanwhile sees the last. What takes long is worked out by another thread, so that only the first
look waits for it.
"""

import importlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

from askwise.campaign import Campaign, views
from askwise.core.events import Kind
from askwise.service.dashboard.facts import Facts, copied, facts_of
from askwise.service.dashboard.resting import Cached
from askwise.service.open_campaigns import OpenCampaigns

T = TypeVar("T")

NUMBERS_REST, CHARTS_REST = 1.0, 2.0
"""The fewest seconds between two computations."""

LATE = 5.0
"""Numbers that lack events and are older than this many seconds are said to be: they may be of the
last time that somebody looked.
"""

MOST_WATCHED = 64
"""Campaigns whose overview is kept; the one not looked at for longest goes."""

PIECE = 10_000
"""Events of a log that are taken in at a time."""

PIECES = 4
"""Pieces of one log before another campaign's has its turn."""

PATIENCE = 0.5
"""Seconds that a page waits for the log to be read; the rest is read behind its back."""

LARGE = 5_000
"""Answers and tasks, or events, from which on the first look does not wait either: it is told so.
"""

FIRST_PATIENCE = 0.25
"""Seconds that the first look at a large campaign waits nevertheless."""


@dataclass(frozen=True)
class Glance:
    """A campaign in a line: cheap, and always of the present."""

    status: views.Status
    last: float | None
    """Time of the last event."""
    bidding: bool = False
    """Whether workers still name their prices: nobody is asked before that is closed."""


@dataclass
class _Watched:
    """What is kept of one campaign."""

    facts: Cached[Facts]
    charts: Cached[tuple[tuple[int, int], Any]]
    answers: views.KeptAnswers = field(default_factory=views.KeptAnswers)
    """Used by one thread at a time, the one that works the facts out."""
    timeline: views.Timeline | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the timeline is read or fed."""
    feeding: Future[None] | None = None
    first: Future[object] | None = None
    """The first working out of a large campaign."""
    renamed: int = 0
    """The last event after which the timeline was begun again."""


class Overviews:
    """The overviews of a process.

    Parameters
    ----------
    clock : callable
        Seconds, to rest by.
    """

    def __init__(
        self, campaigns: OpenCampaigns, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._campaigns = campaigns
        self._clock = clock
        self._watched: OrderedDict[str, _Watched] = OrderedDict()
        self._lock = threading.Lock()
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="timelines")
        self._helpers = ThreadPoolExecutor(1, thread_name_prefix="overviews")
        self._opening: dict[str, Future[None]] = {}
        """Campaigns that are being opened: they are held before their log is read."""
        self._ending = self._warm = False

    def close(self) -> None:
        """Stop what runs in the background."""
        with self._lock:
            self._ending = True
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._helpers.shutdown(wait=True)

    def warm(self) -> None:
        """Load what draws, which takes a second or two, before it is needed."""
        with self._lock:
            if self._warm:
                return
            self._warm = True
        self._do_later(lambda: importlib.import_module("matplotlib.backends.backend_svg"))

    def drop(self, name: str) -> None:
        """Let go of what was worked out of a campaign."""
        with self._lock:
            self._watched.pop(name, None)

    def glance(self, name: str, position: int | None = None) -> Glance:
        """A campaign at a glance, as it is now; its log ends at ``position``, if that is given."""

        def look(campaign: Campaign) -> Glance:
            with campaign.reading() as state:
                status = views.status(name, state)
                bidding = state.bidding and status.why is None
            last = campaign.log(status.seq - 1, status.seq) if status.seq else []
            return Glance(status, last[0].time if last else None, bidding)

        return self._campaigns.view(name, "glance", look, position)[1]

    def facts(self, name: str, *, now: bool = False) -> Facts:
        """All that is counted; of a moment ago if the log moves fast, unless it must be ``now``."""
        position = self._campaigns.store.position(name)
        watched = self._of(name)

        def make() -> Facts:
            campaign = self._campaigns.get(name)
            paces = campaign.paces()
            with campaign.reading() as state:
                still = copied(state)
            return facts_of(still, watched.answers, paces)

        return watched.facts.get(lambda kept: kept.seq >= position, make, now=now)

    def is_open(
        self, name: str, patience: float | None = None, position: int | None = None
    ) -> bool:
        """Whether a campaign is open, or can be at once: a long log is read by another thread."""
        with self._lock:
            opening = self._opening.get(name)
        if opening is None:
            if self._campaigns.held(name):
                return True
            if position is None:
                position = self._campaigns.store.position(name)
            if position < LARGE:
                return True
            with self._lock:
                if self._ending:
                    return True
                opening = self._opening.setdefault(name, self._helpers.submit(self._open, name))
        if opening in wait([opening], FIRST_PATIENCE if patience is None else patience).done:
            with self._lock:
                self._opening.pop(name, None)
            opening.result()
            return True
        return False

    def _open(self, name: str) -> None:
        with self._campaigns.get(name).reading():
            pass

    def is_ready(self, name: str, size: int, look: Callable[[], object], *, charts: bool) -> bool:
        """Whether numbers, and charts, are there to be shown, or can be at once.

        Of a campaign of a large ``size`` they are worked out by another thread: it takes the first
        ``look``, and others see in the meantime that it is under way.
        """
        watched = self._of(name)
        wanted = watched.charts if charts else watched.facts
        if size < LARGE or wanted.is_there:
            return True
        with self._lock:
            if self._ending:
                return True
            if watched.first is None or watched.first.done():
                watched.first = self._helpers.submit(look)
            first = watched.first
        if first in wait([first], FIRST_PATIENCE).done:
            first.result()
        return wanted.is_there

    def savings(self, name: str, fixed: int | None) -> views.Savings | None:
        """What was saved against asking so often about every task."""
        with self._campaigns.get(name).reading() as state:
            return views.savings(state, fixed)

    def series(self, name: str) -> tuple[int, views.Series]:
        """Money and answers over time, and up to which event they were read.

        A long log that nobody has watched is read bit by bit: then it ends earlier at first.
        """
        watched = self._fed(name)
        with watched.lock:
            assert watched.timeline is not None
            return watched.timeline.seq, watched.timeline.series()

    def settled(self, name: str, asked: list[int]) -> dict[int, int]:
        """The event that answered, or failed, what each of these events asked.

        It is read off the timeline, so what is in a part of the log not read yet is left out.
        """
        watched = self._fed(name)
        with watched.lock:
            assert watched.timeline is not None
            return watched.timeline.settled(asked)

    def forecast(self, name: str) -> views.Forecast | None:
        """When it will end; None while the log is still being read, too."""
        watched = self._fed(name)
        # In this order, as when a timeline is made.
        with watched.lock, self._campaigns.get(name).reading() as state:
            assert watched.timeline is not None
            if watched.timeline.seq < state.seq - PIECE:
                return None
            return views.forecast(watched.timeline, state, time.time())

    def charts(
        self, name: str, draw: Callable[[Facts, views.Series], T], *, now: bool = False
    ) -> tuple[tuple[int, int], T]:
        """What ``draw`` makes of a campaign, and of which events; no lock is held meanwhile."""
        facts = self.facts(name, now=now)
        seq, series = self.series(name)
        place = (facts.seq, seq)
        return self._of(name).charts.get(
            lambda kept: kept[0] == place, lambda: (place, draw(facts, series)), now=now
        )

    # Behind the back of who looks.

    def _do_later(self, work: Callable[[], object]) -> bool:
        with self._lock:
            if self._ending:
                return False
            self._helpers.submit(work)
            return True

    # Campaigns that are watched.

    def _of(self, name: str) -> _Watched:
        with self._lock:
            found = self._watched.get(name)
            if found is None:
                found = _Watched(
                    Cached(NUMBERS_REST, self._clock, self._do_later),
                    Cached(CHARTS_REST, self._clock, self._do_later),
                )
                self._watched[name] = found
                while len(self._watched) > MOST_WATCHED:
                    self._watched.popitem(last=False)
            self._watched.move_to_end(name)
            return found

    def _fed(self, name: str) -> _Watched:
        """Bring a campaign's timeline up to date, or as far as can be done in a moment."""
        watched = self._of(name)
        position = self._campaigns.store.position(name)
        with watched.lock:
            if watched.timeline is None:
                with self._campaigns.get(name).reading() as state:
                    watched.timeline = views.Timeline(state.spec.problem)
            if watched.timeline.seq < position and (
                watched.feeding is None or watched.feeding.done()
            ):
                watched.feeding = self._readers.submit(self._feed, name, watched)
            feeding = watched.feeding
        if feeding is not None and feeding in wait([feeding], PATIENCE).done:
            feeding.result()
        return watched

    def _feed(self, name: str, watched: _Watched) -> None:
        assert watched.timeline is not None
        for _ in range(PIECES):
            after = watched.timeline.seq
            if self._ending:
                return
            columns = self._campaigns.store.columns(name, after, after + PIECE, timed=True)
            if not len(columns):
                return
            renamed = columns.last_of(Kind.RENAMED)
            if renamed > watched.renamed:
                # What was read before has a name that is in no log any more.
                with self._campaigns.get(name).reading() as state:
                    begun = views.Timeline(state.spec.problem)
                with watched.lock:
                    watched.timeline, watched.renamed = begun, renamed
                continue
            with watched.lock:
                watched.timeline.take_columns(columns)
        with self._lock:
            # The others' turn; then it goes on.
            if not self._ending:
                watched.feeding = self._readers.submit(self._feed, name, watched)
