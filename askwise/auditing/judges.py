"""How good each judge is against the majority of people."""

import math
from dataclasses import dataclass

import numpy as np

from askwise.auditing.alternative import AlternativeTest, alternative_test
from askwise.auditing.ballots import FAILED, Ballots
from askwise.auditing.intervals import Interval, share
from askwise.core.arrays import Array
from askwise.core.errors import InvalidProblem
from askwise.core.json_types import Count, Quantity
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import NORMAL


@dataclass(frozen=True, slots=True)
class ClassRates(Jsonable):
    """How a judge does on one class.

    Attributes
    ----------
    label : str
        The class.
    tpr : Interval or None
        Of the tasks that are of the class, the share that the judge says so of; None without one.
    tnr : Interval or None
        Of the other tasks, the share that the judge says another class of; None without one.
    tasks : float
        How many tasks are of the class; a tie of k labels counts 1/k.
    """

    label: str
    tpr: Interval | None
    tnr: Interval | None
    tasks: Quantity


@dataclass(frozen=True, slots=True)
class Flips(Jsonable):
    """How a judge does on tasks that they saw in two orders or more.

    Attributes
    ----------
    tasks : int
        How many such tasks there are.
    share : Interval
        The share of them on which the label changes with the order.
    same_accuracy : Interval or None
        How often verdicts are right where the label does not change; None without such a task.
    changed_accuracy : Interval or None
        How often verdicts are right where it changes; None without such a task.
    """

    tasks: Count
    share: Interval
    same_accuracy: Interval | None
    changed_accuracy: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeCard(Jsonable):
    """What is known of one judge.

    Attributes
    ----------
    judge : str
        The name of the judge.
    verdicts : int
        How often they were asked.
    failures : Interval
        The share of these without a label.
    tasks : int
        Tasks with a verdict of theirs and an answer of a person: what follows is measured there.
    accuracy : Interval or None
        How often they say what most people say; where k labels are tied, 1/k. None without such a
        task.
    kappa : Interval or None
        Cohen's kappa with the majority of people; None where chance alone always agrees.
    classes : tuple of ClassRates
        The rates by class, in the order of labels.
    alternative : AlternativeTest or None
        The alternative annotator test; None without a person who has 30 tasks that the judge and
        another person answered too.
    flips : Flips or None
        What changes with the order; None without orders.
    """

    judge: str
    verdicts: Count
    failures: Interval
    tasks: Count
    accuracy: Interval | None
    kappa: Interval | None
    classes: tuple[ClassRates, ...]
    alternative: AlternativeTest | None
    flips: Flips | None


def judge_cards(ballots: Ballots, *, epsilon: float) -> tuple[JudgeCard, ...]:
    """A card for each judge."""
    flips = _all_flips(ballots)
    return tuple(_card(ballots, at, epsilon, flips[at]) for at in range(len(ballots.judge_names)))


def _card(ballots: Ballots, judge: int, epsilon: float, flips: Flips | None) -> JudgeCard:
    mine = ballots.judges == judge
    asked = int(mine.sum())
    failures = share(float((ballots.labels[mine] == FAILED).sum()), asked)
    assert failures is not None
    tasks, shares = ballots.dense(judge)
    here = ballots.known[tasks]
    said, truth = shares[here], ballots.truth[tasks[here]]
    return JudgeCard(
        judge=ballots.judge_names[judge],
        verdicts=asked,
        failures=failures,
        tasks=len(said),
        accuracy=share(float((said * truth).sum()), len(said)),
        kappa=kappa(said, truth),
        classes=class_rates(said, truth, ballots.label_names),
        alternative=alternative_test(ballots, judge, epsilon=epsilon),
        flips=flips,
    )


