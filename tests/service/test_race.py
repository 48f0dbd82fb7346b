"""Sixty-four clients race for the last of a budget: not one assignment too many."""

from __future__ import annotations

import threading
from typing import Any

from askwise.core.events import Kind
from tests.service.audit import audit
from tests.service.conftest import Serve, on_stores_and_processes
from tests.service.load import Link
from tests.service.served import Served

CLIENTS = 64
PRICE = "0.07"
BUDGET = "2.5"
ROOM = 35
"""As often does the price go into the budget; 0.05 are left."""


def race(service: Served, round: int) -> list[dict[str, Any]]:
    """All clients ask until there is nothing to be had; what they were handed."""
    start = threading.Barrier(CLIENTS)
    handed: list[dict[str, Any]] = []
    wrong: list[Any] = []

    def run(number: int) -> None:
        link = Link(service.port, service.key, timeout=60)
        start.wait()
        try:
            for turn in range(ROOM + 1):
                body = {"limit": 1 + number % 3}
                status, raw = link.send("/campaigns/race/ask", body, f"{round}-{number}-{turn}")
                if status in (429, 503):
                    continue
                if status != 200:
                    wrong.append((status, raw))
                    return
                if raw["status"] != "batch":
                    if raw not in (
                        {"status": "done", "why": "budget"},
                        {"status": "wait", "what": "answers"},
                    ):
                        wrong.append(raw)
                    return
                handed.extend(raw["assignments"])
        except Exception as error:
            wrong.append(error)
        finally:
            link.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len({each["id"] for each in handed}) == len(handed)
    return handed


@on_stores_and_processes
def test_a_race_for_the_last_of_a_budget_hands_out_what_it_buys_and_no_more(
    store_url: str, serve: Serve, processes: int
) -> None:
    service = serve(store_url, processes)
    campaign = {
        "name": "race", "workers": [{"id": each, "price": PRICE} for each in ("ann", "bob")],
        "tasks": [f"t{n}" for n in range(120)], "options": ["yes", "no"], "budget": BUDGET,
        "policy": "random-pairs", "seed": 1,
    }  # fmt: skip
    assert service.call("POST", "/campaigns", campaign)[0] == 201
    handed = race(service, 1)
    assert len(handed) == ROOM
    status = service.call("GET", "/campaigns/race")[1]
    assert (status["reserved"], status["left"], status["pending"]) == ("2.45", "0.05", ROOM)
    # Some are answered: spent. Some are released, and raced for anew.
    for number, each in enumerate(handed[:20]):
        path = f"/assignments/{each['id']}"
        if number % 2:
            assert service.call("POST", f"{path}/answer", {"value": "yes"})[0] == 200
        else:
            assert service.call("POST", f"{path}/expire")[0] == 200
    assert len(race(service, 2)) == 10
    status = service.call("GET", "/campaigns/race")[1]
    assert (status["spent"], status["reserved"], status["left"]) == ("0.7", "1.75", "0.05")
    log = audit(service, "race")
    kinds = [event.kind for event in log]
    assert kinds.count(Kind.ASKED) - kinds.count(Kind.EXPIRED) == ROOM
