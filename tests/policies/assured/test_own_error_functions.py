"""Policies for assured accuracy with an error function of one's own."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest

from askwise.core.choices import Done, Wait
from askwise.core.errors import TooLarge
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.policies.assured.sets import ErrorFunction, cheapest_set, error_probability, errors
from tests.policies.assured.campaigns import SURE, campaign_of, decisions, tell


@errors.register("assured-test-hundredths")
@dataclass(frozen=True)
class Hundredths(ErrorFunction):
    """The majority's error, rounded up to a whole hundredth."""

    def probability(self, qualities):
        return math.ceil(100 * error_probability("majority", qualities) - 1e-9) / 100


def test_an_error_function_of_ones_own_decides_by_trying_all_sets():
    policy = {"name": "ccb-fixed", "alpha": 0.15, "error": "assured-test-hundredths", **SURE}
    campaign = campaign_of(policy, prices=[9, 1, 1, 1])
    batch = campaign.ask(3)
    due, _, _ = cheapest_set([9, 1, 1, 1], SURE["qualities"], 0.15, Hundredths())
    assert [int(each.worker[1:]) for each in batch] == due == [1, 2, 3]
    tell(campaign, batch)
    answer = campaign.answers()[0]
    assert (answer.outcome, answer.assured_error) == ("assured", 0.14)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"solver": "greedy"},
        {"solver": "classes"},
        {"miss": 30.0},
        {"name": "ccb-s"},
        {"ahead": 2},
    ],
)
def test_a_campaign_with_a_function_of_ones_own_runs_to_its_end(more):
    policy = {"name": "ccb-ns", "alpha": 0.3, "floor": 0.7, "error": "assured-test-hundredths"}
    campaign = campaign_of({**policy, **more}, tasks=4)
    for turn in itertools.count():
        choice = campaign.ask(4)
        if isinstance(choice, Done):
            break
        if choice == Wait("truth"):
            campaign.truth(f"t{sum(e.kind == Kind.TRUTH for e in campaign.log())}", "yes")
        elif turn == 0:
            campaign.decline(choice[0].id)
            tell(campaign, choice[1:])
        else:
            tell(campaign, choice)
    assert len({task for note, task, _ in decisions(campaign)}) == 4


def test_too_many_workers_for_a_function_of_ones_own_are_refused_at_the_start():
    with pytest.raises(TooLarge, match=r"workers are 21: .* give at most 20, or solver='classes'"):
        campaign_of({"name": "ccb-ns", "error": "assured-test-hundredths"}, workers=21)
    for solver in ("greedy", "classes"):
        campaign_of(
            {"name": "ccb-ns", "error": "assured-test-hundredths", "solver": solver}, workers=21
        )
    assert not policies.make({"name": "ccb-s", "error": "assured-test-hundredths"}).compiles
