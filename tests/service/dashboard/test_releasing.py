"""On the dashboard: take back what is out, and remove a worker."""

from __future__ import annotations

import pytest

from askwise.core.choices import Batch
from tests.service.dashboard.site import Site, form_of, words_of


@pytest.mark.parametrize("where", ["decisions", "task?id={task}", "asked/{seq}"])
def test_what_is_out_can_be_released_where_it_is_shown(site: Site, where: str) -> None:
    campaign = site.create()
    batch = campaign.ask(workers=["ann"])
    assert isinstance(batch, Batch)
    seq = batch[0].id.rpartition(":")[2]
    page = site.page("/dashboard/cats/" + where.format(task=batch[0].task, seq=seq))
    reply = site.send(form_of(page, f"/asked/{seq}/release"))
    assert reply.status_code == 303
    assert campaign.assignment(batch[0].id).state == "expired"
    after = site.page(reply.headers["location"])
    assert "Released: the question may be asked again." in words_of(after)
    assert "/release" not in after


def test_what_was_answered_meanwhile_is_not_released(site: Site) -> None:
    campaign = site.create()
    batch = campaign.ask(workers=["ann"])
    assert isinstance(batch, Batch)
    seq = batch[0].id.rpartition(":")[2]
    form = form_of(site.page(f"/dashboard/cats/asked/{seq}"), "/release")
    campaign.tell(batch[0].id, "yes")
    reply = site.send(form)
    assert reply.status_code == 409
    assert "is answered already" in words_of(reply.text)


def test_a_worker_is_removed_with_what_they_have_out_and_their_links(site: Site) -> None:
    campaign = site.create()
    campaign.ask(2, ["ann"])
    campaign.ask(1, ["bob"])
    identities = site.service.identities
    for worker in ("ann", "ann", "bob"):
        identities.issue("worker", worker, campaign="cats", worker=worker)
    form = form_of(site.page("/dashboard/cats/workers?sort=id&down=false"), "/remove")
    assert form.fields["worker"] == "ann"
    reply = site.send(form)
    assert (reply.status_code, reply.headers["location"]) == (
        303, "/dashboard/cats/workers?done=removed",
    )  # fmt: skip
    assert "The worker is removed." in words_of(site.page(reply.headers["location"]))
    assert [each.worker for each in campaign.assignments()] == ["bob"]
    good = [each.worker for each in identities.tokens("cats") if each.revoked is None]
    assert good == ["bob"]
    # A second click does nothing more; somebody who has left has no button.
    assert site.send(form).status_code == 303
    page = site.page("/dashboard/cats/workers?sort=id&down=false")
    assert form_of(page, "/remove").fields["worker"] == "bob"


def test_a_worker_who_is_not_there_is_not_removed(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/workers"), "/remove")
    reply = site.send(form, worker="eve")
    assert reply.status_code == 404
    assert "worker 'eve' is not in this campaign" in words_of(reply.text).replace("&#39;", "'")


def test_a_viewer_has_no_such_buttons(site: Site) -> None:
    site.create().ask(workers=["ann"])
    site.sign_in("viewer")
    for path in ("workers", "decisions"):
        page = site.page(f"/dashboard/cats/{path}")
        assert "/release" not in page
        assert "/remove" not in page
