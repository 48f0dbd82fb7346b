"""What a campaign of people and models will cost, by simulation, before any money is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Literal

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, one_of, whole
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO, Amount, from_micro, to_micro
from askwise.core.problem import Worker
from askwise.core.registry import from_label, label_of
from askwise.kernels.calibration import LEAST_TRUTHS
from askwise.lab.planning.campaigns.extras import (
    CertificatePart,
    cascade_part,
    certificate_part,
    truths_part,
)
from askwise.lab.planning.campaigns.plan import (
    CampaignPlan,
    CampaignSetting,
    Lever,
    WorkerPart,
)
from askwise.lab.planning.campaigns.trials import Rehearsal, Trials
from askwise.lab.planning.campaigns.worlds import (
    GUESS_WORTH,
    GuessedWorlds,
    PossibleWorlds,
    RecordedWorlds,
)
from askwise.lab.planning.plan import percent, policy_text
from askwise.lab.planning.ranges import middle, money_range
from askwise.lab.simulate import Progress, check_budget, check_seed, unseen
from askwise.policies import AwaitsTruth, KnowsTruth, NeedsStopping, Policy, policies

TARGET = 0.05
"""The error that is aimed at where nobody says otherwise."""

SEARCHED_BY = 40
"""Campaigns simulated at each step of a search; the plan itself is made of all."""

BUDGETS = 32
"""Budgets to choose from, each by the same factor larger than the one before."""

DIGITS = Context(prec=3, rounding=ROUND_CEILING)
"""Budgets are round numbers."""

TARGETS = (
    *(0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.17, 0.14, 0.12, 0.1, 0.085, 0.07, 0.06, 0.05, 0.04),
    *(0.03, 0.025, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001),
)
"""Targets of a policy to choose from, from the boldest to the most careful."""

LEVERS = ("cheapest", "budget", "target")


def plan_campaign(
    worlds: PossibleWorlds,
    *,
    target_error: float | None = None,
    policy: str = "hem",
    lever: str = "cheapest",
    budget: Amount | None = None,
    truths: int = 0,
    certify: float | None = None,
    confidence: float = 0.9,
    by: str | None = None,
    audits: int = 100,
    runs: int = 100,
    seed: int = 0,
    progress: Progress = unseen,
) -> CampaignPlan:
    """Simulate campaigns as they may go; say what the target takes.

    Parameters
    ----------
    worlds : PossibleWorlds
        Workers as they are guessed or were recorded, and the tasks.
    target_error : float, optional
        The share of labels that may be wrong, in the mean of the campaigns; 0.05 unless a budget
        or the policy's target is given.
    policy : label
        One that labels tasks within a budget.
    lever : "cheapest", "budget" or "target"
        What is tuned until the error is within the target: how much is spent, the error at which
        the policy calls a task done, or whichever costs less in the mean.
    budget : amount, optional
        Planned as it is, beside what the target takes.
    truths : int
        How many tasks' truths are known at the start.
    certify, confidence : float, optional
        Say how many audits show that at most this share of the labels is wrong, and what they
        cost; the target's share if somebody is trusted.
    by : str, optional
        The trusted worker who audits; the cheapest one if not given.
    audits : int
        The most audits.
    runs : int
        Campaigns to simulate.
    progress : callable, optional
        Told ``(what, done, total)``.

    Examples
    --------
    >>> from askwise import Worker
    >>> from askwise.data.guesses import GuessedWorker
    >>> workers = [GuessedWorker(Worker(name, 1), (0.98, 0.99)) for name in ("ann", "bob")]
    >>> made = plan_campaign(GuessedWorlds(workers, 10), runs=10, lever="budget", target_error=0.1)
    >>> made.budget, made.reached
    (Decimal('10'), True)
    """
    whole(runs, "runs", least=10, most=100_000)
    check_seed(seed)
    whole(truths, "truths", least=0, most=max(0, worlds.tasks - 1))
    one_of(lever, "lever", LEVERS)
    asking = _policy(policy)
    given = getattr(asking, "target", 0.0) > 0.0
    if target_error is not None:
        between(target_error, "target_error", 0, 1)
    elif budget is None and not given:
        target_error = TARGET
    auditor = _auditor(worlds.staff, by, certify is not None)
    if certify is not None:
        between(certify, "certify", 0, 1)
    between(confidence, "confidence", 0, 1)
    whole(audits, "audits", least=1)
    asking.check(worlds.draw(seed, 0).problem(None))
    rehearsal = Rehearsal(worlds, truths, seed)
    search = _Search(rehearsal, asking, runs, progress)
    cap = None if budget is None else _cap(budget, worlds.staff)
    chosen, other = None, None
    if target_error is not None and not given:
        chosen, other = search.cheapest(target_error, lever)
    needed = None
    if cap is not None or given:
        needed = chosen.setting if chosen is not None else None
        chosen, other = search.run(asking, cap, runs), None
    assert chosen is not None
    trials = chosen.trials
    certificate = None
    share = certify if certify is not None else target_error
    if auditor is not None and share is not None:
        certificate = certificate_part(
            trials, error=share, confidence=confidence, by=auditor.id,
            price=Decimal(str(auditor.price)), audits=audits, seed=seed, tell=progress,
        )  # fmt: skip
    cascade = None if target_error is None else cascade_part(rehearsal, runs, target_error)
    return _plan(
        rehearsal, chosen, trials, search,
        target_error=target_error, certificate=certificate, needed=needed, given=given,
        cascade=cascade, alternative=None if other is None else other.setting,
        capped=cap is not None,
    )  # fmt: skip


def _policy(label: str) -> Policy:
    policy = policies.make(from_label(label))
    wrong = ""
    if isinstance(policy, KnowsTruth | AwaitsTruth):
        wrong = "must be told the truth"
    elif isinstance(policy, NeedsStopping):
        wrong = "stays on a task until a stopping rule closes it"
    elif "options" not in policy.outcomes:
        wrong = "does not label tasks"
    if wrong:
        raise InvalidParameter(
            f"policy is {policy.name!r}, which {wrong}: choose one that labels tasks within a "
            "budget, such as hem",
            field="policy",
        )
    return policy


def _auditor(staff: tuple[Worker, ...], by: str | None, wanted: bool) -> Worker | None:
    trusted = [each for each in staff if each.trusted]
    if by is not None:
        named = next((each for each in staff if each.id == by), None)
        if named is None or not named.trusted:
            raise InvalidParameter(
                f"by is {by!r}, {'whom nobody trusts' if named else 'who is no worker'}: name one "
                "whose column trusted says yes",
                field="by",
            )
        return named
    if wanted and not trusted:
        raise InvalidParameter(
            "certify needs somebody whose answers are the truth: add a worker whose column "
            "trusted says yes",
            field="certify",
        )
    return min(trusted, key=lambda each: Decimal(str(each.price)), default=None)


def _cap(budget: Amount, staff: tuple[Worker, ...]) -> Decimal:
    cheapest = min(to_micro(each.price, "price") for each in staff)
    return from_micro(check_budget(budget, max(1, cheapest), "worker"))


@dataclass(frozen=True)
class _Found:
    """A setting with the campaigns that were simulated for it."""

    policy: Policy
    setting: CampaignSetting
    trials: Trials


class _Search:
    """Tries settings, and remembers what came of them."""

    def __init__(self, rehearsal: Rehearsal, policy: Policy, runs: int, tell: Progress) -> None:
        self.rehearsal, self.policy, self.runs, self.tell = rehearsal, policy, runs, tell
        self.tried: list[CampaignSetting] = []

    def run(self, policy: Policy, budget: Decimal | None, runs: int) -> _Found:
        """Simulate campaigns with one setting."""
        target = getattr(policy, "target", 0.0) or None
        said = [f"budget {budget}"] if budget is not None else []
        said += [f"target {target:g}"] if target is not None else []
        what = f"trying {' and '.join(said) or 'everybody'}"
        trials = self.rehearsal.run(policy, runs, budget, tell=self.tell, what=what)
        setting = CampaignSetting(
            budget, target, money_range(trials.spent), middle(trials.errors)
        )
        return _Found(policy, setting, trials)

    def cheapest(self, target_error: float, lever: str) -> tuple[_Found, _Found | None]:
        """The cheapest setting within the target, and the best of the other lever."""
        found = []
        if lever != "target":
            found.append(self._budgets(target_error))
        if lever != "budget" and "target" in {each.name for each in fields(self.policy)}:
            found.append(self._targets(target_error))
        kept = [each for each in found if isinstance(each, _Found)]
        if not kept:
            reached = min(each for each in found if isinstance(each, Reach))
            raise InvalidParameter(
                f"target_error is {target_error:g}: nobody here can keep it; with every worker "
                f"asked about every task {percent(reached.mean)} of the labels are wrong "
                f"({percent(reached.low)} to {percent(reached.high)} in eight campaigns of ten). "
                f"Give {math.ceil(1000 * reached.mean) / 1000:g} or more, or add better workers",
                field="target_error",
            )
        kept.sort(key=lambda each: each.setting.total.mean)
        return kept[0], kept[1] if len(kept) > 1 else None

    def _budgets(self, target_error: float) -> _Found | Reach:
        """Tune the budget."""
        grid = _grid(self.rehearsal)
        return self._first(
            [(self.policy, each) for each in grid], target_error
        )

    def _targets(self, target_error: float) -> _Found | Reach:
        """Tune the error at which the policy calls a task done."""
        asking: Any = self.policy
        return self._first([(replace(asking, target=each), None) for each in TARGETS], target_error)

    def _first(
        self, settings: list[tuple[Policy, Decimal | None]], target_error: float
    ) -> _Found | Reach:
        """The first of settings, ever more careful and dearer, that keeps the target."""
        few = min(SEARCHED_BY, self.runs)

        def tried(at: int, runs: int) -> _Found:
            found = self.run(*settings[at], runs)
            self.tried.append(found.setting)
            return found

        below, at = -1, len(settings) - 1
        last = tried(at, few)
        if last.trials.error > target_error:
            return Reach.of(last)
        while at - below > 1:
            middle_one = (below + at) // 2
            if tried(middle_one, few).trials.error <= target_error:
                at = middle_one
            else:
                below = middle_one
        # What few campaigns showed is looked at again with all of them.
        found = tried(at, self.runs)
        while found.trials.error > target_error and at < len(settings) - 1:
            at += 1
            found = tried(at, self.runs)
        return found if found.trials.error <= target_error else Reach.of(found)


@dataclass(frozen=True, order=True)
class Reach:
    """The error of the most careful setting, where even that is above the target."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, found: _Found) -> Reach:
        """What a setting reached."""
        error = found.setting.error
        return cls(error.mean, error.low, error.high)


