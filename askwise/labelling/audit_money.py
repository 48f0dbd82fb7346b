"""How much of an order's budget is kept back for audits: enough for a certificate."""

from collections.abc import Sequence
from dataclasses import replace

from askwise.auditing import audits_for_any_set
from askwise.core.certify import SHARE
from askwise.core.errors import InvalidParameter
from askwise.core.money import SHARE_UNIT, from_micro, to_micro
from askwise.core.problem import Worker
from askwise.labelling.orders import LabelOrder


def with_audit_money(order: LabelOrder) -> LabelOrder:
    """The order, with a share of its budget kept back that pays for the audits it takes.

    A share, a number of audits or of blocks that the order names is left as it is. With escalation
    no number of audits is too small: labels that they do not certify are replaced.

    Raises
    ------
    InvalidParameter
        There is no budget, or it does not pay for the audits and a label.
    """
    terms, items = order.certify, len(order.items) - len(order.items.truths)
    if terms is None or (order.budget is None and terms.audits is not None):
        return order
    if order.budget is None:
        raise InvalidParameter(
            "budget is missing: a certificate needs audits, and a part of the budget pays for them",
            field="budget",
        )
    if terms.escalate or not items:
        return order
    if (terms.share, terms.audits, terms.blocks) != (SHARE, None, 1):
        return order
    workers = order.workers
    audits = audits_for_any_set(items, error=terms.error, confidence=terms.confidence)
    budget = to_micro(order.budget, "budget")
    cost = _cost(audits, [each for each in workers if each.id in terms.by])
    cheapest = min(each.micro for each in workers if each.id not in terms.by)
    if cost + cheapest > budget:
        least = from_micro(cost + cheapest * items)
        raise InvalidParameter(
            f"budget is {from_micro(budget)}: a certificate of {items} labels may take {audits} "
            f"audits, which cost {from_micro(cost)}; give a budget of {least} or more, allow more "
            "wrong labels (--target-error), or ask for less confidence (--certify)",
            field="budget",
        )
    if terms.kept_back(budget) >= cost:
        return order
    # All of it where labels are free, but for what a share below 1 can't keep back.
    share = min(-(-cost * SHARE_UNIT // budget), SHARE_UNIT - 1) / SHARE_UNIT
    return replace(order, certify=replace(terms, share=share))


def _cost(audits: int, auditors: Sequence[Worker]) -> int:
    """What this many audits cost, the cheapest auditors first, as far as their limits allow."""
    cost, left = 0, audits
    for each in sorted(auditors, key=lambda worker: worker.micro):
        given = left if each.limit is None else min(left, each.limit)
        cost, left = cost + given * each.micro, left - given
    return cost
