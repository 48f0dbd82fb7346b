"""The payments of a campaign: what is owed, marked as paid, given as a bonus."""

import json
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from starlette.responses import Response

from askwise.campaign import Bonus, Campaign, Payment, Payout
from askwise.core.calls import LONGEST_REFERENCE, LONGEST_REMARK
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard.campaign import Words, frame
from askwise.service.dashboard.home import PageNumber
from askwise.service.dashboard.visit import Form, Viewing, Visit, back, changes, cut
from askwise.service.exports import EXPORTS
from askwise.service.pages.base import pages, refuse_form
from askwise.service.pages.filters import money

router = pages()

FILES = ("payouts.csv", "payments.csv", "payout-history.csv", "bonuses.csv")
"""The exports that are about money."""

LATEST = 25
"""Payouts and bonuses on the page; the files have all."""


@router.get("/dashboard/{name}/payments")
def payments(visit: Viewing, name: Name, page: PageNumber = 1, worker: Words = "") -> Response:
    """What is owed to whom, and what was paid; with forms for one worker, if one is named."""
    return _payments(visit, name, page=page, worker=worker)


def _again(visit: Visit, name: str, *, typed: dict[str, str], **said: Any) -> Response:
    return _payments(visit, name, worker=typed.get("worker", ""), typed=typed, **said)


on_payments = changes(_again, lambda name, form, code: back(f"/dashboard/{name}/payments", code))


@on_payments(router, "pay", "paid")
def pay(campaign: Campaign, form: Form) -> None:
    """Mark what a worker is owed as paid."""
    campaign.pay(_worker(form), form.text("amount", longest=40), key=form.key, **_paid(form))


@on_payments(router, "pay-all", "all-paid")
def pay_all(campaign: Campaign, form: Form) -> None:
    """Mark what everybody is owed as paid, as it was shown: not what was earned since then."""
    campaign.pay_all(_amounts(form), key=form.key, **_paid(form))


@on_payments(router, "bonus", "bonus-given")
def bonus(campaign: Campaign, form: Form) -> None:
    """Give a worker a bonus."""
    why = form.text("why", longest=LONGEST_REMARK).replace("\r\n", "\n")
    amount = form.text("bonus", longest=40)
    campaign.bonus(_worker(form), amount, why, by=form.by, key=form.key)


def _worker(form: Form) -> str:
    # As it is: an id may begin or end with a space.
    return form.fields.get("worker", "")


def _paid(form: Form) -> dict[str, Any]:
    """When and how it was paid, as a form says."""
    reference = form.fields.get("reference", "").strip()
    if len(reference) > LONGEST_REFERENCE:
        raise refuse_form(f"reference is too long: up to {LONGEST_REFERENCE} characters")
    on = form.fields.get("on", "").strip()
    return {"by": form.by, "reference": reference or None, "on": on or None}


def _amounts(form: Form) -> dict[str, str]:
    """What everybody was owed when the page was made."""
    try:
        found = json.loads(form.fields.get("amounts", ""))
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise refuse_form("this form is out of date: go back, reload the page and try again")
    return found


def _payments(
    visit: Visit,
    name: str,
    *,
    page: int = 1,
    worker: str = "",
    typed: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    view = partial(visit.service.campaigns.view, name)
    found: list[Payment] = view("payments", Campaign.payments)[1]
    # Those first who are owed most.
    rows = sorted(found, key=lambda each: (-each.owed, -each.earned))
    chosen = next((each for each in found if each.worker == worker), None)
    past: list[Payout | Bonus] = [
        *view("payouts", Campaign.payouts)[1],
        *view("bonuses", Campaign.bonuses)[1],
    ]
    if chosen is not None:
        past = [each for each in past if each.worker == chosen.worker]
    past.sort(key=lambda each: -each.seq)
    currency = found[0].currency if found else ""
    part = cut(len(rows), page)
    owed = {each.worker: str(each.owed) for each in rows if each.owed}
    today = datetime.fromtimestamp(time.time(), UTC).date()
    return visit.page(
        "dashboard/payments.html",
        **frame(visit, name, "payments"),
        rows=rows[part.start : part.end],
        cut=part,
        chosen=chosen,
        typed=typed or {},
        sums={
            what: sum((getattr(each, what) for each in found), Decimal(0))
            for what in ("owed", "paid_out", "bonus", "earned", "overpaid")
        },
        owing=len(owed),
        amounts=json.dumps(owed, ensure_ascii=False, separators=(",", ":")),
        past=past[:LATEST],
        more=max(0, len(past) - LATEST),
        files={file: EXPORTS[file][1] for file in FILES},
        today=today.isoformat(),
        latest=(today + timedelta(days=1)).isoformat(),
        cash=lambda amount: f"{money(amount)} {currency}".rstrip(),
        **values,
    )
