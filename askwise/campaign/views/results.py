"""What a campaign has come to: its labels, what they rest on, and how many are right."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askwise.auditing.intervals import Interval
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import Answer, in_campaign
from askwise.campaign.views.answers import answers as answers_of
from askwise.campaign.views.quality import clopper_pearson
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Level, Positive, Share
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c
from askwise.policies.capabilities import Assures, Settles
from askwise.policies.gold import random_order


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy(Jsonable):
    """How often the vote of the answers is the truth, on tasks whose truth is known.

    Attributes
    ----------
    right : int
        Tasks on which it is. A tie counts as wrong.
    tasks : int
        Tasks that were looked at.
    share : Interval
        The share that is right, with Clopper and Pearson's exact 95% interval.
    """

    right: Count
    tasks: Positive
    share: Interval


@dataclass(frozen=True, slots=True)
class CampaignResults(Jsonable):
    """What a campaign has come to.

    Each task is in one of ``certified``, ``calibrated``, ``agreed``, ``told``, ``by_hand`` and
    ``unlabelled``.

    Attributes
    ----------
    tasks : int
        Tasks; 0 where units of work are bought.
    certified : int
        Tasks whose label a certificate vouches for.
    calibrated : int
        Tasks whose label has a probability, as known truths have shown how often agreement is
        right.
    agreed : int
        Tasks whose label rests on agreement alone.
    told : int
        Tasks whose truth was told and is the label.
    by_hand : int
        Tasks whose label was set by hand, and not as the truth.
    unlabelled : int
        Tasks without an answer.
    labels : dict of str to int
        How many tasks have each option as their label; empty in utility campaigns.
    target_error : float or None
        The share of labels that may be wrong, or the probability with which each may, as the
        campaign was told; None where nothing was said.
    expected : float or None
        The mean probability of the calibrated labels: the share of them that is expected to be
        right. None without one.
    audited : MeasuredAccuracy or None
        By tasks drawn at random: the longest beginning of the random order of tasks (that in which
        truths are asked for, and the queue "random audit" of the dashboard) whose truths are all
        known. It speaks for all tasks with an answer. None if the first one's is not.
    known : MeasuredAccuracy or None
        By all tasks whose truth is known, however they were chosen: it speaks only for these.
    contested : int
        Tasks whose answers differ, and that nobody has decided by a truth or a label.
    flagged : int
        Tasks that a worker said can't be answered, and that nobody has decided.
    """

    tasks: Count
    certified: Count
    calibrated: Count
    agreed: Count
    told: Count
    by_hand: Count
    unlabelled: Count
    labels: dict[str, Count]
    target_error: Level | None
    expected: Share | None
    audited: MeasuredAccuracy | None
    known: MeasuredAccuracy | None
    contested: Count
    flagged: Count


def results(state: CampaignState, answers: Sequence[Answer] | None = None) -> CampaignResults:
    """What the labels are, what they rest on, and how many are right as far as that is known.

    The truth of a task is its label once it is told, so accuracy is that of the vote: what most
    answers to the task say, without those of trusted workers, whose answers count as the truth.
    Truths that were known beforehand count too: where a policy had workers answer these tasks more
    often than others, the vote is better there.

    Parameters
    ----------
    answers : sequence of Answer, optional
        What ``Campaign.answers()`` says at the same point of the log; worked out if not given.
    """
    ledger, problem = state.ledger, state.spec.problem
    found = answers_of(state) if answers is None else answers
    found = [] if problem.taskless else in_campaign(found)
    counts = Counter(map(_basis, found))
    sure = [each.confidence for each in found if each.rests_on == "calibrated"]
    labels = Counter(each.value for each in found if _basis(each) != "unlabelled")
    votes, truths = _votes(state), ledger.book.tasks[: ledger.total(c.TASKS), c.TRUTH]
    waiting = truths < 0
    waiting[[*ledger.labels, *ledger.removed]] = False
    known = (truths >= 0) & (votes.sum(axis=1) > 0)
    return CampaignResults(
        tasks=len(found),
        certified=counts["certified"],
        calibrated=counts["calibrated"],
        agreed=counts["agreement"],
        told=counts["truth"],
        by_hand=counts["by_hand"],
        unlabelled=counts["unlabelled"],
        labels={option: labels[option] for option in problem.options},
        target_error=_target(state.spec),
        expected=float(np.mean([each or 0.0 for each in sure])) if sure else None,
        audited=_measured(votes, truths, _audited(state, votes, truths)),
        known=_measured(votes, truths, np.flatnonzero(known)),
        contested=int((waiting & ((votes > 0).sum(axis=1) > 1)).sum()),
        flagged=sum(bool(waiting[task]) for task in ledger.flags),
    )


def single_answers(answers: Sequence[Answer]) -> int:
    """How many of the labels that are said to be ``agreed`` rest on one answer, without another
    that could have agreed.
    """
    return sum(each.rests_on == "agreement" and each.count == 1 for each in in_campaign(answers))


def _basis(answer: Answer) -> str:
    """What a label rests on; "unlabelled" without one."""
    if answer.rests_on is not None:
        return answer.rests_on
    return "by_hand" if answer.decided_by is not None else "unlabelled"


def _votes(state: CampaignState) -> Array:
    """Votes of all tasks, without those of trusted workers."""
    ledger = state.ledger
    votes = ledger.book.votes[: ledger.total(c.TASKS)]
    trusted = ledger.book.workers[: ledger.total(c.WORKERS), c.TRUSTED] == 1
    if not state.spec.problem.options or not trusted.any():
        return votes
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    theirs = rows[trusted[rows[:, c.WORKER]] & (rows[:, c.STATUS] == c.SETTLED)]
    votes = votes.copy()
    cells, first = np.unique(theirs[:, c.CELL], return_index=True)
    np.subtract.at(votes, theirs[first, c.TASK], ledger.book.cells[cells, c.VOTES :])
    return votes


def _audited(state: CampaignState, votes: Array, truths: Array) -> Array:
    """The beginning of the random order of answered tasks whose truths are all known."""
    order = random_order(state.draw(draws.GOLD, 0), len(votes))
    order = order[votes[order].sum(axis=1) > 0]
    untold = np.flatnonzero(truths[order] < 0)
    return order[: untold[0]] if len(untold) else order


def _measured(votes: Array, truths: Array, tasks: Array) -> MeasuredAccuracy | None:
    if len(tasks) == 0 or votes.shape[1] < 2:
        return None
    there = votes[tasks]
    top = there.max(axis=1)
    clear = (there == top[:, None]).sum(axis=1) == 1
    right = int((clear & (there[np.arange(len(tasks)), truths[tasks]] == top)).sum())
    low, high = clopper_pearson(right, len(tasks))
    share = right / len(tasks)
    return MeasuredAccuracy(right, len(tasks), Interval(share, float(low), float(high)))


def _target(spec: Spec) -> float | None:
    """The error that is allowed: a certificate's, or that which a policy aims at."""
    certify, policy = spec.problem.certify, spec.policy
    if certify is not None:
        return certify.error
    if isinstance(policy, Assures):
        found = getattr(policy, "alpha", 0.0)
    elif isinstance(policy, Settles):
        found = getattr(policy, "target", 0.0) or getattr(policy, "error", 0.0)
    else:
        found = 0.0
    return found if isinstance(found, float) and 0.0 < found < 1.0 else None
