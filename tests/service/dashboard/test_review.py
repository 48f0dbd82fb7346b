"""The review queue, which leads from what needs a look to the task."""

from __future__ import annotations

from askwise.core.problem import Worker
from tests.service.dashboard.site import Site, words_of


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
