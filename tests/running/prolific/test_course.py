"""A study from its creation to the bonuses, and the places that it is given."""

from __future__ import annotations

from decimal import Decimal

import pytest

from askwise.campaign import Campaign
from askwise.core.errors import Conflict, OverBudget
from askwise.core.events import Kind
from askwise.running.prolific import Recruiter, create_study
from tests.running.prolific.studying import ADDRESS, StudyBench, offer, person


def test_a_study_goes_from_its_creation_to_the_bonuses(bench: StudyBench) -> None:
    study = bench.create(tasks=2, votes=3, places=1, step=1)
    assert (bench.there["status"], bench.there["reward"]) == ("UNPUBLISHED", 50)
    assert bench.recruiter.step().course == "recruiting"
    assert bench.there["status"] == "ACTIVE"
    seen, number = [], 0
    while not (report := bench.recruiter.step()).is_over:
        seen.append(report.places)
        for _ in range(report.places - report.taken):
            number += 1
            assert bench.come(number).take_part() == study.code
    # Two tasks with three answers each, two by a participant: three of them, one at a time.
    assert (number, seen) == (3, [1, 2, 3])
    assert (report.course, report.matters) == ("done", ())
    campaign = bench.campaign
    assert campaign.status().spent == Decimal("2.40")
    # Each earned 0.80: the reward of 0.50, and a bonus of 0.30.
    assert [bench.server.earned(person(each)) for each in (1, 2, 3)] == [80, 80, 80]
    assert {(each.owed, each.paid_out) for each in campaign.payments()} == {(0, Decimal("0.8"))}
    references = {each.reference for each in campaign.payouts()}
    assert references == {*bench.server.submissions, *bench.server.batches}
    assert not any(event.kind == Kind.BONUS for event in campaign.log())


def test_places_are_not_added_while_somebody_is_at_it(bench: StudyBench) -> None:
    bench.create(tasks=4, votes=2)
    bench.recruiter.step()
    bench.take_part(1)
    bench.come(2)
    assert bench.recruiter.step().added == 0


def test_no_places_are_added_when_the_campaign_has_what_it_wants(bench: StudyBench) -> None:
    bench.create(tasks=2, votes=2)
    bench.recruiter.step()
    bench.take_part(1)
    bench.take_part(2)
    report = bench.recruiter.step()
    assert (report.added, report.places, report.course) == (0, 2, "done")


def test_places_end_where_the_money_does(bench: StudyBench) -> None:
    # A participant costs 0.80 at the most: the budget pays five of them.
    bench.create(tasks=10, votes=10, budget="4.50", places=2, step=2)
    bench.recruiter.step()
    number = 0
    while not (report := bench.recruiter.step()).is_over:
        for _ in range(report.places - report.taken):
            number += 1
            bench.take_part(number)
    assert (number, report.places, report.course) == (5, 5, "full")
    assert bench.campaign.status().spent == Decimal("4.00")
    bench.campaign.top_up("1.60")
    assert bench.recruiter.step().added == 2


def test_places_end_at_their_most(bench: StudyBench) -> None:
    bench.create(tasks=10, votes=10, places=2, step=5, most=3)
    bench.recruiter.step()
    bench.take_part(1)
    bench.take_part(2)
    assert bench.recruiter.step().added == 1
    bench.take_part(3)
    assert (bench.recruiter.step().added, bench.recruiter.step().course) == (0, "full")


def test_a_study_is_paused_when_nobody_else_could_be_paid_and_started_again(
    bench: StudyBench,
) -> None:
    bench.create(tasks=4, votes=3, budget="1.60", places=2)
    bench.recruiter.step()
    first = bench.come(1)
    first.land()
    first.work(most=1)
    # Their answer is paid for, and their place is free again: for two at 0.80 the rest is short.
    bench.server.end(first.submission, "RETURNED")
    report = bench.recruiter.step()
    assert (bench.there["status"], report.course) == ("PAUSED", "full")
    bench.campaign.top_up("1")
    bench.recruiter.step()
    assert bench.there["status"] == "ACTIVE"


