"""The pilot of a campaign: which tasks are drawn, who is asked about them, and when it is over.

With the first ask that a worker of the pilot is free for, its tasks are drawn and put on record.
Then its questions, a pair of task and worker each, are handed out before the policy decides
anything. A question ends with an answer, a failure or a refusal; one that expires is asked again.

The pilot is over for the policy once no question of it is out and none can be put to those who are
free: a worker who is away holds nobody up. What is left of it is asked when they are back. Until
then no stopping rule closes a task of the pilot on an answer of the pilot while other questions
about it are open; the verdicts that were put off are taken before the policy decides. After that,
and when somebody else answers, rules decide as always, and the questions that a closed task still
had are skipped.
"""

from typing import Any

from askwise.campaign.certifying import AUDIT_RULES
from askwise.campaign.own_decisions import OwnAsk, OwnDecision
from askwise.campaign.screening import SCREENING_RULES, check_takes_questions
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.draws import Draw
from askwise.core.errors import InvalidProblem
from askwise.core.events import HANDED_OVER
from askwise.core.money import NO_CAP, from_micro
from askwise.core.pilot import MOST_TASKS, PILOT, PilotCut, PilotTerms, affordable_tasks
from askwise.core.problem import Problem
from askwise.ledger import Book, Ledger, money_left
from askwise.ledger import columns as c
from askwise.ledger.queries import can_be_asked, may_answer
from askwise.policies import Policy
from askwise.policies.gold import random_order
from askwise.stopping.base import KernelRule, StoppingRule

OWN_RULES = {
    **AUDIT_RULES,
    **SCREENING_RULES,
    PILOT: "put the next task of the pilot, in the drawn order, to its workers who are free",
    HANDED_OVER: "put the question to the worker who answered it in place of the one chosen",
}
"""How decisions are made that are not the policy's, in words, by their notes."""

ENDED = (c.SETTLED, c.DECLINED, c.FAILED)
"""What ends a question for good."""

UNASKED = -1
"""Stands for the status of a question that was never asked."""


class PilotPhase:
    """The questions of a pilot whose tasks are drawn."""

    def __init__(self, ledger: Ledger) -> None:
        assert ledger.pilot is not None
        record = ledger.pilot.draw
        self.tasks = [ledger.task_at(task) for task in record["tasks"]]
        self.workers = [ledger.worker_at(worker) for worker in record["workers"]]
        self.pairs = [
            OwnAsk(task, worker, odds)
            for task, odds in zip(self.tasks, record["odds"], strict=True)
            for worker in self.workers
            if may_answer(ledger.book, task, worker)
        ]
        """All questions, in their order."""
        self._open: dict[int, list[int]] = {worker: [] for worker in self.workers}
        """Places of the questions to each worker, without those that were seen to have ended."""
        self._about: dict[int, list[OwnAsk]] = {task: [] for task in self.tasks}
        for place, pair in enumerate(self.pairs):
            self._open[pair.worker].append(place)
            self._about[pair.task].append(pair)

    def is_out(self, ledger: Ledger) -> bool:
        """Whether somebody has a question of the pilot and has not answered yet."""
        if ledger.total(c.PENDING) == 0:
            return False
        return any(
            status_of(ledger.book, self.pairs[place]) == c.OUT
            for places in self._open.values()
            for place in places
        )

    def holds(self, ledger: Ledger, task: int) -> bool:
        """Whether a question about a task is open."""
        return any(not _has_ended(ledger.book, pair) for pair in self._about.get(task, ()))

    def next_step(self, ledger: Ledger, available: Array, limit: int) -> OwnDecision | None:
        """What to ask now of those who are available, as far as limits and money go."""
        book, money = ledger.book, int(money_left(ledger.book.totals))
        places = sorted(
            place
            for worker in self.workers
            if available[worker] and can_be_asked(book, worker)
            for place in self._to_ask(book, worker, limit)
        )
        rows: list[OwnAsk] = []
        for place in places:
            price = int(book.workers[self.pairs[place].worker, c.PRICE])
            if len(rows) < limit and price <= money:
                rows.append(self.pairs[place])
                money -= price
        return OwnDecision(PILOT, rows) if rows else None

    def _to_ask(self, book: Book, worker: int, limit: int) -> list[int]:
        """Places of the next questions that may be put to a worker, within their own limit."""
        most = min(limit, int(book.workers[worker, c.LIMIT] - book.workers[worker, c.ASKED]))
        open_ones, seen = self._open[worker], 0
        found: list[int] = []
        kept: list[int] = []
        while seen < len(open_ones) and len(found) < most:
            place = open_ones[seen]
            seen += 1
            # What has ended never opens again, so that it need not be looked at again.
            if _has_ended(book, self.pairs[place]):
                continue
            kept.append(place)
            if status_of(book, self.pairs[place]) != c.OUT:
                found.append(place)
        self._open[worker] = kept + open_ones[seen:]
        return found


