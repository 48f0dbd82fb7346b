"""Judges in front of a real server with a small real model, as scripts/real_model.py starts it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from askwise import Campaign, Done
from askwise.core.events import Kind
from askwise.core.money import to_micro
from askwise.running import run
from askwise.sources import Question
from scripts import real_model
from scripts.installing import Unavailable
from tests.paths import ROOT
from tests.sources.chat import recorder
from tests.sources.chat.recorder import CONTENT, MESSAGES, Recorder, create, judges
from tests.sources.chat.stubs import ask

QUESTION = Question(CONTENT, "m1", MESSAGES["m1"], assignment="mail:1", worker="short")


FEW = dict(list(MESSAGES.items())[:3])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if os.environ.get(real_model.SETTING) == "0":
        pytest.skip(f"{real_model.SETTING} is 0")
    try:
        real_model.weights()
        with recorder.model_server() as address:
            yield address
    except Unavailable as reason:
        pytest.skip(f"no model: {reason}")


@pytest.fixture
def heard(server: str) -> Recorder:
    return Recorder(server)


def test_a_reply_is_billed_exactly_as_the_server_counts_it(heard: Recorder) -> None:
    with heard.serving() as url:
        chat = judges(url)["short"]
        responses = ask(chat, QUESTION, replace(QUESTION, payload=MESSAGES["m2"], task="m2"))
    assert [each.cost for each in responses] == heard.bills
    assert not any(each.estimated for each in responses)
    # The second prompt begins as the first, which the server has kept.
    assert heard.replies[1]["usage"]["prompt_tokens_details"]["cached_tokens"] > 0
    assert all(0 < each.cost <= chat.ceiling(QUESTION) for each in responses)
    assert [each.reference for each in responses] == [reply["id"] for reply in heard.replies]


def test_an_answer_has_the_form_that_was_asked_for(heard: Recorder) -> None:
    with heard.serving() as url:
        (response,) = ask(judges(url)["short"], QUESTION)
    assert response.value in CONTENT.names()
    (asked,) = heard.requests
    assert asked["response_format"]["type"] == "json_schema"
    (reply,) = heard.replies
    assert reply["choices"][0]["message"]["content"].lstrip().startswith("{")


def test_the_likelihood_of_tokens_gives_probabilities(heard: Recorder) -> None:
    with heard.serving() as url:
        (response,) = ask(judges(url)["short"], QUESTION)
    (reply,) = heard.replies
    written, mass = "", {"spam": 0.0, "ham": 0.0}
    for token in reply["choices"][0]["logprobs"]["content"]:
        if written.endswith('"answer": "'):
            for rival in token["top_logprobs"]:
                begun = rival["token"].strip(' "').lower()
                for option in mass:
                    if begun and option.startswith(begun):
                        mass[option] += math.exp(rival["logprob"])
            break
        written += token["token"]
    assert mass[str(response.value)] > 0
    likely = {option: each / sum(mass.values()) for option, each in mass.items()}
    assert response.probabilities == pytest.approx(likely)


def settled(campaign: Campaign) -> Counter[int]:
    """How often each assignment was settled."""
    ends = (Kind.ANSWER, Kind.FAILED)
    return Counter(event.assignment or 0 for event in campaign.log() if event.kind in ends)


@pytest.mark.slow
def test_a_campaign_of_two_prompts_ends_and_its_money_adds_up(heard: Recorder) -> None:
    campaign = create("memory", pilot=5)
    with heard.serving() as url:
        result = run(campaign, judges(url))
    assert isinstance(result.end, Done)
    assert len(heard.replies) == 2 * len(MESSAGES)
    status = campaign.status()
    assert to_micro(status.spent, "spent") == sum(heard.bills)
    assert (status.reserved, status.pending) == (0, 0)
    assert set(settled(campaign).values()) == {1}
    report = campaign.pilot()
    assert (report.phase, report.done) == ("done", 10)
    assert [each.answers + each.failed for each in report.workers] == [5, 5]


@pytest.mark.slow
def test_killed_on_the_way_and_resumed_nothing_is_booked_twice(
    heard: Recorder, tmp_path: Path
) -> None:
    file = tmp_path / "mail.sqlite"
    url = f"sqlite:///{file}"
    create(url, tasks=[{"id": task, "payload": text} for task, text in FEW.items()])
    with heard.serving() as address:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sources.chat.recorder", str(file), address], cwd=ROOT
        )

        def kill(count: int) -> None:
            if count == 3:  # paid, and on its way: nobody will ever read it
                process.send_signal(signal.SIGKILL)
                process.wait(30)

        heard.before_reply = kill
        assert process.wait(300) == -signal.SIGKILL
        heard.before_reply = lambda count: None
        campaign = Campaign.open(url, "mail")
        out = len(campaign.assignments())
        result = run(campaign, judges(address))
    assert isinstance(result.end, Done)
    answers = settled(campaign)
    assert set(answers.values()) == {1}
    assert len(answers) == 2 * len(FEW)
    # All that was told is booked once, at its bill. What was under way at the kill, a call of each
    # judge at the most, is asked again; its first reply is on the server's bill alone.
    assert 1 <= out <= 2
    assert len(answers) + 1 <= len(heard.replies) <= len(answers) + out
    booked = to_micro(campaign.status().spent, "spent")
    ids = {event.reference for event in campaign.log() if event.kind == Kind.ANSWER}
    ids |= {event.reference for event in campaign.log() if event.kind == Kind.FAILED}
    known = [
        cost for cost, reply in zip(heard.bills, heard.replies, strict=True) if reply["id"] in ids
    ]
    assert booked == sum(known)
    assert len(known) == len(answers)
