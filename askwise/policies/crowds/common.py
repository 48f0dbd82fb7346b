"""What the policies of the survey family share: the next question, votes, prices.

Paper 004: I. Abraham, O. Alonso, V. Kandylas, A. Slivkins, "Adaptive crowdsourcing algorithms
for the bandit survey problem", COLT 2013. A worker here is a crowd: asked about the same
question again and again, each time somebody else answers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import real, whole
from askwise.core.compiling import bind
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.kernels.votes import answers_in, two_largest
from askwise.ledger import Book, Ledger, Proposal, cell_of, idle, may_put, money_left, propose
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import ahead, at_hand, next_task
from askwise.policies.base import Axes, KernelPolicy
from askwise.policies.capabilities import AsksCrowds, Cautions, Explains, LimitsSize, Score

PAPER = "004"


FREE_PRICE = 0.25
"""A crowd that costs nothing is ranked at this share of the cheapest price, unless one says so."""

ALL = 0
"""Instead of a number of questions under way at a time: all that are open."""

# Columns of `shown`: answers to questions closed since, and how many of them were right.
SEEN, RIGHT = range(2)


@by_reference
class State(NamedTuple):
    """Votes by pair of question and crowd, old ones faded; what crowds showed elsewhere."""

    counts: Array
    shown: Array


class Memory(NamedTuple):
    """How votes fade, and how many answers a crowd's record on other questions is worth."""

    discount: float
    prior: float


class SurveyTerms(NamedTuple):
    """What all policies of the family share: questions under way at a time (or ALL), and the price
    that a crowd which costs nothing is ranked at, as a share of the cheapest.
    """

    open_at_once: int
    free_price: float


class Prices(NamedTuple):
    """The cheapest price above zero, 0 if there is none; whether a crowd costs nothing; relative to
    that price, the least that a crowd is ranked at, and what a question has cost so far.
    """

    unit: float
    free: bool
    least: float
    so_far: float


class TermsOnly(NamedTuple):
    """The parameters of a policy that has only those of the family."""

    terms: SurveyTerms


class Params(NamedTuple):
    """How votes are remembered."""

    memory: Memory
    terms: SurveyTerms


class Heard(NamedTuple):
    """What a crowd said about a question: votes of its two leading options, of all, and the
    number of its answers that are still out.
    """

    top: float
    second: float
    total: float
    out: int


@step
def may_ask(book: Book, task: int, worker: int, money: int, available: Array) -> bool:
    """Whether a crowd may be asked about a question now."""
    return at_hand(book, worker, money, available) and may_put(book, task, worker)


@step
def next_question(book: Book, available: Array) -> int:
    """The open question that was asked least, then the first, that somebody can be asked now.

    -1 if there is none.
    """
    totals = book.totals
    if totals[c.OPEN] == 0:
        return -1
    money = money_left(totals)
    best = -1
    for worker in range(totals[c.WORKERS]):
        if at_hand(book, worker, money, available):
            if book.workers[worker, c.ONCE] == 0 and totals[c.OPEN_NAMED] == 0:
                return book.queue[1]
            task = next_task(book, worker)
            if task >= 0 and (best < 0 or ahead(book.tasks, task, best)):
                best = task
    return best


@step
def is_ready(book: Book, task: int, available: Array) -> bool:
    """Whether no answer to a question is out, and somebody can be asked about it now."""
    if book.tasks[task, c.TASK_ASKED] > book.tasks[task, c.TASK_ANSWERED]:
        return False
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, money, available):
            return True
    return False


@kernel
def next_of_few(book: Book, most: int, available: Array) -> int:
    """Of the first ``most`` open questions that are ready, the one asked least; -1 if none is.

    In the tournament over questions a closed winner has only closed ones below it.
    """
    tasks, queue = book.tasks, book.queue
    half = len(queue) // 2
    stack = np.empty(128, np.int64)
    stack[0] = 1
    depth = 1
    found = 0
    best = -1
    while depth > 0 and found < most:
        depth -= 1
        node = stack[depth]
        task = queue[node]
        if task < 0 or tasks[task, c.CLOSED] == 1:
            continue
        if node < half:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
        elif is_ready(book, task, available):
            found += 1
            if ahead(tasks, task, best):
                best = task
    return best


@step
def question_for(book: Book, terms: SurveyTerms, available: Array) -> int:
    """The question to ask about next; -1 if there is none.

    Where only a few may be under way and all wait for answers, somebody who is there need not wait:
    they are asked as if there were no such limit.
    """
    if terms.open_at_once != ALL:
        task = next_of_few(book, terms.open_at_once, available)
        if task >= 0:
            return task
    return next_question(book, available)


@step
def price_unit(book: Book) -> float:
    """The cheapest price above zero; 0 if everything is free."""
    workers = book.workers
    unit = math.inf
    for worker in range(book.totals[c.WORKERS]):
        if workers[worker, c.JOINED] == 1 and workers[worker, c.PRICE] > 0:
            unit = min(unit, float(workers[worker, c.PRICE]))
    return unit if unit < math.inf else 0.0


