"""A plan of a campaign: what was found out about it beforehand, and how it is told."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

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
from askwise.core.shown import ShownResult
from askwise.figures import draw
from askwise.lab.planning.pictures import count, error_picture
from askwise.lab.planning.plan import Estimate, MoneyRange, amount, amounts, around, percent
from askwise.lab.rehearsing.extras import CascadePart, CertificatePart, TruthsPart

Lever = Literal["budget", "target"]
"""What is tuned: how much is spent, or the error at which the policy calls a task done."""


@dataclass(frozen=True, slots=True)
class CampaignSetting(Jsonable):
    """A budget, or a target of the policy, and its result in the simulated campaigns.

    Attributes
    ----------
    budget : Decimal or None
        The budget; None if there is none.
    target : float or None
        The target of the policy; None if it spends the budget.
    total : MoneyRange
        The cost of the campaign: expected, and the 80% range.
    error : Estimate
        The share of wrong labels: expected, and the 80% range.
    """

    budget: Decimal | None
    target: Share | None
    total: MoneyRange
    error: Estimate


@dataclass(frozen=True, slots=True)
class WorkerPart(Jsonable):
    """What one worker gives and gets in a campaign, on average.

    Attributes
    ----------
    id : str
        The worker.
    price : Decimal
        The price of an answer.
    answers : float
        Expected answers in the campaign.
    cost : Decimal
        The expected cost in the campaign.
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


