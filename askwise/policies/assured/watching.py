"""Whether answers are as accurate as the bounds say: a test that may be looked at at any time.

The truths are those of tasks drawn at random. Let X be 1 if the majority's answer to such a task is
wrong, t / (t + 1) if t other options have as many votes as the truth, and p the error that the
bounds on qualities said it had at most. For any odds ratio r above 1, the product of
r**X / (1 - p + r p) over the tasks so far is a martingale of mean 1 if X is 1 with probability p,
and falls on average if that is less likely (a tie is worth less than its mean, as r**X is convex).
log(1 - p + r p) is concave in p: with the mean of the p in place of each, the product is smaller
still. So is the mean over several r. It exceeds 1 / level with probability ``level`` at most,
ever (Ville), and it depends on three sums only.

The same with odds ratios below 1 bounds from above how often answers are wrong on the mean,
however that differs from task to task.
"""

import math

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import heavy_kernel, kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.policies.assured import common as a
from askwise.policies.assured.common import Params, State, bound, is_under_way
from askwise.policies.assured.sets import Target
from askwise.policies.assured.sets.codes import FORGIVEN
from askwise.policies.assured.sets.kernels import with_alpha
from askwise.policies.assured.sets.probability import majority_error

RATIOS = 12
STEP = math.log(2.0) / 3.0
"""Odds ratios are 2**(1/3), 2**(2/3), ..., 16."""

NEXT_TO_NONE = 1e-9
"""An error that stands for none where slack leaves none: solvers take no target of 0."""

_HALVINGS = 50


@kernel
def log_evidence(count: float, wrong: float, error: float, side: float) -> float:
    """The log of the mean over odds ratios of the likelihood ratio against ``error``.

    That errors are more frequent than that (``side`` 1), or less (-1).
    """
    most = -math.inf
    for k in range(1, RATIOS + 1):
        tilt = side * k * STEP
        most = max(most, tilt * wrong - count * math.log(1.0 + error * (math.exp(tilt) - 1.0)))
    total = 0.0
    for k in range(1, RATIOS + 1):
        tilt = side * k * STEP
        found = tilt * wrong - count * math.log(1.0 + error * (math.exp(tilt) - 1.0))
        total += math.exp(found - most)
    return most + math.log(total / RATIOS)


@kernel
def most_error(count: float, wrong: float, level: float) -> float:
    """The most that answers are wrong on the mean; ever too small with probability ``level``."""
    if count == 0.0:
        return 1.0
    below = wrong / count
    above = 1.0
    limit = -math.log(level)
    if log_evidence(count, wrong, above, -1.0) < limit:
        return 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (below + above)
        if log_evidence(count, wrong, middle, -1.0) < limit:
            below = middle
        else:
            above = middle
    return above


@heavy_kernel
def said_error(state: State, params: Params, members: Array) -> float:
    """The error of the majority of the ``members`` of a set, at the present lower bounds."""
    size = members.shape[0]
    lower, upper = np.empty(size, np.float64), np.empty(size, np.float64)
    bound(state, params, lower, upper)
    return majority_error(lower[members], 1.0)


@step
def lowered(target: Target, slack: float) -> Target:
    """A target that leaves room for ``slack``, as far as there is any."""
    return with_alpha(target, max(target.alpha - slack, min(target.alpha, NEXT_TO_NONE)))


@step
def is_hopeless(state: State, check: Target) -> bool:
    """Whether slack alone exceeds the target, so that no set is known to reach it."""
    return state.watch[a.SLACK] > 0.0 and check.alpha <= NEXT_TO_NONE


@step
def widened(state: State, params: Params) -> Params:
    """Parameters with which sets are chosen: errors count for more by the slack."""
    slack = state.watch[a.SLACK]
    check, goal = params.check, params.goal
    if slack != 0.0:
        check, goal = lowered(check, slack), lowered(goal, slack)
        if goal.alpha <= NEXT_TO_NONE:
            goal = check
    return Params(
        params.rule,
        goal,
        check,
        params.mu,
        params.bounds,
        params.floor,
        params.ahead,
        params.explore,
        params.rounds,
        params.miss,
        params.slack,
        params.audits,
        params.alarm,
        params.pulls,
    )


