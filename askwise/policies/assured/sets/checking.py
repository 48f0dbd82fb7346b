"""Whether an error function keeps what solvers and policies rely on (000, section 3.1)."""

import functools
import math

import numpy as np

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets.base import ErrorFunction, Spec, function_of
from askwise.policies.assured.sets.codes import OTHER

_ROUNDING = 1e-9


def check_error_function(
    function: Spec, workers: int = 8, profiles: int = 200, seed: int = 0
) -> list[str]:
    """Look for violations of what an error function has to keep; an empty list if none is found.

    Random sets and pairs of quality profiles from 1/2 to 1: the error is a number from 0 to 1;
    it never rises when qualities rise; it changes by no more than ``smoothness`` says, where
    that is given. Each violation is one sentence with the set, both profiles and both values.

    Parameters
    ----------
    function : str, mapping or ErrorFunction
    workers : int
        Largest number of workers in a profile.
    profiles : int
        How many pairs of profiles to try.
    seed : int
        Of the random profiles.

    Examples
    --------
    >>> from askwise.core.accuracy import check_error_function
    >>> check_error_function("majority")
    []
    """
    made = function_of(function)
    most = whole(workers, "workers", least=1, most=1000)
    rng = np.random.default_rng(seed)
    found: list[str] = []
    for _ in range(whole(profiles, "profiles", least=1)):
        n = int(rng.integers(1, most + 1))
        members = np.flatnonzero(rng.random(n) < 0.7)
        before = rng.uniform(0.5, 1.0, n)
        # Sometimes one worker alone is changed: what one violates, another may make up for.
        moved = rng.random(n) < rng.choice([1.0, 1.0 / n])
        after = np.where(moved, before + rng.random() * (1.0 - before), before)
        found += _violations(made, members, before, after)
    return found


def _violations(function: ErrorFunction, members: Array, before: Array, after: Array) -> list[str]:
    """Compare one set at two profiles, the second nowhere lower than the first."""
    error, other = (float(function.probability(q[members])) for q in (before, after))
    where = f"{function.name or type(function).__name__}: set {members.tolist()}"
    if not all(math.isfinite(e) and -_ROUNDING <= e <= 1.0 + _ROUNDING for e in (error, other)):
        return [f"{where} has the error {error:g} at {_shown(before)}, not one from 0 to 1"]
    change = f"{_shown(before)} to {_shown(after)}"
    if other > error + _ROUNDING:
        return [f"{where}, qualities raised from {change}: error rises from {error:g} to {other:g}"]
    h = function.smoothness(float(np.max(after - before)), len(before))
    if h is not None and error - other > h + _ROUNDING:
        return [
            f"{where}, qualities raised from {change}: error falls from {error:g} to {other:g}, "
            f"by more than the smoothness {h:g}"
        ]
    return []


def _shown(profile: Array) -> str:
    return "(" + ", ".join(f"{q:.4g}" for q in profile) + ")"


@functools.lru_cache(maxsize=256)
def ensure_error_function(function: ErrorFunction) -> None:
    """Raise InvalidParameter if a user's function violates what solvers rely on.

    Looked at once for each function; ours are covered by tests.
    """
    if function.code != OTHER:
        return
    violations = check_error_function(function, workers=6, profiles=60)
    if violations:
        raise InvalidParameter(
            f"error: {violations[0]}; check_error_function shows all", field="error"
        )
