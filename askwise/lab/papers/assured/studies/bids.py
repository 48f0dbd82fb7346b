"""Bids, quotes and payments of simulated campaigns, by the mechanisms' own code."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from askwise.core import draws
from askwise.core.errors import InvalidParameter
from askwise.core.events import Event, Kind
from askwise.core.money import MICRO
from askwise.core.registry import from_label
from askwise.kernels import Array, Draw
from askwise.lab.papers.assured.counting import Counted, simulate_counts
from askwise.lab.papers.assured.studies.common import Terms, contender
from askwise.lab.simulate import fork
from askwise.lab.worlds.assured import AssuredWorld
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Mechanism, mechanisms
from askwise.mechanisms.base import Quote
from askwise.policies import Policy
from askwise.policies.assured.common import EXPLOIT, NOTE

EXPLOITING = EXPLOIT + 1
"""What a task's record says once a set was chosen for it by what was learned."""


@cache
def auction(label: str, terms: Terms, c_max: int) -> tuple[Mechanism, Policy]:
    """Read ``mechanism with policy``; whether the one is proved for the other is not asked."""
    name, split, policy = label.partition(" with ")
    if not split:
        raise InvalidParameter(
            f"auctions has {label!r}: give 'mechanism with policy'", field="auctions"
        )
    read = from_label(name)
    spec: dict[str, Any] = {"name": read} if isinstance(read, str) else dict(read)
    if mechanisms.get(spec["name"]).bidding:
        spec.setdefault("c_max", c_max)
    return mechanisms.make(spec), contender(policy, terms)


def quoted(fresh: Ledger, mechanism: Mechanism, bids: Mapping[int, int], draw: Draw) -> Ledger:
    """A copy of a fresh ledger after the bids (micro-units, by worker) and their quotes."""
    ledger = fork(fresh)
    for worker, bid in bids.items():
        ledger.apply(Event(Kind.BID, worker=ledger.workers[worker].id, price=bid))
    if mechanism.bidding:
        quotes = mechanism.quote(ledger.problem, ledger, draw)
        ledger.apply(Event(Kind.QUOTED, workers=tuple(quote.to_json() for quote in quotes)))
    return ledger


def campaign(
    mechanism: Mechanism,
    policy: Policy,
    fresh: Ledger,
    bids: Mapping[int, int],
    world: AssuredWorld,
    seed: int,
    replication: int,
    drawing: int,
) -> tuple[Array, Array]:
    """Answers of each worker and what they are paid, in money, under one draw of quotes."""
    draw = Draw(*draws.stream(seed, draws.MECHANISM, drawing), 0)
    ledger = quoted(fresh, mechanism, bids, draw)
    outcome = simulate_counts(
        policy, ledger.problem, world, seed=seed, replication=replication, ledger=ledger
    )
    requoted(mechanism, policy, outcome)
    owed = mechanism.settle(ledger.problem, outcome.ledger)
    return np.array([each.answers for each in owed]), np.array([each.paid / MICRO for each in owed])


def work_by_rank(
    mechanism: Mechanism,
    policy: Policy,
    fresh: Ledger,
    worker: int,
    world: AssuredWorld,
    seed: int,
    replication: int,
    drawing: int,
    ranks: Sequence[int],
) -> list[tuple[int, int]]:
    """How many answers a worker is asked for, by what they are counted at (micro-units).

    All else is fixed: answers, and the bids of others as one draw has quoted them. ``ranks`` are
    looked at, and wherever the work at two neighbours differs, between them down to a micro-unit:
    all steps of work that only falls, and of other work those that a look at ``ranks`` shows.
    """
    draw = Draw(*draws.stream(seed, draws.MECHANISM, drawing), 0)
    known: dict[int, int] = {}

    def work(rank: int) -> int:
        if rank not in known:
            ledger = fork(fresh)
            quotes = list(mechanism.quote(ledger.problem, ledger, draw))
            quotes[worker] = Quote(quotes[worker].worker, rank, rank, rank)
            ledger.apply(Event(Kind.QUOTED, workers=tuple(each.to_json() for each in quotes)))
            outcome = simulate_counts(
                policy, ledger.problem, world, seed=seed, replication=replication, ledger=ledger
            )
            known[rank] = int(outcome.ledger.book.workers[worker, c.ANSWERED])
        return known[rank]

    places = sorted(set(ranks))
    steps = [(places[0], work(places[0]))]
    pending = list(pairwise(places))[::-1]
    while pending:
        low, high = pending.pop()
        if work(low) == work(high):
            continue
        if high - low == 1:
            steps.append((high, work(high)))
            continue
        middle = (low + high) // 2
        pending += [(middle, high), (low, middle)]
    return steps


def requoted(mechanism: Mechanism, policy: Policy, outcome: Counted) -> None:
    """Put the prices that a campaign would have quoted again onto the answers they are for.

    In a campaign a mechanism may set new prices when a set is chosen by what was learned. The set
    stays, because nobody leaves, so that this can be done when all is over.
    """
    ledger = outcome.ledger
    exploiting = outcome.state.tasks[: ledger.total(c.TASKS), NOTE] == EXPLOITING
    if not mechanism.bidding or not exploiting.any():
        return
    sets, own = outcome.sets()
    members = sets[own[np.argmax(exploiting)]].tolist()
    quotes = mechanism.requote(ledger.problem, ledger, policy, outcome.state, members)
    counts = np.zeros(len(ledger.workers), np.int64)
    for asked, times in zip(sets, np.bincount(own[exploiting], minlength=len(sets)), strict=True):
        counts[asked] += times
    workers = ledger.book.workers
    for quote in quotes:
        at = ledger.worker_at(quote.worker)
        workers[at, c.PAID] += int(counts[at]) * (quote.price - workers[at, c.PRICE])
