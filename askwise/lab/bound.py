"""The loop of a simulation over the kernels of a policy, a world and a rule.

It calls them by their addresses, so it is compiled once for all of them. Until their code is there,
or compiling them pays, campaigns run in plain Python; one that is under way goes on compiled.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from askwise.core.compiling import (
    LOOP_LOOK,
    LOOP_PATIENCE,
    PLAIN,
    bind,
    in_plain_python,
    is_bulk,
    step,
    still_to_spend,
    unit_of,
)
from askwise.kernels import Array, Draw, Fact
from askwise.lab.loop import (
    REPLIES,
    TRUTHS,
    LoopState,
    Streams,
    keep_nothing,
    never,
    run_campaign,
    uncompiled,
)
from askwise.lab.worlds.base import no_truth
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal
from askwise.policies.base import Kernels, learn_nothing
from askwise.stopping.base import GO_ON

Loop = Callable[..., int]
"""What has the arguments of :func:`askwise.lab.loop.run_campaign`."""


class Places(NamedTuple):
    """Addresses of kernels, and of the records that they take; 0 for one that does nothing."""

    choose: int
    absorb: int
    observe: int
    reply: int
    reveal: int
    judge: int
    state: int
    params: int
    world: int
    ruling_by: int


if PLAIN:

    def compiled(
        kernels: Kernels,
        world: Any,
        judging: Callable[..., int],
        observing: Callable[..., None] = keep_nothing,
    ) -> Loop:
        """The loop for the kernels of a policy, a class of worlds and a rule's kernels."""
        return bind(
            run_campaign,
            "plain",
            choose=kernels.choose,
            absorb=kernels.absorb,
            observe=observing,
            reply=REPLIES[world],
            reveal=TRUTHS.get(world, no_truth),
            judge=judging,
        )

