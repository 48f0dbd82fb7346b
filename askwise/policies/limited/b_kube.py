"""B-KUBE for labelling: one task at a time, workers drawn from the plan by upper bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import flag, real
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.kernels.knapsack import fill_by_density
from askwise.ledger import Book, Ledger, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import idle, may_come, money_left, room, tasks_for
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.bounded.kube import draw_from_plan
from askwise.policies.capabilities import NeedsStopping, Score, TakesPilot
from askwise.policies.crowds.common import may_ask
from askwise.policies.limited import skills as skillset
from askwise.policies.limited.common import (
    AGREED,
    COUNT,
    WORTH,
    LimitedPolicy,
    learn,
    was_right,
)


@by_reference
class State(NamedTuple):
    """Records by context and worker, tables of f_k, and where to look for the task in hand; of
    skills, what each worker's answers say and what each context needs.
    """

    beliefs: Array
    given: Array
    place: Array
    moments: Array
    sums: Array
    needs: Array


class Params(NamedTuple):
    """Factor of the confidence term, the inference function, whether contexts are told apart, and
    how much skills are pooled; 0 where there are none.
    """

    bonus: float
    inference: int
    by_context: int
    pooling: float


@step
def somebody_left(book: Book, task: int) -> bool:
    """Whether anyone who joined could still be asked about a task, money and presence apart."""
    for worker in range(book.totals[c.WORKERS]):
        if may_come(book, task, worker):
            return True
    return False


@step
def task_in_hand(book: Book, first: int, available: Array) -> int:
    """Find the first open task that somebody can be asked now; -1 if there is none.

    Tasks before ``first`` are closed, or everyone was asked: they are looked at last.
    """
    totals = book.totals
    money = money_left(totals)
    anyone = False
    for worker in range(totals[c.WORKERS]):
        anyone = anyone or (available[worker] == 1 and room(book, worker, money) > 0)
    if not anyone:
        # All tasks would be looked at in vain, when the money is gone, say.
        return -1
    count = totals[c.TASKS]
    for place in range(count):
        task = first + place if first + place < count else first + place - count
        if book.tasks[task, c.CLOSED] == 0:
            for worker in range(totals[c.WORKERS]):
                if may_ask(book, task, worker, money, available):
                    return task
    return -1


@step
def upper_bound(record: Array, worker: int, bonus: float, answers: int) -> float:
    """w_k of algorithm 2: the value contribution, zero if negative, and a confidence term."""
    seen = record[worker, COUNT]
    # n is the number of this iteration.
    term = math.sqrt(2.0 * math.log(answers + 1.0) / seen)
    return record[worker, WORTH] / seen + bonus * term


@step
def value_workers(
    book: Book, record: Array, bonus: float, task: int, available: Array, out: Proposal
) -> int:
    """Bounds, prices and room of those who can be asked about a task, into scratch space.

    Returns the index of a worker who was never tried, or -1. A worker on their first answer is
    neither tried nor planned with.
    """
    totals, workers = book.totals, book.workers
    money = money_left(totals)
    values, prices, rooms = out.real[0], out.whole[0], out.whole[1]
    for worker in range(totals[c.WORKERS]):
        prices[worker] = workers[worker, c.PRICE]
        rooms[worker] = 0
        values[worker] = 0.0
        if not may_ask(book, task, worker, money, available):
            continue
        if record[worker, COUNT] > 0.0:
            rooms[worker] = workers[worker, c.LIMIT] - workers[worker, c.ASKED]
            if workers[worker, c.ONCE] == 1:
                rooms[worker] = min(rooms[worker], tasks_for(book, worker))
            values[worker] = upper_bound(record, worker, bonus, totals[c.ANSWERS])
        elif workers[worker, c.ASKED] == workers[worker, c.ANSWERED]:
            return worker
    return -1


@step
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Algorithm 1: everyone once; then a draw from the plan of algorithm 2."""
    task = task_in_hand(book, state.place[0], available)
    if task < 0:
        return idle(book, available)
    record = state.beliefs[book.tasks[task, c.CONTEXT] if params.by_context == 1 else 0]
    untried = value_workers(book, record, params.bonus, task, available, out)
    if untried >= 0:
        propose(out, task, untried, 1, 1.0)
        return c.PROPOSED
    n, money = book.totals[c.WORKERS], money_left(book.totals)
    values, prices, rooms, counts = out.real[0], out.whole[0], out.whole[1], out.whole[2]
    fill_by_density(values, prices, rooms, money, counts[:n], out.real[1])
    code = draw_from_plan(book, draw, available, out)
    if code == c.PROPOSED:
        out.rows[0, c.PLAN_TASK] = task
    return code


