"""Every form of the dashboard, sent with what can't be: a page says so in plain words."""

from __future__ import annotations

import re

import pytest

from tests.service.dashboard.site import Site, form_of, words_of

RAW = ("Value error", "String should", "Input should", "validation error", "pydantic", "Traceback")

LONG = "x" * 5_000

FORMS: list[tuple[str, str, dict[str, str]]] = [
    ("/manage", "/invite", {"worker": ""}),
    ("/manage", "/invite", {"worker": LONG}),
    ("/manage", "/invite", {"worker": "eve", "price": "much"}),
    ("/manage", "/invite", {"worker": "eve", "price": "-1"}),
    ("/manage", "/invite", {"worker": "eve", "price": "1", "limit": "0"}),
    ("/manage", "/invite", {"worker": "eve", "price": "1", "days": "soon"}),
    ("/manage", "/invite", {"worker": "eve", "price": "1", "kind": "robot"}),
    ("/manage", "/invite", {"worker": "eve", "price": "1", "family": LONG}),
    ("/manage", "/top-up", {"amount": "much"}),
    ("/manage", "/top-up", {"amount": ""}),
    ("/manage", "/top-up", {"amount": "1e400"}),
    ("/manage", "/add", {"tasks": '{"id": 7}'}),
    ("/manage", "/add", {"tasks": "{"}),
    ("/manage", "/add", {"tasks": ""}),
    ("/manage", "/title", {"title": LONG}),
    ("/manage", "/forget", {"worker": LONG, "sure": "yes"}),
    ("/manage", "/forget", {"worker": "nobody", "sure": "yes"}),
    ("/delete", "/delete", {}),
    ("/stop", "/stop", {}),
    ("/task?id=t1", "/label", {"value": "perhaps"}),
    ("/task?id=t1", "/label", {"value": "yes", "why": LONG}),
    ("/task?id=t1", "/comment", {"text": ""}),
    ("/task?id=t1", "/comment", {"text": LONG}),
    ("/task?id=t1", "/truth", {"option": "perhaps"}),
    ("/hooks", "/hooks", {"url": "nowhere", "events": "task.closed"}),
    ("/hooks", "/hooks", {"url": "", "events": ""}),
    ("/hooks", "/hooks", {"url": "http://192.0.2.1/x", "events": "nothing", "label": LONG}),
]


@pytest.mark.parametrize(("page", "action", "typed"), FORMS, ids=str)
def test_what_can_not_be_is_refused_in_plain_words(
    site: Site, page: str, action: str, typed: dict[str, str]
) -> None:
    campaign = site.create()
    form = form_of(site.page(f"/dashboard/cats{page}"), action)
    reply = site.send(form, **typed)
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.headers["content-type"].startswith("text/html")
    alert = re.search(r'role="alert"[^>]*>(.*?)</p>', reply.text, re.S)
    assert alert is not None, words_of(reply.text)
    for raw in RAW:
        assert raw not in reply.text
    assert len(alert[1]) > 10
    assert campaign.log() == []


@pytest.mark.parametrize(
    "typed",
    [
        {"role": "king", "label": "x"},
        {"role": "viewer", "label": ""},
        {"role": "viewer", "label": LONG},
        {"role": "viewer", "label": "x", "days": "-1"},
        {"role": "viewer", "label": "x", "days": "999999999"},
    ],
    ids=str,
)
def test_a_key_that_can_not_be_is_refused_in_plain_words(site: Site, typed: dict[str, str]) -> None:
    reply = site.send(form_of(site.page("/dashboard/-/keys"), "/keys"), **typed)
    assert (reply.status_code, 'role="alert"' in reply.text) == (422, True)
    for raw in RAW:
        assert raw not in reply.text


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/none-such",
        "/dashboard/cats/task?id=none",
        "/dashboard/cats/asked/999",
        "/dashboard/cats/asked/x",
        "/dashboard/cats/tasks?page=0",
        "/dashboard/cats/tasks?page=x",
        "/dashboard?archived=perhaps",
        "/dashboard/cats/export/none.csv",
        "/dashboard/cats/no/such/page",
        "/dashboard/cats/none-such",
        "/work/none/none/none",
        "/none-such",
    ],
)
def test_an_address_that_leads_nowhere_gets_a_page(site: Site, path: str) -> None:
    site.create()
    reply = site.client.get(path, headers={"Accept": "text/html,application/xhtml+xml"})
    assert 400 <= reply.status_code < 500
    assert reply.headers["content-type"].startswith("text/html"), reply.text


def test_a_method_that_a_page_does_not_take_gets_a_page(site: Site) -> None:
    site.create()
    reply = site.client.delete("/dashboard/cats", headers={"Accept": "text/html"})
    assert reply.status_code == 405
    assert reply.headers["content-type"].startswith("text/html"), reply.text
