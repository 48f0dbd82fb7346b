"""Who may do what: every route, called by everybody."""

from __future__ import annotations

import pytest

from askwise.service.auth.identity import csrf_token
from askwise.service.pages.base import SESSION
from tests.service.auth.rules import API, ELSEHOW, PAGES, ROLES, opens
from tests.service.auth.world import World, aim


def test_every_route_is_in_a_table(shared: World) -> None:
    found = set()
    for route in shared.client.app.routes:  # type: ignore[attr-defined]
        methods = getattr(route, "methods", None) or {"MOUNT"}
        found |= {(method, route.path) for method in methods - {"HEAD"}}  # type: ignore[attr-defined]
    told = {*API, *PAGES, *ELSEHOW}
    assert found - told == set(), "say who may call these"
    assert told - found == set(), "these are gone"


def world_for(caller: str, request: pytest.FixtureRequest) -> World:
    """A service of their own for workers: others may have let them go, or taken their links."""
    made: World = request.getfixturevalue(
        "world" if caller.endswith(("own", "worker")) else "shared"
    )
    return made


@pytest.mark.parametrize(
    "caller",
    ["viewer", "requester", "owner", "own", "other worker", "foreign worker", "none", "unknown",
     "revoked", "revoked worker", "expired", "basic", "bare", "cookie"],
)  # fmt: skip
def test_the_api_opens_to_whom_it_should_and_to_nobody_else(
    request: pytest.FixtureRequest, caller: str
) -> None:
    world = world_for(caller, request)
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
def test_pages_open_to_whom_they_should_and_to_nobody_else(
    request: pytest.FixtureRequest, caller: str
) -> None:
    world = world_for(caller, request)
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
            # Their own inbox of the same campaign, in which the assignment named is not.
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
