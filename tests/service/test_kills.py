"""The service is killed under load and started again: nothing is lost, nothing doubled."""

from __future__ import annotations

import os
import random
import signal
import time
from decimal import Decimal
from typing import Any

import pytest

from tests.service.audit import audit
from tests.service.conftest import Serve, on_stores_and_processes
from tests.service.load import Crowd
from tests.service.served import Served

WORKERS = [
    {"id": f"w{n}", "price": price}
    for n, price in enumerate(["0.05", "0.1", "0.07", "0.2", "0.11", "0.3"])
]
UTILITIES = {"plain": False, "leased": False, "planned": True}


def campaigns(kills: int) -> list[dict[str, Any]]:
    """What the crowd works on, enough of it for so many kills."""
    tasks = [f"t{n}" for n in range(100 * kills)]
    return [
        # Plenty of money, tasks that close by themselves.
        {
            "name": "plain", "workers": WORKERS, "tasks": tasks, "options": ["yes", "no"],
            "budget": 100_000, "policy": "random-pairs", "stopping": {"name": "lead", "lead": 3},
        },
        # Leases that end under load, and so does the money: late answers race for the rest.
        {
            "name": "leased", "workers": WORKERS, "tasks": tasks, "options": ["yes", "no"],
            "budget": kills, "policy": "random-pairs", "lease": 0.3,
        },
        # Plans that reserve money ahead, up to the budget.
        {
            "name": "planned", "workers": WORKERS, "outcome": "utility", "budget": 2 * kills,
            "policy": "bounded-epsilon-first", "lease": 0.3,
        },
    ]  # fmt: skip


def kill(service: Served, how: str, chance: random.Random) -> None:
    """Kill what ``how`` names with SIGKILL, and see to it that the service is there again."""
    if how == "child":
        os.kill(chance.choice(service.children()), signal.SIGKILL)
        return  # the parent starts another
    if how == "parent":
        service.kill_parent()
    else:
        service.kill()
    service.start()


def run_with_kills(service: Served, kills: list[str], seed: int) -> None:
    chance = random.Random(seed)
    for raw in campaigns(len(kills)):
        assert service.call("POST", "/campaigns", {**raw, "seed": seed})[0] == 201
    with Crowd(service.port, service.key, UTILITIES, seed=seed) as crowd:
        for how in kills:
            crowd.wait_for_answers(chance.randrange(5, 40))
            time.sleep(chance.uniform(0.0, 0.02))
            kill(service, how, chance)
        crowd.wait_for_answers(20)
    told = crowd.told
    assert not told.wrong, told.wrong[:5]
    assert told.counts["lost"] > 0
    spend_all(service, "leased")
    time.sleep(0.35)
    for name in UTILITIES:
        # A last write releases what is past its lease, so that nothing changes while we look.
        assert service.call("POST", f"/campaigns/{name}/pause")[0] == 200
        assert audit(service, name, told)
    left = service.call("GET", "/campaigns/leased")[1]["left"]
    assert Decimal(left) < min(Decimal(str(worker["price"])) for worker in WORKERS)


def spend_all(service: Served, name: str) -> None:
    """Ask and answer until the money is gone: the budget binds, whatever happened before."""
    while True:
        status, raw = service.call("POST", f"/campaigns/{name}/ask", {"limit": 50})
        assert status == 200
        if raw == {"status": "done", "why": "budget"}:
            return
        for each in raw.get("assignments", []):
            service.call("POST", f"/assignments/{each['id']}/answer", {"value": "yes"})
        time.sleep(0.02)


def hows(processes: int, count: int, seed: int) -> list[str]:
    kinds = ["all"] if processes == 1 else ["all", "child", "parent"]
    chance = random.Random(seed)
    return [*kinds, *(chance.choice(kinds) for _ in range(count))][:count]


@on_stores_and_processes
def test_a_service_that_is_killed_loses_and_doubles_nothing(
    store_url: str, serve: Serve, processes: int
) -> None:
    # All of it, then one of its processes; the parent too, and often, in the slow suite below.
    run_with_kills(serve(store_url, processes), hows(processes, processes, 1), seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("seed", [2, 3])
def test_a_service_outlives_many_kills(
    store_url: str, serve: Serve, processes: int, seed: int
) -> None:
    run_with_kills(serve(store_url, processes), hows(processes, 20, seed), seed=seed)
