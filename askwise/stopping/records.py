"""What crowds have shown on other questions: of which kind each is, as far as that is known.

A *kind of crowd* is a pair of whole numbers (alpha, beta): its accuracy p on a question varies from
question to question as p^alpha (1 - p)^beta does on [1/n, 1], as if it were known by alpha right
answers and beta wrong ones. (0, 0) is uniform. Of such a crowd, a answers for an option and b for
others speak for the option with

    M(a, b | alpha, beta) = M(alpha + a, beta + b) / M(alpha, beta),

M as in :mod:`askwise.stopping.evidence`: the factors in front of the integrals cancel.

Of which kind a crowd is, its answers tell by Bayes: a kind is as probable as beforehand times, for
each question that the crowd has answered, the mean of M(a, b | alpha, beta) over the options, as
any may be right. Where the truth was told, M of the right option stands in place of the mean.

No verdict is used, so a crowd can't confirm itself by those it has decided. And open questions are
counted like closed ones: where a crowd is at odds with itself a question stays open for long, so on
questions that are closed a coin looks like an expert. As the truth is averaged out and no question
left out, the reasons for which the asking stopped are no part of the likelihood. What other crowds
said is not used either; it would say more, if they are as good as they are taken to be.

What a crowd has said about the question that is judged counts as evidence on that question, and so
is left out of its record there.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.stopping.base import CONFIDENT, GO_ON, SCRATCH, name_likeliest
from askwise.stopping.evidence import log_evidence
from askwise.stopping.families import family_of, share_in_task
from askwise.stopping.single import TOTAL

UNKNOWN = -1
"""Stands for the truth of a question, as in the ledger."""

IN_TABLE = 40
"""The most answers of a crowd to one question for which M is taken from a table."""

STEPS = 10
"""Between chance and always right, among kinds of crowds that are known equally well."""


@by_reference
class CrowdRecords(NamedTuple):
    """For each worker, the logarithm of how probable their answers are of each kind of crowd."""

    likely: Array


class CrowdKinds(NamedTuple):
    """The error to stop at; of each kind of crowd alpha and beta, and the logarithm of how probable
    it is beforehand; logarithms of M(a, b | alpha, beta); and the record.

    In ``log_terms``, a row has a column per kind; rows are ordered by a + b, up to IN_TABLE, and
    then by a.
    """

    most: float
    alphas: Array
    betas: Array
    log_shares: Array
    log_terms: Array
    likely: Array


@step
def log_term(kinds: CrowdKinds, a: int, answers: int, options: int, kind: int) -> float:
    """Logarithm of M(a, b | alpha, beta), with a + b answers in all."""
    if answers <= IN_TABLE:
        return float(kinds.log_terms[answers * (answers + 1) // 2 + a, kind])
    alpha, beta = kinds.alphas[kind], kinds.betas[kind]
    together = log_evidence(alpha + a, beta + answers - a, options)
    return together - log_evidence(alpha, beta, options)


@step
def log_sum(one: float, other: float) -> float:
    """Logarithm of the sum of two numbers that are given by theirs."""
    larger, smaller = max(one, other), min(one, other)
    if smaller == -math.inf:
        return larger
    return larger + math.log(1.0 + math.exp(smaller - larger))


@step
def keeps_record(book: Book, cell: int) -> bool:
    """Whether the worker of a cell has a record.

    A family agrees with itself without being right, and an audit is none of a rule's business.
    """
    return (
        family_of(book, cell) < 0 and book.workers[book.cells[cell, c.CELL_WORKER], c.AUDITS] == 0
    )


@step
def log_chance(book: Book, kinds: CrowdKinds, cell: int, less: int, truth: int, kind: int) -> float:
    """Logarithm of how probable a cell's answers are of a kind of crowd, relative to guesses.

    One answer for the option ``less`` is left out, none if it is -1.
    """
    cells, options = book.cells, book.totals[c.OPTIONS]
    answers = cells[cell, c.CELL_ANSWERS] - (1 if less >= 0 else 0)
    total = -math.inf
    for option in range(options):
        if truth in (UNKNOWN, option):
            a = cells[cell, c.VOTES + option] - (1 if option == less else 0)
            total = log_sum(total, log_term(kinds, a, answers, options, kind))
    return total - math.log(options) if truth == UNKNOWN else total


@step
def learn_answer(book: Book, kinds: CrowdKinds, fact: Fact) -> None:
    """Take an answer into the record of the crowd that gave it."""
    cell = book.assignments[fact.assignment, c.CELL]
    if keeps_record(book, cell):
        worker, truth = book.cells[cell, c.CELL_WORKER], book.tasks[fact.task, c.TRUTH]
        for kind in range(len(kinds.alphas)):
            before = log_chance(book, kinds, cell, int(fact.value), truth, kind)
            now = log_chance(book, kinds, cell, -1, truth, kind)
            kinds.likely[worker, kind] += now - before


@step
def learn_truth(book: Book, kinds: CrowdKinds, fact: Fact) -> None:
    """Take the truth of a question into the record of each crowd that has answered it."""
    cells = book.cells
    cell = book.tasks[fact.task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.CELL_ANSWERS] > 0 and keeps_record(book, cell):
            worker = cells[cell, c.CELL_WORKER]
            for kind in range(len(kinds.alphas)):
                before = log_chance(book, kinds, cell, -1, UNKNOWN, kind)
                now = log_chance(book, kinds, cell, -1, int(fact.value), kind)
                kinds.likely[worker, kind] += now - before
        cell = cells[cell, c.NEXT_CELL]


@kernel
def observe(book: Book, kinds: CrowdKinds, fact: Fact) -> None:
    """Learn from an answer, or from the truth of a question."""
    if fact.kind == k.ANSWER:
        learn_answer(book, kinds, fact)
    elif fact.kind == k.TRUTH:
        learn_truth(book, kinds, fact)


@step
def add_by_record(book: Book, kinds: CrowdKinds, task: int, cell: int, ruling: Array) -> None:
    """Add to the scratch cells what a crowd says for each option, as its record weighs it.

    The scratch cells after those hold what it says, and what one kind of crowd would say with it.
    """
    cells, options = book.cells, book.totals[c.OPTIONS]
    worker, answers = cells[cell, c.CELL_WORKER], cells[cell, c.CELL_ANSWERS]
    truth, recorded = book.tasks[task, c.TRUTH], keeps_record(book, cell)
    sums, terms = SCRATCH + options, SCRATCH + 2 * options
    for option in range(options):
        ruling[sums + option] = -math.inf
    for kind in range(len(kinds.alphas)):
        here = -math.inf
        for option in range(options):
            term = log_term(kinds, cells[cell, c.VOTES + option], answers, options, kind)
            ruling[terms + option] = term
            if truth in (UNKNOWN, option):
                here = log_sum(here, term)
        elsewhere = kinds.log_shares[kind]
        if recorded:
            # As in `log_chance`; the same numbers, so that nothing of this question is left.
            here -= math.log(options) if truth == UNKNOWN else 0.0
            elsewhere += kinds.likely[worker, kind] - here
        for option in range(options):
            said = elsewhere + ruling[terms + option]
            ruling[sums + option] = log_sum(ruling[sums + option], said)
    largest = -math.inf
    for option in range(options):
        largest = max(largest, ruling[sums + option])
    share = share_in_task(book, task, cell)
    for option in range(options):
        ruling[SCRATCH + option] += share * (ruling[sums + option] - largest)


@kernel
def judge(book: Book, kinds: CrowdKinds, task: int, draw: Draw, ruling: Array) -> int:
    """Judge all crowds together, each by what it has shown on other questions."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    for option in range(options):
        ruling[SCRATCH + option] = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.CELL_ANSWERS] > 0:
            add_by_record(book, kinds, task, cell, ruling)
        cell = cells[cell, c.NEXT_CELL]
    error = name_likeliest(options, draw, TOTAL, ruling)
    return CONFIDENT if error <= kinds.most else GO_ON


