"""Mixtures of crowds on a grid, as arms of a bandit: what paper 004, appendix I needs.

A grid of granularity 1/m holds all mixtures whose shares are whole multiples of 1/m. A mixture is
written as its members: the crowd that each of the m parts falls to, in ascending order. Its points
are numbered in the order of their members; a number is turned into members when needed, so that no
table of them is kept.
"""

from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, Fact, kernel, step
from askwise.kernels.votes import answers_in, lead_in
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.crowds.common import SurveyTerms, ranked_price

MOST_POINTS = 64
"""A grid has at most this many points, or as many as there are crowds."""

LAST_PHASE = 11
"""Beyond 4,094 answers to one question the grid stays as it is."""

# Columns of `phases` (one row per question): the phase its arms belong to, the number of crowds
# then, the arm decided on last, and how often its arms have begun again.
PHASE, CROWDS, ARM, EPOCH = range(4)

# Columns of `arm_of` (one row an assignment): of which epoch and arm it is; epoch 0 is none.
OF_EPOCH, OF_ARM = range(2)

# Column of `arms` (one row per question and arm): how often it was played; votes follow.
PLAYED, ARM_VOTES = range(2)


@by_reference
class State(NamedTuple):
    """What each arm of each question brought in the phase under way."""

    arms: Array
    phases: Array
    arm_of: Array


@step
def phase_at(asked: int) -> int:
    """Phases 1, 2, 3, ... last 2, 4, 8, ... asks."""
    phase = 1
    while asked >= 2 ** (phase + 1) - 2:
        phase += 1
    return phase


@step
def points(crowds: int, parts: int) -> int:
    """How many mixtures of ``crowds`` have shares that are multiples of 1/``parts``."""
    fewer, more = min(parts, crowds - 1), max(parts, crowds - 1)
    count = 1
    for at in range(1, fewer + 1):
        count = count * (more + at) // at
        # Far beyond any grid that is kept, and far below the end of 64 bits.
        if count > 10**12:
            break
    return count


@step
def most_points(crowds: int) -> int:
    """The largest grid that is kept."""
    return max(MOST_POINTS, crowds)


@kernel
def members_of(arm: int, parts: int, crowds: int, members: Array) -> None:
    """Write out the members of a mixture by its number."""
    left = arm
    crowd = 0
    for part in range(parts):
        # As many mixtures as give this part to the crowd and the rest to it and those after it.
        below = points(crowds - crowd, parts - part - 1)
        while left >= below and crowd < crowds - 1:
            left -= below
            crowd += 1
            below = points(crowds - crowd, parts - part - 1)
        members[part] = crowd


@step
def advance(members: Array, crowds: int) -> None:
    """Turn the members of a mixture into those of the next one; the last one stays as it is."""
    at = members.shape[0] - 1
    while at > 0 and members[at] == crowds - 1:
        at -= 1
    following = min(members[at] + 1, crowds - 1)
    for part in range(at, members.shape[0]):
        members[part] = following


@step
def end_of_run(members: Array, at: int) -> int:
    """Where the parts of another crowd begin."""
    end = at + 1
    while end < members.shape[0] and members[end] == members[at]:
        end += 1
    return end


@kernel
def shares_of(members: Array, shares: Array) -> None:
    """Write out the shares of a mixture."""
    for crowd in range(shares.shape[0]):
        shares[crowd] = 0.0
    parts = members.shape[0]
    at = 0
    while at < parts:
        end = end_of_run(members, at)
        shares[members[at]] = (end - at) / parts
        at = end


@kernel
def distance(members: Array, others: Array) -> float:
    """The sum over crowds by how much their shares in two mixtures differ."""
    parts = members.shape[0]
    apart = 0.0
    at = 0
    other = 0
    while at < parts or other < parts:
        share = 0.0
        second = 0.0
        mine = other == parts or (at < parts and members[at] <= others[other])
        theirs = at == parts or (other < parts and others[other] <= members[at])
        if mine:
            end = end_of_run(members, at)
            share = (end - at) / parts
            at = end
        if theirs:
            end = end_of_run(others, other)
            second = (end - other) / parts
            other = end
        apart += abs(share - second)
    return apart


@kernel
def gap_of(arms: Array, task: int, arm: int, options: int) -> float:
    """Empirical gap of the answers that an arm brought; 0 without any."""
    total = answers_in(arms[task], arm, ARM_VOTES, options)
    return lead_in(arms[task], arm, ARM_VOTES, options) / total if total > 0.0 else 0.0


@kernel
def mean_price(book: Book, members: Array, unit: float, terms: SurveyTerms) -> float:
    """Price of a mixture's answer, relative to the cheapest crowd's."""
    parts = members.shape[0]
    price = 0.0
    at = 0
    while at < parts:
        end = end_of_run(members, at)
        price += (end - at) / parts * ranked_price(book, members[at], unit, terms)
        at = end
    return price


@step
def keep_arm(book: Book, state: State, task: int, phase: int, arm: int) -> None:
    """At a decision: begin the phase again if it is another, count the arm as played."""
    arms, phases = state.arms, state.phases
    crowds = book.totals[c.WORKERS]
    if phases[task, PHASE] != phase or phases[task, CROWDS] != crowds:
        phases[task, PHASE] = phase
        phases[task, CROWDS] = crowds
        phases[task, EPOCH] += 1
        for each in range(arms.shape[1]):
            for column in range(arms.shape[2]):
                arms[task, each, column] = 0.0
    phases[task, ARM] = arm
    arms[task, arm, PLAYED] += 1.0


@kernel
def credit(book: Book, state: State, parts: int, fact: Fact) -> None:
    """Remember which arm an assignment is for; count its answer there, if its epoch still runs.

    A crowd that stands in for those of the mixture, as they can't be asked, is not the arm's.
    """
    arms, phases, arm_of = state.arms, state.phases, state.arm_of
    if fact.kind == k.ASKED:
        crowds = phases[fact.task, CROWDS]
        members = np.empty(parts, np.int64)
        members_of(phases[fact.task, ARM], parts, crowds, members)
        belongs = False
        for part in range(parts):
            belongs = belongs or members[part] == fact.worker
        arm_of[fact.assignment, OF_EPOCH] = phases[fact.task, EPOCH] if belongs else 0
        arm_of[fact.assignment, OF_ARM] = phases[fact.task, ARM]
    elif fact.kind == k.ANSWER and arm_of[fact.assignment, OF_EPOCH] == phases[fact.task, EPOCH]:
        arms[fact.task, arm_of[fact.assignment, OF_ARM], ARM_VOTES + int(fact.value)] += 1.0


@step
def coarse_enough(parts: int, crowds: int) -> int:
    """At most this many parts, and no more points than there is room for."""
    while parts > 1 and points(crowds, parts) > most_points(crowds):
        parts -= 1
    return parts


@step
def uniform_parts(crowds: int, phase: int) -> int:
    """1 / granularity of a phase: about 2^(phase / (crowds + 2)) (004, appendix I)."""
    parts = int(2.0 ** (min(phase, LAST_PHASE) / (crowds + 2.0)) + 0.5)
    return coarse_enough(max(parts, 1), crowds)


@step
def finest_parts(crowds: int) -> int:
    """1 / granularity of the finest grid that is kept, up to 8."""
    return coarse_enough(8, crowds)
