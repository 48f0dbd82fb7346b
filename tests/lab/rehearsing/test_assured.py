"""Plans of campaigns that assure the accuracy of every task and learn from truths."""

import pytest

from askwise import Worker
from askwise.core.errors import InvalidParameter
from askwise.data.guesses import GuessedWorker
from askwise.lab.rehearsing.planner import plan_campaign
from askwise.lab.rehearsing.worlds import GuessedWorlds

WORLDS = GuessedWorlds(
    [GuessedWorker(Worker(f"w{at}", 1 + at), (0.9, 0.95)) for at in range(3)], 12
)


def test_a_policy_that_assures_is_planned_with_its_truths():
    made = plan_campaign(WORLDS, policy="ccb-ns(floor=0.9)", target_error=0.15, runs=10)
    assert made.policy == "ccb-ns(alpha=0.15,floor=0.9)"
    assert (made.chosen, made.budget) == ("given", None)
    # Everybody about the first task; then the cheapest, who is right in nine of ten tasks at least.
    assert made.total.mean == 6 + 11
    assert "was told the truths of" in made.cannot_know[-1]
    assert "alpha = 0.15" in made.settings


@pytest.mark.parametrize(
    ("policy", "explored"),
    [
        ("ccb-s(floor=0.9)", 1),
        ("ccb-se(floor=0.9,error=majority)", 1),
        ("ccb-fixed(floor=0.9,rounds=3,bounds=paper)", 3),
    ],
)
def test_whoever_explores_with_everybody_is_planned_with_that(policy, explored):
    # With a floor of .9 the cheapest is enough at once. Everybody answers the first task, or the
    # first three, whose truths are told.
    made = plan_campaign(WORLDS, policy=policy, target_error=0.15, runs=10)
    assert made.policy.startswith(f"{policy.partition('(')[0]}(alpha=0.15,")
    assert (made.chosen, made.budget) == ("given", None)
    assert made.total.low == made.total.mean == made.total.high == 6 * explored + 12 - explored
    assert f"was told the truths of {explored} tasks" in made.cannot_know[-1]


def test_known_qualities_are_planned_without_truths():
    made = plan_campaign(
        WORLDS, policy="ccb-fixed(qualities=[0.9,0.9,0.9])", target_error=0.15, runs=10
    )
    # The cheapest of three at 1, 2 and 3 is right often enough, and asked about all 12 tasks.
    assert made.total.mean == 12
    assert "was told the truths of 0 tasks" in made.cannot_know[-1]


def test_policies_that_only_wait_for_truths_stay_refused():
    with pytest.raises(InvalidParameter, match="must be told the truth") as caught:
        plan_campaign(WORLDS, policy="epsilon-t-greedy", runs=10)
    assert caught.value.field == "policy"
