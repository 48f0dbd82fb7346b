"""VirtUniform and the zooming algorithm against plain readings of 004, appendix I."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from askwise.core.choices import Batch
from askwise.core.compiling import bind
from askwise.policies.crowds import grid
from askwise.policies.crowds.grid import ARM, ARM_VOTES, PHASE, PLAYED
from tests.policies.crowds.polls import Desk, ask, gap_of, noisy, poll

BOTH = ("virt-uniform", "virt-zooming")


def compositions(crowds, parts):
    """All ways to share out parts, most for the first crowd first."""
    ways = itertools.product(range(parts + 1), repeat=crowds)
    return sorted((way for way in ways if sum(way) == parts), reverse=True)


def shares(arm, parts, crowds):
    members, found = np.full(parts, -1), np.full(crowds, np.nan)
    grid.members_of(arm, parts, crowds, members)
    grid.shares_of(members, found)
    return found


def phase_of(asked):
    """The phase that the next ask belongs to; phases last 2, 4, 8, ... asks."""
    lengths = itertools.accumulate(2**j for j in itertools.count(1))
    return 1 + next(at for at, end in enumerate(lengths) if asked < end)


def allowed(crowds, parts):
    return parts == 1 or math.comb(parts + crowds - 1, parts) <= max(64, crowds)


def uniform_parts(crowds, phase):
    """1 / granularity, nearest to 2^(j / (k + 2)), less if the grid were too large."""
    wanted = math.floor(2 ** (min(phase, 11) / (crowds + 2)) + 0.5)
    return next(parts for parts in range(max(1, wanted), 0, -1) if allowed(crowds, parts))


def zoom_parts(crowds):
    return next(parts for parts in range(8, 0, -1) if allowed(crowds, parts))


class Reading:
    """One question's phases, arms and what they brought, in plain Python."""

    def __init__(self, prices, options):
        self.prices = prices
        self.options = options
        self.asked = 0
        self.phase = 0
        self.arms = []
        self.played = Counter()
        self.told = defaultdict(str)

    def decide(self):
        """Choose an arm and count it as played."""
        if phase_of(self.asked) != self.phase:
            self.phase = phase_of(self.asked)
            self.arms = self.grid()
            self.played.clear()
            self.told.clear()
        arm = self.best()
        self.played[arm] += 1
        self.asked += 1
        return arm

    def answer(self, phase, arm, option):
        """Late answers, those of a phase that is over, are not credited."""
        if phase == self.phase:
            self.told[arm] += option

    def price(self, arm):
        return sum(share * price for share, price in zip(self.arms[arm], self.prices, strict=True))

    def gap(self, arm):
        return gap_of(self.told[arm], self.options)

    def mixtures(self, parts):
        ways = compositions(len(self.prices), parts)
        return [tuple(part / parts for part in way) for way in ways]


class Uniform(Reading):
    def grid(self):
        return self.mixtures(uniform_parts(len(self.prices), self.phase))

    def best(self):
        """UCB1 (Auer et al. 2002) with the empirical gap as the mean."""
        arms = range(len(self.arms))
        for arm in arms:
            if not self.played[arm]:
                return arm
        plays = sum(self.played.values())
        return max(
            arms,
            key=lambda arm: (
                self.gap(arm) / math.sqrt(self.price(arm))
                + math.sqrt(2 * math.log(plays) / self.played[arm])
            ),
        )


class Zooming(Reading):
    def grid(self):
        return self.mixtures(zoom_parts(len(self.prices)))

    def radius(self, arm):
        return math.sqrt(8 * self.phase / (2 + self.played[arm]))

    def covers(self, active, arm):
        apart = sum(abs(x - y) for x, y in zip(self.arms[active], self.arms[arm], strict=True))
        return len(self.options) * apart <= self.radius(active)

    def best(self):
        active = [arm for arm in range(len(self.arms)) if self.played[arm]]
        for arm in range(len(self.arms)):
            if not any(self.covers(each, arm) for each in active):
                return arm
        return max(
            active,
            key=lambda arm: self.gap(arm) / math.sqrt(self.price(arm)) + 2 * self.radius(arm),
        )


READINGS = {"virt-uniform": Uniform, "virt-zooming": Zooming}

CHANCES = {
    "a": {"xy": [0.8, 0.2], "xyz": [0.5, 0.45, 0.05]},
    "b": {"xy": [0.4, 0.6], "xyz": [0.5, 0.05, 0.45]},
    "c": {"xy": [0.6, 0.4], "xyz": [0.4, 0.3, 0.3]},
}


@pytest.mark.parametrize("crowds", range(1, 6))
@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
def test_a_grid_holds_every_composition_once(crowds, parts):
    due = [tuple(part / parts for part in way) for way in compositions(crowds, parts)]
    assert grid.points(crowds, parts) == len(due)
    found = [tuple(shares(arm, parts, crowds)) for arm in range(len(due))]
    assert found == due
    assert np.array(found).sum(axis=1) == pytest.approx(np.ones(len(due)), abs=1e-15)


