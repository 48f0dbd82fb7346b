"""While a campaign decides for long: health, readiness, the other campaigns, and a stop."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from askwise.policies import policies
from askwise.service.app import THREADS
from tests.service.conftest import Serve
from tests.service.deciding import Held, campaign, install, wait_for
from tests.service.local import Local, in_thread
from tests.service.served import Served


@pytest.fixture
def service(store_url: str) -> Iterator[Local]:
    policies.names()  # before what is there is copied
    with mock.patch.dict(policies._entries):
        policies.register("held")(Held)
        with in_thread(store_url) as local:
            yield local


def call(service: Local, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    link = http.client.HTTPConnection(service.address.removeprefix("http://"), timeout=25)
    try:
        text = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {service.key}", "Content-Type": "application/json"}
        link.request(method, path, text, headers)
        reply = link.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        link.close()


class Asking(threading.Thread):
    """An ask whose decision lasts until it is let go of."""

    def __init__(self, service: Local, name: str) -> None:
        super().__init__()
        self.service, self.campaign = service, name
        self.reply: tuple[int, Any] | None = None

    def run(self) -> None:
        self.reply = call(self.service, "POST", f"/campaigns/{self.campaign}/ask")


def test_health_readiness_and_other_campaigns_are_served_during_a_decision(
    service: Local, tmp_path: Path
) -> None:
    until = tmp_path / "go"
    for each in (campaign("slow", until), campaign("quick")):
        assert call(service, "POST", "/campaigns", each)[0] == 201
    asking = Asking(service, "slow")
    asking.start()
    try:
        wait_for(tmp_path / "go.begun")
        assert call(service, "GET", "/healthz")[0] == 200
        assert call(service, "GET", "/readyz")[0] == 200
        status, raw = call(service, "POST", "/campaigns/quick/ask")
        assert status == 200
        path = f"/assignments/{raw['assignments'][0]['id']}/answer"
        assert call(service, "POST", path, {"value": "yes"})[0] == 200
        assert call(service, "POST", "/campaigns", campaign("new"))[0] == 201
        assert not (tmp_path / "go.done").exists()
    finally:
        until.touch()
        asking.join()
    assert asking.reply is not None
    assert (asking.reply[0], asking.reply[1]["status"]) == (200, "batch")


def test_requests_that_wait_for_one_campaign_leave_threads_for_the_others(
    service: Local, tmp_path: Path
) -> None:
    until = tmp_path / "go"
    for each in (campaign("slow", until), campaign("quick")):
        assert call(service, "POST", "/campaigns", each)[0] == 201
    host, port = service.address.removeprefix("http://").split(":")
    asked = (
        f"POST /campaigns/slow/ask HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n"
        f"Authorization: Bearer {service.key}\r\nConnection: close\r\n\r\n"
    ).encode()
    links = [socket.create_connection((host, int(port)), 60) for _ in range(THREADS + 20)]
    try:
        for link in links:
            link.sendall(asked)
        wait_for(tmp_path / "go.begun")
        for path in ("/healthz", "/readyz", "/campaigns/quick"):
            assert call(service, "GET", path)[0] == 200
        assert call(service, "POST", "/campaigns/quick/ask")[0] == 200
        assert not (tmp_path / "go.done").exists()
        until.touch()
        # Nobody was turned away.
        for link in links:
            assert link.recv(12) == b"HTTP/1.1 200"
    finally:
        until.touch()
        for link in links:
            link.close()


# A stop does not wait for it.


def ask_and_begin(service: Served, until: Path, **more: Any) -> socket.socket:
    """Let a decision begin; the connection on which it was asked for."""
    assert service.call("POST", "/campaigns", campaign("slow", until, **more))[0] == 201
    link = socket.create_connection(("127.0.0.1", service.port), 60)
    asked = (
        f"POST /campaigns/slow/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
        f"Authorization: Bearer {service.key}\r\n\r\n"
    )
    link.sendall(asked.encode())
    wait_for(until.with_suffix(".begun"))
    return link


def wait_until_it_stops(service: Served) -> None:
    """Wait until each of its processes has heard that it is to stop."""
    deadline = time.monotonic() + 60
    while service.errors.read_text().count("Shutting down") < service.processes:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
def test_a_stop_within_the_grace_loses_the_decision_and_nothing_else(
    store_url: str, tmp_path: Path
) -> None:
    until = tmp_path / "go"
    service = Served(store_url, tmp_path, **install(tmp_path))
    # The decision would last for much longer than the grace.
    service.prelude = "from askwise.service import signals as r; r.GRACE, r.FOR_REQUESTS = 1.5, 0.5"
    try:
        with ask_and_begin(service.start(), until, most=60.0):
            service.stop()
        assert not (tmp_path / "go.done").exists()
        until.touch()
        service.start()
        assert service.call("GET", "/campaigns/slow/log")[1]["items"] == []
        status, raw = service.call("POST", "/campaigns/slow/ask")
        assert (status, raw["status"]) == (200, "batch")
        assert service.stop() == 0
    finally:
        service.end()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_second_signal_ends_it_at_once(serve: Serve, tmp_path: Path, processes: int) -> None:
    store = f"sqlite:///{tmp_path}/campaigns.sqlite"
    service = serve(store, processes, **install(tmp_path))
    with ask_and_begin(service, tmp_path / "go"):
        service.signal(signal.SIGTERM)
        wait_until_it_stops(service)
        service.signal(signal.SIGTERM)
        # By the signal itself, or by the parent that ended its processes: not by running out.
        assert service.wait() == (-signal.SIGTERM if processes == 1 else 1)
        assert service.children() == []
    assert not (tmp_path / "go.done").exists()
