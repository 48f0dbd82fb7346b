"""News of logs that have grown, within a process and between processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from askwise.core.events import Event, Kind
from askwise.store import MemoryStore, SqliteStore, Store, TellsNews
from askwise.store.postgres import news as postgres_news
from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import Raw, end_sessions


class Ears:
    """Notes what it is told, and lets others wait for it."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []
        self._lock = threading.Condition()

    def __call__(self, name: str | None) -> None:
        with self._lock:
            self.heard.append(name)
            self._lock.notify_all()

    def hear(self, name: str | None) -> bool:
        """Whether they are told of it within a minute."""
        with self._lock:
            return self._lock.wait_for(lambda: name in self.heard, 60.0)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    makers: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "sqlite": lambda: SqliteStore(tmp_path / "campaigns.sqlite"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres_url")),
    }
    with closing(makers[request.param]()) as store:
        store.create("cats", "{}", 0.0)
        store.create("dogs", "{}", 0.0)
        yield store


def append(store: Store, name: str, seq: int = 1) -> None:
    with store.write(name) as transaction:
        transaction.append([Event(Kind.PAUSED, seq=seq)], seq - 1)


def test_a_store_tells_of_the_log_that_has_grown_once_it_is_committed(made: Store) -> None:
    assert isinstance(made, TellsNews)
    seen = []
    end = made.subscribe(lambda name: seen.append((name, made.position("cats"))))
    append(made, "cats")
    assert ("cats", 1) in seen
    end()
    seen.clear()
    append(made, "cats", 2)
    assert not [each for each in seen if each == ("cats", 2)]


def test_a_write_that_fails_or_appends_nothing_is_no_news(made: Store) -> None:
    assert isinstance(made, TellsNews)
    ears = Ears()
    made.subscribe(ears)
    with pytest.raises(ZeroDivisionError), made.write("cats") as transaction:  # noqa: PT012
        transaction.append([Event(Kind.PAUSED, seq=1)], 0)
        raise ZeroDivisionError
    with made.write("cats"):
        pass
    append(made, "dogs")
    assert ears.hear("dogs")
    assert "cats" not in ears.heard


def test_who_subscribes_twice_is_told_twice_and_ends_one_at_a_time() -> None:
    store, ears = MemoryStore(), Ears()
    store.create("cats", "{}", 0.0)
    ends = [store.subscribe(ears), store.subscribe(ears)]
    append(store, "cats")
    ends[0]()
    append(store, "cats", 2)
    assert ears.heard == ["cats"] * 3


def test_another_process_on_the_same_database_is_told(postgres_url: str) -> None:
    # Another store: it shares nothing with the first but the database.
    with (
        closing(PostgresStore(postgres_url)) as here,
        closing(PostgresStore(postgres_url)) as there,
    ):
        here.create("cats", "{}", 0.0)
        ears = Ears()
        here.subscribe(ears)
        assert ears.hear(None)  # it listens from now on
        append(there, "cats")
        assert ears.hear("cats")


def test_what_a_store_has_written_is_sent_before_it_is_closed(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as here:
        here.create("cats", "{}", 0.0)
        ears = Ears()
        here.subscribe(ears)
        assert ears.hear(None)
        with closing(PostgresStore(postgres_url)) as there:
            append(there, "cats")
        assert ears.hear("cats")


def test_a_name_too_long_to_be_sent_stands_for_any(postgres_url: str) -> None:
    name = "ä" * 1500
    with (
        closing(PostgresStore(postgres_url)) as here,
        closing(PostgresStore(postgres_url)) as there,
    ):
        here.create(name, "{}", 0.0)
        ears = Ears()
        here.subscribe(ears)
        assert ears.hear(None)
        ears.heard.clear()
        append(there, name)
        assert ears.hear(None)


def test_a_listener_whose_session_ends_listens_again(
    postgres_url: str, postgres_raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_news, "AGAIN", 0.01)
    with (
        closing(PostgresStore(postgres_url)) as here,
        closing(PostgresStore(postgres_url)) as there,
    ):
        here.create("cats", "{}", 0.0)
        ears = Ears()
        end = here.subscribe(ears)
        assert ears.hear(None)
        ears.heard.clear()
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        postgres_raw.execute(ended.encode())
        assert ears.hear(None)
        append(there, "cats")
        assert ears.hear("cats")
        end()
    end_sessions(postgres_raw)


def test_nobody_listens_any_more_once_nobody_wants_to_hear(
    postgres_url: str, postgres_raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_news, "LOOK", 0.01)
    with closing(PostgresStore(postgres_url)) as store:
        ears = Ears()
        end = store.subscribe(ears)
        assert ears.hear(None)
        thread = store._news._listener
        assert thread is not None
        end()
        thread.join(60.0)
        assert not thread.is_alive()
        ears.heard.clear()
        again = Ears()
        store.subscribe(again)
        assert again.hear(None)
        assert ears.heard == []
