"""A question with content on the worker's page: kinds of fields, hostile text, swapped sides."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.content import Content
from askwise.core.draws import SIDES, Draw, stream, words
from askwise.service.work.question import question_view
from askwise.service.work.sides import drawn
from tests.service.work.visiting import Bench, Visitor

SPAM: dict[str, Any] = {
    "title": "Spam in mail",
    "question": "Is this message spam?",
    "instructions": "Judge what it **wants**.",
    "options": [{"name": "spam", "label": "Spam", "meaning": "It wants money."}, "ham"],
    "currency": "EUR",
    "fields": [
        {"name": "subject", "label": "Subject"},
        {"name": "body", "show": "long_text"},
        {"name": "photo", "show": "image", "alt": "words", "optional": True},
        {"name": "page", "show": "html", "label": "Page", "optional": True},
        {"name": "more", "show": "json", "optional": True},
    ],
    "examples": [
        {"payload": {"subject": "Lunch", "body": "At noon?"}, "answer": "ham", "why": "A friend."}
    ],
}
MAIL = {
    "subject": "You have won",
    "body": "Click\nhere",
    "photo": "https://img.example/1.png",
    "words": "A prize",
    "page": "<h2>Win</h2>",
    "more": {"to": 3},
}
PAIR: dict[str, Any] = {
    "question": "Which answer is better?",
    "options": [
        {"name": "old", "label": "A", "side": "first"},
        {"name": "new", "label": "B", "side": "second"},
        {"name": "tie", "label": "Neither"},
    ],
    "fields": [{"name": "before", "show": "pair", "second": "after"}],
}


def asked(bench: Bench, content: dict[str, Any], *payloads: Any, **more: Any) -> Visitor:
    tasks = [{"id": f"t{at}", "payload": each} for at, each in enumerate(payloads)]
    bench.campaign(tasks=tasks, options=None, content=content, **more)
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    return ann


def said_on(page: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


def test_the_page_shows_all_that_the_content_says(bench: Bench) -> None:
    ann = asked(bench, SPAM, MAIL)
    said = said_on(ann.page)
    assert '<h2 class="asked" dir="auto">Is this message spam?</h2>' in ann.page
    assert "<bdi>Spam in mail</bdi>" in ann.page
    assert "Judge what it <strong>wants</strong>." in ann.page
    assert "Pays 0.10 EUR" in said
    assert "1 Spam It wants money. 2 ham" in said
    assert "Earned 0.00 EUR" in said
    assert 'value="spam"' in ann.page
    assert "Example Lunch At noon? Right answer: ham A friend." in said.replace("Subject ", "")
    assert ann.heading() == "Question 1"


def test_every_kind_of_field_is_shown_in_its_own_way(bench: Bench) -> None:
    page = asked(bench, SPAM, MAIL).page
    assert re.search(
        r'<p class="label" dir="auto">Subject</p>\s*<p class="line" dir="auto">You have won</p>',
        page,
    )
    assert '<div class="text" dir="auto" >Click\nhere</div>' in page
    assert (
        '<img class="picture" src="https://img.example/1.png" alt="A prize" '
        'referrerpolicy="no-referrer">' in page
    )
    frame = re.search(r"<iframe[^>]*>", page)
    assert frame is not None
    assert 'sandbox=""' in frame[0]
    assert 'title="Page"' in frame[0]
    assert "&lt;h2&gt;Win&lt;/h2&gt;" in frame[0]
    assert '<pre class="text" dir="auto" >{\n  &#34;to&#34;: 3\n}</pre>' in page


def test_the_sides_of_a_pair_are_named_a_and_b(bench: Bench) -> None:
    ann = asked(bench, {**PAIR, "options": ["same", "other"]}, {"before": "one", "after": "two"})
    # Options that name no side leave the order as it is.
    assert sides_on(ann.page) == {"A": "one", "B": "two"}
    assert "with-pair" in ann.page


def test_instructions_are_open_until_the_first_answer(bench: Bench) -> None:
    ann = asked(bench, SPAM, MAIL, MAIL)
    assert re.search(r'id="instructions" open>', ann.page)
    ann.send("answer", value="spam")
    assert re.search(r'id="instructions" >', ann.page)


def test_who_begins_reads_the_question_and_the_instructions_first(bench: Bench) -> None:
    bench.campaign(tasks=[{"id": "t", "payload": MAIL}], options=None, content=SPAM)
    ann = bench.visitor()
    page = ann.look()
    assert ann.heading() == "Welcome"
    assert "Is this message spam?" in page
    assert re.search(r'id="instructions" open>', page)
    assert "You have won" not in page


def test_without_content_the_page_has_no_question_of_its_own(bench: Bench) -> None:
    bench.campaign()
    ann = bench.visitor()
    ann.look()
    page = ann.send("next")
    assert "<h2" not in page
    assert '<details class="guidance"' not in page
    assert "Pays 0.10</span>" in page


def test_a_number_is_asked_for_where_the_content_has_a_range(bench: Bench) -> None:
    campaign = bench.campaign(
        tasks=[{"id": "t", "payload": "x"}], options=None, policy="uniform",
        outcome={"kind": "utility", "low": 0, "high": 10},
        content={"question": "How good?", "range": [0, 10], "currency": "EUR"},
    )  # fmt: skip
    ann = bench.visitor()
    ann.look()
    page = ann.send("next")
    assert "How good?" in page
    assert 'min="0" max="10"' in page
    ann.send("answer", value="7.5")
    assert campaign.status().utility == 7.5


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[x](javascript:alert(1)) ![spy](https://spy.example/p.png) <iframe src=//spy.example>",
    "</details></section><h1>Taken</h1>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_anywhere_in_the_content_are_inert(bench: Bench, text: str) -> None:
    hostile = {
        "title": text,
        "question": text,
        "instructions": text,
        "currency": "<b>",
        "options": [{"name": "a", "label": text, "meaning": text}, {"name": text}],
        "fields": [
            {"name": "t", "label": text},
            {"name": "h", "show": "html", "label": text},
            {"name": "l", "show": "pair", "second": "r", "label": text},
        ],
        "examples": [{"payload": dict.fromkeys("thlr", text), "answer": text, "why": text}],
    }
    hostile["options"][1]["label"] = "b"
    ann = asked(bench, hostile, dict.fromkeys("thlr", text))
    tags = re.findall(r"<(\w+)", ann.page)
    assert tags.count("script") == 1  # our own
    assert not {"img", "svg", "b"} & set(tags)
    assert tags.count("h1") == 1
    assert tags.count("iframe") == 2
    assert all('sandbox=""' in each for each in re.findall(r"<iframe[^>]*>", ann.page))
    assert 'href="javascript' not in ann.page
    policy = ann.client.get(ann.home).headers["content-security-policy"]
    assert "img-src 'self';" in policy
    assert "spy.example" not in policy


def test_images_of_the_task_and_of_examples_are_all_the_page_may_load(bench: Bench) -> None:
    content = {
        **SPAM,
        "fields": [{"name": "photo", "show": "image"}],
        "examples": [{"payload": {"photo": "https://b.example/2.png"}, "answer": "ham"}],
    }
    ann = asked(bench, content, {"photo": "data:image/png;base64,AAAA"})
    policy = ann.client.get(ann.home).headers["content-security-policy"]
    assert "img-src 'self' data: https://b.example;" in policy
    assert 'data-origin="data: https://b.example"' in ann.page


def test_a_task_that_can_not_be_shown_says_so_and_can_be_skipped(bench: Bench) -> None:
    campaign = bench.campaign(tasks=[{"id": "t", "payload": MAIL}], options=["spam", "ham"])
    spec = {**campaign.spec, "content": {**SPAM, "fields": ["gone"], "examples": []}}
    bench.name += "-old"
    bench.service.campaigns.store.create(bench.name, json.dumps(spec), 0.0)
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    assert "can’t be displayed properly" in ann.page
    assert "/answer" not in ann.page
    ann.send("skip")
    assert "Skipped." in ann.about()


# Swapped sides.


def sides_on(page: str) -> dict[str, str]:
    found = re.findall(
        r'<section aria-label="([AB])">.*?<div class="text"[^>]*>(.*?)</div>', page, re.S
    )
    return dict(found)


@pytest.mark.parametrize("seed", range(6))
def test_the_option_that_is_booked_is_the_one_that_was_meant(bench: Bench, seed: int) -> None:
    pairs = [{"before": f"old {at}", "after": f"new {at}"} for at in range(3)]
    ann = asked(bench, PAIR, *pairs, seed=seed)
    campaign = bench.service.campaigns.get(bench.name)
    for label, name in (("A", "old"), ("B", "new"), ("Neither", "tie")):
        shown = sides_on(ann.page)
        meant = shown[label].split()[0] if label in shown else "tie"
        before = campaign.status().seq
        ann.send("answer", value=name)  # the button's own name: it says nothing of the order
        (booked,) = [each for each in campaign.log(before) if each.kind.name == "ANSWER"]
        assert booked.value == meant


def test_an_answer_that_was_given_is_told_by_the_button_that_gave_it(bench: Bench) -> None:
    pairs = [{"before": f"old {at}", "after": f"new {at}"} for at in range(4)]
    ann = asked(bench, PAIR, *pairs)
    for _ in pairs:
        page = ann.page
        ann.send("answer", value="old")
        ann.send("answer", page=page, value="old")
        assert ann.about() == ""  # the same again is no news
        ann.send("answer", page=page, value="new")
        assert "answered that already, with “A”: that stays" in ann.about()
        ann.look()


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_is_chosen_and_turned_back_names_the_side_that_was_seen(
    seed: int, task: int, worker: int
) -> None:
    content = Content.from_json(PAIR)
    payload = {"before": "old", "after": "new"}
    swapped = drawn(seed, task, worker)
    assert swapped == drawn(seed, task, worker)
    view = question_view(content, ["old", "new", "tie"], payload, swapped=swapped)
    assert view.parts is not None
    seen = dict(zip("AB", view.parts[0].sides, strict=True))
    for button in view.options:
        meant = content.unswapped(button.name) if swapped else button.name
        assert meant == seen.get(button.label, "tie")


def test_about_half_of_the_pairs_are_swapped_for_each_worker_and_each_task() -> None:
    # 400 fair tosses: 200, and with a chance below one in 10,000 more than 40 from it.
    for seed in range(5):
        assert abs(sum(drawn(seed, 3, worker) for worker in range(400)) - 200) < 40
        assert abs(sum(drawn(seed, task, 3) for task in range(400)) - 200) < 40
    assert drawn(7, 1, 2) == bool(words(Draw(*stream(7, SIDES, 0), 1), 2)[0] & 1)
