"""From a CSV to the first answered question, in a browser and in few actions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.browser.driving import ENTER, WIDE, Browser, serving
from tests.service.browser.working import click

PHONE = (390, 844)

REVIEWS = "id,review,stars\n" + "".join(
    f'r{at},"The lamp is {word}, and it came on day {at}",{at % 5 + 1}\n'
    for at, word in enumerate(["lovely", "broken", "bright", "dim"] * 3)
)

TYPED = {
    "question": "Does the writer recommend the lamp?",
    "options": "yes: They would buy it again\nno: They are disappointed",
    "people": "ann\nben\ncy",
    "price": "0.05",
    "budget": "60",
    "currency": "USD",
}


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["1280", "390"])
def test_six_actions_lead_from_a_csv_to_the_first_answer(
    browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    """An action is what leads to another page: a form that is sent, or a link that is followed."""
    file = tmp_path / "lamp reviews.csv"
    file.write_text(REVIEWS)
    actions = 0
    with serving() as site:
        browser.size(*size)
        browser.open(f"{site.url}/dashboard")
        browser.press(site.owner, ENTER)
        actions += 1
        browser.shows("No campaign yet")
        browser.fits()
        browser.find("#file").send_keys(str(file))
        actions += 1
        browser.shows("lamp reviews.csv: 12 rows")
        browser.fits()
        for name, words in TYPED.items():
            browser.find(f"#{name}").send_keys(words)
        # 12 reviews to 3 people at 0.05.
        browser.shows("1.80 USD at most", "#cost")
        browser.fits()
        browser.find("button[value=create]").click()
        actions += 1
        browser.shows("The campaign is created, with 12 tasks")
        browser.fits()
        browser.open(browser.find("#link-1 ~ a").get_attribute("href") or "")
        actions += 1
        browser.shows("Does the writer recommend the lamp?")
        browser.find(".primary").click()
        actions += 1
        browser.shows("Question 1", "h1")
        click(browser, ".options button")
        actions += 1
        browser.shows("1", "#given")
        assert site.service.campaigns.get("lamp-reviews").status().answers == 1
    assert actions == 6


def test_every_step_and_its_errors_are_accessible_and_fit(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text(REVIEWS)
    browser.expect("status of 422")
    with serving() as site:
        browser.open(f"{site.url}/dashboard")
        browser.press(site.owner, ENTER)
        browser.shows("No campaign yet")
        browser.look("new-0-empty")
        browser.open(f"{site.url}/dashboard/-/new")
        browser.look("new-1-file", schemes=("light",))
        browser.find("#file").send_keys(str(file))
        browser.shows("reviews.csv: 12 rows")
        browser.look("new-2-form")
        for name, words in TYPED.items():
            browser.find(f"#{name}").send_keys(words)
        browser.find("#budget").send_keys("x")
        browser.find("button[value=create]").click()
        browser.shows("budget is", "#budget-error")
        browser.look("new-3-error")
        browser.find("#budget").clear()
        browser.find("#budget").send_keys("1")
        browser.find("button[value=preview]").click()
        browser.shows("1.00 USD at most", "#cost")
        browser.look("new-4-preview")
        browser.find("button[value=create]").click()
        browser.shows("The campaign is created")
        browser.look("new-5-created")
        browser.open(f"{site.url}/dashboard/reviews")
        browser.shows("Before the first answer")
        browser.look("new-6-first-steps")
        browser.open(f"{site.url}/dashboard/reviews/manage")
        browser.run("document.querySelector('#tasks').value = arguments[0]", "id,review\nx,Fine")
        browser.find("#add button").click()
        browser.shows("This is a table of 1 row")
        browser.look("new-7-pasted")


def test_without_scripts_a_campaign_is_created_too(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text(REVIEWS)
    with serving() as site:
        browser.without_scripts()
        browser.open(f"{site.url}/dashboard")
        browser.press(site.owner, ENTER)
        browser.find("#file").send_keys(str(file))
        browser.find("form.file button").click()
        for name, words in TYPED.items():
            browser.find(f"#{name}").send_keys(words)
        browser.find("button[value=preview]").click()
        browser.shows("1.80 USD at most", "#cost")
        browser.find("button[value=create]").click()
        browser.shows("The campaign is created, with 12 tasks")


def test_a_file_that_is_too_large_is_not_sent_and_is_told_of_the_command(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text(REVIEWS + "x,y,z\n" * 30_000)
    with serving(largest_body=2**16) as site:
        browser.open(f"{site.url}/dashboard")
        browser.press(site.owner, ENTER)
        browser.shows("No campaign yet")
        browser.find("#file").send_keys(str(file))
        browser.shows("askwise new reviews.csv", "#file-error")
