"""An ask that waits for work: it is answered as soon as there is some."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest

from askwise import Campaign
from askwise.client import Service
from askwise.client.campaign import RemoteCampaign
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import InvalidProblem
from askwise.store import MemoryStore, open_store
from tests.service.in_process.faults import SPEC, OwnerClient
from tests.service.served import Served

LONG = 50.0
"""Seconds that nobody has to wait if all is well."""


@pytest.fixture
def idle(service: Service, request: pytest.FixtureRequest) -> RemoteCampaign:
    """A campaign in which everything is out."""
    made = service.create(
        name=f"idle-{zlib.crc32(request.node.name.encode())}",
        workers=[{"id": "ann", "price": "1"}],
        tasks=["first"],
        options=["yes", "no"],
        budget="10",
        policy="random-pairs",
        seed=1,
    )
    assert isinstance(made.ask(), Batch)
    assert isinstance(made.ask(), Wait)
    return made


@contextmanager
def waiting(campaign: RemoteCampaign, **given: Any) -> Iterator[Future[Batch | Wait | Done]]:
    """Ask in another thread."""
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(campaign.ask, wait=LONG, **given)
        time.sleep(0.3)
        assert not asked.done()
        yield asked


def test_work_that_is_added_is_handed_out_at_once(idle: RemoteCampaign) -> None:
    with waiting(idle) as asked:
        idle.add(tasks=["second"])
        batch = asked.result(LONG / 2)
    assert [each.task for each in batch] == ["second"]


def test_work_that_another_process_adds_is_handed_out_soon(
    idle: RemoteCampaign, shared_service: Served
) -> None:
    with waiting(idle) as asked, closing(open_store(shared_service.store)) as store:
        Campaign.open(store, idle.name).add(tasks=["second"])
        batch = asked.result(LONG / 2)
    assert [each.task for each in batch] == ["second"]


def test_an_end_is_told_at_once(idle: RemoteCampaign) -> None:
    with waiting(idle) as asked:
        idle.stop()
        assert asked.result(LONG / 2) == Done("stopped")


def test_without_work_the_time_runs_out(idle: RemoteCampaign) -> None:
    begun = time.monotonic()
    assert isinstance(idle.ask(wait=0.5), Wait)
    assert time.monotonic() - begun >= 0.5


def test_a_retry_after_a_vain_wait_asks_again_and_what_it_gets_is_kept(
    idle: RemoteCampaign,
) -> None:
    assert isinstance(idle.ask(wait=0.1, key="k"), Wait)
    with waiting(idle, key="k") as asked:
        idle.add(tasks=["second", "third"])
        batch = asked.result(LONG / 2)
    assert isinstance(batch, Batch)
    assert idle.ask(wait=LONG, key="k") == batch
    assert idle.ask(key="k") == batch


def test_nothing_is_handed_out_to_somebody_who_has_gone(
    idle: RemoteCampaign, shared_service: Served
) -> None:
    body = json.dumps({"wait": LONG})
    with socket.create_connection((shared_service.host, shared_service.port)) as link:
        request = http.client.HTTPConnection(shared_service.host, shared_service.port)
        request.sock = link
        headers = {
            "Authorization": f"Bearer {shared_service.key}",
            "Content-Type": "application/json",
        }
        request.request("POST", f"/campaigns/{idle.name}/ask", body, headers)
        time.sleep(0.3)
    time.sleep(0.3)
    idle.add(tasks=["second"])
    time.sleep(0.5)
    assert [each.task for each in idle.assignments()] == ["first"]
    assert [each.task for each in idle.ask()] == ["second"]


@pytest.mark.parametrize("wait", [-1, 61, True, "3", float("nan")])
def test_a_wait_that_is_none_is_refused(idle: RemoteCampaign, wait: Any) -> None:
    with pytest.raises(InvalidProblem, match=r"wait is .*: give seconds from 0 to 60"):
        idle.ask(wait=wait)


def test_many_who_wait_leave_places_for_others(idle: RemoteCampaign) -> None:
    # A campaign has 60 places.
    with ThreadPoolExecutor(90) as threads:
        asked = [threads.submit(idle.ask, wait=LONG) for _ in range(90)]
        time.sleep(1.0)
        assert idle.status().pending == 1
        idle.stop()
        assert {each.result(LONG) for each in asked} == {Done("stopped")}


def test_a_service_that_stops_lets_nobody_wait() -> None:
    with OwnerClient(MemoryStore()) as client:
        client.call("POST", "/campaigns", {**SPEC, "name": "cats", "tasks": ["one"], "budget": 1})
        client.call("POST", "/campaigns/cats/ask", {"limit": 9})
        ending = threading.Timer(0.3, client.service.watch.end_soon)
        ending.start()
        begun = time.monotonic()
        reply = client.call("POST", "/campaigns/cats/ask", {"wait": LONG})
        assert reply.json()["status"] == "wait"
        assert time.monotonic() - begun < LONG
        ending.join()
