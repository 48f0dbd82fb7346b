"""Requests about money out: payouts and bonuses."""

from typing import Annotated

from pydantic import Field

from askwise.core.calls import LONGEST_REFERENCE, LONGEST_REMARK
from askwise.service.api.shapes.requests import Amount, Body, Id

Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples=["2026-11-18"])]


class PaidBody(Body):
    """When and how workers were paid."""

    reference: Annotated[str, Field(max_length=LONGEST_REFERENCE)] | None = Field(
        None, description="What the payment is known by, such as the bank's reference."
    )
    on: Day | None = Field(
        None, description="The day on which it was paid; by default today, in UTC."
    )
    by: Id | None = Field(None, description="Who says so; by default what the key is called.")


class PayBody(PaidBody, example={"worker": "ann", "amount": "3.20", "reference": "SEPA 4711"}):
    """What a worker was paid."""

    worker: Id = Field(description="The worker.")
    amount: Amount | None = Field(
        None, description="What they were paid, up to what they are owed; by default all of it."
    )


class PayAllBody(PaidBody, example={"amounts": {"ann": "3.20", "bob": "1"}, "on": "2026-11-18"}):
    """What several workers were paid."""

    amounts: Annotated[dict[Id, Amount], Field(min_length=1)] | None = Field(
        None,
        description="What each was paid, by worker; by default everybody who is owed something is "
        "paid all of it, also what they have earned since you looked.",
    )


class BonusBody(Body, example={"worker": "ann", "amount": "2", "why": "For the hard ones."}):
    """Money for a worker, apart from what their answers are paid."""

    worker: Id = Field(description="The worker.")
    amount: Amount = Field(description="How much they are given.")
    why: str = Field(
        min_length=1, max_length=LONGEST_REMARK, description="The reason; the worker reads it."
    )
    by: Id | None = Field(None, description="Who gives it; by default what the key is called.")
