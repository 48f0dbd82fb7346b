"""What ``hem`` keeps between decisions."""

from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, kernel, step
from askwise.kernels.hem import SkillBeliefs, new_beliefs
from askwise.ledger.columns import Book

# Columns of `meta`: tasks with an answer or a truth; skills (pairs of context and worker with an
# answer); what was learned since the last fit, in answers; how tasks are ranked; whether in some
# context those seem wrong who seem right in others; tasks whose truth is known; how many of them
# the map of confidences rests on; voices that were heard; whether skills can be told apart; whether
# the last fit was run to its end; whether a target asks for cautious confidences.
HEARD, SKILLS, SINCE, MODE, CLASH, KNOWN, MAPPED, VOICES, APART, WHOLE, CAUTIOUS = range(11)

# Columns of `sides`: log-odds that known truths, and answers and truths together, give to a
# context being the right way round; how many truths are known; answers when it was fitted.
TOLD, MARGIN, GOLD, FITTED = range(4)

SUGGESTED = 3
"""Tasks of each context whose truth would tell most about which way round it is."""


@by_reference
class State(NamedTuple):
    """What is believed of workers, classes and tasks, and the tasks' ranking.

    From ``worker`` to ``posterior`` it is what :class:`askwise.kernels.hem.SkillBeliefs` says, with
    a row for each row of capacity. ``order`` lists tasks in the order in which they were first
    heard of; ``known`` has the true option plus one, and ``told`` lists the tasks that have one;
    ``given`` how many answers a task has, without those of experts; ``trusted`` who counts as an
    expert; ``tested`` how many known tasks a worker was asked about; ``lift`` a worker's accuracy
    averaged over classes (0: nothing shown yet); ``ease`` how much easier their tasks were than
    those of others; ``blind`` what answers say of a task by what their givers showed in others,
    whatever its truth; ``skill_of`` a skill plus one (0: none); ``settling`` tasks plus one.
    ``occurs`` sums up over contexts how common classes are by ``shares``, and follows from them.
    ``scratch`` is room for logarithms and holds nothing between facts.
    """

    keys: Array
    tree: Array
    order: Array
    known: Array
    told: Array
    given: Array
    trusted: Array
    tested: Array
    lift: Array
    ease: Array
    skill_of: Array
    worker: Array
    place: Array
    shown: Array
    totals: Array
    right: Array
    seen: Array
    due: Array
    wrong: Array
    alone: Array
    errors: Array
    crowd: Array
    shares: Array
    posterior: Array
    blind: Array
    sides: Array
    settling: Array
    map: Array
    meta: Array
    occurs: Array
    scratch: Array


def new_state(book: Book, options: int, tree: Array) -> State:
    """Nothing believed yet."""
    rows, workers, contexts = len(book.tasks), len(book.workers), len(book.contexts)
    beliefs = new_beliefs(len(book.cells), workers, options, contexts, rows)
    return State(
        keys=np.zeros(rows),
        tree=tree,
        order=np.zeros(rows, np.int64),
        known=np.zeros(rows, np.int64),
        told=np.zeros(rows, np.int64),
        given=np.zeros(rows, np.int64),
        trusted=np.zeros(workers, np.int64),
        tested=np.zeros(workers, np.int64),
        lift=np.zeros(workers),
        ease=np.zeros(workers),
        skill_of=np.zeros((contexts, workers), np.int64),
        **beliefs._asdict(),
        blind=np.zeros((rows, options)),
        sides=np.zeros((contexts, 4)),
        settling=np.zeros((contexts, SUGGESTED), np.int64),
        map=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        meta=np.zeros(11, np.int64),
        occurs=np.zeros(options),
        scratch=np.zeros(options),
    )


@kernel
def beliefs_in(state: State) -> SkillBeliefs:
    """The part of the state that the model is about."""
    return SkillBeliefs(
        state.worker, state.place, state.shown, state.totals, state.right, state.seen, state.due,
        state.wrong, state.alone, state.errors, state.crowd, state.shares, state.posterior,
    )  # fmt: skip


@step
def skill_row(state: State, context: int, worker: int) -> int:
    """Row of a pair of context and worker, a new one if need be."""
    if state.skill_of[context, worker] == 0:
        row = state.meta[SKILLS]
        state.meta[SKILLS] = row + 1
        state.skill_of[context, worker] = row + 1
        state.worker[row] = worker
        state.place[row] = context
    return state.skill_of[context, worker] - 1


@step
def hear_of(state: State, task: int) -> None:
    """Begin with a task."""
    state.order[state.meta[HEARD]] = task
    state.meta[HEARD] += 1
