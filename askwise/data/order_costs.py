"""What a campaign of items can cost at most, from its prices alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from askwise.core.money import from_micro, to_micro
from askwise.core.problem import Worker
from askwise.data.orders import ItemsOrder


@dataclass(frozen=True, slots=True)
class WorkerCeiling:
    """What one worker can cost: their price, how many answers they can give, and both together."""

    worker: str
    price: Decimal
    answers: int
    most: Decimal


@dataclass(frozen=True, slots=True)
class OrderCeiling:
    """What an order can cost at most.

    Attributes
    ----------
    workers : tuple of WorkerCeiling
        Each of those who label; those who audit are paid from what is kept back.
    everybody : Decimal
        What it costs if everybody answers about every item.
    audits : Decimal
        The part that is kept back for audits.
    replacements : Decimal
        What it costs if every label has to be replaced by a trusted answer; 0 without escalation.
    budget : Decimal or None
        The most that is spent, if that was said.
    most : Decimal
        What can't be exceeded.
    answers : int
        How many answers the budget pays for at the cheapest prices, or all that can be given.
    """

    workers: tuple[WorkerCeiling, ...]
    everybody: Decimal
    audits: Decimal
    replacements: Decimal
    budget: Decimal | None
    most: Decimal
    answers: int


def ceiling_of(order: ItemsOrder, workers: Sequence[Worker]) -> OrderCeiling:
    """Work out what an order can cost at most, with these judges and people."""
    budget = None if order.budget is None else to_micro(order.budget, "budget")
    total = len(order.tasks)
    auditors = () if order.certify is None else order.certify.by
    labelling = [each for each in workers if each.id not in auditors]
    given = {each.id: total if each.limit is None else min(total, each.limit) for each in labelling}
    everybody = sum(each.micro * given[each.id] for each in labelling)
    audits = _audits(order, workers, budget)
    replacements = _replacements(order, workers)
    most = everybody + max(audits, _all_audits(order, workers), replacements)
    if budget is not None:
        most = min(budget, most)
    left = everybody if budget is None else max(0, budget - audits)
    return OrderCeiling(
        workers=tuple(
            WorkerCeiling(
                each.id,
                from_micro(each.micro),
                given[each.id],
                from_micro(each.micro * given[each.id]),
            )
            for each in labelling
        ),
        everybody=from_micro(everybody),
        audits=from_micro(audits),
        replacements=from_micro(replacements),
        budget=None if budget is None else from_micro(budget),
        most=from_micro(most),
        answers=_affordable([(each.micro, given[each.id]) for each in labelling], left),
    )


def _affordable(prices: Sequence[tuple[int, int]], money: int) -> int:
    """How many answers so much money buys, the cheapest first."""
    bought = 0
    for price, answers in sorted(prices):
        count = answers if price == 0 else min(answers, money // price)
        bought += count
        money -= count * price
    return bought


def _audits(order: ItemsOrder, workers: Sequence[Worker], budget: int | None) -> int:
    """What audits may cost: the share of the budget that is kept back, or this many audits."""
    terms = order.certify
    if terms is None:
        return 0
    dearest = max(worker.micro for worker in workers if worker.id in terms.by)
    if budget is not None:
        kept = terms.kept_back(budget)
        return kept if terms.audits is None else min(kept, terms.audits * dearest)
    return dearest * (len(order.items) if terms.audits is None else terms.audits)


def _all_audits(order: ItemsOrder, workers: Sequence[Worker]) -> int:
    """What audits cost at most: money that labelling has left may be used for them, too."""
    terms = order.certify
    if terms is None:
        return 0
    dearest = max(worker.micro for worker in workers if worker.id in terms.by)
    items = len(order.items)
    return dearest * (items if terms.audits is None else min(items, terms.audits))


def _replacements(order: ItemsOrder, workers: Sequence[Worker]) -> int:
    """What trusted answers in place of all labels cost, where labels may be replaced."""
    terms = order.certify
    if terms is None or not terms.escalate:
        return 0
    dearest = max(worker.micro for worker in workers if worker.id in terms.by)
    return dearest * len(order.items)
