"""Whether campaigns cost what their plan says, and err as often (beyond 002)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.problem import Worker
from askwise.data.guesses import GuessedWorker
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.rehearsing.plan import CampaignPlan, CampaignSetting
from askwise.lab.rehearsing.planner import plan_campaign
from askwise.lab.rehearsing.records import believed
from askwise.lab.rehearsing.trials import Rehearsal
from askwise.lab.rehearsing.worlds import GuessedWorlds, PossibleWorlds, RecordedWorlds
from askwise.lab.results import measured_row
from askwise.lab.worlds import Recording
from askwise.policies.labels.hem.policy import Hem

RANGE = 0.8
"""The share of campaigns that a plan's range is made for."""

LEVERS = ("cheapest", "target")
"""What plans tune: by themselves they choose between a budget and hem's target."""

METRICS = ("cost", "covered", "range", "error", "error_covered")
"""Of a campaign: what it cost, whether that lies in the plan's range, how wide the range is, the
share of wrong labels, whether that lies in the plan's range."""


class Reality(NamedTuple):
    """What is true, and what somebody who plans believes of it.

    Attributes
    ----------
    guess : function of a seed
        What the plan is made from.
    tasks, options : int
        Of the campaign.
    accuracy : function of random numbers
        How good the workers are in one campaign.
    target : float
        The error that is aimed at.
    hard : float
        How much the difficulty of tasks varies, in log-odds.
    alike : float
        How much families vary together from task to task, in log-odds.
    """

    guess: Callable[[int], PossibleWorlds]
    tasks: int
    accuracy: Callable[[np.random.Generator], Array]
    target: float
    options: int = 2
    hard: float = 0.5
    alike: float = 0.0


def answers_of(
    rng: np.random.Generator,
    reality: Reality,
    accuracy: Array,
    staff: tuple[Worker, ...],
    tasks: int,
) -> Recording:
    """Everybody's answers where tasks differ in difficulty: not the model that a plan is made by.

    Log-odds of an answer being right are the worker's, more or less by what the task is like for
    all and for the worker's family.
    """
    count = len(staff)
    names = sorted({each.family for each in staff if each.family})
    effect = reality.hard * rng.standard_normal((tasks, 1)) + np.zeros((1, count))
    for name in names:
        mine = [at for at, each in enumerate(staff) if each.family == name]
        effect[:, mine] += reality.alike * rng.standard_normal((tasks, 1))
    trusted = np.array([each.trusted for each in staff])
    odds = np.log(accuracy / (1.0 - accuracy)) + effect
    right = (rng.random((tasks, count)) < 1.0 / (1.0 + np.exp(-odds))) | trusted
    truth = rng.integers(0, reality.options, tasks)
    # On a hard task most who are wrong fall for the same.
    lure = rng.integers(1, reality.options, (tasks, 1))
    slip = rng.integers(1, reality.options, (tasks, count))
    slip = np.where(rng.random((tasks, count)) < 0.5, lure, slip)
    labels = (truth[:, None] + np.where(right, 0, slip)) % reality.options
    return Recording.complete(labels, truth, reality.options)


class _Happening(PossibleWorlds):
    """Campaigns as they really go: each with newly drawn workers and tasks."""

    def __init__(self, reality: Reality, guess: PossibleWorlds) -> None:
        self.reality, self.tasks = reality, reality.tasks
        self.options, self.staff = reality.options, guess.staff

    def draw(self, seed: int, number: int) -> Recording:
        """The world of the ``number``-th campaign."""
        rng = np.random.default_rng([*draws.stream(seed, draws.WORLD, number)])
        accuracy = self.reality.accuracy(rng)
        made = answers_of(rng, self.reality, accuracy, self.staff, self.tasks)
        return self.peopled(made)


def _people(*guesses: float | tuple[float, float], price: str = "0.4") -> list[GuessedWorker]:
    return [
        GuessedWorker(Worker(f"p{at}", price, kind="person"), each)
        for at, each in enumerate(guesses)
    ]


def _guessed(workers: list[GuessedWorker], tasks: int, options: int = 2) -> GuessedWorlds:
    return GuessedWorlds(workers, tasks, options)


def _between(*ranges: tuple[float, float]) -> Callable[[np.random.Generator], Array]:
    low, high = np.array(ranges).T
    return lambda rng: low + (high - low) * rng.random(len(low))


