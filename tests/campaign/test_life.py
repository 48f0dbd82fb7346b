"""A campaign from its creation to its end."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.store import MemoryStore


def make(**changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 2, limit=3), Worker("b", "0.5")],
        "outcome": "utility",
        "budget": 10,
        "policy": "uniform",
        "seed": 1,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **changes})


def votes(**changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 1), Worker("b", 1), Worker("c", 1)],
        "tasks": ["t", "u"],
        "options": ["no", "yes"],
        "outcome": None,
        "budget": 20,
    }
    return make(**{**raw, **changes})


def hand_out(campaign: Campaign, limit: int = 1, workers: list[str] | None = None) -> Batch:
    choice = campaign.ask(limit, workers)
    assert isinstance(choice, Batch), choice
    return choice


def test_an_ask_hands_out_assignments_and_reserves_their_prices() -> None:
    campaign = make()
    batch = hand_out(campaign, 2)
    assert batch[0] == Assignment("cats:2", None, "a", Decimal(2), 1.0, None)
    assert batch[1] == Assignment("cats:3", None, "b", Decimal("0.5"), 1.0, None)
    assert len(batch) == 2
    assert list(batch[:1]) == [batch[0]]
    status = campaign.status()
    assert (status.spent, status.reserved, status.left) == (0, Decimal("2.5"), Decimal("7.5"))
    assert (status.pending, status.answers, status.decisions, status.seq) == (2, 0, 1, 3)
    assert campaign.assignments() == list(batch)


def test_telling_spends_what_was_reserved() -> None:
    campaign = make()
    batch = hand_out(campaign, 2)
    campaign.tell(batch[1].id, 0.25)
    campaign.tell(batch[0].id, 1)
    status = campaign.status()
    assert (status.spent, status.reserved, status.pending) == (Decimal("2.5"), 0, 0)
    assert status.utility == 1.25
    assert campaign.assignments() == []


def test_the_whole_of_a_decision_is_reserved() -> None:
    # One unit of the round is handed out (2); the other is planned (.5).
    campaign = make()
    hand_out(campaign)
    assert campaign.status().reserved == Decimal("2.5")


def test_a_batch_may_span_decisions() -> None:
    campaign = make()
    batch = hand_out(campaign, 5)
    assert [each.worker for each in batch] == ["a", "b", "a", "b", "a"]
    assert campaign.status().decisions == 3


def test_a_campaign_ends_with_a_reason() -> None:
    campaign = make(budget=3)
    assert [each.worker for each in hand_out(campaign, 99)] == ["a", "b", "b"]
    assert campaign.ask() == Wait("answers")
    for each in campaign.assignments():
        campaign.tell(each.id, 0.5)
    assert campaign.ask() == Done("budget")
    limited = make(workers=[Worker("a", 1, limit=2)], budget=9)
    for each in hand_out(limited, 9):
        limited.tell(each.id, 0.5)
    assert limited.ask() == Done("limits")


def test_without_a_budget_only_limits_end_it() -> None:
    campaign = make(workers=[Worker("a", 10**9, limit=2)], budget=None)
    for each in hand_out(campaign, 9):
        campaign.tell(each.id, 0.5)
    assert campaign.ask() == Done("limits")
    status = campaign.status()
    assert (status.budget, status.left, status.spent) == (None, None, 2 * 10**9)


def test_the_log_has_what_happened_in_order() -> None:
    campaign = make(clock=lambda: 77.0)
    batch = hand_out(campaign, 2)
    campaign.tell(batch[0].id, 0.5, key="k")
    log = campaign.log()
    assert [event.kind.name for event in log] == ["DECIDED", "ASKED", "ASKED", "ANSWER"]
    assert [event.seq for event in log] == [1, 2, 3, 4]
    assert {event.time for event in log} == {77.0}
    assert (log[3].assignment, log[3].value, log[3].price, log[3].key) == (2, 0.5, 2_000_000, "k")
    assert campaign.log(after=1, upto=3) == log[1:3]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_campaign_is_opened_where_it_was_left(kind: str, tmp_path: Path) -> None:
    store: Any = MemoryStore() if kind == "memory" else f"sqlite:///{tmp_path}/file.sqlite"
    first = make(store=store, policy="thompson-knapsack", lease=60, clock=lambda: 5.0)
    batch = hand_out(first, 2)
    first.tell(batch[0].id, 0.5)
    again = Campaign.open(store, "cats", clock=lambda: 5.0)
    assert again.status() == first.status()
    assert again.assignments() == first.assignments()
    assert again.spec == first.spec
    assert again.log() == first.log()
    again.tell(batch[1].id, 0.5)
    # The first one sees what the other wrote.
    assert first.status().answers == 2
    first.pause()
    assert again.ask() == Wait("resume")


def test_a_made_up_name_and_seed_are_kept() -> None:
    store = MemoryStore()
    campaign = make(name=None, seed=None, store=store)
    assert store.names() == [campaign.name]
    again = Campaign.open(store, campaign.name)
    assert again.spec["seed"] == campaign.spec["seed"]
    assert repr(campaign) == f"<Campaign {campaign.name!r} policy='uniform'>"


def test_other_seeds_give_other_logs() -> None:
    logs = set()
    for seed in range(8):
        campaign = make(policy="random", seed=seed)
        logs.add(hand_out(campaign)[0].worker)
    assert logs == {"a", "b"}


def test_a_policy_is_given_by_name_mapping_or_instance() -> None:
    spec = {"name": "thompson-knapsack", "patience": 3}
    for policy in (spec, policies.make(spec)):
        assert make(policy=policy).spec["policy"] == {**spec, "discount": 1.0}


def test_what_is_asked_about_is_shown_by_id_and_its_payload_is_kept() -> None:
    campaign = votes(tasks=[Task("t", context="cats", payload={"url": "x"}), "u"])
    batch = hand_out(campaign, 3)
    # Everyone gets the open task that was asked least, then the first.
    assert [(each.task, each.worker) for each in batch] == [("t", "a"), ("u", "b"), ("t", "c")]
    assert campaign.spec["tasks"][0] == {"id": "t", "context": "cats", "payload": {"url": "x"}}


def test_no_pair_is_asked_twice_unless_it_may() -> None:
    campaign = votes(workers=[Worker("a", 1)])
    batch = hand_out(campaign, 9)
    assert [(each.task, each.worker) for each in batch] == [("t", "a"), ("u", "a")]
    for each in batch:
        campaign.tell(each.id, "yes")
    assert campaign.ask() == Done("tasks")
    again = votes(workers=[Worker("a", 1, limit=5)], repeat=True)
    assert len(hand_out(again, 9)) == 5


def test_answers_are_the_majoritys_with_their_share() -> None:
    campaign = votes()
    options = ["yes", "no", "yes", "yes", "no", "no"]
    for each, option in zip(hand_out(campaign, 6), options, strict=True):
        campaign.tell(each.id, option)
    by_task: dict[str | None, list[Any]] = {"t": [], "u": []}
    for event in campaign.log():
        if event.kind == Kind.ANSWER:
            by_task[event.task].append(event.value)
    for answer in campaign.answers():
        given = by_task[answer.task]
        best = max(set(given), key=given.count)
        assert answer.value == best
        assert answer.confidence == pytest.approx(given.count(best) / 3)
        assert (answer.outcome, answer.count) == ("open", 3)


def test_an_unanswered_task_has_no_answer() -> None:
    (first, _) = votes().answers()
    assert (first.value, first.confidence, first.outcome, first.count) == (None, None, "open", 0)


def test_a_tie_is_broken_the_same_at_every_look() -> None:
    seen = set()
    for seed in range(12):
        campaign = votes(seed=seed)
        for each in hand_out(campaign, 4):
            campaign.tell(each.id, {"a": "no", "b": "yes", "c": "no"}[each.worker])
        looks = {answer.value for _ in range(5) for answer in campaign.answers()[:1]}
        assert len(looks) == 1
        seen |= looks
    assert seen <= {"no", "yes"}


def test_the_answer_of_a_utility_campaign_is_the_mean() -> None:
    campaign = make()
    for each, value in zip(hand_out(campaign, 4), [0.5, 0.25, 1.0, 0.25], strict=True):
        campaign.tell(each.id, value)
    (answer,) = campaign.answers()
    assert (answer.task, answer.value, answer.count) == (None, 0.5, 4)


def test_paid_is_what_was_settled() -> None:
    campaign = make()
    batch = hand_out(campaign, 5)  # a, b, a, b, a
    for each in batch[:3]:
        campaign.tell(each.id, 0.5)
    campaign.expire(batch[3].id)
    payments = {each.worker: each for each in campaign.payments()}
    assert (payments["a"].paid, payments["a"].reserved, payments["a"].answers) == (4, 2, 2)
    assert (payments["b"].paid, payments["b"].reserved, payments["b"].answers) == (
        Decimal("0.5"),
        0,
        1,
    )
    assert sum(each.paid for each in payments.values()) == campaign.status().spent


def test_money_in_a_campaign_does_not_depend_on_the_callers_decimal_precision() -> None:
    with localcontext() as context:
        context.prec = 4
        campaign = make(workers=[Worker("a", "1234.5678")], budget="50000")
        campaign.tell(hand_out(campaign)[0].id, 0.5)
        campaign.top_up("1000.1234")
        assert str(campaign.status().spent) == "1234.5678"
        assert str(campaign.status().budget) == "51000.1234"


def test_truth_is_told_once() -> None:
    campaign = votes()
    campaign.truth("t", "yes")
    campaign.truth("t", "yes")  # the same again changes nothing
    assert [event.kind for event in campaign.log()] == [Kind.TRUTH]
    assert campaign.log()[0].value == "yes"


def test_everything_shown_is_plain_json_with_money_as_strings() -> None:
    campaign = make(policy="knowledge-gradient")
    batch = hand_out(campaign, 2)
    campaign.tell(batch[0].id, 0.5)
    shown = {
        "ask": batch.to_json(),
        "wait": Wait("answers").to_json(),
        "done": Done("budget").to_json(),
        "status": campaign.status().to_json(),
        "answers": [answer.to_json() for answer in campaign.answers()],
        "payments": [payment.to_json() for payment in campaign.payments()],
        "log": [event.to_json() for event in campaign.log()],
        "explanation": campaign.explain(batch[0].id).to_json(),
        "spec": campaign.spec,
    }
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["status"]["budget"] == "10"  # type: ignore[call-overload,index]
    assert shown["ask"]["assignments"][0]["price"] == str(batch[0].price)  # type: ignore[call-overload,index]


def test_a_campaign_is_not_iterable() -> None:
    with pytest.raises(TypeError, match="ask"):
        list(make())


def test_whoever_arrives_unasked_is_asked() -> None:
    campaign = make(policy="thompson-knapsack")
    for worker in ("b", "a", "b"):
        assert [each.worker for each in hand_out(campaign, 1, [worker])] == [worker]


def test_a_plan_is_handed_out_only_to_those_on_offer() -> None:
    campaign = make()
    assert [each.worker for each in hand_out(campaign, 9, ["b"])] == ["b"]
    # a's turn of the round comes first; the next round waits for it.
    assert campaign.ask(workers=["b"]) == Wait("workers")
    assert [each.worker for each in hand_out(campaign, 1)] == ["a"]
    decided = [event for event in campaign.log() if event.kind == Kind.DECIDED]
    assert [event.available for event in decided] == [None]


def test_whom_a_choice_was_among_is_in_the_log() -> None:
    campaign = make(policy="thompson-knapsack")
    hand_out(campaign, 1, ["b", "a", "b"])
    hand_out(campaign, 1)
    decided = [event for event in campaign.log() if event.kind == Kind.DECIDED]
    assert [event.available for event in decided] == [("a", "b"), None]


def test_with_nobody_on_offer_one_waits_for_workers() -> None:
    for name in policies.names():
        if "utility" in policies.get(name).outcomes:
            assert make(policy=name).ask(workers=[]) == Wait("workers"), name
