"""The cheap judge first, the dear one when unsure."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from askwise.auditing import Cascade, check
from askwise.auditing.cascades import PricedJudges
from tests.auditing.tables import ballots, noisy, sheet

PRICES = {"cheap": Decimal("0.5"), "second": Decimal("0.5"), "dear": Decimal(10)}


def found(seed: int, right: dict[str, float], tasks: int = 1000) -> Cascade:
    verdicts, people = noisy(seed, right, tasks=tasks, people=7)
    made = check(verdicts, people, prices={name: PRICES[name] for name in right}).cascade
    assert made is not None
    return made


def test_the_dear_judge_is_asked_where_the_cheap_ones_differ() -> None:
    made = found(1, {"cheap": 0.9, "second": 0.9, "dear": 0.93})
    assert set(made.judges[:2]) == {"cheap", "second"}
    assert made.judges[2:] == ("dear",)
    assert made.until is not None
    # Both agree on .82 of the tasks: 1 + .18 * 10 = 2.8 instead of 11.
    assert made.cost == pytest.approx(2.8, abs=0.4)
    assert made.all_cost == 11.0
    assert made.saved == pytest.approx(1 - made.cost / 11)
    assert made.change.low <= 0.0 <= made.change.high


def test_a_dear_judge_who_is_no_better_is_not_asked() -> None:
    made = found(2, {"cheap": 0.9, "dear": 0.85})
    assert made.judges == ("cheap",)
    assert made.until is None
    assert made.chosen_cost == float(PRICES["cheap"])
    # Some half may have thought otherwise.
    assert made.cost < 2.0


def test_a_step_by_hand() -> None:
    table = ballots({"a": "yyn.", "b": "yny-"}, {"ann": "yyyy"})
    judges = PricedJudges(table, np.array([1.0, 5.0]), np.arange(4))
    # a is right on 2 of 3, so p = 3/5; b on 2 of 3 as well: both weigh ln 1.5.
    weights = judges.weights(np.arange(4))
    assert weights == pytest.approx(np.log([1.5, 1.5]))
    walk = judges.walk(np.array([0, 1]), weights, np.arange(4))
    assert walk.leads[:, 0] == pytest.approx(np.log([1.5, 1.5, 1.5, 1.0]))
    assert walk.leads[:, 1] == pytest.approx(np.log([2.25, 1.0, 1.0, 1.0]))
    # A failure is paid for, and a judge who was not asked is not; without a vote it is a guess.
    assert walk.cost.tolist() == [[1, 6], [1, 6], [1, 6], [1, 1]]
    assert walk.right.tolist() == [[1, 1], [1, 0.5], [0, 0.5], [0.5, 0.5]]
    right, cost = walk.ended(0.6)
    assert (right.tolist(), cost.tolist()) == ([1, 1, 0, 0.5], [1, 1, 1, 1])
    assert walk.last(None).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_not_praised_for_what_it_learned_by_heart(seed: int) -> None:
    # Judges who know nothing: whoever looks best on one half errs on half of the other.
    rng = np.random.default_rng(seed)
    tasks = 60
    judges = {f"j{at:02}": "".join(rng.choice(["n", "y"], tasks)) for at in range(30)}
    truth = "".join(rng.choice(["n", "y"], tasks))
    made = check(sheet(judges), sheet({"ann": truth}), seed=seed).cascade
    assert made is not None
    best = max(np.mean([a == b for a, b in zip(said, truth, strict=True)])
               for said in judges.values())  # fmt: skip
    # The standard error of a share of 60 tasks is .065; the best of 30 seems right on .6 or more.
    assert made.error.value == pytest.approx(0.5, abs=4 * 0.065)
    assert made.error.value > 1 - best + 0.02


def test_without_enough_to_choose_by_there_is_none() -> None:
    few = check(*noisy(1, {"a": 0.9, "b": 0.9}, tasks=39))
    assert few.cascade is None
    assert any("No cascade: it needs 40 tasks" in each for each in few.remarks)
    one = check(*noisy(1, {"a": 0.9}, tasks=80))
    assert one.cascade is None
    assert any("One judge: there is no panel and no cascade." in each for each in one.remarks)
    made = check(*noisy(1, {"a": 0.9, "b": 0.9}, tasks=80))
    assert made.cascade is not None
    assert not made.cascade.priced
    assert any("every verdict costs 1" in each for each in made.remarks)


def test_verdicts_that_cost_nothing_save_nothing() -> None:
    verdicts, people = noisy(1, {"a": 0.9, "b": 0.9}, tasks=80)
    made = check(verdicts, people, prices={"a": Decimal(0), "b": Decimal(0)}).cascade
    assert made is not None
    assert made.saved is None
