"""What a campaign of people and models will cost, by simulation, before any money is spent."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, one_of, whole
from askwise.core.errors import InvalidParameter
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem import Worker
from askwise.core.registry import from_label, label_of
from askwise.lab.planning.ranges import middle
from askwise.lab.planning.settings_text import policy_text
from askwise.lab.rehearsing.caveats import cannot_know
from askwise.lab.rehearsing.extras import cascade_part, certificate_part, truths_part
from askwise.lab.rehearsing.pace import Doing, SearchPace, unheard
from askwise.lab.rehearsing.plan import CampaignPlan, Lever, WorkerPart
from askwise.lab.rehearsing.search import Found, SettingSearch
from askwise.lab.rehearsing.trials import Rehearsal, Trials
from askwise.lab.rehearsing.worlds import GuessedWorlds, PossibleWorlds, RecordedWorlds
from askwise.lab.simulate import Progress, check_budget, check_seed, unseen
from askwise.policies import (
    AsksCrowds,
    Assures,
    AwaitsTruth,
    KnowsTruth,
    NeedsStopping,
    Policy,
    policies,
)

TARGET = 0.05
"""The error that is aimed at where nobody says otherwise."""

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
    doing: Doing = unheard,
) -> CampaignPlan:
    """Simulate campaigns as they may go; say what the target takes.

    Parameters
    ----------
    worlds : PossibleWorlds
        Workers as they are guessed or were recorded, and the tasks.
    target_error : float, optional
        The share of labels that may be wrong, averaged over the campaigns; 0.05 unless a budget
        or the policy's target is given.
    policy : label
        One that labels tasks within a budget; or one that assures the accuracy of each and is told
        truths as it learns (``ccb-ns``), planned with ``target_error`` as its ``alpha``.
    lever : "cheapest", "budget" or "target"
        What is tuned until the error is within the target: how much is spent, the error at which
        the policy calls a task done, or whichever costs less on average.
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
    doing : callable, optional
        Told in words which step it is, of how many at most, and about how long the rest takes.

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
    asking = _policy(policy, worlds, target_error)
    given = getattr(asking, "target", 0.0) > 0.0 or isinstance(asking, Assures)
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
    cap = None if budget is None else _cap(budget, worlds.staff)
    pace = SearchPace(progress, doing, last=[runs] if cap is not None or given else [])
    search = SettingSearch(rehearsal, asking, runs, pace)
    chosen, other = None, None
    if target_error is not None and not given:
        chosen, other = search.cheapest(target_error, lever)
    needed = None
    if cap is not None or given:
        needed = chosen.setting if chosen is not None else None
        chosen, other = search.try_setting(asking, cap, runs), None
    assert chosen is not None
    trials = chosen.trials
    certificate = None
    share = certify if certify is not None else target_error
    if auditor is not None and share is not None:
        certificate = certificate_part(
            trials, error=share, confidence=confidence, by=auditor.id,
            price=Decimal(str(auditor.price)), audits=audits, seed=seed, tell=pace.aside,
        )  # fmt: skip
    cascade = None
    if target_error is not None:
        cascade = cascade_part(rehearsal, runs, target_error, tell=pace.aside)
    return _plan(
        rehearsal, chosen, trials, search,
        target_error=target_error, certificate=certificate, needed=needed, given=given,
        cascade=cascade, alternative=None if other is None else other.setting,
        capped=cap is not None,
    )  # fmt: skip


def _policy(label: str, worlds: PossibleWorlds, target_error: float | None) -> Policy:
    policy = policies.make(from_label(label))
    if isinstance(policy, Assures):
        if isinstance(worlds, RecordedWorlds) and worlds.beliefs is not None:
            raise InvalidParameter(
                f"policy is {policy.name!r}, which waits for truths, and those of some recorded "
                "tasks are not known: give the truth of all of them",
                field="policy",
            )
        if target_error is not None:
            assuring: Any = policy
            return replace(assuring, alpha=target_error)  # type: ignore[no-any-return]
        return policy
    wrong = ""
    if isinstance(policy, KnowsTruth | AwaitsTruth):
        wrong = "must be told the truth"
    elif isinstance(policy, NeedsStopping):
        wrong = "stays on a task until a stopping rule closes it"
    elif isinstance(policy, AsksCrowds):
        wrong = "asks crowds again and again"
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
                f"by is {by!r}, {'who is not trusted' if named else 'who is not a worker'}: name "
                "one whose column trusted says yes",
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


def _plan(
    rehearsal: Rehearsal,
    chosen: Found,
    trials: Trials,
    search: SettingSearch,
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
        tried=search.tried,
        cannot_know=(*cannot_know(worlds, rehearsal.truths), *_waits(chosen)),
        settings=_settings(chosen),
        runs=len(trials.each),
        seed=rehearsal.seed,
        **parts,
    )


def _waits(chosen: Found) -> list[str]:
    """How many truths a policy that waits for them was told."""
    if not isinstance(chosen.policy, Assures):
        return []
    told = middle(chosen.trials.told)
    return [
        f"Policy {chosen.policy.name!r} was told the truths of {told.mean:.0f} tasks as it learned "
        f"({told.low:.0f} to {told.high:.0f} in eight campaigns of ten); what it costs to find "
        "these out is not in the plan."
    ]


def _settings(chosen: Found) -> str:
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
