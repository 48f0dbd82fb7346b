"""The cheap judge first, the expensive one when unsure: what that would cost at the same error."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, NamedTuple

import numpy as np

from askwise.auditing.ballots import Ballots, majority
from askwise.auditing.intervals import Interval, paired, share
from askwise.core.arrays import Array
from askwise.core.json_types import Count, JsonLimits, PartSaved, Quantity, Share
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import TIE

SPLITS = 5
"""Times that tasks are split in half, another way each time."""

LEAST_TASKS = 40
"""Below this many tasks a half is too small to choose by."""

UNTIL = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999, 0.9999)
"""How sure the weights may have to be before nobody else is asked."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Cascade(Jsonable):
    """What asking judges one after another would cost, against asking all.

    Attributes
    ----------
    judges : tuple of str
        The judges to ask, in this order; chosen on all tasks that people answered.
    until : float or None
        The next judge is asked while the weights make the leading label less sure than this against
        the second; None if all of them are always asked.
    chosen_cost : float
        What a task costs with exactly these judges, on the tasks that they were chosen on.
    chosen_error : Interval
        The share of those tasks on which they are wrong. It flatters them, as they were chosen by
        it: for unseen tasks see ``error``.
    cost : float
        The cost of a task with a cascade that is chosen in the same way on other tasks, on average
        over ten such choices: they may be other judges.
    all_cost : float
        The cost of a task if all judges are asked.
    saved : float or None
        The share of the cost that the cascade saves; None where asking all costs nothing.
    error : Interval
        The share of wrong labels of those ten cascades on tasks that they were not chosen on, by
        weighted votes.
    all_error : Interval
        The same, if all judges are asked.
    change : Interval
        How much larger their error is, task by task.
    priced : bool
        Whether prices were given; else every verdict costs 1.
    tasks : int
        Tasks that it is measured on.
    """

    judges: Annotated[tuple[str, ...], JsonLimits(minItems=1)]
    until: Share | None
    chosen_cost: Quantity
    chosen_error: Interval
    cost: Quantity
    all_cost: Quantity
    saved: PartSaved | None
    error: Interval
    all_error: Interval
    change: Interval
    priced: bool
    tasks: Count


class Stage(NamedTuple):
    """A cascade at work: whom to ask in which order, their weights, and the lead that ends it."""

    order: Array
    weights: Array
    until: float | None


class CascadeSteps(NamedTuple):
    """What is known of each task after each judge, tasks x judges."""

    leads: Array
    right: Array
    cost: Array

    def last(self, until: float | None) -> Array:
        """The step of each task after which the lead is large enough, or nobody is left."""
        steps = self.leads.shape[1]
        if until is None:
            return np.full(len(self.leads), steps - 1)
        enough = self.leads >= math.log(until / (1.0 - until)) - TIE
        return np.where(enough.any(axis=1), enough.argmax(axis=1), steps - 1)

    def ended(self, until: float | None) -> tuple[Array, Array]:
        """How right each task is and what it costs then."""
        rows, last = np.arange(len(self.leads)), self.last(until)
        return self.right[rows, last], self.cost[rows, last]


@dataclass(frozen=True, eq=False)
class PricedJudges:
    """Tasks with answers of people, and the judges who may be asked about them."""

    ballots: Ballots
    prices: Array
    tasks: Array

    def weights(self, rows: Array) -> Array:
        """What a vote of each judge counts, in log-odds, from some of the tasks.

        With a of n verdicts right and C labels it is ln p (C - 1) / (1 - p), where p is
        (a + 1) / (n + C); at least 0.
        """
        right, known = (each[self.tasks[rows]] for each in self.ballots.right)
        options = len(self.ballots.label_names)
        p = (right.sum(axis=0) + 1.0) / (known.sum(axis=0) + options)
        return np.maximum(0.0, np.log(p * (options - 1) / (1.0 - p)))

    def walk(self, order: Array, weights: Array, rows: Array) -> CascadeSteps:
        """Ask judges in this order about some of the tasks, whatever was said before."""
        ballots, tasks = self.ballots, self.tasks[rows]
        place = np.full(len(ballots.task_names), -1)
        place[tasks] = np.arange(len(tasks))
        truth = ballots.truth[tasks]
        scores = np.zeros(truth.shape)
        found = CascadeSteps(*(np.empty((len(tasks), len(order))) for _ in CascadeSteps._fields))
        paid = np.zeros(len(tasks))
        for step, judge in enumerate(order):
            ballot = ballots.ballots[judge]
            here = place[ballot.tasks]
            some = here >= 0
            scores[here[some], ballot.labels[some]] += weights[judge] * ballot.shares[some]
            paid = paid + ballots.asked[tasks, judge] * self.prices[judge]
            second, first = np.partition(scores, -2, axis=1)[:, -2:].T
            best = majority(scores)
            # Where nobody said anything that counts, it is a guess.
            best[first <= 0] = 1.0 / truth.shape[1]
            found.leads[:, step] = first - second
            found.right[:, step] = (best * truth).sum(axis=1)
            found.cost[:, step] = paid
        return found

    def choose(self, rows: Array, allowed: float | None = None) -> Stage:
        """The cheapest cascade that errs no more on these tasks than asking all.

        More is ``allowed`` where that is more.
        """
        weights = self.weights(rows)
        judges = np.arange(len(weights))
        ranked = np.lexsort((judges, self.prices, -weights))
        best: tuple[tuple[float, float, int], Stage] | None = None
        limit = max(1.0 - self.all_of(weights, rows)[0].mean(), allowed or 0.0)
        for size in reversed(sizes(len(judges))):
            members = ranked[:size]
            order = members[np.lexsort((members, -weights[members], self.prices[members]))]
            walk = self.walk(order, weights, rows)
            for until in (None, *UNTIL):
                right, cost = walk.ended(until)
                error = 1.0 - float(right.mean())
                key = float(cost.mean()), error, size
                if error <= limit + TIE and (best is None or key < best[0]):
                    # Whom nobody came to ask is no part of it.
                    asked = order[: int(walk.last(until).max()) + 1]
                    best = key, Stage(asked, weights, until if len(asked) > 1 else None)
        assert best is not None
        return best[1]

    def all_of(self, weights: Array, rows: Array) -> tuple[Array, Array]:
        """How right each task is and what it costs, if all judges are asked."""
        return self.walk(np.arange(len(weights)), weights, rows).ended(None)


