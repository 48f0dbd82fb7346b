"""What a worker's page says of their money."""

from __future__ import annotations

from tests.service.dashboard.site import NASTY, words_of
from tests.service.work.visiting import Bench


def test_a_worker_sees_what_they_have_earned_and_what_of_it_was_paid_out(bench: Bench) -> None:
    campaign = bench.campaign()
    for worker in ("ann", "ann", "bob"):
        (asked,) = campaign.ask(workers=[worker])
        campaign.tell(asked.id, "yes")
    visitor = bench.visitor()
    visitor.look()
    assert "Earned 0.20 Answers 2" in words_of(visitor.page)
    campaign.pay("ann", "0.15", by="bo", reference="secret")
    campaign.pay("bob", by="bo")
    visitor.look()
    assert "Earned 0.20 Paid out 0.15 Answers 2" in words_of(visitor.page)
    assert "secret" not in visitor.page


def test_a_worker_reads_why_they_were_given_a_bonus(bench: Bench) -> None:
    campaign = bench.campaign(
        options=None,
        content={"question": "A cat?", "options": ["yes", "no"], "currency": "EUR"},
    )
    campaign.bonus("ann", "1.5", NASTY, by="bo")
    campaign.bonus("bob", "2", "For bob alone.", by="bo")
    visitor = bench.visitor()
    visitor.look()
    page = words_of(visitor.page)
    assert "Earned 1.50 EUR" in page
    assert "Bonuses: 1.50 EUR 1.50 EUR" in page
    assert NASTY not in visitor.page
    assert "&lt;script&gt;" in visitor.page
    assert "For bob alone." not in visitor.page
