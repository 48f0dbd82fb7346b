"""A store and a backup as an askwise before wrote them (``older/make.py``) are used as they are."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.service.auth.identity import Identities
from askwise.store import SqliteStore, open_store
from askwise.store.backup.file import Counts, restore
from tests.store.older import make

OLDER = Path(make.__file__).parent
REPLIES = 38
SEEN: dict[str, Any] = json.loads((OLDER / "seen.json").read_text(encoding="utf-8"))
# Labels of `hem` have another model behind them since: it may be less or more sure, and name
# another option where it was in doubt. What it asks and pays is the same.
for answer in SEEN["labels"]["answers"]:
    if answer["confidence"] not in (None, 1.0):
        if answer["confidence"] < 0.7:
            del answer["value"]
        del answer["confidence"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "older.sqlite"
    with closing(sqlite3.connect(written)) as raw:
        raw.executescript((OLDER / "store.sql").read_text(encoding="utf-8"))
    return written


@pytest.fixture
def store(file: Path) -> Iterator[SqliteStore]:
    with closing(open_store(f"sqlite:///{file}")) as opened:
        assert isinstance(opened, SqliteStore)
        yield opened


def older_part(now: Any, then: Any) -> Any:
    """What is said now, without what was not yet said then."""
    if isinstance(then, dict):
        return {name: older_part(now.get(name), value) for name, value in then.items()}
    if isinstance(then, list) and len(now) == len(then):
        return [older_part(*pair) for pair in zip(now, then, strict=True)]
    return now


@pytest.mark.parametrize("snapshots", [True, False], ids=["with snapshots", "folded anew"])
def test_campaigns_say_what_they_said(snapshots: bool, file: Path) -> None:
    with closing(sqlite3.connect(file)) as raw:
        assert raw.execute("SELECT count(*) FROM snapshots").fetchone() == (3,)
        if not snapshots:
            raw.execute("DELETE FROM snapshots")
            raw.commit()
    with closing(open_store(f"sqlite:///{file}")) as store:
        now = make.seen(store)
        assert older_part(now, SEEN) == SEEN
        assert list(now) == list(SEEN)


def test_a_retry_gets_the_first_reply(store: SqliteStore) -> None:
    labels = Campaign.open(store, "labels", clock=lambda: make.TIME + 100)
    out = labels.ask(key="out")
    assert isinstance(out, Batch)
    assert [each.id for each in out] == SEEN["labels"]["out"]
    stopped = Campaign.open(store, "stopped")
    stopped.stop(key="enough")
    for campaign in (labels, stopped):
        assert len(campaign.log()) == SEEN[campaign.name]["events"]


@pytest.mark.parametrize("name", ["labels", "units", "bids"])
def test_a_campaign_goes_on_to_its_end(name: str, store: SqliteStore) -> None:
    campaign = Campaign.open(store, name, clock=lambda: make.TIME + 100)
    before = campaign.log()
    for each in campaign.assignments():
        campaign.tell(each.id, make.value_of(name, each.id))
    if name == "bids":
        for task in ("p1", "p2"):
            campaign.truth(task, "cat")
    make.work(campaign, 10_000)
    log = campaign.log()
    assert log[: len(before)] == before
    assert len(log) > len(before)
    assert campaign.over() is not None
    budget = SEEN[name]["status"]["budget"]
    assert budget is None or campaign.status().spent <= Decimal(budget)
    assert Campaign.open(store, name).status() == campaign.status()


def test_keys_of_a_service_are_known(store: SqliteStore) -> None:
    assert Identities(store).find("awo_of a test").label == "the first"


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_a_backup_is_restored(
    kind: str, store: SqliteStore, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = {"memory": "memory", "sqlite": f"sqlite:///{tmp_path}/new.sqlite"}.get(kind)
    packed = BytesIO(gzip.compress((OLDER / "backup.jsonl").read_bytes()))
    with closing(open_store(url or request.getfixturevalue("postgres_url"))) as target:
        events = sum(campaign["events"] for campaign in SEEN.values())
        assert restore(target, packed) == Counts(4, events, REPLIES, 1)
        with target.contents() as found, store.contents() as due:  # type: ignore[attr-defined]
            assert list(found) == list(due)
        assert older_part(make.seen(target), SEEN) == SEEN
