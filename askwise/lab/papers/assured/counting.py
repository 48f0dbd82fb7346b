"""The campaigns of paper 000 in counts: a set at a time, without a row for each answer.

A policy of this family asks a set of workers about a task, and what it learns of them is how often
they were right. Where nobody leaves, reaches a limit or answers late, a campaign is then a walk
from task to task: everybody may be asked about each of them, all answers of a set come before the
next decision, and so does the truth. The loop here takes that walk. Whatever is decided or learned
is worked out by the policies' own kernels (``pick``, ``take_decision``); what is left out is the
rows of the ledger, as most of what a large campaign costs is fresh memory for a million of them.

What it comes to is what :func:`askwise.lab.simulate.simulate` comes to, to the last bit: the same
sets, votes, counts, money and beliefs.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.choices import Done, Wait
from askwise.core.compiling import allowed as compiling_allowed
from askwise.core.compiling import bind, step
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw
from askwise.lab.loop import FULL, Streams
from askwise.lab.simulate import Outcome, fork, simulate
from askwise.lab.worlds.assured import AssuredWorld, assured_reply, assured_truth
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger.queries import IDLE, money_left
from askwise.ledger.task_queue import requeue
from askwise.policies import Policy
from askwise.policies.assured import common as a
from askwise.policies.assured.base import AssuredPolicy
from askwise.policies.assured.choosing import (
    NOBODY,
    begins_with_all,
    copy_into,
    end,
    explore_by_chance,
    pause,
    pick,
)
from askwise.policies.assured.common import (
    Params,
    State,
    bound,
    bound_one,
    record,
    spread_of,
)
from askwise.policies.assured.learning import begin, recount, take_decision, teaches
from askwise.policies.assured.watching import judge_set, widened, wrong_share

# Cells of `place`: how many events there were; how many cells of `members` are used; where in it
# the set of the last decision begins, and that of everybody (-1: not there yet); and what an answer
# of all of the last set costs.
EVENTS, FILLED, FIRST, EVERYBODY, SET_COST = range(5)

ROOM = 16
"""For how many members of a task's set there is room at first, on average."""


class Notes(NamedTuple):
    """What the loop writes down beside the book.

    ``members`` has the workers of each set, ascending, one set after the other; ``firsts`` says for
    each task where those of its own begin; sets that are the same may share a place. ``asked``
    counts the answers of each worker, ``said`` has those of the last set.
    """

    members: Array
    firsts: Array
    asked: Array
    said: Array
    place: Array


@step
def write_set(notes: Notes, chosen: Array) -> int:
    """Write a chosen set down behind those that were taken; return its size."""
    members, filled = notes.members, notes.place[FILLED]
    count = 0
    for worker in range(chosen.shape[0]):
        if chosen[worker]:
            members[filled + count] = worker
            count += 1
    return count


@step
def take_set(book: Book, notes: Notes, count: int) -> None:
    """Take the set that was written down, unless it is everybody or the last one once more."""
    members, place, plan = notes.members, notes.place, book.plan
    filled, first = place[FILLED], place[FIRST]
    same = count == book.totals[c.PLAN_ROWS]
    for row in range(count if same else 0):
        same = same and members[first + row] == members[filled + row]
    if same:
        return
    book.totals[c.PLAN_ROWS] = count
    for row in range(count):
        plan[row, c.PLAN_WORKER] = members[filled + row]
        plan[row, c.PLAN_COUNT] = 0
    everybody = count == book.totals[c.WORKERS]
    if everybody and place[EVERYBODY] >= 0:
        place[FIRST] = place[EVERYBODY]
        return
    place[FIRST] = filled
    place[FILLED] = filled + count
    if everybody:
        place[EVERYBODY] = filled


@step
def answer_all(book: Book, world: AssuredWorld, notes: Notes, odds: Array, task: int) -> None:
    """Put a task to all of the set and take their answers in; what they cost is in SET_COST."""
    members, asked, said = notes.members, notes.asked, notes.said
    plan, chances, totals, tasks = book.plan, book.odds, book.totals, book.tasks
    first, count = notes.place[FIRST], totals[c.PLAN_ROWS]
    yes = 0
    for row in range(count):
        worker = members[first + row]
        plan[row, c.PLAN_TASK] = task
        chances[row] = odds[worker]
        value = int(assured_reply(world, task, worker, 0, 0.0))
        said[row] = value
        yes += value
        asked[worker] += 1
    book.votes[task, 0] += count - yes
    book.votes[task, 1] += yes
    tasks[task, c.TASK_ASKED] = count
    tasks[task, c.TASK_ANSWERED] = count
    totals[c.ANSWERS] += count
    cost = notes.place[SET_COST]
    tasks[task, c.TASK_SPENT] = cost
    totals[c.SPENT] += cost
    requeue(tasks, book.queue, task)
    notes.firsts[task] = first
    notes.place[EVENTS] += 2 * count


