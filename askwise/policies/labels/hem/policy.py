"""Hierarchical EM: ask where it pays, those who are believed to know."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.checks import real
from askwise.core.labels import NO_LABEL, Label, RestsOn, told
from askwise.core.money import NO_CAP
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact, kernel
from askwise.kernels.calibration import LEAST_TRUTHS
from askwise.kernels.hem import FULL_ROUNDS, JUDGED
from askwise.ledger import Book, Ledger, Proposal, idle, may_put, money_left, propose
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import at_limit
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.capabilities import (
    GoldRequest,
    LabelsItself,
    LimitsSize,
    Settles,
    SuggestsGold,
    TakesPilot,
)
from askwise.policies.gold import drawn_at_random
from askwise.policies.labels.common import Opinion, RankedPolicy, is_over
from askwise.policies.labels.hem import asking, beliefs, ranking
from askwise.policies.labels.hem import state as s
from askwise.policies.labels.hem.confidence import CALIBRATING, confidence_in, fit_all
from askwise.policies.labels.hem.ranking import Params
from askwise.policies.labels.hem.state import State, new_state
from askwise.policies.labels.tournament import build_tree, first_task, new_tree

MOST_CELLS = 5_000_000
"""The most that options * workers and options * options may be: what a fit goes over, and how much
memory it takes."""

ASK, EXPERT, SETTLE, TEST = range(4)


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """The task that is next, and the worker who tells most about it for their price."""
    money = money_left(book.totals)
    task, expert = asking.task_to_settle(book, state, money, available)
    if expert >= 0:
        out.head[1] = SETTLE
        propose(out, task, expert, 1, 1.0)
        return c.PROPOSED
    task, worker = asking.test_question(book, state, params, money, available)
    if worker >= 0:
        out.head[1] = TEST
        propose(out, task, worker, 1, 1.0)
        return c.PROPOSED
    task = first_task(book, state.tree, state.keys, money, available)
    if task < 0:
        return why_nothing(book, state, params, money, available, out)
    worker = asking.best_worker(book, state, task, money, available)
    expert = asking.expert_for(book, state, task, worker, money, available)
    out.head[1] = ASK if expert < 0 else EXPERT
    propose(out, task, worker if expert < 0 else expert, 1, 1.0)
    return c.PROPOSED


@kernel
def why_nothing(
    book: Book, state: State, params: Params, money: int, available: Array, out: Proposal
) -> int:
    """Why nobody is asked: tasks that are settled count as done though they are open."""
    everyone = out.whole[0]
    for worker in range(book.totals[c.WORKERS]):
        everyone[worker] = 1
    if first_task(book, state.tree, state.keys, money, everyone) >= 0:
        return c.WAIT_WORKERS
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    if first_task(book, state.tree, state.keys, NO_CAP, everyone) >= 0:
        return c.DONE_BUDGET
    settled = False
    unsettled = False
    by_answers = False
    for task in range(book.totals[c.TASKS]):
        if state.keys[task] < math.inf:
            unsettled = True
        elif not is_over(book, task):
            settled = True
            by_answers = by_answers or state.known[task] == 0
        elif book.tasks[task, c.CLOSED] == 0 and state.known[task] == 0 and not unsettled:
            # Everyone was asked about it, and that may not have been enough.
            unsettled = bool(
                book.tasks[task, c.TASK_ANSWERED] == 0
                or confidence_in(book, state, task) < 1.0 - params.target
            )
    if not settled:
        return idle(book, available)
    if unsettled:
        # Not to be mistaken for done: nobody is left who could be asked about the rest.
        joined = False
        for worker in range(book.totals[c.WORKERS]):
            if book.workers[worker, c.JOINED] == 1:
                joined = True
                if at_limit(book, worker):
                    return c.DONE_LIMITS
        return c.DONE_TASKS if joined else c.WAIT_WORKERS
    # Sure enough by agreement alone is not the target: that is a probability.
    if by_answers and state.meta[s.MAPPED] < LEAST_TRUTHS:
        return c.DONE_AGREEMENT
    return c.DONE_TARGET


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from answers and truths, refit when there is news enough, and rank."""
    kind = fact.kind
    if kind in (k.ADDED, k.JOINED):
        build_tree(state.tree, state.keys, book.totals[c.TASKS])
        beliefs.part_contexts(book, state)
        if kind == k.JOINED and beliefs.trust_changed(book, state):
            fit_all(book, state, beliefs.ROUNDS)
        ranking.place_all(book, state, params)
    elif fact.task >= 0:
        if kind == k.ANSWER:
            beliefs.learn(book, state, fact)
        elif kind == k.TRUTH:
            beliefs.learn_truth(book, state, fact)
        ranking.place(book, state, params, fact.task)
    if beliefs.is_due(book, state):
        fit_all(book, state, beliefs.ROUNDS)
        ranking.place_heard(book, state, params)
    ranking.place_if_due(book, state, params)
    news = state.meta[s.SINCE] > 0 or (state.meta[s.HEARD] > 0 and state.meta[s.WHOLE] == 0)
    audited = kind == k.TRUTH and fact.task >= 0 and book.tasks[fact.task, c.CLOSED] == 1
    if params.target > 0.0 and news and not audited and ranking.nothing_left(state):
        # An end is believed only after the fit whose labels are reported. A truth about a task
        # that is closed, as an audit brings it, ends nothing.
        fit_all(book, state, FULL_ROUNDS)
        ranking.place_heard(book, state, params)


