"""Filling a table of labels that has gaps: soft-impute.

Paper 002 fills the answers that nobody gave with GROUSE, so that any pair of task and worker can
be asked. Soft-impute (Mazumder, Hastie, Tibshirani: "Spectral regularization algorithms for
learning large incomplete matrices", JMLR 2010) serves the same end and is convex: what it finds
does not depend on where it begins.
"""

from dataclasses import replace

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.lab.worlds.recorded import Recording

PENALTIES, FACTOR = 12, 0.75
"""How many penalties are tried, each this many times the one before."""

HELD_OUT = 0.1
"""Share of the recorded answers that the penalty is chosen by."""


def soft_impute(
    values: Array,
    known: Array,
    penalty: float,
    *,
    start: Array | None = None,
    rounds: int = 200,
    tolerance: float = 1e-5,
) -> Array:
    """The matrix that minimises half the squared error on what is known + penalty * nuclear norm.

    Parameters
    ----------
    values : array
        Entries that are not known are not looked at.
    known : bool array
        Which are.
    penalty : float
        What is taken off every singular value.
    start : array, optional
        Where to begin: the solution for a larger penalty saves rounds.

    Examples
    --------
    >>> import numpy as np
    >>> ones, known = np.ones((3, 3)), ~np.eye(3, dtype=bool)
    >>> soft_impute(ones, known, 0.3).round(2)
    array([[0.85, 0.85, 0.85],
           [0.85, 0.85, 0.85],
           [0.85, 0.85, 0.85]])
    """
    if penalty < 0:
        raise InvalidParameter(f"penalty is {penalty}: give 0 or more", field="penalty")
    found = np.zeros(values.shape) if start is None else start
    for _ in range(rounds):
        filled = np.where(known, values, found)
        left, sizes, right = np.linalg.svd(filled, full_matrices=False)
        before, found = found, (left * np.maximum(sizes - penalty, 0.0)) @ right
        # Algorithm 1 of the paper: stop when the change is small against the matrix.
        if np.sum((found - before) ** 2) <= tolerance * max(np.sum(before**2), 1e-12):
            break
    return found


def largest_penalty(values: Array, known: Array) -> float:
    """The penalty from which on the solution is zero."""
    return float(np.linalg.norm(np.where(known, values, 0.0), 2))


def completed_scores(values: Array, known: Array, seed: int) -> Array:
    """Soft-impute with the penalty that errs least in sign on a tenth held out, then on all."""
    rng = np.random.default_rng(seed)
    out = known & (rng.random(known.shape) < HELD_OUT)
    path = largest_penalty(values, known) * FACTOR ** np.arange(1, PENALTIES + 1)
    found = np.zeros(values.shape)
    errors = []
    for penalty in path:
        found = soft_impute(values, known & ~out, penalty, start=found)
        errors.append(np.mean(np.sign(found[out]) != np.sign(values[out])) if out.any() else 0.0)
    found = np.zeros(values.shape)
    for penalty in path[: int(np.argmin(errors)) + 1]:
        found = soft_impute(values, known, penalty, start=found)
    return found


def complete(recording: Recording, seed: int = 0) -> Recording:
    """Everybody's answer to every task: recorded ones as they are, the others filled in.

    Two options are the signs of one matrix. Several are a matrix each (this option or another),
    and the largest entry counts. Entries that are level are drawn.
    """
    shape = recording.tasks, recording.workers
    known = np.zeros(shape, dtype=bool)
    known[recording.task, recording.worker] = True
    labels = np.zeros(shape, np.int64)
    labels[recording.task, recording.worker] = recording.label
    found = [
        completed_scores(np.where(labels == option, 1.0, -1.0), known, seed)
        for option in ([1] if recording.options == 2 else range(recording.options))
    ]
    scores = np.stack([-found[0], *found] if recording.options == 2 else found)
    ties = np.random.default_rng([seed, 1]).random(scores.shape)
    level = scores >= scores.max(axis=0) - 1e-12
    filled = np.argmax(np.where(level, ties, -1.0), axis=0)
    made = Recording.complete(
        np.where(known, labels, filled), recording.truth, recording.options, recording.contexts
    )
    return replace(made, prices=recording.prices, trusted=recording.trusted)