@step
def prices_for(book: Book, task: int, terms: SurveyTerms) -> Prices:
    """Look once at what all crowds cost, and at what a question has cost."""
    workers = book.workers
    unit = price_unit(book)
    free = False
    for worker in range(book.totals[c.WORKERS]):
        if workers[worker, c.JOINED] == 1 and workers[worker, c.PRICE] == 0:
            free = True
    least = terms.free_price if free and unit > 0.0 else 1.0
    return Prices(unit, free, least, cost_so_far(book, task, unit, terms))


@step
def cost_so_far(book: Book, task: int, unit: float, terms: SurveyTerms) -> float:
    """What the answers to a question cost that are in or out, relative to the cheapest price; those
    of a free crowd at the price it is ranked at.
    """
    cells = book.cells
    cost = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        asked = cells[cell, c.CELL_ANSWERS] + cells[cell, c.CELL_OUT]
        cost += asked * ranked_price(book, cells[cell, c.CELL_WORKER], unit, terms)
        cell = cells[cell, c.NEXT_CELL]
    return cost


@step
def ranked_price(book: Book, worker: int, unit: float, terms: SurveyTerms) -> float:
    """Price relative to the cheapest; an index divides by its root, so never zero."""
    price = book.workers[worker, c.PRICE]
    if price == unit:
        return 1.0
    return price / unit if price > 0 else terms.free_price


@step
def per_root(value: float, price: float) -> float:
    """An index per root of price; most often all prices are equal, and a root is slow."""
    return value if price == 1.0 else value / math.sqrt(price)


@step
def record(state: State, worker: int, options: int, memory: Memory) -> tuple[float, float]:
    """Votes that a crowd's record stands for: for its leading option, for each of the others."""
    seen = state.shown[worker, SEEN]
    if memory.prior <= 0.0 or seen <= 0.0:
        return 0.0, 0.0
    weight = min(memory.prior, seen)
    right = max(state.shown[worker, RIGHT] / seen, 1.0 / options)
    return weight * right, weight * (1.0 - right) / (options - 1.0)


@step
def heard(book: Book, state: State, memory: Memory, task: int, worker: int) -> Heard:
    """What a crowd said about a question, with its record on others as a prior."""
    options = book.totals[c.OPTIONS]
    cell = cell_of(book, task, worker)
    top = second = total = 0.0
    out = 0
    if cell >= 0:
        out = book.cells[cell, c.CELL_OUT]
        total = answers_in(state.counts, cell, 0, options)
        top, second = two_largest(state.counts, cell, 0, options)
    leading, other = record(state, worker, options, memory)
    return Heard(top + leading, second + other, total + leading + (options - 1) * other, out)


@step
def learn(book: Book, state: State, params: Any, fact: Fact, draw: Draw) -> None:
    """Count an answer; at a confident end see how often each crowd was right."""
    cells, counts, memory = book.cells, state.counts, params.memory
    if fact.kind == k.ANSWER:
        if memory.discount < 1.0:
            fade(book, state, fact.task, memory.discount)
        counts[book.assignments[fact.assignment, c.CELL], int(fact.value)] += 1.0
    elif fact.kind == k.CLOSED and fact.note == 1 and memory.prior > 0.0:
        cell = book.tasks[fact.task, c.FIRST_CELL]
        while cell >= 0:
            worker = cells[cell, c.CELL_WORKER]
            state.shown[worker, SEEN] += cells[cell, c.CELL_ANSWERS]
            state.shown[worker, RIGHT] += cells[cell, c.VOTES + int(fact.value)]
            cell = cells[cell, c.NEXT_CELL]


@step
def fade(book: Book, state: State, task: int, discount: float) -> None:
    """Let all earlier answers to a question count a little less."""
    counts = state.counts
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        for option in range(book.totals[c.OPTIONS]):
            counts[cell, option] *= discount
        cell = book.cells[cell, c.NEXT_CELL]


def index_of(
    book: Book, state: Any, params: Any, task: int, worker: int, prices: Prices, draw: Draw
) -> float:
    """What a crowd is ranked by for a question: replaced by a policy's own when bound."""
    raise NotImplementedError


