"""What verbs do to each other: changed answers and gold questions, removals, money, archives."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwise import Assignment, Campaign, Wait, Worker
from askwise.campaign.archiving import archive, bring_back
from askwise.campaign.forgetting import delete, forget_worker
from askwise.core.errors import Conflict
from askwise.core.events import Kind
from askwise.service.exports import EXPORTS, export
from askwise.store import MemoryStore, SqliteStore, Store
from tests.campaign.screened import (
    GOLD,
    TASKS,
    create,
    of_kind,
    run,
    truth_of,
    verdicts,
    wrong_about,
)

QUALIFY = {"qualify": 5, "pass_share": 0.6, "rate": 0.0, "warn_below": None, "pause_below": None}


def answer_all(campaign: Campaign, worker: str = "ann", right: bool = True) -> list[Assignment]:
    """Answer the questions to qualify."""
    says = truth_of if right else wrong_about
    asked = list(campaign.ask(5, [worker]))
    for each in asked:
        campaign.tell(each.id, says(each.task or ""))
    return asked


def test_an_answer_that_is_restored_completes_the_questions_to_qualify() -> None:
    campaign = create(GOLD[:5], screening=QUALIFY)
    asked = list(campaign.ask(5, ["ann"]))
    for each in asked[:4]:
        campaign.tell(each.id, truth_of(each.task or ""))
    campaign.withdraw(asked[0].id, "a slip")
    campaign.tell(asked[4].id, truth_of(asked[4].task or ""))
    assert campaign.ask(1, ["ann"]) == Wait("truth")
    campaign.revise(asked[0].id, truth_of(asked[0].task or ""))
    assert verdicts(campaign) == [("QUALIFIED", "ann")]
    assert campaign.ask(1, ["ann"])


def test_a_changed_answer_to_a_gold_question_counts_as_changed() -> None:
    terms = {**QUALIFY, "qualify": 0, "rate": 0.5, "pause_below": 0.7}
    campaign = create(GOLD, screening=terms)
    run(campaign, workers=["ann"])
    assert not verdicts(campaign)
    for event in of_kind(campaign, Kind.ANSWER):
        campaign.revise(f"cats:{event.assignment}", wrong_about(event.task or ""))
    assert verdicts(campaign) == [("SUSPENDED", "ann")]
    assert not campaign.ask(1, ["ann"])


def test_a_verdict_stays_on_record_when_its_answers_are_changed() -> None:
    campaign = create(screening=QUALIFY)
    good, bad = answer_all(campaign), answer_all(campaign, "bob", right=False)
    for each in good:
        campaign.withdraw(each.id, "cheated")
    for each in bad:
        campaign.revise(each.id, truth_of(each.task or ""))
    ann, bob = campaign.workers()
    assert ann.standing is not None
    assert bob.standing is not None
    assert (ann.standing.state, bob.standing.state) == ("good", "suspended")
    assert campaign.ask(1, ["ann"])
    campaign.reinstate("bob", by="eve", why="Their answers were mended.")
    assert campaign.ask(1, ["bob"])


def test_no_gold_question_is_about_a_task_that_was_removed() -> None:
    campaign = create(GOLD[:6], screening=QUALIFY)
    for task in GOLD[:3]:
        campaign.remove(task)
    asked = campaign.ask(5, ["ann"])
    assert {each.task for each in asked} == set(GOLD[3:6])
    assert not {answer.task for answer in campaign.answers()} & set(GOLD[:3])


def test_a_closed_task_that_is_removed_is_in_no_answers_that_were_read_before() -> None:
    campaign = create(GOLD[:6], screening=QUALIFY)
    assert len(campaign.answers()) == 36
    campaign.remove(GOLD[0])
    campaign.close(TASKS[0])
    assert len(campaign.answers()) == 35
    campaign.remove(TASKS[0])
    assert len(campaign.answers()) == 34
    assert campaign.results().tasks == 34


def free_campaign(**more: Any) -> Campaign:
    raw: dict[str, Any] = {"workers": [Worker("ann", 0)], "tasks": ["t1", "t2"], "name": "cats"}
    raw |= {"options": ["no", "yes"], "policy": "random-pairs", "budget": 5, "seed": 1}
    return Campaign.create(**{**raw, **more})


def test_a_task_with_an_answer_that_was_withdrawn_is_not_removed() -> None:
    campaign = free_campaign()
    (asked,) = campaign.ask()
    campaign.tell(asked.id, "yes")
    campaign.withdraw(asked.id, "a slip")
    with pytest.raises(Conflict) as error:
        campaign.remove(asked.task or "")
    assert error.value.reason == "task_answered"
    campaign.revise(asked.id, "no")
    assert campaign.status().answers == 1


@pytest.mark.parametrize("what", ["withdrawn", "bonus"])
def test_a_campaign_with_withdrawn_answers_or_a_bonus_is_not_deleted(what: str) -> None:
    store = MemoryStore()
    campaign = free_campaign(store=store)
    if what == "bonus":
        campaign.bonus("ann", "0.5", why="welcome", by="eve")
    else:
        (asked,) = campaign.ask()
        campaign.tell(asked.id, "yes")
        campaign.withdraw(asked.id, "a slip")
    with pytest.raises(Conflict) as error:
        delete(store, "cats")
    assert error.value.reason == "campaign_answered"


def test_the_pace_of_a_worker_who_is_forgotten_goes_on_under_the_new_name() -> None:
    store, now = MemoryStore(), [1000.0]
    tasks = [f"t{at}" for at in range(9)]
    campaign = free_campaign(tasks=tasks, store=store, clock=lambda: now[0])
    for _ in range(6):
        (asked,) = campaign.ask()
        now[0] += 7
        campaign.tell(asked.id, "yes")
    assert campaign.paces().seconds("ann") == 7
    forget_worker(store, "cats", "ann", 2000.0, "w1")
    assert campaign.paces().seconds("w1") == 7
    assert campaign.paces().seconds("ann") is None


def lived(store: Store) -> Campaign:
    """A screened campaign in which ann was named in every kind of event, and is owed nothing."""
    campaign = create(GOLD[:8], screening={**QUALIFY, "rate": 0.3}, store=store)
    first = answer_all(campaign)
    answer_all(campaign, "bob", right=False)
    run(campaign, workers=["ann"], most=6)
    campaign.revise(first[0].id, "yes", by="ann", rationale="ann erred")
    campaign.withdraw(first[1].id, "ann was asked by mistake", by="ann")
    flagged = campaign.ask(1, ["ann"])[0]
    campaign.flag(flagged.id, "ann can't read it")
    campaign.fail(campaign.ask(1, ["ann"])[0].id, "timed_out", reference="ann/1")
    campaign.bonus("ann", "0.2", why="Thanks, ann.", by="eve")
    campaign.pay("ann", "0.3", by="ann", reference="Bank, ann")
    campaign.suspend("ann", by="ann", why="ann is away")
    campaign.reinstate("ann", by="ann", why="ann is back")
    campaign.set_label(TASKS[0], "no", by="ann", why="ann knows")
    campaign.comment(TASKS[0], "ann says so", by="ann")
    campaign.remove(TASKS[1])
    return campaign


def test_somebody_who_was_paid_judged_and_changed_is_forgotten_everywhere(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        campaign, other = lived(store), Campaign.open(store, "cats")
        before = other.results(), other.agreement(), other.answers()
        payments = [replace(each, worker="") for each in other.payments()]
        with campaign.reading() as state:
            campaign._writer._save(state.seq, state.version, state.freeze())
        forget_worker(store, "cats", "ann", 5.0, "w1")
        for each in (campaign, other, Campaign.open(store, "cats")):
            assert (each.results(), each.agreement()) == before[:2]
            assert [replace(one, worker="") for one in each.payments()] == payments
            assert [one.worker for one in each.payouts()] == ["w1"]
            assert each.bonuses("w1")[0].why == "Thanks, w1."
            assert [one.id for one in each.workers()] == ["w1", "bob"]
            for what in EXPORTS:
                written = b"".join(export(each, what))
                assert not re.search(rb"\bann\b", written), what
        for file in tmp_path.iterdir():
            assert not re.search(rb"\bann\b", file.read_bytes()), file


def test_every_kind_of_event_goes_to_a_file_and_back(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        campaign = lived(store)
        forget_worker(store, "cats", "ann", 5.0, "w1")
        campaign.retitle("Cats")
        campaign.archive()
        log, answers, due = campaign.log(), campaign.answers(), campaign.payments()
        archive(store, "cats", tmp_path, 6.0)
        bring_back(store, tmp_path / "cats.parquet")
        back = Campaign.open(store, "cats")
        assert (back.log(), back.answers(), back.payments()) == (log, answers, due)
        back.unarchive()
        back.pay_all(by="eve")


REFUSED: dict[str, Callable[[Campaign], object]] = {
    "pay": lambda each: each.pay("ann", by="eve"),
    "pay_all": lambda each: each.pay_all(by="eve"),
    "bonus": lambda each: each.bonus("ann", 1, why="thanks", by="eve"),
    "revise": lambda each: each.revise(_answered(each), "yes"),
    "withdraw": lambda each: each.withdraw(_answered(each), "a slip"),
    "suspend": lambda each: each.suspend("ann", by="eve"),
    "truths": lambda each: each.truths({TASKS[2]: "yes"}),
    "set_label": lambda each: each.set_label(TASKS[2], "yes", by="eve"),
    "comment": lambda each: each.comment(TASKS[2], "hm", by="eve"),
    "add": lambda each: each.add(tasks=["new"]),
    "leave": lambda each: each.leave("ann"),
    "top_up": lambda each: each.top_up(1),
    "pause": lambda each: each.pause(),
    "stop": lambda each: each.stop(),
    "close": lambda each: each.close(TASKS[2]),
    "remove": lambda each: each.remove(TASKS[2]),
    "retitle": lambda each: each.retitle("Dogs"),
    "archive": lambda each: each.archive(),
}


def _answered(campaign: Campaign) -> str:
    """The last assignment that was answered with no, and not changed since."""
    events = reversed(of_kind(campaign, Kind.ANSWER))
    return next(f"cats:{each.assignment}" for each in events if each.value == "no")


def test_an_archived_campaign_refuses_every_verb_and_says_what_to_do() -> None:
    campaign = lived(MemoryStore())
    campaign.archive()
    end = campaign.log()[-1].seq
    for verb, call in REFUSED.items():
        with pytest.raises(Conflict, match="unarchive it before you change it") as error:
            call(campaign)
        assert error.value.reason == "campaign_archived", verb
    assert campaign.log()[-1].seq == end
    campaign.unarchive()
    assert campaign.pay_all(by="eve")
