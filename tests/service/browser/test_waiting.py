"""A worker's page that looks by itself, loses its connection or is clicked twice."""

from __future__ import annotations

from askwise.campaign import Campaign
from tests.service.browser.driving import ENTER, Browser, Site
from tests.service.browser.working import ANN, BOB, answer, click, make, settle, start


def test_whoever_waits_is_shown_the_next_question_when_there_is_one(
    browser: Browser, site: Site
) -> None:
    campaign = make(site, "poll", tasks=["t1"], workers=[ANN, BOB])
    start(browser, site, "poll")
    answer(browser, 1, "1")
    browser.shows("no question for you")
    browser.run("window.mark = 'the same document'")
    campaign.add(tasks=["t2"])
    answer(browser, 2, "1")
    browser.shows("no question for you")
    assert browser.run("return window.mark") == "the same document"


LOOK = "document.dispatchEvent(new Event('visibilitychange'));"
"""Let a page that waits look again by itself, now."""

HOLD = (
    "const real = window.fetch; let calls = 0;"
    "window.fetch = (...all) => calls++ ? real(...all)"
    " : new Promise((go) => { window.release = () => go(real(...all)); });"
)
"""Hold the next request of the page back until ``release()``."""

ON_SWAP = (
    "const [css] = arguments;"
    "new MutationObserver((_, watcher) => {"
    "  watcher.disconnect(); window.swapped = true; if (css) document.querySelector(css).click();"
    "}).observe(document.getElementById('main'), { childList: true });"
)
"""Click a button, if one is named, at the very moment in which the page has changed."""

BREAK = ".mine button"


def wait_for_more(browser: Browser, site: Site, name: str) -> Campaign:
    """Answer all there is."""
    campaign = make(site, name, tasks=["t1"], workers=[ANN, BOB])
    start(browser, site, name)
    answer(browser, 1, "1")
    browser.shows("no question for you")
    settle(browser)
    return campaign


def test_a_click_while_the_page_looks_by_itself_counts(browser: Browser, site: Site) -> None:
    wait_for_more(browser, site, "click-during")
    browser.run(HOLD + LOOK)
    browser.find(BREAK).click()
    browser.run("release()")
    browser.shows("on a break", "h1")


def test_a_click_just_after_the_page_has_looked_by_itself_counts(
    browser: Browser, site: Site
) -> None:
    wait_for_more(browser, site, "click-after")
    browser.run(ON_SWAP + LOOK, BREAK)
    browser.shows("on a break", "h1")


def test_the_focus_stays_where_it_is_when_the_page_has_looked_by_itself(
    browser: Browser, site: Site
) -> None:
    wait_for_more(browser, site, "focus")
    browser.run("document.querySelector(arguments[0]).focus()", BREAK)
    browser.run(ON_SWAP + LOOK, None)
    browser.until(lambda: browser.run("return window.swapped"), "it has looked")
    browser.press(ENTER)
    browser.shows("on a break", "h1")


def test_a_price_that_is_typed_while_the_page_looks_by_itself_stays(
    browser: Browser, site: Site
) -> None:
    site.create("typed-bid", workers=[ANN, BOB], tasks=["t1"], options=["yes", "no"],
                policy={"name": "ccb-fixed", "qualities": [0.8, 0.8], "alpha": 0.3,
                        "solver": "exact"},
                mechanism={"name": "clarke", "c_max": 2})  # fmt: skip
    browser.open(site.link("typed-bid", "ann"))
    browser.find("#amount")
    browser.run(HOLD + LOOK + "document.getElementById('amount').select();")
    browser.press("1.5")
    browser.run("release()")
    click(browser, ".primary")
    browser.shows("Your price was saved.")
    assert browser.find("#amount").get_attribute("value") == "1.5"


def test_a_second_click_that_is_meant_for_the_question_before_answers_nothing(
    browser: Browser, site: Site
) -> None:
    campaign = make(site, "twice", tasks=["t1", "t2"])
    start(browser, site, "twice")
    browser.shows("Question 1", "h1")
    settle(browser)
    browser.run(ON_SWAP, ".options button")
    click(browser, ".options button")
    browser.until(lambda: browser.run("return window.swapped"), "it is the next question")
    answer(browser, 2, "s")
    browser.shows("Thank you", "h1")
    assert campaign.status().answers == 1


def test_a_connection_that_is_lost_loses_no_answer(browser: Browser, site: Site) -> None:
    campaign = make(site, "offline", tasks=["t1", "t2"])
    browser.expect("ERR_INTERNET_DISCONNECTED")
    start(browser, site, "offline")
    browser.shows("Question 1", "h1")
    browser.online(False)
    answer(browser, 1, "1")
    browser.shows("could not be sent")
    browser.look("lost", schemes=("light",))
    browser.online(True)
    browser.press("1")
    browser.shows("Question 2", "h1")
    assert campaign.status().answers == 1
