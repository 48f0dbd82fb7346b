"""What is called assured is, and no late truth or lie turns it round."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Done, Wait
from askwise.core.errors import AskwiseError
from askwise.policies import policies
from askwise.policies.assured.sets import ErrorFunction, errors


def run(right: dict[str, float], tasks: int, seed: int, **more: Any) -> Campaign:
    """A campaign in which "yes" is true of every task, told when it is waited for."""
    campaign = Campaign.create(
        workers=[Worker(name, 1) for name in right],
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        seed=seed,
        **more,
    )
    dice, due = random.Random(seed), ""
    while not isinstance(choice := campaign.ask(limit=9), Done):
        if isinstance(choice, Wait):
            campaign.truth(due, "yes")
            continue
        for each in choice:
            due = each.task or ""
            campaign.tell(each.id, "yes" if dice.random() < right[each.worker] else "no")
    return campaign


@pytest.mark.parametrize("error", ["majority", "weighted-majority", "hoeffding-linear"])
def test_nobody_is_trusted_for_being_always_wrong(error: str) -> None:
    policy = {"name": "ccb-fixed", "rounds": 60, "alpha": 0.2, "error": error}
    learned = {"name": "weighted-majority", "learn": "truths"}
    for seed in range(2):
        campaign = run({"w": 0.25}, 66, seed, policy=policy, aggregation=learned)
        outcomes = {answer.outcome for answer in campaign.answers()[60:]}
        assert outcomes == {"target_not_reachable"}
        assert campaign.answers()[-1].majority_error > 0.5


def test_a_bound_that_does_not_hold_for_such_qualities_assures_nothing() -> None:
    # Three hundred of quality .52 reach the linear form, which is for 2/3 and more.
    names = {f"w{at}": 0.52 for at in range(300)}
    policy = {"name": "ccb-fixed", "qualities": [0.52] * 300, "alpha": 0.2}
    campaign = run(names, 1, 1, policy={**policy, "error": "hoeffding-linear"})
    (answer,) = campaign.answers()
    assert answer.assured_error < 0.2 < answer.majority_error
    assert answer.outcome != "assured"


def test_what_is_complete_and_not_assured_is_not_open() -> None:
    # One worker may be enough at their upper bound; at their lower they are not.
    campaign = run({"a": 0.7, "b": 0.7, "c": 0.7}, 3, 1, policy="cucb")
    assert {(answer.outcome, answer.count) for answer in campaign.answers()} == {("not_assured", 1)}


def test_before_an_answer_nothing_is_said_of_its_error() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], tasks=["t"], options=["no", "yes"], policy="ccb-ns"
    )
    (answer,) = campaign.answers()
    assert (answer.outcome, answer.assured_error, answer.majority_error) == ("open", None, None)


def paid(bid: int) -> int:
    """What a gets under fixed exploration if truths of closed tasks come after all."""
    campaign = Campaign.create(
        workers=[Worker("a", bid), Worker("b", 5), Worker("c", 7), Worker("d", 9)],
        tasks=[f"t{at}" for at in range(51)],
        options=["no", "yes"],
        policy={
            "name": "ccb-fixed", "rounds": 41, "alpha": 0.3, "solver": "exact", "bounds": "paper",
        },
        mechanism={"name": "fixed-exploration", "c_max": 10},
    )  # fmt: skip
    at, late = 0, False
    while not isinstance(choice := campaign.ask(limit=4), Done):
        if isinstance(choice, Wait):
            if at < 29:
                campaign.truth(f"t{at}", "yes")
            else:
                campaign.close(f"t{at}")
            continue
        for each in choice:
            at = int((each.task or "")[1:])
            campaign.tell(each.id, "no" if (each.worker, at) == ("b", 0) else "yes")
        if at >= 41 and not late:
            late = True
            for closed in range(29, 41):
                campaign.truth(f"t{closed}", "yes")
    return int(campaign.payments()[0].paid)


def test_a_late_truth_changes_no_critical_bid() -> None:
    assert paid(3) == paid(6) == 480


@dataclass(frozen=True)
class Backwards(ErrorFunction):
    """Errs more the better they are."""

    def probability(self, qualities: Any) -> float:
        """The mean quality."""
        return float(np.mean(qualities)) / 2 if len(qualities) else 1.0


def test_a_function_that_is_not_monotone_is_refused_before_anything_is_spent() -> None:
    errors.register("backwards")(Backwards)
    try:
        with pytest.raises(AskwiseError, match="error rises from"):
            policies.make({"name": "ccb-ns", "error": "backwards"})
    finally:
        errors._entries.pop("backwards", None)


def test_qualities_need_no_rounds_and_may_be_an_array() -> None:
    policy = policies.make({"name": "ccb-fixed", "qualities": np.array([0.9, 0.8])})
    assert policy.qualities == (0.9, 0.8)
    assert policy.allocation().exploration == "none"
    unknown = policies.make({"name": "ccb-fixed", "rounds": 0})
    assert unknown.allocation().exploration == "fixed"
