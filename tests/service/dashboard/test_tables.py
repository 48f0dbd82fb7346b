"""Tasks, decisions and workers of a campaign, each and in pages."""

from __future__ import annotations

import re
from html import unescape

import pytest

from askwise.core.choices import Batch
from askwise.core.problem import Task, Worker
from askwise.service.dashboard import overview
from tests.service.dashboard.site import NASTY, Site, form_of, words_of, work


def test_a_task_shows_votes_and_answers_and_is_closed_or_told_the_truth(site: Site) -> None:
    campaign = site.create(tasks=[Task("a b/c?&", payload={"html": NASTY}, context="odd")])
    work(campaign, "yes", "no")
    listed = site.page("/dashboard/cats/tasks")
    link = re.search(r'/dashboard/cats/task\?id=[^"]+', listed)
    assert link is not None
    page = site.page(link[0])
    said = words_of(page)
    assert "yes 1 no 1" in said
    assert "Context odd" in said
    assert len(re.findall(r"/dashboard/cats/asked/\d+", page)) == 2
    told = site.send(form_of(page, "/truth"), option="no")
    page = site.page(told.headers["location"])
    assert "The truth was recorded." in page
    assert "Truth no" in words_of(page)
    closed = site.send(form_of(page, "/close"))
    page = site.page(closed.headers["location"])
    assert "Outcome closed by hand" in words_of(page)
    assert "/close" not in page
    assert campaign.answers()[0].outcome == "closed"