def _grid(rehearsal: Rehearsal) -> list[Decimal]:
    """Budgets from one cheap answer a task to all answers that there are."""
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


def _plan(
    rehearsal: Rehearsal,
    chosen: _Found,
    trials: Trials,
    search: _Search,
    *,
    target_error: float | None,
    capped: bool,
    given: bool,
    **parts: Any,
) -> CampaignPlan:
    worlds, setting = rehearsal.worlds, chosen.setting
    lever: Lever = "budget" if setting.target is None else "target"
    how: Literal["given", "searched"] = "given" if capped or given else "searched"
    answered: Array = trials.answers.sum(axis=1) / worlds.tasks
    within = None
    if target_error is not None:
        within = float((trials.errors <= target_error + 1e-12).mean())
    guessed = isinstance(worlds, GuessedWorlds)
    return CampaignPlan(
        tasks=worlds.tasks,
        options=worlds.options,
        policy=label_of(chosen.policy),
        source="guesses" if guessed else "answers",
        lever=lever,
        chosen=how,
        budget=setting.budget,
        target=setting.target,
        target_error=target_error,
        chance=within,
        error=setting.error,
        answers=middle(answered),
        total=setting.total,
        workers=_workers(worlds.staff, trials),
        truths=truths_part(rehearsal),
        tried=tuple(search.tried),
        cannot_know=_cannot_know(worlds, rehearsal.truths),
        settings=_settings(chosen),
        runs=len(trials.each),
        seed=rehearsal.seed,
        **parts,
    )