@dataclass(frozen=True)
class CampaignPlan(ShownResult, Jsonable):
    """What a campaign of people and models will cost and how often it will be wrong, as simulated.

    Attributes
    ----------
    tasks : int
        Tasks in the campaign.
    options : int
        Options of a task.
    policy : str
        The label of the policy, with its target if that was tuned.
    source : "guesses" or "answers"
        What the plan rests on.
    lever : Lever
        What was tuned: how much is spent, or the error at which the policy calls a task done.
    chosen : "searched" or "given"
        Whether the setting was found by simulation or given.
    budget : Decimal or None
        The budget of the campaign; None if it has none.
    target : float or None
        The target of the policy; None if it spends the budget.
    target_error : float or None
        The error aimed at; None if only a budget was given.
    chance : float or None
        The chance of a campaign whose error is at most the target; None without a target.
    error : Estimate
        The share of wrong labels: expected, and the 80% range.
    answers : Estimate
        Answers to a task: expected, and the 80% range.
    total : MoneyRange
        The cost of the campaign: expected, and the 80% range.
    needed : CampaignSetting or None
        The cheapest setting that keeps the target, where another one was given.
    alternative : CampaignSetting or None
        The best setting of the other lever.
    workers : tuple of WorkerPart
        What each worker gives and gets.
    truths : TruthsPart
        Known truths that turn agreement into a probability.
    certificate : CertificatePart or None
        What it takes to certify the labels; None if nobody is trusted.
    cascade : CascadePart or None
        What a cascade would cost; None without a target, or where there is nothing to cascade.
    tried : tuple of CampaignSetting
        All settings that the search tried.
    cannot_know : tuple of str
        What no plan can know.
    settings : str
        Lines for the campaign's file, as TOML.
    runs : int
        Simulated campaigns.
    seed : int
        The seed of all draws.
    reached : bool or None
        Whether the expected error is at most the target; None without one.
    remarks : tuple of str
        What should not be overlooked.
    """

    written: ClassVar = (
        *("tasks", "options", "policy", "source", "lever", "chosen", "budget", "target"),
        *("target_error", "reached", "chance", "error", "answers", "total", "needed"),
        *("alternative", "workers", "truths", "certificate", "cascade", "tried", "remarks"),
        *("cannot_know", "settings", "runs", "seed"),
    )

    tasks: Positive
    options: NumberOfOptions
    policy: str
    source: Literal["guesses", "answers"]
    lever: Lever
    chosen: Literal["searched", "given"]
    budget: Decimal | None
    target: Share | None
    target_error: Level | None
    chance: Share | None
    error: Estimate
    answers: Estimate
    total: MoneyRange
    needed: CampaignSetting | None
    alternative: CampaignSetting | None
    workers: Annotated[tuple[WorkerPart, ...], JsonLimits(minItems=1)]
    truths: TruthsPart
    certificate: CertificatePart | None
    cascade: CascadePart | None
    tried: tuple[CampaignSetting, ...]
    cannot_know: tuple[Word, ...]
    settings: str
    runs: Annotated[int, JsonLimits(minimum=10)]
    seed: Count

    @property
    def reached(self) -> bool | None:
        """Whether the expected error is at most the target; None without a target."""
        return None if self.target_error is None else self.error.mean <= self.target_error

    @property
    def remarks(self) -> tuple[Word, ...]:
        """What a reader should not overlook, in sentences."""
        return tuple(_remarks(self))

    @property
    def headline(self) -> str:
        """The result in one line."""
        return f"What {count(self.tasks, 'task')} will cost: about {amount(self.total.mean)}"

    def picture(self) -> dict[str, Any]:
        """What `askwise.figures.draw` makes a picture of: wrong labels against cost."""
        # Settings that cost the same on average, such as all that ask everybody, are one point.
        tried = {
            ("budgets" if each.target is None else "targets", each.total.mean): each.error
            for each in self.tried
        }
        points = [
            (name, (float(cost), error.mean, error.low, error.high))
            for (name, cost), error in sorted(tried.items(), key=lambda pair: pair[0])
        ]
        here = (float(self.total.mean), self.error.mean, self.error.low, self.error.high)
        level = self.target_error
        target = None if level is None else (f"target: {percent(level)}", level)
        return error_picture(self.headline, [*points, ("the plan", here)], self.runs, target)

    def plot(self) -> Any:
        """Wrong labels against cost, for the settings that were tried and for the plan.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        return draw(**self.picture())

    def _headline(self) -> str:
        return f"{self.headline}. {error_text(self)}"

    def _records(self) -> list[dict[str, Any]]:
        here = CampaignSetting(self.budget, self.target, self.total, self.error)
        return [
            {
                "setting": name,
                "budget": each.budget,
                "target": each.target,
                **{f"cost_{end}": getattr(each.total, end) for end in ("mean", "low", "high")},
                **{f"error_{end}": getattr(each.error, end) for end in ("mean", "low", "high")},
            }
            for name, each in (("the plan", here), *(("tried", each) for each in self.tried))
        ]


def _remarks(plan: CampaignPlan) -> Iterator[str]:
    needed, target = plan.needed, plan.target_error
    if needed is not None and target is not None:
        said = setting_text(needed)
        if not plan.reached:
            yield (
                f"The expected error is above the target of {target:g}: {said} keeps it, for about "
                f"{amount(needed.total.mean)}."
            )
        elif needed.total.mean < plan.total.mean:
            yield f"The target takes less: {said} keeps it, for about {amount(needed.total.mean)}."
    other = plan.alternative
    if other is not None:
        cost = around(*amounts(other.total.mean, other.total.low, other.total.high))
        yield (
            f"With {setting_text(other)} instead, which keeps the target too, the campaign costs "
            f"{cost}."
        )
    truths, certificate = plan.truths, plan.certificate
    if truths.told < truths.least:
        price = "" if truths.price is None else f", for {amount(truths.price)} by a trusted worker"
        yield (
            f"Confidences rest on agreement alone: truths of {truths.least} tasks make them "
            f"probabilities, and {truths.wanted} are asked for{price}."
        )
    if certificate is not None and certificate.expected is None:
        yield (
            f"No number of audits certifies that at most {percent(certificate.error)} of all "
            f"labels are wrong if {percent(plan.error.mean)} are: aim at a smaller error, or "
            "certify a larger one."
        )


def setting_text(setting: CampaignSetting) -> str:
    """A setting in words."""
    if setting.target is None:
        return f"a budget of {setting.budget}"
    within = "" if setting.budget is None else f" within a budget of {setting.budget}"
    return f"target = {setting.target:g}{within}"


def certificate_text(part: CertificatePart) -> str:
    """What a certificate takes, in a sentence."""
    price = around(*amounts(part.price.mean, part.price.low, part.price.high))
    ends = (part.audits.mean, part.audits.low, part.audits.high)
    audits = around(*(f"{each:.0f}" for each in ends))
    return (
        f"A certificate that at most {percent(part.error)} are wrong, with "
        f"{percent(part.confidence)} confidence, takes at least {part.clean} audits by "
        f"{part.by}; {audits} for {price} certify {percent(part.share.mean)} of the labels."
    )


def cascade_text(part: CascadePart) -> str:
    """What a cascade costs, in a sentence."""
    cost = around(*amounts(part.total.mean, part.total.low, part.total.high))
    ends = (part.error.mean, part.error.low, part.error.high)
    error = around(*(f"{each:.3f}" for each in ends))
    return (
        f"A cascade, cheap workers first, would cost {cost} with an error of {error}, its "
        f"thresholds set by {part.truths} truths."
    )


def error_text(plan: CampaignPlan) -> str:
    """The error beside its target, in a sentence."""
    text = f"About {percent(plan.error.mean)} of the labels will be wrong"
    if plan.target_error is None or plan.chance is None:
        return f"{text}."
    relation = "within" if plan.reached else "above"
    return (
        f"{text}, {relation} the target of {percent(plan.target_error)}; at most the target in "
        f"{percent(plan.chance)} of the campaigns."
    )
