"""Likelihood ratios over all crowds: the distance against an optimiser, the rule by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from askwise.kernels.likelihood import distance_from_top
from tests.stopping.question import Question, first_stop


def joint(beta: float, **more: Any) -> dict[str, Any]:
    return {"name": "joint-glr", "beta": beta, **more}


def distance(votes: list[Any], top: int) -> float:
    # The votes begin somewhere in a row of some table.
    rows = np.full((3, 2 + len(votes)), 99, np.array(votes).dtype)
    rows[1, 2:] = votes
    return float(distance_from_top(rows, 1, 2, len(votes), top))


def least_loss(votes: list[int], top: int) -> float:
    """Minimise N KL(votes / N || q) over the q with ``top`` on top."""
    counts = np.array(votes, float)
    n, total = len(counts), counts.sum()
    seen = counts > 0

    def loss(q: Any) -> float:
        return float((counts[seen] * np.log(counts[seen] / total / q[seen])).sum())

    def slope(q: Any) -> Any:
        return -counts / q

    leads = np.eye(n)[top] - np.delete(np.eye(n), top, axis=0)
    start = np.full(n, 1 / (n + 1))
    start[top] += 1 / (n + 1)
    found = minimize(
        loss,
        start,
        jac=slope,
        bounds=[(1e-9, 1)] * n,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(n)},
            {"type": "ineq", "fun": lambda q: leads @ q, "jac": lambda q: leads},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return float(found.fun)


def cases() -> list[tuple[list[int], int]]:
    rng = np.random.default_rng(7)
    found = []
    for n in (2, 3, 4, 5):
        for spread in (2, 6, 40):
            for _ in range(4):
                found.append((rng.integers(0, spread, n).tolist(), int(rng.integers(n))))
    return [case for case in found if sum(case[0])]


@pytest.mark.parametrize(("votes", "top"), cases())
def test_the_distance_is_what_an_optimiser_finds(votes: list[int], top: int) -> None:
    due = least_loss(votes, top)
    assert distance(votes, top) == pytest.approx(due, abs=2e-5 * (1 + sum(votes)))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5))
def test_the_distance_is_the_least_over_all_sets_that_may_be_levelled(votes: list[int]) -> None:
    """Options levelled with ``top`` share evenly, the others keep their own: try every set."""
    for top in range(len(votes)):
        least = math.inf
        others = [option for option in range(len(votes)) if option != top]
        for size in range(len(others) + 1):
            for more in itertools.combinations(others, size):
                level = [votes[option] for option in (top, *more)]
                mean = sum(level) / len(level)
                if any(votes[option] > mean for option in others if option not in more):
                    continue
                loss = sum(v * math.log(v / mean) for v in level if v)
                least = min(least, loss)
        assert distance(votes, top) == pytest.approx(least, abs=1e-9)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any))
def test_of_probabilities_it_is_the_divergence_itself(votes: list[int]) -> None:
    shares = [v / sum(votes) for v in votes]
    for top in range(len(votes)):
        due = distance(votes, top) / sum(votes)
        assert distance(shares, top) == pytest.approx(due, abs=1e-12)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.permutations(range(5)))
def test_the_distance_does_not_depend_on_the_places_of_options(
    votes: list[int], order: list[int]
) -> None:
    order = [at for at in order if at < len(votes)]
    moved = [votes[at] for at in order]
    for top in range(len(votes)):
        assert distance(moved, order.index(top)) == pytest.approx(distance(votes, top), abs=1e-12)


def test_distances_by_hand() -> None:
    assert distance([5, 3, 1], 0) == 0.0
    assert distance([5, 5, 1], 1) == 0.0
    assert distance([0, 0, 0], 2) == 0.0
    # 3 and 1 are levelled at 2.
    assert distance([3, 1], 1) == pytest.approx(3 * math.log(3 / 2) + math.log(1 / 2))
    # 0 with 5 and 5 at 10/3, where 1 joins not.
    assert distance([5, 0, 5, 1], 1) == pytest.approx(10 * math.log(1.5))
    # 1 with 7 at 4; 4 does not join, as it has no more than the mean.
    assert distance([7, 1, 4], 1) == pytest.approx(7 * math.log(7 / 4) + math.log(1 / 4))


def margin(a: int, b: int) -> float:
    """Of two options: N times the divergence from the coin."""
    return sum(v * math.log(2 * v / (a + b)) for v in (a, b) if v)


@pytest.mark.parametrize(
    ("beta", "word", "answers"),
    [
        # Unanimous: k log 2, 0.69 each.
        (0, "y", 1),
        (0.69, "y", 1),
        (0.7, "yyy", 2),
        (3, "y" * 9, 5),
        (4.6, "y" * 9, 7),
        # 4-1: 0.96, 5-1: 1.46, 6-1: 1.98, 7-1: 2.53, 8-1: 3.10.
        (3, "x" + "y" * 9, 9),
    ],
)
def test_one_crowd_two_options(beta: float, word: str, answers: int) -> None:
    found = first_stop(joint(beta), word)
    assert found is not None
    assert (found[0], *found[1][:2]) == (answers, 1, "confident")
    seen = word[:answers]
    due = margin(seen.count("x"), seen.count("y"))
    assert found[1].confidence == pytest.approx(1 / (1 + math.exp(-due)))


def test_it_stops_above_beta_and_not_at_it() -> None:
    assert first_stop(joint(4 * math.log(2)), "yyyy") is None
    # Nothing to tell them apart is no margin, not even above 0.
    question = Question(joint(0))
    question.hear("a", "xy")
    assert question.verdict() is None


def test_crowds_that_each_leave_two_options_level_leave_one_together() -> None:
    """Lemma 6: x ties with y in one crowd and with z in the other."""
    question = Question(joint(4), options="xyz")
    assert question.hear("a", "xxxxxyyyyy")[-1] is None
    # y has distance 0 from the first and 10 log 1.5 = 4.05 from the second.
    found = question.hear("b", "zzzzzxxxxx")[-1]
    assert found is not None
    assert found == (0, "confident", pytest.approx(1 / (1 + 1.5**-10)))


def test_crowds_that_contradict_each_other_leave_nothing() -> None:
    question = Question(joint(0.1))
    question.hear("a", "x" * 6)
    assert question.hear("b", "y" * 6)[-1] is None
    assert question.guess()[1] == pytest.approx(0.5)


def test_who_was_asked_and_has_not_answered_has_no_distance() -> None:
    question = Question(joint(3))
    question.hear("a", "yyxy")
    before = question.guess()
    question.ask("b")
    assert question.guess() == before


def test_horizon_and_cap() -> None:
    for limit, outcome in (("horizon", "low_confidence"), ("cap", "over_budget")):
        found = first_stop(joint(9, **{limit: 3}), "yxyy")
        assert found is not None
        assert (found[0], *found[1][:2]) == (3, 1, outcome)
    found = first_stop(joint(3, horizon=5, cap=5), "yyyyy")
    assert found is not None
    assert found[1].outcome == "confident"


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=25),
    st.floats(0, 6),
    st.floats(0, 6),
)
def test_a_larger_beta_never_stops_sooner(
    answers: list[tuple[str, str]], one: float, other: float
) -> None:
    lax, strict = (Question(joint(beta), options="xyz") for beta in sorted((one, other)))
    for crowd, option in answers:
        late, soon = strict.say(crowd, option), lax.say(crowd, option)
        assert late is None or soon == late
        if soon:
            break
