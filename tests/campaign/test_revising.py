"""Answers that are changed or taken back after they were given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign import archiving, cached, loading, writer
from askwise.campaign.checking import LogCheck
from askwise.campaign.loading import Loader
from askwise.campaign.views import Timeline
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, StoreError, UnknownName
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore, SqliteStore, Store
from askwise.testing.sessions import spec_of_campaign
from tests.campaign import certified

CATS: dict[str, Any] = {
    "name": "cats",
    "workers": [Worker("ann", 1), Worker("bob", 1), Worker("cyd", 1)],
    "tasks": ["t1", "t2"],
    "options": ["cat", "dog"],
    "budget": 10,
    "policy": "random-pairs",
    "seed": 3,
}


def made(**changes: Any) -> Campaign:
    return Campaign.create(**{**CATS, **changes})


def asked(campaign: Campaign) -> dict[tuple[str | None, str], str]:
    """Hand everything out; the assignments by task and worker."""
    batch = campaign.ask(limit=9)
    assert isinstance(batch, Batch)
    return {(each.task, each.worker): each.id for each in batch}


def told(campaign: Campaign, task: str, **values: str) -> dict[str, str]:
    """Answers of workers to a task, in this order; their assignments."""
    ids = {who: id for (about, who), id in asked(campaign).items() if about == task}
    for worker, value in values.items():
        campaign.tell(ids[worker], value)
    return ids


def said(campaign: Campaign, task: str = "t1") -> tuple[Any, ...]:
    found = next(each for each in campaign.answers() if each.task == task)
    return found.value, found.confidence, found.count, found.outcome


def kinds(campaign: Campaign, after: int) -> list[str]:
    return [event.kind.name for event in campaign.log(after)]


def test_a_changed_answer_counts_as_if_it_had_been_given_so() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="cat", cyd="dog")
    assert said(campaign) == ("cat", pytest.approx(2 / 3), 3, "open")
    before = campaign.status()
    campaign.revise(ids["ann"], "dog", rationale="It barks.", reference="a-7", by="eve")
    assert said(campaign) == ("dog", pytest.approx(2 / 3), 3, "open")
    now = campaign.status()
    assert (now.spent, now.reserved, now.answers) == (before.spent, before.reserved, 3)
    found = campaign.assignment(ids["ann"])
    assert (found.state, found.value, found.cost, found.revised) == ("answered", "dog", 1, 1)
    *_, given, event = campaign.log()
    assert event.to_json() | {"time": 0} == {
        "kind": "REVISED",
        "seq": given.seq + 1,
        "time": 0,
        "assignment": int(ids["ann"].rpartition(":")[2]),
        "task": "t1",
        "worker": "ann",
        "value": "dog",
        "rationale": "It barks.",
        "reference": "a-7",
        "by": "eve",
    }


def test_the_last_change_counts() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    for value in ("dog", "cat", "dog"):
        campaign.revise(ids["ann"], value)
        assert said(campaign)[0] == value
    assert campaign.assignment(ids["ann"]).revised == 3


def test_the_same_again_changes_nothing_and_is_not_logged() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    before = campaign.log()
    campaign.revise(ids["ann"], "cat")
    assert campaign.log() == before
    campaign.revise(ids["ann"], "cat", rationale="It purrs.")
    assert kinds(campaign, len(before)) == ["REVISED"]
    assert said(campaign) == ("cat", 1.0, 1, "open")


def test_a_withdrawn_answer_is_paid_and_has_no_vote() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="dog", cyd="dog")
    campaign.withdraw(ids["bob"], "It was deleted.", by="eve")
    assert said(campaign)[1:] == (0.5, 2, "open")
    status = campaign.status()
    assert (status.answers, status.spent, status.failures) == (2, 3, 1)
    found = campaign.assignment(ids["bob"])
    assert (found.state, found.value, found.cost, found.revised) == ("withdrawn", None, 1, 1)
    (bob,) = (each for each in campaign.payments() if each.worker == "bob")
    assert (bob.paid, bob.answers, bob.failures) == (1, 0, 1)
    before = campaign.log()
    campaign.withdraw(ids["bob"], "Once more.")
    assert campaign.log() == before
    with pytest.raises(InvalidAnswer, match="was withdrawn") as caught:
        campaign.tell(ids["bob"], "cat")
    assert caught.value.reason == "assignment_withdrawn"
    offered = campaign.ask(limit=9, workers=["bob"])
    assert "t1" not in {each.task for each in offered}


def test_a_withdrawn_answer_that_is_revised_counts_again() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="dog")
    campaign.withdraw(ids["bob"], "It was deleted.")
    campaign.revise(ids["bob"], "cat")
    assert said(campaign) == ("cat", 1.0, 2, "open")
    assert campaign.status().failures == 0
    assert campaign.assignment(ids["bob"]).revised == 2


def test_utilities_are_changed_too_and_nothing_is_a_value() -> None:
    campaign = made(tasks=None, options=None, outcome="utility", policy="uniform")
    batch = campaign.ask(limit=2)
    campaign.tell(batch[0].id, 0.75)
    campaign.tell(batch[1].id, 0.5)
    campaign.revise(batch[0].id, 0)
    assert campaign.status().utility == 0.5
    assert campaign.assignment(batch[0].id).value == 0.0
    campaign.withdraw(batch[1].id, "Not done.")
    assert (campaign.status().utility, campaign.status().spent) == (0.0, 2)


# Tasks that are closed.


def test_a_change_may_close_a_task() -> None:
    campaign = made(stopping={"name": "lead", "lead": 2})
    ids = told(campaign, "t1", ann="cat", bob="dog")
    before = len(campaign.log())
    campaign.revise(ids["ann"], "dog")
    assert kinds(campaign, before) == ["REVISED", "CLOSED"]
    assert said(campaign)[0::3] == ("dog", "confident")


def test_a_closed_task_is_judged_anew_and_stays_closed() -> None:
    campaign = made(stopping={"name": "lead", "lead": 2})
    ids = told(campaign, "t1", ann="cat", bob="cat")
    assert said(campaign)[0::3] == ("cat", "confident")
    before = len(campaign.log())
    campaign.revise(ids["bob"], "dog")
    assert kinds(campaign, before) == ["REVISED", "CLOSED"]
    assert said(campaign)[3] == "low_confidence"
    campaign.revise(ids["ann"], "dog")
    assert said(campaign)[0::3] == ("dog", "confident")
    campaign.revise(ids["ann"], "dog", rationale="Sure.")
    assert kinds(campaign, before + 4) == ["REVISED"], "the verdict is what it was"
    assert "t1" not in {each.task for each in campaign.ask(limit=9)}


def test_a_task_that_was_closed_by_hand_gets_the_answer_of_the_votes() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="cat", cyd="dog")
    campaign.close("t1")
    campaign.revise(ids["ann"], "dog")
    assert said(campaign) == ("dog", pytest.approx(2 / 3), 3, "closed")
    for worker in ids:
        campaign.withdraw(ids[worker], "All wrong.")
    assert said(campaign)[0::2] == (None, 0)


def test_a_label_that_was_set_by_hand_stays() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    campaign.set_label("t1", "cat", by="eve")
    campaign.revise(ids["ann"], "dog")
    assert said(campaign)[0::3] == ("cat", "labelled")


# What is refused.


def out(campaign: Campaign) -> str:
    return next(iter(asked(campaign).values()))


def answered(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.tell(id, "cat")
    return id


def declined(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.decline(id)
    return id


def expired(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.expire(id)
    return id


def failed(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.fail(id, "refused")
    return id


def stopped(campaign: Campaign) -> str:
    id = answered(campaign)
    campaign.stop()
    return id


REFUSED: list[tuple[Callable[[Campaign], str], Any, type[AskwiseError], str, str]] = [
    (out, "dog", Conflict, "not_answered", "assignment"),
    (declined, "dog", Conflict, "assignment_declined", "assignment"),
    (expired, "dog", Conflict, "assignment_expired", "assignment"),
    (failed, "dog", Conflict, "assignment_failed", "assignment"),
    (stopped, "dog", Conflict, "campaign_stopped", "state"),
    (lambda _: "cats:999", "dog", UnknownName, "unknown_assignment", "assignment"),
    (lambda _: "dogs:1", "dog", UnknownName, "unknown_assignment", "assignment"),
    (answered, "bird", InvalidAnswer, "invalid_value", "value"),
    (answered, 1, InvalidAnswer, "invalid_value", "value"),
    (answered, None, InvalidAnswer, "invalid_value", "value"),
]


@pytest.mark.parametrize(("prepare", "value", "error", "reason", "field"), REFUSED)
def test_what_can_not_be_changed_is_refused_with_the_reason(
    prepare: Callable[[Campaign], str],
    value: Any,
    error: type[AskwiseError],
    reason: str,
    field: str,
) -> None:
    campaign = made()
    id = prepare(campaign)
    before = campaign.log()
    with pytest.raises(error) as caught:
        campaign.revise(id, value)
    assert (caught.value.reason, caught.value.field) == (reason, field)
    if field != "value":
        with pytest.raises(error) as caught:
            campaign.withdraw(id, "It was deleted.")
        assert (caught.value.reason, caught.value.field) == (reason, field)
    assert campaign.log() == before


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"probabilities": {"bird": 1.0}}, "probabilities"),
        ({"rationale": "x" * 10_001}, "rationale"),
        ({"reference": 7}, "reference"),
        ({"by": " "}, "by"),
        ({"key": ""}, "key"),
    ],
)
def test_what_is_said_beside_the_value_is_checked(given: dict[str, Any], field: str) -> None:
    campaign = made()
    with pytest.raises(AskwiseError) as caught:
        campaign.revise(answered(campaign), "dog", **given)
    assert caught.value.field == field


@pytest.mark.parametrize("why", ["", "  ", "x" * 2001, None])
def test_a_reason_to_withdraw_says_something(why: Any) -> None:
    campaign = made()
    with pytest.raises(InvalidAnswer) as caught:
        campaign.withdraw(answered(campaign), why)
    assert caught.value.field == "why"


def test_where_workers_bid_answers_stay() -> None:
    campaign = made(
        budget=None,
        policy={"name": "ccb-fixed", "qualities": [0.8] * 3, "alpha": 0.3, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 2},
    )
    batch = campaign.ask()
    campaign.tell(batch[0].id, "cat")
    with pytest.raises(Conflict, match="what they are paid follows from answers") as caught:
        campaign.revise(batch[0].id, "dog")
    assert caught.value.reason == "workers_bid"


def test_after_the_draw_for_audits_labels_and_truths_stay() -> None:
    campaign = certified.create()
    while not campaign.log() or campaign.log()[-1].note != "audit":
        batch = campaign.ask()
        for each in batch:
            if each.worker == "vet":
                audit = each.id
            else:
                judged = each.id
            campaign.tell(each.id, certified.said_by(each.worker, each.task or ""))
        if batch[0].worker == "vet":
            break
    for id, reason in ((judged, "label_frozen"), (audit, "answer_is_truth")):
        with pytest.raises(Conflict, match="set_label sets another label") as caught:
            campaign.revise(id, "no")
        assert caught.value.reason == reason


# Retries, processes, crashes.


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "file.sqlite")


def test_a_retry_changes_nothing_also_after_another_change(store: Store) -> None:
    campaign = made(store=store)
    ids = told(campaign, "t1", ann="cat")
    campaign.revise(ids["ann"], "dog", key="one")
    campaign.revise(ids["ann"], "cat", key="two")
    campaign.withdraw(ids["ann"], "Gone.", key="three")
    before = campaign.log()
    campaign.revise(ids["ann"], "dog", key="one")
    campaign.withdraw(ids["ann"], "Gone.", key="three")
    campaign.stop()
    campaign.revise(ids["ann"], "cat", key="two")
    assert campaign.log()[: len(before)] == before
    assert len(campaign.log()) == len(before) + 1
    with pytest.raises(Conflict) as caught:
        campaign.revise(ids["ann"], "cat", key="one")
    assert caught.value.reason == "key_reused"


def test_another_process_sees_the_change_when_it_reads_and_when_it_writes(store: Store) -> None:
    mine = made(store=store)
    ids = told(mine, "t1", ann="cat", bob="cat")
    theirs = Campaign.open(store, "cats")
    assert said(theirs)[0] == "cat"
    mine.revise(ids["ann"], "dog")
    mine.revise(ids["bob"], "dog")
    assert said(theirs)[0] == "dog", "it reads"
    mine.withdraw(ids["ann"], "Gone.")
    theirs.tell(ids["cyd"], "cat")  # it writes, and has to fold the change first
    assert said(theirs) == said(mine) == said(Campaign.open(store, "cats"))
    assert said(mine)[1:3] == (0.5, 2)
    theirs.revise(ids["cyd"], "dog")
    theirs.pause()
    mine.revise(ids["ann"], "dog")  # prepared on a log that it has not read yet
    assert said(mine) == said(theirs) == ("dog", 1.0, 3, "open")


def test_a_change_is_folded_before_the_lock_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    free: list[bool] = []
    plain = Loader.refold

    def refold(loader: Loader, *given: Any) -> Any:
        free.append(not campaign.busy)
        return plain(loader, *given)

    monkeypatch.setattr(Loader, "refold", refold)
    campaign.revise(ids["ann"], "dog")
    assert free == [True]
    campaign.revise(ids["ann"], "dog")
    assert free == [True], "nothing changes, so nothing is folded"


def test_what_others_change_while_it_is_folded_is_minded(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    mine = made(store=store)
    ids = told(mine, "t1", ann="cat", bob="cat", cyd="cat")
    theirs = Campaign.open(store, "cats")
    plain = writer.Writer.prepare

    def prepare(self: writer.Writer, change: Event) -> Any:
        found = plain(self, change)
        if self is mine._writer:
            theirs.revise(ids["bob"], "dog")
        return found

    monkeypatch.setattr(writer.Writer, "prepare", prepare)
    mine.revise(ids["ann"], "dog")
    assert said(mine) == said(Campaign.open(store, "cats"))
    assert said(mine)[0:2] == ("dog", pytest.approx(2 / 3))


def test_many_who_change_answers_at_once_lose_nothing(store: Store) -> None:
    campaign = made(store=store, tasks=[f"t{at}" for at in range(8)], budget=None)
    ids = [each.id for each in campaign.ask(limit=24)]
    for id in ids:
        campaign.tell(id, "cat")

    def change(number: int) -> None:
        for id in ids[number::4]:
            campaign.revise(id, "dog")
        campaign.withdraw(ids[number], "Gone.")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))
    assert [campaign.assignment(id).value for id in ids] == [None] * 4 + ["dog"] * 20
    again = Campaign.open(store, "cats")
    assert again.answers() == campaign.answers()
    assert again.status().answers == 20


def test_a_commit_that_fails_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    campaign = made(store=store)
    ids = told(campaign, "t1", ann="cat")
    before = said(campaign)

    def fail(*_: Any) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(MemoryStore, "append", fail)
        with pytest.raises(StoreError):
            campaign.revise(ids["ann"], "dog")
    assert said(campaign) == before
    campaign.revise(ids["ann"], "dog")
    assert said(campaign)[0] == "dog"


def test_after_an_early_answer_was_changed_a_snapshot_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached, "FIRST_SNAPSHOT", 20)
    store = MemoryStore()
    campaign = made(store=store, tasks=[f"t{at}" for at in range(12)], budget=None)
    first = ""
    while batch := campaign.ask():
        campaign.tell(batch[0].id, "cat")
        first = first or batch[0].id
    campaign.revise(first, "dog")
    end = campaign.log()[-1].seq
    loader = Loader(store, "cats", spec_of_campaign(campaign))
    assert loader.load().saved == end
    assert loader.load(end - 1).state.ledger.changes == {}
    assert Campaign.open(store, "cats").answers() == campaign.answers()


def test_what_is_changed_next_is_folded_from_a_copy_of_the_last_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "APART", 10)
    store = MemoryStore()
    campaign = made(store=store, tasks=[f"t{at}" for at in range(40)], budget=None)
    ids: list[str] = []

    def answer(count: int) -> None:
        for _ in range(count):
            batch = campaign.ask()
            campaign.tell(batch[0].id, "cat")
            ids.append(batch[0].id)

    loader = campaign._writer.loader
    answer(10)
    assert not loader.checkpoints, "nothing was changed, so nothing is kept"
    campaign.revise(ids[0], "dog")
    answer(20)
    assert len(loader.checkpoints) == 2
    last = Event(Kind.REVISED, seq=2**62, assignment=int(ids[-1][5:]), value="dog")
    assert len(campaign.log()) - loader.refold([last]).saved <= 20
    for id in (ids[-1], ids[5], ids[-1]):
        campaign.revise(id, "dog" if campaign.assignment(id).value == "cat" else "cat")
        assert campaign.answers() == Campaign.open(store, "cats").answers()


# Logs that are read elsewhere.


def test_a_timeline_counts_what_was_not_withdrawn() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="dog")
    campaign.withdraw(ids["ann"], "Gone.")
    timeline = Timeline(spec_of_campaign(campaign).problem)
    timeline.take(campaign.log())
    assert (timeline.answers, timeline.spent) == (1, 2_000_000)
    assert timeline.series().answers.tolist()[-3:] == [1, 2, 1]
    campaign.revise(ids["ann"], "dog")
    timeline.take(campaign.log())
    assert timeline.answers == 2


def test_a_campaign_with_changes_is_archived_and_comes_back(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    store = SqliteStore(tmp_path / "file.sqlite")
    campaign = made(store=store)
    ids = told(campaign, "t1", ann="cat", bob="cat")
    campaign.revise(ids["ann"], "dog")
    campaign.withdraw(ids["bob"], "Gone.")
    for each in campaign.assignments():
        campaign.expire(each.id)
    campaign.stop()
    before = campaign.answers()
    archiving.archive(store, "cats", tmp_path, 0.0)
    archiving.bring_back(store, tmp_path / "cats.parquet")
    assert Campaign.open(store, "cats").answers() == before


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Event(Kind.REVISED, assignment=2, value="dog"), "is out, not answered"),
        (Event(Kind.WITHDRAWN, assignment=9, why="Gone."), "there is no assignment 9"),
        (Event(Kind.REVISED, assignment=4, value="bird"), "not in"),
    ],
)
def test_a_change_that_does_not_follow_is_found(event: Event, why: str) -> None:
    campaign = made(workers=CATS["workers"][:1])
    campaign.ask(limit=2)
    campaign.tell("cats:4", "cat")
    check = LogCheck(spec_of_campaign(campaign))
    for each in campaign.log():
        check.take(each)
    with pytest.raises(ValueError, match=why):
        check.take(event)
