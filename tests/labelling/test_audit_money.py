"""The part of a budget that is kept back for audits pays for a certificate, or it is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from askwise import Done
from askwise.core.errors import InvalidParameter
from askwise.data.orders import read_order
from askwise.labelling import LabelOrder, forecast, label, with_judges
from askwise.labelling.audit_money import with_audit_money
from askwise.sources.function import Function
from askwise.sources.judges import Judge
from tests.labelling.judged import TEXTS, careful, certified

AUDITS = 27
"""That at most 1 of 39 labels is wrong takes the most: 2 wrong ones are missed by 27 audits with
probability 12 * 11 / (39 * 38) < 0.1, by 26 with 13 * 12 / (39 * 38) > 0.1."""


def fields(**changes: Any) -> dict[str, Any]:
    """What ``label`` takes for 40 items that two careful judges label at 0.004 each."""
    agreeing = [Judge(name, Function(careful, price="0.004")) for name in ("one", "two")]
    made = certified(judges=agreeing, target_error=0.05, budget="1")
    return {**made, **changes}


def ordered(**changes: Any) -> LabelOrder:
    said = fields(**changes)
    judges, sources = said.pop("judges"), said.pop("sources")
    return with_judges(read_order(TEXTS[:40], **said), judges, sources=sources)


def test_a_budget_whose_fifth_pays_for_too_few_audits_keeps_more_back() -> None:
    found = label(TEXTS[:40], **fields())
    assert found.certificate is not None
    assert found.end == Done("certified")
    assert (found.certificate.audited, found.certificate.certified) == (AUDITS, 40)
    assert forecast(with_audit_money(ordered())).audits == AUDITS * Decimal("0.02")


def test_a_budget_that_does_not_pay_for_them_is_refused_with_one_that_does() -> None:
    with pytest.raises(InvalidParameter, match=r"27 audits, .* cost 0.54; .* of 0.7 or more") as no:
        with_audit_money(ordered(budget="0.543"))
    assert no.value.field == "budget"
    assert label(TEXTS[:40], **fields(budget="0.7")).end == Done("certified")


def test_without_a_budget_there_is_nothing_to_audit_with() -> None:
    with pytest.raises(InvalidParameter, match="budget is missing"):
        with_audit_money(ordered(budget=None))


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": "3"},
        {"escalate": True},
        {"certify": {"confidence": 0.9, "share": 0.3}},
        {"certify": {"confidence": 0.9, "audits": 20}},
    ],
)
def test_what_is_enough_or_was_said_is_left_as_it_is(changes: dict[str, Any]) -> None:
    order = ordered(**changes)
    assert with_audit_money(order) is order


def test_free_labels_leave_the_whole_budget_to_audits() -> None:
    free = [Judge("free", Function(lambda asked: "spam" if "won" in asked.payload else "ham"))]
    found = label(TEXTS[:40], **fields(judges=free, budget="0.54"))
    assert found.end == Done("certified")
    assert found.cost == Decimal("0.54")


def test_the_most_that_it_costs_counts_an_audit_of_every_label() -> None:
    # A tenth of 5 pays for 25 audits; money that labelling leaves may pay for more.
    costs = forecast(ordered(budget="5", certify={"confidence": 0.9, "share": 0.1}))
    assert costs.audits == Decimal("0.5")
    assert costs.most == 40 * (2 * Decimal("0.004") + Decimal("0.02"))
