"""Rule (1) of paper 004 on votes made by hand: strictness, rounding, the schedule, limits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.stopping import stopping
from tests.stopping.question import Question, first_stop, share


def gap(quality: float, **more: Any) -> dict[str, Any]:
    return {"name": "gap", "quality": quality, "smooth": False, **more}


@pytest.mark.parametrize(
    ("quality", "word", "answers", "option", "sure"),
    [
        # 1 > 1 is false, 2 > 1.41 is true.
        (1, "yyyy", 2, 1, 1.0),
        (1, "xxxx", 2, 0, 1.0),
        # A lead of 2 with 4 answers is 2 > 2: strictly, it goes on; then 3 > 2.24.
        (1, "xyyyy", 5, 1, 0.8),
        # 2 > 2.12 is false, 3 > 2.6 is true.
        (1.5, "yyyy", 3, 1, 1.0),
        # 4 > 4 is false, 5 > 4.47 is true.
        (2, "yyyyyy", 5, 1, 1.0),
        (0.5, "x", 1, 0, 1.0),
        (0, "x", 1, 0, 1.0),
        (0.99, "y", 1, 1, 1.0),
    ],
)
def test_it_stops_when_the_lead_exceeds_the_term_and_not_when_it_equals_it(
    quality: float, word: str, answers: int, option: int, sure: float
) -> None:
    assert first_stop(gap(quality), word) == (answers, (option, "confident", sure))


@pytest.mark.parametrize("quality", [0, 0.5, 1, 3])
def test_a_tie_never_stops_and_is_guessed_by_a_draw(quality: float) -> None:
    question = Question(gap(quality, smooth=True))
    question.hear("a", "xyyx")
    assert question.verdicts(200) == [None] * 200
    guesses = [question.guess(number) for number in range(400)]
    assert {sure for _, sure in guesses} == {0.5}
    # Four standard deviations of a fair coin thrown 400 times are 40.
    assert abs(sum(option for option, _ in guesses if option) - 200) < 40


def test_with_three_options_the_lead_is_over_the_second_and_not_over_the_rest() -> None:
    # 3, 1, 1: the lead is 2, the root of 5 answers 2.236.
    for quality, stops in ((0.89, True), (0.9, False)):
        question = Question(gap(quality), options="xyz")
        question.hear("a", "zxzyz")
        verdict = question.verdict()
        assert (verdict is not None) == stops
        if verdict:
            assert verdict == (2, "confident", 0.6)


def test_three_options_two_of_them_tied_in_front_go_on_and_the_third_is_never_named() -> None:
    question = Question(gap(0), options="xyz")
    question.hear("a", "xyxyz")
    assert question.verdicts(100) == [None] * 100
    assert {question.guess(number)[0] for number in range(100)} == {0, 1}


def test_all_answers_are_one_source_whoever_gave_them() -> None:
    assert first_stop(gap(1), "xyyyy", crowds="abc") == (5, (1, "confident", 0.8))


@pytest.mark.parametrize(
    ("quality", "word", "stops"),
    [
        # The term is 1.697: rounded down to 1 it is exceeded by 2, rounded up it is not.
        (1.2, "yy", 1 - (1.2 * math.sqrt(2) - 1)),
        # 0.5 with one answer: down to 0.
        (0.5, "y", 0.5),
        # 4 against 2.8: both of its neighbours are exceeded.
        (1.4, "yyyy", 1.0),
        # A lead of 2 with 6 answers against 2.449: neither is exceeded.
        (1.0, "yyxxyy", 0.0),
        # A term that is whole is not rounded: 2 > 2 is false.
        (1.0, "xyyy", 0.0),
        # 3 against 3.098: 3 > 3 is false.
        (3.098 / math.sqrt(5), "xyyyy", 0.0),
        # 3 against 2.9: exceeds 2, not 3.
        (2.9 / math.sqrt(5), "xyyyy", 0.1),
    ],
)
def test_smooth_stops_as_often_as_the_term_is_rounded_below_the_lead(
    quality: float, word: str, stops: float
) -> None:
    question = Question(gap(quality, smooth=True))
    question.hear("a", word)
    many = 3000
    # Four standard deviations.
    margin = 4 * math.sqrt(stops * (1 - stops) / many)
    assert abs(share(question.verdicts(many)) - stops) <= margin + 1e-12


def test_smooth_is_drawn_afresh_at_each_answer_and_the_same_for_the_same_answer() -> None:
    # One answer against 0.5: a coin, thrown by the place of the answer in the log.
    coins = []
    for place in range(200):
        question = Question(gap(0.5, smooth=True))
        question.seq = place
        coins.append(question.say("a", "y") is not None)
        assert (question.verdict() is not None) == coins[-1]
    # Four standard deviations of a fair coin thrown 200 times are 28.
    assert abs(sum(coins) - 100) < 28


@given(
    st.text("xyz", min_size=1, max_size=25),
    st.floats(0, 4),
    st.floats(0, 4),
    st.booleans(),
)
def test_a_larger_quality_never_stops_sooner_on_the_same_answers_and_draws(
    word: str, one: float, other: float, smooth: bool
) -> None:
    low, high = sorted((one, other))
    soon = first_stop(gap(low, smooth=smooth), word, options="xyz")
    late = first_stop(gap(high, smooth=smooth), word, options="xyz")
    assert late is None or (soon is not None and soon[0] <= late[0])


@pytest.mark.parametrize(
    ("options", "delta", "answers"),
    [
        # Unanimous: N > log(n / delta * N^2); log(20 * 36) = 6.58, log(20 * 49) = 6.89.
        ("xy", 0.1, 7),
        # log(30 * 49) = 7.29, log(30 * 64) = 7.56.
        ("xyz", 0.1, 8),
        # log(40 * 49) = 7.58, log(40 * 64) = 7.85.
        ("xy", 0.05, 8),
        # log(200 * 81) = 9.69, log(200 * 100) = 9.90.
        ("xy", 0.01, 10),
    ],
)
def test_theorem_1s_schedule_by_hand(options: str, delta: float, answers: int) -> None:
    stop = first_stop(gap(2, delta=delta), "y" * 20, options=options)
    assert stop == (answers, (1, "confident", 1.0))
    # The schedule stands instead of the quality.
    assert first_stop(gap(0, delta=delta), "y" * 20, options=options) == stop


def test_theorem_1s_schedule_on_a_mixed_sequence() -> None:
    # One against the rest: the lead is N - 2, to be larger than sqrt(N log(20 N^2)).
    assert 11 * math.log(20 * 11**2) > 9**2
    assert 12 * math.log(20 * 12**2) < 10**2
    assert first_stop(gap(2, delta=0.1), "x" + "y" * 20) == (12, (1, "confident", 11 / 12))


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_the_horizon_ends_a_question_with_the_leader_and_low_confidence(horizon: int) -> None:
    word = "yxyxyxyx"
    found = first_stop(gap(9, horizon=horizon), word)
    assert found is not None
    answers, verdict = found
    assert answers == horizon
    assert verdict.outcome == "low_confidence"
    assert verdict.confidence == max(word[:horizon].count(o) for o in "xy") / horizon
    if horizon % 2:
        assert verdict.option == 1


def test_a_tie_at_the_horizon_is_decided_by_a_draw() -> None:
    question = Question(gap(1, horizon=4))
    question.hear("a", "xyyx")
    found = question.verdicts(400)
    assert {verdict[1:] for verdict in found if verdict} == {("low_confidence", 0.5)}
    assert abs(sum(verdict.option for verdict in found if verdict and verdict.option) - 200) < 40


def test_confident_comes_before_the_horizon_and_the_cap_and_the_horizon_before_the_cap() -> None:
    both = gap(1, horizon=5, cap=5)
    assert first_stop(both, "xyyyy") == (5, (1, "confident", 0.8))
    assert first_stop(both, "xyxyy") == (5, (1, "low_confidence", 0.6))
    assert first_stop(gap(1, horizon=6, cap=5), "xyxyy") == (5, (1, "over_budget", 0.6))


@pytest.mark.parametrize(
    ("cap", "prices", "answers"),
    [
        (3, {"a": 1}, 3),
        ("3.99", {"a": 1}, 3),
        (4, {"a": 1}, 4),
        # Somebody might come next who costs 2: after two answers only 1 is left.
        (3, {"a": 1, "b": 2}, 2),
        (4, {"a": 1, "b": 2}, 3),
        (1, {"a": 1}, 1),
        ("0.3", {"a": "0.1"}, 3),
    ],
)
def test_the_cap_ends_a_question_before_an_answer_that_might_exceed_it(
    cap: Any, prices: dict[str, Any], answers: int
) -> None:
    found = first_stop(gap(9, cap=cap), "xy" * 5, prices=prices)
    assert found is not None
    assert (found[0], found[1].outcome) == (answers, "over_budget")


def test_free_answers_reach_no_cap() -> None:
    assert first_stop(gap(9, cap="0.01"), "xy" * 10, prices={"a": 0}) is None


def test_who_left_is_not_dear_any_more_and_what_is_out_counts() -> None:
    question = Question(gap(9, cap=4), prices={"a": 1, "b": 3})
    assert question.say("a", "x") is None
    question.add(Kind.LEFT, worker="b")
    # 2 spent and 1 more: without b there is room for two more answers.
    assert question.say("a", "y") is None
    out = question.ask("a")
    assert question.verdict() is None
    question.ask("a")
    # 2 spent, 2 out, and one more would be 5.
    verdict = question.verdict()
    assert verdict is not None
    assert verdict.outcome == "over_budget"
    question.tell(out, "a", "x")


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.integers(6, 30),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xy")), min_size=1, max_size=40),
)
def test_one_answer_at_a_time_the_cap_is_never_exceeded(
    prices: list[int], cap: int, answers: list[tuple[int, str]]
) -> None:
    names = "abcd"[: len(prices)]
    question = Question(gap(99, cap=cap), prices=dict(zip(names, prices, strict=True)))
    spent = 0
    for who, option in answers:
        who %= len(prices)
        spent += prices[who]
        assert spent <= cap
        if question.say(names[who], option):
            # It ends no sooner than needed: the dearest would go beyond.
            assert spent + max(prices) > cap
            break


def test_a_cap_below_a_price_is_refused_or_kept() -> None:
    try:
        campaign = Campaign.create(
            workers=[Worker("a", 5)],
            tasks=["t"],
            options=["x", "y"],
            repeat=True,
            policy="round-robin",
            stopping=gap(1, cap=1),
        )
    except InvalidProblem:
        return
    batch = campaign.ask()
    if isinstance(batch, Batch):
        campaign.tell(batch[0].id, "x")
    assert campaign.status().spent <= 1


def test_what_is_out_with_somebody_who_left_counts_at_its_own_price() -> None:
    question = Question(gap(9, cap=4), prices={"a": 1, "b": 3})
    question.ask("b")
    question.add(Kind.LEFT, worker="b")
    # 1 spent, 3 out: another answer makes 5.
    verdict = question.say("a", "x")
    assert verdict is not None
    assert verdict.outcome == "over_budget"


def test_before_the_first_answer_it_says_nothing() -> None:
    question = Question(gap(0, horizon=1, cap=1))
    assert question.verdict() is None
    assert question.guess() == (None, None)
    question.ask("a")
    assert question.verdict() is None


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("more", [{"quality": 1e308}, {"delta": 5e-324}], ids=str)
def test_a_term_beyond_all_numbers_is_refused_or_not_exceeded(more: dict[str, float]) -> None:
    try:
        rule = stopping.make({"name": "gap", **more})
    except InvalidParameter:
        return
    assert first_stop(rule, "y" * 6) is None
