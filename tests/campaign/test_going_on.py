"""Work goes on while a commit takes long: on the state that the commit leads to."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign import cached, writer
from askwise.campaign.requests import Crew, PreparedWrite, Request
from askwise.core.errors import Conflict, PolicyFault, StoreError
from askwise.core.events import Event
from askwise.ledger import columns as c
from askwise.policies.bounded.benchmarks import Uniform
from askwise.store import MemoryStore, Reply, SqliteStore, Store

PATIENCE = 20.0
"""Seconds for threads of a test on a busy machine."""


class HeldUp:
    """A store whose appends wait at a gate, are counted, and fail where they are told to."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.appends: list[int] = []
        """The number of events of each append that succeeded."""
        self.failures: list[Exception] = []
        self.overtaking: Callable[[], Any] | None = None

    def append(
        self, name: str, events: Sequence[Event], expected_seq: int, replies: Sequence[Reply] = ()
    ) -> None:
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        overtaking, self.overtaking = self.overtaking, None
        if overtaking is not None:
            overtaking()
        if self.failures:
            raise self.failures.pop()
        super().append(name, events, expected_seq, replies)  # type: ignore[misc]
        self.appends.append(len(events))


class HeldUpMemory(HeldUp, MemoryStore):
    """In memory."""


class HeldUpSqlite(HeldUp, SqliteStore):
    """In a file."""


