"""Changed answers in the store: retries, other processes, snapshots, archives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from askwise.campaign import archiving, cached, loading, writer
from askwise.campaign.checking import LogCheck
from askwise.campaign.loading import Loader
from askwise.campaign.views import Timeline
from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore, SqliteStore, Store
from askwise.testing.sessions import spec_of_campaign
from tests.campaign.revising.changed import CATS, made, said, told


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

    def refold(loader: Loader, *given: Any, **named: Any) -> Any:
        free.append(not campaign.busy)
        return plain(loader, *given, **named)

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
