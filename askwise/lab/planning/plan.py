"""A plan: what was found out about a campaign beforehand, and how it is told."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, NamedTuple

from askwise.campaign.views.quality import clopper_pearson
from askwise.core.json_types import (
    Count,
    JsonLimits,
    Level,
    NumberOfOptions,
    Positive,
    Quantity,
    Share,
    Word,
)
from askwise.core.jsonable import Jsonable
from askwise.core.registry import from_label
from askwise.core.shown import ShownResult
from askwise.figures import draw
from askwise.lab.planning.pictures import cost_picture, count
from askwise.lab.planning.search import Dial, Value


@dataclass(frozen=True, slots=True)
class Estimate(Jsonable):
    """An expected value and two ends: of a 95% interval, or those between which 8 of 10 values are.

    Attributes
    ----------
    mean : float
        The expected value.
    low : float
        The lower end.
    high : float
        The upper end.
    """

    mean: Quantity
    low: Quantity
    high: Quantity


@dataclass(frozen=True, slots=True)
class MoneyRange(Jsonable):
    """Expected money, and the ends between which 8 of 10 campaigns (or questions) are.

    Attributes
    ----------
    mean : Decimal
        The expected amount.
    low : Decimal
        The lower end.
    high : Decimal
        The upper end.
    """

    mean: Decimal
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class KindPart(Jsonable):
    """What questions of one kind take, on average.

    Attributes
    ----------
    name : str
        The kind.
    share : float
        The share of the questions that are of this kind.
    best_accuracy : tuple[float, float]
        The range of the best crowd's accuracy, from the lowest to the highest.
    answers : float
        Expected answers to a question.
    cost : Decimal
        The expected cost of a question.
    share_of_money : float
        The share of all money that goes to these questions.
    error : Estimate
        The share of wrong answers, with its 95% interval.
    """

    name: Word
    share: Share
    best_accuracy: tuple[float, float]
    answers: Quantity
    cost: Decimal
    share_of_money: Share
    error: Estimate


@dataclass(frozen=True, slots=True)
class CrowdPart(Jsonable):
    """What one crowd gives and gets, for each question.

    Attributes
    ----------
    id : str
        The crowd.
    price : Decimal
        The price of an answer.
    answers : float
        Expected answers to a question.
    cost : Decimal
        The expected cost of a question.
    share_of_answers : float
        Their share of all answers.
    share_of_money : float
        Their share of all money.
    """

    id: Word
    price: Decimal
    answers: Quantity
    cost: Decimal
    share_of_answers: Share
    share_of_money: Share


@dataclass(frozen=True, slots=True)
class Funds(Jsonable):
    """How far a budget goes.

    Attributes
    ----------
    amount : Decimal
        The budget.
    chance : float
        The chance that it suffices for all questions.
    finished : Estimate
        How many questions it finishes: expected, and the 80% range.
    in_turn : Estimate or None
        How many it would finish if all open questions were asked about in turn, where the plan has
        them finished one after the other as that finishes more; else None.
    """

    amount: Decimal
    chance: Share
    finished: Estimate
    in_turn: Estimate | None = None


class PlanPoint(NamedTuple):
    """What a campaign of fewer questions costs: expected, and the 80% range.

    Attributes
    ----------
    questions : int
        How many questions it has.
    money : MoneyRange
        What it costs; written as ``mean``, ``low`` and ``high``.
    mean : Decimal
        The expected amount.
    low : Decimal
        The lower end.
    high : Decimal
        The upper end.
    """

    questions: int
    money: MoneyRange

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as strings."""
        return {"questions": self.questions, **self.money.to_json()}

    @classmethod
    def json_fields(cls) -> dict[str, Any]:
        """The type of each property of the JSON, with its limits."""
        return {"questions": Positive, **MoneyRange.json_fields()}


