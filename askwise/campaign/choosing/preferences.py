"""The table of choices: which policy, stopping rule and aggregation fit a campaign, and why."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from askwise.campaign.choosing.situation import CONFIDENCE, Situation
from askwise.campaign.choosing.terms import AUTO, AutoTerms
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.policies import LimitsSize, policies

USUAL_ALPHA = 0.1
"""Of a set of workers who bid, where no target is named: the default of the policies."""

HORIZON = 1000
"""The most answers to a question where no budget ends it, as in ``askwise plan``."""


TRY_AFTER = 4.0
"""How late ``virt-ucb`` tries an expensive crowd: as in the study ``survey-prices``."""

RECORD = 100
"""Answers that a crowd's record on other questions counts for: with it, a crowd that guesses for
nothing no longer decides questions."""

PartSpec = dict[str, Any]
"""A policy, rule or aggregator as the description of a campaign names it."""


@dataclass(frozen=True)
class AutoChoice:
    """What was chosen: specs of parts, None where the author's own or none is used, and why."""

    policy: PartSpec
    stopping: PartSpec | None
    aggregation: PartSpec | None
    because: str


@dataclass(frozen=True)
class Preference:
    """A row of the table: when it applies, what is chosen then, and why."""

    when: str
    """In words, for the documentation."""
    applies: Callable[[Situation], bool]
    policy: str
    why: str
    """What the choice is made for, in words."""
    ends: str
    """When a campaign so run ends, or a question of it; the budget is added where there is one."""
    parameters: Callable[[Situation], dict[str, Any]] = field(default=lambda s: {})
    rule: str | None = None
    dial: Callable[[Situation], dict[str, Any]] = field(default=lambda s: {})
    """The parameters of the rule."""
    aggregation: str | None = None

    @property
    def chosen(self) -> str:
        """Policy and rule by name, for the documentation."""
        return self.policy if self.rule is None else f"{self.policy} until {self.rule}"

    def choice(self, situation: Situation) -> AutoChoice:
        """The choice in full."""
        budget, named = situation.problem.budget, situation.rule
        stopping: PartSpec | None = None
        ends = self.ends.format(error=f"{situation.error:g}")
        if named is not None:
            closed = f"by the stopping rule {named.name!r}"
            alone = not ends or self.rule is not None
            ends = f"a task ends {closed}" if alone else f"{ends}, or {closed}"
        elif self.rule is not None:
            stopping = {"name": self.rule, **self.dial(situation)}
            if budget is None:
                stopping["horizon"] = HORIZON
                ends += f", or after {HORIZON:,} answers"
        return AutoChoice(
            {"name": self.policy, **self.parameters(situation)},
            stopping,
            None if situation.aggregator or not self.aggregation else {"name": self.aggregation},
            f"{self.policy}: {self.why}; {ends}{_by_budget(ends, budget)}",
        )


def _by_budget(ends: str, budget: int | None) -> str:
    if budget is None:
        return "" if ends else "ends when everyone has been asked about every task"
    return ", or when the budget is spent" if ends else "ends when the budget is spent"


def _target(situation: Situation) -> dict[str, Any]:
    target = situation.terms.target
    return {} if target is None else {"target": target}


def _by_record(situation: Situation) -> dict[str, Any]:
    """Weigh crowds by what they have shown."""
    return {"error": situation.error, "learn": RECORD}


SURELY_QUICK = 20
"""This many workers have a million sets, among which the cheapest is found exactly at once."""


def _alpha(situation: Situation) -> float:
    return USUAL_ALPHA if situation.terms.target is None else situation.terms.target


def _solver(situation: Situation) -> str:
    """One for which truthfulness is proved: exact where there are few sets."""
    return "exact" if len(situation.problem.workers) <= SURELY_QUICK else "classes"


def _when_worth_it(situation: Situation) -> dict[str, Any]:
    """An expensive crowd is not asked about a question that cheap ones answer at once."""
    return {"try_after": TRY_AFTER}


