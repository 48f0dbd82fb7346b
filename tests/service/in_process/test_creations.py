"""Creating a campaign, and asking, once: retries, crashes in between, keys of two callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwise import Campaign
from askwise.core.errors import Conflict, StoreError
from askwise.service.api.routes.campaigns import create_once
from askwise.store import open_store
from tests.service.in_process.faults import SPEC, Crash, FaultyStore, OwnerClient, at_once


@pytest.mark.parametrize("is_named", [True, False])
def test_sixteen_in_two_processes_create_one_campaign(tmp_path: Path, is_named: bool) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    stores = [open_store(url) for _ in range(2)]
    services = [OwnerClient(store).service for store in stores]
    fields = {**SPEC, "name": "cats"} if is_named else SPEC

    def create(at: int) -> str:
        return str(create_once(services[at % 2], dict(fields), "me:k")["name"])

    names = at_once(16, create)
    assert len(set(names)) == 1
    assert create(0) == names[0]
    assert stores[0].names() == names[:1]
    for store in stores:
        store.close()


def test_a_creation_whose_commit_was_not_heard_of_is_found_by_its_retry(
    client: OwnerClient, store: FaultyStore, cats: str
) -> None:
    store.after = StoreError("the connection was lost")
    assert client.create(cats, once=cats).status_code == 503
    assert client.create(cats, once=cats).status_code == 201
    assert client.create(cats, once=f"{cats}-2").status_code == 409


def test_a_crash_between_note_and_creation_is_made_good_by_the_retry(
    client: OwnerClient, store: FaultyStore, cats: str
) -> None:
    store.before = Crash()
    fields = {**SPEC, "name": cats}
    with pytest.raises(Crash):
        create_once(client.service, dict(fields), cats)
    assert cats not in store.names()
    assert create_once(client.service, dict(fields), cats)["name"] == cats


@pytest.mark.parametrize("seed", [None, 7])
def test_a_retry_is_not_answered_with_a_campaign_of_somebody_else(
    client: OwnerClient, store: FaultyStore, cats: str, seed: int | None
) -> None:
    mine = {**SPEC, "name": cats, "seed": seed}
    store.before = Crash()
    with pytest.raises(Crash):
        create_once(client.service, dict(mine), cats)
    client.create(cats, budget="77")
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            create_once(client.service, dict(mine), cats)
        assert refused.value.field == "name"


def test_a_retry_begins_with_what_another_campaign_showed_at_the_first_try(
    client: OwnerClient, store: FaultyStore, cats: str
) -> None:
    workers, options = [{"id": "ann", "price": "0.05"}], ["cat", "dog"]
    fields = {"workers": workers, "options": options, "tasks": ["t1", "t2"]}
    first = Campaign.create(store=store, name=f"{cats}-0", policy="random-pairs", **fields)
    for each in first.ask(limit=2):
        first.tell(each.id, "cat")
    first.truth("t1", "cat")
    policy = {"name": "ccb-ns", "earlier": f"campaign:{cats}-0"}
    for _ in range(2):
        made = client.call(
            "POST", "/campaigns", {**fields, "name": cats, "policy": policy}, once=cats
        )
        assert made.status_code == 201
        kept = client.call("GET", f"/campaigns/{cats}/spec").json()["policy"]["earlier"]
        assert kept == [["ann", 1, 1]]
        if first.status().settled == 1:
            first.truth("t2", "dog")
    refused = {"name": "ccb-ns", "earlier": "campaign:nobody"}
    reply = client.call("POST", "/campaigns", {**fields, "policy": refused})
    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "earlier")


def test_a_name_that_is_taken_is_refused_however_like_the_campaigns_are(
    client: OwnerClient, cats: str
) -> None:
    assert client.create(cats, seed=1).status_code == 201
    for key in (cats, cats, f"{cats}-2"):
        assert client.create(cats, seed=1, once=key).status_code == 409
    # The key is not used up by what was refused.
    assert client.create(f"{cats}-2", seed=1, once=cats).status_code == 201
    assert client.create(f"{cats}-3", seed=1, once=cats).status_code == 409


def test_what_was_not_valid_uses_up_no_key(client: OwnerClient, cats: str) -> None:
    assert client.create(cats, once=cats, policy="no-such").status_code == 422
    assert client.create(cats, once=cats).status_code == 201
    assert client.create(cats, once=cats, budget="6").json()["error"]["field"] == "key"


def test_keys_of_two_callers_have_nothing_to_do_with_each_other(
    client: OwnerClient, cats: str
) -> None:
    other, _ = client.service.identities.issue("requester", "eve")
    first = client.call("POST", "/campaigns", SPEC, once=cats).json()["name"]
    theirs = {"Authorization": f"Bearer {other}"}
    second = client.call("POST", "/campaigns", SPEC, once=cats, **theirs).json()["name"]
    assert first != second


def test_keys_that_look_alike_are_two(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    composed, apart = "caf\u00e9".encode(), "cafe\u0301".encode()
    ids = set()
    for key in (composed, apart, composed, b"x" * 150):
        sent = [
            (b"authorization", f"Bearer {client.secret}".encode()),
            (b"idempotency-key", key),
        ]
        reply = client.post(f"/campaigns/{cats}/ask", headers=sent)
        ids.add(reply.json()["assignments"][0]["id"])
    assert len(ids) == 3
    assert client.call("POST", f"/campaigns/{cats}/ask", once="x" * 151).status_code == 422


def test_a_retried_ask_gets_the_same_though_somebody_went_or_came(
    client: OwnerClient, cats: str
) -> None:
    client.create(cats)
    path, away = f"/campaigns/{cats}", {"worker": "bob", "available": False}
    client.call("POST", f"{path}/availability", away)
    first = client.call("POST", f"{path}/ask", once="k")
    assert first.json()["assignments"][0]["worker"] == "ann"
    client.call("POST", f"{path}/availability", {**away, "available": True})
    again = client.call("POST", f"{path}/ask", once="k")
    assert (again.status_code, again.json()) == (200, first.json())
    client.call("POST", f"{path}/add", {"workers": [{"id": "cy", "price": "0.05"}]})
    assert client.call("POST", f"{path}/ask", once="k").json() == first.json()
