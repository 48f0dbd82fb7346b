"""All pages: who may use them, how they renew themselves, names that look like markup."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from askwise.core.problem import Task, Worker
from tests.service.dashboard.site import NASTY, TURNED, Site, form_of, words_of, work


def test_a_viewer_looks_and_changes_nothing(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes")
    forms = {
        path: form_of(site.page(page), path)
        for page, path in (
            ("/dashboard/cats", "/pause"),
            ("/dashboard/cats/stop", "/stop"),
            ("/dashboard/cats/manage", "/top-up"),
            ("/dashboard/cats/task?id=t1", "/close"),
        )
    }
    before = campaign.status()
    site.sign_in("viewer")
    for path in ("", "/tasks", "/workers", "/decisions", "/task?id=t1"):
        page = site.page(f"/dashboard/cats{path}")
        assert 'method="post"' not in page.replace('method="post" action="/logout"', "")
        assert "/manage" not in page
    for path in ("/manage", "/hooks", "/stop"):
        site.page(f"/dashboard/cats{path}", 403)
    own = form_of(site.page("/dashboard"), "/logout").fields
    for form in forms.values():
        form.fields.update(csrf=own["csrf"])
        assert site.send(form, sure="yes", amount="1").status_code == 403
    assert campaign.status() == before


def test_forms_of_others_are_refused(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats"), "/pause")
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    reply = site.client.post(form.action, data=form.fields, headers=elsewhere)
    assert reply.status_code == 403
    assert site.client.post(form.action, data={**form.fields, "csrf": "0"}).status_code == 403
    assert site.client.post(form.action, data={"csrf": form.fields["csrf"]}).status_code == 422
    assert campaign.status().state == "running"


def test_notices_come_from_a_table_and_never_from_the_address(site: Site) -> None:
    site.create()
    assert "Running again." in site.page("/dashboard/cats?done=resumed")
    for odd in ("evil words", NASTY, "__class__"):
        page = site.client.get("/dashboard/cats", params={"done": odd}).text
        assert 'class="notice"' not in page
        assert "evil words" not in page


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time stands still: forecasts are of the minute, and so are the parts that show them."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)


@pytest.mark.usefixtures("one_moment")
def test_the_live_part_is_sent_again_only_when_the_log_has_moved(site: Site) -> None:
    campaign = site.create()
    for query in ("", "?of=tasks", "?of=workers&sort=paid", "?of=decisions", "?of=nothing"):
        reply = site.client.get(f"/dashboard/cats/live{query}")
        tag = {"If-None-Match": reply.headers["etag"]}
        again = site.client.get(f"/dashboard/cats/live{query}", headers=tag)
        assert (again.status_code, again.content) == (304, b"")
        assert 'name="csrf"' in reply.text
        work(campaign, "yes")
        moved = site.client.get(f"/dashboard/cats/live{query}", headers=tag)
        assert moved.status_code == 200
        assert "<html" not in moved.text


def tags_of(text: str) -> dict[str, str]:
    return dict(re.findall(r'id="part-(\w+)" data-tag="(\w+)"', text))


@pytest.mark.usefixtures("one_moment")
def test_only_what_has_changed_has_another_tag(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes")
    page = site.page("/dashboard/cats?done=x")
    first = tags_of(page)
    assert tags_of(site.client.get("/dashboard/cats/live").text) == first
    assert set(first) == {
        *("head", "results", "numbers", "charts", "contested", "workers", "decisions")
    }
    campaign.top_up("5")
    second = tags_of(site.page("/dashboard/cats?done=x"))
    changed = {name for name in first if first[name] != second[name]}
    # The head only says when something happened last: to the second.
    assert changed - {"head"} == {"numbers", "charts"}


def test_pages_renew_themselves_without_scripts_and_are_live_with_them(site: Site) -> None:
    site.create()
    for path in ("", "/tasks", "/workers", "/decisions"):
        page = site.page(f"/dashboard/cats{path}")
        assert '<noscript><meta http-equiv="refresh" content="15"></noscript>' in page
        live = re.search(r'data-live="([^"]+)"', page)
        assert live is not None
        assert site.client.get(live[1].replace("&amp;", "&")).status_code == 200


def pages(site: Site) -> Iterator[str]:
    yield from (site.page(path) for path in ("/dashboard", "/dashboard/-/new", "/dashboard/-/keys"))
    for name in site.service.campaigns.store.names():
        for path in ("", "/tasks", "/workers", "/decisions", "/manage", "/hooks", "/stop"):
            yield site.page(f"/dashboard/{name}{path}")
        for event in site.service.campaigns.get(name).log():
            if event.kind.name == "ASKED":
                yield site.page(f"/dashboard/{name}/asked/{event.seq}")
            if event.kind.name == "ASKED" and event.task is not None:
                reply = site.client.get(f"/dashboard/{name}/task", params={"id": event.task})
                yield reply.text


def test_hostile_names_and_payloads_are_shown_as_text_under_a_strict_policy(site: Site) -> None:
    campaign = site.create(
        workers=[Worker(NASTY, "0.1"), Worker("w" * 200, "0.1")],
        tasks=[
            Task(NASTY, payload=TURNED, context=TURNED),
            Task("t" * 200, payload={"text": TURNED * 1000}),
        ],
        options=[NASTY, "o" * 200],
    )
    work(campaign, NASTY, "o" * 200, NASTY)
    site.service.identities.issue("viewer", TURNED)
    site.service.identities.issue("worker", NASTY, campaign="cats", worker=NASTY)
    site.service.webhooks.make(f"http://127.0.0.1:9/{'x' * 500}", ["task.closed"], label=TURNED)
    for page in pages(site):
        assert "<script>alert" not in page
        assert not re.search(r"<[^>]+\son\w+=", page)
        assert not re.search(r"<[^>]+\sstyle=", page)
        assert "<style" not in page
        assert re.findall(r"<script[^>]*>", page) == [
            tag for tag in re.findall(r"<script[^>]*>", page) if 'src="/static/' in tag
        ]
    policy = site.client.get("/dashboard/cats").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_campaigns_without_tasks_cap_workers_or_answers_have_pages(site: Site) -> None:
    units = site.create(
        "units", tasks=None, options=None, outcome={"kind": "utility", "low": -5, "high": 5},
        policy="uniform",
    )  # fmt: skip
    work(units, -2.5, 4)
    site.create("no-cap", budget=None)
    rated = site.create("rated", options=None, outcome="utility", policy="uniform")
    work(rated, 0.5)
    site.create("nobody", workers=[], budget=None)
    names = site.service.campaigns.store.names()
    said = {name: words_of(site.page(f"/dashboard/{name}")) for name in names}
    assert "Utility 1.5" in said["units"]
    assert "no cap" in said["no-cap"]
    assert "Nobody has joined yet." in said["nobody"]
    assert "Before the first answer" in said["no-cap"]
    assert sum(1 for _ in pages(site)) > 30


def test_a_name_that_is_none_is_not_found(site: Site) -> None:
    site.page("/dashboard/nothing", 404)
    site.page("/dashboard/..%2fkeys", 404)
    site.create()
    site.page("/dashboard/cats/task?id=nothing", 404)
    site.page("/dashboard/cats/export/nothing", 404)