@policies.register("hem")
@dataclass(frozen=True)
class Hem(RankedPolicy, LabelsItself, SuggestsGold, LimitsSize, TakesPilot, Settles):
    """Learn who is right about what, and ask where an answer is worth most.

    Workers' accuracies are partially pooled: that of a newcomer is the crowd's, that in a context
    leans on the worker's in others, that on a class deviates from both as far as answers demand.
    First few tasks are pursued until they are fairly sure, so that workers are judged by each
    other; then every task gets an answer, and the least sure come first. Where truths are known,
    the most promising workers are tested on them first; with a target, known tasks are asked about
    in their turn instead. The worker asked is the one believed to
    tell most for their price: by the square of their lead over chance, with a bonus for what is not
    known of them. A trusted worker is asked where they tell more for their price than others do, or
    where their answer settles who is right in a context.

    A confidence is tempered, since answers are never quite independent, and calibrated by the
    truths that are known: it then rests on ``calibrated``, with fewer than ten of them on
    ``agreement``.

    Parameters
    ----------
    target : float
        Probability of being wrong at which a task is done. Easy tasks end early, and the campaign
        may end with money left: with ``Done("target")`` if confidences are calibrated, with
        ``Done("agreement")`` if they rest on agreement alone. A single answer is believed with
        probability .9 at most, so a target below .1 takes at least two per task. 0 spends the whole
        budget.

    Assumes that most workers are right more often than not, on average over contexts. Takes
    several options, prices, limits, families, known truths (``truth``) and trusted workers; tasks
    without a context share one. ``needs_gold`` names tasks whose truth would settle who is right in
    a context, or turn agreement into a probability.

    Not for workers who agree on wrong answers, unless the truth of a few tasks is told or they are
    one family: they look best and are asked most. Options times workers, and options times options,
    may be at most 5,000,000; larger campaigns are refused, and so are workers who would make one
    larger.

    References
    ----------
    Beyond paper 002: information sharing among contexts and experts are the future work that its
    section 6 names. The model is that of A. Dawid, A. Skene, "Maximum likelihood estimation of
    observer error-rates using the EM algorithm", 1979, with borrowed counts.

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", "0.05"), Worker("bob", "0.05"), Worker("vet", 2, trusted=True)],
    ...     tasks=[Task("a", context="birds"), Task("b", context="cats")],
    ...     options=["no", "yes"],
    ...     budget=1,
    ...     policy="hem",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].worker
    'ann'
    """

    target: float = 0.0

    paper: ClassVar[str] = "beyond 002"
    notes: ClassVar[tuple[str, ...]] = (
        "most telling worker", "expert", "expert to settle", "test question",
    )  # fmt: skip
    rule: ClassVar[str] = (
        "without a target, test workers on tasks whose truth is known; pursue few tasks until they "
        "are fairly sure, then all, the least sure first; ask the worker believed to tell most for "
        "their price"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)
    axes: ClassVar[Axes] = {
        "task": "keys order known told given posterior blind",
        "context worker": "skill_of",
        "cell": "worker place shown",
        "worker": "trusted tested lift ease totals right seen due wrong alone",
        "context": "shares sides settling",
    }
    derived: ClassVar[tuple[str, ...]] = ("tree", "occurs", "scratch")
    version: ClassVar[int] = 7

    def __post_init__(self) -> None:
        real(self.target, "target", "a probability from 0 to below 1", least=0, most=0.999)

    def check_size(self, options: int, workers: int) -> None:
        """Refuse more options and workers than a decision can go over."""
        what = "options * options" if options > workers else "options * workers"
        self.refuse_size(
            f"{what} with {options} options and {workers} workers",
            options * max(options, workers), MOST_CELLS,
            "options" if options > workers else "workers", "use 'random-pairs', or fewer options",
        )  # fmt: skip

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.target))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing believed yet."""
        book = ledger.book
        state = new_state(book, max(1, len(problem.options)), new_tree(len(book.tasks)))
        build_tree(state.tree, state.keys, ledger.total(c.TASKS))
        beliefs.part_contexts(book, state)
        beliefs.count_classes(book, state)
        state.trusted[:] = book.workers[:, c.TRUSTED]
        state.meta[s.MODE] = ranking.mode(book)
        state.meta[s.CAUTIOUS] = 1 if self.target > 0.0 else 0
        return state

    def grow(self, state: State, ledger: Ledger) -> State:
        """Also sum up again how common classes are."""
        grown: State = super().grow(state, ledger)
        beliefs.count_classes(ledger.book, grown)
        return grown

    def restore(self, problem: Problem, ledger: Ledger, kept: dict[str, Array]) -> State:
        """Also sum up again how common classes are."""
        restored: State = super().restore(problem, ledger, kept)
        beliefs.count_classes(ledger.book, restored)
        return restored

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """The most probable option after a fit to all answers, and its probability."""
        final, book = self.fitted(state, ledger), ledger.book
        rests_on: RestsOn = "calibrated" if final.meta[s.MAPPED] >= LEAST_TRUTHS else "agreement"
        found: list[Label] = []
        for task in tasks:
            if final.known[task] > 0:
                found.append(told(int(final.known[task]) - 1))
            elif book.tasks[task, c.TASK_ANSWERED] == 0:
                found.append(NO_LABEL)
            else:
                option = int(np.argmax(final.blind[task]))
                sure = float(confidence_in(book, final, task))
                found.append(Label(float(option), sure, rests_on))
        return found

    def fitted(self, state: State, ledger: Ledger) -> State:
        """Beliefs after a whole fit, in arrays of their own."""
        final = State(*(array.copy() for array in state))
        fit_all(ledger.book, final, FULL_ROUNDS)
        return final

    def settled(self, problem: Problem, state: State, ledger: Ledger) -> Array:
        """The tasks that are at the target, or known; without a target only the known ones."""
        book, total = ledger.book, ledger.total(c.TASKS)
        found = state.known[:total] > 0
        if self.target == 0.0:
            return found
        rows = book.tasks[:total]
        asked, answered = rows[:, c.TASK_ASKED], rows[:, c.TASK_ANSWERED]
        idle_tasks = np.isinf(state.keys[:total]) & (answered > 0) & (asked == answered)
        idle_tasks &= ~found & (rows[:, c.CLOSED] == 0)
        most = np.where(rows[:, c.NAMED] >= 0, rows[:, c.NAMED], ledger.total(c.WORKERS))
        # A task that others could be asked about is left alone for one reason: it is sure enough.
        found |= idle_tasks & (asked < most)
        for task in np.flatnonzero(idle_tasks & (asked >= most)).tolist():
            found[task] = confidence_in(book, state, task) >= 1.0 - self.target
        return found

    def needs_gold(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        """Contexts whose answers fit nearly as well with right and wrong swapped, and what a target
        needs to be a probability.
        """
        names = {number: name for name, number in ledger.contexts.items()}
        found = []
        for at in range(ledger.total(c.CONTEXTS)):
            tasks = [
                ledger.tasks[task - 1].id
                for task in state.settling[at]
                if task > 0 and state.known[task - 1] == 0
            ]
            # Where all truths are known there is nothing more to ask for.
            if tasks and asking.is_open_side(state, at):
                found.append(GoldRequest(names[at], tasks, "side"))
        wanted = CALIBRATING - int((state.known > 0).sum())
        if self.target > 0.0 and wanted > 0:
            drawn = drawn_at_random(ledger, draw, wanted)
            if drawn:
                found.append(GoldRequest(None, drawn, "calibration", len(drawn)))
        return found

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """Accuracy with its bonus, and what each worker is ranked by, on the task that is next."""
        book = ledger.book
        task = int(first_task(book, state.tree, state.keys, money_left(book.totals), available))
        if task < 0:
            return
        context = int(book.tasks[task, c.CONTEXT])
        unit = float(asking.unit_price(book))
        for at, worker in enumerate(ledger.workers):
            index = None
            if not worker.trusted and may_put(book, task, at):
                index = float(asking.worth(book, state, context, at, unit))
            yield (
                index,
                {
                    "optimistic_accuracy": float(asking.optimism(book, state, context, at)),
                    "judged_answers": float(state.totals[at, JUDGED]),
                },
            )
