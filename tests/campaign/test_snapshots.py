"""When snapshots are taken, and that what is packed comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from askwise import Batch, Campaign, Worker
from askwise.campaign import cached
from askwise.campaign.packing import pack, unpack
from askwise.core.events import Event
from askwise.store import MemoryStore, Snapshot


class Shelf(MemoryStore):
    """A store that tells what was saved, and how many events were read."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[int] = []
        self.events_read = 0

    def save(self, name: str, snapshot: Snapshot) -> None:
        super().save(name, snapshot)
        self.saved.append(snapshot.seq)

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        found = super().read(name, after, upto)
        self.events_read += len(found)
        return found


def shop(store: MemoryStore) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        outcome="utility",
        budget=10_000,
        policy="uniform",
        store=store,
        name="shop",
        seed=1,
    )


def work(campaign: Campaign, answers: int) -> None:
    for _ in range(answers):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)


def test_they_are_taken_each_time_the_log_has_grown_by_a_quarter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached, "FIRST_SNAPSHOT", 40)
    store = Shelf()
    campaign = shop(store)
    work(campaign, 200)
    end = campaign.status().seq
    marks = [40]
    while marks[-1] + marks[-1] // 4 <= end:
        marks.append(marks[-1] + marks[-1] // 4)
    assert len(store.saved) == len(marks)
    for seq, mark in zip(store.saved, marks, strict=True):
        assert mark <= seq < mark + 4, "the first write that passes it"
    store.events_read = 0
    assert Campaign.open(store, "shop").status() == campaign.status()
    assert store.events_read <= end / 5 + 1


def test_where_snapshots_are_gone_the_next_write_takes_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Shelf()
    campaign = shop(store)
    work(campaign, 60)
    assert store.saved == []
    monkeypatch.setattr(cached, "FIRST_SNAPSHOT", 40)
    again = Campaign.open(store, "shop")
    again.status()
    assert store.saved == [], "reading writes nothing"
    again.pause()
    again.resume()
    assert store.saved == [campaign.status().seq - 1]


def test_settling_saves_what_a_start_would_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "FIRST_SNAPSHOT", 40)
    store = Shelf()
    campaign = shop(store)
    campaign.settle()
    work(campaign, 10)
    campaign.settle()
    assert store.saved == [], "little has happened"
    work(campaign, 20)
    store.saved.clear()
    campaign.settle()
    work(campaign, 1)
    campaign.settle()
    assert len(store.saved) <= 1
    work(campaign, 60)
    store.saved.clear()
    end = campaign.status().seq
    campaign.settle()
    newest = store.saved[-1] if store.saved else 0
    assert newest == end or end - newest < 40
    store.events_read = 0
    assert Campaign.open(store, "shop").status() == campaign.status()
    assert store.events_read < 40


def test_a_campaign_that_was_never_read_has_nothing_to_settle() -> None:
    store = Shelf()
    shop(store)
    Campaign.open(store, "shop").settle()
    assert store.saved == []
    assert store.events_read == 0


KINDS = st.sampled_from([np.dtype(kind) for kind in ("i8", "i4", "i1", "f8", "?", "u2")])
SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)
ARRAYS = KINDS.flatmap(lambda kind: arrays.arrays(kind, SHAPES))


@given(st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4), st.text())
def test_arrays_and_text_come_back_as_they_were(
    held: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]], text: str
) -> None:
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    found, read = unpack(pack(held, text))
    assert read == text
    assert list(found) == list(held)
    for name, array in held.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable


def test_the_ends_of_each_width_are_kept() -> None:
    ends = [(1 << bits) - 1 for bits in (7, 8, 15, 16, 31, 32, 63)]
    column = np.array([*ends, *(-each - 1 for each in ends), 0], np.int64)
    for length in range(1, len(column) + 1):
        held = {"x": column[:length].reshape(-1, 1), "y": column[:length][::-1]}
        found, _ = unpack(pack(held, ""))
        assert found["x"].tolist() == held["x"].tolist()
        assert found["y"].tolist() == held["y"].tolist()
