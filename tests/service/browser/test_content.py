"""A campaign with content in a browser: what workers see, and what its requester does."""

from __future__ import annotations

from typing import Any

from tests.service.browser.driving import Browser, Site, sign_in
from tests.service.browser.working import answer, make, start

DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M/wHwAEBgIA"
    "pKwG2QAAAABJRU5ErkJggg=="
)
MAILS: dict[str, Any] = {
    "title": "Spam in mail",
    "question": "Is this message spam?",
    "instructions": "Judge what the message **wants**, not how it is written.\n\n"
    "## Borderline cases\n\n- A newsletter that somebody ordered is *ham*.\n"
    "- See [the rules](https://rules.example/spam).\n\n"
    "| it asks for | answer |\n|---|--:|\n| money | spam |\n| a reply | ham |\n\n"
    "> When in doubt, skip it.",
    "currency": "EUR",
    "options": [
        {"name": "spam", "label": "Spam", "meaning": "It wants money or clicks from people who did "
         "not ask for it."},
        {"name": "ham", "label": "Not spam", "meaning": "Anything else."},
    ],
    "fields": [
        {"name": "subject", "label": "Subject"},
        {"name": "body", "show": "long_text", "label": "Message"},
        {"name": "photo", "show": "image", "alt": "words", "label": "Attachment"},
        {"name": "page", "show": "html", "label": "Page"},
        {"name": "headers", "show": "json", "label": "Headers"},
    ],
    "examples": [
        {
            "payload": {"subject": "Lunch", "body": "At noon?", "photo": DOT, "words": "A dot",
                        "page": "<p>Menu</p>", "headers": {}},
            "answer": "ham", "why": "A friend asks.",
        }
    ],
}  # fmt: skip
MAIL = {
    "subject": "You have won",
    "body": "Dear winner,\n\nclick here to receive your prize. It is waiting for you.",
    "photo": DOT,
    "words": "A cheque",
    "page": "<h2>You are the one</h2><script>top.document.title = 'taken'</script>",
    "headers": {"from": "prize@win.example", "hops": [1, 2, 3]},
}
PAIRS: dict[str, Any] = {
    "question": "Which answer helps more?",
    "options": [
        {"name": "old", "label": "A is better", "side": "first"},
        {"name": "new", "label": "B is better", "side": "second"},
        {"name": "tie", "label": "No difference"},
    ],
    "fields": [
        {"name": "prompt", "label": "Asked"},
        {"name": "before", "show": "pair", "second": "after"},
    ],
}


def test_a_question_with_content_is_read_and_answered(browser: Browser, site: Site) -> None:
    tasks = [{"id": f"m{at}", "payload": MAIL} for at in range(2)]
    campaign = make(site, "mails", options=None, content=MAILS, tasks=tasks, lease=600)
    browser.expect("sandboxed")
    start(browser, site, "mails")
    browser.shows("Is this message spam?", "h2")
    browser.look("content-question")
    browser.find("#examples summary").click()
    browser.look("content-example", schemes=("light",))
    browser.find("#instructions summary").click()
    answer(browser, 1, "2")
    browser.shows("Question 2", "h1")
    # What the worker has folded and unfolded stays so.
    assert browser.run("return document.getElementById('examples').open")
    assert not browser.run("return document.getElementById('instructions').open")
    assert browser.driver.title == "Question 2 – askwise"
    answer(browser, 2, "1")
    browser.shows("Thank you", "h1")
    values = sorted(str(each.value) for each in campaign.answers())
    assert values == ["ham", "spam"]


def test_a_pair_is_side_by_side_where_there_is_room(browser: Browser, site: Site) -> None:
    long = "It depends on the weather, on the season and on what you have in mind. " * 4
    payload = {"prompt": "When should I plant beans?", "before": long, "after": "In May."}
    make(site, "pairs", options=None, content=PAIRS, tasks=[{"id": "p", "payload": payload}])
    start(browser, site, "pairs")
    browser.shows("Which answer helps more?", "h2")
    browser.look("content-pair")

    def tops() -> list[int]:
        return [each.location["y"] for each in browser.all(".sides > section")]

    first, second = tops()
    assert first == second
    browser.size(390, 800)
    first, second = tops()
    assert first < second


def test_a_requester_writes_a_question_and_sees_what_workers_see(
    browser: Browser, site: Site
) -> None:
    tasks = [{"id": f"m{at}", "payload": MAIL} for at in range(2)]
    campaign = make(site, "shown", options=None, content=MAILS, tasks=tasks, budget="0.25")
    first, second = campaign.ask(2)
    told = {"probabilities": {"spam": 0.9, "ham": 0.1}, "reference": "chatcmpl-7Hd2"}
    campaign.tell(first.id, "spam", cost="0.18", rationale="It asks for a click. " * 12, **told)  # type: ignore[arg-type]
    campaign.fail(second.id, "timed_out", "0.02")
    browser.expect("sandboxed")
    sign_in(browser, site, "/dashboard")
    for name, path in (
        ("content-overview", "/dashboard/shown"),
        ("content-preview", "/dashboard/shown/preview"),
        ("content-task", f"/dashboard/shown/task?id={first.task}"),
        ("content-workers", "/dashboard/shown/workers"),
    ):
        browser.open(f"{site.url}{path}")
        browser.look(name)
    browser.open(f"{site.url}/dashboard/-/new")
    browser.find("#advanced summary").click()
    browser.find("button[value=preview]").click()
    browser.shows("What a worker will see")
    browser.look("content-new")
