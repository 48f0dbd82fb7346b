"""A cascade: judges from cheap to expensive, trusted people last."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import between, whole
from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.labels import NO_LABEL, Label, told
from askwise.core.money import MICRO, NO_CAP
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact
from askwise.ledger import Ledger, Proposal, vectors
from askwise.ledger import columns as c
from askwise.ledger.proposals import ask_one
from askwise.ledger.queries import IDLE, at_limit
from askwise.policies.base import Axes, Policy, policies
from askwise.policies.capabilities import (
    Explains,
    GoldRequest,
    LabelsItself,
    Score,
    Settles,
    SuggestsGold,
)
from askwise.policies.gold import drawn_at_random, random_order
from askwise.policies.labels.cascade import moves
from askwise.policies.labels.cascade import state as s
from askwise.policies.labels.cascade.state import State, new_state
from askwise.policies.labels.cascade.thresholds import for_learning, standings
from askwise.policies.labels.common import voted

JUDGE, SAMPLE, TRUTH, ESCALATE = range(4)


def is_settled(state: State, ledger: Ledger) -> Array:
    """Whether judges have settled each task, or its truth is known."""
    return (moves.truths_of(ledger, state) >= 0) | (state.by[: ledger.total(c.TASKS)] > 0)


class Pair(NamedTuple):
    """Whom to ask about what, and what for."""

    worker: int
    task: int
    note: int


@policies.register("cascade")
@dataclass(frozen=True)
class CascadePolicy(Policy, Explains, LabelsItself, SuggestsGold, Settles):
    """Ask cheap judges first, more expensive ones while unsure, and trusted workers last.

    Judges of one price are a stage. After each stage a task has a score, the lead of its leading
    option: each stage counts by its share of votes for an option, times what truths say of its word
    for that option. The first stage after which the score is above a threshold settles the task; a
    task that no stage settles goes to a trusted worker. The threshold is as low as truths allow: of
    all tasks, no more than the share ``error`` is wrong, with probability ``confidence``.

    First a sample of ``truths`` tasks is put to all judges, and where its truth is not told
    (``campaign.truth``), to a trusted worker. A quarter of it teaches what stages count; on the
    rest the threshold is lowered, from one that settles nothing, for as long as few enough of the
    tasks that it settles are wrong, by the exact hypergeometric bound. That is one sequence of
    tests for the whole cascade, so the doubt of 1 - ``confidence`` is spent once and not on each
    stage. Until then no other task is asked about, and after it the threshold stays.

    Parameters
    ----------
    error : float
        Share of all labels that may be wrong.
    confidence : float
        Probability, over the random draw of the sample, that no larger share is wrong.
    truths : int
        Number of tasks in the sample. If the campaign has no more than that, trusted workers label
        all of them.

    Assumes that tasks whose truth is told are drawn at random, like those that ``needs_gold``
    names, and that trusted workers are right. Assumes nothing about judges. Needs options, a judge
    and a worker with ``trusted=True``. The promise is kept once it ends with ``Done("target")``:
    with ``Done("budget")`` or ``Done("limits")`` some tasks have no final label. Tasks added after
    the first truth or question go to trusted workers; judges who join then are not asked. A task
    also goes to a trusted worker if a stage is incomplete because a judge declined, left or reached
    their limit.

    Not for campaigns without a trusted source, nor for budgets that can't pay for the sample:
    ``truths`` times the prices of all judges and, where truths are not told, a trusted worker.

    References
    ----------
    After J. Jung, F. Brahman, Y. Choi, "Trust or Escalate: LLM judges with provable guarantees for
    human agreement", 2024; tested as in A. N. Angelopoulos et al., "Learn then Test", 2021.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[
    ...         Worker("small", "0.01"),
    ...         Worker("large", "0.1"),
    ...         Worker("vet", 2, trusted=True),
    ...     ],
    ...     tasks=[f"t{at}" for at in range(500)],
    ...     options=["no", "yes"],
    ...     budget=400,
    ...     policy={"name": "cascade", "error": 0.1, "truths": 60},
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].worker, campaign.status().needs_gold[0].count
    ('small', 60)
    """

    error: float = 0.1
    confidence: float = 0.9
    truths: int = 100

    paper: ClassVar[str] = "beyond 002"
    version: ClassVar[int] = 2
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ("next judge", "sample", "truth of the sample", "escalated")
    rule: ClassVar[str] = (
        "put a sample to all judges, to set the threshold by its truths; then every other task to "
        "one stage after the other until its score is above the threshold, else to the trusted"
    )
    axes: ClassVar[Axes] = {
        "worker": "stage lost weights record",
        "task": "at unasked complete place said by score",
    }

    def __post_init__(self) -> None:
        between(self.error, "error", 0, 1)
        between(self.confidence, "confidence", 0, 1)
        whole(self.truths, "truths", least=2)
        tested = math.ceil(math.log(1.0 - self.confidence) / math.log(1.0 - self.error) - 1e-9)
        least = next(at for at in range(tested, 2 * tested + 2) if at - for_learning(at) >= tested)
        if self.truths < least:
            raise InvalidParameter(
                f"truths is {self.truths}: even without an error they would not show that at most "
                f"{self.error:g} of many labels are wrong, with confidence {self.confidence:g}; "
                f"give {least} or more",
                field="truths",
            )

    def check(self, problem: Problem) -> None:
        """Refuse a campaign without anybody to begin or to end with, and crowds asked again."""
        super().check(problem)
        if problem.repeat:
            raise InvalidProblem(
                f"repeat is True: policy {self.name!r} asks each worker once about a task; leave "
                "it out",
                field="repeat",
            )
        trusted = [worker.trusted for worker in problem.workers]
        if not any(trusted) or all(trusted):
            missing = "judges" if any(trusted) else "a worker with trusted=True"
            raise InvalidProblem(
                f"workers lack {missing}: policy {self.name!r} puts tasks to judges, and to the "
                "trusted what no judge may settle",
                field="workers",
            )

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing has happened yet."""
        return new_state(ledger.book, len(problem.options))

    def absorb(
        self, problem: Problem, state: State, ledger: Ledger, fact: Fact, draw: Draw
    ) -> None:
        """Move tasks; set the threshold once all is known of the sample."""
        moves.take_in(ledger, state, fact, draw, self.truths)
        calibrated = state.meta[s.CALIBRATED] == 1
        if not calibrated and moves.is_sample_complete(ledger, state, self.truths):
            moves.calibrate(ledger, state, draw, error=self.error, confidence=self.confidence)

    def choose(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        """The next question of the earliest stage; of the trusted, about the least sure task."""
        money, total = vectors.money_left(ledger), ledger.total(c.TASKS)
        order = random_order(Draw(draw.key0, draw.key1, 0), total)
        pair = self.next_pair(state, ledger, order, money, available)
        if pair is not None:
            return ask_one(pair.worker, pair.task, note=pair.note)
        everyone = np.ones_like(available)
        if self.next_pair(state, ledger, order, money, everyone) is not None:
            return Wait("workers")
        if vectors.pending(ledger) > 0:
            return Wait("answers")
        if self.next_pair(state, ledger, order, NO_CAP, everyone) is not None:
            return Done("budget")
        return self.ended(state, ledger)

    def ended(self, state: State, ledger: Ledger) -> Wait | Done:
        """Why nobody is left to be asked, whatever the money."""
        joined = np.flatnonzero(vectors.joined(ledger))
        if len(joined) == 0:
            return Wait("workers")
        is_open = vectors.open_tasks(ledger)
        if not is_open.any():
            return Done("tasks")
        if is_settled(state, ledger)[is_open].all():
            return Done("target")
        limited = any(at_limit(ledger.book, worker) for worker in joined.tolist())
        return IDLE[c.DONE_LIMITS if limited else c.DONE_TASKS]

    def settled(self, problem: Problem, state: State, ledger: Ledger) -> Array:
        """The tasks that judges have settled, or whose truth is known."""
        return is_settled(state, ledger)

    def next_pair(
        self, state: State, ledger: Ledger, order: Array, money: int, available: Array
    ) -> Pair | None:
        """Whom to ask about what: judges first, then the sample's next task, the trusted last."""
        able = s.can_be_asked(ledger) & (available == 1) & (vectors.prices(ledger) <= money)
        if not able.any():
            return None
        finders = (self.judges_pair, self.sample_pair, self.trusted_pair, self.leftover_pair)
        for find in finders:
            pair = find(state, ledger, order, able)
            if pair is not None:
                return pair
        return None

    def judges_pair(self, state: State, ledger: Ledger, order: Array, able: Array) -> Pair | None:
        """A judge who is missing in the earliest stage that a task is with."""
        waiting = self.waiting(state, ledger)
        for at in range(1, int(state.meta[s.STAGES]) + 1):
            if not able[np.flatnonzero(state.stage[: len(able)] == at)].any():
                continue
            for task in order[(waiting & (state.at[: len(waiting)] == at))[order]].tolist():
                put = s.put_to(ledger.book, task)
                for worker in s.members(ledger, state.stage, task, at).tolist():
                    if able[worker] and worker not in put:
                        return Pair(worker, task, SAMPLE if state.place[task] > 0 else JUDGE)
        return None

    def sample_pair(self, state: State, ledger: Ledger, order: Array, able: Array) -> Pair | None:
        """The first question about the next task of the sample, if that is to grow.

        That task is the next in the drawn order, no matter who is on offer: to skip it because its
        workers are absent would make the draw no longer random.
        """
        meta = state.meta
        tasks = int(meta[s.POPULATION]) or len(order)
        if meta[s.CALIBRATED] == 1 or meta[s.SAMPLED] >= min(self.truths, tasks):
            return None
        drawn = (task for task in order.tolist() if task < tasks)
        task = next((each for each in drawn if moves.is_candidate(ledger, state, each)), None)
        if task is None:
            return None
        stage = state.stage if meta[s.POPULATION] > 0 else s.stages_of(ledger)
        at = s.first_stage(ledger, stage, state.lost, task, 1)
        if at > stage.max():
            return self.asking_cheapest(ledger, task, able & vectors.trusted(ledger), SAMPLE)
        who = [each for each in s.members(ledger, stage, task, at).tolist() if able[each]]
        return Pair(who[0], task, SAMPLE) if who else None

    def trusted_pair(self, state: State, ledger: Ledger, order: Array, able: Array) -> Pair | None:
        """A trusted worker: first about the sample, then about what judges leave least sure."""
        trusted = able & vectors.trusted(ledger)
        if not trusted.any():
            return None
        total = ledger.total(c.TASKS)
        left = self.waiting(state, ledger) & (state.at[:total] > state.meta[s.STAGES])
        left &= vectors.truths(ledger) < 0
        tasks = order[left[order]]
        outside = state.place[tasks] == 0
        for task in tasks[np.lexsort((state.score[tasks], outside))].tolist():
            note = ESCALATE if state.place[task] == 0 else TRUTH
            pair = self.asking_cheapest(ledger, task, trusted, note)
            if pair is not None:
                return pair
        return None

    def leftover_pair(self, state: State, ledger: Ledger, order: Array, able: Array) -> Pair | None:
        """Another judge, about a task that no trusted worker can be asked about: by price."""
        total, judges = ledger.total(c.TASKS), able & ~vectors.trusted(ledger)
        left = (state.at[:total] > state.meta[s.STAGES]) & (state.unasked[:total] == 0)
        left &= (moves.truths_of(ledger, state) < 0) & vectors.open_tasks(ledger)
        for task in order[left[order]].tolist():
            pair = self.asking_cheapest(ledger, task, judges, JUDGE)
            if pair is not None:
                return pair
        return None

    def asking_cheapest(self, ledger: Ledger, task: int, able: Array, note: int) -> Pair | None:
        """Ask the cheapest of some workers about a task."""
        put, prices = s.put_to(ledger.book, task), vectors.prices(ledger)
        who = [at for at in s.about(ledger, task, able).tolist() if at not in put]
        return Pair(min(who, key=lambda at: int(prices[at])), task, note) if who else None

    def waiting(self, state: State, ledger: Ledger) -> Array:
        """Tasks that somebody of their stage is to be asked about."""
        total = ledger.total(c.TASKS)
        needed = (state.place[:total] > 0) | (vectors.truths(ledger) < 0)
        return (state.unasked[:total] > 0) & needed & vectors.open_tasks(ledger)

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """What stands, by truths or by judges; elsewhere what judges favour, by agreement."""
        truths = moves.truths_of(ledger, state)
        found: list[Label] = []
        for task in tasks:
            if truths[task] >= 0:
                found.append(told(int(truths[task])))
            elif state.by[task] > 0:
                sure = self.share_right(state, int(state.by[task]))
                found.append(Label(float(state.said[task] - 1), sure, "calibrated"))
            else:
                found.append(self.unsettled(state, ledger, task, draw))
        return found

    def share_right(self, state: State, stage: int) -> float:
        """How many of the tasks that a stage settles are right, by those of the sample.

        Where a stage settles few of them, that leans on what all settle.
        """
        options = state.weights.shape[1]
        settled, right = state.record.sum(axis=0)
        overall = (right + 1.0) / (settled + options)
        of, right = state.record[stage - 1]
        return float((right + options * overall) / (of + options))

    def unsettled(self, state: State, ledger: Ledger, task: int, draw: Draw) -> Label:
        """What those who have answered favour: by weight, or by votes while there are none."""
        if ledger.book.tasks[task, c.TASK_ANSWERED] == 0:
            return NO_LABEL
        stages, options = int(state.meta[s.STAGES]), state.weights.shape[1]
        votes = s.votes_on(ledger.book, state.stage, task, stages, options)[None]
        weights = standings(votes, state.weights[:stages])[0].max(axis=0, initial=0.0)
        if weights.sum() == 0.0:
            weights = ledger.book.votes[task]
        return voted(weights, float(weights.sum()), draw, task)

    def needs_gold(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        """The truths of the sample that are not known, and tasks to fill it up with."""
        meta = state.meta
        if meta[s.CALIBRATED] == 1:
            return []
        tasks = int(meta[s.POPULATION]) or ledger.total(c.TASKS)
        places = state.place[:tasks]
        inside = np.flatnonzero((places > 0) & (moves.truths_of(ledger, state)[:tasks] < 0))
        named = [ledger.tasks[at].id for at in inside[np.argsort(places[inside])].tolist()]
        more = min(self.truths, tasks) - int(meta[s.SAMPLED])
        drawn = drawn_at_random(ledger, draw, tasks if more > 0 else 0)
        fresh = (each for each in drawn if self.is_outside(state, ledger, each, tasks))
        named += [task for task, _ in zip(fresh, range(more), strict=False)]
        return [GoldRequest(None, named, "calibration", len(named))] if named else []

    def is_outside(self, state: State, ledger: Ledger, task: str, tasks: int) -> bool:
        """Whether a task is among those that the sample is drawn from, and not in it."""
        at = ledger.task_at(task)
        return bool(at < tasks and state.place[at] == 0)

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """The stage of each worker, what its vote counts, and the threshold."""
        return list(self._scores(state, ledger))

    def _scores(self, state: State, ledger: Ledger) -> Iterator[Score]:
        stages = state.stage if state.meta[s.POPULATION] > 0 else s.stages_of(ledger)
        last = int(stages.max())
        for at, worker in enumerate(ledger.workers):
            stage = last + 1 if worker.trusted else int(stages[at])
            details = {"price": int(ledger.book.workers[at, c.PRICE]) / MICRO}
            if stage > 0:
                details["stage"] = float(stage)
            if 0 < stage <= last and state.meta[s.CALIBRATED] == 1:
                details["weight"] = float(state.weights[stage - 1].mean())
                details["threshold"] = float(state.threshold[0])
            yield Score(worker.id, float(last + 1 - stage) if stage > 0 else None, details)
