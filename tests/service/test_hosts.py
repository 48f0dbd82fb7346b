"""A service on two hosts over one database: one of them is cut off under load, and comes back."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.postgres import Cluster, Unavailable
from tests.service.audit import audit
from tests.service.hosts import Host, NoHosts, hosts
from tests.service.load import Crowd
from tests.service.served import Served
from tests.service.test_kills import UTILITIES, campaigns, spend_all

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TOO_LATE = "?options=-c%20idle_in_transaction_session_timeout%3D3000"
"""A host cut off in a transaction lets go of its campaign after three seconds, for the test."""


@dataclass
class TwoHosts:
    """Two hosts that serve one store."""

    hosts: list[Host]
    services: list[Served]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[TwoHosts]:
    try:
        with hosts(2) as made, Cluster({each.here: each.network for each in made}) as cluster:
            cluster.start()
            services: list[Served] = []
            try:
                for number, host in enumerate(made):
                    directory = tmp_path / f"host-{number}"
                    directory.mkdir()
                    service = Served(cluster.url(host=host.here) + TOO_LATE, directory)
                    service.host, service.within, service.port = host.address, host.within, 8000
                    # The owner's key is told once, to the first.
                    service.key = services[0].key if services else ""
                    services.append(service)
                    service.start()
                yield TwoHosts(made, services)
            finally:
                for service in services:
                    service.end()
    except (NoHosts, Unavailable) as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_host_that_is_cut_off_loses_and_doubles_nothing(two: TwoHosts, seed: int) -> None:
    first, second = two.services
    for raw in campaigns(4):
        assert first.call("POST", "/campaigns", {**raw, "seed": seed})[0] == 201
    places = tuple((each.host, each.port) for each in two.services)
    with Crowd(0, first.key, UTILITIES, seed=seed, places=places, timeout=3.0) as crowd:
        crowd.wait_for_answers(40)
        two.hosts[1].cut()
        # The other host goes on, with the clients of both.
        crowd.wait_for_a_loss()
        crowd.wait_for_answers(40)
        two.hosts[1].join()
        until_ready(second)
        crowd.wait_for_answers(40)
        two.hosts[0].cut()
        crowd.wait_for_a_loss()
        crowd.wait_for_answers(40)
        two.hosts[0].join()
        until_ready(first)
        crowd.wait_for_answers(20)
    told = crowd.told
    assert not told.wrong, told.wrong[:5]
    spend_all(first, "leased")
    time.sleep(0.35)
    for name in UTILITIES:
        assert second.call("POST", f"/campaigns/{name}/pause")[0] == 200
        for service in two.services:
            assert audit(service, name, told)


def test_a_host_that_is_cut_off_says_that_it_cannot_serve(two: TwoHosts) -> None:
    # Its clients can reach it: only the way to the database is cut.
    host, service = two.hosts[1], two.services[1]
    look = [*host.within, "python3", "-c", LOOK.format(port=service.port, host=host.address)]
    assert said(look) == "200"
    host.cut()
    assert said(look) == "503"
    host.join()
    until_ready(service)


LOOK = """
import urllib.error, urllib.request
try:
    print(urllib.request.urlopen("http://{host}:{port}/readyz", timeout=30).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def until_ready(service: Served) -> None:
    deadline = time.monotonic() + 120
    while not service.is_ready():
        assert time.monotonic() < deadline
        time.sleep(0.2)
