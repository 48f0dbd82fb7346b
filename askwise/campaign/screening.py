"""How a campaign keeps its workers good: who must qualify, gold questions, and what they show.

A gold question is about a task whose truth was told. In a campaign with screening such a task is
closed: nobody is asked about it any more to find its label. Each worker is asked about it at most
once, and the task is drawn at random from those that are left for them.

What follows from an answer is decided in the write that brings it. Only gold questions that were
drawn here count: which tasks a policy asks somebody about may depend on how good they are. The
interval holds at all times at once (:mod:`askwise.auditing.sequences`): a worker whose accuracy is
not below the line is ever suspended with a probability of at most 1 in 40, however many answers
are counted.
"""

from typing import NamedTuple

import numpy as np

from askwise.auditing.intervals import Interval
from askwise.auditing.sequences import DOUBT, is_surely_below, share_at_all_times, upper_end
from askwise.campaign.own_decisions import OwnAsk, OwnDecision
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.draws import Draw, uniform
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.screening import (
    FEWEST_ANSWERS,
    MIXED_IN,
    QUALIFICATION,
    ScreeningTerms,
)
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.ledger.queries import can_be_asked, may_answer, money_left
from askwise.policies import Policy, TakesPilot, policies

SCREENING_RULES = {
    QUALIFICATION: "put gold questions, drawn at random, to a worker who has to qualify",
    MIXED_IN: "put a gold question, drawn at random, to a worker in place of an ordinary one",
}
"""How decisions on gold questions are made, in words, by their notes."""

_KIND_CODES = {"person": (c.UNSAID, c.PERSON), "model": (c.MODEL,)}


class GoldTally(NamedTuple):
    """Gold questions of a worker: how many were answered, how many right, how many are out."""

    answered: int
    right: int
    out: int

    @property
    def accuracy(self) -> Interval | None:
        """The share that was right, with an interval that holds at all times at once."""
        return share_at_all_times(self.right, self.answered)


class StandingVerdict(NamedTuple):
    """What a worker's answer to a gold question leads to."""

    kind: Kind
    why: str
    note: str | None = None


