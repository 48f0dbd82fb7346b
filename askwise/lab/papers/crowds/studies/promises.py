"""Paper 004: what rules promise and keep, and what non-adaptive selection must cost (Theorem 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.registry import from_label, label_of
from askwise.figures import ReferenceRow, Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.crowds.studies.common import cost_and_errors
from askwise.lab.papers.crowds.theory import exact_rules
from askwise.lab.papers.crowds.theory.bounds import theorem_5
from askwise.lab.results import mean_row, rate_row, ratio_row
from askwise.lab.worlds import Survey, two_options
from askwise.policies import policies
from askwise.stopping import StoppingRule, stopping

INSTANCES: dict[str, tuple[tuple[float, ...], ...]] = {
    "gap 0": ((0.5, 0.5), (0.5, 0.5), (0.5, 0.5)),
    "gap 0.01": ((0.505, 0.495), (0.505, 0.495), (0.505, 0.495)),
    "gap 0.05": ((0.525, 0.475), (0.525, 0.475), (0.525, 0.475)),
    "gap 0.3": ((0.65, 0.35), (0.65, 0.35), (0.65, 0.35)),
    "one good crowd": ((0.8, 0.2), (0.5, 0.5), (0.5, 0.5)),
    "three options, tied": ((1 / 3, 1 / 3, 1 / 3), (0.4, 0.4, 0.2), (0.4, 0.4, 0.2)),
    "three options": ((0.4, 0.35, 0.25), (0.5, 0.25, 0.25), (0.36, 0.32, 0.32)),
}
"""Distributions of three crowds over the options; the right one first (if the first two have the
same probability in all crowds, none is right)."""

RULES = (
    "e-process",
    "e-process(ties=True)",
    "posterior",
    "gap(delta=0.05)",
    "composite(rule=gap(delta=0.05))",
    "composite(rule=e-process)",
    "joint-glr",
)


def aimed(label: str, target: float, horizon: int) -> StoppingRule:
    """A rule with its dial set for a target error, as its page would have a user do."""
    raw = from_label(label)
    spec: dict[str, Any] = {"name": raw} if isinstance(raw, str) else dict(raw)
    spec["horizon"] = horizon
    if spec["name"] == "composite":
        inner = from_label(str(spec.get("rule", "gap")))
        one: dict[str, Any] = {"name": inner} if isinstance(inner, str) else dict(inner)
        spec["rule"] = one | _dialled(one["name"], target)
    else:
        spec |= _dialled(spec["name"], target)
    return stopping.make(spec)


def _dialled(name: str, target: float) -> dict[str, float]:
    settings = {
        "e-process": {"delta": target},
        "posterior": {"error": target},
        "gap": {"delta": target},
        "joint-glr": {"beta": math.log(1.0 / target)},
    }
    if name not in settings:
        raise InvalidParameter(
            f"rules has {name!r}: it takes no target error; give one of {', '.join(settings)}",
            field="rules",
        )
    return settings[name]


def unnamed(label: str) -> str:
    """A rule's label without the target, which is the axis."""
    rule = aimed(label, 0.05, 1)
    inner = getattr(rule, "inner", None)
    ties = ", ties covered" if getattr(rule, "ties", False) else ""
    return f"composite of {inner.name}" if inner is not None else rule.name + ties


