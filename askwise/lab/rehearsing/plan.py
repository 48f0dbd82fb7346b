"""A plan of a campaign: what was found out about it beforehand, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from askwise.core.jsonable import Jsonable, as_json
from askwise.lab.planning.plan import Estimate, MoneyRange, amount, amounts, percent
from askwise.lab.rehearsing.extras import CascadePart, CertificatePart, TruthsPart

Lever = Literal["budget", "target"]
"""What is tuned: how much is spent, or the error at which the policy calls a task done."""

NAMES = (
    *(
        "tasks",
        "options",
        "policy",
        "source",
        "lever",
        "chosen",
        "budget",
        "target",
        "target_error",
    ),
    *("reached", "chance", "error", "answers", "total", "needed", "alternative", "workers"),
    *("truths", "certificate", "cascade", "tried", "remarks", "cannot_know", "settings"),
    *("runs", "seed"),
)
"""The fields of its JSON, in this order."""


@dataclass(frozen=True, slots=True)
class CampaignSetting(Jsonable):
    """A budget, or a target of the policy, and what came of it in the simulated campaigns."""

    budget: Decimal | None
    target: float | None
    total: MoneyRange
    error: Estimate


@dataclass(frozen=True, slots=True)
class WorkerPart(Jsonable):
    """What one worker gives and gets in a campaign, in the mean."""

    id: str
    price: Decimal
    answers: float
    cost: Decimal
    share_of_answers: float
    share_of_money: float


@dataclass(frozen=True)
class CampaignPlan:
    """What a campaign of people and models will cost and how often it will be wrong, as simulated.

    ``total`` is what it costs and ``error`` the share of wrong labels, each with the range that
    holds 8 campaigns of 10; ``answers`` are those to a task. ``chance`` is that of an error within
    the target. ``lever`` says what was tuned, ``chosen`` whether it was ``searched`` or ``given``;
    ``alternative`` is the best setting of the other lever, ``needed`` the cheapest one where
    another was given. ``tried`` are all settings that were tried.
    """

    tasks: int
    options: int
    policy: str
    source: Literal["guesses", "answers"]
    lever: Lever
    chosen: Literal["searched", "given"]
    budget: Decimal | None
    target: float | None
    target_error: float | None
    chance: float | None
    error: Estimate
    answers: Estimate
    total: MoneyRange
    needed: CampaignSetting | None
    alternative: CampaignSetting | None
    workers: tuple[WorkerPart, ...]
    truths: TruthsPart
    certificate: CertificatePart | None
    cascade: CascadePart | None
    tried: tuple[CampaignSetting, ...]
    cannot_know: tuple[str, ...]
    settings: str
    runs: int
    seed: int

    @property
    def reached(self) -> bool | None:
        """Whether the expected error is at most the target; None without a target."""
        return None if self.target_error is None else self.error.mean <= self.target_error

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should not overlook, in sentences."""
        return tuple(_remarks(self))

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as strings."""
        return {name: as_json(getattr(self, name)) for name in NAMES}


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
        mean, low, high = amounts(other.total.mean, other.total.low, other.total.high)
        yield (
            f"With {setting_text(other)} instead, which keeps the target too, the campaign costs "
            f"{mean} ({low} to {high})."
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
    mean, low, high = amounts(part.price.mean, part.price.low, part.price.high)
    return (
        f"A certificate that at most {percent(part.error)} are wrong, with "
        f"{percent(part.confidence)} confidence, takes {part.clean} audits by {part.by} at the "
        f"least; {part.audits.mean:.0f} ({part.audits.low:.0f} to {part.audits.high:.0f}) for "
        f"{mean} ({low} to {high}) certify {percent(part.share.mean)} of the labels."
    )


def cascade_text(part: CascadePart) -> str:
    """What a cascade costs, in a sentence."""
    mean, low, high = amounts(part.total.mean, part.total.low, part.total.high)
    return (
        f"A cascade, cheap workers first, would cost {mean} ({low} to {high}) with an error of "
        f"{part.error.mean:.3f} ({part.error.low:.3f} to {part.error.high:.3f}), its thresholds "
        f"set by {part.truths} truths."
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
