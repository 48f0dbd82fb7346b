"""Participants of studies on Prolific, on the workers' page, and who is not let in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from decimal import Decimal

import pytest

from askwise.service import participants
from askwise.service.work import prolific
from askwise.sources.prolific.signing import SIGNATURE, TIMESTAMP, sign_event
from askwise.store.records import STUDY_EVENTS
from askwise.testing.prolific_server import ProlificServer
from tests.running.prolific.studying import StudyBench, person


@pytest.fixture
def study() -> Iterator[StudyBench]:
    """A study that is published, with four tasks of three answers, two by a participant."""
    with ProlificServer() as server:
        made = StudyBench(server)
        made.create(tasks=4, votes=3)
        made.recruiter.step()
        yield made


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """All participants of these tests have one address."""
    monkeypatch.setattr(prolific.landings, "burst", 1e9)


def test_a_participant_lands_answers_and_is_shown_the_code(study: StudyBench) -> None:
    ann = study.come(1)
    ann.land()
    assert (ann.status, ann.state) == (200, "start")
    assert "You will be asked up to 2 questions" in ann.page
    assert "You are paid at least 0.50 GBP" in ann.page
    code = ann.work()
    assert (ann.state, code) == ("finished", study.study.code)
    assert f"https://app.prolific.com/submissions/complete?cc={code}" in ann.page
    assert "0.30 GBP as a bonus" in ann.page
    worker = study.campaign.workers()[0]
    assert (worker.id, worker.answered, worker.joined) == (person(1), 2, False)


def test_a_participant_who_comes_back_is_the_same_worker_where_they_were(study: StudyBench) -> None:
    ann = study.come(1)
    ann.land()
    ann.work(most=1)
    ann.land()
    assert ann.state == "question"
    other = study.come(2)
    other.land()
    # Another browser of the first.
    again = type(ann)(study, ann.id, ann.submission)
    again.land()
    assert again.state == "question"
    assert again.work() == study.study.code
    ann.look()
    assert ann.code == study.study.code
    assert [each.id for each in study.campaign.workers()] == [person(1), person(2)]
    ann.land()
    assert ann.code == study.study.code, "also when they open the link once more"


def test_an_id_that_somebody_wrote_into_the_address_lets_nobody_in(study: StudyBench) -> None:
    ann = study.come(1)
    link = study.server.link(ann.submission)
    eve = study.come(2)
    forged = [
        link.replace(person(1), person(9)),
        link.replace(ann.submission, eve.submission),
        link.replace(ann.submission, "f" * 24),
        link.replace(study.study.study, "e" * 24),
        link.replace(study.study.door, "x" * 32),
        link.replace(ann.submission, "../studies"),
        link.partition("?")[0],
    ]
    for address in forged:
        eve.land(address)
        assert (eve.status, eve.state) == (403, "unknown"), address
    assert study.campaign.workers() == []


def test_a_worker_whom_the_requester_added_is_not_taken_over(study: StudyBench) -> None:
    study.campaign.add(workers=[{"id": person(1), "price": 1}])
    ann = study.come(1)
    ann.land()
    assert (ann.status, ann.state) == (403, "unknown")


def test_a_submission_that_has_ended_lets_nobody_in(study: StudyBench) -> None:
    ann = study.come(1)
    for status in ("RETURNED", "TIMED-OUT", "REJECTED", "APPROVED", "AWAITING REVIEW"):
        study.server.end(ann.submission, status)
        ann.land()
        assert (ann.status, ann.state) == (410, "ended")
    assert study.campaign.workers() == []


def test_who_returned_their_submission_is_asked_no_more(study: StudyBench) -> None:
    ann = study.come(1)
    ann.land()
    ann.work(most=1)
    study.server.end(ann.submission, "RETURNED")
    study.recruiter.step()
    ann.send("answer", value="yes")
    assert (ann.state, ann.code) == ("closed", "")
    assert study.campaign.status().reserved == 0


def test_when_the_campaign_takes_nobody_a_participant_is_told_to_return(study: StudyBench) -> None:
    study.campaign.stop()
    ann = study.come(1)
    ann.land()
    assert (ann.status, ann.state) == (410, "over")


def test_while_prolific_can_not_be_asked_nobody_is_let_in(study: StudyBench) -> None:
    ann = study.come(1)
    study.server.set_trap("GET .*/submissions/", status=503, times=3)
    ann.land()
    assert (ann.status, ann.state) == (503, "busy")
    ann.land()
    assert ann.state == "start"


def test_one_address_may_not_land_without_end(
    study: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prolific, "landings", prolific.Buckets(rate=0.001, burst=2.0))
    ann = study.come(1)
    for _ in range(3):
        ann.land(study.server.link(ann.submission).replace(person(1), person(9)))
    assert (ann.status, ann.state) == (503, "busy")


def test_one_submission_may_not_be_opened_without_end(
    study: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "MOST_LANDINGS", 2)
    ann = study.come(1)
    seen = []
    for _ in range(3):
        ann.land()
        seen.append(ann.status)
    assert seen == [200, 200, 403]


def test_who_waits_without_a_question_is_let_go_after_a_while(
    study: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.campaign.pause()
    ann = study.come(1)
    ann.land()
    assert (ann.state, ann.code) == ("wait", "")
    later = time.time() + participants.PATIENCE + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert ann.look()
    assert ann.code == study.study.code


def test_who_only_says_that_they_were_told_to_wait_is_asked(
    study: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "PATIENCE", -1.0)
    ann = study.come(1)
    ann.land()
    ann.send("next", what="workers")
    assert (ann.state, ann.code) == ("question", "")


def test_who_answers_once_and_signs_out_is_asked_again_whatever_they_send(
    study: StudyBench,
) -> None:
    ann = study.come(1)
    ann.land()
    ann.work(most=1)
    ann.send("sign-out")
    ann.land()
    ann.send("next", what="workers")
    assert (ann.state, ann.code) == ("question", "")


def test_a_wait_of_before_is_not_told_again(study: StudyBench) -> None:
    campaign = study.campaign
    campaign.pause()
    ann = study.come(1)
    ann.land()
    assert ann.state == "wait"
    old = ann.page
    ann.send("next", what="")
    campaign.resume()
    ann.look()
    ann.work(most=1)
    campaign.release(person(1))
    ann.page = old
    ann.send("next", what="")
    assert (ann.state, ann.code) == ("question", "")


def test_everybody_who_is_shown_the_code_can_be_paid_from_the_budget() -> None:
    with ProlificServer() as server:
        study = StudyBench(server)
        study.create(tasks=4, votes=4, budget="1.60", places=2, price="0.10")
        study.recruiter.step()
        for number in (1, 2):
            study.come(number).take_part()
        report = study.recruiter.step()
        assert (report.approved, report.matters) == (2, ())
        assert study.campaign.status().spent == Decimal("1.00")


def post(study: StudyBench, secret: str, body: bytes, at: float) -> int:
    from starlette.testclient import TestClient

    stamp = str(int(at))
    headers = {TIMESTAMP: stamp, SIGNATURE: sign_event(secret, stamp, body), "X-Event-ID": "e1"}
    client = TestClient(study.app, base_url="https://ask.example.org")
    return client.post("/prolific/events", content=body, headers=headers).status_code


def test_events_are_heard_if_they_are_signed_and_of_now(
    study: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"event_type": "submission.status.change", "resource_id": "s1"}).encode()
    now = time.time()
    monkeypatch.delenv("PROLIFIC_HOOK_SECRET", raising=False)
    assert post(study, "", body, now) == 401, "without a secret nothing is heard"
    monkeypatch.setenv("PROLIFIC_HOOK_SECRET", "right")
    assert post(study, "wrong", body, now) == 401
    assert post(study, "right", body, now - 1000) == 401
    assert post(study, "right", b"[1]", now) == 401
    assert study.store.record(STUDY_EVENTS, "last") is None
    assert post(study, "right", body, now) == 200
    heard = study.store.record(STUDY_EVENTS, "last")
    assert heard is not None
    assert "s1" in heard.body