def _settings(chosen: _Found) -> str:
    """The lines of a campaign's file."""
    budget = chosen.setting.budget
    lines = [] if budget is None else [f'budget = "{budget}"']
    return "\n".join([*lines, policy_text(chosen.policy)]) + "\n"


def _workers(staff: tuple[Worker, ...], trials: Trials) -> tuple[WorkerPart, ...]:
    answers = trials.answers.mean(axis=0)
    money = answers * np.array([to_micro(each.price, "price") for each in staff])
    return tuple(
        WorkerPart(
            id=each.id,
            price=Decimal(str(each.price)),
            answers=float(count),
            cost=from_micro(round(float(paid))),
            share_of_answers=float(count / max(1e-9, answers.sum())),
            share_of_money=float(paid / money.sum()) if money.sum() > 0 else 0.0,
        )
        for each, count, paid in zip(staff, answers, money, strict=True)
    )


def _cannot_know(worlds: PossibleWorlds, truths: int) -> tuple[str, ...]:
    """What no simulation tells, in sentences."""
    found = []
    if isinstance(worlds, GuessedWorlds):
        low, high = worlds.correlation
        found.append(
            "How good the workers are is a guess. The ranges allow for that: a single number counts "
            f"as {GUESS_WORTH} known answers would, a range as equally probable throughout, and "
            "half of what guesses are off by is common to all."
        )
        found.append(
            f"Errors of any two workers are taken to have a correlation of {low:g} to {high:g}, "
            f"within a family {worlds.family_correlation:g}. Nobody knows before answers and truths "
            "are there: record some answers and plan with --answers."
        )
    elif isinstance(worlds, RecordedWorlds):
        found.append(
            f"Tasks are taken to be like the {worlds.recording.tasks} recorded ones, and workers to "
            "stay as they were."
        )
        if worlds.beliefs is not None:
            found.append(
                "Not all truths of the recorded tasks are known: where workers agree on what is "
                "wrong, the error is larger than the plan says. Give --gold."
            )
    if truths < LEAST_TRUTHS:
        found.append(
            "Without truths a campaign can't tell whether its error is within the target; audits "
            "can."
        )
    return tuple(found)
