"""Polls that cost nothing, and lists in pages."""

from __future__ import annotations

import http.client
from typing import Any

import pytest

from askwise import Batch
from askwise.client import Service
from tests.service.audit import everything
from tests.service.over_http.campaigns import create
from tests.service.served import Served


def fetch(service: Served, path: str, **headers: str) -> tuple[int, Any, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    link.request("GET", path, headers={"Authorization": f"Bearer {service.key}", **headers})
    reply = link.getresponse()
    body = reply.read()
    link.close()
    return reply.status, reply.headers, body


@pytest.mark.parametrize("part", ["", "/answers", "/payments", "/log", "/assignments"])
def test_a_poll_costs_nothing_until_something_happens(
    service: Service, shared_service: Served, part: str
) -> None:
    campaign = create(service)
    campaign.ask()
    path = f"/campaigns/{campaign.name}{part}"
    status, headers, body = fetch(shared_service, path)
    assert (status, bool(body)) == (200, True)
    tag = headers["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        assert fetch(shared_service, path, **{"If-None-Match": known})[::2] == (304, b"")
    campaign.ask()
    status, headers, _ = fetch(shared_service, path, **{"If-None-Match": tag})
    assert status == 200
    assert headers["ETag"] != tag


def test_pages_add_up_to_the_whole(service: Service, shared_service: Served) -> None:
    campaign = create(service, tasks=[f"t{n}" for n in range(23)], budget=None)
    batch = campaign.ask(15)
    assert isinstance(batch, Batch)
    for part in ("answers", "payments", "log", "assignments"):
        path = f"/campaigns/{campaign.name}/{part}"
        whole = everything(shared_service, path)
        for limit in (1, 5, len(whole)):
            found, after = [], ""
            while after is not None:
                status, page = shared_service.call("GET", f"{path}?limit={limit}&after={after}")
                assert status == 200
                assert len(page["items"]) <= limit
                found += page["items"]
                after = page["next"]
            assert found == whole


def test_what_is_answered_between_two_pages_hides_nothing(
    service: Service, shared_service: Served
) -> None:
    campaign = create(service, tasks=[f"t{n}" for n in range(9)])
    out = campaign.ask(8)
    assert isinstance(out, Batch)
    path = f"/campaigns/{campaign.name}/assignments?limit=3"
    page = shared_service.call("GET", path)[1]
    for each in page["items"]:
        campaign.tell(each["id"], "yes")
    rest = shared_service.call("GET", f"{path}&after={page['next']}")[1]
    assert [each["id"] for each in rest["items"]] == [each.id for each in out[3:6]]


def test_campaigns_are_listed_by_name_in_pages(service: Service, shared_service: Served) -> None:
    for _ in range(3):
        create(service)
    found, after = [], ""
    while after is not None:
        page = shared_service.call("GET", f"/campaigns?limit=2&after={after}")[1]
        found += [each["name"] for each in page["items"]]
        after = page["next"]
    assert found == sorted(found) == service.names()
