"""On the dashboard: titles, archived campaigns, what is removed, deleted and forgotten."""

from __future__ import annotations

import re
from typing import Any

import pytest

from askwise.core.events import Kind
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign
from tests.service.dashboard.site import Site, form_of, words_of

MANAGE = "/dashboard/cats/manage"


def send(site: Site, path: str, action: str, **typed: str) -> Any:
    return site.send(form_of(site.page(path), action), **typed)


def answer_one(site: Site) -> str:
    campaign = site.service.campaigns.get("cats")
    (asked,) = campaign.ask()
    campaign.tell(asked.id, "yes")
    return str(asked.task)


def test_a_title_stands_above_the_pages_and_in_the_list(site: Site) -> None:
    site.create()
    reply = send(site, MANAGE, "/title", title="Cats & <dogs>")
    assert reply.headers["location"] == f"{MANAGE}?done=retitled"
    for path in ("/dashboard", "/dashboard/cats", "/dashboard/cats/tasks"):
        assert "Cats &amp; &lt;dogs&gt;" in site.page(path)
    send(site, MANAGE, "/title", title="")
    assert "dogs" not in site.page("/dashboard/cats")
    assert "title" in words_of(send(site, MANAGE, "/title", title="x" * 300).text)


def test_an_archived_campaign_leaves_the_list_and_comes_back(site: Site) -> None:
    campaign = site.create()
    answer_one(site)
    site.create("dogs")
    top_up = form_of(site.page(MANAGE), "/top-up")
    assert send(site, MANAGE, "/archive").headers["location"] == f"{MANAGE}?done=archived"
    listed = site.page("/dashboard")
    assert 'href="/dashboard/cats"' not in listed
    assert "1 archived" in words_of(listed)
    assert 'href="/dashboard/cats"' in site.page("/dashboard?archived=yes")
    overview = site.page("/dashboard/cats")
    assert "can be read, but not changed" in words_of(overview)
    for verb in ("/pause", "/stop"):
        assert f'action="/dashboard/cats{verb}"' not in overview
    refused = site.send(top_up, amount="1")
    assert refused.status_code == 409
    assert "is archived: unarchive it before you change it" in words_of(refused.text)
    send(site, "/dashboard/cats", "/unarchive")
    assert 'href="/dashboard/cats"' in site.page("/dashboard")
    assert not campaign.status().archived


@pytest.mark.parametrize(
    "path", ["", "/workers", "/payments", "/manage", "/task?id=t1", "/worker?id=ann", "/decisions"]
)
def test_an_archived_campaign_offers_no_form_that_would_be_refused(site: Site, path: str) -> None:
    campaign = site.create()
    answer_one(site)
    campaign.archive()
    sent = set(re.findall(r'action="/dashboard/cats/([^"]*)"', site.page(f"/dashboard/cats{path}")))
    assert sent == ({"unarchive", "forget"} if path == "/manage" else {"unarchive"})


def test_what_is_out_keeps_a_campaign_from_the_archive(site: Site) -> None:
    site.create().ask()
    refused = send(site, MANAGE, "/archive")
    assert refused.status_code == 409
    assert "has 1 open assignments" in words_of(refused.text)


def test_a_campaign_without_answers_is_deleted_after_a_question(site: Site) -> None:
    site.create()
    secret, _ = site.service.identities.issue("worker", "ann", campaign="cats", worker="ann")
    assert 'href="/dashboard/cats/delete"' in site.page(MANAGE)
    refused = send(site, "/dashboard/cats/delete", "/delete")
    assert refused.status_code == 422
    assert "tick the box" in words_of(refused.text)
    form = form_of(site.page("/dashboard/cats/delete"), "/delete")
    reply = site.send(form, sure="yes")
    assert reply.headers["location"] == "/dashboard?done=deleted"
    assert "The campaign is deleted." in words_of(site.page(reply.headers["location"]))
    assert site.send(form, sure="yes").status_code == 303, "a second click does nothing more"
    assert "was deleted" in words_of(site.page("/dashboard/cats", 404))
    assert site.service.identities.tokens("cats") == []
    assert site.client.get(f"/join/{secret}", follow_redirects=True).status_code == 401


def test_a_campaign_with_answers_is_not_deleted(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/delete"), "/delete")
    answer_one(site)
    assert 'href="/dashboard/cats/delete"' not in site.page(MANAGE)
    refused = site.send(form, sure="yes")
    assert refused.status_code == 409
    assert "archive it instead" in words_of(refused.text)


def test_a_task_that_nobody_answered_is_removed(site: Site) -> None:
    campaign = site.create()
    answered = answer_one(site)
    other = next(each.task for each in campaign.answers() if each.task != answered)
    assert "/remove-task" not in site.page(f"/dashboard/cats/task?id={answered}")
    reply = send(site, f"/dashboard/cats/task?id={other}", "/remove-task")
    assert reply.headers["location"] == "/dashboard/cats/tasks?done=task-removed"
    assert f"id={other}" not in site.page(reply.headers["location"])
    page = site.page(f"/dashboard/cats/task?id={other}")
    assert "Outcome removed" in words_of(page)
    assert '<form class="card"' not in page
    referee = Referee(spec_of_campaign(campaign).problem)
    for event in campaign.log():
        referee.see(event)


def test_a_worker_is_forgotten_on_every_page_and_their_link_goes_on(site: Site) -> None:
    campaign = site.create()
    answer_one(site)
    secret, _ = site.service.identities.issue("worker", "ann", campaign="cats", worker="ann")
    site.page("/dashboard/cats")  # so that all is worked out once with the old id
    refused = send(site, MANAGE, "/forget", worker="ann")
    assert refused.status_code == 422
    form = form_of(site.page(MANAGE), "/forget")
    reply = site.send(form, worker="ann", sure="yes")
    assert reply.headers["location"] == "/dashboard/cats/workers?done=forgotten"
    assert site.send(form, worker="ann", sure="yes").status_code == 303, "a second click"
    new = campaign.log()[-1].worker
    assert campaign.log()[-1].kind == Kind.RENAMED
    assert [each.worker for each in campaign.payments()] == [new, "bob"]
    for path in ("", "/workers", "/decisions", "/manage", "/tasks"):
        assert "ann" not in words_of(site.page("/dashboard/cats" + path)).split()
    assert site.service.identities.find(secret).worker == new
    refused = site.send(form_of(site.page(MANAGE), "/forget"), worker="ann", sure="yes")
    assert refused.status_code == 404
    assert "worker is not in this campaign" in words_of(refused.text)


@pytest.mark.parametrize("path", ["/dashboard/cats", "/dashboard?archived=yes"])
def test_who_only_looks_is_offered_none_of_it(site: Site, path: str) -> None:
    site.create().archive()
    site.sign_in("viewer")
    assert "/unarchive" not in site.page(path)
