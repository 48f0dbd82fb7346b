"""What the log gives to tell: each thing once, in order, to those who want to know."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.campaign.state import CampaignState
from askwise.core.errors import UnknownName
from askwise.core.events import Kind
from askwise.service.webhooks import outbox
from askwise.service.webhooks.records import CURSOR, HOOK, WAITING
from askwise.store import Change, MemoryStore, Store, open_store
from tests.service.hooking import Bench, Clock, buy, labels, units

URL = "http://127.0.0.1:9/"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "postgres":
        return open_store(request.getfixturevalue("postgres_url"))
    return open_store(
        "memory" if request.param == "memory" else f"sqlite:///{tmp_path}/campaigns.sqlite"
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


def look(bench: Bench, clock: Clock) -> None:
    """Look, with time enough since the last look for the end to be looked for."""
    clock.pass_by(5)
    bench.watcher.look()


def told(bench: Bench, hook: str) -> list[tuple[str, int]]:
    made = reversed(bench.hooks.deliveries(hook))
    return [(each.event, each.payload["seq"]) for each in made]


def messages(bench: Bench, hook: str) -> list[dict[str, Any]]:
    return [each.payload for each in reversed(bench.hooks.deliveries(hook))]


def seqs(campaign: Campaign, kind: Kind) -> list[int]:
    return [event.seq for event in campaign.log() if event.kind == kind]


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
        "task": "two", "value": None, "outcome": "closed", "confidence": None,
    }  # fmt: skip


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


# Money. Ten answers at 1 each of a budget of 10: the eighth uses 80%.


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


# The end, which is no event.


def test_the_end_is_told_once_and_again_if_it_went_on(store: Store, clock: Clock) -> None:
    campaign, bench = units(store, budget=3), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    buy(campaign, 2)
    last = campaign.ask()[0]  # type: ignore[index]
    look(bench, clock)
    assert told(bench, hook.id) == []
    campaign.tell(last.id, 1.0)
    for _ in range(3):
        look(bench, clock)
    first_end = store.position("units")
    assert told(bench, hook.id) == [("campaign.done", first_end)]
    assert messages(bench, hook.id)[0]["data"] == {
        "why": "budget", "answers": 3, "spent": "3", "budget": "3",
    }  # fmt: skip
    # All between two looks: nobody has seen it open, and yet it went on.
    campaign.top_up(2)
    buy(campaign, 2)
    look(bench, clock)
    assert told(bench, hook.id)[1:] == [("campaign.done", store.position("units"))]


def test_another_reason_is_told_too(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=1), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    buy(campaign, 1)
    look(bench, clock)
    campaign.stop()
    look(bench, clock)
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["budget", "stopped"]


def test_a_stop_is_told_once_nothing_is_out(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    out = campaign.ask()[0]  # type: ignore[index]
    campaign.stop()
    look(bench, clock)
    assert told(bench, hook.id) == []
    campaign.tell(out.id, 1.0)
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["stopped"]


def test_closed_tasks_end_a_campaign_and_a_new_one_lets_it_go_on(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = labels(store), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="labels")
    buy(campaign, 4, "yes")
    look(bench, clock)
    campaign.add(tasks=["three"])
    look(bench, clock)
    buy(campaign, 2, "no")
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["tasks", "tasks"]


def test_the_policy_is_not_asked_at_every_look(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=50), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    asked = []
    plain = CampaignState.choose

    def counted(self: CampaignState, available: Any) -> Any:
        asked.append(clock.now)
        clock.pass_by(0.5)  # a policy that takes its time
        return plain(self, available)

    for _ in range(40):
        with monkeypatch.context() as patch:
            patch.setattr(CampaignState, "choose", counted)
            bench.watcher.look()
        buy(campaign, 1)
        clock.pass_by(0.5)
    # A look each half second; one that took half a second is followed by ten without.
    assert 2 <= len(asked) <= 4
    assert all(later - sooner >= 10 for sooner, later in itertools.pairwise(asked))
    buy(campaign, 10)
    clock.pass_by(20)
    bench.watcher.look()
    assert told(bench, hook.id) == [("campaign.done", store.position("units"))]


def test_a_quiet_log_is_not_looked_into(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    bench.make(URL)
    buy(campaign, 2)
    look(bench, clock)
    monkeypatch.setattr(store, "read", None)
    monkeypatch.setattr(CampaignState, "choose", None)
    look(bench, clock)


# Whoever crashes, and however many look.


def test_two_who_look_make_nothing_twice(store: Store, clock: Clock) -> None:
    campaign = units(store)
    first, second = Bench(store, clock), Bench(store, clock)
    hook = first.make(URL)
    for bench in (first, second, second, first, first, second, first, second):
        buy(campaign, 1)
        look(bench, clock)
    look(first, clock)
    look(second, clock)
    answers = seqs(campaign, Kind.ANSWER)
    expected = [("answer.settled", seq) for seq in answers]
    expected.insert(8, ("budget.used", answers[7]))
    assert told(first, hook.id) == expected


def test_who_is_late_with_what_another_made_makes_nothing(clock: Clock) -> None:
    """Both read the same; the second to write finds the cursor moved."""
    store = MemoryStore()
    campaign = units(store)
    first, second = Bench(store, clock), Bench(store, clock)
    hook = first.make(URL, "answer.settled")
    buy(campaign, 3)
    plain = store.change

    def overtaken(changes: Any) -> bool:
        store.change = plain  # type: ignore[method-assign]
        assert second.watcher.look() == 3
        return plain(changes)

    store.change = overtaken  # type: ignore[method-assign]
    assert first.watcher.look() == 0
    assert told(first, hook.id) == [("answer.settled", n) for n in seqs(campaign, Kind.ANSWER)]


def test_ids_follow_the_log_though_a_clock_is_behind(clock: Clock) -> None:
    store = MemoryStore()
    campaign = units(store)
    ahead, behind = Bench(store, Clock(clock.now + 30)), Bench(store, clock)
    hook = ahead.make(URL, "answer.settled", campaign="units")
    for bench in (ahead, behind, ahead, behind):
        buy(campaign, 1)
        bench.watcher.look()
    assert [seq for _, seq in told(ahead, hook.id)] == seqs(campaign, Kind.ANSWER)


def test_while_nothing_is_told_the_cursor_is_seldom_written(clock: Clock) -> None:
    store = MemoryStore()
    campaign = units(store, budget=1000)
    bench = Bench(store, clock)
    hook = bench.make(URL, "task.closed", campaign="units")
    written = set()
    for _ in range(200):
        buy(campaign, 1)
        bench.watcher.look()
        (record,) = store.records(CURSOR, f"{hook.id}/")
        written.add(record.body)
    position = store.position("units")
    assert len(written) == 1 + position // outbox.LAZY
    assert position - json.loads(record.body)["seq"] < outbox.LAZY


def test_a_log_restored_to_an_earlier_point_is_told_from_there(clock: Clock) -> None:
    store, restored = MemoryStore(), MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", campaign="units")
    buy(campaign, 2)
    restored.create("units", store.spec("units"), 0.0)
    with restored.write("units") as transaction:
        transaction.append(store.read("units"), 0)
    buy(campaign, 2)
    look(bench, clock)
    for kind in (HOOK, CURSOR):
        for record in store.records(kind):
            restored.change([Change(kind, record.id, None, record.body)])
    after = Bench(restored, clock)
    look(after, clock)
    again = Campaign.open(restored, "units")
    for _ in range(4):
        buy(again, 1)
        look(after, clock)
    assert [seq for _, seq in told(after, hook.id)] == seqs(again, Kind.ANSWER)[2:]


def test_who_can_not_be_told_is_not_told_more_than_fits(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_WAITING", 5)
    monkeypatch.setattr(outbox, "CHUNK", 4)
    store = MemoryStore()
    campaign, bench = units(store, budget=100), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", campaign="units")
    buy(campaign, 20)
    look(bench, clock)
    assert 5 <= bench.hooks.waiting(hook.id) < 9
    seen: list[int] = []
    while waiting := store.records(WAITING, f"{hook.id}/"):
        # As if all were delivered: what the log still holds is made next.
        for record in waiting:
            seen.append(json.loads(json.loads(record.body)["body"])["seq"])
            store.change([Change(WAITING, record.id, record.body, None)])
        look(bench, clock)
    assert seen == seqs(campaign, Kind.ANSWER)


def test_a_campaign_that_fails_does_not_keep_others_from_being_told(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    bad, good, bench = units(store, "bad"), units(store, "good"), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", "answer.settled")
    buy(bad, 1)
    buy(good, 1)
    plain = CampaignState.choose
    broken: list[CampaignState] = []
    with bench.campaigns.get("bad").reading() as state:
        broken.append(state)

    def choose(self: CampaignState, available: Any) -> Any:
        if self in broken:
            raise ZeroDivisionError("a policy's mistake")
        return plain(self, available)

    monkeypatch.setattr(CampaignState, "choose", choose)
    look(bench, clock)
    buy(good, 1)
    look(bench, clock)
    assert sorted(each["campaign"] for each in messages(bench, hook.id)) == [
        "bad", "good", "good",
    ]  # fmt: skip


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
