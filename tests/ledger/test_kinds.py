"""Kinds and families in the ledger, and in what is made from it: snapshots, stores, a referee."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.events import Event, Kind
from askwise.core.problem import make_problem
from askwise.ledger import Ledger, vectors
from askwise.ledger import columns as c
from askwise.store import open_store
from askwise.store.backup.file import backup, restore
from askwise.testing.referee import Referee


def ledger_of(*workers: Worker, repeat: bool = True, tasks: Any = ("t1", "t2")) -> Ledger:
    made = make_problem(workers=workers, tasks=tasks, options=["no", "yes"], repeat=repeat)
    return Ledger(made)


FOUR = (
    Worker("a", 1),
    Worker("b", 1, kind="person", family="y"),
    Worker("c", 1, kind="model", family="x"),
    Worker("d", 1, kind="crowd", family="y"),
)


def test_the_ledger_notes_kinds_and_numbers_families_as_they_appear() -> None:
    ledger = ledger_of(*FOUR)
    assert vectors.kinds(ledger).tolist() == [c.UNSAID, c.PERSON, c.MODEL, c.CROWD]
    assert vectors.families(ledger).tolist() == [-1, 0, 1, 0]
    assert ledger.families == {"y": 0, "x": 1}
    assert vectors.asked_once(ledger).tolist() == [False, True, True, False]
    assert ledger.total(c.ASKED_ONCE) == 2
    assert vectors.asked_once(ledger_of(*FOUR, repeat=False)).all()


def test_a_snapshot_keeps_the_numbers_of_families_that_nobody_is_of_any_more() -> None:
    ledger = ledger_of(*FOUR)
    back = {"id": "b", "price": "1", "kind": "person"}
    ledger.apply(Event(Kind.LEFT, 1, 0.0, worker="b"))
    ledger.apply(Event(Kind.JOINED, 2, 0.0, workers=(back,)))
    ledger.apply(Event(Kind.LEFT, 3, 0.0, worker="d"))
    ledger.apply(Event(Kind.JOINED, 4, 0.0, workers=({**back, "id": "d", "family": "z"},)))
    restored = Ledger.restore(ledger.problem, ledger.arrays(), ledger.names())
    assert restored.families == ledger.families == {"y": 0, "x": 1, "z": 2}
    assert vectors.families(restored).tolist() == [-1, -1, 1, 2]
    assert restored.total(c.ASKED_ONCE) == 3
    assert restored.names() == ledger.names()


def test_kinds_and_families_survive_a_store_and_a_backup(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    campaign = Campaign.create(
        workers=FOUR, tasks=["t1"], options=["no", "yes"], policy="virt-ucb", name="k", store=store
    )
    campaign.add(workers=[Worker("e", 1, kind="model", family="x")])
    campaign.tell(campaign.ask(workers=["b"])[0].id, "yes")
    copy = open_store(f"sqlite:///{tmp_path / 'b.db'}")
    with (tmp_path / "all.gz").open("w+b") as file:
        backup(store, file, 0.0)
        file.seek(0)
        restore(copy, file)
    for opened in (Campaign.open(store, "k"), Campaign.open(copy, "k")):
        assert (opened.spec, opened.log()) == (campaign.spec, campaign.log())
        with opened.reading() as state:
            assert [worker.family for worker in state.ledger.workers] == [None, *"yxyx"]
            assert vectors.kinds(state.ledger).tolist() == [0, 1, 2, 3, 2]
        assert not opened.ask(workers=["b"])


def test_the_referee_refuses_a_second_ask_of_a_person() -> None:
    campaign = Campaign.create(
        workers=[Worker("w", 1)], tasks=["t"], options=["no", "yes"], policy="virt-ucb", seed=1
    )
    for _ in range(2):
        campaign.tell(campaign.ask()[0].id, "yes")
    crowd = make_problem(workers=[Worker("w", 1)], tasks=["t"], options=["no", "yes"], repeat=True)
    person = make_problem(
        workers=[Worker("w", 1, kind="person")], tasks=["t"], options=["no", "yes"], repeat=True
    )
    lenient, strict = Referee(crowd), Referee(person)
    for event in campaign.log():
        lenient.see(event)
    first, again = campaign.log()[:3], campaign.log()[3]
    for event in first:
        strict.see(event)
    with pytest.raises(AssertionError, match="w was asked about task t before"):
        strict.see(again)
