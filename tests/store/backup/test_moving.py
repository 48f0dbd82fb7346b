"""A store in a file and back: whole, on any store, while others write."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, MemoryStore, Portable, Reply, Snapshot, open_store
from askwise.store.backup.file import Counts, backup, restore
from askwise.testing.sessions import comparable
from askwise.testing.stores import sample_events
from tests.campaign.runner import create, run, value_of
from tests.processes import let_go, start, wait_until_ready
from tests.store.backup.content import (
    CAMPAIGNS,
    KINDS_OF_STORE,
    RECORDS,
    MakeUrl,
    content,
    copy,
    fill,
)


@pytest.mark.parametrize("target", KINDS_OF_STORE)
@pytest.mark.parametrize("source", KINDS_OF_STORE)
def test_a_backup_moves_between_all_stores(source: str, target: str, fresh: MakeUrl) -> None:
    file = BytesIO()
    with closing(open_store(fresh(source))) as store:
        store.create("ä 猫", spec='{"a": "\1\ufdd0"}', time=0.1 + 0.2)
        store.create("empty", spec="{}", time=-1e-300)
        events = sample_events()
        with store.write("ä 猫") as transaction:
            transaction.append(events, 0)
            transaction.keep(Reply("k\1", "request\ufdd0", "naïve \1"))
        store.save("ä 猫", Snapshot(3, "v", b"blob"))
        store.change([Change("key", "a\2", None, "{}"), Change("hook", "猫\1", None, "\ufdd00")])
        found = content(store)
        assert backup(store, file, 1.5) == Counts(2, len(events), 1, 2)
    with closing(open_store(fresh(target))) as store:
        assert restore(store, file) == Counts(2, len(events), 1, 2)
        assert content(store) == found
        assert store.snapshot("ä 猫", "v") is None
        again = BytesIO()
        backup(store, again, 1.5)
        assert gzip.decompress(again.getvalue()) == gzip.decompress(file.getvalue())


@given(campaigns=CAMPAIGNS, records=RECORDS)
@settings(max_examples=settings.default.max_examples // 2)
def test_whatever_is_in_a_store_comes_back(
    campaigns: dict[str, Any], records: dict[tuple[str, str], Any]
) -> None:
    source, target = MemoryStore(), MemoryStore()
    fill(source, campaigns, records)
    if not campaigns and not records:
        with pytest.raises(StoreError, match="nothing in the store"):
            copy(source, target)
        return
    counts = copy(source, target)
    assert counts.campaigns == len(campaigns)
    assert counts.records == len(records)
    assert content(target) == content(source)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_whatever_is_in_a_store_moves_to_a_database_and_back(kind: str, fresh: MakeUrl) -> None:
    @given(campaigns=CAMPAIGNS, records=RECORDS)
    @settings(max_examples=settings.default.max_examples // 6)
    def round_trip(campaigns: dict[str, Any], records: dict[tuple[str, str], Any]) -> None:
        source, back = MemoryStore(), MemoryStore()
        fill(source, {**campaigns, "one": (0.0, "", [], {})}, records)
        with closing(open_store(fresh(kind))) as between:
            copy(source, between)
            assert content(between) == content(source)
            copy(between, back)
        assert content(back) == content(source)

    round_trip()


def check_whole(store: Portable) -> list[Event]:
    """The log, if every write in it is there with its reply, and no other reply."""
    log = store.read("cats")
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    keys = []
    for key, events in groupby(log, key=lambda event: event.key):
        assert [event.kind for event in events] == [Kind.DECIDED, Kind.ASKED, Kind.ANSWER]
        keys.append(key)
    with store.contents() as items:
        assert [each.key for each in items if isinstance(each, Reply)] == sorted(keys)
    return log


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_beside_writers_is_a_moment_of_the_store(kind: str, fresh: MakeUrl) -> None:
    url = fresh(kind)
    writers = [start("tests.store.writer", url, worker, 40) for worker in "ab"]
    for writer in writers:
        wait_until_ready(writer)
    for writer in writers:
        let_go(writer)
    copies = []
    with closing(open_store(url)) as store:
        while any(writer.poll() is None for writer in writers):
            file = BytesIO()
            backup(store, file, 0.0)
            copies.append(file)
        for writer in writers:
            assert len(writer.communicate(timeout=60)[0].split()) == 40
        log = check_whole(store)
    assert len(log) == 240
    lengths = set()
    for file in copies:
        target = MemoryStore()
        restore(target, file)
        found = check_whole(target)
        assert found == log[: len(found)]
        lengths.add(len(found))
    assert len(lengths) > 2


def test_a_backup_beside_threads_is_a_moment_of_the_memory_store() -> None:
    store = MemoryStore()
    store.create("cats", "{}", 0.0)

    def write() -> None:
        for number in range(0, 900, 3):
            kinds = (Kind.DECIDED, Kind.ASKED, Kind.ANSWER)
            with store.write("cats") as transaction:
                events = [
                    Event(each, seq=number + at, key=str(number))
                    for at, each in enumerate(kinds, 1)
                ]
                transaction.append(events, number)
                transaction.keep(Reply(str(number), "", ""))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            target = MemoryStore()
            copy(store, target)
            check_whole(target)
        writing.result()


def steps(campaign: Campaign, number: int) -> None:
    """Ask and tell a few times, and leave one assignment out."""
    for _ in range(number):
        choice = campaign.ask(limit=1)
        assert isinstance(choice, Batch)
        for each in choice:
            campaign.tell(each.id, value_of(each.id), key=f"tell {each.id}")
    campaign.ask(limit=1, key="the last")


@pytest.fixture
def uninterrupted() -> list[Event]:
    """The log of a campaign that nothing happens to."""
    campaign = create("memory")
    steps(campaign, 12)
    run(campaign, alone=True)
    return campaign.log()


@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_a_restored_campaign_goes_on_as_if_nothing_had_happened(
    source: str, target: str, fresh: MakeUrl, uninterrupted: list[Event]
) -> None:
    file = BytesIO()
    first = create(fresh(source))
    steps(first, 12)
    status, last = first.status(), first.ask(limit=1, key="the last")
    with closing(first._writer.store) as store:
        backup(store, file, 0.0)
    with closing(open_store(fresh(target))) as store:
        restore(store, file)
        campaign = Campaign.open(store, "cats")
        assert campaign.status() == status
        # A retry with a key gets the first reply, here as there.
        assert campaign.ask(limit=1, key="the last") == last
        run(campaign, alone=True)
        assert comparable(campaign.log()) == comparable(uninterrupted)