PREFERENCES = (
    Preference(
        "workers bid (`mechanism`), and exploration may end when enough is known",
        lambda s: s.mechanism.bidding,
        "ccb-s",
        "workers bid, and the mechanism is truthful if a lower bid never brings less work",
        "ends when every task has been put to a set of workers that reaches the target",
        lambda s: {"alpha": _alpha(s), "solver": _solver(s)},
    ),
    Preference(
        "workers bid, and the mechanism needs exploration of a fixed length",
        lambda s: s.mechanism.bidding,
        "ccb-fixed",
        "workers bid, and the mechanism is truthful if exploration does not depend on bids",
        "ends when every task has been put to a set of workers that reaches the target",
        lambda s: {"alpha": _alpha(s), "solver": _solver(s)},
    ),
    Preference(
        "a utility, and a budget",
        lambda s: not s.options and s.problem.budget is not None,
        "gittins-knapsack",
        "the most utility for a budget from workers whose quality must be learned",
        "",
    ),
    Preference(
        "a utility, and no budget",
        lambda s: not s.options,
        "thompson-knapsack",
        "utility from workers whose quality must be learned, without a budget to plan for",
        "ends when limits are reached, all tasks have been asked about or you stop it",
    ),
    Preference(
        "crowds, with `guarantee`",
        lambda s: s.asks_crowds and s.terms.guarantee,
        "virt-ucb",
        "crowds that may be asked again, and an error that must be kept on every question",
        "a question ends when e-process has shown an error of at most {error}",
        _when_worth_it,
        rule="e-process",
        dial=lambda s: {"delta": s.error},
        aggregation="majority",
    ),
    Preference(
        "crowds, two options",
        lambda s: s.asks_crowds and s.options == 2,
        "virt-ucb",
        "crowds that may be asked again about two options",
        "a question ends when posterior puts its error at {error} or less",
        _when_worth_it,
        rule="posterior",
        dial=_by_record,
        aggregation="majority",
    ),
    Preference(
        "crowds, three options or more, and you name the rule `gap` or `posterior`",
        lambda s: s.asks_crowds and s.rule is not None and s.rule.name in ("gap", "posterior"),
        "lp-thompson",
        "crowds that may confuse three or more options differently, so that a mixture tells most",
        "",
        aggregation="majority",
    ),
    Preference(
        "crowds, three options or more, and you name no rule, or `joint-glr`",
        lambda s: s.asks_crowds and s.compares_options
        and (s.rule is None or s.rule.name == "joint-glr"),
        "glr-directed",
        "crowds that may confuse three or more options differently, and are judged together",
        "a question ends when joint-glr puts its error at about {error}",
        rule="joint-glr",
        dial=lambda s: {"beta": round(math.log(1.0 / s.error), 6)},
        aggregation="majority",
    ),
    Preference(
        "crowds, three options or more, and another rule or too many options and crowds for these",
        lambda s: s.asks_crowds,
        "virt-ucb",
        "crowds that may be asked again, too many or with a rule that other policies do not fit",
        "a question ends when posterior puts its error at {error} or less",
        _when_worth_it,
        rule="posterior",
        dial=lambda s: {"error": s.error},
        aggregation="majority",
    ),
    Preference(
        "labels, two options, a `target`, and the truth of every task is told (`truths`)",
        lambda s: s.asks_labels and s.terms.truths and s.terms.target is not None
        and s.may_be_assured,
        "ccb-ns",
        "like yes-or-no tasks whose truth is told afterwards, each to be right at the least cost",
        "ends when every task has been put to a set of workers whose error is at most {error}",
        lambda s: {"alpha": s.error, "xi": round(0.3 * s.error, 6)},
        aggregation="majority",
    ),
    Preference(
        "labels, a `target` with `guarantee`, judges and a trusted worker who does not audit",
        lambda s: s.asks_labels and s.terms.guarantee and s.can_cascade,
        "cascade",
        "judges first and the trusted last, so that the error is kept whatever the judges are",
        "ends when at most {error} of the labels are wrong, with 90% confidence",
        lambda s: {"error": s.error, "confidence": CONFIDENCE, "truths": s.sample},
    ),
    Preference(
        "labels, a `target`, many tasks, cheap judges, a trusted worker, and the money for both",
        lambda s: s.asks_labels and s.terms.target is not None and s.pays_to_cascade,
        "cascade",
        "cheap judges first and the expensive trusted last costs least for a target on all labels",
        "ends when at most {error} of the labels are wrong, with 90% confidence",
        lambda s: {"error": s.error, "confidence": CONFIDENCE, "truths": s.sample},
    ),
    Preference(
        "labels, and a `target`",
        lambda s: s.asks_labels and not s.must_guarantee and s.terms.target is not None,
        "hem",
        "labels from several workers of unknown skill",
        "ends when the estimated error of every label is at most {error}",
        _target,
    ),
    Preference(
        "labels, a `target`, and too many options and workers for `hem`",
        lambda s: s.asks_labels and not s.must_guarantee and s.terms.target is not None,
        "random-pairs",
        "labels with more options and workers than a policy that learns can go over",
        "a task ends when posterior puts its error at {error} or less",
        rule="posterior",
        dial=lambda s: {"error": s.error},
        aggregation="majority",
    ),
    Preference(
        "labels",
        lambda s: s.asks_labels and s.terms.target is None,
        "hem",
        "labels from several workers of unknown skill",
        "",
    ),
    Preference(
        "labels, and too many options and workers for `hem`",
        lambda s: s.asks_labels and s.terms.target is None,
        "random-pairs",
        "labels with more options and workers than a policy that learns can go over",
        "",
        aggregation="majority",
    ),
)  # fmt: skip
"""The table of choices: of those that apply, the first whose policy takes the problem."""


