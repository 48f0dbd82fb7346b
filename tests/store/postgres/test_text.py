"""Text and numbers come back as they were, or are refused."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore, Record, Reply, Snapshot, open_store
from askwise.store.backup.file import backup, restore
from askwise.store.postgres import text as postgres_text
from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import Raw


@given(st.text(st.sampled_from("a0\ufdd01\U0001f600")))
def test_any_text_can_be_kept(text: str) -> None:
    assert postgres_text.given(postgres_text.kept(text, "key")) == text


def test_what_an_older_askwise_wrote_for_nul_is_read_as_it_was(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    # It wrote a mark and a digit, in records a mark below all others.
    postgres_raw.execute(
        "INSERT INTO askwise.events (campaign, seq, kind, time, key, body) "
        "SELECT id, 2, 'RESUMED', 0, 'a\ufdd00b \ufdd01', '{}' FROM askwise.campaigns "
        "WHERE name = 'cats'"
    )
    postgres_raw.execute(
        "INSERT INTO askwise.replies (campaign, key, request, body) "
        "SELECT id, 'a\ufdd00b', 'of \ufdd00', '\ufdd01' FROM askwise.campaigns "
        "WHERE name = 'cats'"
    )
    postgres_raw.execute(
        "INSERT INTO askwise.records (kind, id, body) "
        "VALUES ('key', 'a\1\1b', '\ufdd00'), ('key', 'a\1\2', '{}')"
    )
    assert [event.key for event in store.read("cats")] == [None, "a\0b \ufdd0"]
    assert store.records("key") == [Record("key", "a\0b", "\0"), Record("key", "a\1", "{}")]
    with store.contents() as items:
        assert Reply("a\0b", "of \0", "\ufdd0") in list(items)
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=3)], 2)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_with_nul_of_an_older_askwise_is_restored_where_it_can_be_kept(
    kind: str, postgres_url: str, tmp_path: Path
) -> None:
    older, file = MemoryStore(), BytesIO()
    older.create("cats", "{}", 0.0)
    with older.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=1, key="a\0")], 0)
        transaction.keep(Reply("a\0", "", ""))
    backup(older, file, 0.0)
    url = postgres_url if kind == "postgres" else f"sqlite:///{tmp_path}/cats.sqlite"
    with closing(open_store(url)) as target:
        if kind == "postgres":
            with pytest.raises(
                StoreError, match=r"key can't be kept, because it has the character NUL"
            ):
                restore(target, file)
            assert target.names() == []
        else:
            restore(target, file)
            assert target.read("cats") == older.read("cats")


def test_odd_text_comes_back_as_it_was(store: PostgresStore) -> None:
    odd = "a \1 \ufdd0 \ufdd00 '\\\" %s {} \u2028 naïve 猫 \U0001f600"
    store.create(odd, odd, 0.0)
    with store.write(odd) as transaction:
        transaction.append([Event(Kind.ANSWER, seq=1, key=odd, task=odd, note=odd)], 0)
        transaction.keep(Reply(odd, odd, odd))
    store.save(odd, Snapshot(1, odd, odd.encode()))
    assert odd in store.names()
    assert store.spec(odd) == odd
    (event,) = store.read(odd)
    assert (event.key, event.task, event.note) == (odd, odd, odd)
    with store.write(odd) as transaction:
        assert transaction.reply(odd) == Reply(odd, odd, odd)
    assert store.snapshot(odd, odd) == Snapshot(1, odd, odd.encode())


def test_half_a_character_is_refused_with_its_field(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="spec can't be kept") as caught:
        store.create("birds", "\ud800", 0.0)
    assert caught.value.field == "spec"
    with pytest.raises(StoreError, match="key can't be kept"), store.write("cats") as transaction:
        transaction.reply("\ud800")


def test_numbers_come_back_to_the_last_bit_whatever_the_settings(url: str) -> None:
    times = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -1e-300, 1e9 + 0.1]
    events = [Event(Kind.PAUSED, seq=seq, time=time) for seq, time in enumerate(times, 2)]
    with closing(PostgresStore(f"{url}?options=-cextra_float_digits%3D-9")) as store:
        with store.write("cats") as transaction:
            transaction.append(events, 1)
        assert [event.time for event in store.read("cats", 1)] == times