@experiments.register("survey-guarantee")
@dataclass(frozen=True)
class SurveyGuarantee(Experiment):
    """The error of every rule, on near-null and easy questions, against its target.

    Parameters
    ----------
    instances, targets : names, rates
        Kinds of questions, and the errors that rules are set to.
    rules : labels
        Rules that take a target error.
    policy : label
        Who chooses the crowds.
    horizon : int
        The most answers a question may take.
    """

    instances: tuple[str, ...] = tuple(INSTANCES)
    targets: tuple[float, ...] = (0.01, 0.05, 0.1)
    rules: tuple[str, ...] = RULES
    policy: str = "virt-ucb"
    horizon: int = 2_000
    reps: ClassVar[int] = 2_000
    chunk: ClassVar[int] = 250
    ours: ClassVar[tuple[str, ...]] = ("e-process", "e-process, ties covered")
    title: ClassVar[str] = "What rules promise and what they keep"
    reproduces: ClassVar[str] = "004, Theorem 1, and beyond"
    summary: ClassVar[str] = (
        "Questions on which crowds are (nearly) undecided, and easy ones: how often does each rule "
        "stop confidently with a wrong answer, when it is set to an error of 1, 5 or 10%? Where no "
        "option is right every confident stop is an error; an end at the horizon is none. Only "
        "the e-process guarantees its target: wherever an option is right, and on every question "
        "where it covers ties."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "error",
            "target",
            "confident and wrong",
            "Measured error by target; on or below the dashed line the target is kept.",
            log_x=True,
        ),
        Figure("cost", "target", "answers per question", "What it takes.", log_x=True, log_y=True),
    )

    def __post_init__(self) -> None:
        for name in self.instances:
            if name not in INSTANCES:
                raise InvalidParameter(
                    f"instances has {name!r}: {nearest(name, INSTANCES)}", field="instances"
                )
        for target in self.targets:
            if not 0 < target < 1:
                raise InvalidParameter(
                    f"targets has {target}: give rates between 0 and 1", field="targets"
                )
        for label in self.rules:
            unnamed(label)

    def cells(self) -> list[Cell]:
        """One cell an instance and target."""
        return [Cell(name, target) for name in self.instances for target in self.targets]

    def samples(self, cell: Cell, seed: int, first: int, last: int) -> Array:
        """Cost, confident error and whether the end was the horizon, for each rule."""
        responses = np.array(INSTANCES[cell.panel])
        undecided = bool(np.all(responses[:, 0] == responses[:, 1]))
        survey = Survey(responses[None])
        world = survey.answering(seed, first, last - first)
        policy = policies.make(from_label(self.policy))
        found = []
        for label in self.rules:
            rule = aimed(label, cell.x, self.horizon)
            spent, wrong, sure = cost_and_errors(survey, world, policy, rule, seed, first)
            mistaken = sure if undecided else sure & (wrong > 0)
            found += [spent, mistaken.astype(np.float64), (~sure).astype(np.float64)]
        return np.array(found).T

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means of the three."""
        found = []
        for at, label in enumerate(self.rules):
            place: dict[str, Any] = {"panel": cell.panel, "series": unnamed(label), "x": cell.x}
            cost, wrong, unsure = samples[:, 3 * at : 3 * at + 3].T
            found.append(mean_row(cost, metric="cost", **place))
            found.append(rate_row(wrong, metric="error", **place))
            found.append(rate_row(unsure, metric="low_confidence", **place))
        return found

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """The targets themselves."""
        return [
            ReferenceRow.at(
                *("target", target, "error", target),
                panel=name,
                style="line",
                source="the target",
            )
            for name in self.instances
            for target in self.targets
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Which rules miss their target, from the rows themselves."""
        missed: dict[str, list[str]] = {}
        for row in rows:
            if row.metric == "error" and row.ci_low > row.x:
                missed.setdefault(row.series, []).append(
                    f"{row.panel} at {row.x:g}: {row.mean:.3f}"
                )
        kept = sorted({row.series for row in rows if row.metric == "error"} - set(missed))
        found = [f"{series} misses its target: {'; '.join(at)}." for series, at in missed.items()]
        found.append(f"Within its target everywhere (95% intervals): {', '.join(kept) or 'none'}.")
        return found


