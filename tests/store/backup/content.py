"""Stores to back up: what is put into them, what is found in them."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from hypothesis import strategies as st

from askwise.core.events import Event
from askwise.store import Change, Portable, Reply, Store
from askwise.store.backup.file import Counts, backup, check, restore
from tests.store.test_side_by_side import BODIES, CONTENTS, IDS, KINDS, NUMBERS, TEXT

KINDS_OF_STORE = ("memory", "sqlite", "postgres")

MakeUrl = Callable[[str], str]

CAMPAIGNS = st.dictionaries(
    TEXT,
    st.tuples(
        NUMBERS,
        TEXT,
        st.lists(CONTENTS, max_size=4),
        st.dictionaries(TEXT, st.tuples(TEXT, TEXT), max_size=3),
    ),
    max_size=3,
)

RECORDS = st.dictionaries(
    st.tuples(KINDS, IDS.filter(bool)), BODIES.filter(lambda body: body is not None), max_size=4
)


def fill(store: Store, campaigns: dict[str, Any], records: dict[tuple[str, str], Any]) -> None:
    for name, (time, spec, contents, replies) in campaigns.items():
        store.create(name, spec, time)
        with store.write(name) as transaction:
            transaction.append([Event(seq=seq, **each) for seq, each in enumerate(contents, 1)], 0)
            for key, (request, body) in replies.items():
                transaction.keep(Reply(key, request, body))
    store.change([Change(*place, None, body) for place, body in records.items()])


def content(store: Portable) -> tuple[Any, ...]:
    """Everything that a backup has to bring back."""
    with store.contents() as items:
        return [*items], [store.read(name) for name in store.names()]


def copy(source: Store, target: Store) -> Counts:
    file = BytesIO()
    written = backup(source, file, 1.5)
    assert check(file) == written
    assert restore(target, file) == written
    return written
