"""Campaigns that are deleted, and workers whose id is replaced everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.campaign.forgetting import Renaming, delete, forget_worker
from askwise.core.errors import AskwiseError, Conflict, StoreError, UnknownName
from askwise.core.events import Kind
from askwise.store import Change, MemoryStore, SqliteStore, Store
from askwise.store.postgres.store import PostgresStore
from tests.campaign import certified
from tests.store.json_store import JsonStore

ANN = "ann.lee@example.org"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store
    if request.param == "memory":
        made = MemoryStore()
    elif request.param == "sqlite":
        made = SqliteStore(tmp_path / "store.sqlite")
    else:
        made = PostgresStore(request.getfixturevalue("postgres_url"))
    with closing(made):
        yield made


def campaign_in(store: Store, **more: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker(ANN, 1), Worker("bob", 1)],
        # An option, a payload and a task that are called like the worker are something else.
        "tasks": [{"id": "t1", "workers": [ANN, "bob"], "payload": {"text": ANN}}, ANN, "t3"],
        "options": ["nobody", ANN],
        "policy": "random-pairs",
        "budget": 100,
        "seed": 1,
        "name": "cats",
    }
    return Campaign.create(store=store, **{**raw, **more})


def used(store: Store) -> Campaign:
    """A campaign in which the worker is named wherever they can be."""
    campaign = campaign_in(store)
    for each in campaign.ask(4, [ANN, "bob"], key=f"ask for {ANN}"):
        campaign.tell(each.id, ANN, key=f"{each.worker}/{each.id}", rationale=f"I, {ANN}, say so.")
    campaign.comment("t1", f"Asked {ANN}; not {ANN}x.", by=ANN)
    campaign.leave(ANN)
    campaign.add(workers=[Worker(ANN, 2)], tasks=[{"id": "t4", "workers": [ANN]}])
    (last,) = campaign.ask(1, [ANN])
    campaign.flag(last.id, f"{ANN} can't read it")
    token = {"role": "worker", "label": ANN, "campaign": "cats", "worker": ANN}
    sent = {"campaign": "cats", "said": f"no {ANN} here"}
    sent["body"] = json.dumps({"data": {"worker": ANN, "value": ANN}})
    store.change(
        [
            Change("token", "0", None, json.dumps(token)),
            Change("token", "1", None, json.dumps({**token, "campaign": "dogs"})),
            Change("absence", f"cats/{ANN}", None, "{}"),
            Change("hook-waiting", "h/1", None, json.dumps(sent)),
            Change("hook-settled", "h/2", None, json.dumps({**sent, "said": None})),
        ]
    )
    return campaign


def events_of(campaign: Campaign) -> list[dict[str, Any]]:
    return [event.to_json() for event in campaign.log()]


def test_a_worker_who_is_forgotten_is_named_nowhere_and_nothing_else_changes(store: Store) -> None:
    campaign = used(store)
    with campaign.reading() as state:
        before = {name: array.copy() for name, array in state.ledger.arrays().items()}
    log, answers = campaign.log(), campaign.answers()
    new = forget_worker(store, "cats", ANN, 5.0)
    assert new.startswith("worker-")
    with campaign.reading() as state:
        for name, array in state.ledger.arrays().items():
            np.testing.assert_array_equal(array, before[name])
        assert [worker.id for worker in state.ledger.workers] == [new, "bob"]
    assert campaign.answers() == answers
    *events, last = campaign.log()
    assert (last.kind, last.worker, last.time) == (Kind.RENAMED, new, 5.0)
    assert [event.kind for event in events] == [event.kind for event in log]
    assert [event.value for event in events] == [event.value for event in log]
    assert [event.task for event in events] == [event.task for event in log]
    for event in events:
        raw = event.to_json()
        raw.pop("value", None)
        raw.pop("task", None)
        raw["rows"] = [row[1:] for row in raw.get("rows", ())]
        kept = json.dumps(raw).replace(f"{ANN}x", "")
        assert ANN not in kept, raw
    assert json.loads(store.spec("cats"))["workers"][0]["id"] == new
    assert json.loads(store.spec("cats"))["tasks"][0]["workers"] == [new, "bob"]
    assert json.loads(store.spec("cats"))["tasks"][0]["payload"] == {"text": ANN}


def test_the_records_beside_the_log_are_renamed_too_and_no_others(store: Store) -> None:
    used(store)
    forget_worker(store, "cats", ANN, 5.0, "w7")
    tokens = [json.loads(record.body) for record in store.records("token")]
    assert [(each["worker"], each["label"]) for each in tokens] == [("w7", "w7"), (ANN, ANN)]
    assert [record.id for record in store.records("absence")] == ["cats/w7"]
    (waiting,) = store.records("hook-waiting")
    body = json.loads(waiting.body)
    assert json.loads(body["body"])["data"] == {"worker": "w7", "value": ANN}
    assert body["said"] == "no w7 here"


def test_retries_are_answered_under_the_new_name(store: Store) -> None:
    campaign = used(store)
    forget_worker(store, "cats", ANN, 5.0, "w7")
    end = campaign.log()[-1].seq
    again = campaign.ask(4, ["bob", "w7"], key="ask for w7")
    assert {each.worker for each in again} <= {"w7", "bob"}
    assert campaign.log()[-1].seq == end


def test_those_who_hold_the_campaign_go_on_with_the_new_name(store: Store) -> None:
    campaign = used(store)
    reader, writer = Campaign.open(store, "cats"), Campaign.open(store, "cats")
    assert reader.status() == writer.status()
    forget_worker(store, "cats", ANN, 5.0, "w7")
    assert [payment.worker for payment in reader.payments()] == ["w7", "bob"]
    (asked,) = writer.ask(1, ["w7"])
    assert asked.worker == "w7"
    with pytest.raises(UnknownName):
        campaign.ask(1, [ANN])
    assert reader.spec["workers"][0]["id"] == "w7"
    assert campaign.explain(asked.id).worker == "w7"


def test_a_state_of_before_is_never_saved_as_a_snapshot_after(store: Store) -> None:
    campaign = used(store)
    with campaign.reading() as state:
        seq, version, pack = state.seq, state.version, state.freeze()
    forget_worker(store, "cats", ANN, 5.0, "w7")
    campaign._writer._save(seq, version, pack)
    assert store.snapshot("cats", version) is None


def test_neither_the_file_nor_its_log_has_the_old_name(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        campaign = campaign_in(store, tasks=["t1", "t2"], options=["no", "yes"])
        for each in campaign.ask(4, key=f"ask for {ANN}"):
            campaign.tell(each.id, "no", key=f"{each.worker}/{each.id}")
        campaign.settle()
        with campaign.reading() as state:
            campaign._writer._save(state.seq, state.version, state.freeze())
        # What was freed before is on the free pages of the file.
        store.change([Change("session", ANN, None, ANN * 1000)])
        store.change([Change("session", ANN, ANN * 1000, None)])
        forget_worker(store, "cats", ANN, 5.0)
        for file in tmp_path.iterdir():
            assert ANN.encode() not in file.read_bytes(), file
        assert len(campaign.answers()) == 2


def test_an_archived_campaign_stays_archived(store: Store) -> None:
    campaign = campaign_in(store)
    campaign.archive()
    forget_worker(store, "cats", ANN, 5.0, "w7")
    assert [event.kind for event in campaign.log()[-2:]] == [Kind.RENAMED, Kind.ARCHIVED]
    assert store.put_away() == {"cats"}


def test_an_auditor_stays_an_auditor(store: Store) -> None:
    campaign = certified.create(tasks=certified.TASKS[:10], store=store)
    certified.run(campaign)
    before = campaign.certificate()
    forget_worker(store, "cats", "vet", 5.0, "w7")
    assert campaign.certificate() == replace(before, by=("w7",))
    assert campaign.spec["certify"]["by"] == ["w7"]


def test_shares_of_a_policy_are_the_crowds_own(store: Store) -> None:
    policy = {"name": "non-adaptive", "shares": {ANN: 0.3, "bob": 0.7}}
    campaign_in(store, policy=policy, stopping="fixed", tasks=["t1"])
    forget_worker(store, "cats", ANN, 5.0, "w7")
    assert set(Campaign.open(store, "cats").spec["policy"]["shares"]) == {"w7", "bob"}


@pytest.mark.parametrize(
    ("worker", "pseudonym", "reason"),
    [
        ("nobody", None, "unknown_worker"),
        (ANN, "bob", "worker_exists"),
        (ANN, "", "invalid_problem"),
        (ANN, "a\nb", "invalid_problem"),
    ],
)
def test_what_can_not_be_forgotten_is_refused(
    worker: str, pseudonym: str | None, reason: str
) -> None:
    store = MemoryStore()
    campaign = campaign_in(store)
    with pytest.raises(AskwiseError) as refused:
        forget_worker(store, "cats", worker, 5.0, pseudonym)
    assert refused.value.reason == reason
    assert campaign.log() == []


def test_a_word_that_only_begins_like_the_name_is_another() -> None:
    renaming = Renaming("ann", "w7")
    written = {"why": "ann and anna", "text": "Joann", "value": "ann", "by": "ann"}
    assert json.loads(renaming.json(json.dumps(written))) == {
        "why": "w7 and anna",
        "text": "Joann",
        "value": "ann",
        "by": "w7",
    }


# Deleting.


def test_a_campaign_without_answers_is_deleted_with_all_that_is_its_own(store: Store) -> None:
    campaign = campaign_in(store)
    other = campaign_in(store, name="dogs")
    campaign.ask(2)
    hook = {"id": "h", "campaign": "cats"}
    store.change(
        [
            Change("token", "0", None, '{"campaign": "cats"}'),
            Change("token", "1", None, '{"campaign": "dogs"}'),
            Change("absence", "cats/bob", None, "{}"),
            Change("hook", "h", None, json.dumps(hook)),
            Change("hook", "g", None, '{"campaign": null}'),
            Change("hook-lane", "h", None, "{}"),
            Change("hook-cursor", "h/cats", None, "{}"),
            Change("hook-cursor", "g/cats", None, "{}"),
            Change("hook-cursor", "g/dogs", None, "{}"),
            Change("hook-waiting", "h/1", None, '{"campaign": "cats"}'),
            Change("made", "k", None, '{"name": "cats"}'),
            Change("runs", "cats", None, "{}"),
        ]
    )
    delete(store, "cats")
    kinds = ("token", "absence", "hook", "hook-lane", "hook-cursor", "hook-waiting", "made", "runs")
    left = [(record.kind, record.id) for kind in kinds for record in store.records(kind)]
    assert left == [("token", "1"), ("hook", "g"), ("hook-cursor", "g/dogs")]
    assert store.names() == ["dogs"]
    with pytest.raises(UnknownName, match="was deleted"):
        campaign.pause()
    with pytest.raises(UnknownName, match="was deleted"):
        Campaign.open(store, "cats")
    with pytest.raises(Conflict, match="which was deleted: choose another name"):
        campaign_in(store)
    assert other.ask()


@pytest.mark.parametrize("how", ["answered", "paid"])
def test_a_campaign_with_answers_is_not_deleted(how: str) -> None:
    campaign = campaign_in(MemoryStore())
    (asked,) = campaign.ask()
    if how == "answered":
        campaign.tell(asked.id, ANN)
    else:
        campaign.fail(asked.id, "refused", cost="0.1")
    with pytest.raises(Conflict, match="archive it instead") as refused:
        delete(campaign.store, "cats")
    assert refused.value.reason == "campaign_answered"
    assert campaign.status().name == "cats"


def test_an_answer_that_comes_in_between_keeps_the_campaign() -> None:
    class Late(MemoryStore):
        def delete(self, name: str, expected_seq: int, changes: Any = ()) -> bool:
            if asked:
                campaign.tell(asked.pop().id, ANN)
            return super().delete(name, expected_seq, changes)

    campaign = campaign_in(Late())
    asked = [*campaign.ask()]
    with pytest.raises(Conflict) as refused:
        delete(campaign.store, "cats")
    assert refused.value.reason == "campaign_answered"


def test_a_record_that_changes_meanwhile_is_looked_at_again() -> None:
    class Late(MemoryStore):
        def rewrite(self, *arguments: Any) -> bool:
            if not self.records("token"):
                body = json.dumps({"campaign": "cats", "worker": ANN, "label": ANN})
                self.change([Change("token", "0", None, body)])
                return False
            return super().rewrite(*arguments)

    store = Late()
    campaign_in(store)
    forget_worker(store, "cats", ANN, 5.0, "w7")
    assert json.loads(store.records("token")[0].body)["worker"] == "w7"


def test_a_store_that_can_not_amend_says_so(tmp_path: Path) -> None:
    store = JsonStore(f"json://{tmp_path / 'store.json'}")
    campaign_in(store)
    with pytest.raises(StoreError, match="can't delete or rewrite"):
        delete(store, "cats")
