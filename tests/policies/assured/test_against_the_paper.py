"""The policies of paper 000 decide task by task as the paper does, read in plain Python."""

from __future__ import annotations

import math

import pytest

from askwise.core.choices import Wait
from askwise.core.draws import POLICY, Draw, stream, uniform
from tests.policies.assured.campaigns import campaign_of, tell
from tests.policies.assured.readings import (
    Learner,
    World,
    ccb_ns,
    ccb_s,
    cheapest,
    elimination,
    epsilon_t_greedy,
    ga,
    linear,
    majority,
    multiple_pull_ucb,
    run_campaign,
)

ABLE = [0.99, 0.75, 0.97, 0.95, 0.7, 0.93, 0.9]


def notes(decided):
    return [note for _, note in decided]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("seed", "bounds", "floor", "xi", "ends"),
    [
        (4, "paper", 0.5, 0.1, True),
        (2, "paper", 0.7, 0.1, True),
        (3, "anytime", 0.7, 0.2, True),
        (1, "ucb1", 0.7, 0.1, False),
    ],
)
def test_ccb_ns_is_algorithm_1(seed, bounds, floor, xi, ends):
    world = World(seed, ABLE, 120 if ends else 40)
    learner = Learner(world, 0.9, bounds, floor)
    policy = {
        "name": "ccb-ns", "alpha": 0.4, "xi": xi, "mu": 0.9, "bounds": bounds, "floor": floor,
        "error": "hoeffding-linear(epsilon=0.5)",
    }  # fmt: skip
    decided, _ = run_campaign(world, policy)
    assert decided == ccb_ns(world, 0.4, xi, 0.5, learner)
    assert len({tuple(some) for some, _ in decided}) > 1
    assert (notes(decided)[-1] == "exploit") == ends


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("error", "solver"), [("majority", "exact"), ("linear", "greedy")])
def test_ccb_s_is_algorithm_2(seed, error, solver):
    world = World(seed, ABLE, 115)
    alpha, xi = 0.4, 0.2
    demands = [math.log(1 / each) / 0.5 for each in (alpha, alpha - xi)]
    if error == "linear":
        name, function = "hoeffding-linear(epsilon=0.5)", linear(0.5)

        def solve(q, among):
            return ga(world.costs, q, demands[1], among)
    else:
        name, function = "majority", majority

        def solve(q, among):
            return cheapest(world.costs, q, alpha - xi, majority, among)

    policy = {
        "name": "ccb-s", "alpha": alpha, "xi": xi, "mu": 0.9, "bounds": "paper", "error": name,
        "solver": solver,
    }  # fmt: skip
    decided, _ = run_campaign(world, policy)
    learner = Learner(world, 0.9, "paper")
    assert decided == ccb_s(world, solve, lambda q: function(q) <= alpha * (1 + 1e-12), learner)
    assert notes(decided)[-1] == "exploit"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_ccb_se_eliminates_as_section_6_2_2_does(seed):
    world = World(seed, [0.95, 0.95, 0.9, 0.9, 0.6, 0.6], 150)
    world.costs[4:] = [2_900_000, 2_950_000]
    alpha, xi = 0.3, 0.05
    M, M_xi = (math.log(1 / each) / 0.5 for each in (alpha, alpha - xi))
    policy = {
        "name": "ccb-se", "alpha": alpha, "xi": xi, "mu": 0.9, "bounds": "paper",
        "error": "hoeffding-linear(epsilon=0.5)",
    }  # fmt: skip
    decided, _ = run_campaign(world, policy)
    learner = Learner(world, 0.9, "paper")
    assert decided == ccb_s(
        world,
        lambda q, among: ga(world.costs, q, M_xi, among),
        lambda q: sum(2 * each - 1 for each in q) >= M * (1 - 1e-12),
        learner,
        elimination(world.costs, M),
    )
    sizes = [len(some) for some, note in decided if note == "explore"]
    assert sizes[0] == 6
    assert sizes[-1] < 6


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_epsilon_t_greedy_is_that_of_section_6_3(seed):
    world = World(seed, ABLE, 80)

    def solve(q, among):
        return cheapest(world.costs, q, 0.2, majority, among)

    def draw(decision):
        return uniform(Draw(*stream(7, POLICY, 0), decision), 0)

    policy = {"name": "epsilon-t-greedy", "alpha": 0.2, "explore": 8.0, "floor": 0.6}
    decided, campaign = run_campaign(world, policy, seed=7)
    learner = Learner(world, 0.5, "paper")
    assert decided == epsilon_t_greedy(world, solve, 8.0, 0.6, learner, draw)
    assert {"explore", "exploit"} <= set(notes(decided))
    asked = [event for event in campaign.log() if event.rows and event.note == "explore"]
    chances = {row.propensity for row in asked[-1].rows}
    assert chances == {1.0, min(1.0, 8.0 / (asked[-1].decision + 1))}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("error", "solver"), [("majority", "exact"), ("linear", "greedy")])
