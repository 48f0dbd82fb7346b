"""Answers that are changed on the dashboard."""

from __future__ import annotations

from askwise.core.events import Kind
from tests.service.dashboard.site import NASTY, Site, form_of, words_of, work


def asked(site: Site) -> tuple[str, str]:
    """The pages of an assignment that was answered, and of its task."""
    campaign = site.create()
    work(campaign, "yes", "yes")
    answer = next(event for event in campaign.log() if event.kind == Kind.ANSWER)
    return f"/dashboard/cats/asked/{answer.assignment}", f"/dashboard/cats/task?id={answer.task}"


def test_an_answer_is_changed_and_withdrawn_and_its_versions_are_shown(site: Site) -> None:
    path, task = asked(site)
    campaign = site.service.campaigns.get("cats")
    reply = site.send(form_of(site.page(path), "/revise"), value="no")
    page = site.page(reply.headers["location"])
    assert "The answer is changed." in words_of(page)
    assert "Result no Changed" in words_of(page)
    event = campaign.log()[-1]
    assert (event.kind, event.value, event.by) == (Kind.REVISED, "no", "the owner")
    reply = site.send(form_of(page, "/withdraw"), why=NASTY)
    page = site.page(reply.headers["location"])
    assert "The answer is withdrawn." in words_of(page)
    assert campaign.log()[-1].why == NASTY
    assert NASTY not in page
    assert "/withdraw" not in page, "there is nothing to take back"
    said = words_of(site.page(task))
    assert "Changed 2 times" in said
    assert "UTC: no (by the owner )" in said
    assert NASTY not in site.page(task)


def test_a_refused_change_is_said_on_the_page(site: Site) -> None:
    path, _ = asked(site)
    form = form_of(site.page(path), "/revise")
    assert site.send(form, value="perhaps").status_code == 422
    site.service.campaigns.get("cats").stop()
    reply = site.send(form, value="no")
    assert reply.status_code == 409
    assert "the campaign was stopped" in reply.text.split('role="alert">')[1].split("<")[0]


def test_a_viewer_changes_nothing(site: Site) -> None:
    path, _ = asked(site)
    site.sign_in("viewer")
    page = site.page(path)
    assert "/revise" not in page
    assert "/withdraw" not in page
