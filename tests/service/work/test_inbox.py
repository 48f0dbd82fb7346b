"""The worker's page: what it shows and does, without a browser."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.service.work.visiting import Bench, Clock, Visitor, kinds, told_by


def test_a_link_becomes_a_cookie_of_its_campaign_alone(bench: Bench) -> None:
    bench.campaign()
    token = bench.token("ann")
    client = TestClient(bench.app, follow_redirects=False)
    reply = client.get(f"/join/{token}")
    assert (reply.status_code, reply.headers["location"]) == (303, f"/work/{bench.name}")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"askwise_work_{bench.name}={token};")
    assert {"HttpOnly", f"Path=/work/{bench.name}", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Secure" not in cookie


def test_a_token_leaves_the_address_with_the_first_visit(bench: Bench) -> None:
    bench.campaign()
    token = bench.token("ann")
    client = TestClient(bench.app)
    page = client.get(f"/join/{token}")
    (led,) = page.history
    assert page.status_code == 200
    assert page.url.path == f"/work/{bench.name}"
    assert token not in str(page.url)
    assert token not in page.text
    for reply in (led, page):
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cache-Control"] == "no-store"


def test_who_signs_out_gives_back_their_question_and_the_cookie(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor("ann")
    ann.look()
    ann.send("next")
    assert len(campaign.assignments("ann")) == 1
    page = ann.send("sign-out")
    assert "You are signed out" in page
    assert campaign.assignments("ann") == []
    assert f"askwise_work_{bench.name}" not in ann.client.cookies
    ann.look()
    assert ann.status == 401


def test_a_title_that_was_changed_is_on_the_workers_page(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor("ann")
    assert f"<bdi>{bench.name}</bdi>" in ann.look()
    campaign.retitle("Cats & dogs")
    assert "<bdi>Cats &amp; dogs</bdi>" in ann.look()


def test_a_cookie_is_for_encrypted_connections_where_there_are_such(clock: Clock) -> None:
    settings = Settings(store="memory", address="https://ask.example")
    bench = Bench(make_app(settings, open_store("memory")))
    bench.campaign()
    client = TestClient(bench.app, follow_redirects=False)
    token = bench.token("ann", lasts=100)
    cookie = client.get(f"/join/{token}").headers["set-cookie"]
    assert "Secure" in cookie.split("; ")
    assert "Max-Age=100" in cookie.split("; ")


def test_links_that_are_unknown_over_or_revoked_get_the_same_plain_page(bench: Bench) -> None:
    bench.campaign()
    client = TestClient(bench.app)
    revoked = bench.token("ann")
    identities = bench.service.identities
    identities.revoke(identities.tokens(bench.name)[0].id, campaign=bench.name)
    over = bench.token("ann", lasts=0.001)
    owner, _ = identities.issue("owner", "me")
    time.sleep(0.01)  # only ever longer than that token lasts
    pages = set()
    for token in ("aww_unknown", revoked, over, owner, "x" * 3000):
        reply = client.get(f"/join/{token}")
        assert reply.status_code == 401
        assert "set-cookie" not in reply.headers
        pages.add(reply.text)
    assert len(pages) == 1
    assert "Open the link you were sent again" in pages.pop()
    assert client.get(f"/work/{bench.name}").status_code == 401
    assert client.get("/work/nothing-there").status_code == 401


def test_a_token_opens_no_other_campaign(bench: Bench) -> None:
    bench.campaign()
    other = Bench(bench.app, f"{bench.name}-other")
    other.campaign()
    client = TestClient(bench.app)
    client.cookies.set(f"askwise_work_{other.name}", bench.token("ann"))
    assert client.get(f"/work/{other.name}").status_code == 401


def test_looking_reserves_nothing(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    for _ in range(3):
        assert "Start" in ann.look()
    assert kinds(campaign) == []
    ann.send("next")
    assert ann.heading() == "Question 1"
    before = kinds(campaign)
    ann.look()
    assert ann.heading() == "Question 1"
    assert "A cat?" in ann.page or "A dog?" in ann.page
    assert kinds(campaign) == before


def test_an_answer_brings_the_next_question_in_one_round_trip(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    first = ann.send("next")
    second = ann.send("answer", value="yes")
    assert ann.status == 200
    assert (ann.heading(), ann.about()) == ("Question 2", "Saved.")
    assert ("A cat?" in first) != ("A cat?" in second)
    ann.send("answer", value="no")
    assert "There is no question for you" in ann.page  # bob has not been asked yet
    assert '<dd id="earned">0.20</dd>' in ann.page
    assert '<dd id="given">2</dd>' in ann.page
    assert kinds(campaign).count("ANSWER") == 2


def test_the_same_form_again_changes_nothing(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    begin = ann.look()
    first = ann.send("next")
    ann.send("next", page=begin)
    assert ann.heading() == "Question 1"
    ann.send("answer", value="yes", page=first)
    asked = kinds(campaign).count("ASKED")
    ann.send("answer", value="yes", page=first)
    assert (ann.heading(), ann.about(), ann.status) == ("Question 2", "", 200)
    ann.send("answer", value="no", page=first)
    assert "You had answered that already, with “yes”" in ann.about()
    ann.send("skip", page=first)
    assert ann.heading() == "Question 2"
    assert kinds(campaign).count("ANSWER") == 1
    assert kinds(campaign).count("ASKED") == asked == 2


def test_clicks_at_once_ask_once(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    begin = ann.look()
    others = [Visitor(ann.client, bench.name) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda each: each.send("next", page=begin), others))
    assert kinds(campaign).count("ASKED") == 1
    first = ann.look()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda each: each.send("answer", page=first, value="yes"), others))
    assert kinds(campaign).count("ASKED") == 2
    assert kinds(campaign).count("ANSWER") == 1
    assert {each.heading() for each in others} == {"Question 2"}


def test_a_skipped_question_does_not_come_again(bench: Bench) -> None:
    campaign = bench.campaign(tasks=["t1"], workers=[{"id": "ann", "price": "0.10"}])
    ann = bench.visitor()
    ann.look()
    assert "t1" in ann.send("next")  # without a payload its id is all there is
    ann.send("skip")
    assert ann.heading() == "Thank you"
    assert kinds(campaign)[-1] == "DECLINED"


@pytest.mark.parametrize(("kind", "again"), [(None, True), ("person", False)])
def test_a_person_is_told_that_what_they_skipped_does_not_come_again(
    bench: Bench, kind: str | None, again: bool
) -> None:
    ann = {"id": "ann", "price": "0.10", **({} if kind is None else {"kind": kind})}
    bench.campaign(tasks=["t1"], workers=[ann], policy="virt-ucb", repeat=True)
    visitor = bench.visitor()
    visitor.look()
    visitor.send("next")
    assert ("It will not come again" in visitor.send("skip")) is not again


def test_forms_need_their_token_and_their_own_site(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    ann.send("next", csrf="0" * 64)
    assert ann.status == 403
    assert "out of date" in ann.page
    bob = bench.visitor("bob")
    theirs = re.search(r'name="csrf" value="(\w+)"', bob.look())
    assert theirs is not None
    ann.look()
    ann.send("next", csrf=theirs[1])
    assert ann.status == 403
    own = re.search(r'name="csrf" value="(\w+)"', ann.look())
    assert own is not None
    for header in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        reply = ann.client.post(f"{ann.home}/next", data={"csrf": own[1]}, headers=header)
        assert reply.status_code == 403
    assert kinds(campaign) == []


def test_anothers_question_can_neither_be_seen_nor_answered(bench: Bench) -> None:
    campaign = bench.campaign()
    ann, bob = bench.visitor("ann"), bench.visitor("bob")
    bob.look()
    bob.send("next")
    theirs = re.search(r'name="assignment" value="([^"]+)"', bob.page)
    assert theirs is not None
    ann.look()
    ann.send("next")
    mine = ann.page
    for foreign in (theirs[1], f"{bench.name}:999", "dogs:2", "nonsense", ""):
        for verb in ("answer", "skip"):
            ann.send(verb, page=mine, assignment=foreign, value="yes")
            assert ann.status == 403
            assert "not yours" in ann.page
    assert "ANSWER" not in kinds(campaign)
    assert "DECLINED" not in kinds(campaign)


def test_a_page_tells_nothing_of_others_nor_of_the_campaign(bench: Bench) -> None:
    campaign = bench.campaign(
        tasks=[{"id": f"secret-id-{at}", "payload": f"Text {at}"} for at in range(3)],
        workers=[{"id": "ann", "price": "0.10"}, {"id": "bob-the-other", "price": "0.37"}],
        budget="123.45",
    )
    bob = bench.visitor("bob-the-other")
    bob.look()
    bob.send("next")
    bob.send("answer", value="no")
    campaign.truth("secret-id-0", "yes")
    ann = bench.visitor()
    pages = [ann.look(), ann.send("next")]
    pages += [ann.send("answer", value="yes") for _ in range(3)]
    for page in pages:
        told = "\n".join(told_by(page))
        assert f"/work/{bench.name}" in told
        for hidden in ("bob-the-other", "0.37", "123", "random-pairs", "secret-id", "propensity"):
            assert hidden not in told


def test_a_look_for_what_a_page_tells_passes_over_drawn_tokens_and_nothing_else() -> None:
    page = (
        '<link href="/static/a.css?v=123"><p title="one 1">two 2</p><script src="/b.js?v=123">'
        '</script><form action="/three"><input type="hidden" name="csrf" value="a123b">'
        '<input type="hidden" name="seen" value="4"></form>'
    )
    told = "\n".join(told_by(page))
    assert "123" not in told
    for shown in ("/static/a.css", "one 1", "two 2", "/b.js", "/three", "seen", "4"):
        assert shown in told


def test_an_answer_that_is_none_is_refused_where_it_was_given(bench: Bench) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    ann.send("answer", value="perhaps")
    assert (ann.status, ann.heading()) == (422, "Question 1")
    assert "not one of the answers" in ann.about()
    assert "ANSWER" not in kinds(campaign)


def test_a_number_outside_the_range_is_refused(bench: Bench) -> None:
    bench.campaign(
        tasks=None, options=None, outcome={"kind": "utility", "low": 0, "high": 5},
        policy="bounded-epsilon-first",
    )  # fmt: skip
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    assert 'min="0" max="5"' in ann.page
    for sent in ("", "two", "nan", "inf", "5.01", "-1", "0x1", "1e999"):
        ann.send("answer", value=sent)
        assert (ann.status, ann.heading()) == (422, "Question 1")
        assert "not a number from 0 to 5" in ann.about()
    ann.send("answer", value=" 2.5 ")
    assert ann.about() == "Saved."


def test_a_question_that_can_not_be_answered_is_flagged_with_a_reason(bench: Bench) -> None:
    campaign = bench.campaign(tasks=["t1"], workers=[{"id": "ann", "price": "0.10"}])
    ann = bench.visitor()
    ann.look()
    question = ann.send("next")
    ann.send("flag", why=" ")
    assert ann.status == 422
    assert "Say why" in ann.about()
    assert kinds(campaign)[-1] == "ASKED"
    ann.send("flag", why="There is no picture.")
    assert ann.heading() == "Thank you"
    assert kinds(campaign)[-2:] == ["FLAGGED", "DECLINED"]
    assert campaign.log()[-2].why == "There is no picture."
    ann.send("flag", page=question, why="Twice.")
    assert kinds(campaign)[-2:] == ["FLAGGED", "DECLINED"], "a form that is sent twice works once"
