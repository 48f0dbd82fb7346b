"""The mixture of likelihoods and the Bayes rule on it, against integrals and whole numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from askwise.stopping.evidence import log_evidence
from tests.stopping.question import Question, evidence, first_stop, log

COUNTS = [
    (a, b, n)
    for a, b in [(0, 0), (1, 0), (0, 1), (1, 1), (3, 2), (2, 5), (7, 7), (20, 4), (4, 20), (60, 50)]
    for n in (2, 3, 5)
]
LARGE = [(2000, 0, 2), (1000, 1000, 2), (0, 2000, 2), (1200, 800, 2), (2000, 0, 3), (700, 1300, 3)]


def posterior(error: float, **more: Any) -> dict[str, Any]:
    return {"name": "posterior", "error": error, **more}


def by_quadrature(a: int, b: int, n: int) -> float:
    """Logarithm of M(a, b) by numerical integration, the peak taken out of the integrand."""

    def exponent(p: float) -> float:
        right = a * math.log(n * p) if a else 0.0
        wrong = b * math.log(n * (1 - p) / (n - 1)) if b else 0.0
        return right + wrong

    last = math.nextafter(1, 0)
    peak = min(max(a / max(1, a + b), 1 / n), last)
    width = 1 / math.sqrt(a + b + 1)
    top = exponent(peak)
    ends = (peak - 30 * width**2, peak - 8 * width, peak + 8 * width, peak + 30 * width**2)
    marks = sorted({min(max(at, 1 / n), last) for at in (1 / n, last, peak, *ends)})
    pieces = [
        quad(lambda p: math.exp(exponent(p) - top), low, high, epsabs=0, epsrel=1e-11, limit=200)[0]
        for low, high in itertools.pairwise(marks)
    ]
    return math.log(math.fsum(pieces) / (1 - 1 / n)) + top


@pytest.mark.parametrize(("a", "b", "n"), COUNTS + LARGE)
def test_the_evidence_is_the_integral(a: int, b: int, n: int) -> None:
    assert log_evidence(a, b, n) == pytest.approx(by_quadrature(a, b, n), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("a", "b", "n"), [*COUNTS, *LARGE, (5000, 4800, 2), (3, 9000, 4)])
def test_the_evidence_is_right_to_the_last_digits(a: int, b: int, n: int) -> None:
    assert log_evidence(a, b, n) == pytest.approx(log(evidence(a, b, n)), rel=1e-13, abs=1e-12)


def test_the_evidence_in_closed_form_at_the_edges() -> None:
    for k in range(12):
        # Unanimous against: 1 / (k + 1); unanimous for, two options: (2^(k+1) - 1) / (k + 1).
        assert math.exp(log_evidence(0, k, 2)) == pytest.approx(1 / (k + 1))
        assert math.exp(log_evidence(k, 0, 2)) == pytest.approx((2 ** (k + 1) - 1) / (k + 1))
    assert math.exp(log_evidence(1, 1, 2)) == pytest.approx(2 / 3)


@given(st.integers(0, 400), st.integers(0, 400), st.integers(2, 6))
def test_a_vote_for_raises_the_evidence_and_a_vote_against_lowers_it(
    a: int, b: int, n: int
) -> None:
    assert log_evidence(a + 1, b, n) > log_evidence(a, b, n) > log_evidence(a, b + 1, n)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(2, 6))
def test_answers_drawn_blindly_leave_the_evidence_as_it_is_on_average(
    a: int, b: int, n: int
) -> None:
    now = log_evidence(a, b, n)
    right, wrong = (math.exp(log_evidence(*more, n) - now) for more in ((a + 1, b), (a, b + 1)))
    assert right / n + wrong * (n - 1) / n == pytest.approx(1, abs=1e-11)


def share_of(counts: list[tuple[int, ...]], option: int) -> float:
    """Integral over all crowds' qualities, for one option being right."""
    product = 1.0
    for votes in counts:
        n, answers = len(votes), sum(votes)

        def likelihood(p: float, a: int = votes[option], b: int = answers, n: int = n) -> float:
            return p**a * ((1 - p) / (n - 1)) ** (b - a)

        product *= quad(likelihood, 1 / n, 1, epsabs=0, epsrel=1e-11)[0] / (1 - 1 / n)
    return product


@pytest.mark.parametrize(
    "counts",
    [
        [(1, 0)],
        [(3, 1)],
        [(2, 1), (0, 3)],
        [(4, 0), (2, 2), (1, 0)],
        [(9, 4), (3, 8), (6, 6)],
        [(1, 0, 0)],
        [(3, 1, 1)],
        [(2, 2, 1), (2, 0, 3)],
        [(5, 4, 0), (5, 0, 4), (1, 1, 1)],
        [(1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 2, 0)],
    ],
    ids=str,
)
def test_the_confidence_is_the_posterior_over_all_crowds(counts: list[tuple[int, ...]]) -> None:
    options = "wxyz"[: len(counts[0])]
    question = Question(posterior(1e-9), options=options)
    for crowd, votes in zip("abc", counts, strict=False):
        question.hear(crowd, "".join(o * v for o, v in zip(options, votes, strict=True)))
    shares = np.array([share_of(counts, option) for option in range(len(options))])
    shares /= shares.sum()
    option, sure = question.guess()
    assert sure == pytest.approx(shares.max(), rel=1e-9)
    assert option is not None
    assert shares[option] == pytest.approx(shares.max(), rel=1e-9)


