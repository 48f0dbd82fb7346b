"""Campaigns moved to Parquet files and back: nothing lost wherever it is interrupted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from askwise import Campaign
from askwise.campaign import archiving
from askwise.core.choices import Batch
from askwise.core.errors import Conflict, InvalidParameter, StoreError
from askwise.store import MemoryStore, SqliteStore, open_store
from askwise.store.archive import parquet
from askwise.store.archive.base import ArchiveNote, Archiving
from askwise.store.backup.portable import Portable
from askwise.store.postgres.store import PostgresStore

pq = pytest.importorskip("pyarrow.parquet")


def made(store: Archiving) -> Campaign:
    """A campaign with a few answers, one of them with a key, that was stopped."""
    campaign = Campaign.create(
        workers=[{"id": f"w{n}", "price": 1} for n in range(3)],
        tasks=["a", "b"],
        options=["yes", "no"],
        budget=9,
        policy="random-pairs",
        store=store,
        name="cats",
    )
    for number in range(4):
        batch = campaign.ask(key=f"ask {number}")
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, "yes" if number else "no")
    campaign.stop()
    return campaign


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres_url")
        return found
    return f"sqlite:///{request.getfixturevalue('tmp_path')}/campaigns.sqlite"


@pytest.fixture
def store(url: str) -> Iterator[SqliteStore | PostgresStore]:
    opened = open_store(url)
    assert isinstance(opened, SqliteStore | PostgresStore)
    with closing(opened):
        yield opened


def test_an_archived_campaign_is_in_its_file_and_comes_back_as_it_was(
    store: SqliteStore | PostgresStore, tmp_path: Path
) -> None:
    campaign = made(store)
    seen, answers = campaign.status(), campaign.answers()
    with store.content("cats") as items:
        before = list(items)
    note = archiving.archive(store, "cats", tmp_path, time=7.0)
    assert (note.events, note.replies, note.time) == (seen.seq, 4, 7.0)
    assert store.archived() == {"cats": note}
    assert note.status["answers"] == 4
    assert list(parquet.read(Path(note.file))) == before
    assert pq.read_table(note.file).column("kind").to_pylist()[: seen.seq] == [
        event.kind for event in before if hasattr(event, "seq")
    ]
    assert store.names() == []
    archiving.bring_back(store, Path(note.file))
    assert (store.names(), store.archived()) == (["cats"], {})
    with store.content("cats") as items:
        assert list(items) == before
    again = Campaign.open(store, "cats")
    assert (again.status(), again.answers()) == (seen, answers)


def test_every_use_of_an_archived_campaign_says_where_it_is(
    url: str, store: SqliteStore | PostgresStore, tmp_path: Path
) -> None:
    campaign = made(store)
    with closing(open_store(url)) as other:
        elsewhere = Campaign.open(other, "cats")
        assert elsewhere.status().answers == 4
        note = archiving.archive(store, "cats", tmp_path, time=0.0)
        for use in (
            lambda: Campaign.open(store, "cats"),
            lambda: store.read("cats"),
            lambda: store.append("cats", [], note.events),
            lambda: store.write("cats").__enter__(),
            lambda: archiving.archive(store, "cats", tmp_path, time=0.0),
            # Stores that have looked up the campaign before it was archived.
            lambda: other.append("cats", [], note.events),
            lambda: other.write("cats").__enter__(),
            lambda: other.read("cats"),
        ):
            with pytest.raises(Conflict, match=r"archived in .*cats\.parquet.*restore") as caught:
                use()
            assert caught.value.reason == "campaign_archived"
        with pytest.raises(Conflict, match="exists already"):
            store.create("cats", "{}", 0.0)
        # Campaigns that were open before are not taken for empty ones.
        for held in (campaign, elsewhere):
            with pytest.raises(Conflict, match="archived in"):
                held.status()


def test_a_campaign_that_was_open_elsewhere_is_not_begun_anew(
    url: str, store: SqliteStore | PostgresStore, tmp_path: Path
) -> None:
    made(store)
    with closing(open_store(url)) as other:
        elsewhere = Campaign.open(other, "cats")
        assert elsewhere.status().answers == 4
        archiving.archive(store, "cats", tmp_path, time=0.0)
        with pytest.raises(Conflict, match="archived in"):
            elsewhere.top_up(5)
        with pytest.raises(Conflict, match="archived in"):
            elsewhere.ask(key="late")
        with other.contents() as items:
            assert list(items) == []


@pytest.mark.parametrize("step", ["write", "replace", "check", "take out", "begun", "removed"])
def test_a_process_that_dies_at_any_step_loses_nothing(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.sqlite"
    with closing(open_store(url)) as store:
        assert isinstance(store, SqliteStore)
        log = made(store).log()
    place, name = {
        "write": (parquet, "write"),
        "replace": (os, "replace"),
        "check": (archiving, "_check_folds"),
        "take out": (SqliteStore, "take_out"),
        "begun": (SqliteStore, "_row"),
        "removed": (ArchiveNote, "to_text"),
    }[step]
    child = os.fork()
    if child == 0:
        # It ends as if by SIGKILL where the step begins. The last two are inside the transaction:
        # before it has removed anything, and after it has removed everything.
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda *_: os._exit(9))
            archiving.archive(open_store(url), "cats", tmp_path, time=0.0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with closing(open_store(url)) as store:
        assert isinstance(store, SqliteStore)
        assert Campaign.open(store, "cats").log() == log
        note = archiving.archive(store, "cats", tmp_path, time=0.0)
        archiving.bring_back(store, Path(note.file))
        assert Campaign.open(store, "cats").log() == log


def test_a_campaign_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store:
        campaign = Campaign.create(
            workers=[{"id": "w", "price": 1}],
            tasks=["a"],
            options=["yes", "no"],
            budget=9,
            policy="random-pairs",
            store=store,
            name="cats",
        )
        with pytest.raises(Conflict, match=r"is running: stop it before.*askwise stop cats"):
            archiving.archive(store, "cats", tmp_path, time=0.0)
        campaign.ask()
        campaign.stop()
        with pytest.raises(Conflict, match="has 1 open assignments"):
            archiving.archive(store, "cats", tmp_path, time=0.0)
        assert store.archived() == {}
        assert not (tmp_path / "cats.parquet").exists()


def test_what_was_written_after_the_file_keeps_the_campaign_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store:
        campaign = made(store)
        check = archiving._check_folds

        def commented(file: Path, state: object) -> None:
            check(file, state)  # type: ignore[arg-type]
            campaign.ask(key="late")  # an answer that is kept for its key alone

        monkeypatch.setattr(archiving, "_check_folds", commented)
        with pytest.raises(Conflict, match="read what is new"):
            archiving.archive(store, "cats", tmp_path, time=0.0)
        assert store.names() == ["cats"]


def test_a_file_with_other_content_is_never_overwritten(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store:
        made(store)
        (tmp_path / "cats.parquet").write_bytes(b"mine")
        with pytest.raises(InvalidParameter, match="exists and has other content"):
            archiving.archive(store, "cats", tmp_path, time=0.0)
        with pytest.raises(InvalidParameter, match="there is no directory"):
            archiving.archive(store, "cats", tmp_path / "none", time=0.0)
        assert store.names() == ["cats"]
    assert (tmp_path / "cats.parquet").read_bytes() == b"mine"


def test_a_damaged_file_is_refused_as_a_whole(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store:
        made(store)
        file = Path(archiving.archive(store, "cats", tmp_path, time=0.0).file)
        table = pq.read_table(file)
        pq.write_table(table.slice(0, table.num_rows - 1), file)
        with pytest.raises(StoreError, match="is damaged"):
            archiving.bring_back(store, file)
        file.write_bytes(file.read_bytes()[:-20])
        with pytest.raises(StoreError, match="can't be read"):
            archiving.bring_back(store, file)
        pq.write_table(table.replace_schema_metadata(None), file)
        with pytest.raises(StoreError, match="not an archive of askwise"):
            archiving.bring_back(store, file)
        assert list(store.archived()) == ["cats"]


def test_an_archive_moves_to_a_store_that_does_not_know_it(tmp_path: Path) -> None:
    with (
        closing(SqliteStore(tmp_path / "one.sqlite")) as one,
        closing(SqliteStore(tmp_path / "other.sqlite")) as other,
    ):
        log = made(one).log()
        file = Path(archiving.archive(one, "cats", tmp_path, time=0.0).file)
        archiving.bring_back(other, file)
        assert Campaign.open(other, "cats").log() == log
        with pytest.raises(Conflict, match="exists already"):
            archiving.bring_back(other, file)


def test_a_backup_leaves_archived_campaigns_out(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store:
        made(store)
        archiving.archive(store, "cats", tmp_path, time=0.0)
        assert isinstance(store, Portable)
        with store.contents() as items:
            assert list(items) == []


def test_a_store_in_memory_archives_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="MemoryStore can't be archived"):
        archiving.archive(MemoryStore(), "cats", tmp_path, time=0.0)
