"""Several questions at once under the survey policies: order, budgets, limits, repeats."""

from __future__ import annotations

from collections import Counter

import pytest

from askwise.core.choices import Batch, Done
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.policies.crowds.common import SurveyPolicy
from tests.policies.crowds.polls import ask, noisy, poll, say

TRUTH = {"truth": [[0.7, 0.3], [0.6, 0.4]]}

SURVEY = [
    {"name": name, **(TRUTH if name.startswith("best-") else {})}
    for name in policies.names()
    if issubclass(policies.get(name), SurveyPolicy)
]

every_policy = pytest.mark.parametrize("policy", SURVEY, ids=lambda policy: policy["name"])


def tasks_of(batch):
    assert isinstance(batch, Batch)
    return "".join(str(each.task) for each in batch)


@every_policy
def test_the_question_asked_least_is_next_then_the_first(policy):
    campaign = poll(policy, tasks="pqr")
    batch = campaign.ask(limit=7)
    assert tasks_of(batch) == "pqrpqrp"
    # Both of q expire: p was asked 3 times, q none, r twice.
    for each in batch:
        if each.task == "q":
            campaign.expire(each.id)
    assert tasks_of(campaign.ask(limit=5)) == "qqqrp"


@every_policy
def test_closed_questions_are_skipped_and_new_ones_catch_up(policy):
    campaign = poll(policy, tasks="pqr")
    assert tasks_of(campaign.ask(limit=6)) == "pqrpqr"
    campaign.close("q")
    campaign.add(tasks=["s"])
    assert tasks_of(campaign.ask(limit=6)) == "ssprsp"
    campaign.close("p")
    campaign.close("r")
    campaign.close("s")
    assert campaign.ask() == Done("tasks")
    campaign.add(tasks=["t"])
    assert tasks_of(campaign.ask(limit=2)) == "tt"


@every_policy
def test_a_question_that_a_rule_closes_is_asked_no_more(policy):
    campaign = poll(policy, tasks="pq", stopping={"name": "fixed", "n": 3})
    asked = Counter()
    while isinstance(batch := campaign.ask(), Batch):
        asked[batch[0].task] += 1
        campaign.tell(batch[0].id, "x")
    assert batch == Done("tasks")
    assert asked == {"p": 3, "q": 3}
    assert [each.outcome for each in campaign.answers()] == ["confident"] * 2


@every_policy
def test_a_budget_ends_in_done_and_a_top_up_lets_it_go_on(policy):
    campaign = poll(policy, tasks="pq", budget=6, stopping={"name": "gap", "quality": 50})
    answers = iter("xyxyxx" + "y" * 20)
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, next(answers))
    assert batch == Done("budget")
    assert campaign.status().spent == 6
    # p heard x, x, x; q heard y, y, x: the rule's guess, and how sure it is.
    p, q = campaign.answers()
    assert (p.value, p.confidence, p.outcome, p.count) == ("x", 1.0, "over_budget", 3)
    assert (q.value, q.outcome, q.count) == ("y", "over_budget", 3)
    assert q.confidence == pytest.approx(2 / 3)
    campaign.top_up(3)
    assert [each.outcome for each in campaign.answers()] == ["open", "open"]
    batch = campaign.ask(limit=9)
    assert tasks_of(batch) == "pqp"
    assert not isinstance(campaign.ask(), Batch)


@every_policy
def test_money_that_pays_only_some_crowds_goes_to_them(policy):
    campaign = poll(policy, (5, 2), budget=9, stopping={"name": "gap", "quality": 50})
    spent = 0
    while isinstance(batch := campaign.ask(), Batch):
        spent += int(batch[0].price)
        campaign.tell(batch[0].id, "x")
    # Less than the cheapest costs is left.
    assert batch == Done("budget")
    assert 9 - spent < 2
    assert campaign.answers()[0].outcome == "over_budget"


