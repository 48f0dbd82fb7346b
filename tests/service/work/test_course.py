"""The worker's page while a campaign goes its way: leases, pauses, breaks, bids, troubles."""

from __future__ import annotations

import re
from typing import Any

import pytest

from askwise.core.errors import StoreError
from askwise.core.events import Kind
from tests.service.work.visiting import Bench, Clock, kinds


def test_a_late_answer_is_taken_or_the_reason_is_told(clock: Clock, bench: Bench) -> None:
    campaign = bench.campaign(lease=90, tasks=["t1"])
    ann = bench.visitor()
    ann.look()
    first = ann.send("next")
    assert 'role="timer" data-left="90.0">1 min 30 s<' in first
    clock.ahead += 100
    assert "time for your last question ran out" in ann.look()
    ann.send("answer", page=first, value="yes")
    assert "came late, but was still accepted" in ann.about()

    campaign.add(tasks=["t2"])
    ann.look()
    second = ann.send("next")
    clock.ahead += 100
    campaign.close("t2")
    ann.send("answer", page=second, value="yes")
    assert ann.status == 409
    assert "could not be accepted: it is no longer needed" in ann.about()


def test_a_late_answer_that_there_is_no_money_for_does_not_tell_how_much_there_is(
    clock: Clock, bench: Bench
) -> None:
    campaign = bench.campaign(lease=90, budget="0.30", tasks=["t1"])
    ann = bench.visitor()
    ann.look()
    first = ann.send("next")
    clock.ahead += 100
    campaign.sweep()
    bob = campaign.ask(1, ["bob"])
    assert len(bob) == 1
    ann.send("answer", page=first, value="yes")
    assert "there is no money left for it" in ann.about()
    assert "0.05" not in ann.page


def test_the_time_left_starts_anew_when_a_question_is_asked_again(
    clock: Clock, bench: Bench
) -> None:
    campaign = bench.campaign(lease=90, tasks=["t1"])
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    clock.ahead += 100
    ann.send("next")  # "go on", offered when the time is over
    assert ann.heading() == "Question 2"
    assert kinds(campaign)[-3:] == ["EXPIRED", "DECIDED", "ASKED"]


def test_pausing_and_stopping_are_said(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    campaign.pause()
    assert "Question 1" in ann.look()  # answers are still taken
    ann.send("answer", value="yes")
    assert "paused" in ann.page
    assert "paused" in ann.look()
    ann.send("next")
    assert "paused" in ann.page
    campaign.resume()
    ann.send("next")
    assert ann.heading() == "Question 2"
    campaign.stop()
    ann.send("answer", value="yes")
    assert ann.heading() == "Thank you"
    assert "The campaign has ended" in ann.page
    assert campaign.status().answers == 2


def test_who_comes_when_nothing_is_left_to_ask_is_thanked(bench: Bench) -> None:
    campaign = bench.campaign(tasks=["t1"], stopping={"name": "fixed", "n": 1})
    ann = bench.visitor()
    ann.look()
    assert ann.heading() == "Welcome"
    (asked,) = campaign.ask(1, ["bob"])
    campaign.tell(asked.id, "yes")
    ann.look()
    assert ann.heading() == "Thank you"


def test_waiting_asks_again_only_when_something_has_happened(bench: Bench) -> None:
    campaign = bench.campaign(tasks=["t1"])
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    ann.send("answer", value="yes")
    assert "There is no question for you" in ann.page
    calls = 0
    ask = campaign.ask_for_self

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        return ask(*arguments, **named)

    campaign.ask_for_self = counted  # type: ignore[method-assign]
    for _ in range(5):
        ann.send("next")
        assert "There is no question for you" in ann.page
    assert calls == 0
    campaign.add(tasks=["t2"])
    ann.send("next")
    assert (ann.heading(), calls) == ("Question 2", 1)


def test_one_who_left_may_answer_an_open_page_late_and_is_asked_no_more(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    question = ann.send("next")
    campaign.leave("ann")
    assert campaign.assignments("ann") == []
    ann.look()
    assert ann.heading() == "You are no longer part of this campaign"
    ann.send("answer", question, value="yes")
    assert ann.heading() == "You are no longer part of this campaign"
    assert "0.10" in ann.page
    assert ann.page.count("<form") == 1, "to sign out"


def test_a_break_gives_the_question_back_and_keeps_others_from_asking(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    ann.send("away")
    assert ann.heading() == "You are on a break"
    assert campaign.assignments("ann") == []
    assert bench.service.availability.away(bench.name) == {"ann"}
    ann.look()
    assert ann.heading() == "You are on a break"
    ann.send("back")
    assert ann.heading() == "Question 2"
    assert bench.service.availability.away(bench.name) == frozenset()


def test_a_price_is_named_while_bidding_is_open_and_a_worker_does_not_close_it(
    bench: Bench,
) -> None:
    campaign = bench.campaign(
        budget=None,
        policy={"name": "ccb-fixed", "qualities": [0.8, 0.8], "alpha": 0.3, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 2},
    )
    ann = bench.visitor()
    form = ann.look()
    assert ann.heading() == "Name your price"
    assert 'value="0.1"' in form
    ann.send("bid", amount="0.45")
    assert (ann.about(), ann.status) == ("Your price was saved.", 200)
    ann.send("bid", page=form, amount="0.45")
    assert 'value="0.45"' in ann.page
    for amount in ("much", "3", "-1", "", "nan"):
        ann.send("bid", amount=amount)
        assert ann.status == 422
        assert 'value="0.45"' in ann.page
    ann.send("next")
    assert ann.heading() == "Name your price"
    assert set(kinds(campaign)) == {"BID"}
    campaign.ask(1, ["bob"])
    ann.send("bid", page=form, amount="0.30")
    assert ann.status == 409
    assert "bidding has closed" in ann.about()
    bids = [event.price for event in campaign.log() if event.kind == Kind.BID]
    assert bids[-1] == 450_000


def test_an_address_that_a_form_was_sent_to_leads_back(bench: Bench) -> None:
    bench.campaign()
    ann = bench.visitor()
    for verb in ("next", "answer", "skip"):
        reply = ann.client.get(f"{ann.home}/{verb}", follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, f"/work/{bench.name}")


def test_what_a_store_says_of_itself_is_not_shown(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()

    def broken(*_: object, **__: object) -> None:
        raise StoreError("host db.internal refuses the password")

    monkeypatch.setattr(campaign, "ask_for_self", broken)
    ann.send("next")
    assert ann.status == 503
    assert "db.internal" not in ann.page
    assert f'href="{ann.home}"' in ann.page


def test_a_picture_widens_the_policy_by_its_own_origin_only(bench: Bench) -> None:
    bench.campaign(
        tasks=[{"id": "t1", "payload": {"image": "https://img.example:8443/a.png?x=1", "alt": "A"}}]
    )
    ann = bench.visitor()
    ann.look()
    token = re.search(r'name="csrf" value="(\w+)"', ann.page)
    assert token is not None
    reply = ann.client.post(f"{ann.home}/next", data={"csrf": token[1]})
    policy = dict(
        part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; ")
    )
    assert policy["img-src"] == "'self' https://img.example:8443"
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert 'referrerpolicy="no-referrer"' in reply.text