def class_rates(said: Array, truth: Array, names: tuple[str, ...]) -> tuple[ClassRates, ...]:
    """True positive and true negative rates of each class, with Wilson's intervals.

    Parameters
    ----------
    said, truth : arrays, tasks x labels
        The share of each label; every row sums to 1.
    names : tuple of str
        Of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> said, truth = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 1, 1]]
    >>> no, yes = class_rates(said, truth, ("no", "yes"))
    >>> no.tpr.value, no.tnr.value, yes.tasks
    (1.0, 0.5, 2.0)
    """
    table = said.T @ truth
    of_class, said_of, total = table.sum(axis=0), table.sum(axis=1), float(table.sum())
    found = []
    for at, name in enumerate(names):
        hits = float(table[at, at])
        others = total - float(of_class[at])
        spared = others - (float(said_of[at]) - hits)
        found.append(
            ClassRates(
                name,
                share(hits, float(of_class[at])),
                share(spared, others) if others > 1e-9 else None,
                float(of_class[at]),
            )
        )
    return tuple(found)


def kappa(said: Array, truth: Array) -> Interval | None:
    """Cohen's kappa of verdicts and truth, with a 95% interval.

    Kappa is (p - c) / (1 - c), where p is the share of tasks on which both agree and c the share
    on which they would by chance, with the shares of labels that each has. The interval is the
    wider of two: that of the delta method over tasks (of Fleiss, Cohen and Everitt, where nothing
    is tied), and Wilson's of p taken to kappa at the same c. The first alone is empty where all
    verdicts are right, however few. None where chance alone would always agree.

    Parameters
    ----------
    said, truth : arrays, tasks x labels
        The share of each label; every row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> said, truth = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 1, 1]]
    >>> kappa(said, truth).value  # p = 3/4, c = 3/4 1/2 + 1/4 1/2 = 1/2
    0.5
    """
    tasks = len(said)
    if tasks == 0:
        return None
    agree = (said * truth).sum(axis=1)
    p = float(agree.mean())
    ours, theirs = said.mean(axis=0), truth.mean(axis=0)
    c = float(ours @ theirs)
    if 1.0 - c < 1e-12:
        return None
    value = (p - c) / (1.0 - c)
    chance = said @ theirs + truth @ ours - 2.0 * c
    influence = ((agree - p) * (1.0 - c) - chance * (1.0 - p)) / (1.0 - c) ** 2
    half = NORMAL * float(influence.std()) / math.sqrt(tasks)
    wilson = share(p * tasks, tasks)
    assert wilson is not None
    low = min(value - half, (wilson.low - c) / (1.0 - c))
    high = max(value + half, (wilson.high - c) / (1.0 - c))
    return Interval(value, max(-1.0, low), min(1.0, max(value, high)))


def _all_flips(ballots: Ballots) -> list[Flips | None]:
    """What changes with the order, for each judge; refuses orders that nobody saw two of."""
    if not ballots.order_names:
        return [None] * len(ballots.judge_names)
    found = [_flips(ballots, at) for at in range(len(ballots.judge_names))]
    if not any(found):
        raise InvalidProblem(
            f"{ballots.sources.verdicts}: no judge gave a verdict on one task in two orders: give "
            "both verdicts the same worker and task, or leave the order out",
            field="order",
        )
    return found


def _flips(ballots: Ballots, judge: int) -> Flips | None:
    mine = np.flatnonzero((ballots.judges == judge) & (ballots.labels != FAILED))
    seen = ballots.tasks[mine] * len(ballots.order_names) + ballots.orders[mine]
    # In an order that a judge saw twice, the first verdict counts.
    rows = mine[np.unique(seen, return_index=True)[1]]
    tasks, labels = ballots.tasks[rows], ballots.labels[rows]
    size = len(ballots.task_names)
    orders = np.bincount(tasks, minlength=size)
    least, most = np.full(size, len(ballots.label_names)), np.full(size, -1)
    np.minimum.at(least, tasks, labels)
    np.maximum.at(most, tasks, labels)
    both = orders >= 2
    changed = both & (least != most)
    found = share(float(changed.sum()), float(both.sum()))
    if found is None:
        return None
    right = np.bincount(tasks, ballots.truth[tasks, labels], minlength=size) / np.maximum(orders, 1)
    same, other = both & ~changed & ballots.known, changed & ballots.known
    return Flips(
        int(both.sum()),
        found,
        share(float(right[same].sum()), float(same.sum())),
        share(float(right[other].sum()), float(other.sum())),
    )
