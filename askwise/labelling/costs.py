"""What labelling is likely to cost, and what it costs at most, before anything is spent."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from askwise.core.money import from_micro
from askwise.data.order_costs import OrderCeiling, ceiling_of
from askwise.labelling.orders import LabelOrder

SAMPLE = 200
"""Items whose cost is estimated; that of the others is taken to be alike."""


@dataclass(frozen=True, slots=True)
class WorkerCost:
    """What one worker is likely to cost for an answer, at most, and for all items.

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
    ceiling = ceiling_of(order, order.workers)
    costs = tuple(_workers(order, ceiling))
    everybody = sum((each.everything for each in costs), Decimal(0))
    return CostForecast(
        workers=costs,
        everybody=everybody,
        budget=ceiling.budget,
        likely=min(everybody + ceiling.audits, ceiling.most),
        most=ceiling.most,
        audits=ceiling.audits,
        replacements=ceiling.replacements,
    )


def _workers(order: LabelOrder, ceiling: OrderCeiling) -> Iterator[WorkerCost]:
    """Those who label; those who audit are paid from what is kept back."""
    questions = order.questions()
    sample = questions[:: max(1, len(questions) // SAMPLE)]
    for each in ceiling.workers:
        source = order.sources.get(each.worker)
        likely = each.price
        if source is not None:
            likely = from_micro(-(-sum(map(source.estimate, sample)) // len(sample)))
        yield WorkerCost(each.worker, likely, each.price, likely * each.answers)