def _around(
    *means: float, own: float = 0.05, shared: float = 0.03, off: float = 0.0
) -> Callable[[np.random.Generator], Array]:
    def drawn(rng: np.random.Generator) -> Array:
        noise = own * rng.standard_normal(len(means)) + shared * rng.standard_normal()
        return np.clip(np.array(means) + off + noise, 0.35, 0.99)

    return drawn


def _piloted(
    reality_of: Callable[[], Reality], staff: tuple[Worker, ...], recorded: int, gold: bool
) -> Callable[[int], RecordedWorlds]:
    """Plan by a pilot: answers of the same workers to other tasks."""

    def guess(seed: int) -> RecordedWorlds:
        reality = reality_of()
        rng = np.random.default_rng([*draws.stream(seed, draws.TRUTHS, recorded)])
        pilot = answers_of(rng, reality, reality.accuracy(rng), staff, recorded)
        beliefs = None
        if not gold:
            pilot = replace(pilot, truth=np.full(recorded, -1))
            beliefs = believed(pilot)
        return RecordedWorlds(pilot, staff, reality.tasks, beliefs)

    return guess


def _three() -> Reality:
    ranges = ((0.85, 0.95), (0.8, 0.95), (0.75, 0.95))
    return Reality(lambda seed: _guessed(_people(*ranges), 60), 60, _between(*ranges), 0.1)


def _numbers() -> Reality:
    means = (0.9, 0.85, 0.8, 0.8, 0.75)
    workers = _people(*means, price="0.1")
    return Reality(lambda seed: _guessed(workers, 150), 150, _around(*means), 0.12, hard=0.7)


def _judges() -> Reality:
    means = (0.8, 0.8, 0.75, 0.75, 0.9, 0.88)
    workers = [
        GuessedWorker(Worker(f"m{at}", "0.01", kind="model", family="gpt"), each)
        for at, each in enumerate(means[:4])
    ]
    workers += _people(*means[4:], price="0.2")
    return Reality(
        lambda seed: _guessed(workers, 150), 150, _around(*means), 0.1, hard=0.4, alike=0.8
    )


def _pilot() -> Reality:
    means = (0.85, 0.8, 0.75, 0.7, 0.65)
    staff = tuple(Worker(f"w{at}", "0.1") for at in range(len(means)))
    return Reality(
        _piloted(_pilot, staff, 80, gold=True), 150, lambda rng: np.array(means), 0.18, options=3
    )


def _expert() -> Reality:
    means = (0.75, 0.75, 0.75, 0.75, 0.99)
    workers = _people(*means[:4], price="0.1")
    workers.append(GuessedWorker(Worker("vet", 1, trusted=True)))
    return Reality(lambda seed: _guessed(workers, 150), 150, _around(*means, off=-0.03), 0.05)


def _limits() -> Reality:
    ranges = ((0.7, 0.9),) * 8
    workers = [replace(each, worker=replace(each.worker, limit=60)) for each in _people(*ranges)]
    return Reality(lambda seed: _guessed(workers, 120), 120, _between(*ranges), 0.15)


def _options() -> Reality:
    ranges = ((0.6, 0.8),) * 5
    return Reality(
        lambda seed: _guessed(_people(*ranges), 150, 4), 150, _between(*ranges), 0.2, options=4
    )


def _vendor() -> Reality:
    means = (0.9, 0.85, 0.85, 0.85)
    workers = _people(means[0], price="0.3")
    workers += [
        GuessedWorker(Worker(f"v{at}", "0.05", family="vendor"), each)
        for at, each in enumerate(means[1:])
    ]
    return Reality(lambda seed: _guessed(workers, 200), 200, _around(*means), 0.12, alike=1.2)


def _untold() -> Reality:
    means = (0.9, 0.85, 0.8, 0.75)
    staff = tuple(Worker(f"w{at}", price) for at, price in enumerate(("0.3", "0.2", "0.1", "0.1")))
    return Reality(_piloted(_untold, staff, 60, gold=False), 150, lambda rng: np.array(means), 0.25)


def _praised() -> Reality:
    means = (0.9, 0.9, 0.85, 0.85, 0.8)
    workers = _people(*means, price="0.1")
    return Reality(lambda seed: _guessed(workers, 150), 150, _around(*means, off=-0.07), 0.1)


REALITIES: Mapping[str, Callable[[], Reality]] = {
    "three-people": _three,
    "single-numbers": _numbers,
    "judges-and-people": _judges,
    "pilot": _pilot,
    "expert": _expert,
    "limits": _limits,
    "four-options": _options,
    "vendor": _vendor,
    "pilot-without-gold": _untold,
    "overrated": _praised,
}
"""Worlds by name: five that the study has by default, and five more."""

