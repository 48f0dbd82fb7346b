"""How far a budget goes, by the costs of simulated questions."""

from dataclasses import replace
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np
import scipy

from askwise.core.arrays import Array
from askwise.core.money import from_micro
from askwise.lab.planning.plan import Funds
from askwise.lab.planning.questions import Drawn, Sample
from askwise.lab.planning.ranges import middle
from askwise.policies import Policy
from askwise.policies.crowds.common import SurveyPolicy

_DRAWS, _BUDGET_DRAWS = 1000, 400
_POINTS = 20
_MANY = 5000
"""The sum of this many costs is normal, to all digits that are shown."""

_ANSWERS = 4_000_000
"""Answers that are gone through one by one, at most: beyond that fewer campaigns are drawn."""

_FEWEST = 20
"""Campaigns that are drawn however many answers each has."""


def totals(spent: Array, questions: int, rng: np.random.Generator) -> tuple[list[int], Array]:
    """What campaigns of more and more questions cost: numbers of questions, and draws for each."""
    places = np.unique(np.linspace(0, questions, min(_POINTS, questions) + 1).round().astype(int))
    sizes = np.diff(places)
    return places[1:].tolist(), np.cumsum([_sums(spent, int(size), rng) for size in sizes], axis=0)


def _sums(spent: Array, size: int, rng: np.random.Generator) -> Array:
    if size > _MANY:
        drawn = rng.normal(spent.mean() * size, spent.std() * size**0.5, _DRAWS)
        return np.maximum(drawn, 0.0)
    return spent[rng.integers(0, len(spent), (_DRAWS, size))].sum(axis=1).astype(np.float64)


def _in_turn(drawn: Drawn, sample: Sample, questions: int, budget: int) -> Funds:
    """How far a budget goes where all open questions are asked about in turn."""
    rng = np.random.default_rng([drawn.seed, 2])
    _, sums_of_all = totals(sample.spent, questions, rng)
    runs, counts = len(sample.spent), sample.answers.sum(axis=1)
    ends = np.cumsum(counts)
    prices = np.array([crowd.micro for crowd in drawn.beliefs.crowds], np.float64)
    turn = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    starts = np.concatenate([[0], ends])
    costs = scipy.sparse.csr_matrix((prices[sample.asked], turn, starts))
    closing = scipy.sparse.csr_matrix((np.ones(runs), counts - 1, np.arange(runs + 1)), costs.shape)
    draws = rng.multinomial(questions, np.full(runs, 1 / runs), size=_BUDGET_DRAWS).T
    # One row a turn: what it costs, and how many questions it closes.
    paid = np.asarray(costs.T @ draws, np.float64)
    closed = np.asarray(closing.T @ draws, np.float64)
    sums = np.cumsum(paid, axis=0)
    whole_turns = (sums <= budget).sum(axis=0)
    finished = np.zeros(_BUDGET_DRAWS)
    for at, turns in enumerate(whole_turns.tolist()):
        finished[at] = closed[:turns, at].sum()
        if turns < len(paid):
            left = budget - (sums[turns - 1, at] if turns else 0.0)
            finished[at] += np.floor(closed[turns, at] * left / paid[turns, at])
    return Funds(from_micro(budget), float((sums_of_all[-1] <= budget).mean()), middle(finished))


def _one_by_one(drawn: Drawn, sample: Sample, questions: int, budget: int) -> Array:
    """How many questions campaigns finish that begin the next one when one is closed."""
    rng = np.random.default_rng([drawn.seed, 3])
    spent = sample.spent
    finished = np.zeros(_BUDGET_DRAWS)
    for at in range(_BUDGET_DRAWS):
        costs = np.cumsum(spent[rng.integers(0, len(spent), questions)])
        finished[at] = np.searchsorted(costs, budget, side="right")
    return finished


def _few_at_once(drawn: Drawn, sample: Sample, questions: int, budget: int, few: int) -> Array:
    """How many questions campaigns finish that have at most ``few`` under way.

    Of these the one that was asked least comes next, then the first, as survey policies have it.
    """
    rng = np.random.default_rng([drawn.seed, 4])
    counts = sample.answers.sum(axis=1)
    starts = np.cumsum(counts) - counts
    prices = np.array([crowd.micro for crowd in drawn.beliefs.crowds])[sample.asked].tolist()
    longest, begins = counts.tolist(), starts.tolist()
    draws = int(_ANSWERS / max(1.0, float(counts.mean()) * questions))
    finished = np.zeros(max(_FEWEST, min(_BUDGET_DRAWS, draws)))
    for at in range(len(finished)):
        picked = rng.integers(0, len(counts), questions).tolist()
        under_way = [(0, place) for place in range(min(few, questions))]
        heapify(under_way)
        begun, left = len(under_way), budget
        while under_way:
            asked, place = under_way[0]
            question = picked[place]
            left -= prices[begins[question] + asked]
            if left < 0:
                break
            if asked + 1 < longest[question]:
                heapreplace(under_way, (asked + 1, place))
                continue
            heappop(under_way)
            finished[at] += 1
            if begun < questions:
                heappush(under_way, (0, begun))
                begun += 1
    return finished


def funded(
    drawn: Drawn, policy: Policy, sample: Sample, questions: int, budget: int
) -> tuple[Policy, Funds]:
    """How far a budget goes, and the policy; told to finish questions one by one if that is more.

    A policy that is told itself how many questions to have under way (``open_at_once``) keeps that.
    """
    in_turn = _in_turn(drawn, sample, questions, budget)
    if not isinstance(policy, SurveyPolicy):
        return policy, in_turn
    few = policy.open_at_once
    if few is not None and few >= questions:
        return policy, in_turn
    if few is not None and few > 1:
        finished = _few_at_once(drawn, sample, questions, budget, few)
        return policy, replace(in_turn, finished=middle(finished))
    one_by_one = middle(_one_by_one(drawn, sample, questions, budget))
    if one_by_one.mean > in_turn.finished.mean:
        policy = replace(policy, open_at_once=1)
        return policy, replace(in_turn, finished=one_by_one, in_turn=in_turn.finished)
    return policy, in_turn if few is None else replace(in_turn, finished=one_by_one)