def test_a_refused_truth_is_said_on_the_tasks_page(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/task?id=t1"), "/truth")
    reply = site.send(form, option="perhaps")
    assert reply.status_code == 422
    assert "perhaps" in reply.text.split('role="alert">')[1].split("<")[0]


def test_a_decision_is_explained(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes")
    page = site.page("/dashboard/cats/decisions")
    link = re.search(r"/dashboard/cats/asked/\d+", page)
    assert link is not None
    said = words_of(site.page(link[0]))
    assert "Why ann was asked" in said or "Why bob was asked" in said
    assert "gives the same decision" in said
    assert "Who could have been asked" in said
    site.page("/dashboard/cats/asked/999", 404)


def test_failures_and_what_calls_cost_are_shown(site: Site) -> None:
    campaign = site.create(budget="0.6")
    out = {worker: campaign.ask(workers=[worker])[0].id for worker in ("ann", "bob")}
    campaign.fail(out["ann"], "refused", "0.03")
    campaign.tell(campaign.ask(workers=["ann"])[0].id, "yes", cost="0.05")
    campaign.tell(out["bob"], "yes", cost="0.9")
    said = words_of(site.page("/dashboard/cats/workers?sort=cost_an_answer&down=true"))
    # Of 0.6 were 0.08 spent before: 0.52 are booked for bob's.
    assert "0.52 1 over the ceiling 0.38 not booked 0.52" in said
    assert "1 failed refused" in said
    assert "0.08 0.03 for failures 0.08" in said
    assert "1 call failed" in words_of(site.page("/dashboard/cats"))
    assert "0.38 more than the budget" in words_of(site.page("/dashboard/cats"))
    page = site.page("/dashboard/cats/decisions")
    asked = re.findall(r"/dashboard/cats/asked/\d+", page)
    assert "failed" in words_of(page)
    assert "Price 0.10, settled at 0.03 Chance" in words_of(site.page(asked[-1]))


def test_what_a_call_said_and_cost_is_on_the_pages_of_its_task_and_decision(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "PATIENCE", 60.0)
    campaign = site.create(tasks=["t1"])
    out = {worker: campaign.ask(workers=[worker])[0].id for worker in ("ann", "bob")}
    told = {"probabilities": {"yes": 0.75, "no": 0.25}, "rationale": f"Meow {NASTY}"}
    campaign.tell(out["ann"], "yes", cost="0.45", reference="req-7", **told)  # type: ignore[arg-type]
    campaign.fail(out["bob"], "timed_out", "0.02")
    page = site.page("/dashboard/cats/task?id=t1")
    said = unescape(words_of(page))
    sure = "How sure it was: yes 75.0%, no 25.0%"
    words = f"{sure} Rationale Meow {NASTY} Reference: req-7"
    assert f"ann yes {words} 0.45 over its ceiling: the call cost 0.45" in said
    assert "bob failed: timed out 0.02" in said
    assert "<script>alert" not in page
    seq = out["ann"].rpartition(":")[2]
    why = unescape(words_of(site.page(f"/dashboard/cats/asked/{seq}")))
    assert "Over its ceiling the call cost 0.45" in why
    assert words in why


def test_decisions_come_newest_first_in_pages(site: Site) -> None:
    campaign = site.create(tasks=[f"t{at}" for at in range(20)])
    work(campaign, *["yes"] * 30)
    first = re.findall(r"asked/(\d+)", site.page("/dashboard/cats/decisions"))
    second = re.findall(r"asked/(\d+)", site.page("/dashboard/cats/decisions?page=2"))
    numbers = [int(each) for each in first + second]
    asked = [event.seq for event in campaign.log() if event.kind.name == "ASKED"]
    assert numbers == asked[::-1]
    assert (len(first), len(second)) == (25, 5)


def test_workers_are_sorted_by_a_column_in_pages(site: Site) -> None:
    prices = {f"w{at:02}": f"0.{10 + at * 7 % 30}" for at in range(30)}
    site.create(workers=[Worker(name, price) for name, price in prices.items()], budget="100")
    rank = sorted(prices, key=lambda name: prices[name])
    for down, wanted in ((True, rank[::-1]), (False, rank)):
        shown = []
        for number in (1, 2):
            page = site.page(f"/dashboard/cats/workers?sort=price&down={down}&page={number}")
            shown += re.findall(r'<bdi class="id">(w\d+)</bdi>', page)
        assert shown == wanted
    assert 'aria-sort="descending"' in site.page("/dashboard/cats/workers?sort=nonsense")


def test_kinds_and_families_are_shown_where_somebody_has_one(site: Site) -> None:
    site.create(workers=[Worker("ann", 1), Worker("bob", 1)])
    for path in ("/dashboard/cats", "/dashboard/cats/workers"):
        assert not {"Kind", "Family"} & set(words_of(site.page(path)).split())
    said = [Worker("gpt", 1, kind="model", family=NASTY), Worker("bob", 1, kind="person")]
    site.create(workers=[Worker("ann", 1), *said], name="mixed")
    for path in ("/dashboard/mixed", "/dashboard/mixed/workers?sort=kind&down=true"):
        page = site.page(path)
        assert NASTY not in page
        words = words_of(page)
        assert "Kind" in words
        assert "Family" in words
        assert "person" in words
    table = page.partition('id="part-judges"')[0]
    shown = re.findall(r'<th scope="row"><a href="[^"]*"><bdi class="id">(\w+)</bdi>', table)
    assert shown == ["bob", "gpt", "ann"]


def test_tasks_come_least_sure_first_and_by_outcome(site: Site) -> None:
    names = ["sure", "split", "none"]
    campaign = site.create(
        tasks=names, workers=[Worker(f"w{at}", "0.10") for at in range(4)], budget="100"
    )
    said = {"sure": iter(["yes"] * 4), "split": iter(["yes", "no"] * 2)}
    campaign.close("none")
    work_on = 0
    while work_on < 8:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, next(said[str(batch[0].task)]))
        work_on += 1

    def order(query: str) -> list[str]:
        page = site.page(f"/dashboard/cats/tasks{query}")
        return re.findall(r'task\?id=(\w+)"', page)

    assert order("") == ["split", "sure", "none"]
    assert order("?sort=sure") == ["sure", "split", "none"]
    assert order("?sort=added") == names
    assert order("?outcome=closed") == ["none"]
    assert order("?outcome=nonsense&sort=nonsense") == ["split", "sure", "none"]


def test_pages_say_what_a_confidence_rests_on(site: Site) -> None:
    campaign = site.create(workers=[Worker("ann", "0.10"), Worker("bob", "0.10")])
    work(campaign, "yes", "yes", "yes", "yes", "yes", "yes")
    campaign.truth("t1", "no")
    warning = "It is not the probability that an answer is right"
    tasks = words_of(site.page("/dashboard/cats/tasks"))
    assert "100% truth" in tasks
    assert "100% agreement" in tasks
    assert warning in tasks
    told = words_of(site.page("/dashboard/cats/task?id=t1"))
    assert "Answer no Confidence 100.0% (truth)" in told
    assert warning not in told
    other = words_of(site.page("/dashboard/cats/task?id=t2"))
    assert "Answer yes Confidence 100.0% (agreement)" in other
    assert warning in other
    overview = words_of(site.page("/dashboard/cats"))
    assert warning in overview
    # Tasks, unanswered, then agreement, calibrated, certified, truth.
    assert "open 3 0 2 0 0 1" in overview


def test_nothing_is_said_of_confidences_where_there_are_none(site: Site) -> None:
    site.create()
    for path in ("", "/tasks", "/task?id=t1"):
        assert "Agreement is what" not in words_of(site.page(f"/dashboard/cats{path}"))
