"""The models among the workers: each beside people and truths, and what they are worth together."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from askwise.auditing.ballots import Ballots
from askwise.auditing.intervals import Interval, share
from askwise.auditing.panels import PanelCard, panel_card
from askwise.campaign.state import CampaignState
from askwise.campaign.views.families import FamilyAgreement, families_of, family_agreements
from askwise.campaign.views.workers import WorkerSummary, workers
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Id, Positive
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c
from askwise.policies.gold import random_order

MOST_TASKS = 5_000
"""Tasks that judges are compared on, drawn at random where there are more."""


@dataclass(frozen=True, slots=True)
class JudgeReport(Jsonable):
    """One model among the workers.

    Attributes
    ----------
    id : str
        The worker.
    family : str or None
        A name shared by workers that err together; None where nothing was said.
    source : str or None
        What answers for them, by name and digest; None where nothing was said.
    answers : int
        Questions that they answered.
    failed : int
        Questions whose call brought no answer.
    failures : dict of str to int
        How often calls failed, by reason.
    cost_an_answer : Decimal or None
        What an answer cost, failures included; None without an answer.
    with_people : Interval or None
        How often they say what most people say about the task; tasks on which people are tied
        are left out. None without such a task.
    compared : int
        The answers that ``with_people`` is about.
    accuracy : Interval or None
        How often they are right on tasks whose truth is known; None without such a task.
    truths : int
        The answers that ``accuracy`` is about.
    """

    id: Id
    family: str | None
    source: str | None
    answers: Count
    failed: Count
    failures: dict[str, Positive]
    cost_an_answer: Decimal | None
    with_people: Interval | None
    compared: Count
    accuracy: Interval | None
    truths: Count


@dataclass(frozen=True, slots=True)
class JudgesReport(Jsonable):
    """The models among the workers, one by one and together. All intervals are at 95%.

    Attributes
    ----------
    judges : tuple of JudgeReport
        The models, in the order in which they joined.
    tasks : int
        Tasks that they are compared on: those that a model answered, or 5,000 of them drawn at
        random.
    panel : PanelCard or None
        The models together, against the truth where it is known and else what most people say:
        among others, how many models that err independently would be worth as much. None without
        a task that has both.
    families : tuple of FamilyAgreement
        Families with two models, where there are others too.
    """

    judges: tuple[JudgeReport, ...]
    tasks: Count
    panel: PanelCard | None
    families: tuple[FamilyAgreement, ...]


def judges(state: CampaignState, summaries: Sequence[WorkerSummary] | None = None) -> JudgesReport:
    """What the models among the workers are worth; empty where there are none.

    Parameters
    ----------
    summaries : sequence of WorkerSummary, optional
        What ``workers`` says at the same point of the log; worked out if not given.
    """
    ledger = state.ledger
    models = [at for at, worker in enumerate(ledger.workers) if worker.kind == "model"]
    if not models or not state.spec.problem.options:
        return JudgesReport((), 0, None, ())
    known = workers(state) if summaries is None else summaries
    found = _compared(state, models)
    ballots = found.ballots
    families = families_of(ledger.workers[at] for at in models)
    return JudgesReport(
        judges=tuple(_judge(known[at], place, found) for place, at in enumerate(models)),
        tasks=len(ballots.task_names),
        panel=panel_card(ballots, families, seed=0) if ballots.right[1].any() else None,
        families=tuple(family_agreements(ballots, families)),
    )


class _Compared(NamedTuple):
    """What models say, in codes, and what it is held against (-1: nothing) on each task."""

    ballots: Ballots
    people: Array
    truths: Array


def _compared(state: CampaignState, models: list[int]) -> _Compared:
    ledger, options = state.ledger, state.spec.problem.options
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    number = np.full(ledger.total(c.WORKERS), -1)
    number[models] = np.arange(len(models))
    model = number[rows[:, c.WORKER]]
    settled = rows[:, c.STATUS] == c.SETTLED
    place = np.full(ledger.total(c.TASKS), -1)
    tasks = np.unique(rows[settled & (model >= 0), c.TASK])
    if len(tasks) > MOST_TASKS:
        order = random_order(state.draw(draws.GOLD, 0), len(place))
        tasks = np.sort(order[np.isin(order, tasks)][:MOST_TASKS])
    place[tasks] = np.arange(len(tasks))
    at = place[rows[:, c.TASK]]
    here = settled & (at >= 0)
    said = ledger.book.marks[: len(rows), c.VALUE]
    by_people, by_model = here & (model < 0), here & (model >= 0)
    cells = at[by_people] * len(options) + said[by_people].astype(np.int64)
    votes = np.bincount(cells, minlength=len(tasks) * len(options)).reshape(-1, len(options))
    top = votes.max(axis=1, initial=0)
    clear = (top > 0) & ((votes == top[:, None]).sum(axis=1) == 1)
    people = np.where(clear, votes.argmax(axis=1), -1)
    truths = ledger.book.tasks[tasks, c.TRUTH]
    told = np.flatnonzero(truths >= 0)
    votes[told] = 0
    votes[told, truths[told]] = 1
    asked, named = np.nonzero(votes)
    times = votes[asked, named]
    ballots = Ballots(
        task_names=tuple(ledger.tasks[task].id for task in tasks.tolist()),
        judge_names=tuple(ledger.workers[worker].id for worker in models),
        human_names=("people",),
        label_names=options,
        tasks=at[by_model],
        judges=model[by_model],
        labels=said[by_model].astype(np.int64),
        orders=np.zeros(int(by_model.sum()), np.int64),
        human_tasks=np.repeat(asked, times),
        humans=np.zeros(int(times.sum()), np.int64),
        human_labels=np.repeat(named, times),
    )
    return _Compared(ballots, people, truths)


def _judge(summary: WorkerSummary, place: int, found: _Compared) -> JudgeReport:
    mine = found.ballots.judges == place
    tasks, labels = found.ballots.tasks[mine], found.ballots.labels[mine]
    agreed, compared = _hits(labels, found.people[tasks])
    right, truths = _hits(labels, found.truths[tasks])
    return JudgeReport(
        id=summary.id,
        family=summary.family,
        source=summary.source,
        answers=summary.answered,
        failed=summary.failed,
        failures=summary.failures,
        cost_an_answer=summary.cost_an_answer,
        with_people=share(agreed, compared),
        compared=compared,
        accuracy=share(right, truths),
        truths=truths,
    )


def _hits(said: Array, expected: Array) -> tuple[int, int]:
    there = expected >= 0
    return int((said[there] == expected[there]).sum()), int(there.sum())
