"""The worker's page in a campaign with gold questions, which look like all others."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.events import Kind
from tests.service.work.visiting import Bench, Clock, Visitor

TASKS = [{"id": f"t{at}", "payload": f"A cat, number {at}?"} for at in range(90)]


def made(bench: Bench, **terms: Any) -> Campaign:
    """Make a campaign of which every second task is known to be `yes`."""
    screening = {"qualify": 5, "rate": 0.5, **terms}
    people = [{"id": name, "price": "0.10", "kind": "person"} for name in ("ann", "bob")]
    campaign = bench.campaign(workers=people, tasks=TASKS, screening=screening)
    for task in TASKS[::2]:
        campaign.truth(str(task["id"]), "yes")
    return campaign


def begin(bench: Bench) -> Visitor:
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    return ann


def plain(page: str) -> str:
    """A page of a question without what differs from question to question."""
    page = re.sub(r"A cat, number \d+\?", "PAYLOAD", page)
    page = re.sub(r"[\w.-]+:\d+", "ASSIGNMENT", page)
    page = re.sub(r"Question \d+", "Question N", page)
    page = re.sub(r'(name="seen" value=")\d+', r"\1", page)
    page = re.sub(r'(id="(?:given|earned|hourly)">)[^<]*', r"\1", page)
    return re.sub(r"<div><dt>Per hour.*?</div>", "", page)


def gold_of(campaign: Campaign) -> set[int]:
    """The questions that are gold, as their ASKEDs."""
    notes = {each.decision: each.note for each in campaign.log() if each.kind == Kind.DECIDED}
    asked = [each for each in campaign.log() if each.kind == Kind.ASKED]
    return {each.seq for each in asked if notes[each.decision] == "gold"}


def number_of(page: str) -> int:
    # Before the question there may be the form that changes the last answer.
    return int(re.findall(r'name="assignment" value="[^"]*:(\d+)"', page)[-1])


def test_the_page_says_how_far_the_qualification_is(bench: Bench) -> None:
    made(bench)
    ann = bench.visitor()
    assert "0 of 5 answered" in ann.look()
    ann.send("next")
    for count in range(1, 5):
        assert f"{count} of 5 answered" in ann.send("answer", value="yes")
    assert "not paid" not in ann.page
    assert "Pays 0.10" in ann.page
    assert 'id="qualification"' not in ann.send("answer", value="yes")


def test_an_unpaid_qualification_says_so_and_pays_nothing(bench: Bench) -> None:
    made(bench, paid=False)
    ann = begin(bench)
    assert "They are not paid." in ann.page
    assert "Pays nothing" in ann.page
    for _ in range(5):
        ann.send("answer", value="yes")
    assert 'id="earned">0.00<' in ann.page
    assert "Pays 0.10" in ann.page


def test_no_page_tells_a_gold_question_from_another(bench: Bench, clock: Clock) -> None:
    campaign = made(bench, warn_below=None, pause_below=None)
    ann = begin(bench)
    for _ in range(5):
        ann.send("answer", value="yes")
    pages: dict[int, str] = {}
    for _ in range(24):
        clock.ahead += 9
        pages[number_of(ann.page)] = ann.page
        ann.send("answer", value="yes")
    gold = gold_of(campaign) & set(pages)
    assert 4 < len(gold) < 20
    first, *others = map(plain, pages.values())
    assert all(page == first for page in others)
    # Nor do the numbers in the ids of assignments.
    numbers = sorted(pages)
    steps = [(after - before, after in gold) for before, after in pairwise(numbers)]
    assert {step for step, is_gold in steps if is_gold} == {3}
    assert {step for step, is_gold in steps if not is_gold} == {3}


def test_no_reply_to_a_workers_token_tells_a_gold_question_from_another(bench: Bench) -> None:
    campaign = made(bench, warn_below=None, pause_below=None)
    client = TestClient(bench.app, base_url="http://service.test")
    headers = {"Authorization": f"Bearer {bench.token('ann')}"}
    path = f"/campaigns/{bench.name}"

    def post(where: str, **body: Any) -> Any:
        reply = client.post(where, json=body, headers=headers)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def shape(reply: dict[str, Any]) -> str:
        kept = {**reply, "id": "", "task": "", "payload": ""}
        kept["expires"] = reply["expires"] is None
        return repr(sorted(kept.items()))

    seen: dict[int, set[str]] = {}
    for _ in range(25):
        (asked,) = post(f"{path}/ask")["assignments"]
        mine = client.get(f"/assignments/{asked['id']}", headers=headers).json()
        told = post(f"/assignments/{asked['id']}/answer", value="yes")
        after = client.get(f"/assignments/{asked['id']}", headers=headers).json()
        number = int(asked["id"].rpartition(":")[2])
        seen[number] = {shape(asked), shape(mine), shape(after), repr(sorted(told))}
        standing = client.get(f"{path}/standing?worker=ann", headers=headers).json()
        assert set(standing) == {
            "state", "suspended_for", "questions", "qualifying_answers", "paid",
        }  # fmt: skip
    assert standing["state"] == "good"
    gold = gold_of(campaign)
    assert {number in gold for number in seen} == {True, False}
    assert len({frozenset(each) for each in seen.values()}) == 1


def test_a_token_sees_no_standing_but_its_own(bench: Bench) -> None:
    made(bench)
    client = TestClient(bench.app, base_url="http://service.test")
    headers = {"Authorization": f"Bearer {bench.token('ann')}"}
    path = f"/campaigns/{bench.name}"
    assert client.get(f"{path}/standing?worker=bob", headers=headers).status_code == 403
    assert client.get(f"{path}/workers", headers=headers).status_code == 403
    own = {"worker": "ann"}
    assert client.post(f"{path}/reinstate", json=own, headers=headers).status_code == 403


def test_who_does_not_qualify_is_told_kindly_why_nothing_comes(bench: Bench) -> None:
    campaign = made(bench)
    ann = begin(bench)
    for _ in range(5):
        ann.send("answer", value="no")
    assert ann.heading() == "Your work is paused"
    assert "Too few of the first questions" in ann.page
    assert "What you have earned is yours." in ann.page
    ann.look()
    assert ann.heading() == "Your work is paused"
    campaign.reinstate("ann", by="eve")
    ann.look()
    assert ann.heading() == "Welcome back"


def test_a_warning_is_on_the_page_and_a_pause_by_the_requester_is_told(bench: Bench) -> None:
    campaign = made(bench, warn_below=0.9, pause_below=0.1)
    ann = begin(bench)
    for _ in range(5):
        ann.send("answer", value="yes")
    for _ in range(60):
        if 'id="warning"' in ann.page:
            break
        ann.send("answer", value="no")
    assert "Please take your time" in ann.page
    assert [each.kind.name for each in campaign.log() if each.kind == Kind.WARNED] == ["WARNED"]
    campaign.suspend("ann", by="eve")
    # What they have out is theirs to finish.
    ann.look()
    assert ann.heading().startswith("Question")
    ann.send("answer", value="yes")
    assert "The requester has paused your work for now." in ann.page


def test_what_an_hour_pays_is_shown_after_three_minutes_of_work(bench: Bench, clock: Clock) -> None:
    bench.campaign(tasks=TASKS)
    ann = begin(bench)
    for _ in range(9):
        assert 'id="hourly"' not in ann.page
        clock.ahead += 20
        ann.send("answer", value="yes")
    hourly = re.search(r'id="hourly">([\d.]+)<', ann.page)
    assert hourly is not None
    # 20 seconds and the moment that the page takes: a little below 18.
    assert 16 < float(hourly[1]) <= 18
