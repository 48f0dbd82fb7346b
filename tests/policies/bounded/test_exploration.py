"""Exploration and exploitation of paper 003, section 4, worked out by hand.

Money in whole units; answers are binary fractions, so that means and densities are exact.
"""

from __future__ import annotations

from collections import Counter

import pytest

from askwise import Campaign, Done, Worker
from askwise.core.choices import Batch
from askwise.core.events import Kind

Answers = dict[str, float]


def run(workers: list[Worker], budget: str | int, policy: object, answers: Answers) -> Campaign:
    """A campaign run to its end; each worker always gives the same answer."""
    campaign = Campaign.create(
        workers=workers, outcome="utility", budget=budget, policy=policy, seed=1
    )
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, answers.get(batch[0].worker, 0.5))
    assert isinstance(batch, Done)
    return campaign


def asked(campaign: Campaign, purpose: str) -> list[str]:
    """The workers asked by decisions of a purpose, in order."""
    found: list[str] = []
    note = ""
    for event in campaign.log():
        if event.kind == Kind.DECIDED:
            note = event.note or ""
        elif event.kind == Kind.ASKED and note.startswith(purpose):
            found.append(event.worker or "")
    return found


def plan(campaign: Campaign, purpose: str = "exploit") -> list[tuple[str, int]]:
    """The rows of the first decision of a purpose."""
    for event in campaign.log():
        if event.kind == Kind.DECIDED and (event.note or "").startswith(purpose):
            return [(row.worker, row.count) for row in event.rows or ()]
    return []


def first(epsilon: float, **more: object) -> dict[str, object]:
    return {"name": "bounded-epsilon-first", "epsilon": epsilon, **more}


ABC = [Worker("a", 2, limit=10), Worker("b", 3, limit=12), Worker("c", 4, limit=20)]
ABC_ANSWERS = {"a": 0.5, "b": 0.875, "c": 1.0}


def test_whole_rounds_then_passes_from_the_cheapest_up() -> None:
    # .31 * 100 = 31 and a round costs 9: three rounds leave 4. The first pass asks a (2 left)
    # and ends at b (3); the second asks a (0 left). Then nobody fits.
    campaign = run(ABC, 100, first(0.31), ABC_ANSWERS)
    assert asked(campaign, "explore: round") == ["a", "b", "c"] * 3
    assert asked(campaign, "explore: pass") == ["a", "a"]


def test_what_is_left_is_planned_by_density_within_the_limits() -> None:
    # Exploration as above spends 31 and leaves 69. Densities: a .5/2 = .25, b .875/3 = .2917,
    # c 1/4 = .25. b first, to the limit: 12 - 3 = 9 units, 27, leaves 42. a and c tie: a, the
    # first by index, to the limit: 10 - 5 = 5 units, 10, leaves 32. c: 32/4 = 8 of their 17.
    campaign = run(ABC, 100, first(0.31), ABC_ANSWERS)
    assert plan(campaign) == [("b", 9), ("a", 5), ("c", 8)]
    assert campaign.status().spent == 100
    assert campaign.ask() == Done("budget")


def test_a_pass_ends_at_the_first_worker_who_does_not_fit() -> None:
    # .1 * 120 = 12 is less than a round (14). Passes: 2 + 3 leaves 7, and 9 does not fit;
    # 2 + 3 leaves 2; 2 leaves 0.
    workers = [Worker("a", 2, limit=4), Worker("b", 3, limit=3), Worker("c", 9, limit=50)]
    campaign = run(workers, 120, first(0.1), {"a": 0.5, "b": 0.25})
    assert asked(campaign, "explore: round") == []
    assert asked(campaign, "explore: pass") == ["a", "b", "a", "b", "a"]


def test_whoever_stays_unexplored_is_used_last() -> None:
    # As above 12 are spent on exploration and 108 left. c was never asked: estimate 0. One unit
    # each of a and b are left under their limits (2 + 3), then c: 103 / 9 = 11, leaving 4.
    workers = [Worker("c", 9, limit=50), Worker("a", 2, limit=4), Worker("b", 3, limit=3)]
    campaign = run(workers, 120, first(0.1), {"a": 0.5, "b": 0.25})
    assert plan(campaign) == [("a", 1), ("b", 1), ("c", 11)]
    assert campaign.status().left == 4


def test_a_round_that_fits_exactly_is_asked_and_nothing_more() -> None:
    campaign = run([Worker("a", 2), Worker("b", 3)], 100, first(0.1), {})
    assert asked(campaign, "explore") == ["a", "b", "a", "b"]


def test_the_share_is_exact_where_floats_are_not() -> None:
    # .29 * 100 is 28.999... in floats; the share is 29, one round.
    assert 0.29 * 100 < 29
    campaign = run([Worker("a", 9), Worker("b", 20)], 100, first(0.29), {})
    assert asked(campaign, "explore: round") == ["a", "b"]
    assert asked(campaign, "explore: pass") == []


