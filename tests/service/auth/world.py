"""A service with a caller of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.service.app import make_app
from askwise.service.auth.identity import PREFIX, Identities
from askwise.service.settings import Settings
from askwise.store import MemoryStore, open_store
from tests.service.auth.rules import HOOK, ROLES, Rule

OTHER = "bob-the-other"

OTHERS_PRICE = "0.777"

BUDGET = "987.65"

ELSEWHERE = "dogs-elsewhere"


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
            "verb": "next", "draft": "0" * 32,
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
