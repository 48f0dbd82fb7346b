"""Where to put a budget, or a policy's target, so that the error is within another target."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np

from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO, to_micro
from askwise.lab.planning.plan import percent
from askwise.lab.planning.ranges import middle, money_range
from askwise.lab.rehearsing.pace import SearchPace
from askwise.lab.rehearsing.plan import CampaignSetting
from askwise.lab.rehearsing.trials import Rehearsal, Trials
from askwise.policies import Policy

SEARCHED_BY = 40
"""Campaigns simulated at each step of a search; the plan itself is made of all."""

BUDGETS = 100
"""Budgets to choose from, each by the same factor larger than the one before."""

DIGITS = Context(prec=3, rounding=ROUND_CEILING)
"""Budgets are round numbers."""

CERTAIN = 2.0
"""Standard errors by which one mean cost has to be below another to count as less."""

TARGETS = (
    *(0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.17, 0.14, 0.12, 0.1, 0.085, 0.07, 0.06, 0.05, 0.04),
    *(0.03, 0.025, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001),
)
"""Targets of a policy to choose from, from the boldest to the most careful."""


Settings = list[tuple[Policy, Decimal | None]]
"""Policies with their budgets, ever more careful and more expensive."""


@dataclass(frozen=True)
class Found:
    """A setting with the campaigns that were simulated for it."""

    policy: Policy
    setting: CampaignSetting
    trials: Trials


@dataclass(frozen=True, order=True)
class Reach:
    """The error of the most careful setting, where even that is above the target."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Found) -> Reach:
        """What a setting reached."""
        error = found.setting.error
        return cls(error.mean, error.low, error.high)


class SettingSearch:
    """Tries settings, and remembers their results."""

    def __init__(self, rehearsal: Rehearsal, policy: Policy, runs: int, pace: SearchPace) -> None:
        self.rehearsal, self.policy, self.runs, self.pace = rehearsal, policy, runs, pace
        self._tried: dict[tuple[Decimal | None, float | None], CampaignSetting] = {}

    @property
    def tried(self) -> tuple[CampaignSetting, ...]:
        """What was tried, each setting as it was found last."""
        return tuple(self._tried.values())

    def try_setting(
        self, policy: Policy, budget: Decimal | None, runs: int, *, expected: bool = True
    ) -> Found:
        """Simulate campaigns with one setting."""
        target = getattr(policy, "target", 0.0) or None
        said = [f"budget {budget}"] if budget is not None else []
        said += [f"target {target:g}"] if target is not None else []
        what = f"trying {' and '.join(said) or 'everybody'}"
        self.pace.begin(what, expected=expected)
        trials = self.rehearsal.run(policy, runs, budget, tell=self.pace.campaign, what=what)
        setting = CampaignSetting(budget, target, money_range(trials.spent), middle(trials.errors))
        return Found(policy, setting, trials)

    def cheapest(self, target_error: float, lever: str) -> tuple[Found, Found | None]:
        """The cheapest setting within the target, and the best of the other lever."""
        levers = []
        if lever != "target":
            levers.append(self._budgets())
        if lever != "budget" and "target" in {each.name for each in fields(self.policy)}:
            levers.append(self._targets())
        for settings in levers:
            self.pace.expect(self._steps(settings))
        found = [self._first(settings, target_error) for settings in levers]
        kept = [each for each in found if isinstance(each, Found)]
        if not kept:
            reached = min(each for each in found if isinstance(each, Reach))
            raise InvalidParameter(
                f"target_error is {target_error:g}: nobody here can keep it; with every worker "
                f"asked about every task {percent(reached.mean)} of the labels are wrong "
                f"({percent(reached.low)} to {percent(reached.high)} in eight campaigns of ten). "
                f"Give {math.ceil(1000 * reached.mean) / 1000:g} or more, or add better workers",
                field="target_error",
            )
        if len(kept) == 1:
            return kept[0], None
        # What a budget costs is certain: the target has to be cheaper beyond doubt.
        spending, stopping = kept
        doubt = CERTAIN * stopping.trials.spent.std() / math.sqrt(len(stopping.trials.spent))
        if stopping.trials.spent.mean() + doubt < spending.trials.spent.mean():
            return stopping, spending
        return spending, stopping

    def _budgets(self) -> Settings:
        """Tune the budget."""
        return [(self.policy, each) for each in budgets_of(self.rehearsal)]

    def _targets(self) -> Settings:
        """Tune the error at which the policy calls a task done."""
        asking: Any = self.policy
        return [(replace(asking, target=each), None) for each in TARGETS]

    def _steps(self, settings: Settings) -> list[int]:
        """Campaigns of each step: of the most careful setting, of halving, of what is found."""
        few = min(SEARCHED_BY, self.runs)
        return [few] * (1 + math.ceil(math.log2(len(settings)))) + [self.runs]

    def _first(self, settings: Settings, target_error: float) -> Found | Reach:
        """The first of settings, ever more careful and more expensive, that keeps the target."""
        few = min(SEARCHED_BY, self.runs)
        expected = len(self._steps(settings))

        def tried(at: int, runs: int) -> Found:
            nonlocal expected
            found = self.try_setting(*settings[at], runs, expected=expected > 0)
            expected -= 1
            self._tried[found.setting.budget, found.setting.target] = found.setting
            return found

        below, at = -1, len(settings) - 1
        last = tried(at, few)
        if last.trials.error > target_error:
            self.pace.skip(expected)
            return Reach.of(last)
        while at - below > 1:
            middle_one = (below + at) // 2
            if tried(middle_one, few).trials.error <= target_error:
                at = middle_one
            else:
                below = middle_one
        # Halving may take a step less than there might have been.
        self.pace.skip(expected - 1)
        expected = 1
        # What few campaigns showed is looked at again with all of them.
        found = tried(at, self.runs)
        while found.trials.error > target_error and at < len(settings) - 1:
            at += 1
            found = tried(at, self.runs)
        return found if found.trials.error <= target_error else Reach.of(found)


def budgets_of(rehearsal: Rehearsal) -> list[Decimal]:
    """Budgets from one cheap answer per task to all answers that there are."""
    staff, tasks = rehearsal.worlds.staff, rehearsal.worlds.tasks
    prices = np.array([to_micro(each.price, "price") for each in staff], np.float64)
    worlds = (rehearsal.bench(at).recording for at in range(3))
    most = max(float(prices[world.worker].sum()) for world in worlds)
    if most == 0:
        raise InvalidParameter(
            "price of every worker is 0: there is nothing to plan; ask everybody", field="price"
        )
    least = max(float(prices.min()) * tasks, most / 1000)
    steps = np.geomspace(min(least, most), most, BUDGETS)
    found = {DIGITS.create_decimal(repr(float(each) / MICRO)).normalize() for each in steps}
    return sorted(Decimal(f"{each:f}") for each in found)
