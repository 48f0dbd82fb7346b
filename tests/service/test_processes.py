"""The processes of a service: they start, stop, die and come back."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.service.audit import audit
from tests.service.conftest import Serve
from tests.service.load import Link, Told
from tests.service.served import Served

CATS: dict[str, Any] = {
    "name": "cats",
    "workers": [{"id": "ann", "price": "0.1"}, {"id": "bob", "price": "0.2"}],
    "tasks": [f"t{n}" for n in range(800)],
    "options": ["yes", "no"],
    "budget": "1000",
    "policy": "random-pairs",
    "seed": 1,
}
CLEAN = (ConnectionRefusedError, ConnectionResetError, BrokenPipeError)
"""How a connection ends that never had a reply on it, or had the whole of it."""


def work(service: Served, number: int, told: Told, unclean: list[str]) -> None:
    """Ask and answer until the service is gone; note whatever is neither reply nor clean end."""
    link = Link(service.port, service.key)
    count = 0
    try:
        while True:
            count += 1
            key = f"{number}-{count}"
            try:
                status, raw = link.send("/campaigns/cats/ask", None, key)
                if status != 200 or raw["status"] != "batch":
                    unclean.append(f"{status}: {raw}")
                    return
                told.asked[key] = raw["assignments"]
                [asked] = raw["assignments"]
                key += "-answer"
                path = f"/assignments/{asked['id']}/answer"
                status, raw = link.send(path, {"value": "yes"}, key)
                if status != 200:
                    unclean.append(f"{status}: {raw}")
                    return
                told.answered[asked["id"]] = "yes"
            except (*CLEAN, http.client.RemoteDisconnected):
                told.unknown.add(key)
                return
    except Exception as error:
        unclean.append(repr(error))
    finally:
        link.close()


# A process takes seconds to start: each law is shown on one store, and on the other in the slow
# suite.


@pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
def test_a_stop_lets_requests_under_way_end_and_the_next_start_goes_on(
    store_url: str, serve: Serve
) -> None:
    service = serve(store_url, 1 if store_url.startswith("sqlite") else 2)
    assert service.call("POST", "/campaigns", CATS)[0] == 201
    told, unclean = Told(), list[str]()
    threads = [
        threading.Thread(target=work, args=(service, number, told, unclean)) for number in range(16)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while len(told.answered) < 30 and not unclean:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert service.stop() == 0
    for thread in threads:
        thread.join()
    assert unclean == []
    service.start()
    audit(service, "cats", told)
    assert service.call("POST", "/campaigns/cats/ask")[1]["status"] == "batch"
    assert service.stop() == 0
    assert "Traceback" not in service.errors.read_text()


@pytest.mark.parametrize(
    "store_url", ["postgres", pytest.param("sqlite", marks=pytest.mark.slow)], indirect=True
)
def test_two_processes_serve_one_store(store_url: str, serve: Serve) -> None:
    service = serve(store_url, 2)
    first, second = wait_for_children(service)
    assert service.call("POST", "/campaigns", CATS)[0] == 201
    for _ in range(20):  # on connections of their own, so both get some
        status, raw = service.call("POST", "/campaigns/cats/ask")
        assert (status, raw["status"]) == (200, "batch")
        [asked] = raw["assignments"]
        answered = service.call("POST", f"/assignments/{asked['id']}/answer", {"value": "no"})
        assert answered[0] == 200
        assert service.call("GET", "/campaigns/cats")[1]["pending"] == 0
    audit(service, "cats")
    # One dies: the other serves, and another takes its place.
    os.kill(first, signal.SIGKILL)
    children = wait_for_children(service, without=first)
    assert second in children
    assert service.call("GET", "/campaigns/cats")[1]["answers"] == 20
    # Their parent dies: they stop, and let go of the port.
    service.kill_parent()
    service.start()
    assert service.call("GET", "/campaigns/cats")[1]["answers"] == 20


def wait_for_children(service: Served, without: int = 0) -> list[int]:
    """The two processes that serve, once they are there."""
    deadline = time.monotonic() + 60
    while len(found := [each for each in service.children() if each != without]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        service = Served(f"sqlite:///{tmp_path}/campaigns.sqlite", tmp_path)
        service.port = taken.getsockname()[1]
        assert not service.begin()
    [line] = service.errors.read_text().splitlines()
    assert f"can't listen at 127.0.0.1 port {service.port}" in line
