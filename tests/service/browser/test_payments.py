"""Paying workers on a phone, and what they see of it."""

from __future__ import annotations

from tests.service.browser.driving import Browser, Site, sign_in

PHONE = (390, 844)
ASKED = {"question": "Is it a cat?", "options": ["yes", "no"], "currency": "EUR"}


def test_workers_are_paid_on_a_phone(browser: Browser, site: Site) -> None:
    campaign = site.create(
        "paying",
        workers=[{"id": "ann", "price": "0.10"}, {"id": "bob", "price": "0.25"}],
        tasks=["t1", "t2", "t3"],
        content=ASKED,
        policy="random-pairs",
        budget=10,
    )
    for worker in ("ann", "ann", "bob"):
        (asked,) = campaign.ask(workers=[worker])
        campaign.tell(asked.id, "yes")
    sign_in(browser, site, "/dashboard/paying/payments")
    browser.size(*PHONE)
    browser.fits()
    browser.find("a[href$='worker=ann#pay']").click()
    browser.shows("Owed: 0.20 EUR", "#pay")
    browser.find("#pay-reference").send_keys("SEPA 4711")
    browser.find("#pay .primary").click()
    browser.shows("Marked as paid.", ".notice")
    browser.shows("SEPA 4711", "#history")
    (paid,) = campaign.payouts("ann")
    assert (paid.amount, paid.reference) == (campaign.payments()[0].paid, "SEPA 4711")
    browser.find("a[href$='worker=bob#bonus']").click()
    browser.find("#bonus-amount").send_keys("1.5")
    browser.find("#why").send_keys("For the hard ones.")
    browser.fits()
    browser.is_accessible()
    browser.find("#bonus button[type=submit]").click()
    browser.shows("The bonus is given.", ".notice")
    browser.fits()
    browser.is_accessible()
    browser.find("#pay-all .primary").click()
    browser.shows("All are marked as paid.", ".notice")
    assert not any(each.owed for each in campaign.payments())
    browser.open(site.link("paying", "bob"))
    browser.shows("1.75 EUR", "#paid-out")
    browser.find(".bonuses summary").click()
    browser.shows("For the hard ones.", ".bonuses")
    browser.fits()
    browser.is_accessible()