@experiments.register("survey-competitive")
@dataclass(frozen=True)
class SurveyCompetitive(Experiment):
    """Theorem 5: cost relative to the best crowd, on questions where one crowd is any good.

    Parameters
    ----------
    crowds : whole numbers
        How many there are: one with the gap, the others with none.
    gap : float
        Of the good crowd.
    rule : label
        Single-crowd rule; the theorem needs one with a small error on every question.
    policies : labels
        Who chooses the crowds.
    """

    crowds: tuple[int, ...] = (2, 3, 5, 7, 10, 15, 20)
    gap: float = 0.3
    rule: str = "gap(delta=0.01)"
    policies: tuple[str, ...] = ("rand-rr", "round-robin", "virt-ucb", "virt-thompson")
    reps: ClassVar[int] = 2_000
    chunk: ClassVar[int] = 250
    title: ClassVar[str] = "Non-adaptive selection against the best crowd (004, Theorem 5)"
    reproduces: ClassVar[str] = "004, Theorem 5"
    summary: ClassVar[str] = (
        "One crowd knows something, all others answer blindly; all cost the same. How many times "
        "the cost of asking the good crowd alone does each policy spend, under the same composite "
        "rule (without the total crowd)? Theorem 5: a policy that does not adapt pays about as "
        "many times as there are crowds."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "competitive_ratio",
            "crowds",
            "cost relative to the best crowd",
            "Cost relative to the best crowd's; dashed: Theorem 5's lower bound.",
        ),
    )

    def __post_init__(self) -> None:
        if not 0 < self.gap <= 1:
            raise InvalidParameter(
                f"gap is {self.gap}: give a number above 0, up to 1", field="gap"
            )
        for count in self.crowds:
            if count < 2:
                raise InvalidParameter(f"crowds has {count}: give 2 or more", field="crowds")
        self.single()

    def single(self) -> StoppingRule:
        """The rule on one crowd."""
        return stopping.make(from_label(self.rule))

    def cells(self) -> list[Cell]:
        """One cell a number of crowds."""
        return [Cell("", count) for count in self.crowds]

    def samples(self, cell: Cell, seed: int, first: int, last: int) -> Array:
        """Cost and mistake of the best crowd alone, then of each policy."""
        count = last - first
        good = (1.0 + self.gap) / 2.0
        alone = Survey(two_options(good))
        runs = [(alone, "round-robin", self.single())]
        every = Survey(two_options(good, *[0.5] * (int(cell.x) - 1)))
        composite = stopping.make({"name": "composite", "rule": self.rule, "total": False})
        runs += [(every, label, composite) for label in self.policies]
        found = []
        for survey, label, rule in runs:
            world = survey.answering(seed, first, count)
            policy = policies.make(from_label(label))
            spent, wrong, _ = cost_and_errors(survey, world, policy, rule, seed, first)
            found += [spent, wrong]
        return np.array(found).T

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Ratios of mean costs, and errors."""
        found = []
        for at, label in enumerate(self.policies):
            place: dict[str, Any] = {
                "panel": "",
                "series": label_of(policies.make(from_label(label))),
                "x": cell.x,
            }
            cost, wrong = samples[:, 2 + 2 * at], samples[:, 3 + 2 * at]
            found.append(
                ratio_row(cost, samples[:, 0], metric="competitive_ratio", seed=seed, **place)
            )
            found.append(rate_row(wrong, metric="error", **place))
        return found

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """Theorem 5's bound for equal shares, with the rule's exact worst-case error."""
        rho = _worst_error(self.rule)
        return [
            ReferenceRow.at(
                *("Theorem 5", count, "competitive_ratio", bound),
                style="line",
                source="Theorem 5's bound",
            )
            for count in self.crowds
            if (bound := float(theorem_5(np.ones(count), np.full(count, 1.0 / count), rho))) > 0
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """The worst-case error that the bound needs."""
        return [
            f"The bound k (1 - 2 k rho) uses the rule's worst-case error, rho = "
            f"{_worst_error(self.rule):.4f} (exact, over gaps, up to 2,000 answers); where it is "
            "not positive it says nothing and is not drawn.",
            "The composite rule leaves the total crowd out, as the theorem does; with a constant "
            "C_qty (no small worst-case error) the ratio of RandRR is far below the number of "
            "crowds, as blind crowds then soon stop with a wrong answer.",
        ]


@cache
def _worst_error(label: str) -> float:
    """Largest exact error of rule (1) over gaps; nothing is known of other rules."""
    rule: Any = stopping.make(from_label(label))
    if rule.name != "gap":
        return float(getattr(rule, "delta", 0.5)) if rule.guarantees else 0.5
    chances = 0.5 + np.geomspace(5e-4, 0.25, 24)
    known = exact_rules.gap_rule(
        chances,
        None if rule.delta else rule.quality,
        smooth=rule.smooth,
        schedule_delta=rule.delta,
        horizon=2_000,
    )
    return float(np.max(known.error))
