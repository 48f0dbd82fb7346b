"""What a pilot has shown of its workers, one by one and together."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from askwise.auditing import PanelCard
from askwise.auditing.ballots import FAILED, Ballots, Sources, majority
from askwise.auditing.intervals import Interval, paired, share
from askwise.auditing.panels import panel_card
from askwise.campaign.piloting import UNASKED, PilotPhase, last_call
from askwise.campaign.refusals import conflict
from askwise.campaign.state import CampaignState
from askwise.core.arrays import Array
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.core.problem import WorkerKind
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class PilotWorker(Jsonable):
    """One worker of a pilot.

    Attributes
    ----------
    id, kind, family
        Who they are; None where nothing was said.
    answers, failed, declined, waiting, skipped : int
        Their questions by what has become of them: ``waiting`` are out or still to be asked,
        ``skipped`` were not asked before their task was closed.
    failures : dict of str to int
        Why calls failed, and how often.
    flips : int
        The failures that are ``orders``: the replies to both orders contradict each other.
    paid : Decimal
        What their calls cost, failures included.
    cost_an_answer, largest_cost : Decimal or None
        ``paid`` for each answer, and the most that one call cost.
    agreement : Interval or None
        How often they say what most others say; of k tied options each counts 1/k.
    compared : int
        Their answers to tasks that others answered too: those that ``agreement`` is about.
    accuracy : Interval or None
        How often they are right, on tasks whose truth is known.
    truths : int
        How many tasks these are.
    """

    id: str
    kind: WorkerKind | None
    family: str | None
    answers: int
    failed: int
    declined: int
    waiting: int
    skipped: int
    failures: dict[str, int]
    flips: int
    paid: Decimal
    cost_an_answer: Decimal | None
    largest_cost: Decimal | None
    agreement: Interval | None
    compared: int
    accuracy: Interval | None
    truths: int


@dataclass(frozen=True, slots=True)
class FamilyAgreement(Jsonable):
    """How far workers of one family agree, beside how far they agree with others.

    Attributes
    ----------
    family : str
        Their family.
    workers : tuple of str
        Those of it who are in the pilot.
    within, across : float
        Of the pairs of answers to one task, the share that agree: both of the family, and one of
        it with one of another worker; in the mean over tasks that have both.
    excess : Interval
        ``within`` minus ``across``.
    tasks : int
        How many tasks have both.
    suspicious : bool
        Whether the interval of ``excess`` is above 0: they seem to say the same for the same
        reasons, and so count for less than as many others.
    """

    family: str
    workers: tuple[str, ...]
    within: float
    across: float
    excess: Interval
    tasks: int
    suspicious: bool


@dataclass(frozen=True, slots=True)
class PilotReport(Jsonable):
    """What a pilot has shown so far.

    All intervals are at 95%.

    Attributes
    ----------
    phase : str
        ``waiting`` until its tasks are drawn, ``asking`` while questions are open, then ``done``.
    policy_decides : bool
        Whether the policy has begun: questions to workers who were away may still be open.
    wanted : int
        How many tasks were asked for.
    cut : str or None
        Why fewer were drawn: ``budget`` (more would cost more than a third of it) or ``tasks``
        (there are no more).
    tasks : tuple of str
        Those drawn, in their order.
    with_truth : int
        How many of them have a known truth now.
    questions, done, waiting, skipped : int
        Pairs of task and worker: all, ended, out or still to be asked, and left out since their
        task was closed first.
    paid : Decimal
        What the pilot has cost.
    workers : tuple of PilotWorker
        Each of them.
    panel : PanelCard or None
        All of them together, against known truths; None while no task has a truth and an answer.
    families : tuple of FamilyAgreement
        Families with two workers in the pilot, where others are in it too.
    """

    phase: Literal["waiting", "asking", "done"]
    policy_decides: bool
    wanted: int
    cut: Literal["budget", "tasks"] | None
    tasks: tuple[str, ...]
    with_truth: int
    questions: int
    done: int
    waiting: int
    skipped: int
    paid: Decimal
    workers: tuple[PilotWorker, ...]
    panel: PanelCard | None
    families: tuple[FamilyAgreement, ...] = field(default=())

    @property
    def n_eff(self) -> float | None:
        """How many workers that err independently would be worth as much; None if unknown."""
        if self.panel is None or self.panel.effective is None:
            return None
        return self.panel.effective.value


class Calls(NamedTuple):
    """The questions of a pilot: one entry each, in codes, with what became of it."""

    tasks: Array
    workers: Array
    status: Array
    labels: Array
    costs: Array


def pilot(state: CampaignState) -> PilotReport:
    """What the pilot has shown; only where ``pilot`` was given."""
    terms, ledger, phase = state.spec.pilot, state.ledger, state.pilot
    if terms is None:
        message = "this campaign has no pilot: create one with pilot=30, say"
        raise conflict("no_pilot", "pilot", message)
    if phase is None or ledger.pilot is None:
        nobody = tuple(_nothing_yet(state, worker) for worker in terms.workers)
        return PilotReport(
            *("waiting", False, terms.tasks, None, (), 0, 0, 0, 0, 0, Decimal(0)), nobody, None
        )
    calls = read_calls(state, phase)
    ballots = _ballots(state, phase, calls)
    over = ledger.book.tasks[np.array(phase.tasks, np.int64)[calls.tasks], c.CLOSED] == 1
    waiting = (calls.status == c.OUT) | (np.isin(calls.status, (UNASKED, c.EXPIRED)) & ~over)
    skipped = np.isin(calls.status, (UNASKED, c.EXPIRED)) & over
    draw = ledger.pilot.draw
    measured = bool(ballots.right[1].any())
    families = {
        ledger.workers[at].id: str(ledger.workers[at].family)
        for at in phase.workers
        if ledger.workers[at].family is not None
    }
    return PilotReport(
        phase="asking" if waiting.any() else "done",
        policy_decides=ledger.pilot.over,
        wanted=draw["wanted"],
        cut=draw["cut"],
        tasks=tuple(draw["tasks"]),
        with_truth=int(ballots.known.sum()),
        questions=len(calls.tasks),
        done=int((~waiting & ~skipped).sum()),
        waiting=int(waiting.sum()),
        skipped=int(skipped.sum()),
        paid=from_micro(int(calls.costs.sum())),
        workers=tuple(
            _worker(state, at, place, calls, ballots, waiting, skipped)
            for at, place in enumerate(phase.workers)
        ),
        panel=panel_card(ballots, families, seed=0) if measured else None,
        families=tuple(_families(ballots, families)),
    )


def read_calls(state: CampaignState, phase: PilotPhase) -> Calls:
    """The questions of a pilot, with the option that was said (-1: none) and what they cost."""
    book = state.ledger.book
    place_of = {task: at for at, task in enumerate(phase.tasks)}
    who = {worker: at for at, worker in enumerate(phase.workers)}
    rows = []
    for pair in phase.pairs:
        at, status = last_call(book, pair.task, pair.worker)
        label, cost = FAILED, 0
        if status in (c.SETTLED, c.FAILED):
            cost = int(book.assignments[at, c.COST])
        if status == c.SETTLED:
            label = int(book.marks[at, c.VALUE])
        rows.append((place_of[pair.task], who[pair.worker], status, label, cost))
    return Calls(*np.array(rows, np.int64).reshape(-1, 5).T)


def _ballots(state: CampaignState, phase: PilotPhase, calls: Calls) -> Ballots:
    """The answers of the pilot beside the truths that are known."""
    ledger = state.ledger
    truths = ledger.book.tasks[phase.tasks, c.TRUTH]
    known = np.flatnonzero(truths >= 0)
    said = (calls.status == c.SETTLED) | (calls.status == c.FAILED)
    return Ballots(
        task_names=tuple(ledger.tasks[task].id for task in phase.tasks),
        judge_names=tuple(ledger.workers[at].id for at in phase.workers),
        human_names=("truth",),
        label_names=state.spec.problem.options,
        tasks=calls.tasks[said],
        judges=calls.workers[said],
        labels=calls.labels[said],
        orders=np.zeros(int(said.sum()), np.int64),
        order_names=(),
        human_tasks=known,
        humans=np.zeros(len(known), np.int64),
        human_labels=truths[known],
        repeated_answers=0,
        elsewhere=0,
        sources=Sources(),
    )


def _worker(
    state: CampaignState,
    at: int,
    place: int,
    calls: Calls,
    ballots: Ballots,
    waiting: Array,
    skipped: Array,
) -> PilotWorker:
    worker, record = state.ledger.workers[place], state.ledger.pilot
    assert record is not None
    mine = calls.workers == at
    failures = record.failures.get(worker.id, Counter[str]())
    answers = int((mine & (calls.status == c.SETTLED)).sum())
    paid = int(calls.costs[mine].sum())
    called = mine & np.isin(calls.status, (c.SETTLED, c.FAILED))
    agreed, compared = _agreement(ballots, at)
    right, known = (part[:, at] for part in ballots.right)
    return PilotWorker(
        id=worker.id,
        kind=worker.kind,
        family=worker.family,
        answers=answers,
        failed=int((mine & (calls.status == c.FAILED)).sum()),
        declined=int((mine & (calls.status == c.DECLINED)).sum()),
        waiting=int((mine & waiting).sum()),
        skipped=int((mine & skipped).sum()),
        failures=dict(failures),
        flips=failures["orders"],
        paid=from_micro(paid),
        cost_an_answer=from_micro((2 * paid + answers) // (2 * answers)) if answers else None,
        largest_cost=from_micro(int(calls.costs[called].max())) if called.any() else None,
        agreement=share(agreed, compared),
        compared=compared,
        accuracy=share(float(right[known].sum()), int(known.sum())),
        truths=int(known.sum()),
    )


def _nothing_yet(state: CampaignState, name: str) -> PilotWorker:
    worker = state.ledger.workers[state.ledger.worker_at(name)]
    counts = (0, 0, 0, 0, 0, {}, 0, Decimal(0), None, None)
    return PilotWorker(name, worker.kind, worker.family, *counts, None, 0, None, 0)  # type: ignore[arg-type]


def _agreement(ballots: Ballots, judge: int) -> tuple[float, int]:
    """How many answers are what most others say, and how many have others beside them."""
    tasks, shares = ballots.dense(judge)
    others = ballots.votes[tasks] - shares
    here = others.sum(axis=1) > 0.5
    return float((shares * majority(others))[here].sum()), int(here.sum())


def _families(ballots: Ballots, families: dict[str, str]) -> list[FamilyAgreement]:
    """Families with two workers or more, beside workers who are not of them."""
    size = len(ballots.judge_names)
    said = np.full((len(ballots.task_names), size), FAILED)
    for at, ballot in enumerate(ballots.ballots):
        said[ballot.tasks, at] = ballot.labels
    found = []
    for family in dict.fromkeys(families.values()):
        own = [families.get(name) == family for name in ballots.judge_names]
        pairs = list(combinations(range(size), 2))
        within, here = _agreeing(said, [pair for pair in pairs if own[pair[0]] and own[pair[1]]])
        across, there = _agreeing(said, [pair for pair in pairs if own[pair[0]] != own[pair[1]]])
        both = here & there
        if not both.any():
            continue
        excess = paired(within[both] - across[both])
        found.append(
            FamilyAgreement(
                family,
                tuple(name for name, mine in zip(ballots.judge_names, own, strict=True) if mine),
                float(within[both].mean()),
                float(across[both].mean()),
                excess,
                int(both.sum()),
                excess.low > 0,
            )
        )
    return found


def _agreeing(said: Array, pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    """The share of pairs that agree on each task, and where there is such a pair."""
    agree, count = np.zeros(len(said)), np.zeros(len(said))
    for one, other in pairs:
        here = (said[:, one] != FAILED) & (said[:, other] != FAILED)
        count += here
        agree += here & (said[:, one] == said[:, other])
    return agree / np.maximum(count, 1), count > 0
