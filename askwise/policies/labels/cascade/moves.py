"""How tasks move from stage to stage as facts come in; only ``absorb`` calls what is here."""

from functools import lru_cache

import numpy as np

from askwise.kernels import Array, Draw, Fact
from askwise.ledger import Ledger, vectors
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.gold import random_order
from askwise.policies.labels.cascade import state as s
from askwise.policies.labels.cascade import thresholds
from askwise.policies.labels.cascade.state import State

LOTS, SPLIT = range(2)
"""Numbers of the draws behind the lots of tasks, and behind which of the sample is learned from."""


def take_in(ledger: Ledger, state: State, fact: Fact, draw: Draw, truths: int) -> None:
    """Move the tasks that a fact is about; ``truths`` is how large the sample may get."""
    kind, task, worker = fact.kind, fact.task, fact.worker
    by_trusted = worker >= 0 and bool(vectors.trusted(ledger)[worker])
    if kind in (k.ASKED, k.TRUTH):
        admit_if_due(ledger, state, task, truths)
    at_limit = kind == k.ASKED and not s.can_be_asked(ledger)[worker]
    if at_limit or (kind == k.LEFT and state.meta[s.POPULATION] > 0):
        state.lost[worker] = 1
    if kind == k.ANSWER and by_trusted and state.said[task] == 0:
        state.said[task], state.by[task] = int(fact.value) + 1, state.meta[s.STAGES] + 1
    if task >= 0:
        recount(ledger, state, task, draw)
    if kind == k.ADDED and state.meta[s.POPULATION] > 0:
        # They are not among those that the sample was drawn from.
        for new in range(int(state.meta[s.POPULATION]), ledger.total(c.TASKS)):
            to_trusted(ledger, state, new)
    if kind in (k.JOINED, k.LEFT) or at_limit or (by_trusted and kind in (k.EXPIRED, k.DECLINED)):
        recount_affected(ledger, state, worker, draw)


def admit_if_due(ledger: Ledger, state: State, task: int, truths: int) -> None:
    """Take a task that is asked about or told the truth of into the sample, if it has room."""
    meta = state.meta
    if meta[s.POPULATION] == 0:
        stages = s.stages_of(ledger)
        state.stage[: len(stages)] = stages
        meta[s.POPULATION], meta[s.STAGES] = ledger.total(c.TASKS), stages.max()
    wanted = min(truths, int(meta[s.POPULATION]))
    if meta[s.CALIBRATED] == 1 or meta[s.SAMPLED] == wanted or state.place[task] > 0:
        return
    if task < meta[s.POPULATION]:
        meta[s.SAMPLED] += 1
        state.place[task] = meta[s.SAMPLED]
        state.at[task] = s.first_stage(ledger, state.stage, state.lost, task, 1)


def to_trusted(ledger: Ledger, state: State, task: int) -> None:
    """Leave a task to the trusted."""
    state.at[task] = state.meta[s.STAGES] + 1
    state.unasked[task] = left_to_ask(ledger, state, task)


def left_to_ask(ledger: Ledger, state: State, task: int) -> int:
    """1 if a trusted worker is to be asked about a task, -1 while one is, 0 if none can be."""
    if state.said[task] > 0 or ledger.book.tasks[task, c.CLOSED] == 1:
        return 0
    put, who = s.put_to(ledger.book, task), s.experts(ledger, task)
    if any(put.get(each) == c.OUT for each in who.tolist()):
        return -1
    able = s.can_be_asked(ledger)
    return int(any(each not in put and able[each] for each in who.tolist()))


def recount(ledger: Ledger, state: State, task: int, draw: Draw) -> None:
    """See who of its stage is still to be asked about a task, and whether that has spoken."""
    at, book = int(state.at[task]), ledger.book
    if at == 0:
        return
    if at > state.meta[s.STAGES] or book.tasks[task, c.CLOSED] == 1:
        to_trusted(ledger, state, task)
        return
    if state.by[task] > 0:
        return
    put, who = s.put_to(book, task), s.members(ledger, state.stage, task, at).tolist()
    unasked = [each for each in who if each not in put]
    refused = any(put.get(each) in (c.DECLINED, c.FAILED) for each in who)
    if refused or state.lost[unasked].any():
        to_trusted(ledger, state, task)
    elif all(put.get(each) == c.SETTLED for each in who):
        state.complete[task], state.unasked[task] = at, 0
        go_on(ledger, state, task, draw)
    else:
        state.unasked[task] = len(unasked)


def recount_affected(ledger: Ledger, state: State, worker: int, draw: Draw) -> None:
    """See again to tasks that wait for a worker who can't be asked any more, or can be again.

    Without a worker (-1) those that are left to the trusted, somebody of whom may have joined.
    """
    waiting = (state.at > state.meta[s.STAGES]) & (state.unasked >= 0)
    if worker >= 0 and not vectors.trusted(ledger)[worker]:
        waiting = (state.at == state.stage[worker]) & (state.unasked > 0)
    for task in np.flatnonzero(waiting & (state.at > 0) & (state.by == 0)).tolist():
        recount(ledger, state, task, draw)


