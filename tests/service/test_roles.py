"""Who may do what: every route, called by everybody."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.service.api.reference import routes_of
from askwise.service.app import make_app
from askwise.service.auth.identity import PREFIX, Identities, csrf_token
from askwise.service.pages.base import SESSION
from askwise.service.settings import Settings
from askwise.store import MemoryStore, open_store

ROLES = ("viewer", "requester", "owner")

OTHER = "bob-the-other"
OTHERS_PRICE = "0.777"
BUDGET = "987.65"
ELSEWHERE = "dogs-elsewhere"


@dataclass(frozen=True)
class Rule:
    """Who may call a route, and a call of it that is well formed.

    ``lowest`` is the least role whose key (or session, for pages) opens it, or ``public``, or
    ``known``: whoever has any key or token. ``worker`` opens it to the worker whom the call is
    about, with his token (or its cookie, for pages).
    """

    lowest: str | None
    worker: bool = False
    body: dict[str, Any] | None = None
    query: str = ""


def form(lowest: str, **fields: str) -> Rule:
    return Rule(lowest, body=dict(fields))


def inbox(**fields: str) -> Rule:
    return Rule(None, True, dict(fields))


ANN = {"worker": "ann"}
TOML = """
name = "of-a-form"
budget = "1"
options = ["yes", "no"]
policy = "random-pairs"
tasks = ["t"]
workers = [{id = "w", price = "0.1"}]
"""
NEW = {
    "workers": [{"id": "w", "price": "0.1"}], "tasks": ["t"], "options": ["yes", "no"],
    "policy": "random-pairs",
}  # fmt: skip
HOOK = {"url": "http://192.0.2.1/x", "campaign": "cats", "events": ["task.closed"], "label": "x"}

API: dict[tuple[str, str], Rule] = {
    ("GET", "/openapi.json"): Rule("public"),
    ("GET", "/docs"): Rule("public"),
    ("GET", "/healthz"): Rule("public"),
    ("GET", "/readyz"): Rule("public"),
    ("GET", "/metrics"): Rule("viewer"),
    ("GET", "/me"): Rule("known"),
    ("POST", "/campaigns"): Rule("requester", body=NEW),
    ("GET", "/campaigns"): Rule("viewer"),
    ("GET", "/campaigns/{name}"): Rule("viewer"),
    ("GET", "/campaigns/{name}/spec"): Rule("viewer"),
    ("POST", "/campaigns/{name}/pause"): Rule("requester"),
    ("POST", "/campaigns/{name}/resume"): Rule("requester"),
    ("POST", "/campaigns/{name}/top-up"): Rule("requester", body={"amount": "1"}),
    ("POST", "/campaigns/{name}/add"): Rule("requester", body={"tasks": ["more"]}),
    ("POST", "/campaigns/{name}/close"): Rule("requester", body={"task": "t3"}),
    ("POST", "/campaigns/{name}/truth"): Rule("requester", body={"task": "t1", "option": "yes"}),
    ("GET", "/campaigns/{name}/over"): Rule("viewer"),
    ("GET", "/campaigns/{name}/answers"): Rule("viewer"),
    ("GET", "/campaigns/{name}/task"): Rule("viewer", query="id=t1"),
    ("GET", "/campaigns/{name}/payments"): Rule("viewer"),
    ("GET", "/campaigns/{name}/log"): Rule("viewer"),
    ("GET", "/campaigns/{name}/export/{what}"): Rule("viewer"),
    ("GET", "/campaigns/{name}/workers"): Rule("viewer"),
    ("POST", "/campaigns/{name}/invite"): Rule("requester", body=ANN),
    ("POST", "/campaigns/{name}/bid"): Rule("requester", True, {**ANN, "amount": "0.2"}),
    ("POST", "/campaigns/{name}/availability"): Rule("requester", True, {**ANN, "available": True}),
    ("GET", "/campaigns/{name}/tokens"): Rule("requester"),
    ("DELETE", "/campaigns/{name}/tokens/{id}"): Rule("requester"),
    ("POST", "/campaigns/{name}/ask"): Rule("requester", True, {"workers": ["ann"]}),
    ("GET", "/campaigns/{name}/assignments"): Rule("viewer", True, query="worker=ann"),
    ("GET", "/assignments/{id}"): Rule("viewer", True),
    ("POST", "/assignments/{id}/answer"): Rule("requester", True, {"value": "yes"}),
    ("POST", "/assignments/{id}/decline"): Rule("requester", True),
    ("POST", "/assignments/{id}/expire"): Rule("requester"),
    ("GET", "/assignments/{id}/explanation"): Rule("viewer"),
    ("GET", "/hooks"): Rule("requester"),
    ("POST", "/hooks"): Rule("requester", body=HOOK),
    ("GET", "/hooks/{id}/deliveries"): Rule("requester"),
    ("POST", "/hooks/{id}/deliveries/{delivery}/retry"): Rule("requester"),
    ("POST", "/hooks/{id}/test"): Rule("requester"),
    ("DELETE", "/hooks/{id}"): Rule("requester"),
    ("GET", "/keys"): Rule("owner"),
    ("POST", "/keys"): Rule("owner", body={"role": "viewer", "label": "new"}),
    ("DELETE", "/keys/{id}"): Rule("owner"),
    # Last, as they end what others need.
    ("POST", "/campaigns/{name}/leave"): Rule("requester", True, ANN),
    ("POST", "/campaigns/{name}/stop"): Rule("requester"),
}
"""Routes that take `Authorization: Bearer`."""

PAGES: dict[tuple[str, str], Rule] = {
    ("GET", "/"): Rule("public"),
    ("GET", "/login"): Rule("public"),
    ("GET", "/dashboard"): Rule("viewer"),
    ("GET", "/dashboard/-/new"): Rule("requester"),
    ("POST", "/dashboard/-/new"): form("requester", toml=TOML, key="a" * 32),
    ("GET", "/dashboard/-/keys"): Rule("owner"),
    ("POST", "/dashboard/-/keys"): form("owner", role="viewer", label="x", days="", key="b" * 32),
    ("POST", "/dashboard/-/keys/{id}/revoke"): form("owner", key="c" * 32),
    ("GET", "/dashboard/{name}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/tasks"): Rule("viewer"),
    ("GET", "/dashboard/{name}/workers"): Rule("viewer"),
    ("GET", "/dashboard/{name}/decisions"): Rule("viewer"),
    ("GET", "/dashboard/{name}/task"): Rule("viewer", query="id=t1"),
    ("GET", "/dashboard/{name}/asked/{seq}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/export/{what}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/live"): Rule("viewer"),
    ("GET", "/dashboard/{name}/manage"): Rule("requester"),
    ("POST", "/dashboard/{name}/invite"): form("requester", worker="ann", key="d" * 32),
    ("POST", "/dashboard/{name}/tokens/{id}/revoke"): form("requester", key="e" * 32),
    ("POST", "/dashboard/{name}/top-up"): form("requester", amount="1", key="f" * 32),
    ("POST", "/dashboard/{name}/add"): form("requester", tasks="t9", key="0" * 32),
    ("POST", "/dashboard/{name}/pause"): form("requester", key="1" * 32),
    ("POST", "/dashboard/{name}/begin"): form("requester", key="ab" * 16),
    ("POST", "/dashboard/{name}/resume"): form("requester", key="2" * 32),
    ("GET", "/dashboard/{name}/stop"): Rule("requester"),
    ("POST", "/dashboard/{name}/close"): form("requester", task="t2", key="3" * 32),
    ("POST", "/dashboard/{name}/truth"): form("requester", task="t2", option="yes", key="4" * 32),
    ("GET", "/dashboard/{name}/hooks"): Rule("requester"),
    ("POST", "/dashboard/{name}/hooks"): form(
        "requester", url="http://192.0.2.1/x", events="task.closed", label="", key="5" * 32
    ),
    ("POST", "/dashboard/{name}/hooks/{id}/test"): form("requester", key="7" * 32),
    ("POST", "/dashboard/{name}/hooks/{id}/deliveries/{delivery}/retry"): form(
        "requester", key="8" * 32
    ),
    ("POST", "/dashboard/{name}/hooks/{id}/end"): form("requester", key="6" * 32),
    ("POST", "/dashboard/{name}/stop"): form("requester", sure="yes", key="9" * 32),
    ("GET", "/work/{name}"): Rule(None, True),
    ("GET", "/work/{name}/{verb}"): Rule(None, True),
    ("POST", "/work/{name}/next"): inbox(),
    ("POST", "/work/{name}/answer"): inbox(assignment="cats:{seq}", value="yes"),
    ("POST", "/work/{name}/skip"): inbox(assignment="cats:{seq}"),
    ("POST", "/work/{name}/away"): inbox(),
    ("POST", "/work/{name}/back"): inbox(),
    ("POST", "/work/{name}/bid"): inbox(amount="0.2"),
}
"""Routes that take cookies: of a session, or of a worker."""

ELSEHOW = {
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/join/{token}"),
    ("MOUNT", "/static"),
}
"""Routes that have a test of their own below."""


@dataclass
class World:
    """A service with campaigns, and everybody who may call it."""

    client: TestClient
    identities: Identities
    store: MemoryStore
    keys: dict[str, str] = field(default_factory=dict)
    """Secrets by who shows them."""
    ids: dict[str, str] = field(default_factory=dict)
    """What to put into a path."""

    def call(self, method: str, path: str, rule: Rule, headers: dict[str, str], **more: Any) -> Any:
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        place = path + (f"?{rule.query}" if rule.query else "")
        return self.client.request(method, place, headers=headers, **more)


@pytest.fixture
def world() -> Iterator[World]:
    yield from made_world()


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    """For calls of which only the role matters; what one does may clash with what another did."""
    yield from made_world()


def made_world() -> Iterator[World]:
    store = open_store("memory")
    assert isinstance(store, MemoryStore)
    settings = Settings(
        store="memory", private_hooks=True, key_burst=1e9, address_burst=1e9, sweep=3600.0
    )
    people = [{"id": "ann", "price": "0.05"}, {"id": OTHER, "price": OTHERS_PRICE}]
    tasks = [f"t{number}" for number in range(6)]
    cats = Campaign.create(
        store=store, name="cats", workers=people, tasks=tasks, options=["yes", "no"],
        budget=BUDGET, policy="random-pairs", seed=3,
    )  # fmt: skip
    Campaign.create(
        store=store, name=ELSEWHERE, workers=[{"id": "zoe", "price": "0.3"}], tasks=tasks,
        options=["yes", "no"], budget="55.5", policy="random-pairs", seed=3,
    )  # fmt: skip
    batch = cats.ask(1, ["ann"])
    cats.tell(cats.ask(1, [OTHER])[0].id, "no")  # type: ignore[index]
    with TestClient(
        make_app(settings, store), raise_server_exceptions=False, follow_redirects=False
    ) as client:
        identities: Identities = client.app.state.service.identities  # type: ignore[attr-defined]
        made = World(client, identities, store)
        for role in ROLES:
            made.keys[role] = identities.issue(role, role)[0]
        made.keys["own"] = token(identities, "cats", "ann")
        made.keys["other worker"] = token(identities, "cats", OTHER)
        made.keys["foreign worker"] = token(identities, ELSEWHERE, "zoe")
        made.keys["unknown"] = PREFIX["owner"] + "A" * 43
        for name, role in (("revoked", "owner"), ("revoked worker", "worker")):
            of = {"campaign": "cats", "worker": "ann"} if role == "worker" else {}
            made.keys[name], issued = identities.issue(role, "gone", **of)
            identities.revoke(issued.id, **({"campaign": "cats"} if of else {}))
        made.keys["expired"] = identities.issue("owner", "late", lasts=1e-6)[0]
        made.ids = {
            "name": "cats", "what": "answers.csv", "seq": batch[0].id.rpartition(":")[2],  # type: ignore[index]
            "verb": "next",
        }  # fmt: skip
        yield made


def token(identities: Identities, campaign: str, worker: str) -> str:
    return identities.issue("worker", worker, campaign=campaign, worker=worker)[0]


def aim(world: World, path: str) -> None:
    """Make anew what a route that ends something needs, and name it by ``id``."""
    if path.startswith("/assignments"):
        world.ids["id"] = f"cats:{world.ids['seq']}"
    elif "/hooks/{id}" in path:
        headers = {"Authorization": f"Bearer {world.keys['owner']}"}
        made = world.client.post("/hooks", headers=headers, json=HOOK).json()["id"]
        sent = world.client.post(f"/hooks/{made}/test", headers=headers).json()
        world.ids |= {"id": made, "delivery": sent["id"]}
    elif "/tokens/{id}" in path:
        made = world.identities.issue("worker", "ann", campaign="cats", worker="ann")[1].id
        world.ids["id"] = made
    elif "/keys/{id}" in path:
        world.ids["id"] = world.identities.issue("viewer", "spare")[1].id


def opens(rule: Rule, caller: str) -> bool:
    if rule.lowest == "public":
        return True
    if caller in ROLES:
        if rule.lowest == "known":
            return True
        return rule.lowest is not None and ROLES.index(caller) >= ROLES.index(rule.lowest)
    if caller == "own":
        return rule.worker or rule.lowest == "known"
    return rule.lowest == "known" and caller in ("other worker", "foreign worker")


def test_every_route_is_in_a_table(shared: World) -> None:
    found = set()
    for route in routes_of(shared.client.app.router):  # type: ignore[attr-defined]
        methods = getattr(route, "methods", None) or {"MOUNT"}
        found |= {(method, route.path) for method in methods - {"HEAD"}}  # type: ignore[attr-defined]
    told = {*API, *PAGES, *ELSEHOW}
    assert found - told == set(), "say who may call these"
    assert told - found == set(), "these are gone"


@pytest.mark.parametrize(
    "caller",
    ["viewer", "requester", "owner", "own", "other worker", "foreign worker", "none", "unknown",
     "revoked", "revoked worker", "expired", "basic", "bare", "cookie"],
)  # fmt: skip
def test_the_api_opens_to_whom_it_should_and_to_nobody_else(shared: World, caller: str) -> None:
    world = shared
    strangers = (
        "none", "unknown", "revoked", "revoked worker", "expired", "basic", "bare", "cookie",
    )  # fmt: skip
    headers = {"Authorization": f"Bearer {world.keys[caller]}"} if caller in world.keys else {}
    if caller == "basic":
        headers["Authorization"] = f"Basic {world.keys['owner']}"
    if caller == "bare":
        headers["Authorization"] = world.keys["owner"]
    if caller == "cookie":
        owner = world.identities.find(world.keys["owner"])
        session = world.identities.open_session(owner, 3600)
        headers["Cookie"] = f"{SESSION}={session}; askwise_work_cats={world.keys['own']}"
    for (method, path), rule in API.items():
        aim(world, path)
        reply = world.call(method, path, rule, headers, json=rule.body)
        told = f"{caller}: {method} {path}: {reply.status_code} {reply.text[:200]}"
        if opens(rule, caller) and caller not in ("unknown", "revoked", "revoked worker"):
            if caller in ("expired", "basic", "bare"):
                assert reply.status_code == 401, told
                continue
            # Well formed, so that it is the role that is tested; states may clash.
            assert reply.status_code < 300 or reply.status_code == 409, told
        elif caller in strangers:
            assert reply.status_code == 401, told
            assert reply.headers["WWW-Authenticate"] == "Bearer"
            assert reply.json()["error"]["code"] == "unauthorized"
        else:
            assert reply.status_code == 403, told
            assert reply.json()["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    "caller",
    ["viewer", "requester", "owner", "own", "other worker", "foreign worker", "none", "bearer",
     "forged", "ended", "of a revoked key"],
)  # fmt: skip
def test_pages_open_to_whom_they_should_and_to_nobody_else(shared: World, caller: str) -> None:
    world = shared
    identities, cookies, secret, headers = world.identities, "", "x", {}
    if caller in (*ROLES, "ended", "of a revoked key"):
        role = caller if caller in ROLES else "owner"
        key, issued = identities.issue(role, "browser")
        secret = identities.open_session(identities.find(key), 3600)
        cookies = f"{SESSION}={secret}"
        if caller == "ended":
            identities.close_session(secret)
        if caller == "of a revoked key":
            identities.revoke(issued.id)
    elif caller == "forged":
        cookies = f"{SESSION}={world.keys['owner']}; askwise_work_cats={world.keys['owner']}"
    elif caller == "bearer":
        headers = {"Authorization": f"Bearer {world.keys['owner']}"}
    elif caller != "none":
        # The cookie of the campaign that is asked for, whosever token it holds.
        secret = world.keys[caller]
        cookies = f"{SESSION}={secret}; askwise_work_cats={secret}"
    if cookies:
        headers = {"Cookie": cookies}
    for (method, path), rule in PAGES.items():
        aim(world, path)
        filled = {
            name: value.replace("{seq}", world.ids["seq"])
            for name, value in (rule.body or {}).items()
        }
        sent = None if rule.body is None else {**filled, "csrf": csrf_token(secret)}
        reply = world.call(method, path, rule, headers, data=sent)
        told = f"{caller}: {method} {path}: {reply.status_code} {reply.text[:300]}"
        assert reply.status_code < 500, told
        lead_away = reply.headers.get("location", "").startswith("/login")
        if path.startswith("/work/") and caller == "other worker":
            # His own inbox of the same campaign, in which the assignment named is not.
            assert reply.status_code != 401, told
        elif path == "/":
            assert reply.status_code == 303
        elif opens(rule, caller):
            assert reply.status_code not in (401, 403), told
            assert not lead_away, told
        elif path.startswith("/work/"):
            assert reply.status_code == 401, told
        elif caller in ROLES:
            assert reply.status_code == 403, told
        else:
            assert lead_away, told
            assert reply.status_code == 303, told
        if rule.body is not None and opens(rule, caller):
            # The same without the token that only our pages know.
            again = world.call(method, path, rule, headers, data=filled)
            assert again.status_code == 403, told


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
            # what he asked for himself above.
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
