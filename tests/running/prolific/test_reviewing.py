"""What becomes of submissions: approved if the work was done, never rejected, let go if ended."""

from __future__ import annotations

from decimal import Decimal

from askwise.campaign.forgetting import delete, forget_worker
from askwise.core.events import Kind
from askwise.running.prolific import RecruitingReport, StudyBook, create_study
from askwise.running.prolific.studies import participant
from askwise.store.records import (
    STUDIES,
    STUDY_BONUSES,
    STUDY_DOORS,
    STUDY_SESSIONS,
    STUDY_WORKERS,
)
from tests.running.prolific.studying import ADDRESS, StudyBench, offer, person

KINDS = (STUDIES, STUDY_DOORS, STUDY_SESSIONS, STUDY_WORKERS, STUDY_BONUSES)


def begun(bench: StudyBench, **terms: object) -> None:
    bench.create(tasks=4, votes=3, **terms)
    bench.recruiter.step()


def matters(report: RecruitingReport) -> list[tuple[str, str]]:
    return [(each.what, each.worker) for each in report.matters]


def enter(bench: StudyBench, number: int) -> str:
    """Let a participant take a place and land; returns the submission."""
    submission = bench.server.join(bench.study.study, person(number))
    bench.participants.admit(bench.study.door, person(number), bench.study.study, submission)
    return submission


def test_what_was_not_done_is_left_to_a_person_and_never_rejected(bench: StudyBench) -> None:
    begun(bench, places=3)
    never = bench.server.join(bench.study.study, person(1))
    bench.server.submit(never, "NOCODE")
    unfinished = enter(bench, 2)
    bench.server.submit(unfinished, bench.study.code)
    campaign = bench.campaigns.get(bench.name)
    enter(bench, 3)
    batch = campaign.ask(workers=[person(3)])
    campaign.decline(batch[0].id)
    book = StudyBook(bench.store, bench.name)
    skipped = book.session_of(person(3))
    assert skipped is not None
    book.change_session(skipped.submission, finished=1.0)
    bench.server.submit(skipped.submission, bench.study.code)
    for _ in range(2):
        report = bench.recruiter.step()
        assert matters(report) == [
            ("never_landed", person(1)),
            ("unfinished", person(2)),
            ("little_work", person(3)),
        ]
        assert (report.approved, report.bonuses) == (0, 0)
    assert {each["status"] for each in bench.server.submissions.values()} == {"AWAITING REVIEW"}


def test_who_found_nothing_to_answer_is_paid_for_coming_if_a_person_says_so(
    bench: StudyBench,
) -> None:
    begun(bench)
    submission = bench.take_part(1, answers=0)
    report = bench.recruiter.step()
    assert (report.approved, matters(report)) == (0, [("little_work", person(1))])
    bench.server.end(submission, "APPROVED")
    assert matters(bench.recruiter.step()) == []
    assert bench.server.earned(person(1)) == 50
    assert bench.campaign.status().spent == Decimal("0.5")


def test_what_a_participant_has_out_is_released_when_they_return_or_run_out_of_time(
    bench: StudyBench,
) -> None:
    begun(bench)
    for number, status in ((1, "RETURNED"), (2, "TIMED-OUT")):
        submission = enter(bench, number)
        campaign = bench.campaigns.get(bench.name)
        assert campaign.ask(workers=[person(number)])
        bench.server.end(submission, status)
        report = bench.recruiter.step()
        assert matters(report) == []
        found = bench.campaign
        kinds = [event.kind for event in found.log()]
        assert kinds[-2:] == [Kind.EXPIRED, Kind.LEFT]
        assert found.status().reserved == 0


def test_who_returns_after_answers_is_named_with_what_they_earned(bench: StudyBench) -> None:
    begun(bench)
    submission = enter(bench, 1)
    campaign = bench.campaigns.get(bench.name)
    campaign.tell(campaign.ask(workers=[person(1)])[0].id, "yes")
    bench.server.end(submission, "RETURNED")
    report = bench.recruiter.step()
    assert matters(report) == [("ended_unpaid", person(1))]
    assert "0.4" in report.matters[0].detail
    assert bench.server.batches == {}


def test_an_approval_by_hand_is_booked(bench: StudyBench) -> None:
    begun(bench)
    submission = bench.take_part(1)
    bench.api.approve(submission)
    report = bench.recruiter.step()
    assert (report.approved, report.bonuses) == (0, Decimal("0.3"))
    assert bench.server.earned(person(1)) == 80
    assert bench.campaign.payments()[0].owed == 0


def test_somebody_who_is_approved_and_never_came_is_named(bench: StudyBench) -> None:
    begun(bench)
    submission = bench.server.join(bench.study.study, person(1))
    bench.server.submit(submission, "NOCODE")
    bench.api.approve(submission)
    assert matters(bench.recruiter.step()) == [("approved_elsewhere", person(1))]


def test_a_participant_of_another_study_of_the_campaign_is_the_same_worker(
    bench: StudyBench,
) -> None:
    bench.create(tasks=6, votes=3, places=1, most=1)
    bench.recruiter.step()
    bench.take_part(1)
    bench.recruiter.step()
    bench.recruiter.stop()
    create_study(bench.campaign, offer(places=1), ADDRESS, bench.api)
    bench.recruiter.step()
    bench.take_part(1)
    bench.recruiter.step()
    payments = bench.campaign.payments()
    assert [(each.worker, each.answers, each.paid_out) for each in payments] == [
        (person(1), 4, Decimal("1.6"))
    ]
    assert bench.server.earned(person(1)) == 160


def test_a_participant_who_is_forgotten_is_paid_and_named_nowhere(bench: StudyBench) -> None:
    begun(bench)
    bench.take_part(1)
    forget_worker(bench.store, bench.name, person(1), 1.0, "somebody")
    bench.campaigns.drop(bench.name)
    assert bench.recruiter.step().approved == 1
    assert bench.server.earned(person(1)) == 80
    assert [each.worker for each in bench.campaign.payouts()] == ["somebody", "somebody"]
    kept = [each for kind in KINDS for each in bench.store.records(kind)]
    assert len(kept) == 5
    assert not any(person(1) in each.id + each.body for each in kept)


def test_what_is_kept_of_a_study_goes_with_its_campaign(bench: StudyBench) -> None:
    bench.create()
    assert len([each for kind in KINDS for each in bench.store.records(kind)]) == 2
    delete(bench.store, bench.name)
    assert not [each for kind in KINDS for each in bench.store.records(kind)]


def test_who_is_still_here_from_another_study_joins_on_the_new_terms(bench: StudyBench) -> None:
    bench.create(tasks=6, votes=3, places=1, most=1)
    bench.recruiter.step()
    bench.take_part(1)
    bench.recruiter.step()
    bench.recruiter.stop()
    # A person has taken them back meanwhile.
    bench.campaigns.get(bench.name).add(workers=[participant(offer(), person(1), 2)])
    create_study(bench.campaign, offer(places=1, price="0.10"), ADDRESS, bench.api)
    bench.recruiter.step()
    enter(bench, 1)
    found = bench.campaigns.get(bench.name).workers()[0]
    assert (found.joined, found.price) == (True, Decimal("0.1"))
