"""The kernels give the same result, to the last bit, compiled and not.

Run as a script this file solves seeded instances and prints the answers; the tests run it
twice, with the compiler and without, and compare.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from askwise.policies.assured.sets import critical_bids, error_probability
from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.sets.kernels import cheapest_into, error_of, extend_into
from tests.paths import ROOT

pytestmark = pytest.mark.compiled

NAMES = [
    "majority",
    "majority(ties=random)",
    "hoeffding",
    "hoeffding-linear(epsilon=0.5)",
    "most-likely-error",
    "weighted-majority",
]


def print_values(rng: np.random.Generator) -> None:
    """Error functions and critical bids."""
    for n in (0, 1, 2, 3, 8, 23):
        for _ in range(3):
            q = rng.uniform(0.4, 1.0, n)
            for name in NAMES:
                print(name, error_probability(name, q).hex())
    for n in (1, 3, 10, 40):
        for costs in (rng.integers(0, 5, n), rng.integers(1, 10**7, n), rng.random(n) * 9):
            bids = critical_bids(costs, rng.random(n) - 0.1, 0.15 * n)
            print([bid.hex() for bid in bids])


def print_sets(rng: np.random.Generator) -> None:
    """Cheapest sets and extensions."""
    for n in (1, 2, 5, 8, 12, 30):
        for kind in range(4):
            q = rng.uniform(0.45, 0.95, n) if kind % 2 else rng.choice([0.55, 0.7, 0.8], n)
            costs = rng.integers(0, 6, n) if kind < 2 else rng.integers(1, 10**7, n)
            allowed, chosen = rng.random(n) < 0.9, np.zeros(n, np.bool_)
            begun = rng.random(n) < 0.2
            for name in NAMES:
                for solver in ("auto", "exact", "greedy"):
                    # Few operations, so that giving up is compared too.
                    target = function_of(name).target(0.1, solver)._replace(work=1 << 14)
                    status = cheapest_into(target, costs, q, allowed, chosen)
                    print(name, solver, int(status), np.flatnonzero(chosen).tolist())
                    print(float(error_of(target, q, chosen)).hex())
                members = begun.copy()
                done = extend_into(target, costs, q, allowed, members)
                print(name, bool(done), np.flatnonzero(members).tolist())


def answers(switch: str, part: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__, part],
        env={**os.environ, "ASKWISE_JIT": switch, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_error_functions_and_bids_agree_to_the_last_bit() -> None:
    plain = answers("0", "values")
    assert len(plain) == 120
    assert answers("1", "values") == plain


@pytest.mark.slow
def test_cheapest_sets_agree_to_the_last_bit() -> None:
    plain = answers("0", "sets")
    assert len(plain) == 24 * 6 * 7
    assert answers("1", "sets") == plain


@pytest.mark.slow
def test_no_kernel_is_compiled_for_a_literal() -> None:
    """Whoever hands over a literal makes the compiler do everything below twice."""
    shown = (
        "import numpy as np, sys;"
        "from askwise.policies.assured.sets import errors;"
        "from askwise.policies.assured.sets.kernels import cheapest_into;"
        "t = errors.make('majority').target(0.1);"
        "cheapest_into(t, np.ones(3, np.int64), np.full(3, 0.8), np.ones(3, np.bool_),"
        " np.zeros(3, np.bool_));"
        "assert cheapest_into.signatures;"
        "[print(v, v.signatures) for m in list(sys.modules.values())"
        " if m.__name__.startswith(('askwise.policies.assured', 'askwise.kernels'))"
        " for v in vars(m).values() if 'Literal' in str(getattr(v, 'signatures', ''))]"
    )
    done = subprocess.run(
        [sys.executable, "-c", shown],
        env={**os.environ, "ASKWISE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""


if __name__ == "__main__":
    generator = np.random.default_rng(4)
    if sys.argv[1] == "values":
        print_values(generator)
    else:
        print_sets(generator)
