"""What a worker is told is true, whatever an error's message says."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from askwise.core.choices import Done, DoneWhy, Wait, WaitFor
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, OverBudget
from askwise.core.reasons import REASONS
from askwise.service.errors import STATUS
from askwise.service.pages import filters as looks
from askwise.service.work.sentences import (
    ENDS,
    NEVER_SHOWN,
    SENTENCES,
    TOO_LATE,
    WAITS,
    end_of,
    sentence_of,
    wait_of,
    words_of,
)
from tests.service.work.visiting import Bench, Clock, Visitor


def test_every_reason_has_words_or_never_reaches_a_worker() -> None:
    assert set(SENTENCES) | NEVER_SHOWN == REASONS
    assert set(SENTENCES) & NEVER_SHOWN == set()
    assert set(SENTENCES) >= TOO_LATE


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_money_is_spoken_of_only_where_it_is_the_reason(reason: str) -> None:
    assert ("money" in words_of(reason)) == (reason == "over_budget")
    assert re.fullmatch(r"[A-Z][^.]*\.", sentence_of(reason))


def test_every_wait_and_every_end_has_words_of_its_own() -> None:
    for words, known in ((WAITS, get_args(WaitFor)), (ENDS, get_args(DoneWhy))):
        assert set(words) == set(known)
        assert len(set(words.values())) == len(words)
    assert set(looks.WHY_DONE) == set(get_args(DoneWhy))


def asked(bench: Bench, **fields: Any) -> tuple[Any, Visitor]:
    """A campaign, and a worker who has a question before them."""
    campaign = bench.campaign(**fields)
    ann = bench.visitor()
    ann.look()
    ann.send("next")
    return campaign, ann


def refusing(error: AskwiseError) -> Any:
    def refuse(*_: object) -> None:
        raise error

    return refuse


def test_an_answer_refused_in_unknown_words_is_not_put_down_to_money(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, ann = asked(bench)
    error = InvalidAnswer("the auditor does not want it", field="assignment")
    monkeypatch.setattr(campaign, "tell", refusing(error))
    ann.send("answer", value="yes")
    assert ann.about() == "Your answer could not be accepted."
    assert "money" not in ann.page
    assert ann.status == 422


@pytest.mark.parametrize("reason", sorted(TOO_LATE))
def test_why_a_late_answer_is_not_taken_does_not_depend_on_the_message(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, reason: Any
) -> None:
    campaign, ann = asked(bench)
    kind = OverBudget if reason == "over_budget" else InvalidAnswer
    monkeypatch.setattr(
        campaign, "tell", refusing(kind("quite another wording", field="assignment", reason=reason))
    )
    ann.send("answer", value="yes")
    assert ann.about() == (
        f"Your answer came too late and could not be accepted: {SENTENCES[reason]}."
    )
    assert ann.status == 409


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_the_page_has_words_for_any_reason(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, reason: Any
) -> None:
    campaign, ann = asked(bench)
    monkeypatch.setattr(campaign, "decline", refusing(AskwiseError("s3cret words", reason=reason)))
    ann.send("skip")
    assert ann.status == STATUS[reason]
    assert sentence_of(reason) in ann.page.replace("&#39;", "'")
    assert "s3cret" not in ann.page


def test_an_answer_after_its_time_and_the_stop_is_told_that_the_campaign_has_ended(
    clock: Clock, bench: Bench
) -> None:
    campaign, ann = asked(bench, lease=90)
    form = ann.page
    clock.ahead += 100
    campaign.sweep()
    campaign.stop()
    ann.send("answer", page=form, value="yes")
    assert "could not be accepted: the campaign has ended" in ann.about()


def test_a_bid_in_a_campaign_without_bids_says_that_prices_are_set(
    bench: Bench,
) -> None:
    _, ann = asked(bench)
    token = re.search(r'name="csrf" value="(\w+)"', ann.page)
    assert token is not None
    reply = ann.client.post(f"{ann.home}/bid", data={"csrf": token[1], "amount": "1"})
    assert reply.status_code == 409
    assert "Prices are set in this campaign" in reply.text
    assert "mechanism" not in reply.text


@pytest.mark.parametrize("what", [*get_args(WaitFor), "tea"])
def test_a_wait_is_told_by_what_must_come_first(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, what: Any
) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    monkeypatch.setattr(campaign, "ask_for_self", lambda *_, **__: Wait(what))
    ann.send("next")
    assert (ann.status, ann.heading()) == (200, "Please wait")
    assert wait_of(what) in ann.page


@pytest.mark.parametrize("why", [*get_args(DoneWhy), "tea"])
def test_an_end_is_told_by_why(bench: Bench, monkeypatch: pytest.MonkeyPatch, why: Any) -> None:
    campaign = bench.campaign()
    ann = bench.visitor()
    ann.look()
    monkeypatch.setattr(campaign, "ask_for_self", lambda *_, **__: Done(why))
    ann.send("next")
    assert (ann.status, ann.heading()) == (200, "Thank you")
    assert end_of(why) in ann.page
    assert ("money" in ann.page) == (why == "budget")
    # Nothing is promised: there may be no more of them.
    assert "If there are more questions later" in ann.page


def test_a_conflict_that_is_not_of_the_question_is_not_passed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, ann = asked(bench)
    monkeypatch.setattr(campaign, "decline", refusing(Conflict("odd", field="assignment")))
    ann.send("skip")
    assert ann.status == 409
    assert sentence_of("conflict") in ann.page