def test_a_study_that_a_person_paused_stays_paused(bench: StudyBench) -> None:
    bench.create()
    bench.recruiter.step()
    bench.api.transition_study(bench.study.study, "PAUSE")
    bench.recruiter.step()
    assert bench.there["status"] == "PAUSED"


def test_a_study_is_paused_with_its_campaign(bench: StudyBench) -> None:
    bench.create()
    bench.recruiter.step()
    bench.campaign.pause()
    report = bench.recruiter.step()
    assert (bench.there["status"], report.course, report.is_over) == ("PAUSED", "waiting", False)
    bench.campaign.resume()
    bench.recruiter.step()
    assert bench.there["status"] == "ACTIVE"


def test_a_campaign_has_one_study_at_a_time(bench: StudyBench) -> None:
    bench.create()
    with pytest.raises(Conflict, match="has the study"):
        create_study(bench.campaign, offer(), ADDRESS, bench.api)
    bench.recruiter.step()
    bench.recruiter.stop()
    assert bench.there["status"] == "COMPLETED"
    assert create_study(bench.campaign, offer(), ADDRESS, bench.api).number == 2


def test_a_study_that_was_stopped_is_not_opened_again_and_who_came_is_paid(
    bench: StudyBench,
) -> None:
    bench.create(tasks=4, votes=3, places=1)
    bench.recruiter.step()
    bench.take_part(1)
    bench.recruiter.stop()
    report = bench.recruiter.step()
    assert (report.added, report.approved, report.course) == (0, 1, "done")
    assert bench.there["status"] == "COMPLETED"
    assert bench.server.earned(person(1)) == 80


def test_a_study_that_a_person_stopped_is_over(bench: StudyBench) -> None:
    bench.create(tasks=4, votes=3, places=2)
    bench.recruiter.step()
    bench.take_part(1)
    bench.api.transition_study(bench.study.study, "STOP")
    assert bench.recruiter.step().is_over


def test_places_that_the_budget_can_not_pay_are_refused(bench: StudyBench) -> None:
    with pytest.raises(OverBudget, match="for 1; give fewer"):
        bench.create(budget="1.20", places=2)
    assert bench.server.studies == {}


def test_a_study_in_another_currency_is_not_published(bench: StudyBench) -> None:
    bench.server.currency = "USD"
    with pytest.raises(Conflict, match="paid in USD"):
        bench.create()
    assert [each["status"] for each in bench.server.studies.values()] == ["UNPUBLISHED"]


def test_a_policy_that_takes_nobody_in_has_no_study(bench: StudyBench) -> None:
    campaign = Campaign.create(
        store=bench.store,
        workers=[{"id": name, "price": 1} for name in ("ann", "bob", "cleo")],
        tasks=["t1"],
        options=["yes", "no"],
        policy={"name": "ccb-fixed", "qualities": [0.8, 0.8, 0.8], "alpha": 0.2},
    )
    with pytest.raises(Conflict) as error:
        create_study(campaign, offer(), ADDRESS, bench.api)
    assert error.value.reason == "no_newcomers"


def test_two_do_not_run_one_study(bench: StudyBench) -> None:
    bench.create()
    first, second = bench.recruiter, bench.recruiter
    first.claim.take()
    with pytest.raises(Conflict) as error:
        second.step()
    assert error.value.reason == "already_running"


def test_it_runs_until_it_is_over_and_an_event_brings_the_next_look_forward(
    bench: StudyBench,
) -> None:
    from askwise.running.prolific.records import hear_event

    bench.create(tasks=2, votes=1, places=1)
    seen: list[str] = []

    def watch(report: object) -> None:
        seen.append(report.course)  # type: ignore[attr-defined]
        if len(seen) == 1:
            bench.take_part(1)
            hear_event(bench.store, "e1")

    found = Recruiter(bench.campaign, bench.api).run(every=3600, watch=watch)
    assert seen == ["recruiting", "done"]
    assert found is not None
    assert found.is_over
    assert bench.server.earned(person(1)) == 80


