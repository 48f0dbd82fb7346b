"""Workers are kept good by gold questions: qualification, a share of later ones, suspension."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch, Campaign, Done, Wait, Worker
from askwise.core.errors import Conflict, InvalidAnswer, InvalidProblem, UnknownName
from askwise.core.events import Kind
from askwise.core.screening import ScreeningTerms
from tests.campaign.screened import (
    ANN,
    BOB,
    GOLD,
    TASKS,
    bob_errs,
    create,
    of_kind,
    run,
    says_right,
    says_wrong,
    truth_of,
    verdicts,
    wrong_about,
)
from tests.mechanisms.cheapest import Cheapest, known


def purposes(campaign: Campaign, worker: str) -> list[str]:
    """What each question to a worker was for, as its decision says."""
    notes = {event.decision: event.note or "" for event in of_kind(campaign, Kind.DECIDED)}
    asked = of_kind(campaign, Kind.ASKED)
    return [notes[event.decision] for event in asked if event.worker == worker]


def standing_of(campaign: Campaign, worker: str) -> Any:
    return next(each.standing for each in campaign.workers() if each.id == worker)


def test_a_new_person_answers_gold_questions_before_ordinary_ones() -> None:
    campaign = create()
    run(campaign, workers=["ann"], most=20)
    notes = purposes(campaign, "ann")
    assert notes[:5] == ["qualification"] * 5
    assert set(notes[5:]) == {"drawn", "gold"}
    asked = [event.task for event in of_kind(campaign, Kind.ASKED)]
    assert set(asked[:5]) <= set(GOLD)
    assert len(set(asked)) == 20
    assert verdicts(campaign) == [("QUALIFIED", "ann")]
    (event,) = of_kind(campaign, Kind.QUALIFIED)
    assert event.why == "5 of 5 right, 4 needed"
    # In the write that brought the fifth answer.
    assert campaign.log()[event.seq - 2].kind == Kind.ANSWER


def test_who_does_not_qualify_is_suspended_and_handed_nothing() -> None:
    campaign = create()
    assert run(campaign, says_wrong, workers=["bob"]) == Wait("workers")
    assert purposes(campaign, "bob") == ["qualification"] * 5
    assert verdicts(campaign) == [("SUSPENDED", "bob")]
    (event,) = of_kind(campaign, Kind.SUSPENDED)
    assert (event.note, event.why) == ("qualification", "0 of 5 right, 4 needed")
    found = standing_of(campaign, "bob")
    assert (found.state, found.suspended_for) == ("suspended", "qualification")
    # Ann goes on.
    assert isinstance(campaign.ask(workers=["ann"]), Batch)


@pytest.mark.parametrize(("right", "verdict"), [(4, "QUALIFIED"), (3, "SUSPENDED")])
def test_the_share_that_is_right_must_reach_the_line(right: int, verdict: str) -> None:
    campaign = create(screening={"qualify": 5, "pass_share": 0.7})
    for at in range(5):
        (each,) = campaign.ask(workers=["ann"])
        task = each.task or ""
        campaign.tell(each.id, truth_of(task) if at < right else wrong_about(task))
    assert verdicts(campaign) == [(verdict, "ann")]


def test_answers_of_the_qualification_are_paid_unless_the_requester_says_otherwise() -> None:
    for paid, spent in ((True, "0.5"), (False, "0")):
        campaign = create(screening={"qualify": 5, "paid": paid})
        run(campaign, workers=["ann"], most=5)
        assert campaign.status().spent == Decimal(spent)
        run(campaign, workers=["ann"], most=2)
        assert campaign.status().spent == Decimal(spent) + Decimal("0.2")


def test_a_task_with_a_told_truth_is_closed_and_nobody_is_asked_for_its_label() -> None:
    campaign = create(screening={"qualify": 0, "rate": 0.1})
    answers = {each.task: each for each in campaign.answers()}
    assert all(answers[task].value == truth_of(task) for task in GOLD)
    assert {answers[task].rests_on for task in GOLD} == {"truth"}
    run(campaign)
    notes = {event.decision: event.note for event in of_kind(campaign, Kind.DECIDED)}
    for event in of_kind(campaign, Kind.ASKED):
        assert (event.task in GOLD) == (notes[event.decision] == "gold")
    # Wrong answers to gold questions change nothing about their tasks.
    assert next(each for each in campaign.answers() if each.task in GOLD).value == "no"


def test_the_share_of_gold_questions_is_the_rate() -> None:
    tasks, gold = [f"t{at}" for at in range(400)], [f"g{at}" for at in range(200)]
    campaign = create(gold, tasks=[*gold, *tasks], screening={"qualify": 0, "rate": 0.25})
    run(campaign, workers=["ann"], most=160)
    count = Counter(purposes(campaign, "ann"))
    # 160 draws of 1 in 4: 40, with a standard deviation of 5.5; four of them are 22.
    assert abs(count["gold"] - 40) < 22
    chances = [
        event.propensity
        for event in of_kind(campaign, Kind.ASKED)
        if event.task is not None and event.task.startswith("g")
    ]
    assert chances[0] == pytest.approx(0.25 / 200)


def test_gold_comes_at_other_places_under_another_seed_and_the_same_under_the_same() -> None:
    logs = []
    for seed in (3, 3, 4):
        campaign = create(seed=seed)
        run(campaign, most=40)
        logs.append([event.task for event in of_kind(campaign, Kind.ASKED)])
    assert logs[0] == logs[1] != logs[2]


def test_somebody_whose_answers_turn_bad_is_warned_first_and_suspended_later() -> None:
    gold = [f"g{at}" for at in range(120)]
    terms = {"qualify": 5, "rate": 0.5, "warn_below": 0.8, "pause_below": 0.5}
    tasks = [f"t{at}" for at in range(150)]
    campaign = create(gold, tasks=[*gold, *tasks], workers=[ANN], screening=terms, budget="90")
    run(campaign, most=20)
    assert run(campaign, says_wrong) == Wait("workers")
    assert verdicts(campaign) == [("QUALIFIED", "ann"), ("WARNED", "ann"), ("SUSPENDED", "ann")]
    found = standing_of(campaign, "ann")
    assert (found.state, found.suspended_for) == ("suspended", "gold")
    assert found.accuracy.high < 0.5
    assert found.gold_answers >= 10
    (event,) = of_kind(campaign, Kind.SUSPENDED)
    assert event.note == "gold"
    assert "the line is 50%" in (event.why or "")


def test_nobody_is_warned_or_suspended_on_a_handful_of_answers() -> None:
    # Of three wrong answers the upper end is below .9 already; ten are the fewest all the same.
    campaign = create(
        workers=[ANN], screening={"qualify": 0, "rate": 0.5, "warn_below": 0.9, "pause_below": 0.9}
    )
    run(campaign, says_wrong)
    assert verdicts(campaign) == [("SUSPENDED", "ann")]
    assert standing_of(campaign, "ann").gold_answers == 10


def test_what_a_suspended_worker_has_out_is_theirs_to_finish() -> None:
    campaign = create(screening={"qualify": 0, "rate": 0.1})
    (each,) = campaign.ask(workers=["ann"])
    campaign.suspend("ann", by="eve", why="Too fast.")
    assert campaign.ask(workers=["ann"]) == Wait("workers")
    campaign.tell(each.id, says_right("ann", each.task or ""))
    assert campaign.status().answers == 1
    assert all(each.worker == "bob" for _ in range(5) for each in campaign.ask())


def test_somebody_can_be_suspended_and_reinstated_in_any_campaign() -> None:
    campaign = Campaign.create(
        workers=[ANN, BOB], outcome="utility", budget="3", policy="uniform", seed=1, name="cats"
    )
    campaign.ask()
    campaign.suspend("ann", by="eve")
    assert {each.worker for each in campaign.ask(limit=9)} == {"bob"}
    with pytest.raises(Conflict) as refused:
        campaign.suspend("ann", by="eve")
    assert refused.value.reason == "worker_suspended"
    campaign.reinstate("ann", by="eve", why="It was explained.")
    with pytest.raises(Conflict) as refused:
        campaign.reinstate("ann", by="eve")
    assert refused.value.reason == "worker_not_suspended"
    assert [event.by for event in campaign.log() if event.kind >= Kind.SUSPENDED] == ["eve", "eve"]
    assert campaign.ask(workers=["ann"])


def test_who_left_or_is_not_known_is_not_suspended() -> None:
    campaign = create()
    campaign.leave("bob")
    with pytest.raises(Conflict, match="left already"):
        campaign.suspend("bob", by="eve")
    with pytest.raises(UnknownName):
        campaign.suspend("zoe", by="eve")
    with pytest.raises(UnknownName):
        campaign.reinstate("zoe", by="eve")
    with pytest.raises(InvalidAnswer, match="by is ''"):
        campaign.suspend("ann", by="")


def test_a_suspension_by_gold_that_is_lifted_begins_a_new_count() -> None:
    campaign = create(workers=[BOB])
    run(campaign, says_wrong)
    campaign.reinstate("bob", by="eve")
    found = standing_of(campaign, "bob")
    assert (found.state, found.gold_answers) == ("good", 0)
    run(campaign, says_right, most=10)
    assert "qualification" not in purposes(campaign, "bob")[5:]
    assert verdicts(campaign) == [("SUSPENDED", "bob"), ("REINSTATED", "bob")]


def test_a_suspension_by_hand_that_is_lifted_leaves_the_count_and_the_qualification() -> None:
    campaign = create(workers=[ANN])
    run(campaign, most=3)
    campaign.suspend("ann", by="eve")
    campaign.reinstate("ann", by="eve")
    found = standing_of(campaign, "ann")
    assert (found.state, found.qualifying_answers) == ("qualifying", 3)
    run(campaign, most=2)
    assert verdicts(campaign)[-1] == ("QUALIFIED", "ann")


def test_only_persons_are_screened_unless_models_are_named() -> None:
    gpt, vet = Worker("gpt", "0.1", kind="model"), Worker("vet", "0.1", trusted=True)
    mia = Worker("mia", "0.1")
    for kinds, screened in ((["person"], {"ann", "mia"}), (["model"], {"gpt"})):
        terms = {"qualify": 5, "rate": 0.1, "kinds": kinds}
        campaign = create(workers=[ANN, gpt, mia, vet], screening=terms)
        assert {each.id for each in campaign.workers() if each.standing} == screened
        for worker in ("ann", "gpt", "mia", "vet"):
            campaign.ask(workers=[worker])
            asked = purposes(campaign, worker)
            assert (asked == ["qualification"]) == (worker in screened)


def test_one_ask_hands_out_no_more_than_is_missing_and_then_waits_for_the_answers() -> None:
    campaign = create(workers=[ANN])
    batch = campaign.ask(limit=50)
    assert len(batch) == 5
    assert campaign.ask(limit=50) == Wait("answers")
    campaign.decline(batch[0].id)
    # Another one takes its place.
    (again,) = campaign.ask(limit=50)
    assert again.task != batch[0].task


def test_nobody_qualifies_where_too_few_truths_are_told() -> None:
    campaign = create(GOLD[:2])
    assert isinstance(campaign.ask(workers=["ann"], limit=9), Batch)
    for each in campaign.assignments():
        campaign.tell(each.id, truth_of(each.task or ""))
    assert campaign.ask(workers=["ann"]) == Wait("truth")
    for task in TASKS[:3]:
        campaign.truth(task, truth_of(task))
    assert len(campaign.ask(workers=["ann"], limit=9)) == 3


def test_nobody_is_paid_to_qualify_for_a_campaign_that_has_no_work_left() -> None:
    campaign = create(workers=[ANN])
    run(campaign)
    assert campaign.status().answers > 30
    spent = campaign.status().spent
    campaign.add(workers=[BOB])
    for task in TASKS:
        if next(each for each in campaign.answers() if each.task == task).outcome == "open":
            campaign.close(task)
    assert isinstance(campaign.ask(workers=["bob"]), Done)
    assert campaign.status().spent == spent


def test_a_late_answer_to_a_gold_question_is_taken_like_any_other() -> None:
    now = [0.0]
    campaign = create(workers=[ANN], lease=60, clock=lambda: now[0])
    (each,) = campaign.ask()
    now[0] = 100.0
    campaign.sweep()
    campaign.tell(each.id, truth_of(each.task or ""))
    assert standing_of(campaign, "ann").qualifying_answers == 1
    # What has nothing to do with gold, and is closed meanwhile, is not.
    run(campaign, most=4)
    ordinary = next(found for _ in range(20) for found in campaign.ask() if found.task in TASKS)
    now[0] = 200.0
    campaign.sweep()
    campaign.close(ordinary.task or "")
    with pytest.raises(InvalidAnswer, match="closed"):
        campaign.tell(ordinary.id, "yes")


def test_decisions_on_gold_questions_are_explained() -> None:
    campaign = create()
    run(campaign, most=30)
    for event in of_kind(campaign, Kind.ASKED):
        found = campaign.explain(f"cats:{event.seq}")
        assert found.reproduced
        if found.purpose in ("qualification", "gold"):
            assert "gold question" in found.rule


def test_a_policy_learns_from_gold_answers() -> None:
    campaign = create(policy="hem", screening={"qualify": 5, "pass_share": 0.0})
    run(campaign, bob_errs, most=10)
    with campaign.reading() as state:
        # Five answers of each to tasks whose truth is known.
        assert state.beliefs.tested[:2].tolist() == [5, 5]
    assert [standing_of(campaign, who).gold_right for who in ("ann", "bob")] == [5, 0]


def test_the_terms_are_kept_with_the_campaign() -> None:
    campaign = create(screening=True)
    reopened = Campaign.open(campaign.store, "cats")
    assert reopened.spec["screening"] == ScreeningTerms().to_json()
    # A line that is not drawn stays so.
    campaign = create(screening={"pause_below": None})
    assert Campaign.open(campaign.store, "cats").spec["screening"]["pause_below"] is None
    assert "screening" not in create(screening=None).spec


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"screening": 3}, "screening", "give true, or a mapping"),
        ({"screening": {"quality": 3}}, "screening.quality", "did you mean 'qualify'"),
        ({"screening": {"qualify": 3}}, "screening.qualify", "from 5 to 1000, or 0 for none"),
        ({"screening": {"qualify": True}}, "screening.qualify", "from 5 to 1000"),
        ({"screening": {"pass_share": 1.5}}, "screening.pass_share", "from 0 to 1"),
        ({"screening": {"paid": "no"}}, "screening.paid", "true or false"),
        ({"screening": {"rate": 0.7}}, "screening.rate", "from 0 to 0.5"),
        ({"screening": {"warn_below": 1}}, "screening.warn_below", "between 0 and 1"),
        ({"screening": {"pause_below": 0.9}}, "screening.pause_below", "a warning comes first"),
        ({"screening": {"kinds": "crowd"}}, "screening.kinds", "person, model"),
        ({"screening": {"kinds": []}}, "screening.kinds", "person, model"),
        ({"screening": {"qualify": 0, "rate": 0}}, "screening.rate", "both 0"),
        ({"policy": "iethresh"}, "screening", "or use one of"),
        ({"policy": "uniform", "outcome": "utility", "options": None}, "screening", "utility"),
    ],
)
def test_terms_that_make_no_sense_are_refused_by_name(
    changes: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidProblem) as refused:
        create([], **changes)
    assert refused.value.field == field
    assert words in str(refused.value)


def test_screening_does_not_go_with_bids() -> None:
    with known(), pytest.raises(InvalidProblem, match="which takes bids") as refused:
        create([], mechanism={"name": "clarke", "c_max": 20}, policy=Cheapest())
    assert refused.value.field == "screening"
