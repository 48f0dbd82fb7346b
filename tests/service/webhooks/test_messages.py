"""What the log gives to tell: each thing once, in order, to those who want to know."""

from __future__ import annotations

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import UnknownName
from askwise.core.events import Kind
from askwise.service.webhooks import outbox
from askwise.store import MemoryStore, Store
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, buy, labels, units
from tests.service.webhooks.told import URL, look, messages, seqs, told


def test_answers_and_closings_are_told_once_and_in_order(store: Store, clock: Clock) -> None:
    campaign, bench = labels(store), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", "task.closed", campaign="labels")
    for _ in range(4):
        buy(campaign, 1, "yes")
        look(bench, clock)
        look(bench, clock)
    expected = [
        (name, event.seq)
        for event in campaign.log()
        for kind, name in ((Kind.ANSWER, "answer.settled"), (Kind.CLOSED, "task.closed"))
        if event.kind == kind
    ]
    assert len(expected) == 6
    assert told(bench, hook.id) == expected


def test_a_message_says_what_happened(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = labels(store), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", "task.closed", campaign="labels")
    first = campaign.ask()[0]  # type: ignore[index]
    campaign.tell(first.id, "yes")
    campaign.close("two")
    look(bench, clock)
    answer, closing = messages(bench, hook.id)
    made = [each for each in campaign.log() if each.kind in (Kind.ANSWER, Kind.CLOSED)]
    assert answer == {
        "id": answer["id"],
        "event": "answer.settled",
        "campaign": "labels",
        "seq": made[0].seq,
        "time": made[0].time,
        "data": {
            "assignment": first.id,
            "task": first.task,
            "worker": first.worker,
            "value": "yes",
            "price": str(first.price),
        },
    }
    assert closing["data"] == {
        "task": "two", "value": None, "outcome": "closed", "confidence": None, "rests_on": None,
    }  # fmt: skip


def test_changes_of_answers_are_told(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = labels(store), Bench(store, clock)
    hook = bench.make(URL, "answer.revised", campaign="labels")
    first = campaign.ask()[0]  # type: ignore[index]
    campaign.tell(first.id, "yes")
    campaign.revise(first.id, "no")
    campaign.withdraw(first.id, "Deleted.", by="vet")
    look(bench, clock)
    about = {"assignment": first.id, "task": first.task, "worker": first.worker}
    assert [each["data"] for each in messages(bench, hook.id)] == [
        {**about, "value": "no", "why": None, "by": None},
        {**about, "value": None, "why": "Deleted.", "by": "vet"},
    ]


def test_a_hook_is_told_of_its_events_and_its_campaign_alone(clock: Clock) -> None:
    store = MemoryStore()
    cats, dogs, bench = units(store, "cats"), units(store, "dogs"), Bench(store, clock)
    of_cats = bench.make(URL, "answer.settled", campaign="cats")
    clock.pass_by(1)
    of_all = bench.make(URL, "answer.settled")
    clock.pass_by(1)
    of_ends = bench.make(URL, "campaign.done")
    buy(cats, 2)
    buy(dogs, 1)
    look(bench, clock)
    assert [each["campaign"] for each in messages(bench, of_cats.id)] == ["cats", "cats"]
    assert sorted(each["campaign"] for each in messages(bench, of_all.id)) == [
        "cats", "cats", "dogs",
    ]  # fmt: skip
    assert told(bench, of_ends.id) == []
    assert [hook.id for hook in bench.hooks.list("cats")] == [of_ends.id, of_all.id, of_cats.id]
    assert [hook.id for hook in bench.hooks.list("dogs")] == [of_ends.id, of_all.id]


def test_a_hook_does_not_begin_with_the_past(store: Store, clock: Clock) -> None:
    old, bench = units(store, "old"), Bench(store, clock)
    buy(old, 3)
    hook = bench.make(URL, "answer.settled")
    new = units(store, "new")
    buy(old, 1)
    buy(new, 1)
    look(bench, clock)
    assert sorted((each["campaign"], each["seq"]) for each in messages(bench, hook.id)) == [
        ("new", seqs(new, Kind.ANSWER)[0]),
        ("old", seqs(old, Kind.ANSWER)[3]),
    ]


def test_a_hook_of_an_unknown_campaign_is_refused(clock: Clock) -> None:
    with pytest.raises(UnknownName):
        Bench(MemoryStore(), clock).make(URL, campaign="nobody")


def test_the_answer_that_uses_80_percent_is_told(store: Store, clock: Clock) -> None:
    campaign, bench = units(store, budget=10), Bench(store, clock)
    hook = bench.make(URL, "budget.used", campaign="units")
    buy(campaign, 7)
    look(bench, clock)
    assert told(bench, hook.id) == []
    buy(campaign, 3)
    look(bench, clock)
    assert told(bench, hook.id) == [("budget.used", seqs(campaign, Kind.ANSWER)[7])]
    (message,) = messages(bench, hook.id)
    assert message["data"] == {"percent": 80, "spent": "8", "budget": "10"}


def test_a_bonus_uses_the_budget_too_and_a_payout_does_not(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=10), Bench(store, clock)
    hook = bench.make(URL, "budget.used", campaign="units")
    buy(campaign, 4)
    paid = campaign.pay_all(by="bo")
    look(bench, clock)
    assert told(bench, hook.id) == []
    campaign.bonus(paid[0].worker, 4, "Thanks.", by="bo")
    look(bench, clock)
    assert told(bench, hook.id) == [("budget.used", seqs(campaign, Kind.BONUS)[0])]
    (message,) = messages(bench, hook.id)
    assert message["data"] == {"percent": 80, "spent": "8", "budget": "10"}


def test_after_a_top_up_it_may_be_used_again(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=10), Bench(store, clock)
    hook = bench.make(URL, "budget.used", campaign="units")
    buy(campaign, 9)
    campaign.top_up(1)  # 9 of 11 is 81.8%: still used, so not used again
    buy(campaign, 1)
    campaign.top_up(9)  # 10 of 20
    buy(campaign, 6)  # 16 of 20, told in one look with all that went before
    look(bench, clock)
    answers = seqs(campaign, Kind.ANSWER)
    assert told(bench, hook.id) == [("budget.used", answers[7]), ("budget.used", answers[15])]
    assert [each["data"]["spent"] for each in messages(bench, hook.id)] == ["8", "16"]


def test_a_share_used_before_the_hook_was_made_is_not_told(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=10), Bench(store, clock)
    buy(campaign, 8)
    hook = bench.make(URL, "budget.used", campaign="units")
    buy(campaign, 2)
    look(bench, clock)
    assert told(bench, hook.id) == []


@pytest.mark.parametrize("chunk", [1, 3, 500])
def test_how_much_is_read_at_a_time_changes_nothing(
    chunk: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CHUNK", chunk)
    store = MemoryStore()
    campaign, bench = units(store, budget=10), Bench(store, clock)
    hook = bench.make(URL, campaign="units")
    buy(campaign, 10)
    look(bench, clock)
    answers = seqs(campaign, Kind.ANSWER)
    expected = [("answer.settled", seq) for seq in answers]
    expected.insert(8, ("budget.used", answers[7]))
    assert told(bench, hook.id) == [*expected, ("campaign.done", answers[-1])]


def test_without_a_budget_none_is_used(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=None), Bench(store, clock)
    hook = bench.make(URL, "budget.used", campaign="units")
    buy(campaign, 5)
    look(bench, clock)
    assert told(bench, hook.id) == []


def test_workers_and_options_of_any_script_are_told(clock: Clock) -> None:
    store = MemoryStore()
    campaign = Campaign.create(
        workers=[Worker("zoë \U0001f600", 1)],
        tasks=["<b>&"],
        options=["=1+1", "ja"],
        policy="uniform",
        store=store,
        name="odd",
    )
    bench = Bench(store, clock)
    hook = bench.make(URL, "answer.settled", campaign="odd")
    buy(campaign, 1, "=1+1")
    look(bench, clock)
    (made,) = bench.hooks.deliveries(hook.id)
    assert made.body.isascii()
    assert made.payload["data"]["worker"] == "zoë \U0001f600"