@every_policy
def test_limits_that_are_reached_end_in_low_confidence(policy):
    campaign = poll(
        policy, tasks="pq", limits={"a": 3, "b": 2}, stopping={"name": "gap", "quality": 50}
    )
    counts = Counter()
    while isinstance(batch := campaign.ask(), Batch):
        counts[batch[0].worker] += 1
        campaign.tell(batch[0].id, "x")
    assert batch == Done("limits")
    assert counts == {"a": 3, "b": 2}
    assert [(each.value, each.outcome, each.count) for each in campaign.answers()] == [
        ("x", "low_confidence", 3),
        ("x", "low_confidence", 2),
    ]
    campaign.add(workers=[{"id": "c", "price": 1}])
    assert {each.outcome for each in campaign.answers()} == {"open"}
    assert ask(campaign).worker == "c"


@every_policy
def test_a_question_nobody_was_asked_about_has_no_answer(policy):
    campaign = poll(policy, tasks="pq", budget=1, stopping={"name": "gap", "quality": 50})
    campaign.tell(ask(campaign).id, "y")
    assert campaign.ask() == Done("budget")
    p, q = campaign.answers()
    assert (p.value, p.outcome) == ("y", "over_budget")
    assert (q.value, q.confidence, q.outcome, q.count) == (None, None, "over_budget", 0)


@every_policy
def test_crowds_are_asked_again_and_again_unless_told_otherwise(policy):
    campaign = poll(policy)
    assert campaign.spec["repeat"] is True
    for _ in range(5):
        campaign.tell(ask(campaign, "a").id, "x")
    once = poll(policy, tasks="pq", repeat=False, stopping={"name": "gap", "quality": 50})
    assert once.spec["repeat"] is False
    pairs = Counter()
    while isinstance(batch := once.ask(), Batch):
        pairs[batch[0].task, batch[0].worker] += 1
        once.tell(batch[0].id, "x")
    assert batch == Done("tasks")
    assert pairs == {(task, crowd): 1 for task in "pq" for crowd in "ab"}
    assert {each.outcome for each in once.answers()} == {"low_confidence"}


@every_policy
def test_without_repeats_who_is_left_is_asked_about_what_is_left(policy):
    campaign = poll(policy, tasks="pq", repeat=False)
    say(campaign, "a", "xx")
    # a has answered both: only b can be asked, about either.
    assert [(each.task, each.worker) for each in campaign.ask(limit=5)] == [("p", "b"), ("q", "b")]


@every_policy
def test_answers_that_come_after_the_closing_change_nothing(policy):
    campaign = poll(policy, stopping={"name": "fixed", "n": 2})
    batch = campaign.ask(limit=4)
    assert isinstance(batch, Batch)
    for each in batch[:2]:
        campaign.tell(each.id, "x")
    before = campaign.answers()[0]
    for each in batch[2:]:
        campaign.tell(each.id, "y")
    after = campaign.answers()[0]
    assert (after.value, after.outcome) == (before.value, before.outcome) == ("x", "confident")
    assert campaign.ask() == Done("tasks")


@every_policy
def test_one_crowd_is_asked_whatever_it_says(policy):
    if "truth" in policy:
        policy = {**policy, "truth": [[0.7, 0.3]]}
    campaign = poll(policy, (3,))
    for k in range(30):
        campaign.tell(ask(campaign).id, noisy(1, "a", "q", k, [0.5, 0.5], "xy"))
    assert {each.worker for each in campaign.log() if each.kind == Kind.ASKED} == {"a"}


@every_policy
def test_crowds_may_all_be_free(policy):
    campaign = poll(policy, (0, 0), budget=0, stopping={"name": "fixed", "n": 9})
    for _ in range(9):
        campaign.tell(ask(campaign).id, "x")
    assert campaign.status().spent == 0
    assert campaign.answers()[0].outcome == "confident"


@every_policy
def test_a_crowd_that_left_is_not_asked_and_may_come_back_at_another_price(policy):
    campaign = poll(policy)
    say(campaign, "a", "xxx")
    campaign.leave("a")
    assert {each.worker for each in campaign.ask(limit=4)} == {"b"}
    campaign.add(workers=[{"id": "a", "price": 7}])
    assignment = ask(campaign, "a")
    assert (assignment.worker, assignment.price) == ("a", 7)
