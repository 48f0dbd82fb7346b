"""A study from its creation to the bonuses, with participants on the workers' page."""

from __future__ import annotations

from decimal import Decimal

from askwise.core.events import Kind
from tests.running.prolific.studying import StudyBench, person


def test_a_study_goes_from_its_creation_to_the_bonuses(bench: StudyBench) -> None:
    study = bench.create(tasks=4, votes=3)
    assert bench.there["status"] == "UNPUBLISHED"
    assert bench.there["reward"] == 50
    recruiter = bench.recruiter
    assert recruiter.step().status == "UNPUBLISHED"
    assert bench.there["status"] == "ACTIVE"
    seen = []
    number = 0
    while True:
        report = recruiter.step()
        seen.append(report.places)
        if report.is_over:
            break
        for _ in range(report.places - report.taken):
            number += 1
            assert bench.come(number).take_part() == study.code
    # Four tasks with three answers each, two by a participant: six of them, in steps of two.
    assert number == 6
    assert seen == [2, 4, 6, 6]
    assert report.course == "done"
    assert report.matters == ()
    status = bench.campaign.status()
    assert (status.answers, status.spent) == (12, Decimal("4.80"))
    # Each earned 0.80: the reward of 0.50, and a bonus of 0.30.
    for each in range(1, 7):
        assert bench.server.earned(person(each)) == 80
    assert all(each.owed == 0 and each.paid_out == Decimal("0.8") for each in bench.campaign.payments())
    references = {each.reference for each in bench.campaign.payouts()}
    assert references == {*bench.server.submissions, *bench.server.batches}
    assert not any(event.kind == Kind.BONUS for event in bench.campaign.log())


def test_places_grow_only_while_the_campaign_wants_people(bench: StudyBench) -> None:
    bench.create(tasks=2, votes=2)
    recruiter = bench.recruiter
    recruiter.step()
    first, second = bench.come(1), bench.come(2)
    first.take_part()
    assert recruiter.step().added == 0, "somebody is still at it"
    second.take_part()
    report = recruiter.step()
    assert (report.added, report.course, report.places) == (0, "done", 2)


def test_who_earned_less_than_the_reward_is_paid_the_reward(bench: StudyBench) -> None:
    bench.create(tasks=1, votes=1, places=1)
    bench.recruiter.step()
    bench.come(1).take_part()
    report = bench.recruiter.step()
    assert report.approved == 1
    assert bench.server.earned(person(1)) == 50
    payment = bench.campaign.payments()[0]
    assert (payment.bonus, payment.paid_out, payment.owed) == (Decimal("0.1"), Decimal("0.5"), 0)
    assert bench.campaign.status().spent == Decimal("0.5")
