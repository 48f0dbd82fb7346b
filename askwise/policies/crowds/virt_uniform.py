"""Bandits over mixtures of crowds: paper 004, appendix I."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact, kernel, step, uniform
from askwise.ledger import Book, Ledger, Proposal
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.crowds import grid
from askwise.policies.crowds.common import SurveyPolicy, SurveyTerms, choosing, price_unit
from askwise.policies.crowds.grid import CROWDS, PHASE, PLAYED, State, phase_at
from askwise.policies.crowds.non_adaptive import draw_crowd


class Params(NamedTuple):
    """Whether the grid is zoomed into, rather than taken as a whole; what the family shares."""

    zoom: bool
    terms: SurveyTerms


@step
def parts_of(params: Params, crowds: int, phase: int) -> int:
    """In how many parts the grid of a phase divides a mixture."""
    return grid.finest_parts(crowds) if params.zoom else grid.uniform_parts(crowds, phase)


@kernel
def arm_to_play(book: Book, state: State, params: Params, task: int, asked: int) -> int:
    """Number of the mixture to draw from when a question has been asked so often."""
    crowds = book.totals[c.WORKERS]
    phase = phase_at(asked)
    phases = state.phases
    if phases[task, PHASE] != phase or phases[task, CROWDS] != crowds:
        return 0
    if params.zoom:
        return zoom(book, state, params, task, phase)
    return play_ucb1(book, state, params, task, phase)


@kernel
def play_ucb1(book: Book, state: State, params: Params, task: int, phase: int) -> int:
    """UCB1 on the empirical gaps, per root of price, of all mixtures of the grid."""
    crowds, options = book.totals[c.WORKERS], book.totals[c.OPTIONS]
    parts = grid.uniform_parts(crowds, phase)
    count = grid.points(crowds, parts)
    played = 0.0
    for arm in range(count):
        times = state.arms[task, arm, PLAYED]
        if times == 0.0:
            return arm
        played += times
    unit = price_unit(book)
    members = np.zeros(parts, np.int64)
    best = 0
    best_index = -math.inf
    for arm in range(count):
        bonus = math.sqrt(2.0 * math.log(played) / state.arms[task, arm, PLAYED])
        price = grid.mean_price(book, members, unit, params.terms)
        index = grid.gap_of(state.arms, task, arm, options) / math.sqrt(price) + bonus
        if index > best_index:
            best, best_index = arm, index
        grid.advance(members, crowds)
    return best


@kernel
def zoom(book: Book, state: State, params: Params, task: int, phase: int) -> int:
    """The zooming algorithm: activate a mixture that no active one covers, else play the best.

    An active mixture covers all within its confidence radius, in the metric n * L1 in which the
    gap is Lipschitz (Claim 17). A mixture is active once it has been played: one just activated
    has the widest radius and is played at once.
    """
    crowds, options = book.totals[c.WORKERS], book.totals[c.OPTIONS]
    parts = grid.finest_parts(crowds)
    count = grid.points(crowds, parts)
    arms = state.arms
    members = np.zeros((count, parts), np.int64)
    active = np.empty(count, np.int64)
    size = 0
    for arm in range(count):
        if arm > 0:
            members[arm] = members[arm - 1]
            grid.advance(members[arm], crowds)
        if arms[task, arm, PLAYED] > 0.0:
            active[size] = arm
            size += 1
            # The widest first: with many crowds all mixtures are as far apart as can be, so that
            # it covers all or none does.
            if arms[task, arm, PLAYED] < arms[task, active[0], PLAYED]:
                active[size - 1], active[0] = active[0], arm
    for arm in range(count):
        # An active one covers itself.
        covered = arms[task, arm, PLAYED] > 0.0
        at = 0
        while not covered and at < size:
            other = active[at]
            apart = grid.distance(members[arm], members[other])
            covered = options * apart <= radius(phase, arms[task, other, PLAYED])
            at += 1
        if not covered:
            return arm
    unit = price_unit(book)
    best = 0
    best_index = -math.inf
    for arm in range(count):
        times = arms[task, arm, PLAYED]
        if times > 0.0:
            price = grid.mean_price(book, members[arm], unit, params.terms)
            gap = grid.gap_of(arms, task, arm, options)
            index = gap / math.sqrt(price) + 2.0 * radius(phase, times)
            if index > best_index:
                best, best_index = arm, index
    return best


@step
def radius(phase: int, times: float) -> float:
    """Confidence radius of an arm played so often (Kleinberg, Slivkins, Upfal 2008)."""
    return math.sqrt(8.0 * phase / (2.0 + times))


@kernel
def draw_from_arm(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Take the arm to play and draw a crowd from its mixture."""
    crowds = book.totals[c.WORKERS]
    asked = book.tasks[task, c.TASK_ASKED]
    arm = arm_to_play(book, state, params, task, asked)
    parts = parts_of(params, crowds, phase_at(asked))
    members, shares = np.empty(parts, np.int64), np.empty(crowds)
    grid.members_of(arm, parts, crowds, members)
    grid.shares_of(members, shares)
    draw_crowd(book, shares, task, uniform(draw, 0), available, out)


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Note the arm that was decided on (deterministic, so found again), and what it brought."""
    if fact.kind == k.DECIDED:
        task = book.plan[0, c.PLAN_TASK]
        asked = book.tasks[task, c.TASK_ASKED]
        arm = arm_to_play(book, state, params, task, asked)
        grid.keep_arm(book, state, task, phase_at(asked), arm)
    elif fact.kind == k.ASKED or fact.kind == k.ANSWER:
        crowds, phase = state.phases[fact.task, CROWDS], state.phases[fact.task, PHASE]
        parts = parts_of(params, crowds, phase)
        grid.credit(book, state, parts, fact)


@dataclass(frozen=True)
class GridPolicy(SurveyPolicy):
    """Base: mixtures on a grid are the arms of a bandit, empirical gaps its rewards."""

    axes: ClassVar[Axes] = {"task point": "arms", "task": "phases", "assignment": "arm_of"}
    notes: ClassVar[tuple[str, ...]] = ("drawn from a mixture",)
    kernels: ClassVar[Kernels] = Kernels(choosing(draw_from_arm), absorb)

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """No arm played."""
        book = ledger.book
        columns = grid.ARM_VOTES + max(1, len(problem.options))
        arms = np.zeros((len(book.tasks), grid.most_points(len(book.workers)), columns))
        phases = np.zeros((len(book.tasks), 4), np.int64)
        return State(arms, phases, np.zeros((len(book.assignments), 2), np.int64))

    def size_along(self, axis: str, ledger: Ledger) -> tuple[int, int]:
        """As many points of the grid as the crowds make."""
        if axis != "point":
            return super().size_along(axis, ledger)
        room, count = super().size_along("worker", ledger)
        return int(grid.most_points(room)), int(grid.most_points(count))


@policies.register("virt-uniform")
@dataclass(frozen=True)
class VirtUniform(GridPolicy):
    """Run UCB1 over mixtures of crowds on a grid that grows finer from phase to phase.

    Phases last 2, 4, 8, ... asks. In each, all mixtures whose shares are multiples of a
    granularity of about 2^(-phase / (crowds + 2)) are arms; an arm's reward is the empirical gap
    of the answers drawn from it in this phase, per root of its mean price. UCB1's bonus is added to
    that, not divided: it would keep expensive mixtures from being tried.

    Parameters
    ----------
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that all crowds have the same right option. Goes with ``gap`` (rule (3): all answers
    as one source).

    Not for saving money in practice: the paper's is a proof that mixtures can be learned, and
    phases forget. ``lp-thompson`` learns them faster. With many crowds the grid holds little
    more than the crowds themselves (64 mixtures, or as many as there are crowds).

    References
    ----------
    Paper 004, section 5 (Theorem 8) and appendix I (VirtUniform).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["q"],
    ...     options=["x", "y", "z"],
    ...     policy="virt-uniform",
    ...     stopping="gap",
    ... )
    >>> campaign.ask()[0].worker
    'a'
    """

    rule: ClassVar[str] = (
        "of the question asked least, take the mixture of crowds with the largest gap per root of "
        "price plus UCB1's bonus, and draw a crowd from it"
    )

    def params(self) -> Params:
        """As plain numbers."""
        return Params(False, self.terms())


@policies.register("virt-zooming")
@dataclass(frozen=True)
class VirtZooming(GridPolicy):
    """Zoom into the mixtures of crowds that look best: VirtUniform's second variant.

    Phases last 2, 4, 8, ... asks. An arm covers all mixtures within its confidence radius; one
    that nothing covers is tried, else the arm with the largest gap per root of its mean price plus
    twice its radius. So the grid is tried finely only where it pays.

    Parameters
    ----------
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that all crowds have the same right option. Goes with ``gap`` (rule (3): all answers
    as one source).

    Not for saving money in practice, like ``virt-uniform``: radii shrink slowly, and phases
    forget. Mixtures have shares that are multiples of 1/8, coarser with many crowds.

    References
    ----------
    Paper 004, appendix I (the zooming algorithm).
    R. Kleinberg, A. Slivkins, E. Upfal, "Multi-armed bandits in metric spaces", STOC 2008.

    Examples
    --------
    >>> from askwise.policies import policies
    >>> policies.make("virt-zooming").name
    'virt-zooming'
    """

    rule: ClassVar[str] = (
        "of the question asked least, take a mixture of crowds that no tried one covers, else "
        "that with the largest gap per root of price plus twice its radius, and draw a crowd of it"
    )

    def params(self) -> Params:
        """As plain numbers."""
        return Params(True, self.terms())