class Screening:
    """Puts gold questions to workers, and judges them by their answers.

    Parameters
    ----------
    seed : int
        The campaign's.
    """

    def __init__(self, terms: ScreeningTerms, seed: int) -> None:
        self.terms = terms
        self._key = draws.stream(seed, draws.SCREENING, 0)

    def unqualified(self, ledger: Ledger) -> Array:
        """Who has to qualify before ordinary work, a cell per worker."""
        rows = ledger.book.workers[: ledger.total(c.WORKERS)]
        if not self.terms.qualify:
            return np.zeros(len(rows), bool)
        codes = [code for kind in self.terms.kinds for code in _KIND_CODES[kind]]
        found: Array = np.isin(rows[:, c.KIND], codes) & (rows[:, c.TRUSTED] == 0)
        found[ledger.standings.qualified()] = False
        return found

    # Asking.

    def gold_for(self, ledger: Ledger, worker: int) -> Array:
        """The tasks that gold questions to a worker may be about."""
        book = ledger.book
        known = np.flatnonzero(book.tasks[: ledger.total(c.TASKS), c.TRUTH] >= 0)
        rows = book.assignments[: ledger.total(c.ASSIGNMENTS)]
        put = rows[(rows[:, c.WORKER] == worker) & (rows[:, c.STATUS] != c.EXPIRED), c.TASK]
        left = np.setdiff1d(known, [*put.tolist(), *ledger.removed])
        closed_to = [
            task
            for task in left[book.tasks[left, c.NAMED] >= 0].tolist()
            if not may_answer(book, task, worker)
        ]
        return np.setdiff1d(left, closed_to)

    def still_to_ask(self, ledger: Ledger, worker: int) -> int:
        """How many more questions somebody has to be asked to qualify, what is out not counted."""
        tally = tally_of(ledger, ledger.standings.of(worker).qualifying)
        return max(0, self.terms.qualify - tally.answered - tally.out)

    def qualification(self, ledger: Ledger, available: Array, limit: int) -> OwnDecision | None:
        """Questions for those who have to qualify, as far as limits and money go."""
        book, money = ledger.book, int(money_left(ledger.book.totals))
        rows: list[OwnAsk] = []
        for worker in np.flatnonzero(self.unqualified(ledger) & (available > 0)).tolist():
            price = int(book.workers[worker, c.PRICE])
            if len(rows) >= limit:
                break
            if not can_be_asked(book, worker):
                continue
            most = [limit - len(rows), self.still_to_ask(ledger, worker)]
            most.append(int(book.workers[worker, c.LIMIT] - book.workers[worker, c.ASKED]))
            most.append(money // price if price else limit)
            asked = self._drawn(ledger, worker, min(most), 1.0)
            money -= price * len(asked)
            rows += asked
        return OwnDecision(QUALIFICATION, rows) if rows else None

    def mixed_in(self, ledger: Ledger, worker: int) -> OwnDecision | None:
        """A gold question for somebody who would be asked an ordinary one now, if it is time."""
        number = ledger.total(c.ASSIGNMENTS)
        if not self.terms.screens(ledger.workers[worker]):
            return None
        if uniform(Draw(*self._key, number), 0) >= self.terms.rate:
            return None
        rows = self._drawn(ledger, worker, 1, self.terms.rate)
        return OwnDecision(MIXED_IN, rows) if rows else None

    def _drawn(self, ledger: Ledger, worker: int, count: int, chance: float) -> list[OwnAsk]:
        """Draw tasks for a worker; ``chance`` is that of a gold question at all."""
        if count < 1:
            return []
        left = self.gold_for(ledger, worker).tolist()
        number = ledger.total(c.ASSIGNMENTS)
        found = []
        for at in range(min(count, len(left))):
            # Places from 1 on: the first says whether it is time at all. Workers differ by theirs.
            u = uniform(Draw(*self._key, number), 1 + worker * _MOST_AT_ONCE + at)
            odds = chance / len(left)
            found.append(OwnAsk(left.pop(int(u * len(left))), worker, odds))
        return found

    # Judging.

    def verdict(self, ledger: Ledger, worker: int, seq: int) -> StandingVerdict | None:
        """What follows from the answer to an assignment, if that was a gold question."""
        own = ledger.standings.of(worker)
        if seq not in own.gold or own.suspended:
            return None
        if seq in own.qualifying and not own.qualified:
            tally, terms = tally_of(ledger, own.qualifying), self.terms
            if tally.answered < terms.qualify:
                return None
            why = f"{tally.right} of {tally.answered} right, {terms.needed} needed"
            if tally.right >= terms.needed:
                return StandingVerdict(Kind.QUALIFIED, why)
            return StandingVerdict(Kind.SUSPENDED, why, QUALIFICATION)
        return self._verdict_of(tally_of(ledger, own.gold), warned=bool(own.warned))

    def _verdict_of(self, tally: GoldTally, *, warned: bool) -> StandingVerdict | None:
        if is_below(tally, self.terms.pause_below):
            why = _words(tally, self.terms.pause_below)
            return StandingVerdict(Kind.SUSPENDED, why, MIXED_IN)
        if not warned and is_below(tally, self.terms.warn_below):
            return StandingVerdict(Kind.WARNED, _words(tally, self.terms.warn_below))
        return None


_MOST_AT_ONCE = 1 << 16
"""Draws that each worker has of an assignment's number."""


def is_below(tally: GoldTally, line: float | None) -> bool:
    """Whether answers show an accuracy below a line, beyond doubt and not on a handful."""
    if line is None or tally.answered < FEWEST_ANSWERS:
        return False
    return is_surely_below(line, tally.right, tally.answered)


def _words(tally: GoldTally, line: float | None) -> str:
    high = upper_end(tally.right, tally.answered)
    return (
        f"{tally.right} of {tally.answered} gold questions right: with {1 - DOUBT:.1%} confidence "
        f"at most {high:.1%}, and the line is {line:.0%}"
    )


def tally_of(ledger: Ledger, gold: list[int]) -> GoldTally:
    """Count what has become of gold questions, given by their ASKEDs."""
    places = [at for seq in gold if (at := ledger.assignment_at(seq)) is not None]
    rows = ledger.book.assignments[places]
    settled = rows[:, c.STATUS] == c.SETTLED
    said = ledger.book.marks[places, c.VALUE][settled]
    right = said == ledger.book.tasks[rows[settled, c.TASK], c.TRUTH]
    return GoldTally(int(settled.sum()), int(right.sum()), int((rows[:, c.STATUS] == c.OUT).sum()))


def check_takes_questions(policy: Policy, what: str) -> None:
    """Refuse what brings questions of its own to a policy that counts on choosing them all."""
    if not isinstance(policy, TakesPilot):
        able = [name for name in policies.names() if issubclass(policies.get(name), TakesPilot)]
        raise InvalidProblem(
            f"{what} can't be combined with policy {policy.name!r}, which counts on having chosen "
            f"every question itself: leave {what} out, or use one of {', '.join(able)}",
            field=what,
        )
