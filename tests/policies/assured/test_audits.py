"""Assured accuracy where only some truths are told: who is audited, what is learned, the watch."""

from __future__ import annotations

import random
from typing import Any

import pytest

from askwise import Campaign, Done, Wait, Worker
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.policies.assured.common import ALARMS, AUDITED, COUNT, SEEN, SETTLED, SLACK
from askwise.policies.assured.watching import most_error
from tests.policies.assured.campaigns import beliefs, campaign_of, decisions, tell

AUDITED_POLICY: dict[str, Any] = {"name": "ccb-ns", "alpha": 0.2, "truth": "audited"}


def due(campaign: Campaign) -> list[str]:
    """The tasks whose truth is waited for."""
    return [task for need in campaign.status().needs_gold for task in need.tasks]


def run(policy: dict[str, Any], tasks: int, wrong: Any, workers: int = 5) -> Campaign:
    """A campaign in which "yes" is always true, and answers to ``wrong`` tasks are all "no"."""
    campaign = campaign_of(policy, workers=workers, tasks=tasks, seed=3)
    while not isinstance(choice := campaign.ask(limit=workers), Done):
        for each in choice:
            campaign.tell(each.id, "no" if wrong(int(each.task[1:])) else "yes")
        if choice == Wait("truth"):
            campaign.truth(due(campaign)[0], "yes")
    return campaign


def drawn(campaign: Campaign) -> list[bool]:
    return [each == 1 for each in beliefs(campaign).tasks[:, AUDITED].tolist()]


def test_chance_chooses_whose_truth_is_waited_for_and_nothing_else_does() -> None:
    policy = {**AUDITED_POLICY, "audits": 0.3}
    right = run(policy, 120, lambda task: False)
    mixed = run({**policy, "ahead": 3}, 120, lambda task: task % 4 == 0)
    assert drawn(right)[:120] == drawn(mixed)[:120]
    told = {event.task for event in right.log() if event.kind == Kind.TRUTH}
    # After the last task nothing waits for a truth.
    assert told == {f"t{at}" for at, each in enumerate(drawn(right)[:119]) if each}
    # 120 draws of .3: within four standard deviations.
    assert abs(len(told) - 36) < 21


def test_other_tasks_go_on_without_their_truth_and_teach_nothing_if_it_is_told() -> None:
    campaign = campaign_of({**AUDITED_POLICY, "audits": 0.3}, tasks=40, seed=3)
    for _ in range(40):
        batch = campaign.ask(4)
        if batch == Wait("truth"):
            break
        tell(campaign, batch)
    (awaited,) = due(campaign)
    begun = [int(task[1:]) for _, task, _ in decisions(campaign)]
    assert begun == list(range(int(awaited[1:]) + 1))
    assert len(begun) > 1
    campaign.truth("t0", "yes")
    assert campaign.ask() == Wait("truth")
    assert beliefs(campaign).workers[:, COUNT].sum() == 0
    campaign.truth(awaited, "yes")
    assert beliefs(campaign).workers[:4, COUNT].tolist() == [1] * 4


def test_audits_go_on_when_exploration_has_ended_and_close_frees_them() -> None:
    campaign = campaign_of({**AUDITED_POLICY, "audits": 1.0, "floor": 0.85}, tasks=4)
    tell(campaign, campaign.ask(4))
    campaign.truth("t0", "yes")
    tell(campaign, campaign.ask(4))
    assert beliefs(campaign).tally[SETTLED] == 1
    assert campaign.ask() == Wait("truth")
    assert due(campaign) == ["t1"]
    watch = campaign.status().watch
    assert watch is not None
    assert (watch.drawn, watch.due, watch.missing) == (2, 1, 0)
    campaign.close("t1")
    assert len(campaign.ask(4)) == 1
    watch = campaign.status().watch
    assert watch is not None
    assert (watch.drawn, watch.due, watch.missing) == (3, 0, 1)


def test_with_every_truth_told_nothing_is_watched() -> None:
    campaign = campaign_of("ccb-ns")
    tell(campaign, campaign.ask(4))
    assert campaign.ask() == Wait("truth")
    assert campaign.status().needs_gold == ()
    assert campaign.status().watch is None


def test_a_watch_that_sees_no_error_raises_no_alarm() -> None:
    campaign = run({**AUDITED_POLICY, "audits": 0.5, "floor": 0.85}, 60, lambda task: False)
    watch = campaign.status().watch
    assert watch is not None
    assert (watch.state, watch.alarms, watch.wrong, watch.widened) == ("holds", 0, 0.0, 0.0)
    # The first task, which everybody answers, counts as well: two of its four at least are wrong
    # with .01.
    assert watch.judged == sum(drawn(campaign))
    assert watch.statement.startswith(f"No alarm: of {watch.judged} audited answers")
    assert {answer.outcome for answer in campaign.answers()} == {"assured"}


