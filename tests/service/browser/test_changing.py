"""Changing an answer in a browser: on the worker's page by keyboard, and on the dashboard."""

from __future__ import annotations

from askwise.core.events import Kind
from tests.service.browser.driving import ENTER, TAB, Browser, Site, sign_in
from tests.service.browser.working import answer, make, settle, start


def test_a_worker_changes_their_last_answer_by_keyboard(browser: Browser, site: Site) -> None:
    campaign = make(site, "changing", tasks=[{"id": f"t{n}", "payload": "A cat?"} for n in (1, 2)])
    start(browser, site, "changing")
    answer(browser, 1, "1")
    browser.shows("Question 2", "h1")
    browser.shows("You answered yes.", ".last")
    browser.look("work-last")
    settle(browser)
    browser.press(TAB, ENTER)
    browser.shows("Change your answer", "h1")
    browser.look("work-change")
    settle(browser)
    browser.press("2")
    browser.shows("Question 2", "h1")
    browser.shows("Your answer was changed.", "#said")
    browser.shows("You answered no.", ".last")
    event = campaign.log()[-1]
    assert (event.kind, event.value) == (Kind.REVISED, "no")


def test_answers_that_were_changed_are_shown_on_the_dashboard(browser: Browser, site: Site) -> None:
    campaign = make(site, "changed", tasks=["t1"])
    (asked,) = campaign.ask()
    campaign.tell(asked.id, "yes", rationale="It purrs.")
    campaign.revise(asked.id, "no", rationale="It barks.", by="eve")
    sign_in(browser, site, f"/dashboard/changed/asked/{asked.id.rpartition(':')[2]}")
    browser.shows("Change the answer")
    browser.find("details summary").click()
    browser.look("dashboard-asked-changed", schemes=("light",))
    browser.open(f"{site.url}/dashboard/changed/task?id=t1")
    browser.find(".came details summary").click()
    browser.look("dashboard-task-changed", schemes=("light",))