@step
def learn_set(book: Book, state: State, params: Params, notes: Notes, truth: int) -> None:
    """Count the answers of the last set as right or wrong."""
    members, said, workers = notes.members, notes.said, state.workers
    first, count, size = notes.place[FIRST], book.totals[c.PLAN_ROWS], book.totals[c.WORKERS]
    for row in range(count):
        worker = members[first + row]
        workers[worker, a.COUNT] += 1
        workers[worker, a.RIGHT] += int(said[row] == truth)
        record(state, params, size, worker)


@step
def mark_set(book: Book, notes: Notes, marks: Array) -> None:
    """Mark who is in the last set."""
    for worker in range(marks.shape[0]):
        marks[worker] = False
    first = notes.place[FIRST]
    for row in range(book.totals[c.PLAN_ROWS]):
        marks[notes.members[first + row]] = True


def count_campaign(
    book: Book, state: State, params: Params, world: AssuredWorld, streams: Streams, notes: Notes
) -> int:
    """Ask and answer until there is nothing more to ask, or ``members`` is full."""
    totals, tasks, tally, place = book.totals, book.tasks, state.tally, notes.place
    choosing, learning, members = streams.choosing, streams.absorbing, notes.members
    size = totals[c.WORKERS]
    everybody, chosen = np.ones(size, np.bool_), np.zeros(size, np.bool_)
    odds, lower, upper = np.ones(size), np.empty(size), np.empty(size)
    prices = book.workers[:size, c.PRICE].copy()
    costs = book.workers[:size, c.RANKED_AT].copy()
    # Bounds change with the records of those who were asked, but for those that change with time.
    lasting = params.bounds != a.BY_UCB1
    spread, radius = spread_of(params, size, 1), np.zeros(2)
    bound(state, params, lower, upper)
    while True:
        task = tally[a.FRESH]
        if task >= totals[c.TASKS]:
            return end(book, state, False)
        if pause(tally, params) != c.PROPOSED:
            # All answers are there: it is the truth of the task before that is waited for.
            before = task - 1
            truth = assured_truth(world, before)
            place[EVENTS] += 1
            tasks[before, c.TRUTH] = truth
            recount(book, state, params, before)
            if params.audits > 0.0 and state.tasks[before, a.AUDITED] == 1:
                mark_set(book, notes, chosen)
                judge_set(state, params, chosen, wrong_share(book.votes, before, truth))
            if teaches(state, params, before):
                learn_set(book, state, params, notes, truth)
                for row in range(totals[c.PLAN_ROWS] if lasting else 0):
                    worker = members[place[FIRST] + row]
                    bound_one(state, params, spread, worker, lower, upper, radius)
        note = a.EXPLOIT
        stands = tally[a.SETTLED] == 1
        if stands and place[SET_COST] > money_left(totals):
            return c.DONE_BUDGET
        if not stands:
            if len(members) - place[FILLED] < size:
                return FULL
            now = widened(state, params)
            odds[:] = 1.0
            begun = tally[a.BEGUN]
            if begins_with_all(now, begun) or (now.rule == a.GREEDY and begun == 0):
                copy_into(everybody, chosen)
                note = a.EXPLORE
            else:
                if not lasting:
                    bound(state, params, lower, upper)
                note = pick(costs, lower, upper, state, now, True, everybody, chosen)
            if note == NOBODY:
                return end(book, state, params.miss >= 0.0)
            if note < 0:
                return note
            draw = Draw(choosing[0], choosing[1], totals[c.DECISIONS])
            if now.rule == a.GREEDY and explore_by_chance(
                book, state, now, draw, everybody, chosen, odds
            ):
                note = a.EXPLORE
            count = write_set(notes, chosen)
            cost = 0
            for row in range(count):
                cost += prices[members[place[FILLED] + row]]
            if cost > money_left(totals):
                return c.DONE_BUDGET
            take_set(book, notes, count)
            place[SET_COST] = cost
        book.plan[0, c.PLAN_TASK] = task
        totals[c.DECISIONS] += 1
        place[EVENTS] += 1
        draw = Draw(learning[0], learning[1], place[EVENTS])
        if stands:
            begin(book, state, params, task, note, draw)
        else:
            take_decision(book, state, params, note, draw)
        answer_all(book, world, notes, odds, task)
        recount(book, state, params, task)


@cache
def _compiled() -> Any:
    return bind(count_campaign, "assured")


