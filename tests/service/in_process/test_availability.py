"""Workers who are away, and who is asked meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askwise.service.availability import Availability
from askwise.store import MemoryStore, Record
from tests.service.in_process.faults import SPEC, OwnerClient


def test_absences_are_of_one_campaign_and_one_worker() -> None:
    now = [1000.0]
    absences = Availability(MemoryStore(), lambda: now[0])
    for campaign, worker in (("a", "b/c"), ("a.b", "c"), ("ab", "x"), ("a", "%"), ("a", "/")):
        absences.set(campaign, worker, available=False, until=None)
    assert absences.away("a") == {"b/c", "%", "/"}
    assert absences.away("a.b") == {"c"}
    assert absences.away("ab") == {"x"}
    absences.set("a", "b/c", available=True, until=None)
    assert absences.away("a") == {"%", "/"}


def test_an_absence_ends_by_itself_and_a_clock_set_back_is_heard() -> None:
    now = [1000.0]
    store = MemoryStore()
    here, there = (Availability(store, lambda: now[0]) for _ in range(2))
    here.set("a", "ann", available=False, until=1010.0)
    assert here.away("a") == there.away("a") == {"ann"}
    now[0] = 1010.0
    assert here.away("a") == there.away("a") == frozenset()
    now[0] = 500.0
    there.set("a", "bob", available=False, until=None)
    now[0] = 501.5
    assert here.away("a") == {"ann", "bob"}


def test_who_comes_back_during_a_look_up_is_back() -> None:
    class Slow(MemoryStore):
        then: Callable[[], None] | None = None

        def records(self, *args: Any, **more: Any) -> list[Record]:
            found = super().records(*args, **more)
            then, self.then = self.then, None
            if then is not None:
                then()
            return found

    store = Slow()
    absences = Availability(store)
    absences.set("a", "ann", available=False, until=None)
    store.then = lambda: absences.set("a", "ann", available=True, until=None)
    absences.away("a")
    assert absences.away("a") == frozenset()


def test_who_declined_is_passed_over_though_somebody_is_away(
    client: OwnerClient, cats: str
) -> None:
    workers = [*SPEC["workers"], {"id": "cy", "price": "0.05"}]
    made = client.create(
        cats,
        workers=workers,
        policy="thompson-knapsack",
        outcome="utility",
        options=None,
        tasks=None,
    )
    assert made.status_code == 201, made.text
    path = f"/campaigns/{cats}"
    client.call("POST", f"{path}/availability", {"worker": "cy", "available": False})
    asked = client.call("POST", f"{path}/ask").json()["assignments"][0]
    client.call("POST", f"/assignments/{asked['id']}/decline")
    for _ in range(8):
        other = client.call("POST", f"{path}/ask").json()["assignments"][0]
        assert other["worker"] not in (asked["worker"], "cy")


def test_nobody_is_left_to_ask(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    path = f"/campaigns/{cats}"
    for worker in ("ann", "bob"):
        client.call("POST", f"{path}/availability", {"worker": worker, "available": False})
    reply = client.call("POST", f"{path}/ask")
    assert reply.json() == {"status": "wait", "what": "workers"}
    assert client.call("GET", path).json()["decisions"] == 0
