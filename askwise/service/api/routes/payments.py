"""Money out: what is owed, payouts, bonuses."""

from starlette.responses import Response

from askwise.campaign import Campaign, views
from askwise.service.api import dependencies as d
from askwise.service.api.shapes import payments as shapes
from askwise.service.api.shapes import replies
from askwise.service.json_reply import JsonReply

router = d.group("payments", "/campaigns/{name}")


@router.get("/payments", reply=replies.PaymentsShape, responses=d.POLLED)
def list_payments(call: d.Look, page: d.Page) -> Response:
    """What each worker has earned, what is owed of it and what is reserved for them."""
    return call.listed("payments", Campaign.payments, page)


@router.get("/due", reply=replies.DuePayoutsShape)
def list_due_payouts(call: d.Look, page: d.Page) -> Response:
    """What to pay now: an entry for every worker who is owed something."""
    return JsonReply(page.cut(call.campaign.due()))


@router.get("/payouts", reply=replies.PayoutsShape, responses=d.POLLED)
def list_payouts(call: d.Look, page: d.Page) -> Response:
    """What was marked as paid, in the order in which that was done."""
    return call.listed("payouts", Campaign.payouts, page)


@router.get("/bonuses", reply=replies.BonusesShape, responses=d.POLLED)
def list_bonuses(call: d.Look, page: d.Page) -> Response:
    """What was given as a bonus, in the order in which that was done."""
    return call.listed("bonuses", Campaign.bonuses, page)


@router.post("/pay", reply=views.Payout)
def mark_as_paid(call: d.Change, body: shapes.PayBody) -> Response:
    """Mark what a worker is owed as paid; the money itself moves elsewhere.

    More than is owed is refused with the reason `not_owed`.
    """
    payout = call.campaign.pay(
        body.worker,
        body.amount,
        by=body.by or call.caller.label,
        reference=body.reference,
        on=body.on,
        key=call.key,
    )
    return JsonReply(payout.to_json())


@router.post("/pay-all", reply=replies.PaidShape)
def mark_all_as_paid(call: d.Change, body: shapes.PayAllBody) -> Response:
    """Mark what several workers are owed as paid, all of them or none."""
    payouts = call.campaign.pay_all(
        body.amounts,
        by=body.by or call.caller.label,
        reference=body.reference,
        on=body.on,
        key=call.key,
    )
    return JsonReply({"payouts": [each.to_json() for each in payouts]})


@router.post("/bonus", reply=views.Status)
def give_bonus(call: d.Change, body: shapes.BonusBody) -> Response:
    """Give a worker money apart from what their answers are paid; it is spent at once."""
    by = body.by or call.caller.label
    call.campaign.bonus(body.worker, body.amount, body.why, by=by, key=call.key)
    return call.status()