@step
def is_within(error: float, alpha: float) -> bool:
    """Whether an error is at most alpha, but for rounding."""
    return error <= alpha * (1.0 + FORGIVEN)


@step
def wrong_share(votes: Array, task: int, truth: int) -> float:
    """How likely the option with the most votes is wrong, if a draw decides among those tied."""
    tied = 0
    for option in range(votes.shape[1]):
        if option != truth and votes[task, option] > votes[task, truth]:
            return 1.0
        tied += int(option != truth and votes[task, option] == votes[task, truth])
    return tied / (tied + 1.0)


@heavy_kernel
def judge(book: Book, state: State, params: Params, task: int) -> None:
    """Hold the answer to an audited task against what the bounds said, before they learn from it.

    Counted are tasks to which the bounds give an error of alpha at most. When the evidence is
    enough there is an alarm: from then on ``SLACK`` is what errors exceed the bounds by, at most,
    on the mean since that watch began, and a new watch is kept on what is assured even so.
    """
    if book.tasks[task, c.TASK_ANSWERED] == 0 or is_under_way(book, task):
        return
    members = np.zeros(book.totals[c.WORKERS], np.bool_)
    cells, at = book.cells, book.tasks[task, c.FIRST_CELL]
    while at >= 0:
        members[cells[at, c.CELL_WORKER]] = cells[at, c.CELL_ANSWERS] > 0
        at = cells[at, c.NEXT_CELL]
    judge_set(state, params, members, wrong_share(book.votes, task, book.tasks[task, c.TRUTH]))


@heavy_kernel
def judge_set(state: State, params: Params, members: Array, wrong: float) -> None:
    """As ``judge``, of those who have answered, and how far their answer is wrong."""
    watch, alpha = state.watch, params.check.alpha
    said = said_error(state, params, members)
    if not is_within(said, alpha):
        return
    slack = watch[a.SLACK]
    watch[a.SEEN] += 1.0
    watch[a.SEEN_WRONG] += wrong
    watch[a.SEEN_SAID] += said
    if is_within(said + slack, alpha):
        watch[a.WATCHED] += 1.0
        watch[a.WATCHED_WRONG] += wrong
        watch[a.WATCHED_SAID] += said
        watch[a.WATCHED_SLACK] += slack
        count = watch[a.WATCHED]
        error = (watch[a.WATCHED_SAID] + watch[a.WATCHED_SLACK]) / count
        found = log_evidence(count, watch[a.WATCHED_WRONG], error, 1.0)
        if found >= -math.log(params.alarm):
            raise_alarm(state)
    if watch[a.ALARMS] > 0.0:
        most = most_error(watch[a.SEEN], watch[a.SEEN_WRONG], params.alarm)
        watch[a.SLACK] = max(0.0, most - watch[a.SEEN_SAID] / watch[a.SEEN])


@heavy_kernel
def raise_alarm(state: State) -> None:
    """Begin a new watch; what counts from now on is what this one saw. End what was settled."""
    watch = state.watch
    if watch[a.ALARMS] == 0.0:
        watch[a.SINCE] = state.tally[a.BEGUN]
    watch[a.ALARMS] += 1.0
    watch[a.FAILED] = watch[a.WATCHED]
    watch[a.FAILED_WRONG] = watch[a.WATCHED_WRONG]
    watch[a.FAILED_SAID] = watch[a.WATCHED_SAID] + watch[a.WATCHED_SLACK]
    watch[a.SEEN] = watch[a.WATCHED]
    watch[a.SEEN_WRONG] = watch[a.WATCHED_WRONG]
    watch[a.SEEN_SAID] = watch[a.WATCHED_SAID]
    watch[a.WATCHED] = 0.0
    watch[a.WATCHED_WRONG] = 0.0
    watch[a.WATCHED_SAID] = 0.0
    watch[a.WATCHED_SLACK] = 0.0
    state.tally[a.SETTLED] = 0
    state.tally[a.LAST_ROUND] = 0
    for worker in range(state.workers.shape[0]):
        state.workers[worker, a.IN_SET] = 0