@dataclass(frozen=True)
class Counted:
    """What a simulated campaign came to, without the answers one by one.

    Attributes
    ----------
    ledger : Ledger
        All counts and sums: of money, of answers by worker and by task, votes, truths. It has no
        rows of assignments, and nothing in it points to any.
    state : State
        What the policy believed in the end.
    ended : Wait or Done
    members, firsts : arrays of int
        The workers of the sets, ascending, and for each task where those of its own begin; how
        many there are is what the ledger says that the task was put to.
    """

    ledger: Ledger
    state: State
    ended: Wait | Done
    members: Array
    firsts: Array

    @property
    def answers(self) -> int:
        """How many there were."""
        return self.ledger.total(c.ANSWERS)

    @property
    def spent(self) -> float:
        """What they cost, in money."""
        return self.ledger.total(c.SPENT) / MICRO

    def sets(self) -> tuple[list[Array], Array]:
        """The different sets that were asked, and for each task the number of its own."""
        sizes = self.ledger.book.tasks[: self.ledger.total(c.TASKS), c.TASK_ASKED]
        places: dict[tuple[int, int], int] = {}
        found: dict[bytes, int] = {}
        sets: list[Array] = []
        own = np.empty(len(sizes), np.int64)
        for task, place in enumerate(zip(self.firsts.tolist(), sizes.tolist(), strict=True)):
            if place not in places:
                members = self.members[place[0] : sum(place)]
                places[place] = found.setdefault(members.tobytes(), len(sets))
                if places[place] == len(sets):
                    sets.append(members.copy())
            own[task] = places[place]
        return sets, own


def simulate_counts(
    policy: Policy,
    problem: Problem,
    world: AssuredWorld,
    *,
    seed: int,
    replication: int = 0,
    ledger: Ledger | None = None,
) -> Counted:
    """Run one campaign to its end and keep counts, as `simulate` does and keeps every answer.

    Parameters
    ----------
    policy : Policy
        One of paper 000.
    ledger : Ledger, optional
        A fresh ledger of the problem to copy: saves reading the problem for every policy.
    """
    fresh = Ledger(problem) if ledger is None else ledger
    if not isinstance(policy, AssuredPolicy) or not is_a_walk(policy, fresh):
        return from_rows(
            simulate(policy, problem, world, seed=seed, replication=replication, ledger=fresh)
        )
    ledger = fork(fresh)
    workers, tasks = ledger.total(c.WORKERS), ledger.total(c.TASKS)
    ledger.room_for_plan(workers)
    book, state = ledger.book, policy.start(problem, ledger)
    roles = (draws.POLICY, draws.ABSORB, draws.RULE)
    streams = Streams(*(draws.stream(seed, role, replication) for role in roles))
    notes = Notes(
        members=np.empty(2 * workers + ROOM * tasks, np.int64),
        firsts=np.zeros(tasks, np.int64),
        asked=np.zeros(workers, np.int64),
        said=np.zeros(workers, np.int64),
        place=np.array([0, 0, 0, -1, 0]),
    )
    code = FULL
    while code == FULL:
        with compiling_allowed(policy.name):
            code = _compiled()(book, state, policy.params(), world, streams, notes)
        if code == FULL:
            larger = np.empty(2 * len(notes.members) + workers, np.int64)
            larger[: notes.place[FILLED]] = notes.members[: notes.place[FILLED]]
            notes = notes._replace(members=larger)
    if code == c.TOO_LARGE:
        raise policy.too_large()
    rows = book.workers[:workers]
    rows[:, c.ASKED] += notes.asked
    rows[:, c.ANSWERED] += notes.asked
    rows[:, c.PAID] += notes.asked * rows[:, c.PRICE]
    ledger.seq = int(notes.place[EVENTS])
    return Counted(ledger, state, IDLE[code], notes.members[: notes.place[FILLED]], notes.firsts)


def is_a_walk(policy: AssuredPolicy, ledger: Ledger) -> bool:
    """Whether a campaign that begins with this ledger goes from task to task, as the loop does.

    All workers must be there and stay below their limits, all tasks be open to all of them, nothing
    have happened but bids, and the truth of each task be waited for before the next is begun.
    """
    totals, book = ledger.total, ledger.book
    workers, tasks = book.workers[: totals(c.WORKERS)], book.tasks[: totals(c.TASKS)]
    return bool(
        policy.compiles
        and policy.ahead == 1
        and totals(c.DECISIONS) == 0
        and totals(c.OPEN_NAMED) == 0
        and totals(c.OPEN) == len(tasks)
        and (tasks[:, c.TRUTH] < 0).all()
        and (workers[:, c.JOINED] == 1).all()
        and (workers[:, c.LIMIT] >= len(tasks)).all()
    )


def from_rows(outcome: Outcome) -> Counted:
    """Read a campaign of which every answer was kept."""
    ledger = outcome.ledger
    rows = ledger.book.assignments[: ledger.total(c.ANSWERS), [c.TASK, c.WORKER]]
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    sizes = ledger.book.tasks[: ledger.total(c.TASKS), c.TASK_ASKED]
    members = np.ascontiguousarray(rows[:, 1])
    return Counted(ledger, outcome.state, outcome.ended, members, np.cumsum(sizes) - sizes)
