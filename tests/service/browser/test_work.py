"""The worker's page in a browser: by keyboard, without scripts, with hostile payloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.service.browser.driving import ENTER, HOST, TAB, Browser, Site
from tests.service.browser.working import ANN, BOB, answer, click, make, start


def test_a_worker_answers_a_whole_campaign_by_keyboard_alone(browser: Browser, site: Site) -> None:
    tasks = [{"id": f"t{at}", "payload": f"Is {at} even?"} for at in range(5)]
    campaign = make(site, "keys", tasks=tasks, lease=600)
    browser.open(site.link("keys", "ann"))
    assert browser.driver.current_url == f"{site.url}/work/keys"
    # Past the link to the content, and Sign out.
    browser.press(TAB, TAB, TAB, ENTER)
    browser.run("window.mark = 'the same document'")
    given: dict[str, str] = {}
    for number in range(1, 6):
        browser.shows(f"Question {number}", "h1")
        at = int(browser.text(".text").split()[1])
        assert browser.run("return document.activeElement.tagName") == "H1"
        if at == 3:
            answer(browser, number, "s")
            continue
        given[f"t{at}"] = "no" if at % 2 else "yes"
        answer(browser, number, "2" if at % 2 else "1")
        if number < 5:
            browser.shows("Saved.", "#said")
    browser.shows("Thank you", "h1")
    assert browser.run("return window.mark") == "the same document"
    assert browser.text("#earned") == "0.40"
    assert browser.text("#given") == "4"
    found = {each.task: each.value for each in campaign.answers()}
    assert found == {**given, "t3": None}


def test_a_worker_answers_a_whole_campaign_without_scripts(browser: Browser, site: Site) -> None:
    campaign = make(site, "no-scripts", tasks=["t1", "t2", "t3"], lease=90)
    browser.without_scripts()
    start(browser, site, "no-scripts")
    browser.shows("Question 1", "h1")
    assert not browser.all("kbd:not([hidden])") or not browser.all("kbd")[0].is_displayed()
    browser.shows("1 min", ".facts")
    browser.all(".options button")[0].click()
    browser.shows("Question 2", "h1")
    browser.find(".asides button").click()
    browser.shows("Question 3", "h1")
    browser.driver.refresh()  # sends the last form again
    browser.shows("Question 3", "h1")
    browser.driver.get(browser.driver.current_url)
    browser.shows("Question 3", "h1")
    browser.all(".options button")[1].click()
    browser.shows("Thank you", "h1")
    assert browser.text("#earned") == "0.20"
    assert campaign.status().answers == 2


HOSTILE = {
    "script": "<script>document.title = 'taken'; alert(1)</script>",
    "handler": '"><img src=x onerror="alert(1)"><svg onload="alert(1)">',
    "long": "unbroken" * 20_000,
    "turned": "\u202egnorw si siht \u2066 \u202a \u200b\u2028",
    "template": "{{ 7 * 7 }} ${7 * 7} &lt;b&gt;",
    "html": {
        "html": "<h2>Framed</h2><script>top.document.title = 'taken'; alert(1)</script>"
        "<img src='http://203.0.113.1/spy.png' onerror='alert(1)'><style>@import '//203.0.113.1/a'"
        "</style><meta http-equiv='refresh' content='0;url=http://203.0.113.1/'><form action='/'>"
        "<button>go</button></form><iframe src='http://203.0.113.1/'></iframe>"
        "<link rel='stylesheet' href='http://203.0.113.1/style.css'>"
        "<a id='out' href='http://203.0.113.1/' target='_top'>away</a></iframe><b>outside?</b>"
    },
    "address": {"image": "javascript:alert(1)", "alt": "<b onclick=alert(1)>"},
    "header": {"image": "https://203.0.113.1; script-src * 'unsafe-inline'/x.png"},
    "nested": [{"text": ["</pre><script>alert(1)</script>"]}] * 50,
}
"""Payloads that want more than to be read."""


def test_hostile_payloads_are_inert(browser: Browser, site: Site) -> None:
    tasks = [{"id": f"<i>{name}</i>", "payload": HOSTILE[name]} for name in HOSTILE]
    options = ["<script>alert(1)</script>", "x" * 150, "אל", "👍🏽", '"quoted" & more']
    campaign = make(site, "hostile", tasks=tasks, options=options)
    browser.expect("Content Security Policy")
    browser.expect("sandboxed")
    start(browser, site, "hostile")
    for number in range(1, len(tasks) + 1):
        browser.shows(f"Question {number}", "h1")
        browser.size(360, 740)
        browser.fits()
        if browser.all("iframe"):
            browser.driver.switch_to.frame(browser.find("iframe"))
            assert browser.text("h2") == "Framed"
            browser.find("#out").click()
            browser.driver.switch_to.default_content()
            browser.find("h1").click()
            browser.picture("hostile-html")
            browser.size(360, 740)
        assert browser.driver.title == f"Question {number} – askwise"
        assert browser.run("return document.querySelectorAll('script').length") == 1
        assert len(browser.all("main b, main i, main script, main svg, main h2")) == 0
        assert browser.all(".text, iframe")
        answer(browser, number, str(number % len(options) + 1))
    browser.shows("Thank you", "h1")
    values = {each.value for each in campaign.answers()}
    assert values == set(options)


def test_pages_of_every_state_look_well(browser: Browser, site: Site) -> None:
    long = "A page of text that is to be judged. " * 60
    cat = {"id": "t1", "payload": "Is this a cat?\n\nMind the listeners."}
    campaign = make(site, "looks", tasks=[cat], workers=[ANN, BOB], lease=300)
    browser.open(site.link("looks", "ann"))
    browser.look("start", schemes=("light",))
    browser.find(".primary").click()
    browser.shows("Question 1", "h1")
    browser.look("question")
    click(browser, ".asides form:last-child button")
    browser.shows("on a break", "h1")
    browser.look("away", schemes=("light",))
    campaign.pause()
    click(browser, ".primary")
    browser.shows("paused")
    browser.look("wait", schemes=("light",))
    campaign.resume()
    click(browser, "form[data-poll] button")
    answer(browser, 2, "1")
    browser.shows("no question for you")
    browser.look("wait-saved", schemes=("light",))
    campaign.stop()
    click(browser, "form[data-poll] button")
    browser.shows("Thank you", "h1")
    browser.look("over", schemes=("light",))

    options = ["cat", "dog", *(f"breed number {at}" for at in range(3, 31))]
    make(site, "many", tasks=[{"id": "t1", "payload": {"text": long, "source": {"page": 7}}}],
         options=options)  # fmt: skip
    start(browser, site, "many")
    browser.shows("Question 1", "h1")
    browser.look("many")

    make(site, "number", options=None, outcome="utility", policy="bounded-epsilon-first",
         workers=[{**ANN, "limit": 3}])  # fmt: skip
    start(browser, site, "number")
    browser.shows("Question 1", "h1")
    browser.look("number", schemes=("light",))

    site.create("bids", workers=[ANN, BOB], tasks=["t1"], options=["yes", "no"],
                policy={"name": "ccb-fixed", "qualities": [0.8, 0.8], "alpha": 0.3,
                        "solver": "exact"},
                mechanism={"name": "clarke", "c_max": 2})  # fmt: skip
    browser.open(site.link("bids", "ann"))
    browser.look("bidding")

    browser.expect("status of 401")
    browser.open(f"{site.url}/join/aww_unknown")
    browser.shows("does not work")
    browser.look("stranger", schemes=("light",))


class Gallery(ThreadingHTTPServer):
    """Pictures on another port, which is another origin; notes who asked for them."""

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Hang)
        self.url = f"http://{HOST}:{self.server_address[1]}"
        self.referrers: list[str | None] = []


class _Hang(BaseHTTPRequestHandler):
    server: Gallery

    def do_GET(self) -> None:
        self.server.referrers.append(self.headers.get("Referer"))
        picture = b"<svg xmlns='http://www.w3.org/2000/svg' width='600' height='400'><rect fill='teal' width='600' height='400'/></svg>"  # noqa: E501
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Content-Length", str(len(picture)))
        self.end_headers()
        self.wfile.write(picture)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    """Where pictures are."""
    with Gallery() as hung:
        thread = threading.Thread(target=hung.serve_forever)
        thread.start()
        yield hung
        hung.shutdown()
        thread.join()


LOADED = "return document.querySelector('.picture').naturalWidth"


def test_pictures_load_from_where_a_payload_names_and_tell_nobody_where_from(
    browser: Browser, site: Site, gallery: Gallery
) -> None:
    picture = {"text": "What colour?", "image": f"{gallery.url}/1.svg", "alt": "A plain area"}
    make(
        site, "pictures", tasks=[{"id": "t1", "payload": picture}, {"id": "t2", "payload": picture}]
    )
    start(browser, site, "pictures")
    for number in (1, 2):
        browser.shows(f"Question {number}", "h1")
        browser.until(lambda: browser.run(LOADED) or None, "the picture is there")
        assert browser.find(".picture").get_attribute("alt") == "A plain area"
        if number == 1:
            browser.look("picture", schemes=("light",))
        answer(browser, number, "1")
    browser.shows("Thank you", "h1")
    assert set(gallery.referrers) == {None}


def test_a_question_whose_time_is_over_says_so_and_may_still_be_answered(
    browser: Browser, site: Site
) -> None:
    campaign = make(site, "late", tasks=["t1"], workers=[ANN, BOB], lease=2.5)
    start(browser, site, "late")
    browser.shows("Question 1", "h1")
    browser.shows("The time for this question is up")
    browser.shows("The time for this question is up", "#said")
    browser.look("late", schemes=("light",))
    answer(browser, 1, "1")
    browser.shows("was still accepted")
    assert campaign.answers()[0].value == "yes"


def test_keys_can_be_switched_off_and_stay_so(browser: Browser, site: Site) -> None:
    campaign = make(site, "no-keys", tasks=["t1", "t2"])
    start(browser, site, "no-keys")
    browser.shows("Question 1", "h1")
    browser.find("#keys").click()
    answer(browser, 1, "1")
    browser.driver.refresh()
    browser.shows("Question 1", "h1")
    answer(browser, 1, "1")
    assert not browser.find("#keys").is_selected()
    assert not browser.find("kbd").is_displayed()
    assert campaign.status().answers == 0
    browser.find("#keys").click()
    answer(browser, 1, "1")
    browser.shows("Question 2", "h1")


def test_a_token_that_is_revoked_midway_ends_kindly(browser: Browser, site: Site) -> None:
    make(site, "revoked", tasks=["t1", "t2"])
    browser.expect("status of 401")
    start(browser, site, "revoked")
    browser.shows("Question 1", "h1")
    identities = site.service.identities
    identities.revoke(identities.tokens("revoked")[0].id, campaign="revoked")
    answer(browser, 1, "1")
    browser.shows("This link does not work", "h1")
    assert "earnings are kept" in browser.text()


def test_a_number_is_typed_wherever_the_focus_is(browser: Browser, site: Site) -> None:
    campaign = make(site, "typed", options=None, outcome="utility", policy="bounded-epsilon-first",
                    workers=[{**ANN, "limit": 2}])  # fmt: skip
    start(browser, site, "typed")
    answer(browser, 1, "0.25", ENTER)
    answer(browser, 2, "1", ENTER)
    browser.shows("Thank you", "h1")
    assert campaign.status().utility == 1.25
