"""Audits in a campaign: which labels are frozen, what is audited next, and what audits show.

When the policy is done, open tasks are closed with the labels that they have, and the order of the
audits is drawn and put on record, all in one write. From then on the trusted workers are asked: the
audits first, then, with escalation, what is not certified. What was shown is read off the record
and the truths, in the record's order, whatever order they came in.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from askwise.aggregation.ranking import sureness
from askwise.auditing import AuditDraw, Certificate, Climb, audits_for_any_set, certificate_of, draw
from askwise.auditing.draws import exactly, smallest_set
from askwise.auditing.limits import fewest_audits
from askwise.auditing.plans import plan_audits
from askwise.campaign.own_decisions import OwnAsk, OwnDecision
from askwise.core.arrays import Array
from askwise.core.certify import CertifyTerms
from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidProblem
from askwise.core.problem import UNLIMITED, Problem
from askwise.core.scoring import vote_weights
from askwise.ledger import Book, Ledger, money_left
from askwise.ledger import columns as c
from askwise.ledger.queries import asked_before

AUDIT, ESCALATE = "audit", "escalate"
AUDIT_RULES = {
    AUDIT: "audit the next of the drawn order, by the cheapest trusted worker who is free",
    ESCALATE: (
        "replace the least sure label that is not certified, by the cheapest trusted worker who is "
        "free"
    ),
}
"""How decisions on audits are made, in words, by their notes."""

FROZEN = "frozen"
"""The outcome of a task that was open when labels were frozen for their audit."""


class Block:
    """The labels of one draw, and what their audits have shown so far."""

    def __init__(self, ledger: Ledger, record: dict[str, Any]) -> None:
        self.drawn = AuditDraw.from_record(record)
        self.tasks = np.array([ledger.task_at(task) for task in self.drawn.tasks], np.int64)
        """The task at each place of the drawn order."""
        self.labels = np.array([ledger.closings[task][0].value for task in self.tasks.tolist()])
        self._begin()

    def _begin(self) -> None:
        self.climb = Climb(self.drawn)
        self._unanswered: list[int] = []
        """Places of audits that count as wrong for want of an answer."""

    def catch_up(self, ledger: Ledger) -> None:
        """Take in the truths that came since, in the order of the draw, as far as they count."""
        truths = ledger.book.tasks[:, c.TRUTH]
        if any(truths[self.tasks[place]] >= 0 for place in self._unanswered):
            # Somebody could say after all.
            self._begin()
        while ahead := self.climb.wanted():
            place = ahead[0]
            truth = truths[self.tasks[place]]
            if truth < 0:
                if not _refused_by_all(ledger, int(self.tasks[place])):
                    return
                self._unanswered.append(place)
            self.climb.hear(place, bool(truth != self.labels[place]))
        told = truths[self.tasks]
        for place in np.flatnonzero((told >= 0) & (told != self.labels)).tolist():
            self.climb.refute(place)

    @property
    def vouched(self) -> bool:
        """Whether audits have certified anything; with escalation a first set needs none."""
        return self.climb.certified > self.drawn.tested

    def certified(self) -> Array:
        """Of each place whether its label is certified."""
        return (self.drawn.ranks < self.climb.size) & self.vouched

    @property
    def share_right(self) -> float:
        """At least this share of the certified labels is right."""
        size = self.climb.size
        allowed = self.drawn.too_many(size) - 1
        return 1.0 - allowed / size if self.drawn.escalate else float(1 - exactly(self.drawn.error))

    def missing(self, ledger: Ledger) -> int:
        """How many labels are still to be replaced for a statement about all to hold."""
        unknown = ledger.book.tasks[self.tasks, c.TRUTH] < 0
        return int((unknown & (self.drawn.ranks >= self.climb.size)).sum())

    def to_escalate(self) -> Iterator[int]:
        """The tasks whose labels are not certified, the least sure first."""
        order = np.argsort(-self.drawn.ranks, kind="stable")
        return (int(self.tasks[at]) for at in order[: len(order) - self.climb.size])

    def certificate(self, *, replaced: bool = False) -> Certificate:
        """What the audits show, and whether all labels that they do not certify are replaced."""
        return certificate_of(self.climb, replaced=replaced)


class Certification:
    """The blocks of a campaign that certifies its labels."""

    def __init__(self, problem: Problem) -> None:
        assert problem.certify is not None
        self.terms: CertifyTerms = problem.certify
        self.blocks: list[Block] = []

    def catch_up(self, ledger: Ledger) -> None:
        """Take in what the ledger has heard since."""
        for record in ledger.draws[len(self.blocks) :]:
            self.blocks.append(Block(ledger, record))
        for block in self.blocks:
            block.catch_up(ledger)

    def may_draw(self, ledger: Ledger) -> bool:
        """Whether there are labels that were not drawn from, and may be."""
        if len(self.blocks) == self.terms.blocks:
            return False
        answered = ledger.book.tasks[: ledger.total(c.TASKS), c.TASK_ANSWERED] > 0
        return bool((drawable(ledger) & answered).any())

    def next_step(
        self, ledger: Ledger, available: Array, limit: int = 1
    ) -> OwnDecision | Wait | Done:
        """Whom to ask for audits or in place of labels; or why nobody is.

        ``available`` says which of those who audit can be asked now.
        """
        for block in self.blocks:
            step = self._block_step(block, ledger, available, limit)
            if not isinstance(step, Done):
                return step
        return step

    def _block_step(
        self, block: Block, ledger: Ledger, available: Array, limit: int
    ) -> OwnDecision | Wait | Done:
        truths = ledger.book.tasks[block.tasks, c.TRUTH]
        ahead = block.climb.wanted(None)
        places = [at for at in ahead if truths[at] < 0]
        if places:
            found = self._decision(ledger, available, self._audits(block, places), limit, AUDIT)
            return Done("certified") if isinstance(found, Done) and block.vouched else found
        if not self.terms.escalate:
            return Done("certified" if block.vouched else "hopeless")
        left = [(task, 1.0) for task in self._escalations(ledger, block)]
        if left:
            return self._decision(ledger, available, left, limit, ESCALATE)
        return Done("limits" if block.missing(ledger) else "certified")

    def _audits(self, block: Block, places: Sequence[int]) -> list[tuple[int, float]]:
        """Tasks with the probability that each was the next of its set in a random order."""
        climb = block.climb
        size = climb.drawn.sizes[climb.certified]
        before = {place: count for count, place in enumerate(climb.path(climb.certified))}
        return [(int(block.tasks[at]), 1.0 / (size - before[at])) for at in places]

    def _escalations(self, ledger: Ledger, block: Block) -> list[int]:
        """Tasks that wait for a trusted answer: those without a label, then the least sure."""
        tasks = ledger.book.tasks[: ledger.total(c.TASKS)]
        unlabelled = [
            task
            for task, (label, _) in sorted(ledger.closings.items())
            if label.value is None and task not in ledger.removed
        ]
        wanted = (*unlabelled, *block.to_escalate())
        return [
            task
            for task in wanted
            if tasks[task, c.TRUTH] < 0 and not _refused_by_all(ledger, task)
        ]

    def _decision(
        self,
        ledger: Ledger,
        available: Array,
        wanted: Sequence[tuple[int, float]],
        limit: int,
        note: str,
    ) -> OwnDecision | Wait | Done:
        """Put tasks to those who audit, the cheapest first, as far as limits and money go."""
        book = ledger.book
        staff = _staff(ledger)
        money = int(money_left(book.totals))
        room = {at: int(book.workers[at, c.LIMIT] - book.workers[at, c.ASKED]) for _, at in staff}
        rows: list[OwnAsk] = []
        away = short = out = False
        for task, odds in wanted:
            if len(rows) == limit:
                break
            if _is_out(ledger, task):
                out = True
                continue
            able = [each for each in staff if room[each[1]] > 0 and may_audit(book, task, each[1])]
            affordable = [each for each in able if each[0] <= money]
            here = [each for each in affordable if available[each[1]]]
            short = short or bool(able and not affordable)
            away = away or bool(affordable and not here) or (not able and self._away(ledger, task))
            if here:
                price, at = here[0]
                rows.append(OwnAsk(task, at, odds))
                money -= price
                room[at] -= 1
            elif note == AUDIT:
                # Audits count in their order: those after this one would be bought for nothing.
                break
        if rows:
            return OwnDecision(note, rows)
        if out:
            return Wait("answers")
        if away:
            return Wait("workers")
        return Done("budget" if short else "limits")

    def _away(self, ledger: Ledger, task: int) -> bool:
        """Whether somebody who audits, and could be asked about a task, has left for now."""
        workers = ledger.book.workers[: ledger.total(c.WORKERS)]
        gone: list[int] = np.flatnonzero(workers[:, c.AUDITS] == 2).tolist()
        return any(
            workers[at, c.ASKED] < workers[at, c.LIMIT] and may_audit(ledger.book, task, at)
            for at in gone
        )


def drawable(ledger: Ledger) -> Array:
    """Of each task whether it may be drawn: nobody trusted has answered it, nor told its truth."""
    book = ledger.book
    rows = book.assignments[: ledger.total(c.ASSIGNMENTS)]
    trusted = (rows[:, c.STATUS] == c.SETTLED) & (book.workers[rows[:, c.WORKER], c.TRUSTED] == 1)
    found: Array = book.tasks[: ledger.total(c.TASKS), c.TRUTH] < 0
    found[rows[trusted, c.TASK]] = False
    for record in ledger.draws:
        found[[ledger.task_at(task) for task in record["tasks"]]] = False
    return found


def freeze_draw(
    problem: Problem, ledger: Ledger, labels: dict[int, int], seed: int
) -> tuple[dict[str, Any], int]:
    """Draw the audits of labels; returns the record, and the money that audits may use.

    Parameters
    ----------
    labels : dict of int to int
        The option of each task that is labelled and whose truth is unknown.
    seed : int
        Of the draw.
    """
    terms = problem.certify
    assert terms is not None
    freed = ledger.total(c.KEPT) // (terms.blocks - len(ledger.draws))
    tasks = np.array(sorted(labels), np.int64)
    named = np.array([labels[task] for task in tasks.tolist()], np.int64)
    scores = label_scores(ledger, tasks, named, len(problem.options))
    frozen = {
        ledger.tasks[task].id: (problem.options[option], score)
        for task, option, score in zip(tasks.tolist(), named.tolist(), scores.tolist(), strict=True)
    }
    audits = affordable_audits(problem, ledger, freed)
    if not terms.escalate and len(ledger.draws) + 1 == terms.blocks:
        # Nothing else will need the money that labelling has left.
        needed = audits_for_any_set(
            len(frozen), error=terms.error, confidence=terms.block_confidence
        )
        left = freed + int(money_left(ledger.book.totals))
        audits = max(audits, min(needed, affordable_audits(problem, ledger, left)))
    if terms.escalate and terms.audits is None:
        # More audits than these would cost more than the answers that they save.
        planned = plan_audits(len(frozen), error=terms.error, confidence=terms.block_confidence)
        audits = min(audits, planned.audits)
    drawn = draw(
        frozen,
        error=terms.error,
        confidence=terms.block_confidence,
        audits=max(1, min(len(frozen), audits)),
        seed=seed,
        escalate=terms.escalate,
    )
    in_order = [frozen[task][1] for task in drawn.tasks]
    return {**drawn.to_record(), "scores": in_order}, freed


def affordable_audits(problem: Problem, ledger: Ledger, money: int) -> int:
    """How many audits so much money buys from those who audit, within their limits."""
    terms, book = problem.certify, ledger.book
    assert terms is not None
    most = UNLIMITED if terms.audits is None else terms.audits
    bought = 0
    for price, worker in _staff(ledger, gone=True):
        room = int(book.workers[worker, c.LIMIT] - book.workers[worker, c.ASKED])
        count = room if price == 0 or problem.budget is None else min(room, money // price)
        bought, money = bought + count, money - count * price
    return min(most, bought)


def label_scores(ledger: Ledger, tasks: Array, named: Array, options: int) -> Array:
    """How sure each label is: by its lead in votes that count as their givers seem good, and by how
    much workers agree on labels of its kind.

    Workers are judged by how often the labels of tasks agree with them, where others answered too.
    """
    book = ledger.book
    rows = book.assignments[: ledger.total(c.ASSIGNMENTS)]
    place = np.full(ledger.total(c.TASKS), -1, np.int64)
    place[tasks] = np.arange(len(tasks))
    counted = np.flatnonzero((rows[:, c.STATUS] == c.SETTLED) & (place[rows[:, c.TASK]] >= 0))
    at, workers = place[rows[counted, c.TASK]], rows[counted, c.WORKER]
    given = book.marks[counted, c.VALUE].astype(np.int64)
    judged = np.bincount(at, minlength=len(tasks))[at] > 1
    size = ledger.total(c.WORKERS)
    right = np.bincount(workers[judged], given[judged] == named[at[judged]], minlength=size)
    quality = (right + 0.5) / (np.bincount(workers[judged], minlength=size) + 1.0)
    weights = vote_weights(quality, options)[workers]
    contexts = book.tasks[tasks, c.CONTEXT]
    return sureness(at, given, weights, named, options, contexts)


def check_hopeful(problem: Problem) -> None:
    """Refuse terms under which no audits of the present tasks could certify anything.

    With escalation labels that are not certified are replaced: nothing is hopeless.
    """
    terms = problem.certify
    if terms is None or terms.escalate:
        return
    ledger = Ledger(problem)
    size, too_many = smallest_set(len(problem.tasks), terms.error)
    fewest = fewest_audits(size, too_many, 1.0 - terms.block_confidence)
    audits = affordable_audits(problem, ledger, ledger.total(c.KEPT) // terms.blocks)
    if audits < fewest:
        field, value = "share", f"{terms.share:g}"
        if terms.audits == audits:
            field, value = "audits", f"{terms.audits:,}"
        raise InvalidProblem(
            f"certify.{field} is {value}: that makes {audits:,} audits, and {fewest:,} without an "
            f"error are the fewest that certify an error of {terms.error:g} with confidence "
            f"{terms.confidence:g}; raise it or the budget, or certify less",
            field=f"certify.{field}",
        )


def may_audit(book: Book, task: int, worker: int) -> bool:
    """Whether a task may be put to somebody who audits: once, no matter who else may answer it."""
    return not asked_before(book, task, worker)


def _staff(ledger: Ledger, *, gone: bool = False) -> list[tuple[int, int]]:
    """Price and place of those who audit and are here, or of all who ever did, cheapest first."""
    audits = ledger.book.workers[: ledger.total(c.WORKERS), c.AUDITS]
    found: list[int] = np.flatnonzero((audits > 0) if gone else (audits == 1)).tolist()
    return sorted((int(ledger.book.workers[at, c.PRICE]), at) for at in found)


def _is_out(ledger: Ledger, task: int) -> bool:
    """Whether somebody has a task and has not answered yet."""
    assignments = ledger.book.assignments
    at = ledger.book.tasks[task, c.TASK_LAST]
    while at >= 0:
        if assignments[at, c.STATUS] == c.OUT:
            return True
        at = assignments[at, c.BEFORE_OF_TASK]
    return False


def _refused_by_all(ledger: Ledger, task: int) -> bool:
    """Whether everybody who ever audited here was asked about a task, and none will answer.

    This depends on the log alone, not on who is here or on when somebody looks.
    """
    book = ledger.book
    if book.tasks[task, c.TASK_LOST] == 0 or _is_out(ledger, task):
        return False
    return not any(may_audit(book, task, worker) for _, worker in _staff(ledger, gone=True))
