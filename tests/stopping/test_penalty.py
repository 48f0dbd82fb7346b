"""Stopping by the price of a mistake: the look ahead against all sequences, and its laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.problem import make_problem
from askwise.stopping import stopping
from askwise.stopping.penalty import error_after
from tests.stopping.question import Question, evidence, first_stop, log


def penalty(amount: Any, **more: Any) -> dict[str, Any]:
    return {"name": "penalty", "penalty": amount, **more}


def joint(votes: list[tuple[int, int]]) -> tuple[Fraction, Fraction]:
    """What all crowds' votes say for either option."""
    first = second = Fraction(1)
    for a, b in votes:
        first *= evidence(a, b)
        second *= evidence(b, a)
    return first, second


def over_all_sequences(
    votes: list[tuple[int, int]], more: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Expected error, posterior and probability over all answers of the first crowd to come."""
    now = sum(joint(votes))
    error = posterior = probability = Fraction(0)
    for sequence in itertools.product((0, 1), repeat=more):
        ahead = list(votes)
        for answer in sequence:
            a, b = ahead[0]
            ahead[0] = (a + 1, b) if answer == 0 else (a, b + 1)
        first, second = joint(ahead)
        chance = (first + second) / now / 2**more
        probability += chance
        posterior += chance * first / (first + second)
        error += chance * min(first, second) / (first + second)
    return error, posterior, probability


VOTES = [
    [(0, 0)],
    [(1, 0)],
    [(0, 2)],
    [(3, 1)],
    [(2, 2), (0, 1)],
    [(0, 0), (4, 1)],
    [(1, 3), (5, 0), (2, 2)],
    [(12, 1), (0, 3)],
]


@pytest.mark.parametrize("more", [1, 2, 3, 6, 8])
@pytest.mark.parametrize("votes", VOTES, ids=str)
def test_the_error_to_come_is_that_over_all_sequences(
    votes: list[tuple[int, int]], more: int
) -> None:
    error, posterior, probability = over_all_sequences(votes, more)
    first, second = joint(votes)
    # Beliefs do not drift: what is expected to be believed is what is believed.
    assert probability == 1
    assert posterior == first / (first + second)
    (a, b), *others = votes
    for_first, for_second = joint(others)
    rest = log(for_first) - log(for_second)
    assert error_after(a, b, rest, more) == pytest.approx(float(error), rel=1e-11)


@given(st.integers(0, 30), st.integers(0, 30), st.floats(-30, 30), st.integers(1, 20))
def test_more_answers_are_never_expected_to_raise_the_error(
    a: int, b: int, rest: float, more: int
) -> None:
    fewer = error_after(a, b, rest, more - 1)
    assert 0 <= error_after(a, b, rest, more) <= fewer * (1 + 1e-10)
    assert fewer <= 0.5 * (1 + 1e-12)


def test_no_answer_leaves_the_error_as_it_is() -> None:
    question = Question(penalty(1))
    question.hear("a", "xxy")
    question.hear("b", "yy")
    sure = question.guess()[1]
    rest = log(evidence(0, 2)) - log(evidence(2, 0))
    assert sure is not None
    assert error_after(2, 1, rest, 0) == pytest.approx(1 - sure)


def looks_ahead(most: int) -> list[int]:
    return [m for m in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96) if m <= most]


@pytest.mark.parametrize("amount", [4, 30, 200, 1000])
@pytest.mark.parametrize("word", ["y" * 12, "xyyxyyyyyyyy", "xyxyxyxyyyyy"])
@pytest.mark.parametrize("crowds", ["a", "ab", "aab"])
def test_it_stops_when_no_number_of_answers_of_any_crowd_is_worth_its_price(
    amount: int, word: str, crowds: str
) -> None:
    prices = {"a": 1, "b": 2}
    question = Question(penalty(amount, ahead=4), prices=prices)
    votes = {"a": (0, 0), "b": (0, 0)}
    stops = 0
    for at, option in enumerate(word):
        crowd = crowds[at % len(crowds)]
        a, b = votes[crowd]
        votes[crowd] = (a + 1, b) if option == "x" else (a, b + 1)
        first, second = joint(list(votes.values()))
        error = min(first, second) / (first + second)
        worth = any(
            amount * (error - over_all_sequences([votes[one], votes[other]], more)[0])
            > more * prices[one]
            for one, other in ("ab", "ba")
            for more in looks_ahead(4)
            # One that was never asked in four answers a crowd is taken to be passed over.
            if one in crowds or at + 1 < 8
        )
        verdict = question.say(crowd, option)
        assert (verdict is None) == worth
        if verdict:
            stops += 1
            assert verdict.outcome == "confident"
            assert verdict.confidence == pytest.approx(float(1 - error))
            assert first == second or verdict.option == (0 if first > second else 1)
    assert stops or amount >= 200


def test_one_answer_alone_may_save_nothing_and_several_do() -> None:
    # After one answer the next can't turn the leader; two more may.
    assert error_after(1, 0, 0.0, 1) == pytest.approx(0.25)
    assert error_after(1, 0, 0.0, 2) == pytest.approx(3 / 16)
    assert first_stop(penalty(1000, ahead=1), "y") is not None
    assert first_stop(penalty(1000, ahead=2), "y") is None


@pytest.mark.parametrize("amount", ["0.000001", "0.5", 1])
def test_a_penalty_not_above_the_price_stops_at_once(amount: Any) -> None:
    found = first_stop(penalty(amount), "y")
    assert found == (1, (1, "confident", pytest.approx(0.75)))


def test_free_answers_are_asked_until_they_change_nothing_to_speak_of() -> None:
    found = first_stop(penalty("0.01"), "y" * 60, prices={"a": 0})
    assert found is not None
    assert found[0] > 20
    assert found[1].confidence == pytest.approx(1, abs=1e-6)


def test_the_cheapest_crowd_decides_and_who_left_does_not() -> None:
    # The penalty is far above b's price and below a's.
    question = Question(penalty(50), prices={"a": 60, "b": "0.01"})
    assert question.say("a", "y") is None
    question.add(Kind.LEFT, worker="b")
    verdict = question.verdict()
    assert verdict is not None
    assert verdict[:2] == (1, "confident")


def test_horizon_and_cap() -> None:
    for limit, outcome in (("horizon", "low_confidence"), ("cap", "over_budget")):
        found = first_stop(penalty(10**6, **{limit: 3}), "yxyy")
        assert found is not None
        assert (found[0], *found[1][:2]) == (3, 1, outcome)
    found = first_stop(penalty(1, horizon=1, cap=1), "y")
    assert found is not None
    assert found[1].outcome == "confident"


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), min_size=1, max_size=12),
    st.integers(1, 10**5),
    st.integers(1, 10**5),
    st.sampled_from([4, 16]),
)
def test_a_larger_penalty_or_a_longer_look_never_stops_sooner(
    answers: list[tuple[str, str]], one: int, other: int, ahead: int
) -> None:
    """For every penalty what is worth asking is worth it for a larger one."""
    low, high = sorted((one, other))
    prices = {"a": 1, "b": 3}
    lax = Question(penalty(low, ahead=ahead), prices=prices)
    strict = Question(penalty(high, ahead=ahead), prices=prices)
    further = Question(penalty(low, ahead=2 * ahead), prices=prices)
    for crowd, option in answers:
        soon, late, longer = (each.say(crowd, option) for each in (lax, strict, further))
        assert late is None or soon == late
        assert longer is None or soon == longer
        if soon:
            break


def test_large_counts_stay_numbers() -> None:
    assert 0 <= error_after(400, 380, 2.0, 16) <= 0.5
    assert error_after(400, 0, 900.0, 16) == pytest.approx(0, abs=1e-300)
    assert math.isfinite(error_after(0, 400, 900.0, 16))


@pytest.mark.parametrize("rule", ["penalty", penalty(3)], ids=str)
def test_three_options_are_refused_with_the_fields_name(rule: Any) -> None:
    workers = [Worker("a", 1)]
    problem = make_problem(workers=workers, tasks=["t"], options=list("xyz"), repeat=True)
    with pytest.raises(InvalidProblem, match="2 options, this campaign has 3") as caught:
        stopping.make(rule).check(problem)
    assert caught.value.field == "stopping"
    with pytest.raises(InvalidProblem, match="2 options, this campaign has 3"):
        Campaign.create(
            workers=workers, tasks=["t"], options=list("xyz"), policy="round-robin", stopping=rule
        )


@pytest.mark.parametrize("how", ["limit", "asked once"])
def test_who_cannot_be_asked_any_more_is_not_worth_asking(how: str) -> None:
    # All that can follow is b's answer, for more than any mistake costs.
    prices = {"a": "0.01", "b": 100}
    limits, repeat = ({"a": 1}, True) if how == "limit" else ({}, False)
    assert first_stop(penalty(20), "y", prices=prices, limits=limits, repeat=repeat) is not None


def test_no_answer_is_bought_for_more_than_a_mistake_costs() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", "0.01", limit=1), Worker("b", 100)],
        tasks=["t"],
        options=["x", "y"],
        repeat=True,
        policy="round-robin",
        stopping=penalty(20),
    )
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert batch[0].worker == "a"
    campaign.tell(batch[0].id, "y")
    assert not isinstance(campaign.ask(), Batch)


def test_a_tie_with_nobody_left_to_ask_is_not_called_confident() -> None:
    question = Question(penalty(10**6), prices={"a": 1, "b": 1})
    question.say("a", "x")
    out = question.ask("b")
    question.add(Kind.LEFT, worker="a")
    question.add(Kind.LEFT, worker="b")
    verdict = question.tell(out, "b", "y")
    assert verdict is None or verdict.outcome != "confident"
