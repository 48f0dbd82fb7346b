"""What may change while a campaign runs: workers, tasks, money, pauses, the end."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import Conflict, InvalidProblem, UnknownName
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.store import MemoryStore


def make(**changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 2), Worker("b", 3)],
        "outcome": "utility",
        "budget": 20,
        "policy": "uniform",
        "seed": 1,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **changes})


VOTES: dict[str, Any] = {"tasks": ["t", "u"], "options": ["no", "yes"], "outcome": None}


def workers_of(choice: Batch | Wait | Done) -> list[str]:
    assert isinstance(choice, Batch), choice
    return [each.worker for each in choice]


def test_whoever_joins_is_asked_from_the_next_decision_on() -> None:
    campaign = make()
    assert workers_of(campaign.ask()) == ["a"]
    campaign.add(workers=[Worker("c", 1), {"id": "d", "price": "0.5", "limit": 1}])
    assert workers_of(campaign.ask(5)) == ["b", "a", "b", "c", "d"]
    assert campaign.status().workers == 4


BUYING = [name for name in policies.names() if "utility" in policies.get(name).outcomes]


@pytest.mark.parametrize("policy", BUYING)
def test_newcomers_and_leavers_are_survived_by_every_policy(policy: str) -> None:
    campaign = make(policy=policy, budget=200)
    for turn in range(30):
        batch = campaign.ask(2)
        if not isinstance(batch, Batch):
            break
        for each in batch:
            campaign.tell(each.id, 0.5)
        if turn % 5 == 0:
            campaign.add(workers=[Worker(f"n{turn}", 1 + turn % 3, limit=2)])
        if turn == 7:
            campaign.leave("a")
        if turn > 7:
            assert "a" not in {each.worker for each in batch}


def test_whoever_has_left_is_not_asked_and_may_still_answer() -> None:
    campaign = make()
    batch = campaign.ask(2)
    assert isinstance(batch, Batch)
    campaign.leave("a")
    assert set(workers_of(campaign.ask(3))) == {"b"}
    campaign.tell(batch[0].id, 0.5)
    assert {each.worker: each.paid for each in campaign.payments()} == {"a": 2, "b": 0}
    assert campaign.status().workers == 1


def test_whoever_comes_back_may_do_so_at_another_price() -> None:
    campaign = make()
    campaign.tell(campaign.ask()[0].id, 0.5)  # type: ignore[index]
    campaign.leave("a")
    campaign.add(workers=[Worker("a", "0.25", limit=3)])
    batch = campaign.ask(5)
    assert isinstance(batch, Batch)
    assert workers_of(batch) == ["b", "a", "b", "a", "b"]
    assert {each.price for each in batch if each.worker == "a"} == {Decimal("0.25")}
    assert campaign.status().workers == 2


def test_whoever_rejoins_without_a_rating_has_none() -> None:
    campaign = make(workers=[Worker("a", 1, rating=0.9, rating_weight=50), Worker("b", 1)])
    campaign.leave("a")
    campaign.add(workers=[Worker("a", 1)])
    state = campaign._writer.current()
    assert state.ledger.book.ratings[0].tolist() == [0.0, 0.0]


def test_when_all_have_left_one_waits_for_workers() -> None:
    campaign = make()
    for worker in ("a", "b"):
        campaign.leave(worker)
    assert campaign.ask() == Wait("workers")
    campaign.add(workers=[Worker("c", 1)])
    assert workers_of(campaign.ask()) == ["c"]


def test_nobody_joins_or_leaves_twice() -> None:
    campaign = make()
    campaign.leave("b")
    before = campaign.log()
    with pytest.raises(Conflict, match="'a' is in this campaign already") as caught:
        campaign.add(workers=[Worker("a", 1)])
    assert caught.value.field == "workers"
    with pytest.raises(Conflict, match="'c' is in this campaign already"):
        campaign.add(workers=[Worker("c", 1), Worker("c", 2)])
    with pytest.raises(Conflict, match="'b' has left already") as caught:
        campaign.leave("b")
    assert caught.value.field == "worker"
    with pytest.raises(UnknownName, match="worker 'bb' is not in this campaign"):
        campaign.leave("bb")
    assert campaign.log() == before


def test_all_are_added_or_none() -> None:
    campaign = make(**VOTES)
    before = campaign.log()
    with pytest.raises(Conflict, match="task 't' is in this campaign already"):
        campaign.add(tasks=["new", "t"], workers=[Worker("c", 1)])
    with pytest.raises(InvalidProblem, match="rating of worker 'd'"):
        campaign.add(tasks=["new"], workers=[Worker("c", 1), Worker("d", 1, rating=3)])
    assert campaign.log() == before
    assert campaign.status().workers == 2


def test_added_tasks_are_asked_about() -> None:
    campaign = make(**VOTES)
    for each in campaign.ask(4):  # type: ignore[union-attr]
        campaign.tell(each.id, "yes")
    assert campaign.ask() == Done("tasks")
    campaign.add(tasks=["v", Task("w", context="x")])
    batch = campaign.ask(9)
    assert isinstance(batch, Batch)
    assert sorted((each.task, each.worker) for each in batch) == [
        ("v", "a"),
        ("v", "b"),
        ("w", "a"),
        ("w", "b"),
    ]
    assert (campaign.status().tasks, campaign.status().open_tasks) == (4, 4)


def test_a_campaign_of_units_takes_no_tasks() -> None:
    campaign = make()
    with pytest.raises(Conflict, match="it has no tasks") as caught:
        campaign.add(tasks=["t"])
    assert caught.value.field == "tasks"
    with pytest.raises(Conflict, match="has no tasks to close") as caught:
        campaign.close("t")
    assert caught.value.field == "task"


def test_adding_nothing_changes_nothing() -> None:
    campaign = make()
    campaign.add()
    assert campaign.log() == []


def test_a_policy_that_needs_prices_refuses_a_free_worker_at_the_door() -> None:
    campaign = make(policy="thompson-knapsack")
    with pytest.raises(InvalidProblem, match="price of worker 'c' is 0") as caught:
        campaign.add(workers=[Worker("c", 0)])
    assert caught.value.field == "price"
    assert campaign.log() == []


def test_money_can_be_added() -> None:
    campaign = make(budget=3)
    batch = campaign.ask(5)
    assert workers_of(batch) == ["a"]
    campaign.tell(batch[0].id, 0.5)  # type: ignore[index]
    assert campaign.ask() == Done("budget")
    campaign.top_up("4.5")
    assert campaign.status().budget == Decimal("7.5")
    # 5.5 left: a round of both.
    assert workers_of(campaign.ask(5)) == ["a", "b"]


def test_a_campaign_without_a_budget_takes_no_money() -> None:
    campaign = make(budget=None)
    with pytest.raises(Conflict, match="has no budget to add to") as caught:
        campaign.top_up(5)
    assert caught.value.field == "amount"


def test_a_pause_hands_out_nothing_and_takes_answers() -> None:
    campaign = make()
    batch = campaign.ask(1)
    assert isinstance(batch, Batch)
    campaign.pause()
    assert campaign.status().state == "paused"
    assert campaign.ask() == Wait("resume")
    campaign.tell(batch[0].id, 0.5)
    campaign.resume()
    assert campaign.status().state == "running"
    assert workers_of(campaign.ask()) == ["b"]


def test_a_stop_is_for_good_and_takes_what_is_out() -> None:
    campaign = make()
    batch = campaign.ask(1)
    assert isinstance(batch, Batch)
    campaign.stop()
    assert campaign.status().state == "stopped"
    assert campaign.ask() == Done("stopped")
    # What was planned and not handed out is free; what is out may be answered.
    assert campaign.status().reserved == 2
    campaign.tell(batch[0].id, 0.5)
    for act in (
        campaign.pause,
        campaign.resume,
        campaign.stop,
        lambda: campaign.top_up(1),
        lambda: campaign.add(workers=[Worker("c", 1)]),
    ):
        with pytest.raises(Conflict, match="was stopped") as caught:
            act()
        assert caught.value.field == "state"


def test_pausing_and_resuming_twice_is_a_conflict() -> None:
    campaign = make()
    with pytest.raises(Conflict, match="is not paused"):
        campaign.resume()
    campaign.pause()
    with pytest.raises(Conflict, match="is paused already"):
        campaign.pause()


def test_a_closed_task_is_not_asked_about() -> None:
    campaign = make(**VOTES)
    campaign.close("t")
    batch = campaign.ask(9)
    assert isinstance(batch, Batch)
    assert {each.task for each in batch} == {"u"}
    first = campaign.answers()[0]
    assert (first.task, first.outcome, first.value) == ("t", "closed", None)
    with pytest.raises(Conflict, match="task 't' is closed already") as caught:
        campaign.close("t")
    assert caught.value.field == "task"
    assert campaign.status().open_tasks == 1


def test_when_all_tasks_are_closed_it_is_over_and_nothing_is_reserved() -> None:
    campaign = make(**VOTES)
    batch = campaign.ask(1)
    assert isinstance(batch, Batch)
    for task in ("t", "u"):
        campaign.close(task)
    assert campaign.status().reserved == batch[0].price
    assert campaign.ask() == Done("tasks")


def test_money_that_can_no_longer_be_handed_out_is_not_reserved() -> None:
    # All to one: two tasks for a. One is asked, the other is closed: nothing is left of the
    # plan, and the budget is free again for whatever comes.
    campaign = make(**VOTES, workers=[Worker("a", 2)], policy="random")
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.close("u" if batch[0].task == "t" else "t")
    campaign.tell(batch[0].id, "yes")
    assert campaign.ask() == Done("tasks")
    status = campaign.status()
    assert (status.pending, status.reserved) == (0, 0)


def test_truth_of_another_option_or_task_is_refused() -> None:
    campaign = make(**VOTES)
    campaign.truth("t", "yes")
    before = campaign.log()
    with pytest.raises(Conflict, match=r"option is 'no', but .* told to be 'yes'") as caught:
        campaign.truth("t", "no")
    assert caught.value.field == "option"
    assert campaign.log() == before


def test_changes_are_in_the_log_by_kind() -> None:
    campaign = make(**VOTES)
    campaign.add(workers=[Worker("c", 1)], tasks=["v"])
    campaign.leave("a")
    campaign.top_up(1)
    campaign.truth("v", "no")
    campaign.close("v")
    campaign.pause()
    campaign.resume()
    campaign.stop()
    assert [event.kind for event in campaign.log()] == [
        Kind.JOINED,
        Kind.ADDED,
        Kind.LEFT,
        Kind.TOPPED_UP,
        Kind.TRUTH,
        Kind.CLOSED,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.STOPPED,
    ]


def test_many_truths_are_one_write_all_or_none() -> None:
    class Counting(MemoryStore):
        writes = 0

        def append(self, *arguments: Any, **named: Any) -> None:
            self.writes += 1
            super().append(*arguments, **named)

    store = Counting()
    campaign = Campaign.create(
        workers=[Worker("ann", 1)], tasks=[f"t{at}" for at in range(50)], options=["no", "yes"],
        policy="random-pairs", seed=1, store=store,
    )  # fmt: skip
    told = {f"t{at}": "yes" for at in range(40)}
    campaign.truths(told)
    assert (store.writes, len(campaign.log())) == (1, 40)
    campaign.truths(told)
    assert len(campaign.log()) == 40
    with pytest.raises(Conflict, match="first truth stays"):
        campaign.truths({"t45": "no", "t3": "no"})
    assert len(campaign.log()) == 40
