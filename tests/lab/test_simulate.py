"""The lab's loop: nothing leaks, and policies without kernels run as well."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.lab import simulate
from askwise.lab.worlds import freelancer_market
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal
from askwise.policies import KernelPolicy, Policy, policies


@pytest.mark.compiled
@pytest.mark.xdist_group("loops of policies")
@pytest.mark.parametrize(
    "name",
    [
        "simplified-bounded-kube",
        pytest.param("thompson-knapsack", marks=pytest.mark.slow),
        pytest.param("uniform", marks=pytest.mark.slow),
    ],
)
def test_simulations_free_every_array_that_kernels_make(name: str) -> None:
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()

    market = freelancer_market(np.random.default_rng(1), cap=30, candidates=8)
    problem, world = market.problem(500 * MICRO), market.answering(1, 0)
    policy = policies.make(name)
    simulate(policy, problem, world, seed=1)

    def alive() -> int:
        gc.collect()
        stats = rtsys.get_allocation_stats()
        return int(stats.alloc - stats.free)

    before = alive()
    for replication in range(3):
        simulate(policy, problem, world, seed=1, replication=replication)
    assert alive() == before


class WithoutKernels(Policy):
    """Another policy, stepped from Python."""

    def __init__(self, inner: KernelPolicy) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "name", inner.name)
        object.__setattr__(self, "notes", inner.notes)

    def start(self, problem: Problem, ledger: Ledger) -> Any:
        return self.inner.start(problem, ledger)  # type: ignore[attr-defined]

    def choose(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        return self.inner.choose(problem, state, ledger, draw, available)  # type: ignore[attr-defined]

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        self.inner.absorb(problem, state, ledger, fact, draw)  # type: ignore[attr-defined]


@pytest.mark.xdist_group("loops of policies")
@pytest.mark.parametrize(
    "name",
    [pytest.param("bounded-epsilon-first", marks=pytest.mark.checked), "simplified-bounded-kube"],
)
def test_a_policy_without_kernels_is_driven_to_the_same_end(name: str) -> None:
    market = freelancer_market(np.random.default_rng(2), cap=30, candidates=6)
    problem, world = market.problem(300 * MICRO), market.answering(2, 0)
    policy = policies.make(name)
    assert isinstance(policy, KernelPolicy)
    compiled = simulate(policy, problem, world, seed=2)
    stepped = simulate(WithoutKernels(policy), problem, world, seed=2)
    assert (stepped.utility, stepped.spent, stepped.ended) == (
        compiled.utility,
        compiled.spent,
        compiled.ended,
    )
    for name_, array in compiled.ledger.arrays().items():
        np.testing.assert_array_equal(array, stepped.ledger.arrays()[name_])
