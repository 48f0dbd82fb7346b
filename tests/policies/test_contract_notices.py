"""The checks of the contract notice policies that break it."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from askwise.core.choices import Wait
from askwise.core.draws import uniform
from askwise.ledger import columns as c
from askwise.policies.bounded.benchmarks import RandomWorker, Uniform
from askwise.policies.bounded.common import COUNT
from askwise.policies.bounded.kube import SimplifiedBoundedKube
from askwise.policies.bounded.thompson import ThompsonKnapsack
from askwise.testing import policies as contract


def test_the_checks_notice_a_policy_that_learns_while_it_chooses() -> None:
    honest = Uniform.choose

    def sly(self: Any, problem: Any, state: Any, *rest: Any) -> Any:
        state.beliefs[0, COUNT] += 1.0
        return honest(self, problem, state, *rest)

    with (
        mock.patch.object(Uniform, "choose", sly),
        pytest.raises(AssertionError, match="wrote into"),
    ):
        contract.choosing_changes_nothing(Uniform())


def test_the_checks_notice_a_policy_that_writes_into_the_ledger() -> None:
    honest = Uniform.choose

    def sly(self: Any, problem: Any, state: Any, ledger: Any, *rest: Any) -> Any:
        choice = honest(self, problem, state, ledger, *rest)
        ledger.book.totals[c.BUDGET] += 1
        return choice

    with (
        mock.patch.object(Uniform, "choose", sly),
        pytest.raises(AssertionError, match="wrote into"),
    ):
        contract.choosing_changes_nothing(Uniform())


def test_the_checks_notice_propensities_that_are_not_the_frequencies() -> None:
    honest = RandomWorker.choose

    def sly(self: Any, *rest: Any) -> Any:
        choice = honest(self, *rest)
        if hasattr(choice, "odds") and choice.odds[0] < 1.0:
            # One in twelve instead of one in six: nine standard deviations of 1500 draws.
            choice.odds[0] *= 0.5
        return choice

    with (
        mock.patch.object(RandomWorker, "choose", sly),
        pytest.raises(AssertionError, match="is drawn at"),
    ):
        contract.propensities_are_frequencies(RandomWorker())


def test_the_checks_notice_randomness_of_another_source() -> None:
    honest = SimplifiedBoundedKube.choose
    seen: list[int] = []

    def sly(self: Any, problem: Any, state: Any, ledger: Any, draw: Any, available: Any) -> Any:
        seen.append(0)
        return honest(self, problem, state, ledger, draw._replace(decision=len(seen)), available)

    with (
        mock.patch.object(SimplifiedBoundedKube, "choose", sly),
        pytest.raises(AssertionError, match="the second run"),
    ):
        contract.the_same_seed_gives_the_same_log(SimplifiedBoundedKube())


def test_the_checks_notice_a_policy_that_goes_by_names() -> None:
    honest = ThompsonKnapsack.choose

    def sly(self: Any, problem: Any, state: Any, ledger: Any, draw: Any, available: Any) -> Any:
        first = sum(ledger.workers[0].id.encode())
        return honest(self, problem, state, ledger, draw._replace(key0=first), available)

    with (
        mock.patch.object(ThompsonKnapsack, "choose", sly),
        pytest.raises(AssertionError, match="renamed"),
    ):
        contract.renaming_workers_renames_the_decisions(ThompsonKnapsack())


def test_the_checks_notice_a_policy_that_waits_for_nothing() -> None:
    with (
        mock.patch.object(Uniform, "choose", return_value=Wait("answers")),
        pytest.raises(AssertionError, match="is not so"),
    ):
        contract.it_ends_properly(Uniform())


def test_the_checks_notice_a_policy_that_forgets_to_learn() -> None:
    # Beliefs that are no pure function of the log: they differ once it is folded anew.
    honest = ThompsonKnapsack.absorb
    calls: list[int] = []

    def sly(self: Any, problem: Any, state: Any, ledger: Any, fact: Any, draw: Any) -> None:
        calls.append(0)
        if uniform(draw._replace(decision=len(calls)), 0) < 0.8:
            honest(self, problem, state, ledger, fact, draw)

    with mock.patch.object(ThompsonKnapsack, "absorb", sly), pytest.raises(AssertionError):
        contract.snapshots_change_nothing(ThompsonKnapsack())
