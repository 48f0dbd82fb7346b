"""What the solvers accept: arrays checked once, so that the kernels need not."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Numbers = Sequence[Any] | Array
Limits = Sequence[int | None] | Array | None

# The state lists hold weights of up to three times the capacity; beyond this they would wrap.
MAX_CAPACITY = 1 << 61
# Costs are added up in 64 bits, with room for one more of the same size.
MAX_TOTAL_COST = 1 << 61
SUM_BITS = 60
"""What is counted in whole units has a sum of up to this many bits."""


class WrongInput(ValueError):
    """An input that a solver can't take; ``field`` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def whole(field: str, items: Numbers, least: int) -> Array:
    """Return ``items`` as int64; WrongInput names the least if it is below ``least``."""
    try:
        array = np.asarray(items)
    except ValueError:
        raise WrongInput(field, f"must be a flat list, got {items!r}") from None
    if array.ndim != 1:
        raise WrongInput(field, f"must be a flat list, got {array.ndim} dimensions")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise WrongInput(field, f"must be 64-bit whole numbers, got {array.dtype}")
    if array.dtype.kind == "u" and int(array.max()) >= 1 << 63:
        raise WrongInput(field, f"{int(array.max())} does not fit into 64 bits")
    if int(array.min()) < least:
        where = int(np.argmin(array))
        raise WrongInput(field, f"must be at least {least}, item {where} is {array[where]}")
    return np.array(array, dtype=np.int64)


def real(field: str, items: Numbers, least: float = -np.inf) -> Array:
    """Return ``items`` as float64; WrongInput names the first not finite or below ``least``."""
    try:
        array = np.array(items, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongInput(field, f"must be a list of numbers, got {items!r}") from None
    if array.ndim != 1:
        raise WrongInput(field, f"must be a flat list, got {array.ndim} dimensions")
    wrong = ~(np.isfinite(array) & (array >= least))
    if wrong.any():
        where = int(np.argmax(wrong))
        bound = "" if least == -np.inf else f" and at least {least:g}"
        raise WrongInput(field, f"must be finite{bound}, item {where} is {array[where]}")
    return array


def same_length(field: str, items: Numbers, other: str, length: int) -> None:
    """Insist that two lists that speak of the same items have the same length."""
    if len(items) != length:
        raise WrongInput(field, f"has {len(items)} items, {other} has {length}")


def bounded(
    values: Numbers, weights: Numbers, limits: Limits, capacity: int
) -> tuple[Array, Array, Array, int]:
    """Check a bounded knapsack; limits come back cut to one more than what fits.

    One more, since the fractional optimum may take a part of it.
    """
    worth = real("values", values, 0.0)
    weight = whole("weights", weights, 1)
    same_length("weights", weight, "values", len(worth))
    try:
        room = operator.index(capacity)
    except TypeError:
        raise WrongInput("capacity", f"must be a whole number, got {capacity!r}") from None
    if not 0 <= room <= MAX_CAPACITY:
        raise WrongInput("capacity", f"must be from 0 to 2**61, got {room}")
    most = room // weight + 1
    if limits is None:
        return worth, weight, most, room
    same_length("limits", limits, "values", len(worth))
    if not isinstance(limits, np.ndarray) or limits.dtype == object:
        # Python's whole numbers know no bounds; cut here, they fit into 64 bits.
        limits = [_cut(each, int(cut)) for each, cut in zip(limits, most, strict=True)]
    return worth, weight, np.minimum(whole("limits", limits, 0), most), room


def _cut(limit: Any, most: int) -> Any:
    if limit is None:
        return most
    return min(limit, most) if isinstance(limit, int) else limit


def cover(costs: Numbers, gains: Numbers, demand: float) -> tuple[Array, Array, float]:
    """Check a covering problem; costs stay whole numbers if they are given as such."""
    try:
        kind = np.asarray(costs).dtype.kind
    except ValueError:
        raise WrongInput("costs", f"must be a flat list, got {costs!r}") from None
    price = whole("costs", costs, 0) if kind in "iu" else real("costs", costs, 0.0)
    if price.dtype.kind == "i" and sum(price.tolist()) > MAX_TOTAL_COST:
        raise WrongInput("costs", "their sum must not exceed 2**61")
    gain = real("gains", gains)
    same_length("gains", gain, "costs", len(price))
    try:
        target = float(demand)
    except (TypeError, ValueError):
        raise WrongInput("demand", f"must be a number, got {demand!r}") from None
    if not np.isfinite(target):
        raise WrongInput("demand", f"must be finite, got {demand!r}")
    return price, gain, target


def in_units(costs: Array) -> Array:
    """Count costs that are floats in whole units of 2**-60 of their sum."""
    exponent = math.frexp(math.fsum(costs))[1]
    return np.rint(np.ldexp(costs, SUM_BITS - exponent)).astype(np.int64)


def total(costs: Array) -> float:
    """The sum of costs, without rounding: a whole number if they are."""
    return math.fsum(costs) if costs.dtype.kind == "f" else sum(costs.tolist())
