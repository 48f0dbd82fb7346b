"""What a campaign of questions will cost, by simulation, before any money is spent."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.money import Amount, from_micro
from askwise.core.registry import from_label, label_of
from askwise.data import Beliefs
from askwise.lab.planning import plan as told
from askwise.lab.planning import search
from askwise.lab.planning.budgets import funded, totals
from askwise.lab.planning.plan import Funds, MoneyRange, Plan, PlanPoint, rate
from askwise.lab.planning.questions import Drawn, Sample, draw_questions, problem_of
from askwise.lab.planning.ranges import MIDDLE, middle
from askwise.lab.planning.search import Chosen, Dial, Value
from askwise.lab.planning.settings_text import rule_text, settings_text
from askwise.lab.simulate import Progress, check_budget, check_seed, unseen
from askwise.policies import AwaitsTruth, KnowsTruth, Policy, policies
from askwise.stopping import StoppingRule

TARGET = 0.05
"""The error that is aimed at where nobody says otherwise."""


def plan(
    beliefs: Beliefs,
    *,
    target_error: float | None = None,
    questions: int = 100,
    policy: str = "virt-ucb",
    rule: str = "posterior",
    budget: Amount | None = None,
    horizon: int | None = None,
    runs: int = 5000,
    seed: int = 0,
    progress: Progress = unseen,
) -> Plan:
    """Simulate questions as they are believed to be; say what a campaign of them will cost.

    Parameters
    ----------
    beliefs : Beliefs
        Of crowds, their prices and accuracies, and of the kinds of questions.
    target_error : float, optional
        The share of questions that may end with a wrong option; 0.05 unless the rule's label sets
        its dial. ``e-process``, which guarantees it, is set to it; of other rules the dial is
        found by simulation, as bold as keeps the simulated error at the target.
    questions : int
        How many questions the campaign will have.
    policy, rule : labels
        ``name`` or ``name(parameter=value)``. A rule whose label sets the dial is planned so.
        ``posterior`` is told the accuracies, unless its label says others (``accuracy=None``:
        none) or it learns them itself (``learn``).
    budget : amount, optional
        Then the plan says whether it will do, and how many questions it finishes. If it finishes
        more of them one after the other than in turn, the policy is told so (``open_at_once``),
        unless its label says how many questions are under way.
    horizon : int, optional
        The most answers to a question; 1000 for rules that could go on for ever.
    runs : int
        How many questions to simulate.
    progress : callable, optional
        Told ``(what, done, total)``.

    Examples
    --------
    >>> panel = Beliefs([{"id": "panel", "price": "0.10", "accuracy": 1}])
    >>> made = plan(panel, rule="fixed(n=3)", questions=20, runs=100)
    >>> str(made.total.mean), made.error.mean
    ('6', 0.0)
    """
    whole(questions, "questions", least=1)
    whole(runs, "runs", least=100)
    check_seed(seed)
    if horizon is not None:
        whole(horizon, "horizon", least=1)
    if target_error is not None:
        between(target_error, "target_error", 0, 1)
    asking = _policy(policy, beliefs)
    chosen = search.read_rule(rule, horizon).informed(beliefs)
    chosen.rule.check(problem_of(beliefs, 1))
    cheapest = min(crowd.micro for crowd in beliefs.crowds)
    cap = None if budget is None else check_budget(budget, cheapest, "crowd")
    if target_error is None and not chosen.given:
        target_error = TARGET
    drawn = draw_questions(beliefs, (asking, chosen.rule), questions, runs, seed)
    if chosen.given or chosen.direct:
        found = _asked(drawn, asking, chosen, target_error, progress)
    else:
        assert target_error is not None
        found = _searched(drawn, asking, chosen, target_error, progress)
    funds = None
    if cap is not None:
        advised, funds = funded(drawn, found.policy, found.sample, questions, cap)
        found = replace(found, policy=advised)
    return _plan(drawn, found, questions, target_error, funds)


def _policy(label: str, beliefs: Beliefs) -> Policy:
    policy = policies.make(from_label(label))
    remedy, wrong = "choose one that asks until a question is answered", ""
    if isinstance(policy, KnowsTruth):
        wrong, remedy = "must be told the truth", "it is unknown beforehand; choose another"
    elif policy.needs_budget and "options" in policy.outcomes:
        wrong = "spends a budget as a whole"
    elif isinstance(policy, AwaitsTruth):
        wrong = "learns from the truth of tasks"
    if wrong:
        raise InvalidParameter(
            f"policy is {policy.name!r}, which {wrong}: {remedy}, such as virt-ucb", field="policy"
        )
    try:
        policy.check(problem_of(beliefs, 1))
    except InvalidProblem as refused:
        if refused.field == "policy":
            raise
        raise InvalidParameter(
            f"policy is {policy.name!r}, which is not for crowds that are asked again ({refused}): "
            f"{remedy}, such as virt-ucb",
            field="policy",
        ) from None
    return policy


@dataclass(frozen=True)
class _TunedRun:
    """Policy and rule as they were set, and the result."""

    policy: Policy
    rule: StoppingRule
    sample: Sample
    dial: Dial | None
    searched: tuple[Value, Value] | None = None


def _asked(
    drawn: Drawn, policy: Policy, chosen: Chosen, target: float | None, tell: Progress
) -> _TunedRun:
    """Ask with the dial as given, or at the target."""
    if not chosen.given and target is not None:
        chosen = replace(chosen, rule=chosen.turned(target))
    how: Literal["given", "target"] = "given" if chosen.given else "target"
    dial = Dial(chosen.dial, chosen.value, how) if chosen.dial else None
    sample = drawn.ask(policy, chosen.rule, tell=tell, what="simulating")
    return _TunedRun(policy, chosen.rule, sample, dial)


def _searched(
    drawn: Drawn, policy: Policy, chosen: Chosen, target: float, tell: Progress
) -> _TunedRun:
    """Ask with the boldest setting of the dial that keeps the target on these very questions."""
    beliefs = drawn.beliefs
    settings = chosen.settings(beliefs.options, [crowd.micro for crowd in beliefs.crowds])
    errors: dict[int, float] = {}
    best: _TunedRun | None = None
    sure = True

    def error_at(at: int) -> float:
        nonlocal best, sure
        value = settings[at]
        asking, rule = search.told(policy, chosen.dial, value), chosen.turned(value)
        sample = drawn.ask(asking, rule, tell=tell, what=f"trying {chosen.dial} = {value}")
        # Of those that keep the target the boldest; without any, the nearest to it.
        keeps = [each for each, error in errors.items() if error <= target]
        if sample.error <= target:
            better = at < min(keeps, default=len(settings))
        else:
            better = not keeps and sample.error < min(errors.values(), default=2.0)
        if better:
            best = _TunedRun(asking, rule, sample, Dial(chosen.dial, value, "searched"))
        errors[at] = sample.error
        sure = bool(sample.confident.any())
        return sample.error

    # Where nothing ends with confidence, a more careful setting changes nothing.
    begin = chosen.begin(settings, target)
    search.first_within(len(settings), error_at, target, lambda at: not sure, begin)
    assert best is not None
    return replace(best, searched=(settings[min(errors)], settings[max(errors)]))


def _plan(
    drawn: Drawn, found: _TunedRun, questions: int, target: float | None, funds: Funds | None
) -> Plan:
    sample, rule = found.sample, found.rule
    beliefs, runs = drawn.beliefs, len(sample.spent)
    answers = sample.answers.sum(axis=1)
    mean = float(sample.spent.mean())
    cost = _money(mean, sample.spent)
    places, sums = totals(sample.spent, questions, np.random.default_rng([drawn.seed, 1]))
    path = tuple(
        # One question is what was simulated: nothing need be drawn again.
        PlanPoint(place, cost if place == 1 else _money(mean * place, column))
        for place, column in zip(places, sums, strict=True)
    )
    return Plan(
        questions=questions,
        options=beliefs.options,
        policy=label_of(found.policy),
        rule=rule_text(rule),
        horizon=getattr(rule, "horizon", None),
        guarantees=rule.guarantees,
        promise=rule.promise,
        runs=runs,
        seed=drawn.seed,
        answers=middle(answers),
        cost=cost,
        total=path[-1][1],
        error=rate(int(sample.wrong.sum()), runs),
        confident_error=rate(int((sample.wrong & sample.confident).sum()), runs),
        unsure=1 - float(sample.confident.mean()),
        kinds=_kinds(drawn, sample),
        crowds=_crowds(beliefs, sample),
        path=path,
        settings=settings_text(found.policy, rule),
        target_error=target,
        dial=found.dial,
        searched=found.searched,
        funds=funds,
    )


def _money(mean: float, values: Array) -> MoneyRange:
    low, high = np.quantile(values, MIDDLE, method="inverted_cdf")
    return MoneyRange(*(from_micro(round(each)) for each in (mean, low, high)))


def _kinds(drawn: Drawn, sample: Sample) -> tuple[told.KindPart, ...]:
    """What each kind of question takes; without kinds, thirds by how good the best crowd is."""
    best, beliefs = drawn.accuracy.max(axis=1), drawn.beliefs
    if beliefs.kinds:
        names = [kind.name for kind in beliefs.kinds]
        groups = [np.flatnonzero(drawn.kinds == at) for at in range(len(names))]
    elif best.max() > best.min():
        # Equals go by how good the crowds are together.
        hardest_first = np.lexsort((drawn.accuracy.mean(axis=1), best))
        names = ["easy", "medium", "hard"]
        groups = list(reversed(np.array_split(hardest_first, 3)))
    else:
        return ()
    answers = sample.answers.sum(axis=1)
    return tuple(
        told.KindPart(
            name=name,
            share=len(group) / len(best),
            best_accuracy=(float(best[group].min()), float(best[group].max())),
            answers=float(answers[group].mean()),
            cost=from_micro(round(float(sample.spent[group].mean()))),
            share_of_money=_ratio(sample.spent[group].sum(), sample.spent.sum()),
            error=rate(int(sample.wrong[group].sum()), len(group)),
        )
        for name, group in zip(names, groups, strict=True)
    )


def _crowds(beliefs: Beliefs, sample: Sample) -> tuple[told.CrowdPart, ...]:
    answers = sample.answers.sum(axis=0)
    money = answers * np.array([crowd.micro for crowd in beliefs.crowds])
    return tuple(
        told.CrowdPart(
            id=crowd.id,
            price=price,
            answers=float(count / len(sample.spent)),
            cost=from_micro(round(float(spent / len(sample.spent)))),
            share_of_answers=_ratio(count, answers.sum()),
            share_of_money=_ratio(spent, money.sum()),
        )
        for crowd, price, count, spent in zip(
            beliefs.crowds, beliefs.prices, answers, money, strict=True
        )
    )


def _ratio(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else 0.0