def choose_parts(situation: Situation) -> AutoChoice:
    """Choose what fits, or say what is missing."""
    _check_terms(situation)
    refusal: AskwiseError | None = None
    for row in PREFERENCES:
        if not row.applies(situation):
            continue
        choice = row.choice(situation)
        try:
            _check_accepted(situation, choice)
        except AskwiseError as error:
            refusal = refusal or error
        else:
            return choice
    raise InvalidProblem(
        f"policy {AUTO!r} finds no policy for this campaign: {refusal}",
        field=None if refusal is None else refusal.field,
    )


def _check_accepted(situation: Situation, choice: AutoChoice) -> None:
    """Refuse a choice whose policy does not take the problem, its size or the mechanism."""
    policy, problem = policies.make(choice.policy), situation.problem
    policy.check(problem)
    if isinstance(policy, LimitsSize):
        policy.check_size(len(problem.options), len(problem.workers))
    situation.mechanism.check(problem, policy)


def _check_terms(situation: Situation) -> None:
    """Refuse what is asked for where nothing could keep it."""
    terms, rule = situation.terms, situation.rule
    if terms == AutoTerms():
        return
    if not situation.options:
        wrong = "target" if terms.target is not None else "truths"
        raise InvalidParameter(
            f"{wrong} is given in a utility campaign, which has no labels: leave it out",
            field=wrong,
        )
    if situation.asks_crowds and rule is not None and terms.target is not None:
        raise InvalidParameter(
            f"target is {terms.target}, and stopping is {rule.name!r}, which says itself when a "
            "question ends: leave one of the two out",
            field="target",
        )
    if not situation.must_guarantee or situation.asks_crowds or situation.mechanism.bidding:
        return
    assured = terms.truths and situation.may_be_assured
    if not assured and not situation.can_cascade:
        raise InvalidParameter(
            "guarantee is true, and nothing here can guarantee the error of labels: add judges and "
            "a worker with trusted=True and name neither stopping nor aggregation, or give "
            "certify, or leave guarantee out",
            field="guarantee",
        )
