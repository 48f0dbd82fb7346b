"""Labels that are set on a task's page."""

from __future__ import annotations

from askwise.core.events import Kind
from tests.service.dashboard.site import NASTY, Site, form_of, words_of, work


def test_a_label_is_set_and_changed_on_the_tasks_page(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes", "yes", "yes")
    path = "/dashboard/cats/task?id=t1"
    reply = site.send(form_of(site.page(path), "/label"), value="no", why=NASTY)
    page = site.page(reply.headers["location"])
    said = words_of(page)
    assert "The label is set." in said
    assert "Answer no" in said
    assert "Outcome set by hand" in said
    assert "Label set by the owner" in said
    assert NASTY not in page
    event = campaign.log()[-1]
    assert (event.kind, event.by, event.why) == (Kind.LABELLED, "the owner", NASTY)
    site.send(form_of(page, "/label"), value="yes", truth="yes")
    (answer, *_) = campaign.answers()
    assert (answer.value, answer.decided_by, answer.rests_on) == ("yes", "the owner", "truth")
    assert "decided_by" in site.page("/dashboard/cats/export/answers.csv")
    assert "the owner" in site.page("/dashboard/cats/export/answers.csv")


def test_a_refused_label_is_said_on_the_tasks_page_and_kept_in_its_form(site: Site) -> None:
    campaign = site.create()
    campaign.truth("t1", "yes")
    form = form_of(site.page("/dashboard/cats/task?id=t1"), "/label")
    reply = site.send(form, value="no", why="a fox", truth="yes")
    assert reply.status_code == 409
    assert "the first truth stays" in reply.text.split('role="alert">')[1].split("<")[0]
    assert 'value="a fox"' in reply.text


def test_a_label_of_a_utility_is_a_number(site: Site) -> None:
    campaign = site.create(options=None, outcome="utility", policy="uniform")
    form = form_of(site.page("/dashboard/cats/task?id=t1"), "/label")
    assert site.send(form, value="much").status_code == 422
    assert site.send(form, value="0.5").status_code == 303
    assert campaign.answers()[0].value == 0.5


def test_a_viewer_sees_labels_and_sets_none(site: Site) -> None:
    campaign = site.create()
    campaign.set_label("t1", "no", by="ann", why="a fox")
    site.sign_in("viewer")
    page = site.page("/dashboard/cats/task?id=t1")
    assert "Label set by ann : a fox" in words_of(page)
    assert "/label" not in page