FIRST_FIVE = tuple(REALITIES)[:5]


@lru_cache(maxsize=64)
def plan_for(world: str, runs: int, seed: int) -> CampaignPlan:
    """The plan that is made beforehand."""
    reality = REALITIES[world]()
    return plan_campaign(reality.guess(seed), target_error=reality.target, runs=runs, seed=seed)


def setting_of(plan: CampaignPlan, lever: str) -> CampaignSetting | None:
    """What a plan chose, or the best target that it found; None if none keeps the error."""
    chosen = CampaignSetting(plan.budget, plan.target, plan.total, plan.error)
    if lever == "cheapest" or plan.lever == lever:
        return chosen
    return plan.alternative


@experiments.register("plan-honest")
@dataclass(frozen=True)
class PlanHonest(Experiment):
    """Plans, and campaigns that are run as they say.

    Parameters
    ----------
    worlds : names
        ``three-people``, ``single-numbers``, ``judges-and-people``, ``pilot`` and ``expert``;
        beside them there are ``limits``, ``four-options``, ``vendor``, ``pilot-without-gold`` and
        ``overrated``.
    plan_runs : int
        Campaigns that a plan simulates.
    """

    worlds: tuple[str, ...] = FIRST_FIVE
    plan_runs: int = 40

    reps: ClassVar[int] = 20
    chunk: ClassVar[int] = 20
    title: ClassVar[str] = "What campaigns cost, and what their plans said (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "A plan is made from guesses or from a pilot. Then campaigns are run with its setting, on "
        "workers and tasks that are like the guesses or off, and whose errors arise in another way "
        "than in the plan's simulation. How often does the cost lie in the plan's 80% range, and "
        "the error in its own? Plans choose between a budget and hem's target (cheapest), or are "
        "told to tune the target, so that the campaign ends when it is sure enough."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "covered",
            "share that the range is made for",
            "share of campaigns",
            "Campaigns whose cost lies in the plan's 80% range.",
            kind="bars",
        ),
        Figure(
            "error_covered",
            "share that the range is made for",
            "share of campaigns",
            "Campaigns whose error lies in the plan's 80% range.",
            kind="bars",
        ),
    )

    def __post_init__(self) -> None:
        whole(self.plan_runs, "plan_runs", least=10)
        for name in self.worlds:
            if name not in REALITIES:
                raise InvalidParameter(
                    f"worlds has {name!r}: no such world, {nearest(name, REALITIES)}",
                    field="worlds",
                )

    def cells(self) -> Sequence[Cell]:
        """One per world."""
        return [Cell(name, RANGE) for name in self.worlds]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """One campaign with each plan."""
        reality = REALITIES[cell.panel]()
        found: list[float] = []
        for lever in LEVERS:
            setting = setting_of(plan_for(cell.panel, self.plan_runs, seed), lever)
            if setting is None:
                found += [math.nan] * len(METRICS)
                continue
            rehearsal = Rehearsal(_Happening(reality, reality.guess(seed)), 0, seed)
            trial = rehearsal.trial(Hem(setting.target or 0.0), replication, setting.budget)
            low, high = float(setting.total.low), float(setting.total.high)
            error = float(trial.wrong.mean())
            found += [
                trial.spent,
                low - 1e-9 <= trial.spent <= high + 1e-9,
                high / low,
                error,
                setting.error.low - 1e-9 <= error <= setting.error.high + 1e-9,
            ]
        return np.array(found, np.float64)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the campaigns."""
        measured = samples.reshape(len(samples), len(LEVERS), len(METRICS))
        return [
            measured_row(
                measured[:, at, column], panel=cell.panel, series=lever, x=cell.x, metric=metric
            )
            for at, lever in enumerate(LEVERS)
            for column, metric in enumerate(METRICS)
            if not np.isnan(measured[:, at, column]).any()
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """How often costs and errors were as planned."""
        said = []
        for lever in LEVERS:
            of = {
                metric: [row for row in rows if (row.series, row.metric) == (lever, metric)]
                for metric in METRICS
            }
            if not of["covered"]:
                continue
            runs = sum(row.n for row in of["covered"])
            covered, errors = (
                round(sum(row.mean * row.n for row in of[metric]))
                for metric in ("covered", "error_covered")
            )
            widths = np.median([row.mean for row in of["range"]])
            said.append(
                f"{lever}: the cost lies in the plan's 80% range in {covered} of {runs} campaigns, "
                f"the error in {errors}; the range is {widths:.2f} to 1 in the median."
            )
        return said