@dataclass(frozen=True)
class Plan(ShownResult, Jsonable):
    """What a campaign will cost and how often it will be wrong, as simulated.

    Attributes
    ----------
    questions : int
        Questions in the campaign.
    options : int
        Options of a question.
    policy : str
        The label of the policy.
    rule : str
        The label of the stopping rule, with the dial.
    horizon : int or None
        The most answers to a question; None without a limit.
    guarantees : bool
        Whether the rule keeps a stated error on every question.
    promise : str
        What exactly the rule guarantees or trades.
    runs : int
        Simulated questions.
    seed : int
        The seed of all draws.
    answers : Estimate
        Answers to a question: expected, and the 80% range.
    cost : MoneyRange
        The cost of a question: expected, and the 80% range.
    total : MoneyRange
        The cost of all questions: expected, and the 80% range.
    error : Estimate
        The share of questions that end with a wrong option, with its 95% interval.
    confident_error : Estimate
        The share of questions that are closed with confidence and wrong, with its 95% interval.
    unsure : float
        The share of questions that end without confidence.
    kinds : tuple of KindPart
        Kinds of questions, as given; else thirds by how good the best crowd is. Empty if all
        questions are alike.
    crowds : tuple of CrowdPart
        What each crowd gives and gets.
    path : tuple of PlanPoint
        What campaigns of fewer questions cost.
    settings : str
        Policy and rule as lines of a campaign's TOML file.
    target_error : float or None
        The error aimed at; None if the rule's label sets the dial and no target was given.
    dial : Dial or None
        Where the rule's dial is; None if it has none.
    searched : tuple[Value, Value] or None
        The ends between which the dial was tried; None where nothing was searched.
    funds : Funds or None
        How far the budget goes; None if none was given.
    budget
        How far the budget goes; None if none was given.
    reached : bool or None
        Whether the simulated error is at most the target; None without one.
    remarks : tuple of str
        What should not be overlooked, in sentences.
    """

    written: ClassVar = (
        *("questions", "options", "policy", "rule", "guarantees", "promise", "dial"),
        *("target_error", "reached", "error", "confident_error", "unsure", "answers", "cost"),
        *("total", "kinds", "crowds", "budget", "path", "remarks", "settings", "runs", "seed"),
    )

    questions: Positive
    options: NumberOfOptions
    policy: str
    rule: str
    horizon: int | None
    guarantees: bool
    promise: str
    runs: Annotated[int, JsonLimits(minimum=100)]
    seed: Count
    answers: Estimate
    cost: MoneyRange
    total: MoneyRange
    error: Estimate
    confident_error: Estimate
    unsure: Share
    kinds: tuple[KindPart, ...]
    crowds: Annotated[tuple[CrowdPart, ...], JsonLimits(minItems=1)]
    path: Annotated[tuple[PlanPoint, ...], JsonLimits(minItems=1)]
    settings: str
    target_error: Level | None
    dial: Dial | None
    searched: tuple[Value, Value] | None
    funds: Funds | None

    @property
    def reached(self) -> bool | None:
        """Whether the simulated error is at most the target; None without a target."""
        return None if self.target_error is None else self.error.mean <= self.target_error

    @property
    def found(self) -> str:
        """How the dial was found, in a sentence; empty where nothing was searched."""
        if self.dial is None or self.searched is None or not self.reached:
            return ""
        name, value = self.dial.name, self.dial.value
        return f"{name} = {value} is the boldest setting that keeps the target, by simulation."

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should not overlook, in sentences."""
        return tuple(_remarks(self))

    @property
    def budget(self) -> Funds | None:
        """How far the budget goes, under the name that it has in JSON."""
        return self.funds

    @property
    def headline(self) -> str:
        """The result in one line."""
        return (
            f"What {count(self.questions, 'question')} will cost: about {amount(self.total.mean)}"
        )

    def picture(self) -> dict[str, Any]:
        """What `askwise.figures.draw` makes a picture of: the cost by number of questions."""
        path = [(at, float(m.mean), float(m.low), float(m.high)) for at, m in self.path]
        funds = None if self.funds is None else self.funds.amount
        return cost_picture(self.headline, path, self.runs, funds)

    def plot(self) -> Any:
        """What campaigns cost, by number of questions.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        return draw(**self.picture())

    def _headline(self) -> str:
        error = f"{percent(self.error.mean)} of the questions end with a wrong option"
        return ". ".join([self.headline, error, *self.remarks[:1]])

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"questions": at, "mean": money.mean, "low": money.low, "high": money.high}
            for at, money in self.path
        ]