def log_row(answers: int, options: int) -> Array:
    """Logarithms of M(a, b) for all a + b = answers, from whole numbers.

    With N answers, M(a, b) = tail / ((n - 1)^(b + 1) (N + 1) C(N, a)): the integral is a tail of
    the binomial distribution, and ``tail`` the sum of C(N + 1, k) (n - 1)^(N + 1 - k) up to k = a.
    """
    others = options - 1
    found = []
    weight = tail = others ** (answers + 1)
    ways, power = 1, others ** (answers + 1)
    for a in range(answers + 1):
        found.append(math.log(tail) - math.log(power * (answers + 1) * ways))
        weight = weight * (answers + 1 - a) // (a + 1) // others
        tail += weight
        ways = ways * (answers - a) // (a + 1)
        power //= others
    return np.array(found)


@cache
def kinds_of_crowds(answers: int, options: int) -> tuple[Array, Array, Array, Array]:
    """Kinds of crowds that records tell apart, known by at most this many answers.

    The uniform one, and as many answers or an eighth of them, of which a share is right that goes
    from chance to all in ten steps. Each of the three groups is as probable beforehand, and each
    share in its group: all together they are nearly uniform, as every crowd is to the rule that
    does not learn. Returned as ``CrowdKinds`` has them.
    """
    chance = 1.0 / options
    pairs, shares = [(0, 0)], [1.0]
    for size in (answers, answers // 8):
        for at in range(STEPS + 1):
            alpha = round(size * (chance + (1.0 - chance) * at / STEPS))
            pairs.append((alpha, size - alpha))
            shares.append(1.0 / (STEPS + 1))
    rows = {size: log_row(size, options) for size in {alpha + beta for alpha, beta in pairs}}
    log_terms = np.empty(((IN_TABLE + 1) * (IN_TABLE + 2) // 2, len(pairs)))
    for more in range(IN_TABLE + 1):
        first = more * (more + 1) // 2
        longer = {size: log_row(size + more, options) for size in rows}
        for kind, (alpha, beta) in enumerate(pairs):
            size = alpha + beta
            terms = longer[size][alpha : alpha + more + 1] - rows[size][alpha]
            log_terms[first : first + more + 1, kind] = terms
    alphas, betas = (np.array(each, np.int64) for each in zip(*pairs, strict=True))
    return alphas, betas, np.log(np.array(shares) / sum(shares)), log_terms


def new_record(ledger: Ledger, answers: int) -> CrowdRecords:
    """The records of crowds that have not been asked."""
    kinds = kinds_of_crowds(answers, len(ledger.problem.options))
    return CrowdRecords(np.zeros((ledger.total(c.WORKERS), len(kinds[0]))))


def grown(record: CrowdRecords, ledger: Ledger) -> CrowdRecords:
    """The same, and those of workers who have joined since."""
    joined = ledger.total(c.WORKERS) - len(record.likely)
    return CrowdRecords(np.pad(record.likely, ((0, joined), (0, 0)))) if joined else record


def kinds_of(ledger: Ledger, most: float, answers: int, record: CrowdRecords) -> CrowdKinds:
    """As kernels take them."""
    kinds = kinds_of_crowds(answers, len(ledger.problem.options))
    return CrowdKinds(most, *kinds, record.likely)
