"""The overview leads with results, and each worker has a page: what they show is what views say."""

from __future__ import annotations

import re
import threading
from urllib.parse import quote

import pytest

from askwise.campaign import Campaign, views
from askwise.campaign.views.review import review
from askwise.core.choices import Batch
from askwise.core.problem import Task, Worker
from askwise.service.dashboard import overview
from askwise.service.pages.filters import percent
from tests.service.dashboard.site import NASTY, Site, form_of, words_of

TASKS = [Task(f"t{at}", context="night" if at % 2 else "day") for at in range(12)]


def work(campaign: Campaign, wrong: str = "bob") -> None:
    """All answer everything; one of them errs on every third task."""
    while isinstance(batch := campaign.ask(), Batch):
        for each in batch:
            errs = each.worker == wrong and int(str(each.task)[1:]) % 3 == 0
            campaign.tell(each.id, "no" if errs else "yes")


def made(site: Site, **fields: object) -> Campaign:
    crowd = [Worker("ann", "0.10"), Worker("bob", "0.25"), Worker("eve", "0.10")]
    campaign = site.create(**{"tasks": TASKS, "workers": crowd, "budget": "100", **fields})
    work(campaign)
    return campaign


def test_results_come_first_and_agreement_is_not_called_accuracy(site: Site) -> None:
    campaign = made(site)
    page = site.page("/dashboard/cats")
    assert page.index('id="part-results"') < page.index('id="part-numbers"')
    words = words_of(page)
    found, agreement = campaign.results(), campaign.agreement()
    assert f"{found.agreed} by agreement only" in words
    assert "not known By agreement only: no truths are known." in words
    assert found.contested == 4
    assert f"{found.contested} contested" in words
    assert "/dashboard/cats/review?queue=contested" in page
    assert agreement.agreement is not None
    assert agreement.alpha is not None
    shown = f"{percent(agreement.agreement.low)} to {percent(agreement.agreement.high)}"
    assert f"Agreement {percent(agreement.agreement.value)} {shown}" in words
    assert f"alpha {agreement.alpha.value:.2f}" in words


def test_a_budget_that_is_used_up_says_what_the_other_labels_take(site: Site) -> None:
    content = {"question": "A cat?", "options": ["yes", "no"], "currency": "EUR"}
    campaign = site.create(
        workers=[Worker("ann", "0.20")], tasks=TASKS[:5], content=content, options=None,
        budget="0.50", policy="random-pairs",
    )  # fmt: skip
    first = campaign.ask()
    assert isinstance(first, Batch)
    assert 'id="pause"' in site.page("/dashboard/cats")
    campaign.tell(first[0].id, "yes")
    work(campaign)
    page = site.page("/dashboard/cats?done=topped-up")
    words = words_of(page)
    # Three tasks at 0.20 each, less the 0.10 that is left.
    assert "The budget is used up, and 3 tasks have no label." in words
    assert "about 0.50 EUR more, at the mean cost of an answer so far. Top up the budget" in words
    assert "Spent 0.40 of 0.50 EUR" in words
    assert 'id="pause"' not in page
    assert 'id="stop"' not in page
    assert "2 from one answer each" in words
    assert "by agreement only" not in words.lower()
    assert "one answer" in words_of(site.page("/dashboard/cats/tasks"))
    campaign.top_up("0.50")
    work(campaign)
    assert "have no label" not in words_of(site.page("/dashboard/cats?done=topped-up"))


def test_what_labels_take_is_rounded_up_also_below_a_cent(site: Site) -> None:
    campaign = site.create(
        workers=[Worker("ann", "0.0015")], tasks=TASKS[:3], budget="0.002", policy="random-pairs"
    )
    work(campaign)
    # Two tasks at 0.0015 each, less the 0.0005 that is left.
    assert "would take about 0.0025 more" in words_of(site.page("/dashboard/cats"))


def test_truths_drawn_at_random_are_told_from_those_that_were_chosen(site: Site) -> None:
    campaign = made(site)
    with campaign.reading() as state:
        order = review(state, campaign.answers(), "audit").tolist()
    campaign.truth(f"t{order[5]}", "yes")
    words = words_of(site.page("/dashboard/cats?done=truth"))
    assert "right on 1 of 1 task whose truth is known" in words
    assert "not drawn at random" in words
    for at in order[:4]:
        campaign.truth(f"t{at}", "no" if at == order[0] else "yes")
    found = campaign.results().audited
    assert found is not None
    words = words_of(site.page("/dashboard/cats?done=truth"))
    assert f"right on {found.right} of {found.tasks} tasks drawn at random" in words
    assert f"{percent(found.share.low)} to {percent(found.share.high)}" in words
    assert "not drawn at random" not in words


def test_the_share_that_is_right_stands_against_the_target(site: Site) -> None:
    tasks = [Task(f"t{at}") for at in range(40)]
    campaign = made(site, tasks=tasks, policy={"name": "hem", "target": 0.2})
    for task in tasks:
        campaign.truth(task.id, "yes")
    assert "The target of 80.0% is reached." in words_of(site.page("/dashboard/cats?done=truth"))


def test_a_campaign_of_units_has_no_results_card(site: Site) -> None:
    campaign = site.create(tasks=None, options=None, outcome="utility", policy="uniform")
    campaign.tell(campaign.ask()[0].id, 0.5)
    assert 'id="part-results"' not in site.page("/dashboard/cats")
    assert "quality-table" in site.page("/dashboard/cats/worker?id=ann")


def test_many_labels_are_cut_and_said(site: Site) -> None:
    options = [f"o{at}" for at in range(30)]
    campaign = site.create(options=options)
    campaign.tell(campaign.ask()[0].id, "o7")
    assert "22 more labels with 0 tasks" in words_of(site.page("/dashboard/cats"))


