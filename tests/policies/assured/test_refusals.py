"""Parameters and problems that the policies for assured accuracy refuse."""

from __future__ import annotations

import math

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.policies import policies


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ccb-ns", {"alpha": 0.5}, "alpha is 0.5: give a number between 0 and 0.5"),
        ("ccb-ns", {"alpha": 0}, "alpha is 0: give a number between 0 and 0.5"),
        ("ccb-ns", {"mu": 1}, "mu is 1: give a number between 0 and 1"),
        ("ccb-ns", {"xi": 0.1}, r"xi is 0.1: give a number from 0, below alpha \(0.1\)"),
        ("ccb-s", {"xi": -0.1}, "xi is -0.1: give a number from 0"),
        ("ccb-s", {"bounds": "wide"}, "bounds is 'wide': give one of paper, ucb1, anytime"),
        ("ccb-s", {"floor": 0.4}, "floor is 0.4: give a number from 0.5, below 1"),
        ("ccb-s", {"floor": 1}, "floor is 1: give a number from 0.5, below 1"),
        ("ccb-s", {"solver": "best"}, "solver is 'best': give one of auto, exact, greedy"),
        ("ccb-s", {"ahead": 0}, "ahead is 0: give a whole number from 1"),
        ("ccb-s", {"error": "majorty"}, "error is 'majorty': .*did you mean 'majority'"),
        ("ccb-s", {"error": 3}, "error is 3: give the name of an error function"),
        ("ccb-s", {"error": "majority(ties=x)"}, r"error is 'majority\(ties=x\)': ties is 'x'"),
        ("ccb-ns", {"miss": 0}, "miss is 0: give an amount of money above 0"),
        ("ccb-ns", {"miss": math.inf}, "miss is inf: give an amount of money above 0"),
        ("multiple-pull-ucb", {"pulls": 0}, "pulls is 0: give a whole number from 1"),
        ("multiple-pull-ucb", {"solver": "exact"}, "solver is 'exact': leave it out, because"),
        ("epsilon-t-greedy", {"explore": -1}, "explore is -1: give a number of 0 or more"),
        ("ccb-fixed", {"rounds": -1}, "rounds is -1: give a whole number from 0"),
        (
            "ccb-fixed",
            {"qualities": [0.9], "rounds": 5},
            "rounds is 5: leave it out, because",
        ),
        ("ccb-fixed", {"qualities": [1.9]}, "qualities is 1.9: give numbers from 0 to 1"),
        ("ccb-fixed", {"qualities": "0.9"}, "qualities is '0.9': give a list of numbers"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(name, parameters, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        policies.make({"name": name, **parameters})
    assert "\n" not in str(caught.value)
    assert caught.value.field in {*parameters, "rounds"}


def test_problems_that_it_cannot_work_on_are_refused():
    workers = [Worker("ann", 1)]
    with pytest.raises(InvalidProblem, match=r"options are a, b, c: .* made for two options"):
        Campaign.create(
            workers=workers,
            tasks=["t"],
            options=list("abc"),
            policy={"name": "ccb-ns", "error": "weighted-majority"},
        )
    with pytest.raises(InvalidProblem, match=r"repeat is true: .* asks each worker once"):
        Campaign.create(
            workers=workers, tasks=["t"], options=list("ab"), repeat=True, policy="ccb-s"
        )
    with pytest.raises(InvalidProblem, match="works on options"):
        Campaign.create(workers=workers, outcome="utility", budget=1, policy="cucb")
    with pytest.raises(InvalidProblem, match="workers is empty"):
        Campaign.create(workers=[], tasks=["t"], options=list("ab"), policy="ccb-ns")
    with pytest.raises(InvalidParameter, match="qualities has 2 numbers for 1 workers"):
        Campaign.create(
            workers=workers,
            tasks=["t"],
            options=list("ab"),
            policy={"name": "ccb-fixed", "rounds": 0, "qualities": [0.9, 0.8]},
        )