def test_one_micro_unit_short_of_a_round_is_no_round() -> None:
    # .5 * 57.999998 = 28.999999, one micro-unit below 29: only passes, 9 + 9 + 9.
    campaign = run([Worker("a", 9, limit=3), Worker("b", 20)], "57.999998", first(0.5), {})
    assert asked(campaign, "explore: round") == []
    assert asked(campaign, "explore: pass") == ["a", "a", "a"]


def test_equal_prices_are_passed_in_the_order_of_the_workers() -> None:
    # One round (6) of 8, then one more unit: to the first, whatever their name.
    workers = [Worker("z", 2), Worker("y", 2), Worker("x", 2)]
    campaign = run(workers, 80, first(0.1), {})
    assert asked(campaign, "explore") == ["z", "y", "x", "z"]


def test_a_worker_at_their_limit_is_skipped_and_rounds_go_on() -> None:
    # 20 for exploration: two rounds of both (4 each) leave 12, then b alone four times.
    workers = [Worker("a", 1, limit=2), Worker("b", 3, limit=10)]
    campaign = run(workers, 200, first(0.1), {})
    assert asked(campaign, "explore: round") == ["a", "b", "a", "b", "b", "b", "b", "b"]
    assert asked(campaign, "explore: pass") == []


@pytest.mark.parametrize(("carry", "units"), [(True, 13), (False, 12)])
def test_what_exploration_leaves_carries_over_if_it_may(carry: bool, units: int) -> None:
    # .1 * 100 = 10 buys one unit of 7 and leaves 3. With them 93 / 7 = 13, without 90 / 7 = 12.
    campaign = run([Worker("a", 7, limit=99)], 100, first(0.1, carry=carry), {})
    assert plan(campaign) == [("a", units)]


def test_nothing_is_explored_with_a_share_of_zero() -> None:
    # All estimates are 0: by index, as much as fits.
    campaign = run([Worker("a", 2, limit=3), Worker("b", 3)], 12, first(0.0), {})
    assert plan(campaign) == [("a", 3), ("b", 2)]
    assert asked(campaign, "explore") == []


def test_a_share_of_one_is_the_uniform_policy() -> None:
    # Two rounds of 10 leave 5: a (2) and b (3).
    workers = [Worker("a", 2), Worker("b", 3), Worker("c", 5)]
    for policy in (first(1.0), "uniform"):
        campaign = run(workers, 25, policy, {})
        counts = Counter(event.worker for event in campaign.log() if event.kind == Kind.ASKED)
        assert counts == {"a": 3, "b": 3, "c": 2}


def test_what_expires_during_exploration_is_explored_again() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 2), Worker("b", 3)],
        outcome="utility",
        budget=50,
        policy=first(0.1),
        seed=1,
    )
    batch = campaign.ask(limit=5)
    assert isinstance(batch, Batch)
    assert [each.worker for each in batch] == ["a", "b"]
    campaign.tell(batch[0].id, 0.5)
    campaign.expire(batch[1].id)
    again = campaign.ask()
    assert isinstance(again, Batch)
    # 3 of the share of 5 are free again. A whole round (5) does not fit: a pass, so a.
    assert [each.worker for each in again] == ["a"]


# Section 6.2.


def test_trialsourcing_tries_the_cheapest_first_while_there_is_money() -> None:
    # 2 + 5 = 7 of 10; the third costs 9.
    workers = [Worker("a", 5), Worker("b", 2, limit=2), Worker("c", 9)]
    campaign = run(workers, 10, "trialsourcing", {"a": 0.25, "b": 1.0})
    assert asked(campaign, "trial") == ["b", "a"]


def test_trialsourcing_gives_the_rest_to_the_best_density_up_to_their_limit() -> None:
    # Trials cost 16 of 40. Densities: a .5/5 = .1, b .125/2 = .0625, c 1/9 = .111. c has two
    # units left under their limit; 6 remain, and they stay.
    workers = [Worker("a", 5), Worker("b", 2), Worker("c", 9, limit=3)]
    campaign = run(workers, 40, "trialsourcing", {"a": 0.5, "b": 0.125, "c": 1.0})
    assert asked(campaign, "trial") == ["b", "a", "c"]
    assert asked(campaign, "all to one") == ["c", "c"]
    assert campaign.ask() == Done("limits")
    assert campaign.status().left == 6


BUDGET_LIMITED = {"name": "budget-limited-epsilon-first", "epsilon": 0.07}