def go_on(ledger: Ledger, state: State, task: int, draw: Draw) -> None:
    """Settle a task that a stage has spoken on, or send it on; the sample goes through all."""
    spoken, stages = int(state.complete[task]), int(state.meta[s.STAGES])
    if state.place[task] == 0:
        weights, threshold = state.weights[:stages], float(state.threshold[0])
        votes = s.votes_on(ledger.book, state.stage, task, stages, weights.shape[1])
        standing = thresholds.standings(votes[None], weights)
        lots = lots_of(state, draw)[[task]]
        scores, options = thresholds.scores_of(standing, state.complete[[task]], lots)
        state.score[task] = scores[0, spoken - 1]
        if state.score[task] > threshold:
            state.said[task], state.by[task] = options[0, spoken - 1] + 1, spoken
            return
        if not thresholds.within_reach(standing[:, spoken - 1], weights[spoken:], threshold)[0]:
            to_trusted(ledger, state, task)
            return
    state.at[task] = s.first_stage(ledger, state.stage, state.lost, task, spoken + 1)
    recount(ledger, state, task, draw)


def lots_of(state: State, draw: Draw) -> Array:
    """A number below 1 for each task of the population, the same at every fact."""
    return _lots(Draw(draw.key0, draw.key1, LOTS), int(state.meta[s.POPULATION]))


@lru_cache(maxsize=8)
def _lots(draw: Draw, tasks: int) -> Array:
    found = np.zeros(tasks)
    found[random_order(draw, tasks)] = np.arange(tasks) / tasks
    return found


def truths_of(ledger: Ledger, state: State) -> Array:
    """What is known to be true of each task, told or said by the trusted; -1 elsewhere."""
    told = vectors.truths(ledger)
    heard = state.by[: len(told)] == state.meta[s.STAGES] + 1
    return np.where((told < 0) & heard, state.said[: len(told)] - 1, told)


def is_sample_complete(ledger: Ledger, state: State, truths: int) -> bool:
    """Whether all that the sample can tell is known."""
    meta, total = state.meta, ledger.total(c.TASKS)
    inside = state.place[:total] > 0
    unheard = (truths_of(ledger, state) < 0) & (state.unasked[:total] != 0)
    if meta[s.SAMPLED] == 0 or (inside & ((state.at[:total] <= meta[s.STAGES]) | unheard)).any():
        return False
    if meta[s.SAMPLED] == min(truths, int(meta[s.POPULATION])):
        return True
    return not any(is_candidate(ledger, state, task) for task in range(int(meta[s.POPULATION])))


def is_candidate(ledger: Ledger, state: State, task: int) -> bool:
    """Whether a task may still be taken into the sample: open, not in it, and there is somebody."""
    if state.place[task] > 0 or ledger.book.tasks[task, c.CLOSED] == 1:
        return False
    stage = state.stage if state.meta[s.POPULATION] > 0 else s.stages_of(ledger)
    if s.first_stage(ledger, stage, state.lost, task, 1) <= stage.max():
        return True
    return bool(s.can_be_asked(ledger)[s.experts(ledger, task)].any())


def calibrate(ledger: Ledger, state: State, draw: Draw, *, error: float, confidence: float) -> None:
    """Set weights and threshold by the sample, once and for all; put all other tasks to judges."""
    meta, book = state.meta, ledger.book
    meta[s.CALIBRATED] = 1
    tasks, stages, options = int(meta[s.POPULATION]), int(meta[s.STAGES]), state.weights.shape[1]
    order = random_order(Draw(draw.key0, draw.key1, SPLIT), tasks)
    sample = order[state.place[order] > 0]
    votes = np.array([s.votes_on(book, state.stage, task, stages, options) for task in sample])
    truths, lots = truths_of(ledger, state)[sample], lots_of(state, draw)[sample]
    complete = state.complete[sample]
    found = thresholds.calibrate(
        *(votes, complete, truths, lots), tasks=tasks, error=error, confidence=confidence
    )
    state.weights[:stages], state.threshold[0] = found.weights, found.threshold
    standing = thresholds.standings(votes, found.weights)
    scores, named = thresholds.scores_of(standing, complete, lots)
    stage = thresholds.settled_by(scores, found.threshold)
    for place in np.flatnonzero(stage >= 0).tolist():
        state.record[stage[place], s.SETTLED] += 1
        state.record[stage[place], s.RIGHT] += named[place, stage[place]] == truths[place]
    nothing = np.zeros((1, options))
    hopeless = not thresholds.within_reach(nothing, found.weights, found.threshold)[0]
    for task in np.flatnonzero(state.at[:tasks] == 0).tolist():
        if book.tasks[task, c.CLOSED] == 1 or book.tasks[task, c.TRUTH] >= 0:
            continue
        if hopeless:
            to_trusted(ledger, state, task)
        else:
            state.at[task] = s.first_stage(ledger, state.stage, state.lost, task, 1)
            recount(ledger, state, task, draw)
