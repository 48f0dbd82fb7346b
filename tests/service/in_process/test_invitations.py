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


def test_somebody_who_comes_back_by_a_link_is_what_they_were(
    client: OwnerClient, cats: str
) -> None:
    ann = {"id": "ann", "price": "0.05", "kind": "person", "family": "vendor"}
    client.create(cats, workers=[ann, {"id": "bob", "price": "1"}], policy="virt-ucb")
    asked = client.call("POST", f"/campaigns/{cats}/ask", {"workers": ["ann"]}).json()
    assert asked["status"] == "batch"
    client.call("POST", f"/campaigns/{cats}/leave", {"worker": "ann"})
    path, body = f"/campaigns/{cats}/invite", {"worker": "ann", "price": "0.10"}
    refused = client.call("POST", path, {**body, "kind": "crowd"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "kind")
    assert client.call("POST", path, body).status_code == 201
    found = client.call("GET", f"/campaigns/{cats}/workers").json()["items"]
    said = [(each["id"], each["kind"], each["family"]) for each in found]
    assert said == [("ann", "person", "vendor"), ("bob", None, None)]


def test_a_kind_that_is_none_and_an_empty_family_are_refused(
    client: OwnerClient, cats: str
) -> None:
    for field, value in (("kind", "robot"), ("family", ""), ("family", "  "), ("family", 3)):
        worker = {"id": "ann", "price": "0.05", field: value}
        refused = client.create(cats, workers=[worker])
        assert refused.status_code == 422
        assert field in refused.json()["error"]["field"]


def test_several_invite_the_same_new_worker_at_once(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "zoe", "price": "0.1"}
    replies = at_once(8, lambda at: client.call("POST", path, body, once=f"{cats}-{at}"))
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["secret"] for reply in replies}) == 8
    assert client.workers(cats) == 3
