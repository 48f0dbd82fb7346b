"""What the experiments on assured accuracy (paper 000) share: contenders, and what a run is worth.

Labels name what differs from the setting of section 6.3: the linear form of Hoeffding's bound,
the greedy algorithm GA, the bounds of section 4.1, and the experiment's alpha, xi and mu.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.registry import from_label
from askwise.figures import ReferenceRow
from askwise.lab.papers.assured.counting import Counted, from_rows
from askwise.lab.simulate import Outcome
from askwise.lab.worlds.assured import AssuredWorld, WorkerPool
from askwise.ledger import columns as c
from askwise.policies import Policy, policies
from askwise.policies.assured.benchmarks import MultiplePullUcb
from askwise.policies.assured.common import EXPLORED
from askwise.policies.assured.sets import cheapest_set, error_probability

LINEAR, EXACT = "hoeffding-linear", "majority"

known_value = partial(ReferenceRow.at, source="an independent reading")
"""A value that another implementation has: the paper's curves can't be read to the digit."""

SETTING: dict[str, Any] = {"error": LINEAR, "solver": "greedy", "bounds": "paper"}
"""Of section 6.3."""

DECIMALS = 1e-12
"""A threshold is missed by more than rounding."""


@dataclass(frozen=True)
class Terms:
    """What a requester asks for: error alpha, range xi, and mu, the chance that bounds fail."""

    alpha: float
    xi: float
    mu: float

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 0.5:
            raise InvalidParameter(
                f"alpha is {self.alpha}: give a number between 0 and 0.5", field="alpha"
            )
        if not 0.0 <= self.xi < self.alpha:
            raise InvalidParameter(
                f"xi is {self.xi}: give a number from 0 to below alpha, {self.alpha}", field="xi"
            )
        if not 0.0 < self.mu < 1.0:
            raise InvalidParameter(f"mu is {self.mu}: give a number between 0 and 1", field="mu")


@cache
def contender(label: str, terms: Terms) -> Policy:
    """Read a policy's label; what it does not name is as in section 6.3. Fractions may stand.

    Examples
    --------
    >>> contender("ccb-ns(floor=2/3)", Terms(0.1, 0.05, 1e-4)).error
    'hoeffding-linear'
    """
    read = from_label(label)
    spec: dict[str, Any] = {"name": read} if isinstance(read, str) else dict(read)
    if spec.get("error", LINEAR) != LINEAR or spec["name"] == MultiplePullUcb.name:
        # GA is for the linear form. The other functions have solvers of their own, and who takes
        # workers by their upper bounds has none.
        spec.setdefault("solver", "auto")
    for key, value in spec.items():
        if key != "name" and isinstance(value, str) and "/" in value:
            spec[key] = float(Fraction(value))
    known = {field.name for field in dataclasses.fields(policies.get(spec["name"]))}
    for key, value in {**SETTING, **dataclasses.asdict(terms)}.items():
        if key in known:
            spec.setdefault(key, value)
    return policies.make(spec)


def check_labels(labels: Sequence[str], terms: Terms) -> None:
    """Refuse policies that are not known or named twice."""
    if not labels:
        raise InvalidParameter("policies is empty: name at least one", field="policies")
    seen: dict[Policy, str] = {}
    for label in labels:
        policy = contender(label, terms)
        if policy in seen:
            raise InvalidParameter(
                f"policies has {label!r}, which is {seen[policy]!r} again", field="policies"
            )
        seen[policy] = label


def optimum(pool: WorkerPool, policy: Any) -> float:
    """What a task costs if qualities are known: by the policy's error function and solver."""
    members, _, _ = cheapest_set(
        pool.costs, pool.qualities, policy.alpha, policy.error, policy.solver
    )
    return float(pool.costs[members].sum()) / MICRO


@dataclass(frozen=True)
class Course:
    """What a simulated campaign came to, task by task.

    Parameters
    ----------
    costs : float array
        Paid for each task.
    explored : int
        Tasks on which the policy explored.
    right : bool array
        Whether the majority of a task's answers was right; a tie is not.
    """

    costs: Array
    explored: int
    right: Array

    @property
    def total(self) -> float:
        """Paid in all."""
        return float(self.costs.sum())

    def regrets(self, best: float, points: Sequence[int]) -> Array:
        """Average regret (Eq. 4) after this many tasks, against a set that costs ``best``."""
        numbers = np.array(points)
        return np.cumsum(self.costs)[numbers - 1] / numbers - best

    def spent(self, points: Sequence[int]) -> Array:
        """What was paid up to each number of tasks."""
        return np.cumsum(self.costs)[np.array(points) - 1]


def course_of(outcome: Outcome | Counted, world: AssuredWorld) -> Course:
    """Read a campaign that was run to its end."""
    book, count = outcome.ledger.book, outcome.ledger.total(c.TASKS)
    votes, truths = book.votes[:count], world.truths[:count]
    each = np.arange(count)
    return Course(
        costs=book.tasks[:count, c.TASK_SPENT] / MICRO,
        explored=int(outcome.state.tally[EXPLORED]),
        right=votes[each, truths] > votes[each, 1 - truths],
    )


def sets_of(outcome: Outcome | Counted) -> tuple[list[Array], Array]:
    """The different sets of workers that were asked, and for each task the number of its own."""
    return (outcome if isinstance(outcome, Counted) else from_rows(outcome)).sets()


def misses(sets: Sequence[Array], own: Array, qualities: Array, alpha: float, error: str) -> int:
    """How many tasks went to sets whose error at the true qualities exceeds alpha."""
    # Rounding that a solver forgives is forgiven here.
    over = [
        error_probability(error, qualities[members]) > alpha * (1.0 + DECIMALS) for members in sets
    ]
    return int(np.array(over)[own].sum())


def points_up_to(tasks: int) -> tuple[int, ...]:
    """1, 3, 10, 30, ... and the last task."""
    steps = [round(10 ** (k / 2)) for k in range(2 * math.ceil(math.log10(max(tasks, 10))) + 1)]
    return (*(step for step in steps if step < tasks), tasks)
