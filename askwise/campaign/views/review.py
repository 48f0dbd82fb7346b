"""The tasks that somebody should look at: least sure, contested, flagged, or drawn at random."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import Answer
from askwise.campaign.views.contested import leads, least_sure
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.ledger import columns as c
from askwise.policies.gold import random_order

ReviewQueue = Literal["unsure", "contested", "flagged", "audit"]
"""``unsure``: tasks by confidence, the least sure first. ``contested``: those whose votes differ,
the closest first. ``flagged``: those that workers said can't be answered; most flags first, then
the last flag. ``audit``: in an order that was drawn at random and depends on the campaign's seed
alone, so that the first of them are a fair sample of all.
"""

REVIEW_QUEUES: tuple[ReviewQueue, ...] = get_args(ReviewQueue)


def review(state: CampaignState, answers: Sequence[Answer], queue: ReviewQueue) -> Array:
    """Places of the tasks of a queue, in their order.

    A task whose truth was told, or whose label was set by hand, needs no look and is in none, also
    if ``answers`` are of a moment before. The audits are drawn in the order in which policies ask
    for truths to calibrate by, so one audit serves both.
    """
    ledger = state.ledger
    votes = ledger.book.votes[: len(answers)]
    waiting = ledger.book.tasks[: len(answers), c.TRUTH] < 0
    done = (*ledger.labels, *ledger.removed)
    waiting[[task for task in done if task < len(answers)]] = False
    answered = np.array([each.count for each in answers], np.int64) > 0
    if queue == "flagged":
        flags = {task: seqs for task, seqs in ledger.flags.items() if task < len(answers)}
        order = np.array(sorted(flags, key=lambda at: (-len(flags[at]), -flags[at][-1])), np.int64)
        return order[waiting[order]]
    if queue == "audit":
        order = random_order(state.draw(draws.GOLD, 0), ledger.total(c.TASKS))
        order = order[order < len(answers)]
        return order[(waiting & answered)[order]]
    order = least_sure(answers, votes)
    if queue == "contested":
        differ = (votes > 0).sum(axis=1) > 1
        waiting &= differ
        order = order[np.argsort(leads(votes)[order], kind="stable")]
    return order[(waiting & answered)[order]]
