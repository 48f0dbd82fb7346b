"""What keys, links and tokens open, and what their workers learn of others."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from askwise.campaign import Campaign
from askwise.service.pages.base import SESSION
from tests.service.auth.rules import ANN, API, ROLES
from tests.service.auth.world import BUDGET, ELSEWHERE, OTHER, OTHERS_PRICE, World, aim, token


def test_sign_in_takes_keys_and_no_others(world: World) -> None:
    for name, secret in world.keys.items():
        reply = world.client.post("/login", data={"key": secret, "next": "/dashboard"})
        if name in ROLES:
            assert reply.status_code == 303
            assert reply.headers["location"] == "/dashboard"
            cookie = reply.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
            assert secret not in cookie
        elif name in ("own", "other worker", "foreign worker"):
            assert SESSION not in reply.headers.get("set-cookie", "")
        else:
            assert reply.status_code == 401
            assert "set-cookie" not in reply.headers
        world.client.cookies.clear()
    assert world.client.post("/logout").status_code == 403


def test_a_link_opens_the_inbox_of_its_worker_alone(world: World) -> None:
    for name, secret in world.keys.items():
        reply = world.client.get(f"/join/{secret}")
        if name in ("own", "other worker", "foreign worker"):
            assert reply.status_code == 303
            home = "/work/cats" if name != "foreign worker" else f"/work/{ELSEWHERE}"
            assert reply.headers["location"] == home
            assert f"Path={home};" in reply.headers["set-cookie"]
        else:
            assert reply.status_code == 401
            assert "set-cookie" not in reply.headers
        world.client.cookies.clear()


def test_a_worker_learns_nothing_of_others(world: World) -> None:
    owner = {"Authorization": f"Bearer {world.keys['owner']}"}
    assert world.client.post(
        "/campaigns/cats/truth", headers=owner, json={"task": "t1", "option": "no"}
    ).is_success
    own = {"Authorization": f"Bearer {world.keys['own']}"}
    seq = int(world.ids["seq"])
    texts = []
    for (method, path), rule in API.items():
        if not (rule.worker or rule.lowest == "known") or path.endswith("leave"):
            continue
        aim(world, path)
        for ids in ({}, {"name": ELSEWHERE}, {"name": "cat"}, {"name": "dogs"}):
            world.ids |= ids
            texts.append(world.call(method, path, rule, own, json=rule.body).text)
        world.ids["name"] = "cats"
    for number in range(1, seq + 8):
        for name in ("cats", ELSEWHERE, "cat"):
            if number == seq and name == "cats":
                continue
            place = f"/assignments/{name}:{number}"
            replies = [
                world.client.get(place, headers=own),
                world.client.post(f"{place}/answer", headers=own, json={"value": "yes"}),
                world.client.post(f"{place}/decline", headers=own),
            ]
            # What is another's, what is elsewhere and what is not there look the same, but for
            # what they asked for themselves above.
            shown = replies[0]
            if shown.status_code == 200:
                assert shown.json()["worker"] == "ann"
                continue
            assert {each.status_code for each in replies} == {403}
            texts += [each.text.replace(name, "") for each in replies]
    for body in ({"workers": [OTHER]}, {"workers": ["ann", OTHER]}, {"workers": ["nobody"]}):
        reply = world.client.post("/campaigns/cats/ask", headers=own, json=body)
        assert reply.status_code == 403
    told = [word for text in texts for word in words_of(json.loads(text))]
    assert "ann" in told
    for hidden in (OTHER, OTHERS_PRICE, BUDGET, "dogs", "zoe", "55.5", "propensity", "truth"):
        assert not [word for word in told if hidden in word]


def words_of(told: Any) -> Iterator[str]:
    """The names and texts in a reply, money among them; not its numbers: times have any digits."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        yield from told
        for each in told.values():
            yield from words_of(each)
    elif isinstance(told, list):
        for each in told:
            yield from words_of(each)


def test_a_worker_is_not_told_what_is_left_of_the_budget(world: World) -> None:
    now = [time.time() - 1000]
    for seed in range(20):
        campaign = Campaign.create(
            store=world.store, name=f"short-{seed}", workers=[{"id": "ann", "price": "2.5"}],
            tasks=["a", "b"], options=["x", "y"], budget="4.25", policy="random-pairs",
            lease=100.0, seed=seed, clock=lambda: now[0],
        )  # fmt: skip
        first: Any = campaign.ask(1, ["ann"])
        now[0] += 1000
        second: Any = campaign.ask(1, ["ann"])
        now[0] -= 1000
        if first[0].task != second[0].task:
            break
    own = {"Authorization": f"Bearer {token(world.identities, campaign.name, 'ann')}"}
    place = f"/assignments/{first[0].id}/answer"
    reply = world.client.post(place, headers=own, json={"value": "x"})
    assert reply.status_code == 409
    assert "1.75" not in reply.text
    key = {"Authorization": f"Bearer {world.keys['requester']}"}
    assert "1.75" in world.client.post(place, headers=key, json={"value": "x"}).text


def test_a_key_that_is_revoked_opens_nothing_from_then_on(world: World) -> None:
    owner = {"Authorization": f"Bearer {world.keys['owner']}"}
    secret, issued = world.identities.issue("viewer", "soon gone")
    theirs = {"Authorization": f"Bearer {secret}"}
    assert world.client.get("/campaigns", headers=theirs).status_code == 200
    session = world.identities.open_session(world.identities.find(secret), 3600)
    assert world.client.get("/dashboard", headers={"Cookie": f"{SESSION}={session}"}).is_success
    assert world.client.delete(f"/keys/{issued.id}", headers=owner).status_code == 200
    assert world.client.get("/campaigns", headers=theirs).status_code == 401
    gone = world.client.get("/dashboard", headers={"Cookie": f"{SESSION}={session}"})
    assert gone.headers["location"].startswith("/login")
    invited = world.client.post("/campaigns/cats/invite", headers=owner, json=ANN).json()
    his = {"Authorization": f"Bearer {invited['secret']}"}
    assert world.client.get("/campaigns/cats/assignments", headers=his).status_code == 200
    ended = world.client.delete(f"/campaigns/cats/tokens/{invited['id']}", headers=owner)
    assert ended.status_code == 200
    assert world.client.get("/campaigns/cats/assignments", headers=his).status_code == 401


def test_a_token_is_not_revoked_through_another_campaign(world: World) -> None:
    owner = {"Authorization": f"Bearer {world.keys['owner']}"}
    mine = world.identities.issue("worker", "ann", campaign="cats", worker="ann")[1].id
    elsewhere = world.client.delete(f"/campaigns/{ELSEWHERE}/tokens/{mine}", headers=owner)
    assert elsewhere.status_code == 404
    assert world.client.delete(f"/keys/{mine}", headers=owner).status_code == 404