@pytest.mark.parametrize("crowds", range(1, 6))
@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
def test_mixtures_follow_each_other_in_the_order_of_their_numbers(crowds, parts):
    walked, due = np.zeros(parts, np.int64), np.empty(parts, np.int64)
    for arm in range(grid.points(crowds, parts)):
        grid.members_of(arm, parts, crowds, due)
        assert walked.tolist() == due.tolist()
        grid.advance(walked, crowds)
    assert walked.tolist() == [crowds - 1] * parts


def test_the_distance_of_mixtures_is_the_sum_of_differences_of_shares():
    crowds, parts = 4, 3
    members = [np.empty(parts, np.int64) for _ in range(grid.points(crowds, parts))]
    for arm, written in enumerate(members):
        grid.members_of(arm, parts, crowds, written)
    for arm, one in enumerate(members):
        for second, other in enumerate(members):
            due = np.abs(shares(arm, parts, crowds) - shares(second, parts, crowds)).sum()
            assert grid.distance(one, other) == pytest.approx(due, abs=1e-15)


def test_phases_last_two_four_eight_asks():
    found = [grid.phase_at(asked) for asked in range(126)]
    assert found == [1] * 2 + [2] * 4 + [3] * 8 + [4] * 16 + [5] * 32 + [6] * 64


def test_the_grid_grows_finer_from_phase_to_phase():
    for crowds in (*range(1, 12), 40, 63, 64, 65, 100):
        for phase in range(1, 20):
            assert grid.uniform_parts(crowds, phase) == uniform_parts(crowds, phase)
        assert grid.finest_parts(crowds) == zoom_parts(crowds)
    # Two crowds: 2^(j/4) is 1.19, 1.41, 1.68, 2, 2.38, 2.83, 3.36, 4.
    assert [grid.uniform_parts(2, phase) for phase in range(1, 9)] == [1, 1, 2, 2, 2, 3, 3, 4]


def test_the_grid_of_very_many_crowds_is_the_same_compiled():
    compiled = bind(grid.finest_parts, "grid test")
    for crowds in (3, 64, 300, 413, 1000, 2000):
        assert compiled(crowds) == zoom_parts(crowds)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("options", ["xy", "xyz"])
@pytest.mark.parametrize("prices", [(1,), (1, 1), (1, 3), (2, 1, 1)])
def test_arms_are_played_as_the_algorithm_says(policy, options, prices):
    campaign = poll(policy, prices, options)
    desk, reading = Desk(campaign), READINGS[policy](prices, options)
    asked = Counter()
    for step in range(126 if len(prices) == 1 else 62):
        arm = reading.decide()
        assignment = ask(campaign)
        desk.catch_up()
        assert (desk.beliefs.phases[0, PHASE], desk.beliefs.phases[0, ARM]) == (reading.phase, arm)
        mixture = dict(zip("abc", reading.arms[arm], strict=False))
        assert assignment.propensity == mixture[assignment.worker] > 0, step
        chances = CHANCES[assignment.worker][options]
        answer = noisy(7, assignment.worker, "q", asked[assignment.worker], chances, options)
        asked[assignment.worker] += 1
        campaign.tell(assignment.id, answer)
        reading.answer(reading.phase, arm, answer)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("seed", range(3))
def test_arms_are_played_as_the_algorithm_says_with_answers_out_and_late(policy, seed):
    source = random.Random(seed)
    prices, options, tasks = (1, 2), "xyz", ["p", "q"]
    campaign = poll(policy, prices, options, tasks)
    desk = Desk(campaign)
    readings = [READINGS[policy](prices, options) for _ in tasks]
    out = []
    late = 0
    for _ in range(60):
        batch = campaign.ask(limit=source.randint(1, 4))
        assert isinstance(batch, Batch)
        for assignment in batch:
            at = min((0, 1), key=lambda task: readings[task].asked)
            arm = readings[at].decide()
            assert assignment.task == tasks[at]
            assert assignment.propensity == readings[at].arms[arm]["ab".index(assignment.worker)]
            out.append((assignment, at, readings[at].phase, arm))
        desk.catch_up()
        source.shuffle(out)
        while len(out) > source.randint(0, 12):
            assignment, at, phase, arm = out.pop()
            answer = source.choice("xxxyz")
            campaign.tell(assignment.id, answer)
            readings[at].answer(phase, arm, answer)
            late += phase < readings[at].phase
        desk.catch_up()
        for at, reading in enumerate(readings):
            for arm in range(len(reading.arms)):
                held = desk.beliefs.arms[at, arm]
                votes = [reading.told[arm].count(option) for option in options]
                assert held[PLAYED] == reading.played[arm]
                assert held[ARM_VOTES:].tolist() == votes
    assert late > 5


