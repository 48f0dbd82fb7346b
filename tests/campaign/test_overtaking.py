"""What a write does is worked out before its transaction; another may write first meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign import writer
from askwise.campaign.state import Engine
from askwise.core.events import Kind
from askwise.store import SqliteStore, Store, open_store

Meddle = Callable[[Callable[[], Any], int], None]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return open_store("memory")
    return SqliteStore(tmp_path / "campaigns.sqlite", patience=0.5)


@pytest.fixture
def pair(store: Store) -> tuple[Campaign, Campaign]:
    """One campaign, held twice."""
    mine = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=[f"t{at}" for at in range(6)],
        options=["no", "yes"],
        budget=100,
        policy="random-pairs",
        store=store,
        name="c",
        seed=1,
    )
    return mine, Campaign.open(store, "c")


@pytest.fixture
def meddle(monkeypatch: pytest.MonkeyPatch) -> Meddle:
    """Let something happen in the middle of the next decisions."""
    plain = Engine.choose

    def start(act: Callable[[], Any], times: int) -> None:
        left = [times]
        inside = [False]

        def choose(engine: Engine, available: Any) -> Any:
            if left[0] and not inside[0]:
                left[0] -= 1
                inside[0] = True
                try:
                    act()
                finally:
                    inside[0] = False
            return plain(engine, available)

        monkeypatch.setattr(Engine, "choose", choose)

    return start


def asked(campaign: Campaign) -> list[tuple[str | None, str | None]]:
    return [(each.task, each.worker) for each in campaign.log() if each.kind == Kind.ASKED]


@pytest.mark.parametrize("long_work", [0.0, 60.0])
@pytest.mark.parametrize("times", [1, 2])
def test_whoever_is_overtaken_decides_again(
    pair: tuple[Campaign, Campaign],
    meddle: Meddle,
    monkeypatch: pytest.MonkeyPatch,
    long_work: float,
    times: int,
) -> None:
    monkeypatch.setattr(writer, "LONG_WORK", long_work)
    mine, theirs = pair
    if long_work and times == 2:
        # Once it is known that others write, short work is done inside: nobody overtakes it.
        times = 1
    meddle(lambda: theirs.ask(workers=["b"]), times)
    batch = mine.ask(workers=["a"])
    assert [worker for _, worker in asked(mine)] == ["b"] * times + ["a"]
    assert (batch[0].task, "a") == asked(mine)[-1]  # type: ignore[index]
    assert [event.seq for event in mine.log()] == list(range(1, len(mine.log()) + 1))
    for each in (mine, theirs, Campaign.open(mine._store, "c")):
        assert each.status().reserved == times + 1
        assert each.explain(batch[0].id).reproduced  # type: ignore[index]


def test_a_key_that_another_has_used_meanwhile_gets_the_first_reply(
    pair: tuple[Campaign, Campaign], meddle: Meddle
) -> None:
    mine, theirs = pair
    first = []
    meddle(lambda: first.append(theirs.ask(key="k")), 1)
    assert [mine.ask(key="k")] == first
    assert len(asked(mine)) == 1


def test_a_reply_without_events_is_kept_once(
    pair: tuple[Campaign, Campaign], meddle: Meddle
) -> None:
    mine, theirs = pair
    while isinstance(mine.ask(limit=12), Batch):
        pass
    length = len(mine.log())
    first = []
    meddle(lambda: first.append(theirs.ask(key="k")), 1)
    assert [mine.ask(key="k")] == first == [theirs.ask(key="k")]
    assert len(mine.log()) == length


def test_the_store_is_not_locked_while_a_campaign_decides(
    store: Store, pair: tuple[Campaign, Campaign], meddle: Meddle
) -> None:
    other = Campaign.create(
        workers=[Worker("a", 1)], tasks=["t"], options=["no", "yes"], budget=1,
        policy="random-pairs", store=store, name="other",
    )  # fmt: skip
    meddle(other.ask, 1)
    pair[0].ask()
    assert len(asked(other)) == len(asked(pair[0])) == 1


def test_what_fails_after_it_was_overtaken_leaves_nothing(
    pair: tuple[Campaign, Campaign], meddle: Meddle, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = pair
    failing = [False, True]

    def act() -> None:
        theirs.ask(workers=["b"])
        if failing.pop(0):
            raise RuntimeError("broken")

    monkeypatch.setattr(writer, "LONG_WORK", 0.0)
    meddle(act, 2)
    with pytest.raises(RuntimeError, match="broken"):
        mine.ask(workers=["a"])
    assert [worker for _, worker in asked(mine)] == ["b", "b"]
    assert mine.status().reserved == theirs.status().reserved == 2
