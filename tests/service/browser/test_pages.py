"""Pages that are neither a worker's nor the dashboard: signing in, the reference, troubles."""

from __future__ import annotations

from tests.service.browser.driving import ENTER, NARROW, Browser, Site


def test_signing_in_takes_a_keyboard_only_and_says_what_is_wrong(
    browser: Browser, site: Site
) -> None:
    browser.expect("status of 401")
    browser.open(f"{site.url}/login")
    browser.look("login")
    browser.press("not-a-key", ENTER)
    browser.shows("unknown, expired or revoked")
    browser.look("login-refused", schemes=("light",))
    browser.press(site.owner, ENTER)
    browser.until(lambda: "/dashboard" in browser.driver.current_url or None, "one is signed in")


def test_a_worker_who_signs_in_with_a_token_finds_their_page(browser: Browser, site: Site) -> None:
    site.create("signing-in", workers=[{"id": "ann", "price": 1}], tasks=["t1"],
                options=["yes", "no"], policy="random-pairs")  # fmt: skip
    token = site.link("signing-in", "ann").rpartition("/")[2]
    browser.open(f"{site.url}/login")
    browser.press(token, ENTER)
    browser.shows("Welcome", "h1")
    assert browser.driver.current_url == f"{site.url}/work/signing-in"
    assert browser.driver.get_cookies()[0]["httpOnly"]


def test_the_reference_of_the_api_can_be_read_by_anybody(browser: Browser, site: Site) -> None:
    browser.open(f"{site.url}/docs")
    browser.shows("/campaigns/{name}/ask")
    browser.size(*NARROW)
    browser.fits()
    # There are hundreds alike, and to look closely at each takes its time.
    browser.run(
        "document.querySelectorAll('article:nth-of-type(n+2), section:nth-of-type(n+4), nav li li')"
        ".forEach((each) => each.remove())"
    )
    browser.look("reference", schemes=("light",))


def test_a_form_that_is_out_of_date_says_so_and_leads_back(browser: Browser, site: Site) -> None:
    site.create("stale", workers=[{"id": "ann", "price": 1}, {"id": "bob", "price": 1}],
                tasks=["t1"], options=["yes", "no"], policy="random-pairs")  # fmt: skip
    browser.expect("status of 403")
    browser.open(site.link("stale", "ann"))
    browser.shows("Welcome", "h1")
    browser.run("document.querySelector('main [name=csrf]').value = 'of another day'")
    browser.find(".primary").click()
    browser.shows("This form is out of date")
    browser.look("trouble", schemes=("light",))
    browser.find("main a").click()
    browser.shows("Welcome", "h1")