class Told:
    """What came of a write that was submitted."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.request: Request | None = None

    def result(self) -> Any:
        assert self.event.wait(PATIENCE)
        assert self.request is not None
        return self.request.result()


class Threads(Crew):
    """A thread for each piece of work."""

    def __init__(self) -> None:
        self.commits = 0

    def start(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def commit(self, work: Callable[[], None]) -> None:
        self.commits += 1
        self.start(work)

    def wake(self, requests: Sequence[Request]) -> None:
        for request in requests:
            assert request.waiter.request is None, "told twice"
            request.waiter.request = request
            request.waiter.event.set()


@pytest.fixture(autouse=True)
def every_append_counts_as_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SLOW_APPEND", -1.0)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return HeldUpMemory()
    return HeldUpSqlite(tmp_path / "campaigns.sqlite")


def opened(store: Store, workers: int = 40, budget: int = 100) -> tuple[Campaign, Threads]:
    Campaign.create(
        workers=[Worker(f"w{at}", 1, limit=10) for at in range(workers)],
        outcome="utility",
        budget=budget,
        policy="uniform",
        store=store,
        name="shop",
        seed=1,
    )
    crew = Threads()
    return Campaign.open(store, "shop", crew=crew), crew


def submit(campaign: Campaign, *writes: PreparedWrite[Any]) -> list[Told]:
    found = [Told() for _ in writes]
    for write, told in zip(writes, found, strict=True):
        campaign.submit(write, told)
    return found


@contextmanager
def held_up(store: Any, campaign: Campaign, *writes: PreparedWrite[Any]) -> Iterator[list[Told]]:
    """Hold up the commit of these writes, which begin together, in the block."""
    store.begun.clear()
    store.gate.clear()
    with campaign.reading():
        found = submit(campaign, *writes)
    assert store.begun.wait(PATIENCE)
    try:
        yield found
    finally:
        store.gate.set()


def worked_out(campaign: Campaign, asked: int, answered: int = 0) -> None:
    """Return once the state has this many assignments and answers, in the log or not."""
    until = time.monotonic() + PATIENCE
    while True:
        state = campaign._writer._state
        if state is not None:
            total = state.ledger.total
            if total(c.ASSIGNMENTS) >= asked and total(c.ANSWERS) >= answered:
                return
        assert time.monotonic() < until
        time.sleep(0.001)


def has_one_log(campaign: Campaign) -> None:
    """The log has no gap, and whoever opens it anew finds what this one believes."""
    events = campaign.log()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert Campaign.open(campaign.store, "shop").status() == campaign.status()


def two_asks(campaign: Campaign) -> tuple[PreparedWrite[Any], PreparedWrite[Any]]:
    return campaign.asking(), campaign.asking()


def written_by(campaign: Campaign, verb: Callable[[], Any]) -> PreparedWrite[Any]:
    """The write of a verb that has no prepared form; it is not done."""
    found: list[PreparedWrite[Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaign._writer, "write", found.append)
        verb()
    return found[0]


def test_who_comes_during_a_commit_is_worked_out_before_it_ends(store: Any) -> None:
    campaign, crew = opened(store)
    with held_up(store, campaign, *two_asks(campaign)) as first:
        more = submit(campaign, *two_asks(campaign), campaign.asking())
        worked_out(campaign, 5)
        assert store.position("shop") == 0
        assert not any(told.event.is_set() for told in (*first, *more))
    found = [told.result() for told in (*first, *more)]
    assert all(isinstance(each, Batch) for each in found)
    assert len({each[0].id for each in found}) == 5
    assert len(store.appends) == 2
    assert crew.commits >= 1
    has_one_log(campaign)


def test_the_log_is_the_same_as_without(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, _ = opened(store)
    with held_up(store, campaign, *two_asks(campaign)) as asked:
        more = submit(campaign, *two_asks(campaign))
        worked_out(campaign, 4)
    ids = [told.result()[0].id for told in (*asked, *more)]
    with held_up(store, campaign, *(campaign.telling(id, 0.5) for id in ids[:2])) as first:
        more = submit(campaign, *(campaign.telling(id, 0.75) for id in ids[2:]))
        worked_out(campaign, 4, 4)
    assert [told.result() for told in (*first, *more)] == [None] * 4
    plain, _ = opened(MemoryStore())
    for _ in range(4):
        plain.ask()
    for id, value in zip(ids, (0.5, 0.5, 0.75, 0.75), strict=True):
        plain.tell(id, value)

    def told(campaign: Campaign) -> list[Any]:
        return [{**event.to_json(), "time": None} for event in campaign.log()]

    assert told(campaign) == told(plain)


def test_who_reads_during_a_commit_sees_what_is_in_the_store(store: Any) -> None:
    campaign, _ = opened(store)
    seen = []

    def read() -> None:
        with campaign.reading() as state:
            seen.append((state.seq, store.position("shop")))

    with held_up(store, campaign, *two_asks(campaign)) as first:
        more = submit(campaign, *two_asks(campaign))
        worked_out(campaign, 4)
        reader = threading.Thread(target=read)
        reader.start()
        while not campaign._writer.lock.wanted:
            time.sleep(0.001)
        late = submit(campaign, campaign.asking())
    reader.join(PATIENCE)
    assert all(told.result() for told in (*first, *more, *late))
    # What came after it was not worked out before it had its turn.
    (position, stored), *_ = seen
    assert position == stored
    assert position == sum(store.appends[:2])
    has_one_log(campaign)


def test_a_commit_that_fails_is_an_error_of_its_own_group_only(store: Any) -> None:
    campaign, _ = opened(store)
    store.failures = [StoreError("the disk is gone")]
    with held_up(store, campaign, *two_asks(campaign)) as first:
        more = submit(campaign, *two_asks(campaign))
        worked_out(campaign, 4)
    for told in first:
        with pytest.raises(StoreError, match="the disk is gone"):
            told.result()
    assert all(isinstance(told.result(), Batch) for told in more)
    assert campaign.status().pending == 2
    has_one_log(campaign)


def test_when_another_process_comes_first_all_is_decided_again(store: Any) -> None:
    campaign, _ = opened(store)
    other = Campaign.open(store, "shop")
    store.overtaking = other.ask
    with held_up(store, campaign, *two_asks(campaign)) as first:
        more = submit(campaign, *two_asks(campaign))
        worked_out(campaign, 4)
    assert all(isinstance(told.result(), Batch) for told in (*first, *more))
    assert campaign.status().pending == 5
    has_one_log(campaign)


def test_a_retry_during_the_commit_of_its_first_time_gets_the_first_result(store: Any) -> None:
    campaign, _ = opened(store)
    writes = campaign.asking(key="k"), campaign.asking()
    with held_up(store, campaign, *writes) as first:
        again = submit(campaign, campaign.asking(key="k"), campaign.asking(limit=2, key="k"))
        other = submit(campaign, campaign.asking(key="l"), campaign.asking(key="l"))
        worked_out(campaign, 3)
    assert again[0].result() == first[0].result()
    with pytest.raises(Conflict, match="was used for another request"):
        again[1].result()
    assert other[0].result() == other[1].result()
    assert campaign.status().pending == 3
    has_one_log(campaign)


def test_what_fails_halfway_during_a_commit_takes_none_with_it(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _ = opened(store, workers=3)
    honest = Uniform.choose

    def wild(self: Any, problem: Any, state: Any, ledger: Any, *rest: Any) -> Any:
        choice = honest(self, problem, state, ledger, *rest)
        if ledger.seq > 3 and hasattr(choice, "rows"):
            choice.rows[0, 2] = 1000  # beyond any limit: found out after the first was handed out
        return choice

    monkeypatch.setattr(Uniform, "choose", wild)
    topping = [written_by(campaign, lambda: campaign.top_up(5)) for _ in range(2)]
    with held_up(store, campaign, *two_asks(campaign)) as first:
        more = submit(campaign, topping[0], campaign.asking(limit=9), topping[1])
        time.sleep(0.05)
    assert all(isinstance(told.result(), Batch) for told in first)
    with pytest.raises(PolicyFault):
        more[1].result()
    assert [more[0].result(), more[2].result()] == [None, None]
    assert campaign.status().budget == 110
    assert campaign.status().pending == 2
    has_one_log(campaign)


def test_an_answer_is_changed_during_a_commit(store: Any) -> None:
    campaign, _ = opened(store)
    answered = campaign.ask()
    assert isinstance(answered, Batch)
    campaign.tell(answered[0].id, 0.25)
    changing = written_by(campaign, lambda: campaign.revise(answered[0].id, 0.75))
    with held_up(store, campaign, *two_asks(campaign)) as first:
        changed = submit(campaign, campaign.asking(), changing, campaign.asking())
        worked_out(campaign, 4)
    assert all(isinstance(told.result(), Batch) for told in (*first, changed[0], changed[2]))
    assert changed[1].result() is None
    with campaign.reading() as state:
        assert state.ledger.book.marks[0, c.VALUE] == 0.75
    has_one_log(campaign)


@pytest.mark.parametrize("seed", range(3))
def test_many_clients_lose_nothing_and_double_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    # Commits take a moment, fail at times, and another process writes in between; snapshots are
    # taken often.
    monkeypatch.setattr(cached, "FIRST_SNAPSHOT", 8)
    monkeypatch.setattr(writer, "SHARED_FOR", 1)
    source = random.Random(seed)
    store = HeldUpSqlite(tmp_path / "campaigns.sqlite")
    campaign, crew = opened(store, budget=150)
    other = Campaign.open(SqliteStore(tmp_path / "campaigns.sqlite"), "shop")
    plain = HeldUp.append

    def append(self: Any, *given: Any) -> None:
        time.sleep(source.random() / 500)
        if source.random() < 0.05:
            self.failures = [StoreError("the disk is gone")]
        plain(self, *given)

    monkeypatch.setattr(HeldUpSqlite, "append", append)
    told: list[str] = []

    def certainly(write: Callable[[], PreparedWrite[Any]]) -> Any:
        while True:
            try:
                return submit(campaign, write())[0].result()
            except StoreError:
                pass

    def client(number: int) -> None:
        cycle = 0
        while True:
            cycle += 1
            key = f"{number}-{cycle}"
            batch = certainly(lambda: campaign.asking(key=key))  # noqa: B023
            if not isinstance(batch, Batch):
                return
            assignment = batch[0].id
            certainly(lambda: campaign.telling(assignment, 0.5, key=assignment))  # noqa: B023
            told.append(assignment)
            if number == 0:
                campaign.status()
            if number == 1 and isinstance(batch := other.ask(), Batch):
                other.tell(batch[0].id, 0.5)
                told.append(batch[0].id)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert crew.commits > 5
    assert len(told) == len(set(told)) == campaign.status().answers == 150
    assert campaign.status().left == 0
    has_one_log(campaign)
