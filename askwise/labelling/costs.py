"""What labelling is likely to cost, and what it costs at the most, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from askwise.core.money import from_micro, to_micro
from askwise.labelling.orders import LabelOrder

SAMPLE = 200
"""Items whose cost is estimated; that of the others is taken to be alike."""


@dataclass(frozen=True, slots=True)
class WorkerCost:
    """What one worker is likely to cost for an answer, at the most, and for all items.

    ``most`` is the price that is reserved for each of their answers.
    """

    worker: str
    likely: Decimal
    most: Decimal
    everything: Decimal


@dataclass(frozen=True, slots=True)
class CostForecast:
    """What an order is likely to cost.

    Attributes
    ----------
    workers : tuple of WorkerCost
        Each judge and each person who labels.
    everybody : Decimal
        What it is likely to cost to put every item to everybody.
    budget : Decimal or None
        The most that is spent, if that was said.
    likely : Decimal
        What is likely to be spent: with a budget below that, all of it. A target that is reached
        sooner saves the rest.
    most : Decimal
        What can't be exceeded.
    audits : Decimal
        The part that is kept back for audits.
    replacements : Decimal
        What it costs if every label has to be replaced by a trusted answer; 0 without escalation.
    """

    workers: tuple[WorkerCost, ...]
    everybody: Decimal
    budget: Decimal | None
    likely: Decimal
    most: Decimal
    audits: Decimal
    replacements: Decimal


def forecast(order: LabelOrder) -> CostForecast:
    """Work out what an order is likely to cost, from prices and the length of its items."""
    budget = None if order.budget is None else to_micro(order.budget, "budget")
    costs = list(_workers(order))
    everybody = sum(to_micro(each.everything, "cost") for each in costs)
    ceiling = sum(to_micro(each.most, "price") * len(order.items) for each in costs)
    audits = _audits(order, budget)
    trusted = max(audits, _replacements(order))
    most = ceiling + trusted if budget is None else min(budget, ceiling + trusted)
    likely = min(everybody + audits, most)
    return CostForecast(
        workers=tuple(costs),
        everybody=from_micro(everybody),
        budget=None if budget is None else from_micro(budget),
        likely=from_micro(likely),
        most=from_micro(most),
        audits=from_micro(audits),
        replacements=from_micro(_replacements(order)),
    )


def _workers(order: LabelOrder) -> Iterator[WorkerCost]:
    """Those who label; those who audit are paid from what is kept back."""
    total = len(order.items)
    questions = order.questions()
    step = max(1, total // SAMPLE)
    sample = questions[::step]
    auditors = order.certify.by if order.certify is not None else ()
    for worker in order.workers:
        if worker.id in auditors:
            continue
        source = order.sources.get(worker.id)
        likely = worker.micro
        if source is not None:
            likely = -(-sum(source.estimate(each) for each in sample) // len(sample))
        answers = total if worker.limit is None else min(total, worker.limit)
        yield WorkerCost(
            worker.id, from_micro(likely), from_micro(worker.micro), from_micro(likely * answers)
        )


def _audits(order: LabelOrder, budget: int | None) -> int:
    """What audits may cost: the share of the budget that is kept back, or so many audits."""
    terms = order.certify
    if terms is None:
        return 0
    dearest = max(worker.micro for worker in order.workers if worker.id in terms.by)
    if budget is not None:
        kept = terms.kept_back(budget)
        return kept if terms.audits is None else min(kept, terms.audits * dearest)
    return dearest * (len(order.items) if terms.audits is None else terms.audits)


def _replacements(order: LabelOrder) -> int:
    """What trusted answers in place of all labels cost, where labels may be replaced."""
    terms = order.certify
    if terms is None or not terms.escalate:
        return 0
    dearest = max(worker.micro for worker in order.workers if worker.id in terms.by)
    return dearest * len(order.items)
