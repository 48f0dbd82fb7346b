"""The page of payments: what is owed, marked as paid, given as a bonus."""

from __future__ import annotations

import json
from decimal import Decimal

from askwise.campaign import Campaign
from askwise.core.events import Kind
from tests.service.dashboard.site import NASTY, Site, form_of, words_of

PATH = "/dashboard/cats/payments"
EUROS = {"question": "A cat?", "options": ["yes", "no"], "currency": "EUR"}


def answered(site: Site) -> Campaign:
    """Two answers of ann's, at 0.10 each, and one of bob's at 0.25."""
    campaign = site.create(options=None, content=EUROS)
    for worker in ("ann", "ann", "bob"):
        (asked,) = campaign.ask(workers=[worker])
        campaign.tell(asked.id, "yes")
    return campaign


def test_a_worker_is_marked_as_paid_with_a_day_and_a_reference(site: Site) -> None:
    campaign = answered(site)
    page = site.page(PATH)
    assert "Owed 0.45 EUR to 2 workers" in words_of(page)
    assert 'href="/dashboard/cats/payments?worker=ann#pay"' in page
    page = site.page(f"{PATH}?worker=ann")
    assert 'name="amount" inputmode="decimal" required autocomplete="off" value="0.2"' in page
    form = form_of(page, "/pay")
    assert form.fields["worker"] == "ann"
    reply = site.send(form, amount="0.15", on="2024-06-02", reference=NASTY)
    page = site.page(reply.headers["location"])
    said = words_of(page)
    assert "Marked as paid." in said
    assert "Owed 0.30 EUR to 2 workers" in said
    assert "0.15 last on 2024-06-02" in said
    assert "paid on 2024-06-02" in said
    assert NASTY not in page
    event = campaign.log()[-1]
    assert (event.kind, event.by, event.on) == (Kind.PAID, "the owner", "2024-06-02")
    assert event.reference == NASTY


def test_all_are_marked_as_paid_what_the_page_showed(site: Site) -> None:
    campaign = answered(site)
    form = form_of(site.page(PATH), "/pay-all")
    assert json.loads(form.fields["amounts"]) == {"bob": "0.25", "ann": "0.2"}
    (asked,) = campaign.ask(workers=["ann"])
    campaign.tell(asked.id, "yes")
    reply = site.send(form, reference="June")
    assert reply.status_code == 303
    assert [each.owed for each in campaign.payments()] == [Decimal("0.1"), 0]
    assert {each.reference for each in campaign.payouts()} == {"June"}
    # The same form again does nothing more; another one of before finds that it was paid.
    assert site.send(form, reference="June").status_code == 303
    refused = site.send(form, reference="July")
    assert refused.status_code == 409
    assert "is owed" in refused.text.split('role="alert">')[1].split("<")[0]
    assert len(campaign.payouts()) == 2


def test_a_bonus_is_given_with_a_reason(site: Site) -> None:
    campaign = answered(site)
    form = form_of(site.page(f"{PATH}?worker=bob"), "/bonus")
    page = site.page(site.send(form, bonus="1.5", why=NASTY).headers["location"])
    said = words_of(page)
    assert "The bonus is given." in said
    assert "Bonuses 1.50 EUR" in said
    assert NASTY not in page
    assert [each.why for each in campaign.bonuses("bob")] == [NASTY]


def test_what_is_refused_is_said_and_kept_in_its_form(site: Site) -> None:
    campaign = answered(site)
    page = site.page(f"{PATH}?worker=ann")
    for end, typed, status, words in (
        ("/pay", {"amount": "5", "reference": "June"}, 409, "is owed 0.2"),
        ("/pay", {"amount": "", "reference": "June"}, 422, "amount is empty"),
        ("/pay", {"amount": "0.1", "on": "2 June"}, 422, "give the day as 2026-11-18"),
        ("/bonus", {"bonus": "50", "why": "Thanks"}, 409, "the budget has 9.55 left"),
        ("/bonus", {"bonus": "5", "why": " "}, 422, "why is empty"),
    ):
        reply = site.send(form_of(page, end), **typed)
        assert reply.status_code == status, reply.text
        assert words in reply.text.split('role="alert">')[1].split("<")[0]
        for value in typed.values():
            assert not value.strip() or f'value="{value}"' in reply.text
    assert campaign.payouts() == campaign.bonuses() == []
    assert site.send(form_of(site.page(PATH), "/pay-all"), amounts="[]").status_code == 422


def test_a_viewer_sees_payments_and_makes_none(site: Site) -> None:
    campaign = answered(site)
    campaign.pay("ann", by="bo", reference="June")
    site.sign_in("viewer")
    page = site.page(PATH)
    assert "Reference: June" in words_of(page)
    for form in ("/pay", "/pay-all", "/bonus"):
        assert f'action="/dashboard/cats{form}"' not in page
        assert f'action="/dashboard/cats{form}"' not in site.page(f"{PATH}?worker=ann")


def test_a_page_without_anybody_owed_says_so(site: Site) -> None:
    site.create()
    said = words_of(site.page(PATH))
    assert "Owed 0.00 to 0 workers" in said
    assert "Nobody has been paid or given a bonus yet." in said
    assert "Mark all as paid" not in said


def test_the_files_are_linked_and_have_the_currency(site: Site) -> None:
    campaign = answered(site)
    campaign.bonus("ann", "1", "Thanks.", by="bo")
    campaign.pay("bob", by="bo", on="2024-06-02")
    page = site.page(PATH)
    for file, line in (
        ("payouts.csv", "ann,1.2,EUR,2,"),
        ("payments.csv", "ann,2,0.2,0,price per answer,0,1,1.2,0,1.2,0,2,,EUR"),
        ("payout-history.csv", "bob,0.25,EUR,2024-06-02,,bo"),
        ("bonuses.csv", "ann,1,EUR,Thanks.,bo"),
    ):
        assert f'href="/dashboard/cats/export/{file}"' in page
        assert line in site.page(f"/dashboard/cats/export/{file}")
    assert "bob" not in site.page("/dashboard/cats/export/payouts.csv")
