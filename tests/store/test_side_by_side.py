"""Whatever is done to them, the stores that last and the memory store give the same answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from askwise.core.errors import AskwiseError
from askwise.core.events import Event, Kind, PlanRow
from askwise.store import (
    Change,
    MemoryStore,
    Reply,
    Snapshot,
    SqliteStore,
    Store,
    Transaction,
)
from askwise.store.postgres.store import PostgresStore

NAMES = st.sampled_from(["a", "b", "A"])
KEYS = st.sampled_from(["k1", "k2", "k3", ""])
VERSIONS = st.sampled_from(["v1", "v2"])
POSITIONS = st.integers(-1, 12)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
KINDS = st.sampled_from(["key", "hook"])
IDS = st.text(st.sampled_from("\1\2a/\ufdd0\U0001f600"), max_size=3)
BODIES = st.none() | st.sampled_from(["", "{}", "\1", "\ufdd00"])
CHANGES = st.lists(st.builds(Change, KINDS, IDS, BODIES, BODIES), max_size=3)
JSON_OBJECTS = st.dictionaries(TEXT, st.none() | NUMBERS | TEXT | st.lists(NUMBERS), max_size=3)

CONTENTS = st.fixed_dictionaries(
    {"kind": st.sampled_from(Kind), "time": NUMBERS},
    optional={
        "key": KEYS,
        "decision": st.integers(0, 2**40),
        "assignment": st.integers(0, 2**40),
        "task": TEXT,
        "worker": TEXT,
        "value": NUMBERS | TEXT,
        "propensity": NUMBERS,
        "price": st.integers(0, 10**15),
        "expires": NUMBERS,
        "rows": st.lists(
            st.builds(PlanRow, TEXT, st.none() | TEXT, st.integers(1, 9), st.none() | NUMBERS)
        ).map(tuple),
        "available": st.lists(TEXT).map(tuple),
        "tasks": st.lists(JSON_OBJECTS, max_size=2).map(tuple),
        "workers": st.lists(JSON_OBJECTS, max_size=2).map(tuple),
    },
)


class Stop(Exception):
    """Stands for whatever goes wrong inside a block."""


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("append"),
            st.lists(CONTENTS, max_size=3),
            st.sampled_from([0, 0, 0, 0, 1, -1]),
            st.sampled_from([0, 0, 0, 0, 0, 1]),
        ),
        st.tuples(st.just("keep"), st.builds(Reply, KEYS, TEXT, TEXT)),
        st.tuples(st.just("reply"), KEYS),
        st.tuples(st.just("replies"), st.lists(KEYS, max_size=3)),
        st.tuples(st.just("position")),
        st.tuples(st.just("change"), CHANGES),
        st.tuples(st.just("tail"), POSITIONS),
        st.tuples(st.just("read"), POSITIONS),
    ),
    max_size=4,
)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or which error it raises about which field."""
    try:
        return call()
    except (AskwiseError, Stop) as error:
        return type(error), getattr(error, "field", None)


def take(step: tuple[Any, ...], store: Store, name: str, transaction: Transaction) -> Any:
    verb, *arguments = step
    if verb == "append":
        contents, behind, gap = arguments
        seq = len(transaction.tail(0))
        events = [
            Event(seq=number, **content) for number, content in enumerate(contents, seq + 1 + gap)
        ]
        return transaction.append(events, seq + behind)
    if verb == "read":
        return store.read(name, arguments[0])
    if verb == "position":
        return store.position(name)
    if verb == "change":
        return store.change(*arguments)
    return getattr(transaction, verb)(*arguments)


def run(store: Store, name: str, steps: list[tuple[Any, ...]], stop: bool) -> list[Any]:
    with store.write(name) as transaction:
        found = [outcome(lambda step=step: take(step, store, name, transaction)) for step in steps]
        if stop:
            raise Stop
    return found


