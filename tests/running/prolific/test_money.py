"""Rewards and bonuses: each paid once, whatever is lost or killed on the way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from askwise.core.errors import Conflict, UnknownName
from askwise.running.prolific import StudyBook, create_study
from askwise.running.prolific import recruiter as recruiting
from askwise.running.prolific.records import BonusBatch
from askwise.sources.prolific import ProlificApi
from askwise.store import Store
from askwise.testing.prolific_server import ProlificServer
from tests.running.prolific.studying import ADDRESS, StudyBench, offer, person

PAY = "POST .*/pay/"


class Killed(BaseException):
    """A process that is gone: nothing of it runs on."""


def submitted(bench: StudyBench, people: int = 2, **terms: Any) -> None:
    """A study whose participants have all handed in their codes."""
    bench.create(tasks=2, votes=people, places=people, **terms)
    bench.recruiter.step()
    for number in range(1, people + 1):
        bench.take_part(number)


def batch_of(bench: StudyBench) -> BonusBatch:
    return StudyBook(bench.store, bench.name).batches()[-1]


def is_settled(bench: StudyBench, people: int = 2) -> None:
    """Everybody was paid 0.80 on Prolific, once, and the log says the same."""
    assert [bench.server.earned(person(each)) for each in range(1, people + 1)] == [80] * people
    payments = bench.campaign.payments()
    assert [(each.paid_out, each.owed) for each in payments] == [(Decimal("0.8"), 0)] * people
    assert bench.campaign.status().spent == Decimal("0.8") * people


def test_who_earned_less_than_the_reward_is_paid_the_reward(bench: StudyBench) -> None:
    bench.create(tasks=1, votes=1, places=1)
    bench.recruiter.step()
    bench.take_part(1)
    assert bench.recruiter.step().approved == 1
    assert bench.server.earned(person(1)) == 50
    payment = bench.campaign.payments()[0]
    assert (payment.bonus, payment.paid_out, payment.owed) == (Decimal("0.1"), Decimal("0.5"), 0)
    assert bench.campaign.status().spent == Decimal("0.5")


def test_parts_of_a_cent_stay_owed(bench: StudyBench) -> None:
    submitted(bench, price="0.3333")
    bench.recruiter.step()
    assert bench.server.earned(person(1)) == 66
    assert bench.campaign.payments()[0].owed == Decimal("0.0066")
    before = len(bench.server.batches)
    bench.recruiter.step()
    assert len(bench.server.batches) == before


def test_a_reward_that_the_budget_does_not_have_is_left_to_a_person(bench: StudyBench) -> None:
    bench.create(tasks=1, votes=1, places=1, budget="0.80")
    bench.recruiter.step()
    bench.take_part(1)
    bench.campaign.bonus(person(1), "0.05", "For fun.", by="bo")
    bench.campaign.pay(person(1), "0.45", by="bo")
    report = bench.recruiter.step()
    assert [each.what for each in report.matters] == ["no_money"]
    assert bench.server.submissions[report.matters[0].submission]["status"] == "AWAITING REVIEW"
    bench.campaign.top_up("1")
    assert bench.recruiter.step().approved == 1


def test_killed_between_the_batch_and_its_payment_it_is_paid_once(bench: StudyBench) -> None:
    submitted(bench)
    move = StudyBook.move_batch

    def die(book: StudyBook, before: BonusBatch | None, after: BonusBatch) -> BonusBatch:
        if after.state == "paying":
            raise Killed
        return move(book, before, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StudyBook, "move_batch", die)
        with pytest.raises(Killed):
            bench.recruiter.step()
    assert batch_of(bench).state == "created"
    assert len(bench.server.batches) == 1
    for _ in range(2):
        bench.recruiter.step()
        is_settled(bench)


def test_a_payment_whose_reply_is_lost_is_found_by_prolifics_own_account(
    bench: StudyBench,
) -> None:
    submitted(bench)
    bench.server.set_trap(PAY, loss="after")
    report = bench.recruiter.step()
    assert [each.what for each in report.matters] == ["bonus_unclear"]
    assert not report.settled
    assert batch_of(bench).state == "paying"
    assert bench.recruiter.step().settled
    is_settled(bench)
    assert [each.paid for each in bench.server.batches.values()] == [1]


def test_a_payment_of_which_nothing_is_known_is_never_sent_again(bench: StudyBench) -> None:
    submitted(bench)
    bench.server.set_trap(PAY, loss="before")
    bench.recruiter.step()
    sent = len([each for each in bench.server.requests if each.endswith("/pay/")])
    for _ in range(3):
        report = bench.recruiter.step()
        assert [each.what for each in report.matters] == ["bonus_unclear"]
    assert len([each for each in bench.server.requests if each.endswith("/pay/")]) == sent
    bench.recruiter.settle(paid=False)
    bench.recruiter.step()
    is_settled(bench)
    with pytest.raises(UnknownName):
        bench.recruiter.settle(paid=True)


def test_a_person_may_say_that_bonuses_were_paid(bench: StudyBench) -> None:
    submitted(bench)
    bench.server.set_trap(PAY, loss="before")
    bench.recruiter.step()
    bench.recruiter.settle(paid=True)
    assert bench.recruiter.step().bonuses == Decimal("0.6")
    assert all(each.owed == 0 for each in bench.campaign.payments())


def test_bonuses_that_prolific_refuses_are_tried_again(bench: StudyBench) -> None:
    submitted(bench)
    bench.server.balance = 10
    report = bench.recruiter.step()
    assert [each.what for each in report.matters] == ["bonus_refused"]
    assert "insufficient balance" in report.matters[0].detail
    bench.server.balance = 1000
    assert bench.recruiter.step().matters == ()
    is_settled(bench)


def test_amounts_that_prolific_reads_otherwise_are_not_paid(bench: StudyBench) -> None:
    submitted(bench)
    bench.api.create_bonuses = lambda study, rows: ("b1", 100 * sum(a for _, a in rows))  # type: ignore[method-assign]
    report = bench.recruiter.step()
    assert [each.what for each in report.matters] == ["bonus_refused"]
    assert not any("/pay/" in each for each in bench.server.requests)


def test_a_bonus_that_was_paid_on_prolific_by_hand_is_not_paid_again(bench: StudyBench) -> None:
    submitted(bench)
    first = next(iter(bench.server.submissions))
    bench.server.submissions[first]["bonus_payments"].append(30.0)
    report = bench.recruiter.step()
    assert [(each.what, each.submission) for each in report.matters] == [("bonus_elsewhere", first)]
    assert bench.server.earned(person(1)) == 80
    assert bench.server.earned(person(2)) == 80


def test_more_than_two_hundred_bonuses_are_paid_in_batches(
    bench: StudyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from askwise.running.prolific import bonuses

    monkeypatch.setattr(bonuses, "MOST_BONUSES", 1)
    submitted(bench)
    bench.recruiter.step()
    assert [len(each.rows) for each in bench.server.batches.values()] == [1, 1]
    is_settled(bench)


def test_a_study_whose_creation_got_no_reply_is_made_once(bench: StudyBench) -> None:
    bench.server.set_trap("POST .*/studies/$", loss="after")
    bench.create()
    assert len(bench.server.studies) == 1
    assert bench.study.study in bench.server.studies


def test_a_study_whose_process_was_killed_before_it_was_noted_is_made_once(
    bench: StudyBench,
) -> None:
    def die(*_: object, **__: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StudyBook, "change_study", die)
        with pytest.raises(Killed):
            bench.create()
    assert len(bench.server.studies) == 1
    made = create_study(bench.campaign, offer(reward="0.60"), ADDRESS, bench.api)
    assert [made.study] == list(bench.server.studies)
    assert made.source.base == 500_000, "as it is on Prolific"


class Dying:
    """Calls of which one is the last: nothing comes after it, or not even the call itself."""

    def __init__(self, at: int, after: bool) -> None:
        self.at, self.after, self.calls = at, after, 0

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*given: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.at and not self.after:
                raise Killed
            found = call(*given, **named)
            if self.calls == self.at:
                raise Killed
            return found

        return dying


def until_killed(bench: StudyBench, at: int, after: bool) -> bool:
    """Run until everything is settled or the process is killed; tells whether it was."""
    dying = Dying(at, after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProlificApi, "_send", dying.wrap(ProlificApi._send))
        patch.setattr(type(bench.store), "change", dying.wrap(type(bench.store).change))
        try:
            bench.recruiter.step()
        except Killed:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_request_or_note_everybody_is_paid_once(after: bool) -> None:
    kills = 0
    while True:
        with ProlificServer() as server:
            bench = StudyBench(server)
            submitted(bench)
            if not until_killed(bench, kills + 1, after):
                break
            kills += 1
            # The claim of a process that is gone is taken over.
            _forget_claim(bench.store)
            report = bench.recruiter.step()
            if [each.what for each in report.matters] == ["bonus_unclear"]:
                assert not any(each.paid for each in server.batches.values())
                bench.recruiter.settle(paid=False)
            bench.recruiter.step()
            is_settled(bench)
            assert sum(each.paid for each in server.batches.values()) == 1
    assert kills > 12


def _forget_claim(store: Store) -> None:
    from askwise.store import Change
    from askwise.store.records import RUNS

    for each in store.records(RUNS):
        store.change([Change(RUNS, each.id, each.body, None)])


def test_bonuses_that_were_refused_and_then_paid_by_hand_are_not_paid_again(
    bench: StudyBench,
) -> None:
    submitted(bench)
    bench.server.balance = 10
    assert [each.what for each in bench.recruiter.step().matters] == ["bonus_refused"]
    assert batch_of(bench).state == "created"
    bench.server.balance = 1000
    first = next(iter(bench.server.submissions))
    bench.server.submissions[first]["bonus_payments"].append(30.0)
    report = bench.recruiter.step()
    assert [(each.what, each.submission) for each in report.matters] == [("bonus_elsewhere", first)]
    assert [bench.server.earned(person(each)) for each in (1, 2)] == [80, 80]


def test_nobody_is_in_two_batches_of_one_look(bench: StudyBench) -> None:
    submitted(bench)
    create = bench.api.create_bonuses

    def earn_more(study: str, rows: Any) -> tuple[str, int]:
        if not bench.server.batches:
            bench.campaign.bonus(person(1), "0.20", "For fun.", by="bo")
        return create(study, rows)

    bench.api.create_bonuses = earn_more  # type: ignore[method-assign]
    bench.recruiter.step()
    assert len(bench.server.batches) == 1
    bench.recruiter.step()
    assert [batch.before for batch in StudyBook(bench.store, bench.name).batches()][1] == {
        next(iter(bench.server.submissions)): 300_000
    }
    assert bench.server.earned(person(1)) == 100


def test_a_payment_that_has_to_wait_is_sent_at_the_next_look(bench: StudyBench) -> None:
    submitted(bench)
    bench.server.set_trap(PAY, status=429, headers={"Retry-After": "40"})
    report = bench.recruiter.step()
    assert ([each.what for each in report.matters], report.bonuses) == (["bonus_refused"], 0)
    assert batch_of(bench).state == "created"
    bench.recruiter.step()
    is_settled(bench)


def test_who_has_lost_the_claim_pays_nobody(bench: StudyBench) -> None:
    submitted(bench)
    slow = bench.recruiter
    slow.claim.expiry = 0.0
    with pytest.raises(Conflict) as error:
        slow.step()
    assert error.value.reason == "already_running"
    assert not any(each.paid for each in bench.server.batches.values())


def test_a_single_look_renews_its_claim(bench: StudyBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recruiting, "RENEWAL", 0.001)
    bench.create()
    looking = bench.recruiter
    renewed = threading.Event()
    monkeypatch.setattr(looking.claim, "renew", renewed.set)
    study = bench.api.study

    def wait_for_renewal(id: str) -> dict[str, Any]:
        assert renewed.wait(30)
        return study(id)

    bench.api.study = wait_for_renewal  # type: ignore[method-assign]
    looking.step()


def test_bonuses_that_the_log_does_not_owe_any_more_are_named_and_the_run_goes_on(
    bench: StudyBench,
) -> None:
    submitted(bench)
    bench.server.set_trap(PAY, loss="before")
    bench.recruiter.step()
    bench.campaign.pay(person(1), "0.20", by="bo")
    bench.recruiter.settle(paid=True)
    report = bench.recruiter.step()
    assert [(each.what, each.worker) for each in report.matters] == [("overpaid", person(1))]
    assert [each.owed for each in bench.campaign.payments()] == [0, 0]
    assert bench.recruiter.step().matters == ()


def test_a_reward_that_the_log_does_not_owe_any_more_is_named_and_the_run_goes_on(
    bench: StudyBench,
) -> None:
    submitted(bench, price="0")
    bench.server.set_trap("POST .*/submissions/.*/transition/", status=400)
    bench.recruiter.step()
    first = next(iter(bench.server.submissions))
    bench.server.end(first, "APPROVED")
    bench.campaign.pay(person(1), "0.50", by="bo")
    report = bench.recruiter.step()
    assert [(each.what, each.submission) for each in report.matters] == [("overpaid", first)]
    assert bench.recruiter.step().matters == ()
    assert bench.server.earned(person(1)) == 50
