"""Logs from elsewhere are folded before they are kept."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from askwise import Campaign
from askwise.campaign.checking import folded
from askwise.core.choices import Batch
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore
from askwise.store.backup.file import Counts, backup, restore
from tests.store.older import make

Change = Callable[[list[Event]], list[Event]]


@pytest.fixture
def source() -> MemoryStore:
    """A campaign in which an assignment was answered late, and others have ended in each way."""
    store = MemoryStore()
    now = [0.0]
    campaign = Campaign.create(
        name="cats",
        store=store,
        options=["cat", "dog"],
        policy="uniform",
        workers=[{"id": name, "price": 1} for name in ("ann", "bob", "cleo", "dan")],
        tasks=["t1", "t2"],
        budget=20,
        lease=10.0,
        clock=lambda: now[0],
    )
    batch = campaign.ask(4)
    assert isinstance(batch, Batch)
    late, declined, failed, renewed = (each.id for each in batch)
    campaign.decline(declined)
    campaign.fail(failed, "refused", cost=0)
    now[0] = 9.0
    campaign.renew(renewed)
    now[0] = 11.0
    campaign.sweep()
    campaign.tell(late, "cat")
    campaign.tell(renewed, "dog")
    return store


def backed_up(source: MemoryStore, change: Change = list, spec: str | None = None) -> BytesIO:
    """A backup of the campaign, with another log or description."""
    store, file = MemoryStore(), BytesIO()
    store.create("cats", spec or source.spec("cats"), 0.0)
    events = [replace(event, seq=seq) for seq, event in enumerate(change(source.read("cats")), 1)]
    with store.write("cats") as transaction:
        transaction.append(events, 0)
    backup(store, file, 0.0)
    return file


def refusal(file: BytesIO) -> str:
    target = MemoryStore()
    with pytest.raises(StoreError) as caught:
        restore(target, file, through=folded)
    assert target.names() == []
    assert (caught.value.reason, caught.value.field) == ("bad_backup", "file")
    return str(caught.value)


def of(events: list[Event], kind: Kind) -> Event:
    return next(event for event in events if event.kind == kind)


def test_a_log_that_a_campaign_wrote_is_taken(source: MemoryStore) -> None:
    kinds = {event.kind for event in source.read("cats")}
    assert kinds >= {Kind.DECLINED, Kind.FAILED, Kind.RENEWED, Kind.EXPIRED, Kind.ANSWER}
    target = MemoryStore()
    restore(target, backed_up(source), through=folded)
    assert target.read("cats") == source.read("cats")


def test_logs_of_an_older_askwise_are_taken() -> None:
    raw = (Path(make.__file__).parent / "backup.jsonl").read_bytes()
    counts = restore(MemoryStore(), BytesIO(gzip.compress(raw)), through=folded)
    assert isinstance(counts, Counts)
    assert counts.campaigns == 4


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Kind.ANSWER, "is answered already"),
        (Kind.DECLINED, "is declined already"),
        (Kind.FAILED, "is failed already"),
    ],
)
def test_what_has_ended_does_not_end_again(source: MemoryStore, kind: Kind, why: str) -> None:
    log = source.read("cats")
    again = of(log, kind)
    said = refusal(backed_up(source, lambda events: [*events, again]))
    assert said == (
        f"the log of campaign 'cats' can't be folded: event {len(log) + 1} ({kind.name}) does not "
        f"follow from those before it (assignment {again.assignment} {why}): nothing of the backup "
        "was restored"
    )


def test_what_was_never_asked_decided_or_named_is_refused(source: MemoryStore) -> None:
    log = source.read("cats")
    answer, asked, decided = (of(log, each) for each in (Kind.ANSWER, Kind.ASKED, Kind.DECIDED))
    for event, why in (
        (replace(answer, assignment=999), "there is no assignment 999"),
        (replace(asked, worker="zoe"), "'zoe'"),
        (replace(asked, task="t9"), "'t9'"),
        (asked, "does not follow"),
        (replace(decided, note="guess"), "no decision that is called 'guess'"),
        (Event(Kind.TRUTH, task="t1", value="bird"), "does not follow"),
        (Event(Kind.JOINED, workers=({"id": "eve", "wage": 1},)), "wage"),
    ):
        said = refusal(backed_up(source, lambda events, event=event: [*events, event]))  # type: ignore[misc]
        assert f"event {len(log) + 1} ({event.kind.name})" in said
        assert why in said


def test_a_description_that_can_t_be_read_is_refused(source: MemoryStore) -> None:
    for spec in ("{}", "no JSON", '{"format": 1, "policy": "uniform"}', "[]"):
        assert refusal(backed_up(source, spec=spec)).startswith("campaign 'cats' can't be read (")


def test_a_campaign_of_a_package_that_is_not_here_is_taken_as_it_is(source: MemoryStore) -> None:
    spec = source.spec("cats").replace('"uniform"', '"optimist"')
    target = MemoryStore()
    restore(target, backed_up(source, spec=spec), through=folded)
    assert target.spec("cats") == spec
