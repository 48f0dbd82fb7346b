"""Errors with more than two options and unequal priors, against all answers that there are."""

import itertools
import math

import numpy as np
import pytest

from askwise.core.accuracy import check_error_function, error_probability
from askwise.core.errors import InvalidParameter
from askwise.policies.assured.sets.options import lost

PROFILES = [(), (0.7,), (0.9, 0.6), (0.8, 0.7, 0.55), (0.9, 0.6, 0.6, 0.5), (0.75,) * 5]


def outcomes(qualities, wrong):
    """All answers to a task of which option 0 is true; ``wrong`` are the shares of the others."""
    for answers in itertools.product(range(len(wrong) + 1), repeat=len(qualities)):
        chance = 1.0
        for quality, answer in zip(qualities, answers, strict=True):
            chance *= quality if answer == 0 else (1.0 - quality) * wrong[answer - 1]
        yield chance, np.bincount(answers, minlength=len(wrong) + 1)


def loss(votes, ties):
    """What the option with the most votes counts, if option 0 is true."""
    leaders = np.flatnonzero(votes == votes.max())
    if 0 not in leaders:
        return 1.0
    if ties == "error":
        return float(len(leaders) > 1)
    return 1.0 - 1.0 / len(leaders)


@pytest.mark.parametrize("options", [2, 3, 4])
@pytest.mark.parametrize("ties", ["error", "random"])
@pytest.mark.parametrize("qualities", PROFILES)
def test_plurality_is_the_error_of_the_most_frequent_answer_if_errors_are_even(
    options, ties, qualities
):
    even = [1.0 / (options - 1)] * (options - 1)
    exact = sum(chance * loss(votes, ties) for chance, votes in outcomes(qualities, even))
    found = error_probability(f"plurality(options={options},ties={ties})", qualities)
    assert found == pytest.approx(exact, abs=1e-12)
    if options == 2:
        assert found == pytest.approx(
            error_probability(f"majority(ties={ties})", qualities), abs=1e-12
        )


@pytest.mark.parametrize("wrong", [(1.0, 0.0), (0.5, 0.5), (0.9, 0.1), (0.2, 0.5, 0.3)])
@pytest.mark.parametrize("ties", ["error", "random"])
@pytest.mark.parametrize("qualities", PROFILES[1:])
def test_majority_bounds_the_error_whatever_the_wrong_answers_are(wrong, ties, qualities):
    exact = sum(chance * loss(votes, ties) for chance, votes in outcomes(qualities, wrong))
    assert exact <= error_probability(f"majority(ties={ties})", qualities) + 1e-12
    assert exact <= error_probability("hoeffding", qualities) + 1e-12


@pytest.mark.parametrize("prior", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("qualities", PROFILES)
def test_priors_enter_by_ties_of_a_majority_and_by_what_is_likeliest(prior, qualities):
    by_majority = by_likelihood = 0.0
    for said in itertools.product((0, 1), repeat=len(qualities)):
        # How likely these answers are if the first option is true, and if the second is.
        chances = [
            math.prod(
                q if answer == truth else 1.0 - q for q, answer in zip(qualities, said, strict=True)
            )
            for truth in (0, 1)
        ]
        joint = prior * chances[0], (1.0 - prior) * chances[1]
        names_second = 2 * sum(said) > len(said)
        by_majority += joint[0] if names_second else joint[1]
        by_likelihood += min(joint)
    assert error_probability(f"majority-first(prior={prior})", qualities) == pytest.approx(
        by_majority, abs=1e-12
    )
    assert error_probability(f"likeliest(prior={prior})", qualities) == pytest.approx(
        by_likelihood, abs=1e-12
    )
    for name in ("majority", "hoeffding"):
        assert by_majority <= error_probability(name, qualities) + 1e-12


@pytest.mark.parametrize(
    "name", ["plurality(options=5)", "majority-first(prior=0.7)", "likeliest(prior=0.7)"]
)
def test_no_error_rises_with_a_quality(name):
    assert check_error_function(name, workers=6, profiles=60) == []


def test_wrong_votes_spread_in_large_numbers_too():
    tail = sum(math.comb(600, k) * 0.2**k * 0.8 ** (600 - k) for k in range(150, 601))
    # One of five others has as many, or two have, which is no likelier than if they were apart.
    assert 5 * tail - 10 * tail**2 <= lost(150, 600, 6, "error") <= 5 * tail
    assert 0.0 < lost(330, 900, 4, "random") < lost(330, 900, 4, "error") < 1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plurality(options=1)", "options is 1"),
        ("likeliest(prior=0.3)", "prior is 0.3: give a number from 0.5, below 1"),
        ("majority-first(prior=1.0)", "prior is 1.0: give a number between 0 and 1"),
    ],
)
def test_bad_parameters_are_refused(name, message):
    with pytest.raises(InvalidParameter, match=message):
        error_probability(name, [0.9])
