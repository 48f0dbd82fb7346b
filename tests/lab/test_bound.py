"""The lab's loop over kernels: plain until compiling pays, and the same either way."""

import math
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from askwise.core.compiling import allowed, watched
from askwise.lab import bound, contract
from askwise.lab.contract import lab_cases, lab_run, log_of_outcome
from askwise.lab.simulate import simulate
from askwise.lab.worlds.recorded import Recording
from askwise.policies import KernelPolicy, policies
from askwise.stopping import stopping


@pytest.fixture
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """No experiment: loops are compiled when that pays, whatever is in the cache."""
    monkeypatch.setattr(bound, "is_bulk", lambda: False)
    monkeypatch.setattr(bound.unit_of(_policy().kernels.choose), "was_compiled", lambda: False)


def _policy() -> KernelPolicy:
    policy = policies.make("random-pairs")
    assert isinstance(policy, KernelPolicy)
    return policy


@pytest.mark.compiled
@pytest.mark.parametrize("decisions", [0, 1, 3, 10])
def test_a_campaign_goes_on_compiled_where_plain_python_left_it(
    seldom: None, monkeypatch: pytest.MonkeyPatch, decisions: int
) -> None:
    policy, case = _policy(), lab_cases(_policy())[-1]
    due = lab_run(policy, case, 7)
    bound.compiled.cache_clear()
    clock = count()
    # A second passes with each look at the clock: at the start, and before each decision.
    monkeypatch.setattr(bound, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(bound, "LOOP_PATIENCE", decisions)
    monkeypatch.setattr(bound, "LOOP_LOOK", math.inf)
    rule = None if case.rule is None else stopping.make(case.rule)
    outcome = simulate(policy, case.problem, case.world, rule=rule, seed=7)
    contract.same_runs((log_of_outcome(outcome), outcome.ended), due, "resumed")
    assert next(clock) >= decisions


@pytest.mark.compiled
def test_a_campaign_that_would_take_long_goes_on_compiled_before_patience_ends(
    seldom: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, labels = _policy(), np.tile([[0, 1], [1, 1]], (10, 1))
    recording = Recording.complete(labels, labels[:, 0], options=2)
    problem, world = recording.problem(20), recording.answering()
    due = simulate(policy, problem, world, seed=7)
    bound.compiled.cache_clear()
    clock = count()
    monkeypatch.setattr(bound, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(bound, "LOOP_LOOK", 3)
    # At a second a decision there would be 17 s to go after three of them, and as much later.
    monkeypatch.setattr(bound, "LOOP_PATIENCE", 30)
    with allowed(to_spend=2 * problem.budget):
        found = simulate(policy, problem, world, seed=7)
    assert next(clock) < 10
    contract.same_runs(
        (log_of_outcome(found), found.ended), (log_of_outcome(due), due.ended), "resumed"
    )


@pytest.mark.compiled
def test_a_short_simulation_does_not_start_the_compiler(seldom: None) -> None:
    policy, case = _policy(), lab_cases(_policy())[-1]
    bound.compiled.cache_clear()
    told: list[str] = []
    with watched(lambda what, begins: told.append(what)), allowed():
        simulate(policy, case.problem, case.world, seed=7)
    assert told == []
