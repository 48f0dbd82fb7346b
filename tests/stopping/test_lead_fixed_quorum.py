"""The rules of practice on votes made by hand: lead, fixed, quorum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import InvalidParameter
from askwise.core.events import Kind
from askwise.stopping import stopping
from tests.stopping.question import Question, first_stop, share


def lead(votes: float, **more: Any) -> dict[str, Any]:
    return {"name": "lead", "lead": votes, **more}


def quorum(votes: int, of: int, **more: Any) -> dict[str, Any]:
    return {"name": "quorum", "quorum": votes, "of": of, **more}


# Lead.


@pytest.mark.parametrize(
    ("votes", "word", "answers", "option", "sure"),
    [
        (1, "y", 1, 1, 1.0),
        (3, "yyyy", 3, 1, 1.0),
        (2, "xyxyxx", 6, 0, 4 / 6),
        (3, "xyyyy", 5, 1, 0.8),
        (3.0, "xyyyy", 5, 1, 0.8),
    ],
)
def test_lead_stops_as_soon_as_it_is_reached(
    votes: float, word: str, answers: int, option: int, sure: float
) -> None:
    assert first_stop(lead(votes), word) == (answers, (option, "confident", sure))


def test_lead_over_the_second_of_three_options() -> None:
    assert first_stop(lead(2), "xyzxyzz", options="xyz") is None
    assert first_stop(lead(2), "xyzxyzzz", options="xyz") == (8, (2, "confident", 0.5))


@pytest.mark.parametrize(("word", "stops"), [("y", 0.0), ("yy", 0.75), ("yyy", 1.0)])
def test_a_lead_between_two_numbers_is_rounded_up_as_often_as_its_fraction_says(
    word: str, stops: float
) -> None:
    question = Question(lead(2.25))
    question.hear("a", word)
    margin = 4 * math.sqrt(stops * (1 - stops) / 3000)
    assert abs(share(question.verdicts(3000)) - stops) <= margin


def test_lead_ends_at_its_horizon_and_cap() -> None:
    assert first_stop(lead(3, horizon=3), "xyy") == (3, (1, "low_confidence", 2 / 3))
    assert first_stop(lead(3, horizon=3), "yyy") == (3, (1, "confident", 1.0))
    assert first_stop(lead(3, cap=3), "xyy") == (3, (1, "over_budget", 2 / 3))


def error_of_lead(votes: float, p: float) -> float:
    """Probability that the walk of the lead ends below: a linear system over its places."""
    top = math.ceil(votes)
    stays = dict.fromkeys(range(1 - top, top), 1.0)
    if top > votes:
        for place in (1 - top, top - 1):
            stays[place] = votes - (top - 1)
    # wrong[i]: from place i, not stopped there yet; the ends are beyond the last places.
    size = 2 * top - 1
    system, known = np.eye(size), np.zeros(size)
    for at in range(size):
        for step, chance in ((1, p), (-1, 1 - p)):
            place = at - (top - 1) + step
            if abs(place) == top:
                known[at] += chance * (place < 0)
            else:
                system[at, at + step] -= chance * stays[place]
                known[at] += chance * (1 - stays[place]) * (place < 0)
    return float(np.linalg.solve(system, known)[top - 1])


@pytest.mark.parametrize("p", [0.55, 0.7, 0.9])
@pytest.mark.parametrize("votes", [1, 2, 3, 5])
def test_a_whole_lead_keeps_the_error_that_its_promise_states(votes: int, p: float) -> None:
    ratio = (1 - p) / p
    assert error_of_lead(votes, p) == pytest.approx(ratio**votes / (1 + ratio**votes))
    assert error_of_lead(votes, p) <= ratio**votes


@given(st.text("xyz", min_size=1, max_size=25), st.floats(1, 6), st.floats(1, 6))
def test_a_larger_lead_never_stops_sooner(word: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    soon = first_stop(lead(low), word, options="xyz")
    late = first_stop(lead(high), word, options="xyz")
    assert late is None or (soon is not None and soon[0] <= late[0])


# Fixed.


@pytest.mark.parametrize(
    ("n", "word", "option", "sure"),
    [(1, "y", 1, 1.0), (3, "yxy", 1, 2 / 3), (4, "xxxy", 0, 0.75), (5, "xyxyx", 0, 0.6)],
)
def test_fixed_stops_after_its_number_and_never_before(
    n: int, word: str, option: int, sure: float
) -> None:
    assert first_stop({"name": "fixed", "n": n}, word + word) == (n, (option, "confident", sure))


def test_fixed_takes_the_most_frequent_of_three_and_breaks_ties_evenly() -> None:
    assert first_stop({"name": "fixed", "n": 4}, "zxzy", options="xyz") == (
        4,
        (2, "confident", 0.5),
    )
    question = Question({"name": "fixed", "n": 3}, options="xyz")
    question.hear("a", "xyz")
    found = [verdict.option for verdict in question.verdicts(900) if verdict]
    assert len(found) == 900
    for option in range(3):
        # Four standard deviations of 900 throws of one third are 57.
        assert abs(found.count(option) - 300) < 57


def test_fixed_beyond_its_horizon_ends_low_and_at_it_confident() -> None:
    assert first_stop({"name": "fixed", "n": 5, "horizon": 3}, "yyyyy") == (
        3,
        (1, "low_confidence", 1.0),
    )
    assert first_stop({"name": "fixed", "n": 3, "horizon": 3}, "yyyyy") == (
        3,
        (1, "confident", 1.0),
    )


@pytest.mark.parametrize(
    ("more", "outcome", "answers"),
    [({}, "confident", 3), ({"horizon": 2}, "low_confidence", 2), ({"cap": 1}, "over_budget", 1)],
)
def test_fixed_closes_utilities_with_their_mean(
    more: dict[str, Any], outcome: str, answers: int
) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)],
        tasks=["t"],
        outcome="utility",
        repeat=True,
        policy="uniform",
        budget=9,
        stopping={"name": "fixed", "n": 3, **more},
    )
    value = iter((0.0, 0.5, 1.0))
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, next(value))
    (answer,) = campaign.answers()
    assert (answer.outcome, answer.count) == (outcome, answers)
    assert answer.value == pytest.approx((answers - 1) / 4)


# Quorum.


@pytest.mark.parametrize(
    ("rule", "word", "answers", "outcome", "option"),
    [
        (quorum(1, 1), "y", 1, "confident", 1),
        (quorum(3, 5), "yyy", 3, "confident", 1),
        (quorum(3, 5), "xyxyy", 5, "confident", 1),
        # 2-2 with one answer left: 3 at most.
        (quorum(4, 5), "xyxy", 4, "low_confidence", None),
        # 1-1 with three left: 4 at most.
        (quorum(4, 5), "xyyyy", 5, "confident", 1),
        (quorum(5, 5), "xy", 2, "low_confidence", None),
        (quorum(2, 2), "xy", 2, "low_confidence", None),
        # Confident and out of answers at once: confident.
        (quorum(3, 3), "xxx", 3, "confident", 0),
        (quorum(3, 5, horizon=4), "xyxy", 4, "low_confidence", None),
        (quorum(3, 5, horizon=3), "xxx", 3, "confident", 0),
        (quorum(3, 9, cap=4), "xyxy", 4, "over_budget", None),
    ],
)
def test_quorum_stops_when_reached_or_out_of_reach_by_the_number_of_answers(
    rule: dict[str, Any], word: str, answers: int, outcome: str, option: int | None
) -> None:
    found = first_stop(rule, word)
    assert found is not None
    assert (found[0], found[1].outcome) == (answers, outcome)
    leader = max(word[:answers].count(each) for each in "xy")
    assert found[1].confidence == leader / answers
    if option is not None:
        assert found[1].option == option


def test_quorum_of_three_options_is_out_of_reach_when_the_leader_cannot_reach_it() -> None:
    # 2, 1, 1 with two left: 4 at most; 2, 2, 1 with one left: 3.
    assert first_stop(quorum(4, 6), "xyzx", options="xyz") is None
    found = first_stop(quorum(4, 6), "xyzxy", options="xyz")
    assert found is not None
    assert (found[0], found[1].outcome) == (5, "low_confidence")
    assert found[1].option in (0, 1)


def once(rule: dict[str, Any], workers: str = "abcd", **more: Any) -> Question:
    """Nobody is asked the same twice."""
    return Question(rule, options="xyz", prices=dict.fromkeys(workers, 1), repeat=False, **more)


def test_quorum_is_out_of_reach_when_everybody_was_asked() -> None:
    question = once(quorum(3, 9), "abc")
    assert question.say("a", "x") is None
    # One more can come, two are needed.
    verdict = question.say("b", "y")
    assert verdict is not None
    assert (verdict.outcome, verdict.confidence) == ("low_confidence", 0.5)


def test_where_pairs_may_repeat_everybody_can_be_asked_again() -> None:
    assert first_stop(quorum(3, 9), "xyzxyz", crowds="abc", options="xyz") is None


def test_quorum_is_out_of_reach_when_persons_were_asked_and_no_crowd_can_be() -> None:
    models = dict.fromkeys("abc", "model")
    question = Question(quorum(3, 9), kinds=models)
    assert question.say("a", "x") is None
    verdict = question.say("b", "y")
    assert verdict is not None
    assert verdict.outcome == "low_confidence"
    # A crowd can be asked on, until it reaches its limit.
    mixed = {**models, "c": "crowd"}
    question = Question(quorum(3, 9), options="xyz", kinds=mixed, limits={"c": 2})
    assert [question.say("a", "x"), question.say("b", "y"), question.say("c", "z")] == [None] * 3
    verdict = question.say("c", "y")
    assert verdict is not None
    assert verdict.outcome == "low_confidence"


def test_quorum_is_within_reach_through_who_is_left_and_through_what_is_out() -> None:
    question = once(quorum(2, 9), "abc")
    question.say("a", "x")
    # Left: c.
    assert question.say("b", "y") is None
    out = question.ask("c")
    assert question.verdict() is None
    assert question.tell(out, "c", "y") == (1, "confident", 2 / 3)


@pytest.mark.parametrize(
    ("what", "reachable"),
    [
        (lambda question: question.add(Kind.LEFT, worker="c"), False),
        (lambda question: question.add(Kind.DECLINED, assignment=question.ask("c")), False),
        (lambda question: question.add(Kind.EXPIRED, assignment=question.ask("c")), True),
        (lambda question: question.say("c", "x", "u"), False),
        (lambda question: question.ask("c", "u"), False),
        (lambda question: (question.ask("c"), question.add(Kind.LEFT, worker="c")), True),
    ],
    ids=["left", "declined", "expired", "limit", "limit by what is out", "left with work out"],
)
def test_who_can_still_be_asked_depends_on_what_happened(what: Any, reachable: bool) -> None:
    question = once(quorum(2, 9), "abc", limits={"c": 1}, tasks=("t", "u"))
    question.say("a", "x")
    what(question)
    question.say("b", "y")
    verdict = question.verdict()
    assert (verdict is None) == reachable
    if verdict:
        assert verdict.outcome == "low_confidence"


def test_a_worker_who_joins_brings_the_quorum_within_reach_again() -> None:
    question = once(quorum(2, 9), "ab")
    question.say("a", "x")
    assert question.say("b", "y") is not None
    question.add(Kind.JOINED, workers=(Worker("z", 1).to_json(),))
    assert question.verdict() is None


@given(st.text("xyz", min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 6))
def test_quorum_says_what_every_continuation_says(word: str, votes: int, spare: int) -> None:
    """Low confidence exactly when no continuation up to ``of`` answers reaches the quorum."""
    of = votes + spare
    question = Question(quorum(votes, of), options="xyz")
    for at, option in enumerate(word[:of]):
        verdict = question.say("a", option)
        most = max(word[: at + 1].count(each) for each in "xyz")
        left = of - (at + 1)
        due = "confident" if most >= votes else None if most + left >= votes else "low_confidence"
        assert (verdict.outcome if verdict else None) == due
        if verdict:
            break


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "fixed", "n": 2**70},
        quorum(3, 2**70),
        {"name": "gap", "horizon": 2**70},
        {"name": "penalty", "ahead": 2**70},
        # Rounded to a whole number; compiled, that one is negative, and any lead reaches it.
        lead(1e19),
        {"name": "gap", "quality": 1e19},
    ],
    ids=str,
)
def test_a_number_beyond_64_bits_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        stopping.make(rule)
