"""A worker changes their last answer, on a page without scripts."""

from __future__ import annotations

import html
import re

import pytest
from starlette.testclient import TestClient

from askwise.service import own_answers
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.service.work.visiting import Bench, Clock, Visitor, kinds


def offered(visitor: Visitor) -> str:
    """What the page says of the answer that may be changed."""
    found = re.search(r'<div class="last".*?<p>(.*?)</p>', visitor.page, re.S)
    return html.unescape(re.sub("<[^>]*>", "", found[1])) if found else ""


def answered(bench: Bench, value: str = "yes") -> Visitor:
    """Somebody who has just answered their first question."""
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    ann.send("answer", value=value)
    return ann


def test_an_archived_campaign_has_ended_and_its_answers_stay(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    campaign.release("ann")
    campaign.archive()
    ann.look()
    assert offered(ann) == ""
    assert "The campaign has ended." in ann.page
    campaign.unarchive()
    ann.look()
    assert offered(ann) == "You answered yes."


def test_the_last_answer_can_be_changed(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    assert offered(ann) == "You answered yes."
    assert ann.heading() == "Question 2"
    shown = ann.send("change")
    assert ann.heading() == "Change your answer"
    assert "Keep my answer" in shown
    assert kinds(campaign)[-1] == "ASKED", "nothing has changed yet"
    ann.send("revise", value="no")
    assert (ann.about(), ann.heading()) == ("Your answer was changed.", "Question 2")
    assert offered(ann) == "You answered no."
    event = campaign.log()[-1]
    assert (event.kind.name, event.worker, event.value, event.by) == ("REVISED", "ann", "no", None)
    ann.look()
    assert offered(ann) == "You answered no.", "also when the page is loaded again"


def test_the_same_answer_again_changes_nothing(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    ann.send("change")
    ann.send("revise", value="yes")
    assert kinds(campaign)[-1] == "ASKED"
    assert ann.status == 200


def test_after_a_minute_it_stays(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    clock.ahead = 59.0
    form = ann.send("change")
    clock.ahead = 61.0
    ann.send("revise", page=form, value="no")
    assert (ann.status, ann.about()) == (409, "It is too late to change that answer.")
    assert offered(ann) == ""
    assert "REVISED" not in kinds(campaign)


def test_only_the_last_answer_is_offered_and_taken(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    first = ann.page
    form = ann.send("change")
    ann.look()
    ann.send("answer", value="no")
    assert offered(ann) == "You answered no."
    ann.send("change", page=first)
    assert ann.status == 409
    ann.send("revise", page=form, value="no")
    assert ann.status == 409
    assert "REVISED" not in kinds(campaign)


def test_nobody_changes_the_answer_of_another(bench: Bench, clock: Clock) -> None:
    bench.campaign()
    ann, bob = answered(bench), bench.visitor("bob")
    form = ann.send("change")
    bob.look()
    id = re.search(r'name="assignment" value="([^"]*)"', form)
    csrf = re.search(r'name="csrf" value="([^"]*)"', bob.page)
    assert id is not None
    assert csrf is not None
    for verb in ("change", "revise"):
        data = {"csrf": csrf[1], "assignment": id[1], "value": "no"}
        assert bob.client.post(f"{bob.home}/{verb}", data=data).status_code == 403


def test_what_is_no_answer_is_asked_for_again(bench: Bench, clock: Clock) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    ann.send("change")
    ann.send("revise", value="perhaps")
    assert (ann.status, ann.heading()) == (422, "Change your answer")
    assert "not one of the answers" in ann.about()
    assert "REVISED" not in kinds(campaign)


def test_an_answer_that_was_withdrawn_or_must_stay_is_not_offered(
    bench: Bench, clock: Clock
) -> None:
    campaign = bench.campaign()
    ann = answered(bench)
    form = ann.send("change")
    answer = next(event for event in campaign.log() if event.kind.name == "ANSWER")
    campaign.withdraw(f"{campaign.name}:{answer.assignment}", "Spam.")
    ann.send("revise", page=form, value="no")
    assert (ann.status, ann.about()) == (409, "That answer was withdrawn.")
    ann.look()
    assert offered(ann) == ""


def test_numbers_and_sides_are_told_as_the_page_showed_them(bench: Bench, clock: Clock) -> None:
    bench.campaign(tasks=None, options=None, outcome="utility", policy="uniform")
    ann = answered(bench, "0.25")
    assert offered(ann) == "You answered 0.25."
    ann.send("change")
    ann.send("revise", value="0")
    assert offered(ann) == "You answered 0."


def test_a_service_may_let_nobody_change_anything(clock: Clock) -> None:
    app = make_app(Settings(store="memory", revise_within=0.0), open_store("memory"))
    with TestClient(app):
        bench = Bench(app)
        bench.campaign()
        assert offered(answered(bench)) == ""


def test_an_answer_is_found_however_much_has_happened_since(
    bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_answers, "STRIDE", 2)
    campaign = bench.campaign()
    ann = answered(bench)
    answer = next(event for event in campaign.log() if event.kind.name == "ANSWER")
    for _ in range(9):
        campaign.pause()
        campaign.resume()
    ann.look()
    found = own_answers.last_answer(campaign, "ann", clock.now() - 60.0)
    assert found is not None
    assert found.kind.name == "ANSWER"
    assert own_answers.last_answer(campaign, "ann", clock.now() - 60.0, most=18) is None
    assert own_answers.last_answer(campaign, "ann", answer.time) is None
    assert own_answers.last_answer(campaign, "bob", clock.now() - 60.0) is None