def test_no_other_study_is_made_while_one_is_not_settled(bench: StudyBench) -> None:
    bench.create(tasks=50, votes=3, places=2)
    bench.recruiter.step()
    bench.take_part(1)
    second = bench.take_part(2)
    bench.recruiter.stop()
    with pytest.raises(Conflict, match="not settled: 2"):
        create_study(bench.campaign, offer(), ADDRESS, bench.api)
    bench.server.end(second, "APPROVED")
    with pytest.raises(Conflict, match="not settled: 2"):
        create_study(bench.campaign, offer(), ADDRESS, bench.api)
    bench.server.balance = 10
    bench.recruiter.step()
    with pytest.raises(Conflict, match=r"not settled: 3 .* batch 1 of bonuses"):
        create_study(bench.campaign, offer(), ADDRESS, bench.api)
    bench.server.balance = 1000
    bench.recruiter.step()
    assert create_study(bench.campaign, offer(), ADDRESS, bench.api).number == 2
    assert [bench.server.earned(person(each)) for each in (1, 2)] == [80, 80]


def test_a_reward_that_was_changed_on_prolific_stops_the_study_until_it_is_changed_back(
    bench: StudyBench,
) -> None:
    bench.create(tasks=50, votes=3)
    bench.there["reward"] = 200
    report = bench.recruiter.step()
    assert [each.what for each in report.matters] == ["reward_changed"]
    assert (bench.there["status"], report.is_over) == ("UNPUBLISHED", False)
    bench.there["reward"] = 50
    bench.recruiter.step()
    submission = bench.take_part(1)
    bench.there["reward"] = 200
    report = bench.recruiter.step()
    assert (bench.there["status"], report.approved, report.added) == ("PAUSED", 0, 0)
    assert bench.server.submissions[submission]["status"] == "AWAITING REVIEW"
    bench.there["reward"] = 50
    assert bench.recruiter.step().approved == 1
    assert bench.there["status"] == "ACTIVE"


def test_who_was_paid_without_ever_being_here_leaves_less_for_others(bench: StudyBench) -> None:
    bench.create(tasks=50, votes=3, budget="1.00", places=2, price="0")
    bench.recruiter.step()
    for number in (1, 2):
        bench.server.end(bench.come(number).submission, "APPROVED")
    report = bench.recruiter.step()
    assert (report.added, report.course) == (0, "full")


def test_who_ran_out_of_time_and_hands_in_all_the_same_keeps_their_money(
    bench: StudyBench,
) -> None:
    bench.create(tasks=50, votes=3, budget="1.00", places=1, price="0", step=5)
    bench.recruiter.step()
    ann = bench.come(1)
    ann.land()
    bench.server.end(ann.submission, "TIMED-OUT")
    bench.recruiter.step()
    bench.server.end(ann.submission, "AWAITING REVIEW")
    # The budget has two rewards, and one is theirs.
    assert bench.recruiter.step().added == 1


def test_a_study_that_a_person_started_and_paused_stays_paused(bench: StudyBench) -> None:
    bench.create()
    bench.recruiter.step()
    bench.campaign.pause()
    bench.recruiter.step()
    assert bench.there["status"] == "PAUSED"
    bench.campaign.resume()
    bench.there["status"] = "ACTIVE"
    bench.recruiter.step()
    bench.there["status"] = "PAUSED"
    bench.recruiter.step()
    assert bench.there["status"] == "PAUSED"


def test_a_pause_that_is_refused_is_not_taken_for_ours(bench: StudyBench) -> None:
    bench.create()
    bench.recruiter.step()
    bench.campaign.pause()
    bench.server.set_trap("POST .*/transition/", status=400)
    assert [each.what for each in bench.recruiter.step().matters] == ["study_refused"]
    bench.there["status"] = "PAUSED"
    bench.campaign.resume()
    bench.recruiter.step()
    assert bench.there["status"] == "PAUSED"