def sizes(judges: int) -> list[int]:
    """Sizes of cascades that are tried: up to 8 all of them, then every half more, and all.

    Examples
    --------
    >>> sizes(3), sizes(20)
    ([1, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8, 12, 18, 20])
    """
    found = list(range(1, min(8, judges) + 1))
    while found[-1] < judges:
        found.append(min(judges, found[-1] * 3 // 2))
    return found


def cascade(
    ballots: Ballots,
    prices: Sequence[Decimal] | None,
    *,
    seed: int,
    progress: Progress = lambda what, done, total: None,
) -> Cascade | None:
    """Find the cheapest cascade that errs no more than asking all judges, and measure it.

    Judges vote with weights, the log-odds that they are right. The best of them by weight are
    asked, cheap before expensive and better before worse, until the leading label is
    sure enough against the second. How many judges, and how sure, is chosen where it costs least
    among those that err no more than all judges together, by the same weights.

    Weights and choice are made on one half of the tasks that people answered and measured on the
    other, and the other way round, for five ways to split: so it is not praised for what it
    learned by heart. A failure is paid for and has no vote. None with fewer than two judges, 40
    tasks or two labels.

    Parameters
    ----------
    ballots : Ballots
        Verdicts and answers.
    prices : sequence of Decimal, optional
        Of a verdict of each judge; 1 each if not given.
    seed : int
        Of the splits.
    """
    tasks = np.flatnonzero(ballots.known & ballots.right[1].any(axis=1))
    judges = len(ballots.judge_names)
    if judges < 2 or len(tasks) < LEAST_TASKS or len(ballots.label_names) < 2:
        return None
    paid = np.ones(judges) if prices is None else np.array([float(each) for each in prices])
    panel = PricedJudges(ballots, paid, tasks)
    totals = np.zeros((4, len(tasks)))
    rng = np.random.default_rng(seed)
    for split in range(SPLITS):
        progress("cascades", split, SPLITS)
        mixed = rng.permutation(len(tasks))
        halves = mixed[: len(tasks) // 2], mixed[len(tasks) // 2 :]
        for learn, test in (halves, halves[::-1]):
            found = panel.choose(learn)
            totals[:2, test] += panel.walk(found.order, found.weights, test).ended(found.until)
            totals[2:, test] += panel.all_of(found.weights, test)
    right, cost, all_right, all_cost = totals / SPLITS
    everything = np.arange(len(tasks))
    final = panel.choose(everything)
    chosen_right, chosen_cost = panel.walk(final.order, final.weights, everything).ended(
        final.until
    )
    progress("cascades", SPLITS, SPLITS)
    return Cascade(
        judges=tuple(ballots.judge_names[at] for at in final.order),
        until=final.until,
        chosen_cost=float(chosen_cost.mean()),
        chosen_error=_error(chosen_right),
        cost=float(cost.mean()),
        all_cost=float(all_cost.mean()),
        saved=1.0 - float(cost.sum() / all_cost.sum()) if all_cost.sum() > 0 else None,
        error=_error(right),
        all_error=_error(all_right),
        change=paired(all_right - right),
        priced=prices is not None,
        tasks=len(tasks),
    )


def _error(right: Array) -> Interval:
    found = share(float((1.0 - right).sum()), len(right))
    assert found is not None
    return found
