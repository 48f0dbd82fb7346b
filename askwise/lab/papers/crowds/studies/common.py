"""What the experiments on crowds and stopping (paper 004) share: cost at equal error."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.registry import from_label, label_of
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION
from askwise.lab.results import CONFIDENCE, mean_row, rate_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Survey, SurveyWorld
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.policies import KnowsTruth, Policy, policies
from askwise.stopping import StoppingRule, stopping
from askwise.stopping.base import CONFIDENT

COST, WRONG = range(2)

OURS = ("glr-directed", "lp-thompson")

ERRORS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
"""Error rates at which costs are compared."""

RESAMPLES = 400

DIALS: dict[str, tuple[float, ...]] = {
    "quality": (
        0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.2,
        2.4, 2.6, 2.8, 3.1, 3.4, 3.8,
    ),
    "error": (0.0001, 0.0004, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3),
    "delta": (0.01, 0.03, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9),
    "lead": (
        1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 27.0, 36.0,
    ),
    "beta": (0.3, 0.6, 1.0, 1.4, 1.8, 2.2, 2.7, 3.2, 3.8, 4.5, 5.2),
}  # fmt: skip
"""Settings of a rule's dial along which cost and error are measured.

Small values of C_qty lie closer: there a lead of one vote more or less makes steps in the curve.
"""


@dataclass(frozen=True)
class SurveyContender:
    """A policy with a stopping rule whose dial is turned."""

    policy: Policy
    rule: StoppingRule

    @property
    def dial(self) -> str:
        """The parameter that is turned; a composite's is its single rule's."""
        inner: StoppingRule = getattr(self.rule, "inner", self.rule)
        return inner.dial

    def at(self, value: float, horizon: int) -> tuple[Policy, StoppingRule]:
        """The pair with the dial at a value; a policy that must know the quality is told."""
        rule = replace(self.rule.turned(value), horizon=horizon)  # type: ignore[call-arg]
        told = self.dial == "quality" and "quality" in {each.name for each in fields(self.policy)}
        policy: Any = self.policy
        return (replace(policy, quality=value) if told else policy), rule


@cache
def contender(label: str) -> SurveyContender:
    """Read ``policy`` (with the composite rule) or ``policy with rule``."""
    policy, _, rule = label.partition(" with ")
    return SurveyContender(
        policies.make(from_label(policy)), stopping.make(from_label(rule.strip() or "composite"))
    )


def series_of(label: str) -> str:
    """How a contender is called in tables and figures."""
    found = contender(label)
    policy = found.policy.name if isinstance(found.policy, KnowsTruth) else label_of(found.policy)
    rule = label_of(found.rule)
    return policy if rule == "composite" else f"{policy} with {rule}"


def cost_and_errors(
    survey: Survey,
    world: SurveyWorld,
    policy: Policy,
    rule: StoppingRule,
    seed: int,
    part: int,
    *,
    free_at: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Run a question for each of the world's: what it cost, whether wrong, whether confident.

    An answer of a crowd that costs nothing is counted at ``free_at``.
    """
    problem = survey.problem(len(world.kinds))
    done = simulate(policy, problem, world, rule=rule, seed=seed, replication=part)
    book = done.ledger.book
    cost = book.tasks[: len(world.kinds), c.TASK_SPENT] / MICRO
    if free_at > 0.0:
        cost += free_at * _free_answers(book, len(world.kinds))
    closings = done.closings
    wrong = closings[:, CLOSED_OPTION] != world.right
    return cost, wrong.astype(np.float64), closings[:, CLOSED_CODE] == CONFIDENT


def _free_answers(book: Book, questions: int) -> Array:
    """Count the answers to each question from crowds that cost nothing."""
    free = book.workers[:, c.PRICE] == 0
    found = np.zeros(questions)
    at = book.tasks[:questions, c.FIRST_CELL].copy()
    while (at >= 0).any():
        here = np.flatnonzero(at >= 0)
        cells = book.cells[at[here]]
        found[here] += cells[:, c.CELL_ANSWERS] * free[cells[:, c.CELL_WORKER]]
        at[here] = cells[:, c.NEXT_CELL]
    return found


@dataclass(frozen=True)
class SurveyCell(Cell):
    """A workload: crowds with their distributions over the options, prices, and what an answer of
    one that costs nothing is counted at.
    """

    responses: tuple[tuple[float, ...], ...]
    prices: tuple[int, ...] = ()
    free_at: float = 0.0

    def survey(self, *, shuffled: bool = True) -> Survey:
        """As a world."""
        return Survey(np.array(self.responses)[None], self.prices, shuffled)