class SideBySide(RuleBasedStateMachine):
    def __init__(self, open_lasting: Callable[[], Store]) -> None:
        super().__init__()
        self.memory = MemoryStore()
        self.open_lasting = open_lasting
        self.lasting = open_lasting()

    def both(self, call: Callable[[Store], Any]) -> None:
        assert outcome(lambda: call(self.lasting)) == outcome(lambda: call(self.memory))

    @initialize(name=NAMES)
    def begin(self, name: str) -> None:
        self.both(lambda store: store.create(name, "first", 0.0))

    @rule(name=NAMES, spec=TEXT, time=NUMBERS)
    def create(self, name: str, spec: str, time: float) -> None:
        self.both(lambda store: store.create(name, spec, time))

    @rule(name=NAMES, steps=STEPS, stop=st.sampled_from([False, False, False, True]))
    def write(self, name: str, steps: list[tuple[Any, ...]], stop: bool) -> None:
        self.both(lambda store: run(store, name, steps, stop))

    @rule(name=NAMES, after=POSITIONS, upto=st.none() | POSITIONS)
    def read(self, name: str, after: int, upto: int | None) -> None:
        self.both(lambda store: store.read(name, after, upto))

    @rule(name=NAMES, seq=st.integers(0, 6), version=VERSIONS, blob=st.binary(max_size=5))
    def save(self, name: str, seq: int, version: str, blob: bytes) -> None:
        self.both(lambda store: store.save(name, Snapshot(seq, version, blob)))

    @rule(name=NAMES, version=VERSIONS, upto=st.none() | POSITIONS)
    def snapshot(self, name: str, version: str, upto: int | None) -> None:
        self.both(lambda store: store.snapshot(name, version, upto))

    @rule(changes=CHANGES)
    def change(self, changes: list[Change]) -> None:
        self.both(lambda store: store.change(changes))

    @rule(data=st.data(), bodies=st.lists(BODIES, min_size=3, max_size=3))
    def change_what_is_there(self, data: st.DataObject, bodies: list[str | None]) -> None:
        there = [each for kind in ("key", "hook") for each in self.memory.records(kind)]
        if there:
            chosen = data.draw(st.lists(st.sampled_from(there), max_size=3, unique=True))
            changes = [
                Change(each.kind, each.id, each.body, body)
                for each, body in zip(chosen, bodies, strict=False)
            ]
            self.both(lambda store: store.change(changes))

    @rule(kind=KINDS, prefix=IDS, after=IDS, limit=st.none() | st.integers(0, 3))
    def records(self, kind: str, prefix: str, after: str, limit: int | None) -> None:
        self.both(lambda store: store.records(kind, prefix, after, limit))
        self.both(lambda store: store.record(kind, prefix))

    @rule()
    def reopen(self) -> None:
        self.lasting.close()
        self.lasting = self.open_lasting()

    @rule()
    def meet_a_second_process(self) -> None:
        beside = self.open_lasting()
        try:
            assert beside.names() == self.memory.names()
        finally:
            beside.close()

    @invariant()
    def everything_reads_the_same(self) -> None:
        self.both(lambda store: store.names())
        self.both(lambda store: (store.records("key"), store.records("hook")))
        for name in self.memory.names():
            self.both(
                lambda store, name=name: (
                    store.spec(name),
                    store.read(name),
                    store.position(name),
                )
            )

    def teardown(self) -> None:
        self.lasting.close()


def test_sqlite_and_memory_answer_the_same(tmp_path: Path) -> None:
    numbers = count()

    def make() -> SideBySide:
        file = tmp_path / f"{next(numbers)}.sqlite"
        return SideBySide(lambda: SqliteStore(file))

    run_state_machine_as_test(make, settings=settings(stateful_step_count=20))


def test_postgresql_and_memory_answer_the_same(
    postgres_url: str, postgres_raw: psycopg.Connection[Any]
) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        store.create("first", "{}", 0.0)

    def make() -> SideBySide:
        # Far quicker than new tables.
        for table in ("events", "replies", "snapshots", "campaigns", "records"):
            postgres_raw.execute(f"DELETE FROM askwise.{table}".encode())
        return SideBySide(lambda: PostgresStore(postgres_url))

    # Each connection costs the server a process.
    fewer = settings.default.max_examples // 4
    run_state_machine_as_test(make, settings=settings(max_examples=fewer, stateful_step_count=20))