def test_ccb_fixed_learns_from_its_first_tasks_and_then_uses_the_lower_bounds(seed, error, solver):
    world = World(seed, ABLE, 70)
    M = math.log(1 / 0.4) / 0.5
    policy = {
        "name": "ccb-fixed", "alpha": 0.4, "mu": 0.9, "bounds": "paper", "rounds": 60,
        "error": "majority" if error == "majority" else "hoeffding-linear(epsilon=0.5)",
        "solver": solver,
    }  # fmt: skip
    decided, _ = run_campaign(world, policy)
    learner = Learner(world, 0.9, "paper")
    everybody = list(range(world.size))
    for task in range(60):
        learner.learn(task, everybody)
    low, _ = learner.interval(61)
    if error == "linear":
        due = ga(world.costs, low, M, everybody)
    else:
        due = cheapest(world.costs, low, 0.4, majority, everybody)
    assert due is not None
    assert decided == [(everybody, "explore")] * 60 + [(due, "exploit")] * 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_cucb_takes_the_cheapest_set_at_the_upper_bounds_for_ever(seed):
    world = World(seed, ABLE, 60)
    decided, _ = run_campaign(world, {"name": "cucb", "alpha": 0.2})
    learner = Learner(world, 0.05, "ucb1")
    everybody = list(range(world.size))
    for t, (some, note) in enumerate(decided, 1):
        _, high = learner.interval(t)
        assert (some, note) == (cheapest(world.costs, high, 0.2, majority, everybody), "optimistic")
        learner.learn(t - 1, some)


@pytest.mark.parametrize("pulls", [1, 3, None])
def test_multiple_pull_ucb_takes_those_with_the_highest_upper_bounds(pulls):
    world = World(3, [0.95, 0.5, 0.9, 0.6, 0.85, 0.7], 80)
    policy = {"name": "multiple-pull-ucb", "alpha": 0.2, "pulls": pulls}
    decided, _ = run_campaign(world, policy)
    assert decided == multiple_pull_ucb(world, pulls, 0.2, Learner(world, 0.05, "ucb1"))
    assert len({tuple(some) for some, _ in decided}) > 3


def test_a_set_by_upper_bounds_that_loses_a_member_takes_the_next():
    campaign = campaign_of({"name": "multiple-pull-ucb", "pulls": 2}, tasks=1)
    first, second = campaign.ask(limit=4)
    campaign.decline(first.id)
    assert [each.worker for each in campaign.ask(limit=4)] == ["w2"]
    tell(campaign, [second])
    assert campaign.ask() == Wait("answers")


@pytest.mark.parametrize("seed", [1, 2])
def test_ccb_ns_with_the_majoritys_error_adds_no_more_than_it_needs(seed):
    world = World(seed, ABLE, 60)
    decided, _ = run_campaign(
        world,
        {"name": "ccb-ns", "alpha": 0.3, "xi": 0.2, "floor": 0.65, "mu": 0.9, "bounds": "paper"},
    )
    learner = Learner(world, 0.9, "paper", 0.65)
    everybody = list(range(world.size))
    learner.learn(0, everybody)
    ended = False
    for t, (some, note) in enumerate(decided[1:], 2):
        low, high = learner.interval(t)
        hoped = cheapest(world.costs, high, 0.1, majority, everybody)
        if note == "exploit":
            assert ended or some == hoped
            assert majority([low[at] for at in some]) <= 0.3
            ended = True
            continue
        assert set(hoped) <= set(some)
        if some != everybody:
            assert majority([low[at] for at in some]) <= 0.3
            for one in set(some) - set(hoped):
                assert majority([low[at] for at in some if at != one]) > 0.3
        learner.learn(t - 1, some)
    assert ended
