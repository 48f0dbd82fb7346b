"""What is accepted: arrays and numbers checked once, so that the kernels need not."""

from typing import NamedTuple

import numpy as np

from askwise.core.checks import between, one_of
from askwise.core.errors import InvalidParameter
from askwise.kernels.knapsack import inputs
from askwise.kernels.knapsack.inputs import Array, Numbers

SOLVERS = ("auto", "exact", "greedy", "classes")
AUTO, EXACT, GREEDY, CLASSES = range(4)


def alpha_of(alpha: object) -> float:
    """Take a threshold on the error: a coin's is 1/2."""
    if isinstance(alpha, np.floating):
        alpha = float(alpha)
    return between(alpha, "alpha", 0.0, 0.5)


def solver_of(solver: object) -> int:
    """Take the name of a solver."""
    return SOLVERS.index(one_of(solver, "solver", SOLVERS))


def qualities_of(qualities: Numbers) -> Array:
    """Take probabilities of being right."""
    try:
        q = inputs.real("qualities", qualities)
    except ValueError as error:
        raise InvalidParameter(str(error), field="qualities") from None
    wrong = ~((q >= 0.0) & (q <= 1.0))
    if wrong.any():
        where = int(np.argmax(wrong))
        raise InvalidParameter(
            f"qualities: item {where} is {q[where]:g}, give numbers from 0 to 1", field="qualities"
        )
    return q


class Workers(NamedTuple):
    """Checked costs (as given, and as whole numbers for kernels) and qualities."""

    costs: Array
    whole: Array
    qualities: Array

    def cost(self, indices: list[int]) -> float:
        """Cost of a set: a whole number if the costs are."""
        return inputs.total(self.costs[indices])


def costs_of(costs: Numbers) -> tuple[Array, Array]:
    """Take costs, not negative; return them as they are and as whole numbers."""
    try:
        if np.ndim(costs) != 1:
            raise ValueError(f"costs: must be a flat list, got {costs!r}")
        price, _, _ = inputs.cover(costs, np.zeros(len(costs)), 0.0)
    except ValueError as error:
        raise InvalidParameter(str(error), field="costs") from None
    return price, inputs.in_units(price) if price.dtype.kind == "f" else price


def workers_of(costs: Numbers, qualities: Numbers) -> Workers:
    """Take costs and qualities of the same workers."""
    price, whole = costs_of(costs)
    q = qualities_of(qualities)
    if len(q) != len(price):
        raise InvalidParameter(
            f"qualities: has {len(q)} items, costs has {len(price)}; give one each a worker",
            field="qualities",
        )
    return Workers(price, whole, q)