def _remarks(plan: Plan) -> list[str]:
    found = []
    target, dial, error = plan.target_error, plan.dial, plan.error
    if target is not None and error.mean > target:
        if dial is not None and plan.searched is not None:
            first, last = plan.searched
            limit = f" with at most {plan.horizon} answers per question" if plan.horizon else ""
            found.append(
                f"The target is out of reach: no {dial.name} tried, from {first} to {last}, has an "
                f"error of {target:g}{limit}. The best found is {error.mean:.3g}, with "
                f"{dial.name} = {dial.value}; the plan is made for it."
            )
        elif error.low > target:
            remedy = " or a smaller target" if dial is not None and dial.chosen == "target" else ""
            found.append(
                f"The error is above the target of {target:g}: on these questions the rule does "
                f"not keep it. Give another rule{remedy}."
            )
        else:
            found.append("Whether the error is above the target is not certain: give more runs.")
    if plan.funds is not None and plan.funds.in_turn is not None:
        found.append(
            "The budget is short: the plan finishes one question after the other (open_at_once = "
            f"1), about {plan.funds.finished.mean:.0f} of {plan.questions}. Asked about in turn, "
            f"about {plan.funds.in_turn.mean:.0f} would be finished."
        )
    if plan.unsure > 0:
        horizon = plan.horizon
        at_limit = f", most of them at the horizon of {horizon} answers" if horizon else ""
        found.append(
            f"{percent(plan.unsure)} of the questions end without confidence{at_limit}; "
            f"{percent(plan.confident_error.mean)} of all are wrong with confidence."
        )
    spec = from_label(plan.rule) if "learn=" in plan.rule else ""
    if isinstance(spec, dict) and spec.get("learn"):
        found.append(
            f"The rule learns how good the crowds are (learn = {spec['learn']}), so it is not told "
            "the accuracies that you believe: these only say how the crowds answer in the "
            "simulation."
        )
    return found


def percent(share: float) -> str:
    """A share for people.

    Examples
    --------
    >>> [percent(each) for each in (0, 0.0004, 0.0345, 0.5, 0.999, 1)]
    ['0%', 'under 0.1%', '3.5%', '50%', 'over 99.5%', '100%']
    """
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.995 < share < 1:
        return "over 99.5%"
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"


def amounts(*money: Decimal) -> list[str]:
    """Sums that stand beside each other, for people: equally many decimals, at least two.

    Examples
    --------
    >>> amounts(Decimal("71.264")), amounts(Decimal("0.3"), Decimal("0.04125"))
    (['71.26'], ['0.3000', '0.0412'])
    >>> amounts(Decimal("0.3"), Decimal("1.2"))
    ['0.30', '1.20']
    """
    largest = max(money)
    places = 2 if largest >= 10 else 3 if largest >= 1 else 4 if largest >= Decimal("0.01") else 6
    texts = [f"{each:.{places}f}" for each in money]
    while places > 2 and all(text.endswith("0") for text in texts):
        texts = [text[:-1] for text in texts]
        places -= 1
    return texts


def around(mean: str, low: str, high: str) -> str:
    """An expected value with the range of eight cases in ten, which it may be outside of.

    Examples
    --------
    >>> around("46.96", "31.20", "67.20")
    '46.96 (31.20 to 67.20)'
    >>> around("26.80", "24.00", "24.00")
    '26.80 on average (24.00 in eight cases of ten, far more in a few)'
    """
    few = skewed(mean, low, high)
    if not few:
        return f"{mean} ({low} to {high})"
    ends = low if low == high else f"{low} to {high}"
    return f"{mean} on average ({ends} in eight cases of ten, {few})"


def skewed(mean: str, low: str, high: str) -> str:
    """What draws an expected value out of its range, as they are shown; empty if nothing does.

    Examples
    --------
    >>> skewed("26.80", "24.00", "24.00"), skewed("2", "1", "3")
    ('far more in a few', '')
    """
    if float(mean) > float(high):
        return "far more in a few"
    return "far less in a few" if float(mean) < float(low) else ""


def amount(money: Decimal) -> str:
    """One sum for people."""
    return amounts(money)[0]


def interval(error: Estimate, like: Estimate | None = None) -> tuple[str, str]:
    """An error and its interval, with as many digits as mean something.

    ``like`` is the one of several that sets the digits.

    Examples
    --------
    >>> interval(Estimate(0.0498, 0.0439, 0.0562))
    ('0.050', '[0.044, 0.056]')
    """
    setter = like or error
    half = max((setter.high - setter.low) / 2, 1e-9)
    places = max(3, -math.floor(math.log10(half)))
    return f"{error.mean:.{places}f}", f"[{error.low:.{places}f}, {error.high:.{places}f}]"


def span(low: float, high: float) -> str:
    """From where to where an accuracy goes.

    Examples
    --------
    >>> span(0.7, 0.7), span(0.8404, 0.95)
    ('0.7', '0.84 to 0.95')
    """
    ends = [f"{each:.2g}" for each in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def rate(hits: int, runs: int) -> Estimate:
    """A share with Clopper and Pearson's interval, which is honest for few hits and for none.

    Examples
    --------
    >>> rate(0, 5000).high < 0.001
    True
    """
    return Estimate(hits / runs, *map(float, clopper_pearson(hits, runs)))
