"""The whole story in a browser: from a CSV to labels that are corrected, certified and paid."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from askwise.core.events import Kind
from tests.service.browser.driving import ENTER, Browser, Site, serving, sign_in
from tests.service.browser.working import click, settle

REVIEWS = "id,review\n" + "".join(
    f'r{at},"The lamp is {word}"\n' for at, word in enumerate(("lovely", "broken", "bright", "dim"))
)
TYPED = {
    "question": "Does the writer recommend the lamp?",
    "options": "yes\nno",
    "people": "id,price\nann,0.05\nben,0.05\nvet,0.20",
    "budget": "20",
    "currency": "USD",
    "target": "30",
}
TRUTHS = {
    "The lamp is lovely": "yes",
    "The lamp is broken": "no",
    "The lamp is bright": "yes",
    "The lamp is dim": "no",
}
CONTESTED, FLAGGED = "The lamp is lovely", "The lamp is broken"
CERTIFICATE = {"confidence": "60", "by": "vet"}


def test_the_whole_story_on_sqlite(browser: Browser, tmp_path: Path) -> None:
    tell(browser, f"sqlite:///{tmp_path / 'store.sqlite'}", tmp_path)


@pytest.mark.slow
def test_the_whole_story_on_postgresql(browser: Browser, tmp_path: Path, postgres_url: str) -> None:
    tell(browser, postgres_url, tmp_path)


def tell(browser: Browser, store: str, directory: Path) -> None:
    """Play the requester, two workers and an auditor on a service of their own."""
    file = directory / "lamps.csv"
    file.write_text(REVIEWS)
    with serving(store) as site:
        links = create(browser, site, file)
        ann_changes_her_last_answer(browser, links["ann"])
        sign_in(browser, site, "/dashboard/lamps/manage")
        ben_differs_flags_and_signs_out(browser, invited(browser, "ben"))
        sign_in(browser, site, "/dashboard/lamps/review?queue=contested")
        correct(browser)
        browser.open(links["vet"])
        answer_all(browser, TRUTHS)
        sign_in(browser, site, "/dashboard/lamps")
        browser.shows("At most 30% of all 4 labels are wrong", "#certificate + p")
        pay_out(browser, site)
        check_results(browser, site)
        log = site.service.campaigns.get("lamps").log()
        wanted = {Kind.REVISED, Kind.FLAGGED, Kind.LABELLED, Kind.DRAWN, Kind.PAID, Kind.BONUS}
        assert wanted <= {event.kind for event in log}


def create(browser: Browser, site: Site, file: Path) -> dict[str, str]:
    """Create the campaign from the file; the links of its people."""
    browser.open(f"{site.url}/dashboard")
    browser.press(site.owner, ENTER)
    browser.find("#file").send_keys(str(file))
    browser.shows("lamps.csv: 4 rows")
    for name, words in TYPED.items():
        browser.find(f"#{name}").send_keys(words)
    browser.find("details:has(#confidence) summary").click()
    for name, words in CERTIFICATE.items():
        browser.find(f"#{name}").send_keys(words)
    browser.find("button[value=create]").click()
    browser.shows("The campaign is created, with 4 tasks")
    names = [each.text for each in browser.all(".link-row label")]
    made = [each.get_attribute("value") or "" for each in browser.all(".link-row input")]
    return dict(zip(names, made, strict=True))


def invited(browser: Browser, worker: str) -> str:
    """Make a link for somebody who is in the campaign."""
    browser.find("#invite #worker").send_keys(worker)
    browser.find("#invite .primary").click()
    return browser.find("#link").get_attribute("value") or ""


def ann_changes_her_last_answer(browser: Browser, link: str) -> None:
    """Answer all as it is, the last one only at the second try."""
    browser.open(link)
    last = answer_all(browser, TRUTHS, slip_at=4)
    click(browser, ".last a, .last button")
    browser.shows("Change your answer", "h1")
    choose(browser, TRUTHS[last])
    browser.shows("Your answer was changed.", "#said")


def ben_differs_flags_and_signs_out(browser: Browser, link: str) -> None:
    """Differ about one lamp, flag another."""
    browser.open(link)
    answer_all(browser, {**TRUTHS, CONTESTED: "no", FLAGGED: None})
    browser.find(".top button").click()
    browser.shows("You are signed out", "h1")


def correct(browser: Browser) -> None:
    """Set the label of the task that is contested."""
    browser.shows(CONTESTED)
    browser.find("tbody th a").click()
    browser.find("#value option[value=yes]").click()
    browser.find("#label #why").send_keys("They would buy it again.")
    browser.find("#label .primary").click()
    browser.shows("They would buy it again.")


def pay_out(browser: Browser, site: Site) -> None:
    """Pay ann, give ben a bonus, pay all others."""
    browser.open(f"{site.url}/dashboard/lamps/payments?worker=ann")
    browser.shows("Owed: 0.20 USD", "#pay")
    browser.find("#pay-reference").send_keys("Bank 17")
    browser.find("#pay .primary").click()
    browser.shows("Marked as paid.", ".notice")
    browser.open(f"{site.url}/dashboard/lamps/payments?worker=ben")
    browser.find("#bonus-amount").send_keys("0.5")
    browser.find("#bonus #why").send_keys("For the flag.")
    browser.find("#bonus button[type=submit]").click()
    browser.shows("The bonus is given.", ".notice")
    browser.find("#pay-all .primary").click()
    browser.shows("All are marked as paid.", ".notice")
    paid = {each.worker: each for each in site.service.campaigns.get("lamps").payments()}
    assert not any(each.owed for each in paid.values())
    # An answer, and the bonus.
    assert str(paid["ben"].paid_out) == "0.55"


def check_results(browser: Browser, site: Site) -> None:
    """Texts, final labels and who has decided are in one file."""
    browser.open(f"{site.url}/dashboard/lamps")
    link = browser.find("a[href$='/export/results.csv']").get_attribute("href")
    text = browser.run("return fetch(arguments[0]).then(reply => reply.text())", link)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["text"]: row["value"] for row in rows} == TRUTHS
    decided = {row["text"]: row["decided_by"] for row in rows if row["decided_by"]}
    assert decided == {CONTESTED: "tests"}


def answer_all(browser: Browser, says: dict[str, str | None], slip_at: int = 0) -> str:
    """Answer all that is asked, one of them wrongly; the text of the last question.

    What there is no answer to is flagged.
    """
    text, number = "", 1
    browser.find(".primary").click()
    browser.shows("Question 1", "h1")
    while browser.text("h1").startswith("Question"):
        text = next(words for words in says if words in browser.text())
        value = says[text]
        if value is None:
            browser.find(".flag summary").click()
            browser.find(".flag textarea").send_keys("Which lamp?")
            click(browser, ".flag button")
        else:
            choose(browser, value if number != slip_at else ("yes", "no")[value == "yes"])
        was = f"Question {number}"
        browser.until(lambda was=was: browser.text("h1") != was or None, "the page changes")
        number += 1
    return text


def choose(browser: Browser, value: str) -> None:
    """Click an option."""
    settle(browser)
    next(each for each in browser.all(".options button") if value in each.text).click()
