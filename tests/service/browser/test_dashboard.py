"""The dashboard in a browser: live, by keyboard, without scripts, at either width."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import httpx
import pytest

from askwise.campaign import Campaign
from askwise.core.choices import Batch
from askwise.service.webhooks.records import HOOK, Webhook
from askwise.store import Change
from tests.service.browser.driving import ENTER, Browser, Site, sign_in

CROWD = [{"id": name, "price": "0.05"} for name in ("ann", "bob", "carol", "dave", "erin")]
LONG = "a-worker-whose-name-is-as-long-as-a-name-may-be-" + "x" * 150


def make(site: Site, name: str, **fields: Any) -> Campaign:
    """A campaign of twenty pictures."""
    defaults: dict[str, Any] = {
        "workers": CROWD,
        "tasks": [{"id": f"picture-{at}", "payload": f"Is {at} a cat?"} for at in range(20)],
        "options": ["cat", "no cat"],
        "budget": "10",
        "policy": "random-pairs",
        "stopping": {"name": "lead", "lead": 2},
        "seed": 1,
    }
    return site.create(name, **{**defaults, **fields})


def work(campaign: Campaign, answers: int) -> None:
    """Answer as a crowd would, the same at every run."""
    dice = random.Random(1)
    for _ in range(answers):
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            return
        campaign.tell(batch[0].id, dice.choice(["cat", "cat", "no cat"]))


def answer_over_http(site: Site, campaign: str, worker: str) -> None:
    """One answer of a worker, by their token."""
    token = site.link(campaign, worker).rpartition("/")[2]
    key = {"Authorization": f"Bearer {token}"}
    asked = httpx.post(f"{site.url}/campaigns/{campaign}/ask", headers=key).json()
    id = asked["assignments"][0]["id"]
    reply = httpx.post(f"{site.url}/assignments/{id}/answer", headers=key, json={"value": "cat"})
    assert reply.status_code == 200


def test_a_workers_answers_show_without_a_reload_and_nothing_else_moves(
    browser: Browser, site: Site
) -> None:
    campaign = make(site, "live")
    work(campaign, 10)
    sign_in(browser, site, "/dashboard/live")
    browser.shows("10", "#answers")
    browser.run("window.unmoved = true")
    browser.find("#money-table summary").click()
    browser.run("document.querySelector('#part-workers a').focus()")
    browser.run("document.querySelector('#part-charts').scrollIntoView()")
    place = browser.run("return window.scrollY")
    for number, worker in ((11, "ann"), (12, "bob")):
        answer_over_http(site, "live", worker)
        browser.shows(str(number), "#answers")
    assert browser.run("return window.unmoved") is True
    assert browser.find("#money-table").get_attribute("open") is not None
    focused = "return document.activeElement.getAttribute('href')"
    assert browser.run(focused) == "/dashboard/live/workers"
    assert browser.run("return window.scrollY") == place
    campaign.pause()
    browser.shows("Paused", "h1")
    assert browser.find("#said").get_attribute("textContent") == "Paused"
    browser.find("#resume").click()
    browser.shows("Running again.")
    assert campaign.status().state == "running"


def test_a_list_is_live_too_and_a_field_in_use_is_left_alone(browser: Browser, site: Site) -> None:
    campaign = make(site, "lists")
    sign_in(browser, site, "/dashboard/lists/tasks?sort=most")
    browser.run("document.querySelector('#sort').focus()")
    work(campaign, 3)
    browser.shows("last event", "#part-head")
    assert "No answer" not in browser.text()
    assert browser.all("#part-tasks td:nth-child(5)")[0].text == "0"
    browser.run("document.activeElement.blur()")
    browser.until(
        lambda: browser.all("#part-tasks td:nth-child(5)")[0].text != "0" or None,
        "the table is new",
    )


def test_a_lost_connection_is_said_and_a_hidden_page_does_not_ask(
    browser: Browser, site: Site
) -> None:
    browser.expect("ERR_INTERNET_DISCONNECTED")
    make(site, "lost")
    sign_in(browser, site, "/dashboard/lost")
    browser.shows("Live", "#sign")
    offline = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **offline})
    browser.shows("Connection lost", "#sign")
    back = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **back})
    browser.run("window.dispatchEvent(new Event('online'))")
    browser.shows("Live", "#sign")
    browser.run(
        "Object.defineProperty(document, 'hidden', {value: true});"
        "document.dispatchEvent(new Event('visibilitychange'));"
        "performance.clearResourceTimings()"
    )
    time.sleep(2.5)
    asked = browser.run("return performance.getEntriesByType('resource').map(each => each.name)")
    assert not [url for url in asked if "/live" in url]


def test_everything_works_without_scripts(browser: Browser, site: Site) -> None:
    campaign = make(site, "plain")
    work(campaign, 5)
    browser.without_scripts()
    sign_in(browser, site, "/dashboard/plain")
    browser.shows("5", "#answers")
    browser.find("#pause").click()
    browser.shows("Paused: nobody is asked")
    assert campaign.status().state == "paused"
    browser.open(f"{site.url}/dashboard/plain/manage")
    browser.find("#worker").send_keys("ann", ENTER)
    link = browser.find("#link").get_attribute("value")
    assert link is not None
    assert link.startswith(f"{site.url}/join/aww_")


@pytest.fixture(scope="module")
def busy(site: Site) -> Campaign:
    """A campaign with something in every place."""
    workers = [*CROWD, {"id": LONG, "price": "0.05"}, {"id": "<b>mallory</b>", "price": "0.125"}]
    campaign = make(site, "busy", workers=workers, lease=600)
    work(campaign, 50)
    campaign.ask(2)
    campaign.truth("picture-3", "cat")
    campaign.leave("erin")
    site.service.identities.issue("worker", "ann", campaign="busy", worker="ann")
    hooks = site.service.webhooks
    # Made behind the back of the check: nothing is sent there, and the page says so.
    hook = Webhook(
        "0" * 16, "http://127.0.0.1:9/x", "busy", ("task.closed",), "ours", 0.0, secret="s"
    )
    hooks.store.change([Change(HOOK, hook.id, None, hook.record.body)])
    hooks.ping(hook.id)
    return campaign


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("campaigns", "/dashboard"),
        pytest.param("new", "/dashboard/-/new", marks=pytest.mark.slow),
        pytest.param("keys", "/dashboard/-/keys", marks=pytest.mark.slow),
        ("tasks", "/dashboard/busy/tasks"),
        ("workers", "/dashboard/busy/workers"),
        ("worker", "/dashboard/busy/worker?id=ann"),
        ("review", "/dashboard/busy/review"),
        ("decisions", "/dashboard/busy/decisions"),
        ("task", "/dashboard/busy/task?id=picture-3"),
        ("asked", "/dashboard/busy/asked/2"),
        ("manage", "/dashboard/busy/manage"),
        ("hooks", "/dashboard/busy/hooks"),
        pytest.param("stop", "/dashboard/busy/stop", marks=pytest.mark.slow),
        pytest.param("missing", "/dashboard/busy/task?id=none", marks=pytest.mark.slow),
    ],
)
def test_pages_are_accessible_and_fit(
    browser: Browser, site: Site, busy: Campaign, name: str, path: str
) -> None:
    browser.expect("status of 404")
    sign_in(browser, site, "/dashboard")
    browser.open(f"{site.url}{path}")
    browser.look(f"dashboard-{name}")


def test_the_overview_is_accessible_and_fits_in_either_scheme(
    browser: Browser, site: Site, busy: Campaign
) -> None:
    sign_in(browser, site, "/dashboard/busy")
    for summary in browser.all("summary"):
        summary.click()
    browser.look("dashboard-overview")
    widths = [chart.size["width"] for chart in browser.all("svg.chart")]
    assert len(widths) == 4
    assert min(widths) > 300


def test_values_of_a_chart_are_said_by_pointer_and_by_keys(
    browser: Browser, site: Site, busy: Campaign
) -> None:
    sign_in(browser, site, "/dashboard/busy")
    chart = "#part-charts figure:nth-of-type(2)"
    shown = "return arguments[0].querySelector('.readout').textContent"
    figure = browser.find(chart)
    assert "answers in" not in browser.run(shown, figure)
    browser.run("arguments[0].querySelector('svg').focus()", figure)
    browser.press("\ue014")
    first = browser.run(shown, figure)
    assert "answers in" in first
    mark = f"{chart} .mark:last-of-type"
    moved = "new PointerEvent('pointerover', {bubbles: true})"
    browser.run(f"document.querySelector('{mark}').dispatchEvent({moved})")
    assert browser.run(shown, figure).endswith("50 so far")


def test_times_are_local_and_say_their_zone(browser: Browser, site: Site, busy: Campaign) -> None:
    zone = "Emulation.setTimezoneOverride"
    browser.driver.execute_cdp_cmd(zone, {"timezoneId": "Asia/Kathmandu"})
    try:
        sign_in(browser, site, "/dashboard/busy/decisions")
        time_ = browser.find("tbody time")
        told = browser.run("return [arguments[0].dateTime, arguments[0].textContent]", time_)
        hour, minute = map(int, told[0][11:16].split(":"))
        moved = (60 * hour + minute + 345) % 1440  # 5 hours and 45 minutes ahead
        assert f"{moved // 60:02}:{moved % 60:02}" in told[1]
        assert browser.find("thead .zone").text == "GMT+5:45"
        assert (time_.get_attribute("title") or "").endswith("UTC")
    finally:
        browser.driver.execute_cdp_cmd(zone, {"timezoneId": ""})


def test_on_a_phone_a_row_is_a_card_whose_cells_say_what_they_are(
    browser: Browser, site: Site, busy: Campaign
) -> None:
    browser.size(360, 740)
    sign_in(browser, site, "/dashboard/busy/workers")
    cell = browser.find("#part-workers td[data-label='Quality']")
    before = "return getComputedStyle(arguments[0], '::before').content"
    assert browser.run(before, cell) == '"Quality"'
    box = "const box = arguments[0].getBoundingClientRect()"
    inside = f"{box}; return box.left >= 0 && box.right <= 360"
    for each in browser.all("#part-workers tbody td"):
        assert browser.run(inside, each)
    browser.is_accessible()


def test_campaigns_with_nothing_to_show_yet_look_well(browser: Browser, site: Site) -> None:
    make(site, "fresh", budget=None)
    units = make(
        site, "units", tasks=None, options=None, outcome="utility", policy="uniform", stopping=None
    )
    for value in (0.3, 0.7, 0.4):
        batch = units.ask()
        assert isinstance(batch, Batch)
        units.tell(batch[0].id, value)
    sign_in(browser, site, "/dashboard/fresh")
    browser.shows("Before the first answer")
    browser.look("dashboard-fresh", schemes=("dark",))
    browser.open(f"{site.url}/dashboard/units")
    browser.shows("1.4")
    browser.look("dashboard-units", schemes=("dark",))


def test_a_link_for_a_worker_is_copied_with_one_click(browser: Browser, site: Site) -> None:
    make(site, "copy")
    sign_in(browser, site, "/dashboard/copy/manage")
    browser.find("#worker").send_keys("ann", ENTER)
    link = browser.find("#link").get_attribute("value")
    browser.find("[data-copy=link]").click()
    browser.shows("Copied", "[data-copy=link]")
    assert re.search(r"/join/aww_[\w-]{43}$", link or "")
