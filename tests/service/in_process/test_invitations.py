"""Inviting a worker once, whatever breaks off and whoever else does it."""

from __future__ import annotations

from tests.service.in_process.faults import FaultyStore, OwnerClient, at_once


def test_a_key_of_another_invitation_adds_nobody(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    path = f"/campaigns/{cats}/invite"
    assert client.call("POST", path, {"worker": "ann"}, once=cats).status_code == 201
    refused = client.call("POST", path, {"worker": "zoe", "price": "0.1"}, once=cats)
    assert (refused.status_code, refused.json()["error"]["field"]) == (409, "key")
    assert client.workers(cats) == 2


def test_a_retried_invitation_brings_nobody_back_but_a_new_one_does(
    client: OwnerClient, cats: str
) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "ann", "price": "0.05"}
    first = client.call("POST", path, body, once=cats).json()
    client.call("POST", f"/campaigns/{cats}/leave", {"worker": "ann"})
    assert client.call("POST", path, body, once=cats).json() == first
    assert client.workers(cats) == 1
    assert client.call("POST", path, body, once=f"{cats}-2").status_code == 201
    assert client.workers(cats) == 2


def test_an_invitation_that_broke_off_between_worker_and_token_is_made_good(
    client: OwnerClient, store: FaultyStore, cats: str
) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "zoe", "price": "0.1"}
    store.refuses = "token"
    assert client.call("POST", path, body, once=cats).status_code == 503
    assert client.workers(cats) == 3
    assert client.call("POST", path, body, once=cats).status_code == 201
    assert client.workers(cats) == 3


def test_several_invite_the_same_new_worker_at_once(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "zoe", "price": "0.1"}
    replies = at_once(8, lambda at: client.call("POST", path, body, once=f"{cats}-{at}"))
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["secret"] for reply in replies}) == 8
    assert client.workers(cats) == 3