def test_the_first_phases_of_virt_uniform_by_hand():
    # Phase 1 (two asks): the grid is {a, b}, each once. Phase 2 (four): a says x, x...: after
    # one each, gap 1 and sqrt(2 ln 2) for both: a, says y. Then a: 0 + sqrt(2 ln 3 / 2) = 1.05,
    # b: 1 + sqrt(2 ln 3) = 2.48: b. Phase 3 begins with a again: {a, half and half, b}.
    campaign = poll("virt-uniform")
    found = ""
    for answer in "xxxxyx":
        assignment = ask(campaign)
        assert assignment.propensity == 1.0
        campaign.tell(assignment.id, answer)
        found += assignment.worker
    assert found == "ab" + "abab"
    chances = []
    for _ in range(3):
        assignment = ask(campaign)
        campaign.tell(assignment.id, "x")
        chances.append((assignment.worker, assignment.propensity))
    assert chances[0] == ("a", 1.0)
    assert chances[1][1] == 0.5
    assert chances[2] == ("b", 1.0)


def test_zooming_begins_with_the_first_crowd_and_covers_the_rest():
    # Phase 1, radius sqrt(8 / 3) = 1.63 after one play. Of two options, a share of p is 4 (1 - p)
    # away from (1, 0): 5/8 is covered (1.5), 1/2 is not (2): it is next, and covers down to
    # 1/8 (1.5), not 0 (2), which would come first in a longer phase.
    campaign = poll("virt-zooming")
    assert [ask(campaign).propensity for _ in range(2)] == [1.0, 0.5]
    # Phase 2: radius sqrt(16 / 3) = 2.31: 1/2 (2) is covered, 3/8 (2.5) is next and covers
    # 0 (1.5): all is covered. The third play is by index: nothing answered, both alike, the
    # first; its radius falls to 2, which still covers 1/2, so the other is played.
    desk = Desk(campaign)
    arms = []
    for _ in range(4):
        ask(campaign)
        desk.catch_up()
        arms.append(int(desk.beliefs.phases[0, ARM]))
    assert arms == [0, 5, 0, 5]


@pytest.mark.parametrize("policy", BOTH)
def test_shares_are_renormalised_over_those_who_are_there(policy):
    campaign = poll(policy)
    # The first arm is all a: while a is away, whoever is there is asked.
    assignment = ask(campaign, "b")
    assert (assignment.worker, assignment.propensity) == ("b", 1.0)


@pytest.mark.parametrize("policy", BOTH)
def test_the_answer_of_a_crowd_that_stood_in_is_not_its_arms(policy):
    # The arm is all a, but only b is there: what b says is no draw from a.
    campaign = poll(policy)
    campaign.tell(ask(campaign, "b").id, "x")
    assert Desk(campaign).beliefs.arms[0, 0, ARM_VOTES:].sum() == 0


@pytest.mark.parametrize("policy", BOTH)
def test_a_new_crowd_begins_the_phase_anew(policy):
    campaign = poll(policy)
    for _ in range(4):
        campaign.tell(ask(campaign).id, "x")
    campaign.add(workers=[{"id": "c", "price": 1}])
    assert ask(campaign).propensity == 1.0
    desk = Desk(campaign)
    assert desk.beliefs.arms[0, :, PLAYED].sum() == 1
    assert desk.beliefs.arms[0, :, ARM_VOTES:].sum() == 0


@pytest.mark.parametrize("policy", BOTH)
def test_answers_to_arms_of_an_earlier_grid_are_not_credited(policy):
    campaign = poll(policy)
    for _ in range(2):
        campaign.tell(ask(campaign).id, "x")
    batch = campaign.ask(limit=3)
    assert isinstance(batch, Batch)
    campaign.add(workers=[{"id": "c", "price": 1}])
    ask(campaign)
    for assignment in batch:
        campaign.tell(assignment.id, "x")
    assert Desk(campaign).beliefs.arms[0, :, ARM_VOTES:].sum() == 0


@pytest.mark.parametrize("policy", BOTH)
def test_no_arm_has_more_answers_than_plays(policy):
    # The third ask begins phase 2; with two of them expired, the next one is in phase 1 again.
    campaign = poll(policy)
    first, second, third = (ask(campaign) for _ in range(3))
    campaign.expire(second.id)
    campaign.expire(third.id)
    again = ask(campaign)
    campaign.tell(first.id, "x")
    campaign.tell(again.id, "x")
    arms = Desk(campaign).beliefs.arms[0]
    assert (arms[:, ARM_VOTES:].sum(axis=1) <= arms[:, PLAYED]).all()


@pytest.mark.parametrize("policy", BOTH)
def test_seventy_crowds_have_a_grid_of_seventy(policy):
    campaign = poll(policy, (), workers=[{"id": f"w{at}", "price": 1} for at in range(70)])
    found = [ask(campaign) for _ in range(8)]
    assert {assignment.propensity for assignment in found} == {1.0}
    assert Desk(campaign).beliefs.arms.shape[1] >= 70