def status_of(book: Book, pair: OwnAsk) -> int:
    """What has become of a question."""
    return last_call(book, pair.task, pair.worker)[1]


def last_call(book: Book, task: int, worker: int) -> tuple[int, int]:
    """The last assignment of a worker and a task (-1: none), and its status."""
    at = int(book.tasks[task, c.TASK_LAST])
    while at >= 0 and book.assignments[at, c.WORKER] != worker:
        at = int(book.assignments[at, c.BEFORE_OF_TASK])
    return at, UNASKED if at < 0 else int(book.assignments[at, c.STATUS])


def _has_ended(book: Book, pair: OwnAsk) -> bool:
    """Whether a question was settled, or can't be asked any more since its task is closed."""
    status = status_of(book, pair)
    return status in ENDED or bool(status != c.OUT and book.tasks[pair.task, c.CLOSED])


def draw_pilot(terms: PilotTerms, ledger: Ledger, seed: int) -> dict[str, Any] | None:
    """Draw the tasks of a pilot, as the log records them; None while there is no task to draw.

    Half of them, as far as there are, are tasks whose truth is known, so that the pilot shows how
    often workers are right; the others are not. Each part is a simple random draw from the open
    tasks that a worker of the pilot may be asked about, and ``odds`` says how likely it was that a
    task would be drawn. ``cut`` says what made the pilot smaller than ``wanted``, if anything did.
    """
    book = ledger.book
    staff = [ledger.worker_at(worker) for worker in terms.workers]
    order = random_order(
        Draw(*draws.stream(seed, draws.PILOT, 0), 0), ledger.total(c.TASKS)
    ).tolist()
    able = [
        task
        for task in order
        if book.tasks[task, c.CLOSED] == 0
        and (book.tasks[task, c.NAMED] < 0 or any(may_answer(book, task, at) for at in staff))
    ]
    if not able:
        return None
    size, cut = size_of(terms, ledger, len(able))
    known = [task for task in able if book.tasks[task, c.TRUTH] >= 0]
    others = [task for task in able if book.tasks[task, c.TRUTH] < 0]
    with_truth = max(min(len(known), size // 2), size - len(others))
    odds = dict.fromkeys(known[:with_truth], with_truth / max(1, len(known)))
    odds |= dict.fromkeys(others[: size - with_truth], (size - with_truth) / max(1, len(others)))
    drawn = [task for task in order if task in odds]
    return {
        "wanted": terms.tasks,
        "cut": cut,
        "workers": list(terms.workers),
        "tasks": [ledger.tasks[task].id for task in drawn],
        "odds": [odds[task] for task in drawn],
    }


def size_of(terms: PilotTerms, ledger: Ledger, tasks: int) -> tuple[int, PilotCut | None]:
    """How many of these tasks a pilot has, and what makes them fewer than were asked for."""
    book, budget = ledger.book, ledger.total(c.BUDGET)
    price = int(book.workers[[ledger.worker_at(each) for each in terms.workers], c.PRICE].sum())
    paid_for = MOST_TASKS if budget == NO_CAP else affordable_tasks(budget, price)
    if terms.tasks <= min(tasks, paid_for):
        return terms.tasks, None
    return (paid_for, "budget") if paid_for < tasks else (tasks, "tasks")


def would_pilot(
    terms: PilotTerms | None,
    ledger: Ledger,
    pilot: PilotPhase | None,
    available: Array,
    seed: int,
) -> bool:
    """Whether somebody who is available would be asked a question of the pilot now."""
    if terms is None or not available[[ledger.worker_at(each) for each in terms.workers]].any():
        return False
    if pilot is None:
        record = draw_pilot(terms, ledger, seed)
        return record is not None and bool(record["tasks"])
    return pilot.next_step(ledger, available, 1) is not None


def check_piloted(
    terms: PilotTerms, problem: Problem, policy: Policy, rule: StoppingRule | None
) -> None:
    """Refuse a pilot that does not go with the policy or the rule."""
    check_takes_questions(policy, "pilot")
    price = sum(worker.micro for worker in problem.workers if worker.id in terms.workers)
    if isinstance(rule, KernelRule) and price > rule.limits().cap:
        raise InvalidProblem(
            f"pilot.workers: together they cost {from_micro(price)} per task, and the stopping "
            f"rule's cap is {rule.cap}; name fewer or cheaper workers, or raise the cap",
            field="pilot.workers",
        )
