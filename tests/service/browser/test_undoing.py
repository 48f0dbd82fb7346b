"""What can be taken back, in a browser: pages at either width, in either scheme."""

from __future__ import annotations

from tests.service.browser.driving import Browser, Site, sign_in
from tests.service.browser.test_dashboard import make


def test_what_can_be_taken_back_is_found_and_worded_on_accessible_pages(
    browser: Browser, site: Site
) -> None:
    campaign = make(site, "undone")
    campaign.retitle("Cats, and pictures that are taken back")
    sign_in(browser, site, "/dashboard/undone/manage")
    browser.look("undo-manage")
    browser.open(f"{site.url}/dashboard/undone/delete")
    browser.look("undo-delete", schemes=("light",))
    browser.open(f"{site.url}/dashboard/undone/task?id=picture-1")
    browser.look("undo-task", schemes=("light",))
    campaign.archive()
    browser.open(f"{site.url}/dashboard/undone")
    browser.shows("can be read, but not changed")
    browser.look("undo-archived", schemes=("dark",))
    browser.open(f"{site.url}/dashboard?archived=yes")
    browser.look("undo-list", schemes=("light",))
    browser.find("tbody a").click()
    browser.find("#unarchive").click()
    browser.shows("The campaign is in use again.")


def test_a_worker_signs_out(browser: Browser, site: Site) -> None:
    make(site, "left")
    browser.open(site.link("left", "ann"))
    browser.look("sign-out")
    browser.find(".top button").click()
    browser.shows("You are signed out", "h1")
    browser.look("signed-out", schemes=("light",))