else:
    import numba
    from numba.types import float64, int64, none

    from askwise.core.compiling import entry_for
    from askwise.core.records import form_of
    from askwise.core.units import (
        address_of,
        call_for_nothing,
        call_for_real,
        call_for_whole,
        kind_of,
        packed,
    )

    @step
    def choose(
        book: Book, places: Places, _: Places, draw: Draw, available: Array, out: Proposal
    ) -> int:
        """Have the policy choose."""
        arguments = (book, places.state, places.params, draw, available, out)
        return call_for_whole(places.choose, arguments)

    @step
    def absorb(book: Book, places: Places, _: Places, fact: Fact, draw: Draw) -> None:
        """Have the policy learn."""
        if places.absorb != 0:
            call_for_nothing(places.absorb, (book, places.state, places.params, fact, draw))

    @step
    def observe(book: Book, places: Places, fact: Fact) -> None:
        """Have the rule learn."""
        if places.observe != 0:
            call_for_nothing(places.observe, (book, places.ruling_by, fact))

    @step
    def reply(places: Places, task: int, worker: int, before: int, elapsed: float) -> float:
        """Have the world answer."""
        return call_for_real(places.reply, (places.world, task, worker, before, elapsed))

    @step
    def reveal(places: Places, task: int) -> int:
        """Have the world say what is true."""
        return call_for_whole(places.reveal, (places.world, task))

    @step
    def judge(book: Book, places: Places, task: int, draw: Draw, ruling: Array) -> int:
        """Have the rule judge."""
        if places.judge == 0:
            return GO_ON
        return call_for_whole(places.judge, (book, places.ruling_by, task, draw, ruling))

    class OneNumber(NamedTuple):
        """The parameters of a rule that has a single one, as a record."""

        value: Any

    def judge_by_one_number(
        book: Book, only: OneNumber, task: int, draw: Draw, ruling: Array
    ) -> int:
        """Judge by a rule whose kernel takes a bare number; ``judge`` is bound to that kernel."""
        return judge(book, only.value, task, draw, ruling)  # type: ignore[arg-type]

    _loop = bind(
        run_campaign,
        "by_address",
        choose=choose,
        absorb=absorb,
        observe=observe,
        reply=reply,
        reveal=reveal,
        judge=judge,
    )
    _DRAW = numba.typeof(Draw(0, 0, 0))
    _FACT = numba.typeof(Fact(0, 0, 0, 0.0, 0, 0))

    class _Code(NamedTuple):
        """What serves records of some types: addresses of kernels, and the loop's entry."""

        kernels_at: tuple[int, ...]
        loop: Callable[..., int]

    class CompilingPays(Exception):
        """Raised between two decisions of a campaign in plain Python."""

    class PlainRuns:
        """Campaigns in plain Python for one policy, world and rule, and what they have cost."""

        def __init__(
            self,
            kernels: Kernels,
            world: Any,
            judging: Callable[..., int],
            observing: Callable[..., None],
        ) -> None:
            self._spent = self._begun = 0.0
            self._used = self._used_before = 0
            self._choose = in_plain_python(kernels.choose)
            self._units = [unit_of(kernels.choose)]
            if kernels.absorb is not learn_nothing:
                self._units.append(unit_of(kernels.absorb))
            names = {"absorb": kernels.absorb, "judge": judging, "observe": observing}
            self._loop = uncompiled(world, choose=self._choose_or_stop, **names)

        def are_over(self) -> bool:
            """Whether the next campaign is to run compiled."""
            if self._spent < LOOP_PATIENCE and not is_bulk():
                if not all(each.was_compiled() for each in self._units):
                    return False
                self._spent = LOOP_PATIENCE
            return True

        def run(self, book: Book, *others: Any) -> int:
            """Run a campaign until it ends, room for what comes is wanted, or compiling pays."""
            self._begun, self._used_before = time.perf_counter(), _used(book)
            try:
                return int(self._loop(book, *others))
            finally:
                self._spent += time.perf_counter() - self._begun
                self._used += _used(book) - self._used_before

        def _choose_or_stop(self, book: Book, *others: Any) -> int:
            spent = self._spent + time.perf_counter() - self._begun
            if spent > LOOP_PATIENCE or self._time_left(book, spent) > LOOP_PATIENCE:
                raise CompilingPays
            return int(self._choose(book, *others))

        def _time_left(self, book: Book, spent: float) -> float:
            """Seconds that this campaign and those after it take at the pace so far.

            0 while nothing tells what they will spend: a budget may be more than they can.
            """
            used, wanted = _used(book), still_to_spend()
            for_it = self._used + used - self._used_before
            if spent < LOOP_LOOK or for_it == 0:
                return 0.0
            return spent * max(0, wanted - used) / for_it

    def _used(book: Book) -> int:
        """What is spent and reserved."""
        return int(book.totals[c.SPENT] + book.totals[c.HELD])

    @cache
    def compiled(
        kernels: Kernels,
        world: Any,
        judging: Callable[..., int],
        observing: Callable[..., None] = keep_nothing,
    ) -> Loop:
        """The loop for the kernels of a policy, a class of worlds and a rule's kernels."""
        known: dict[Any, _Code] = {}
        plain = PlainRuns(kernels, world, judging, observing)

        def find(shared: tuple[Any, ...], records: tuple[Any, ...]) -> tuple[int, ...]:
            """Addresses of the kernels for records of these types, which are compiled at once."""
            book, out, available, ruling = map(numba.typeof, shared)
            state, params, place, ruling_by = map(kind_of, records)
            learning, asking = (book, state, params, _FACT, _DRAW), (place, int64, int64, int64)
            choosing = (book, state, params, _DRAW, available, out)
            learns, judges = kernels.absorb is not learn_nothing, judging is not never
            judge_kernel = judging
            if ruling_by.record is OneNumber:
                name = f"{judging.__module__}.{judging.__name__}"
                judge_kernel = bind(judge_by_one_number, name, judge=judging)
            keeps = observing is not keep_nothing
            return (
                address_of(kernels.choose, int64, *choosing),
                address_of(kernels.absorb, none, *learning) if learns else 0,
                address_of(observing, none, book, ruling_by, _FACT) if keeps else 0,
                address_of(REPLIES[world], float64, *asking, float64),
                address_of(TRUTHS.get(world, no_truth), int64, place, int64),
                address_of(judge_kernel, int64, book, ruling_by, int64, _DRAW, ruling)
                if judges
                else 0,
            )

        def run(
            book: Book,
            state: Any,
            params: Any,
            place: Any,
            ruling_by: Any,
            streams: Streams,
            available: Array,
            out: Proposal,
            course: LoopState,
        ) -> int:
            if not plain.are_over():
                try:
                    return plain.run(
                        book, state, params, place, ruling_by, streams, available, out, course
                    )
                except CompilingPays:
                    pass
            if not isinstance(ruling_by, tuple):
                ruling_by = OneNumber(ruling_by)
            records = (state, params, place, ruling_by)
            form = form_of((book, available, out, course, *records))
            if form not in known:
                kernels_at = find((book, out, available, course.ruling), records)
                known[form] = _Code(kernels_at, _loop)
            kernels_at, loop = known[form]
            held = packed(*records)
            places = Places(*kernels_at, *held.addresses)
            arguments = (book, *(places,) * 4, streams, available, out, course)
            code: int = loop(*arguments)
            if loop is _loop:
                known[form] = _Code(kernels_at, entry_for(_loop, arguments))
            return code

        return run