def propose_largest(
    book: Book, state: Any, params: Any, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Propose the crowd with the largest index, ties by the lowest number."""
    money = money_left(book.totals)
    prices = prices_for(book, task, params.terms)
    best = -1
    best_index = -math.inf
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, money, available):
            index = index_of(book, state, params, task, worker, prices, draw)
            if best < 0 or index > best_index:
                best, best_index = worker, index
    propose(out, task, best, 1, 1.0)


def largest(index: Callable[..., float]) -> Callable[..., None]:
    """Propose by an index: a kernel that takes what ``index_of`` does."""
    return bind(propose_largest, index.__name__, inline=True, index_of=index)


def propose_for(
    book: Book, state: Any, params: Any, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Propose a crowd for a question that one may be asked: a policy's own when bound."""
    raise NotImplementedError


def ask_about_next(
    book: Book, state: Any, params: Any, draw: Draw, available: Array, out: Proposal
) -> int:
    """Ask a crowd about the question that is next."""
    task = question_for(book, params.terms, available)
    if task < 0:
        return idle(book, available)
    propose_for(book, state, params, task, draw, available, out)
    return c.PROPOSED


def choosing(propose: Callable[..., None]) -> Callable[..., int]:
    """Choose by a kernel that takes what ``propose_for`` does."""
    label = f"{propose.__module__}.{propose.__name__}"
    return bind(ask_about_next, label, inline=True, propose_for=propose)


MOST_DRAWS = 50_000
"""The most that options * crowds may be where a decision draws a number for each pair of them: 3 s
without the compiler.
"""


@dataclass(frozen=True)
class SurveyPolicy(KernelPolicy, Explains, AsksCrowds, Cautions):
    """Base of the family: questions with options, crowds that are asked again and again.

    Parameters
    ----------
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer. 1
        finishes one question after the other, so that some are answered if the money is not enough
        for all. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.
    """

    open_at_once: int | None = field(default=None, kw_only=True, metadata=LATER)
    free_price: float = field(default=FREE_PRICE, kw_only=True, metadata=LATER)
    paper: ClassVar[str] = PAPER
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.open_at_once is not None:
            whole(self.open_at_once, "open_at_once", least=1)
        real(self.free_price, "free_price", "a share above 0 and at most 1", least=1e-6, most=1)

    def cautions(self, problem: Problem) -> list[str]:
        """A free crowd beside paid ones is asked more than it may be worth."""
        free = [worker.id for worker in problem.workers if worker.micro == 0]
        if not free or len(free) == len(problem.workers):
            return []
        return [
            f"worker {free[0]!r} costs nothing and is asked as if they cost {self.free_price:g} of "
            "the cheapest price (free_price): if their answers are guesses, questions on which "
            "these happen to agree end wrongly and 'confident', under 'composite' and 'posterior' "
            "alike; 'posterior' with learn=100 weighs what a crowd has shown on other questions, "
            "and 'e-process' keeps its error in any case"
        ]

    def terms(self) -> SurveyTerms:
        """What the family shares, as plain numbers."""
        return SurveyTerms(self.open_at_once or ALL, float(self.free_price))

    def params(self) -> Any:
        """As plain numbers."""
        return TermsOnly(self.terms())


@dataclass(frozen=True)
class LearningPolicy(SurveyPolicy):
    """Base of those that learn from votes.

    Parameters
    ----------
    discount : float
        Factor by which each new answer to a question reduces the weight of the earlier ones; below
        1 for crowds that drift.
    prior : float
        Maximum number of answers that a crowd's record on closed questions counts for; 0: each
        question is a separate survey.
    """

    discount: float = 1.0
    prior: float = 0.0
    axes: ClassVar[Axes] = {"cell": "counts", "worker": "shown"}
    ranks_by: ClassVar[Callable[..., float] | None] = None
    """The index, as a kernel that takes what ``index_of`` does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.discount, "discount", "a factor above 0 and at most 1", least=1e-9, most=1)
        real(self.prior, "prior", "a number of answers, 0 or more", least=0)

    def memory(self) -> Memory:
        """As plain numbers."""
        return Memory(float(self.discount), float(self.prior))

    def params(self) -> Any:
        """As plain numbers."""
        return Params(self.memory(), self.terms())

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """No votes yet."""
        book = ledger.book
        options = max(1, len(problem.options))
        return State(np.zeros((len(book.cells), options)), np.zeros((len(book.workers), 2)))

    def index(self, book: Book, state: State, task: int, worker: int, draw: Draw) -> float | None:
        """What a crowd is ranked by for a question; None where there is no such number."""
        kernel = type(self).ranks_by
        if kernel is None:
            return None
        prices = prices_for(book, task, self.terms())
        return float(kernel(book, state, self.params(), task, worker, prices, draw))

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Votes, gap and index of every crowd on the question that is next."""
        book = ledger.book
        task = int(question_for(book, self.terms(), available))
        if task < 0:
            return []
        found = []
        for at, worker in enumerate(ledger.workers):
            said = heard(book, state, self.memory(), task, at)
            details = {
                "answers": said.total,
                "gap": (said.top - said.second) / said.total if said.total > 0 else math.nan,
                "out": float(said.out),
                "price": int(book.workers[at, c.PRICE]) / MICRO,
            }
            found.append(Score(worker.id, self.index(book, state, task, at, draw), details))
        return found


@dataclass(frozen=True)
class SamplingPolicy(LearningPolicy, LimitsSize):
    """Base of those that draw a number for each pair of option and crowd at every decision."""

    def check_size(self, options: int, workers: int) -> None:
        """Refuse more options and crowds than a decision can draw numbers for."""
        self.refuse_size(
            f"options * workers with {options} options and {workers} workers",
            options * workers, MOST_DRAWS, "workers",
            "use 'virt-ucb', fewer crowds, or fewer options",
        )  # fmt: skip
