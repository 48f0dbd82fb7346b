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


def test_policies_that_only_wait_for_truths_stay_refused():
    with pytest.raises(InvalidParameter, match="must be told the truth") as caught:
        plan_campaign(WORLDS, policy="epsilon-t-greedy", runs=10)
    assert caught.value.field == "policy"