def test_the_page_of_a_worker_has_what_the_view_has(site: Site) -> None:
    campaign = made(site)
    report = campaign.worker("bob")
    page = site.page("/dashboard/cats/worker?id=bob")
    words = words_of(page)
    quality = report.worker.quality
    assert quality is not None
    assert f"{percent(quality.value)} {percent(quality.low)} to {percent(quality.high)}" in words
    assert "what most of the others say" in words
    assert "Others yes no yes 8 4" in words
    assert "Earned 3.00 0.25 per answer" in words
    assert [each.context for each in report.contexts] == ["day", "night"]
    assert "night 67%" in words
    assert words.count("Why?") == 12
    assert "/dashboard/cats/worker?id=bob" in site.page("/dashboard/cats/workers")


def test_a_workers_page_releases_what_is_out_and_removes_them(site: Site) -> None:
    campaign = site.create()
    campaign.ask(workers=["bob"])
    page = site.page("/dashboard/cats/worker?id=bob")
    assert re.search('action="/dashboard/cats/asked/[0-9]+/release"', page)
    removed = site.send(form_of(page, "/dashboard/cats/remove"))
    assert removed.status_code == 303
    assert campaign.status().pending == 0
    page = site.page("/dashboard/cats/worker?id=bob&done=removed")
    assert "left" in words_of(page)
    assert "/dashboard/cats/remove" not in page
    site.sign_in("viewer")
    assert 'action="/dashboard/cats' not in site.page("/dashboard/cats/worker?id=ann")


def test_odd_names_are_linked_and_strangers_are_not_found(site: Site) -> None:
    site.create(workers=[Worker(NASTY, 1), Worker("a/b?c#d", 1)])
    for name in (NASTY, "a/b?c#d"):
        page = site.page(f"/dashboard/cats/worker?id={quote(name, safe='')}")
        assert NASTY not in page
    site.page("/dashboard/cats/worker?id=nobody", 404)


def test_answers_of_a_worker_are_paged(site: Site) -> None:
    made(site, tasks=[Task(f"t{at}") for at in range(30)])
    first = site.page("/dashboard/cats/worker?id=ann")
    assert first.count("Why?") == 25
    assert "id=ann&amp;page=2" in first or "id=ann&page=2" in first
    assert site.page("/dashboard/cats/worker?id=ann&page=2").count("Why?") == 5


def test_judges_have_report_cards_on_the_page_of_workers(site: Site) -> None:
    crowd = [Worker("ann", "0.1", kind="person")]
    crowd += [Worker(name, "0.01", kind="model", family="g") for name in ("gpt", "twin")]
    crowd += [Worker("gemma", "0.02", kind="model", family="h")]
    campaign = site.create(tasks=TASKS, workers=crowd, budget="100")
    work(campaign, "gpt")
    report = campaign.judges()
    words = words_of(site.page("/dashboard/cats/workers"))
    found = report.judges[0].with_people
    assert found is not None
    assert f"{percent(found.value)} {percent(found.low)} to {percent(found.high)}" in words
    (family,) = report.families
    assert f"its 2 judges agree on {percent(family.within)} of tasks" in words
    assert "Quality against cost" in words
    site.create("people")
    assert "Adds to the vote" not in site.page("/dashboard/people/workers")


def test_a_large_campaign_shows_its_counts_at_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(site)
    go = threading.Event()
    real = views.workers

    def slow(*arguments: object, **more: object) -> object:
        assert go.wait(30)
        return real(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(overview, "LARGE", 10)
    monkeypatch.setattr(overview, "FIRST_PATIENCE", 0.01)
    monkeypatch.setattr(overview.views, "workers", slow)
    try:
        for path in ("", "/tasks", "/workers"):
            page = site.page(f"/dashboard/cats{path}")
            assert 'id="part-pending"' in page
            assert "36" in words_of(page)
            assert 'id="part-results"' not in page
        live = site.client.get("/dashboard/cats/live")
        assert 'id="part-pending"' in live.text
    finally:
        go.set()
    overviews = site.client.app.state.overviews  # type: ignore[attr-defined]
    overviews._of("cats").first.result(30)
    page = site.page("/dashboard/cats")
    assert 'id="part-results"' in page
    assert 'id="part-pending"' not in page
    fresh = site.client.get("/dashboard/cats/live", headers={"If-None-Match": live.headers["ETag"]})
    assert fresh.status_code == 200


def test_a_large_campaign_that_is_not_open_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = made(site)
    go = threading.Event()
    held = site.service.campaigns
    monkeypatch.setattr(overview, "LARGE", 10)
    monkeypatch.setattr(overview, "FIRST_PATIENCE", 0.01)
    overviews = site.client.app.state.overviews  # type: ignore[attr-defined]
    monkeypatch.setattr(held, "held", lambda name: None)
    monkeypatch.setattr(overviews, "_open", lambda name: go.wait(30))
    try:
        for path in ("", "/tasks", "/worker?id=ann"):
            assert "is being opened" in site.page(f"/dashboard/cats{path}")
        assert "cats is large and is being opened" in words_of(site.page("/dashboard"))
    finally:
        go.set()
        overviews._opening["cats"].result(30)
    monkeypatch.undo()
    assert "is being opened" not in site.page("/dashboard/cats")
    assert campaign.status().answers == 36
    site.page("/dashboard/none", 404)


def test_pages_are_light(site: Site) -> None:
    made(site, tasks=[Task(f"t{at}") for at in range(60)])
    for path in ("", "/workers", "/worker?id=ann", "/tasks", "/decisions", "/review"):
        assert len(site.page(f"/dashboard/cats{path}").encode()) < 300_000