@dataclass(frozen=True)
class EqualErrorExperiment(Experiment):
    """Turn the dial of each contender's rule and compare costs at equal error.

    Parameters
    ----------
    contenders : labels
        ``policy`` (with the composite rule) or ``policy with rule``.
    errors : rates
        Where to compare.
    horizon : int
        The most answers a question may take; reaching it gives the answer there is.
    """

    contenders: tuple[str, ...] = ()
    errors: tuple[float, ...] = ERRORS
    horizon: int = 20_000

    reference: ClassVar[str] = "rand-rr"
    """The series that costs are divided by."""
    ours: ClassVar[tuple[str, ...]] = OURS
    chunk: ClassVar[int] = 500

    def __post_init__(self) -> None:
        for label in self.contenders:
            if contender(label).dial not in DIALS:
                raise InvalidParameter(
                    f"contenders has {label!r}: its rule has no dial that this experiment turns",
                    field="contenders",
                )
        for error in self.errors:
            if not 0 < error < 1:
                raise InvalidParameter(
                    f"errors has {error}: give rates between 0 and 1", field="errors"
                )

    @abstractmethod
    def cells(self) -> list[SurveyCell]:
        """One cell a workload."""

    def labels(self, cell: SurveyCell) -> list[str]:
        """The contenders of a cell."""
        return list(self.contenders)

    def dial(self, cell: SurveyCell, label: str) -> tuple[float, ...]:
        """Settings of a contender's dial in a cell."""
        return DIALS[contender(label).dial]

    def samples(self, cell: SurveyCell, seed: int, first: int, last: int) -> Array:
        """Cost and mistake of every question, for each contender and setting."""
        count = last - first
        worlds: dict[bool, tuple[Survey, SurveyWorld]] = {}
        found = []
        for label in self.labels(cell):
            # Benchmarks that are told the truth know the crowds by their order.
            shuffled = not isinstance(contender(label).policy, KnowsTruth)
            if shuffled not in worlds:
                survey = cell.survey(shuffled=shuffled)
                worlds[shuffled] = survey, survey.answering(seed, first, count)
            survey, world = worlds[shuffled]
            for value in self.dial(cell, label):
                policy, rule = contender(label).at(value, self.horizon)
                cost, wrong, _ = cost_and_errors(
                    survey, world, policy, rule, seed, first, free_at=cell.free_at
                )
                found += [cost, wrong]
        return np.array(found).T

    def rows(self, cell: SurveyCell, samples: Array, seed: int) -> list[Row]:
        """Raw cost and error by dial; cost and its ratio to the reference at equal error."""
        rng = np.random.default_rng(seed)
        n = len(samples)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) / n
        means = samples.mean(axis=0)
        resampled = weights @ samples
        found: list[Row] = []
        curves: dict[str, Array] = {}
        at = 0
        for label in self.labels(cell):
            series, dial = series_of(label), self.dial(cell, label)
            upto = at + 2 * len(dial)
            for place, value in enumerate(dial):
                where: dict[str, Any] = {"panel": cell.panel, "series": series, "x": value}
                cost, wrong = samples[:, at + 2 * place + COST], samples[:, at + 2 * place + WRONG]
                found.append(mean_row(cost, metric="raw_cost", **where))
                found.append(rate_row(wrong, metric="raw_error", **where))
            blocks = np.vstack([means[at:upto], resampled[:, at:upto]])
            curves[series] = np.array([_costs_at(block, self.errors) for block in blocks])
            at = upto
        for series, costs in curves.items():
            found += self._compared(cell, series, costs, curves.get(self.reference), n)
        return found

    def _compared(
        self, cell: SurveyCell, series: str, costs: Array, reference: Array | None, n: int
    ) -> list[Row]:
        found = []
        measured = [("cost", costs)]
        if reference is not None:
            measured.append(("cost_ratio", costs / reference))
        for metric, values in measured:
            for place, error in enumerate(self.errors):
                column = values[:, place]
                if np.isnan(column).mean() > 0.02 or np.isnan(column[0]):
                    continue
                low, high = np.nanquantile(column[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
                mean = float(column[0])
                found.append(
                    Row(
                        cell.panel, series, error, metric, mean,
                        min(float(low), mean), max(float(high), mean), n,
                    )
                )  # fmt: skip
        return found


def _costs_at(block: Array, errors: Sequence[float]) -> list[float]:
    """Costs at given errors, between the settings of a dial: linear in the error's logarithm.

    Not a number where no setting has an error as large or as small.
    """
    cost, error = block[COST::2], np.maximum(block[WRONG::2], 1e-9)
    order = np.argsort(cost, kind="stable")
    cost = cost[order]
    # The error falls as the cost rises; noise in its tail must not turn the curve back.
    level = np.minimum.accumulate(np.log(error[order]))
    return [
        float(np.interp(-np.log(wanted), -level, cost))
        if level[-1] <= np.log(wanted) <= level[0]
        else float("nan")
        for wanted in errors
    ]


FIGURES = (
    Figure(
        "cost_ratio",
        "error rate",
        "cost relative to RandRR",
        "Cost relative to RandRR's at the same error rate.",
        log_x=True,
    ),
    Figure("cost", "error rate", "cost of a question", "Cost at equal error.", log_x=True),
)