def test_budget_limited_takes_the_largest_total_not_the_best_density() -> None:
    # One round costs 7 of 100 and leaves 93. Totals: a 1 * min(4, 93) = 4, b .5 * min(49, 46)
    # = 23, c .75 * 23 = 17.25. b works 46 times; 1 is left and buys nothing of b's.
    workers = [Worker("a", 1, limit=5), Worker("b", 2, limit=50), Worker("c", 4)]
    campaign = run(workers, 100, BUDGET_LIMITED, {"a": 1.0, "b": 0.5, "c": 0.75})
    assert asked(campaign, "explore") == ["a", "b", "c"]
    assert plan(campaign, "all to one") == [("b", 46)]
    assert campaign.ask() == Done("budget")


def test_budget_limited_counts_the_limit_into_the_total() -> None:
    # Now b's total is .5 * min(29, 46) = 14.5, less than c's 17.25.
    workers = [Worker("a", 1, limit=5), Worker("b", 2, limit=30), Worker("c", 4)]
    campaign = run(workers, 100, BUDGET_LIMITED, {"a": 1.0, "b": 0.5, "c": 0.75})
    assert plan(campaign, "all to one") == [("c", 23)]


def test_of_equal_totals_budget_limited_takes_the_first() -> None:
    # Both: .5 * 31 = 15.5 of the 93 + ... : equal prices, limits and answers.
    workers = [Worker("b", 3, limit=30), Worker("a", 3, limit=30)]
    campaign = run(workers, 100, {**BUDGET_LIMITED, "epsilon": 0.06}, {})
    assert plan(campaign, "all to one") == [("b", 29)]
    assert campaign.ask() == Done("limits")


def test_random_gives_everything_to_one_worker_and_stops() -> None:
    workers = [Worker("a", 1, limit=4), Worker("b", 3), Worker("c", 50)]
    campaign = run(workers, 20, "random", {})
    events = [event for event in campaign.log() if event.kind == Kind.ASKED]
    # c costs more than there is: one of two is drawn. a can work 4 times, b 20 / 3 = 6 times.
    (worker,) = {event.worker for event in events}
    assert len(events) == {"a": 4, "b": 6}[worker or ""]
    assert {event.propensity for event in events} == {0.5}


def test_random_draws_only_among_those_who_can_be_paid() -> None:
    campaign = run([Worker("a", 30), Worker("b", 1, limit=2)], 20, "random", {})
    assert asked(campaign, "all to one") == ["b", "b"]
    assert {e.propensity for e in campaign.log() if e.kind == Kind.ASKED} == {1.0}


def test_random_says_that_the_tasks_are_done_when_they_are() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], tasks=["t"], options=["x", "y"], budget=9, policy="random"
    )
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, "x")
    # Money and limit would allow more; there is nothing left to ask.
    assert campaign.ask() == Done("tasks")


def test_when_the_one_worker_leaves_another_takes_over() -> None:
    for policy in ("trialsourcing", "random", BUDGET_LIMITED):
        campaign = Campaign.create(
            workers=[Worker("a", 1), Worker("b", 1)],
            outcome="utility",
            budget=50,
            policy=policy,
            seed=1,
        )
        for _ in range(6):
            batch = campaign.ask()
            assert isinstance(batch, Batch)
            campaign.tell(batch[0].id, 0.5)
        (one,) = {each.worker for each in batch}
        campaign.leave(one)
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        assert batch[0].worker == {"a": "b", "b": "a"}[one]


def test_trialsourcing_tries_newcomers_when_the_one_worker_has_left() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], outcome="utility", budget=9, policy="trialsourcing", seed=1
    )
    for _ in range(2):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)
    campaign.leave("a")
    campaign.add(workers=[Worker("b", 1)])
    batch = campaign.ask()
    assert isinstance(batch, Batch), f"b is there and affordable, but: {batch}"
    assert batch[0].worker == "b"


def test_with_carry_off_the_end_is_done_and_not_a_wait() -> None:
    # .2 * 10 = 2 buys nothing and is set aside; 8 buy two units of 3. The 2 + 2 left would
    # buy another, but are not to be spent.
    campaign = run([Worker("a", 3)], 10, first(0.2, carry=False), {})
    assert campaign.status().spent == 6
    assert campaign.ask() == Done("budget")


@pytest.mark.parametrize(
    ("prior", "odds"),
    [("uniform", (0.5, 0.5)), ("cheap", (0.75, 0.25)), ("expensive", (0.25, 0.75))],
)
def test_the_one_worker_may_be_drawn_by_price(prior: str, odds: tuple[float, float]) -> None:
    # Prices 1 and 3: weights 1 and 1/3, or 1 and 3.
    seen = set()
    for seed in range(20):
        campaign = Campaign.create(
            workers=[Worker("a", 1), Worker("b", 3)],
            outcome="utility",
            budget=3,
            policy={"name": "random", "prior": prior},
            seed=seed,
        )
        first = campaign.ask()[0]
        seen.add((first.worker, first.propensity))
    assert {worker: pytest.approx(odd) for worker, odd in zip("ab", odds, strict=True)} == dict(
        seen
    )