@kernel
def move_on(book: Book, place: Array, kind: int, task: int, worker: int) -> None:
    """Pass over tasks that are closed or for which nobody is left; go back where somebody is."""
    workers = book.workers
    if kind == k.JOINED:
        place[0] = 0
    elif kind in (k.EXPIRED, k.DECLINED):
        # They may be asked again; if they were at their limit, then about any task.
        full = workers[worker, c.ASKED] == workers[worker, c.LIMIT] - 1
        place[0] = 0 if full else min(place[0], task)
    while place[0] < book.totals[c.TASKS]:
        if book.tasks[place[0], c.CLOSED] == 0 and somebody_left(book, place[0]):
            break
        place[0] += 1


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Judge an answer by the vote; see which task is in hand."""
    if fact.kind == k.DECIDED:
        return
    context = 0
    if params.by_context == 1 and fact.task >= 0:
        context = book.tasks[fact.task, c.CONTEXT]
    beliefs, given, inference = state.beliefs, state.given, params.inference
    if params.pooling == 0.0:
        learn(book, beliefs[context], given, inference, fact, draw)
    elif fact.kind == k.ANSWER:
        moments, sums, needs, totals = state.moments, state.sums, state.needs, book.totals
        right = was_right(book, beliefs[context], given, inference, fact, draw)
        skillset.add_answer(moments, sums, needs, fact.worker, context, right)
        skillset.rate(
            beliefs, given, moments, sums, needs, fact.worker,
            totals[c.CONTEXTS], params.pooling, inference, totals[c.OPTIONS],
        )  # fmt: skip
    move_on(book, state.place, fact.kind, fact.task, fact.worker)


@policies.register("b-kube")
@dataclass(frozen=True)
class BKube(LimitedPolicy, NeedsStopping, TakesPilot):
    """Label task by task; draw each next worker from the best plan by upper confidence bounds.

    A worker's value contribution v (11) is what their answer adds to the right label's lead;
    their accuracy is how often they agreed with the vote as it stood after each answer. After
    everyone was asked once, every step plans the money left by density over
    w = max(0, v) + bonus * sqrt(2 ln n / answers), within limits, and asks a worker drawn in
    proportion to their count in that plan. It stays on a task until the campaign's stopping rule
    closes it, or nobody is left to be asked about it.

    Parameters
    ----------
    inference : "majority", "weighted-majority", "map" or a table
        How answers are weighed: f(l, l') is what the answer l' contributes to the label l. All
        count the same; by the worker's lead over chance; by the worker's log-odds; or as a table
        says (a row for each label l, numbers from 0 to 1). For one table per worker override
        ``inference_of``.
    label_prior : sequence of float, optional
        With ``map``: the prior probability of each label, in the order of the options; equal by
        default.
    bonus : float
        Factor of the confidence term (1 in the paper; .25 erred less in every cell of
        ``limited-labels``).
    by_context : bool
        Learn each worker's accuracy in every context separately; tasks without a context share
        one. Everyone is then tried once in each, and a plan treats the money left as if all of it
        went into the context of the current task.
    skills : mapping of context to skills, optional
        Learn each worker's accuracy in skills, of which tasks need one or several by their context:
        ``{"letters": ["french", "law"], "menus": "french"}``, or a mapping of skills to weights.
        A task's accuracy is the weighted mean of its skills'. Tasks of other contexts go by the
        worker's overall accuracy. Everyone is tried once, in whichever context.
    pooling : float
        With ``skills``: how many answers a worker's overall accuracy counts for in each skill. 9
        fits accuracies that are anything from chance to one, whatever they are in other skills;
        more fits skills that go together.

    Assumes answers that are right with a fixed probability per worker (and context), errors
    spread evenly over the wrong labels, and a vote that is right more often than not: a worker
    who agrees with a wrong majority is considered a good one. Needs options, prices above 0 and a
    budget. Needs a stopping rule to get beyond the first tasks (``gap`` in the paper); the paper
    asks a worker about the same task again (``repeat``), which people seldom stand for.

    The paper's outlook (section 7) makes a worker's value a vector over skills: that is ``skills``.
    ``by_context`` is the case of one skill per task with nothing in common between them.

    Not for budgets of a few answers per worker: it explores for long. Not where spammers are many
    and cheap.

    References
    ----------
    Paper 001, algorithms 1 and 2, section 5.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1), Worker("c", 2)],
    ...     tasks=["t1", "t2"],
    ...     options=["no", "yes"],
    ...     budget=20,
    ...     policy="b-kube",
    ...     stopping={"name": "gap", "quality": 1, "smooth": False},
    ... )
    >>> for answer in ("yes", "yes", "no"):
    ...     asked = campaign.ask()[0]
    ...     print(asked.task, asked.worker)
    ...     campaign.tell(asked.id, answer)
    t1 a
    t1 b
    t2 c
    """

    bonus: float = 1.0
    by_context: bool = False
    skills: Mapping[str, Any] | None = field(default=None, kw_only=True, metadata=LATER)
    pooling: float = field(default=skillset.POOLING, kw_only=True, metadata=LATER)
    axes: ClassVar[Axes] = {
        "worker": "given moments sums",
        "context worker": "beliefs",
        "context": "needs",
    }
    version: ClassVar[int] = 2
    notes: ClassVar[tuple[str, ...]] = ("first try", "draw from the plan")
    rule: ClassVar[str] = (
        "task by task, each worker once; then plan the rest of the budget by upper bounds on "
        "value contributions and draw a worker in proportion to their share of the plan"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.bonus, "bonus", "a factor of 0 or more", least=0)
        flag(self.by_context, "by_context")
        real(self.pooling, "pooling", "a number from 0.01 to a million", least=0.01, most=1e6)
        if self.skills is not None:
            object.__setattr__(self, "skills", skillset.read_skills(self.skills))
            if self.by_context:
                raise InvalidParameter(
                    "by_context is true and skills are given: leave one of the two out",
                    field="by_context",
                )

    def __hash__(self) -> int:
        return hash((self.name, self.bonus, self.by_context, self.pooling))

    @property
    def _told_apart(self) -> bool:
        """Whether a worker's record depends on a task's context."""
        return self.by_context or self.skills is not None

    def params(self) -> Params:
        """As plain numbers."""
        pooling = 0.0 if self.skills is None else float(self.pooling)
        return Params(float(self.bonus), self.code, int(self._told_apart), pooling)

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nobody known, the first task in hand."""
        book = ledger.book
        size = 0 if self.skills is None else 1 + len(skillset.skill_names(self.skills))
        state = State(
            np.zeros((len(book.contexts), len(book.workers), 3)),
            self.tables(problem, ledger),
            np.zeros(1, np.int64),
            np.zeros((len(book.workers), size, size)),
            np.zeros((len(book.workers), size)),
            np.zeros((len(book.contexts), size)),
        )
        if self.skills is not None:
            skillset.fill_needs(self.skills, ledger.contexts, state.needs)
        return state

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        """Run the absorbing kernel; a context that comes with new tasks needs skills, too."""
        if fact.kind == k.ADDED and self.skills is not None:
            skillset.fill_needs(self.skills, ledger.contexts, state.needs)
            for worker in np.flatnonzero(state.moments[:, 0, 0] > 0.0).tolist():
                skillset.rate(
                    *(state.beliefs, state.given, state.moments, state.sums, state.needs),
                    *(worker, ledger.total(c.CONTEXTS), self.params().pooling),
                    *(self.code, ledger.total(c.OPTIONS)),
                )
        super().absorb(problem, state, ledger, fact, draw)

    def record(self, state: State, ledger: Ledger, task: int) -> Array:
        """What is known of the workers in a task's context."""
        context = int(ledger.book.tasks[task, c.CONTEXT]) if self._told_apart else 0
        return state.beliefs[context]

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Upper bound per price of every worker, on the task in hand."""
        book = ledger.book
        task = int(task_in_hand(book, int(state.place[0]), available))
        if task < 0:
            return []
        record, money = self.record(state, ledger, task), int(money_left(book.totals))
        found = []
        for at, worker in enumerate(ledger.workers):
            count, price = float(record[at, COUNT]), int(book.workers[at, c.PRICE]) / MICRO
            details = {
                "answers": count,
                "price": price,
                "may_be_asked": float(may_ask(book, task, at, money, available)),
            }
            if count == 0:
                found.append(Score(worker.id, None, details))
                continue
            bound = float(upper_bound(record, at, float(self.bonus), ledger.total(c.ANSWERS)))
            details["accuracy"] = float(record[at, AGREED]) / count
            details["value"] = float(record[at, WORTH]) / count
            details["upper_bound"] = bound
            found.append(Score(worker.id, bound / price, details))
        return found
