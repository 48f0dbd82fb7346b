"""What a pilot has shown of its workers, one by one and together."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

import numpy as np

from askwise.auditing import PanelCard
from askwise.auditing.ballots import FAILED, Ballots, majority
from askwise.auditing.intervals import Interval, share
from askwise.auditing.panels import panel_card
from askwise.campaign.piloting import ENDED, UNASKED, last_call, size_of
from askwise.campaign.refusals import conflict
from askwise.campaign.state import CampaignState
from askwise.campaign.views.families import FamilyAgreement, families_of, family_agreements
from askwise.campaign.views.workers import mean_money
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Id, JsonLimits, Positive
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.core.pilot import FEWEST_TASKS, PilotCut
from askwise.core.problem import WorkerKind
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class PilotWorker(Jsonable):
    """One worker of a pilot.

    Attributes
    ----------
    id : str
        The worker.
    kind : WorkerKind or None
        Whether they are a person, a model or a crowd; None where nothing was said.
    family : str or None
        A name shared by workers that err together; None where nothing was said.
    answers : int
        Questions that they answered.
    failed : int
        Questions whose call brought no answer.
    declined : int
        Questions that they turned down.
    waiting : int
        Questions that are out or still to be asked.
    skipped : int
        Questions that were not asked before their task was closed.
    failures : dict of str to int
        How often calls failed, by reason.
    flips : int
        The failures that are ``orders``: the replies to both orders contradict each other.
    paid : Decimal
        What their calls cost, failures included.
    cost_an_answer : Decimal or None
        ``paid`` for each answer; None without one.
    largest_cost : Decimal or None
        The most that one call cost; None without one.
    agreement : Interval or None
        How often they say what most others say; of k tied options each counts 1/k. None without
        such a task.
    compared : int
        Their answers to tasks that others answered too: those that ``agreement`` is about.
    accuracy : Interval or None
        How often they are right on tasks whose truth is known; None without such a task.
    truths : int
        How many tasks with a known truth they answered.
    """

    id: Id
    kind: WorkerKind | None
    family: str | None
    answers: Count
    failed: Count
    declined: Count
    waiting: Count
    skipped: Count
    failures: dict[str, Positive]
    flips: Count
    paid: Decimal
    cost_an_answer: Decimal | None
    largest_cost: Decimal | None
    agreement: Interval | None
    compared: Count
    accuracy: Interval | None
    truths: Count


@dataclass(frozen=True, slots=True)
class PilotProgress(Jsonable):
    """How far a pilot is.

    Attributes
    ----------
    phase : "waiting", "asking" or "done"
        ``waiting`` until its tasks are drawn, ``asking`` while questions are open, then ``done``.
    policy_decides : bool
        Whether the policy has begun: questions to workers who were away may still be open.
    wanted : int
        How many tasks were asked for.
    drawn : int
        How many tasks were drawn.
    cut : PilotCut or None
        Why that is fewer: ``budget`` (more would cost more than a third of it) or ``tasks`` (there
        are no more). While the pilot waits, what is to be expected. None where it is not fewer.
    questions : int
        Pairs of task and worker.
    done : int
        Questions that ended in an answer, a failure or a refusal.
    waiting : int
        Questions that are out or still to be asked.
    skipped : int
        Questions that were not asked before their task was closed.
    paid : Decimal
        What the pilot has cost.
    statement : str
        The same in a sentence.
    """

    phase: Literal["waiting", "asking", "done"]
    policy_decides: bool
    wanted: Annotated[int, JsonLimits(minimum=FEWEST_TASKS)]
    drawn: Count
    cut: PilotCut | None
    questions: Count
    done: Count
    waiting: Count
    skipped: Count
    paid: Decimal
    statement: str


@dataclass(frozen=True, slots=True)
class PilotReport(PilotProgress):
    """What a pilot has shown so far, beside how far it is. All intervals are at 95%.

    Attributes
    ----------
    tasks : tuple of str
        The tasks that were drawn, in their order.
    with_truth : int
        How many of them have a known truth now.
    workers : tuple of PilotWorker
        What was shown of each worker.
    panel : PanelCard or None
        All workers together, against known truths; None while no answer is to a task with one.
    families : tuple of FamilyAgreement
        Families with two workers in the pilot, where others are in it too.
    """

    tasks: tuple[Id, ...]
    with_truth: Count
    workers: Annotated[tuple[PilotWorker, ...], JsonLimits(minItems=1)]
    panel: PanelCard | None
    families: tuple[FamilyAgreement, ...]

    @property
    def n_eff(self) -> float | None:
        """How many workers that err independently would be worth as much; None if unknown."""
        if self.panel is None or self.panel.effective is None:
            return None
        return self.panel.effective.value


class PilotCalls(NamedTuple):
    """The questions of a pilot: one entry each, in codes, with what became of it."""

    tasks: Array
    workers: Array
    status: Array
    labels: Array
    costs: Array
    closed: Array

    @property
    def waiting(self) -> Array:
        """Which are out, or still to be asked."""
        return (self.status == c.OUT) | (self._unasked & (self.closed == 0))

    @property
    def skipped(self) -> Array:
        """Which were not asked before their task was closed."""
        return self._unasked & (self.closed == 1)

    @property
    def _unasked(self) -> Array:
        return (self.status == UNASKED) | (self.status == c.EXPIRED)


def pilot(state: CampaignState) -> PilotReport:
    """What the pilot has shown; only where ``pilot`` was given."""
    found = progress(state)
    if found is None:
        message = "this campaign has no pilot: create one with pilot=30, for example"
        raise conflict("no_pilot", "pilot", message)
    calls, phase, ledger = read_calls(state), state.pilot, state.ledger
    tasks = [] if phase is None else phase.tasks
    assert state.spec.pilot is not None
    workers = [ledger.worker_at(worker) for worker in state.spec.pilot.workers]
    ballots = _ballots(state, tasks, workers, calls)
    families = families_of(ledger.workers[at] for at in workers)
    measured = bool(ballots.right[1].any())
    return PilotReport(
        **{name: getattr(found, name) for name in PilotProgress.json_types()},
        tasks=ballots.task_names,
        with_truth=int(ballots.known.sum()),
        workers=tuple(
            _worker(state, at, place, calls, ballots) for at, place in enumerate(workers)
        ),
        panel=panel_card(ballots, families, seed=0) if measured else None,
        families=tuple(family_agreements(ballots, families)),
    )


def progress(state: CampaignState) -> PilotProgress | None:
    """How far the pilot is; None where there is none."""
    terms, ledger = state.spec.pilot, state.ledger
    if terms is None:
        return None
    calls, record = read_calls(state), ledger.pilot
    if record is None:
        drawn, (expected, cut) = 0, size_of(terms, ledger, ledger.total(c.TASKS))
        said = f"The pilot has not begun: {expected} tasks are to be put to "
        said += f"{_count(len(terms.workers), 'worker')}."
    else:
        drawn, cut = len(record.draw["tasks"]), record.draw["cut"]
        expected, ended = drawn, len(calls.tasks) - int(calls.waiting.sum())
        said = f"Done: {ended} of {_count(len(calls.tasks), 'question')} about "
        said += f"{_count(drawn, 'task')}."
    if cut is not None:
        why = "more would cost more than a third of the budget"
        why = why if cut == "budget" else "the campaign has no more"
        said += f" {terms.tasks} tasks were asked for: {why}."
    waiting, skipped = int(calls.waiting.sum()), int(calls.skipped.sum())
    return PilotProgress(
        phase="waiting" if record is None else "asking" if waiting else "done",
        policy_decides=record is not None and record.over,
        wanted=terms.tasks,
        drawn=drawn,
        cut=cut,
        questions=len(calls.tasks),
        done=len(calls.tasks) - waiting - skipped,
        waiting=waiting,
        skipped=skipped,
        paid=from_micro(int(calls.costs.sum())),
        statement=said,
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def read_calls(state: CampaignState) -> PilotCalls:
    """The questions of the pilot, with the option that was said (-1: none) and what they cost."""
    book, phase = state.ledger.book, state.pilot
    rows = []
    if phase is not None:
        place_of = {task: at for at, task in enumerate(phase.tasks)}
        who = {worker: at for at, worker in enumerate(phase.workers)}
        for task, worker, _ in phase.pairs:
            at, status = last_call(book, task, worker)
            paid = int(book.assignments[at, c.COST]) if status in (c.SETTLED, c.FAILED) else 0
            label = int(book.marks[at, c.VALUE]) if status == c.SETTLED else FAILED
            closed = int(book.tasks[task, c.CLOSED])
            rows.append((place_of[task], who[worker], status, label, paid, closed))
    return PilotCalls(*np.array(rows, np.int64).reshape(-1, 6).T)


def _ballots(
    state: CampaignState, tasks: list[int], workers: list[int], calls: PilotCalls
) -> Ballots:
    """The answers of the pilot beside the truths that are known."""
    ledger = state.ledger
    truths = ledger.book.tasks[np.array(tasks, np.int64), c.TRUTH]
    known = np.flatnonzero(truths >= 0)
    said = (calls.status == c.SETTLED) | (calls.status == c.FAILED)
    return Ballots(
        task_names=tuple(ledger.tasks[task].id for task in tasks),
        judge_names=tuple(ledger.workers[at].id for at in workers),
        human_names=("truth",),
        label_names=state.spec.problem.options,
        tasks=calls.tasks[said],
        judges=calls.workers[said],
        labels=calls.labels[said],
        orders=np.zeros(int(said.sum()), np.int64),
        human_tasks=known,
        humans=np.zeros(len(known), np.int64),
        human_labels=truths[known],
    )


def _worker(
    state: CampaignState, at: int, place: int, calls: PilotCalls, ballots: Ballots
) -> PilotWorker:
    worker, record = state.ledger.workers[place], state.ledger.pilot
    failures = Counter() if record is None else record.failures.get(worker.id, Counter[str]())
    mine = calls.workers == at
    count = {each: int((calls.status[mine] == each).sum()) for each in ENDED}
    paid, answers = calls.costs[mine], count[c.SETTLED]
    called = count[c.SETTLED] + count[c.FAILED] > 0
    agreed, compared = _agreement(ballots, at)
    right, known = (part[:, at] for part in ballots.right)
    return PilotWorker(
        id=worker.id,
        kind=worker.kind,
        family=worker.family,
        answers=answers,
        failed=count[c.FAILED],
        declined=count[c.DECLINED],
        waiting=int(calls.waiting[mine].sum()),
        skipped=int(calls.skipped[mine].sum()),
        failures=dict(failures),
        flips=failures["orders"],
        paid=from_micro(int(paid.sum())),
        cost_an_answer=mean_money(int(paid.sum()), answers),
        largest_cost=from_micro(int(paid.max())) if called else None,
        agreement=share(agreed, compared),
        compared=compared,
        accuracy=share(float(right[known].sum()), int(known.sum())),
        truths=int(known.sum()),
    )


def _agreement(ballots: Ballots, judge: int) -> tuple[float, int]:
    """How many answers are what most others say, and how many have others beside them."""
    tasks, shares = ballots.dense(judge)
    others = ballots.votes[tasks] - shares
    here = others.sum(axis=1) > 0.5
    return float((shares * majority(others))[here].sum()), int(here.sum())