@pytest.fixture(scope="module")
def failed() -> Campaign:
    """Every other task is answered wrong by all, though nobody is said to err beyond .15."""
    policy = {**AUDITED_POLICY, "audits": 0.5, "floor": 0.85}
    return run(policy, 60, lambda task: task % 2 == 1)


def test_an_alarm_is_raised_when_more_answers_are_wrong_than_was_said(failed: Campaign) -> None:
    watch = failed.status().watch
    assert watch is not None
    assert (watch.state, watch.alarms) == ("failed", 1)
    assert watch.widened > 0.2
    assert watch.statement.startswith(f"Assurance has failed after {watch.since} tasks: of ")
    assert watch.statement.endswith("(0.2): nothing is assured.")


def test_the_bound_on_an_error_widens_by_what_audits_show(failed: Campaign) -> None:
    state = beliefs(failed).watch
    seen, wrong, said = state[SEEN : SEEN + 3]
    assert state[SLACK] == pytest.approx(most_error(seen, wrong, 0.05) - said / seen)
    answers = failed.answers()
    assert "assured" not in {answer.outcome for answer in answers}
    assert answers[0].majority_error is not None
    assert answers[0].majority_error > state[SLACK]
    # From the alarm on everybody is asked, as no set is known to be enough.
    assert decisions(failed)[-1][0] == "unreachable"
    assert len(decisions(failed)[-1][2]) == 5


def test_a_decision_after_an_alarm_is_explained_with_it(failed: Campaign) -> None:
    first, *_, last = [event.seq for event in failed.log() if event.kind == Kind.ASKED]
    before, after = (failed.explain(f"{failed.name}:{seq}") for seq in (first, last))
    assert before.reproduced
    assert after.reproduced
    assert before.watch is not None
    assert after.watch is not None
    assert (before.watch.state, after.watch.state) == ("holds", "failed")


def test_where_room_is_left_larger_sets_are_assured_again() -> None:
    """The cheap worker is wrong in two of five tasks, though nobody was to be in one of ten."""
    dice = random.Random(5)
    policy = {**AUDITED_POLICY, "alpha": 0.3, "audits": 1.0, "alarm": 0.2, "floor": 0.9}
    campaign = Campaign.create(
        workers=[Worker("cheap", 1), *(Worker(f"w{at}", 5) for at in range(4))],
        tasks=[f"t{at}" for at in range(120)],
        options=["no", "yes"],
        policy=policy,
        seed=1,
    )
    while not isinstance(choice := campaign.ask(limit=9), Done):
        for each in choice:
            lies = each.worker == "cheap" and dice.random() < 0.4
            campaign.tell(each.id, "no" if lies else "yes")
        if choice == Wait("truth"):
            campaign.truth(due(campaign)[0], "yes")
    sizes = [len(rows) for _, _, rows in decisions(campaign)]
    watch = campaign.status().watch
    assert watch is not None
    assert watch.alarms > 0
    assert sizes[1] == 1
    assert sizes[-1] == 3
    assert campaign.answers()[-1].outcome == "assured"
    assert campaign.answers()[1].outcome == "not_assured"


def test_what_the_bounds_alone_would_assure_is_said_to_have_failed() -> None:
    """All are wrong about every twelfth task: each alone is good, and a vote no better."""
    policy = {**AUDITED_POLICY, "alpha": 0.05, "audits": 1.0, "mu": 0.5}
    campaign = run(policy, 240, lambda task: task % 12 == 11)
    last = campaign.answers()[-1]
    assert last.outcome == "assurance_failed"
    state = beliefs(campaign)
    assert last.majority_error is not None
    assert last.majority_error - state.watch[SLACK] < 0.05 < last.majority_error


def test_after_an_alarm_no_set_is_kept_for_good(failed: Campaign) -> None:
    state = beliefs(failed)
    assert (state.watch[ALARMS], state.tally[SETTLED]) == (1.0, 0)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"truth": "sometimes"}, "truth"),
        ({"audits": 0.1}, "audits"),
        ({"alarm": 0.1}, "alarm"),
        ({"truth": "audited", "audits": 0}, "audits"),
        ({"truth": "audited", "audits": 1.5}, "audits"),
        ({"truth": "audited", "audits": "all"}, "audits"),
        ({"truth": "audited", "alarm": 1.0}, "alarm"),
        ({"truth": "audited", "alarm": 0.0}, "alarm"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as found:
        policies.make({"name": "ccb-ns", **given})
    assert found.value.field == field


def test_no_mechanism_promises_anything_with_audits() -> None:
    policy = {"name": "ccb-s", "solver": "exact", "truth": "audited"}
    assert policies.make(policy).allocation() is None
    with pytest.raises((InvalidProblem, InvalidParameter)):
        campaign_of(policy, mechanism={"name": "self-resampling", "c_max": 10})
