"""The review queue, which leads from what needs a look to the task."""

from __future__ import annotations

from askwise.core.problem import Worker
from tests.service.dashboard.site import NASTY, Site, form_of, words_of


def test_the_queue_leads_from_what_needs_a_look_to_the_task(site: Site) -> None:
    campaign = site.create(workers=[Worker(f"w{at}", "0.1") for at in range(4)])
    while batch := campaign.ask():
        for each in batch:
            said = "no" if each.task == "t2" and each.worker in ("w1", "w2") else "yes"
            campaign.tell(each.id, said)
    site.sign_in("viewer")
    unsure = site.page("/dashboard/cats/review")
    assert unsure.index("task?id=t2") < unsure.index("task?id=t1")
    contested = site.page("/dashboard/cats/review?queue=contested")
    assert "task?id=t2" in contested
    assert "task?id=t1" not in contested
    drawn = site.page("/dashboard/cats/review?queue=audit")
    assert all(f"task?id=t{at}" in drawn for at in (1, 2, 3))
    campaign.set_label("t2", "no", by="ann")
    for queue in ("", "?queue=contested", "?queue=audit"):
        assert "task?id=t2" not in site.page(f"/dashboard/cats/review{queue}")
    assert "Nothing is contested" in words_of(site.page("/dashboard/cats/review?queue=contested"))
    assert site.page("/dashboard/cats/review?queue=nonsense")


def test_flags_and_comments_are_on_the_tasks_page(site: Site) -> None:
    campaign = site.create()
    asked = campaign.ask()[0]
    campaign.flag(asked.id, NASTY)
    path = f"/dashboard/cats/task?id={asked.task}"
    flagged = site.page("/dashboard/cats/review?queue=flagged")
    assert f"task?id={asked.task}" in flagged
    reply = site.send(form_of(site.page(path), "/comment"), text="Ask the vet.")
    page = site.page(reply.headers["location"])
    assert NASTY not in page
    said = words_of(page)
    assert "The comment was added." in said
    assert f"{asked.worker} says that it can’t be answered" in said
    assert "the owner : Ask the vet." in said
    assert site.send(form_of(page, "/comment"), text=" ").status_code == 422
    site.sign_in("viewer")
    assert "/comment" not in site.page(path)