@pytest.mark.parametrize(
    ("error", "answers"),
    [
        # Unanimous, one crowd: an error has probability 2^-(k+1).
        (0.3, 1),
        (0.2, 2),
        (0.06, 4),
        (0.05, 4),
        (0.01, 6),
    ],
)
def test_one_crowd_of_one_mind(error: float, answers: int) -> None:
    found = first_stop(posterior(error), "y" * 10)
    assert found is not None
    assert (found[0], *found[1][:2]) == (answers, 1, "confident")
    assert found[1].confidence == pytest.approx(1 - 0.5 ** (answers + 1))


def test_crowds_that_agree_say_more_than_one_crowd_of_the_same_votes() -> None:
    # (2, 0) twice: odds of (7/3 : 1/3)^2 = 49; (4, 0): 31.
    apart, together = Question(posterior(0.001)), Question(posterior(0.001))
    apart.hear("a", "yy")
    apart.hear("b", "yy")
    together.hear("a", "yyyy")
    assert apart.guess()[1] == pytest.approx(49 / 50)
    assert together.guess()[1] == pytest.approx(31 / 32)


def test_a_crowd_at_odds_with_itself_says_nothing_and_one_of_one_mind_decides() -> None:
    question = Question(posterior(0.05))
    question.hear("a", "xxxxxyyyyy")
    assert question.guess()[1] == pytest.approx(0.5)
    assert question.hear("b", "yyyy")[-1] == (1, "confident", pytest.approx(31 / 32))


def test_the_order_of_answers_and_the_names_of_crowds_do_not_matter() -> None:
    words = {"a": "xyyy", "b": "yx", "c": "yyy"}
    one, mixed, renamed = (Question(posterior(0.01)) for _ in range(3))
    for crowd, word in words.items():
        one.hear(crowd, word)
    for at in range(4):
        for crowd in "cab":
            mixed.hear(crowd, words[crowd][::-1][at : at + 1])
    for crowd, other in (("b", "c"), ("c", "a"), ("a", "b")):
        renamed.hear(crowd, words[other])
    assert one.guess()[0] == mixed.guess()[0] == renamed.guess()[0] == 1
    assert mixed.guess()[1] == pytest.approx(one.guess()[1], rel=1e-12)
    assert renamed.guess()[1] == pytest.approx(one.guess()[1], rel=1e-12)


def test_a_crowd_that_was_asked_and_has_not_answered_changes_nothing() -> None:
    question = Question(posterior(0.01))
    question.hear("a", "yyx")
    before = question.guess()
    question.ask("b")
    assert question.guess() == before


def test_horizon_and_cap() -> None:
    found = first_stop(posterior(0.01, horizon=3), "yxy")
    assert found is not None
    assert (found[0], *found[1][:2]) == (3, 1, "low_confidence")
    found = first_stop(posterior(0.01, cap=2), "yyyy")
    assert found is not None
    assert (found[0], *found[1][:2]) == (2, 1, "over_budget")
    # At the error and at the horizon at once: confident.
    found = first_stop(posterior(0.05, horizon=4), "yyyy")
    assert found is not None
    assert found[1].outcome == "confident"


def test_large_counts_stay_numbers() -> None:
    question = Question(posterior(1e-300), options="xyz")
    question.hear("a", "x" * 600)
    option, sure = question.guess()
    assert (option, sure) == (0, 1.0)
    assert question.verdict() is None
    question.hear("b", "x" * 40)
    assert question.verdict() is not None


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=25),
    st.floats(0.001, 0.5),
    st.floats(0.001, 0.5),
)
def test_a_smaller_error_never_stops_sooner(
    answers: list[tuple[str, str]], one: float, other: float
) -> None:
    low, high = sorted((one, other))
    strict, lax = (Question(posterior(error), options="xyz") for error in (low, high))
    for crowd, option in answers:
        late, soon = strict.say(crowd, option), lax.say(crowd, option)
        assert late is None or soon == late
        if soon:
            break


def stopped(error: float) -> Callable[[tuple[int, int]], bool]:
    """Whether one crowd's votes end the question."""

    def ends(votes: tuple[int, int]) -> bool:
        first, second = (math.exp(log_evidence(a, b, 2)) for a, b in (votes, votes[::-1]))
        return min(first, second) / (first + second) <= error

    return ends


@pytest.mark.parametrize("error", [0.05, 0.1, 0.2])
def test_its_error_is_at_most_the_target_on_average_over_qualities(error: float) -> None:
    """Over all sequences up to a horizon.

    A sequence with a right and b wrong votes has, over all qualities, probability
    M(a, b) / 2^(a+b); so one walk over votes gives the average.
    """
    ends = stopped(error)
    ways = {(0, 0): 1}
    wrong = right = 0.0
    for answers in range(1, 41):
        reached: dict[tuple[int, int], int] = {}
        for (a, b), count in ways.items():
            for votes in ((a + 1, b), (a, b + 1)):
                reached[votes] = reached.get(votes, 0) + count
        ways = {}
        for votes, count in reached.items():
            if ends(votes):
                chance = float(count * evidence(*votes) / 2**answers)
                right += chance if votes[0] > votes[1] else 0.0
                wrong += chance if votes[0] < votes[1] else 0.0
            else:
                ways[votes] = count
    assert 0 < wrong <= error * (wrong + right)
