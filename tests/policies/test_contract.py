"""Every policy in the registry, with every choice of its parameters, keeps the contract."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.core.choices import Wait
from askwise.core.draws import uniform
from askwise.core.errors import AskwiseError
from askwise.core.events import Event
from askwise.core.registry import label_of, parameters_of
from askwise.lab import contract as lab
from askwise.ledger import columns as c
from askwise.policies import KernelPolicy, Policy, policies
from askwise.policies.bounded.common import COUNT
from askwise.policies.bounded.kube import SimplifiedBoundedKube
from askwise.policies.bounded.random_worker import RandomWorker
from askwise.policies.bounded.thompson import ThompsonKnapsack
from askwise.policies.bounded.uniform import Uniform
from askwise.testing import policies as contract
from askwise.testing import sessions
from askwise.testing.policies import Check
from askwise.testing.scenes import Scene, scenes_for

CHOICES: dict[str, list[dict[str, Any]]] = {
    "bounded-epsilon-first": [
        {"exploration": "successive-rejects"},
        {"exploration": "successive-rejects", "by": "density", "epsilon": 0.5},
        {"exploration": "hoeffding-races", "epsilon": 0.6},
        {"exploration": "hoeffding-races", "by": "density", "epsilon": 0.6},
        {"exploration": "successive-rejects", "epsilon": "auto"},
        {"carry": False},
        {"carry": False, "epsilon": 0.4, "exploration": "hoeffding-races"},
        {"epsilon": "auto"},
        {"epsilon": 0.0},
        {"epsilon": 1.0},
    ],
    "budget-limited-epsilon-first": [{"epsilon": 0.4}],
    "bounded-kube": [{"bonus": 0.0}, {"raw_bonus": True, "bonus": 0.25}],
    "simplified-bounded-kube": [{"bonus": 0.0}, {"raw_bonus": True, "bonus": 0.25}],
    "thompson-knapsack": [{"discount": 0.9}, {"patience": 0}, {"discount": 0.9, "patience": 1}],
    "virt-ucb": [{"schedule": "log", "exploration": 0.3}, {"discount": 0.8, "prior": 5.0}],
    "virt-thompson": [{"discount": 0.8, "prior": 5.0}],
    "lp-thompson": [{"discount": 0.8, "prior": 5.0}],
    "glr-directed": [{"discount": 0.8, "prior": 5.0}],
    "explore-exploit-rollback": [{"quality": 0.9, "low": 0.5, "smooth": False}, {"alpha": 0.0}],
    "knowledge-gradient": [{"discount": 0.9}, {"screen": 0.0}, {"screen": 1.0}],
    "bbta": [{"explore": 0, "refresh": 0.05}, {"explore": 2}],
    "optkg": [
        {"workers": False},
        {"positive": 2.0, "negative": 0.5, "right": 2.0, "wrong": 3.0},
    ],
    "optkg-multi": [
        {"workers": False},
        {"positive": 2.0, "negative": 0.5, "right": 2.0, "wrong": 3.0},
    ],
    "crowdsense": [{"threshold": 0.3, "smoothing": 2.0}],
    "iethresh": [{"threshold": 0.2, "error": 0.2}],
    "hem": [{"target": 0.2}],
    "b-kube": [
        {"inference": "weighted-majority", "bonus": 0.25},
        {"inference": "map", "by_context": True},
        {"inference": ((1.0, 0.25), (0.0, 0.75)), "bonus": 0.0},
    ],
    "label-bounded-epsilon-first": [
        {"epsilon": 0.5, "inference": "map"},
        {"exploitation": "single", "pick": "total"},
    ],
    "label-epsilon-first": [
        {"epsilon": 0.5, "inference": "weighted-majority"},
        {"exploitation": "knapsack", "pick": "total"},
    ],
    "label-trialsourcing": [
        {"exploitation": "single", "pick": "total", "inference": "map"},
    ],
    "ccb-ns": [
        {"alpha": 0.3, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.4, "floor": 0.7, "ahead": 3, "xi": 0.1, "bounds": "ucb1", "solver": "greedy"},
        {"alpha": 0.2, "miss": 20.0, "mu": 0.5, "floor": 0.6},
        {"alpha": 0.45, "mu": 0.9, "error": "hoeffding", "solver": "exact", "floor": 0.65},
    ],
    "ccb-s": [
        {"alpha": 0.3, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.4, "floor": 0.7, "ahead": 3, "xi": 0.1, "bounds": "ucb1", "solver": "greedy"},
        {"alpha": 0.2, "miss": 20.0, "mu": 0.5, "floor": 0.6},
    ],
    "ccb-se": [
        {"alpha": 0.4, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.45, "floor": 0.7, "ahead": 3, "xi": 0.1, "solver": "greedy"},
    ],
    "epsilon-t-greedy": [
        {"explore": 2.0, "alpha": 0.3, "floor": 0.6},
        {"explore": 0.0, "error": "hoeffding-linear(epsilon=0.5)", "solver": "greedy", "ahead": 2},
    ],
    "cucb": [
        {"bounds": "anytime", "mu": 0.5, "alpha": 0.3, "floor": 0.6, "ahead": 2},
        {"error": "hoeffding-linear(epsilon=0.5)", "solver": "exact", "alpha": 0.4},
    ],
    "ccb-fixed": [
        {"rounds": 2, "alpha": 0.4, "mu": 0.9, "bounds": "paper", "floor": 0.6, "ahead": 3},
        {"rounds": 0, "qualities": (0.9, 0.7, 0.8, 0.6, 0.95), "solver": "exact"},
        {"rounds": 0, "qualities": (0.9,) * 5, "error": "hoeffding-linear(epsilon=0.5)"},
    ],
}

TRUTH = [[0.5, 0.5], [0.6, 0.4], [0.9, 0.1]]

NEEDED: dict[str, dict[str, Any]] = {
    "best-crowd": {"truth": TRUTH},
    "best-mixture": {"truth": TRUTH},
}
"""What a policy must be told to work at all."""


def other_values(name: str) -> dict[str, Any]:
    """A choice of every flag and number that differs from the default, as far as it is valid."""
    needed = NEEDED.get(name, {})
    found: dict[str, Any] = {}
    for parameter, value in parameters_of(policies.make({"name": name, **needed})).items():
        tried: list[Any] = []
        if isinstance(value, bool):
            tried = [not value]
        elif isinstance(value, int):
            tried = [value + 1, value - 1]
        elif isinstance(value, float):
            tried = [value / 2, (value + 1) / 2, value + 1]
        for other in tried:
            with suppress(AskwiseError):
                policies.make({"name": name, **needed, **found, parameter: other})
                if other != value:
                    found[parameter] = other
                    break
    return found


def variants() -> Iterator[Policy]:
    """Every policy as it comes, and with other parameters: chosen here, or any."""
    for name in policies.names():
        needed = NEEDED.get(name, {})
        yield policies.make({"name": name, **needed})
        others = CHOICES[name] if name in CHOICES else [{**needed, **other_values(name)}]
        yield from (policies.make({"name": name, **choice}) for choice in others)


VARIANTS = {label_of(policy): policy for policy in variants()}

CASES = [
    pytest.param(policy, check, id=f"{label}-{check.__name__}")
    for label, policy in VARIANTS.items()
    for check in contract.CHECKS
]

SAMPLE = [case for case in CASES if "=" not in str(case.id)]
"""The policies as they come, without the choices of their parameters."""


def variants_of(name: str) -> list[Policy]:
    return [policy for policy in VARIANTS.values() if policy.name == name]


def compiling(name: str) -> list[KernelPolicy]:
    return [each for each in variants_of(name) if isinstance(each, KernelPolicy) and each.compiles]


QUICK = (contract.any_script_is_legal, contract.snapshots_change_nothing)
"""What the choices of parameters go through in the quick suite; the slow one has all."""


@pytest.mark.parametrize(
    ("policy", "check"),
    [
        pytest.param(
            *case.values, id=case.id, marks=() if case.values[1] in QUICK else pytest.mark.slow
        )
        for case in CASES
        if case not in SAMPLE
    ],
)
def test_a_policy_keeps_the_contract_whatever_its_parameters(policy: Policy, check: Check) -> None:
    check(policy)


@pytest.mark.parametrize(("policy", "check"), SAMPLE)
def test_a_policy_keeps_the_contract(policy: Policy, check: Check) -> None:
    check(policy)


# One test a policy, as its variants share what is compiled for the first of them.


CHECKED = (
    "bounded-epsilon-first",
    "bounded-kube",
    "knowledge-gradient",
    "virt-ucb",
    "virt-uniform",
    "explore-exploit-rollback",
    "glr-directed",
    "ccb-ns",
    "ccb-se",
)
"""Policies whose compiled loop is run once more with array bounds checked."""

LONG_TO_COMPILE = (
    "b-kube",
    "bbta",
    "best-crowd",
    "bounded-kube",
    "ccb-fixed",
    "ccb-ns",
    "ccb-s",
    "ccb-se",
    "crowdsense",
    "cucb",
    "epsilon-t-greedy",
    "explore-exploit-rollback",
    "glr-directed",
    "hem",
    "iethresh",
    "lp-thompson",
    "optkg",
    "optkg-multi",
)
"""Ten seconds and more: their compiled loops are compared in the slow suite."""


@pytest.mark.parametrize("name", policies.names())
def test_the_live_log_is_the_labs(name: str) -> None:
    for policy in variants_of(name):
        lab.the_live_log_is_the_labs(policy)


def compiled(name: str) -> Any:
    marks = [pytest.mark.checked] if name in CHECKED else []
    marks += [pytest.mark.slow] if name in LONG_TO_COMPILE else []
    return pytest.param(name, marks=marks)


@pytest.mark.compiled
@pytest.mark.parametrize("name", [compiled(name) for name in policies.names()])
def test_the_plain_log_is_the_compiled_one(name: str) -> None:
    lab.the_plain_log_is_the_compiled_one(*compiling(name))


ALWAYS_COMPILED = """
import sys
from askwise.core.registry import from_label
from askwise.policies import policies
from askwise.lab.contract import the_live_log_is_the_labs

for label in sys.argv[1:]:
    the_live_log_is_the_labs(policies.make(from_label(label)))
"""


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("name", policies.names())
def test_a_live_campaign_on_compiled_kernels_has_the_same_log(name: str) -> None:
    # Left alone, kernels called from Python run as they are for their first two seconds.
    labels = [label_of(policy) for policy in variants_of(name)]
    done = subprocess.run(
        [sys.executable, "-c", ALWAYS_COMPILED, *labels],
        env={**os.environ, "ASKWISE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_policy_is_checked_with_every_choice_of_its_parameters() -> None:
    for name in policies.names():
        tried = [policy for policy in VARIANTS.values() if policy.name == name]
        for parameter, value in parameters_of(tried[0]).items():
            if parameter in ("beta", "confidence", "shares", "truth"):
                continue  # numbers in a formula and names of workers, tried by hand elsewhere
            if name not in CHOICES and not isinstance(value, int | float):
                continue  # words, of which nothing says what else they may be
            assert len({getattr(policy, parameter) for policy in tried}) > 1, (name, parameter)


scripts = st.lists(st.integers(0, 2**16), max_size=50)


@pytest.mark.parametrize("label", VARIANTS)
@given(data=st.data())
@settings(max_examples=10)
def test_whatever_happens_the_laws_hold(label: str, data: st.DataObject) -> None:
    policy = VARIANTS[label]
    scene = data.draw(st.sampled_from(scenes_for(policy)))
    sessions.play(policy, scene, data.draw(scripts), seed=data.draw(st.integers(0, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
@given(data=st.data())
@settings(max_examples=600)
def test_whatever_happens_the_laws_hold_for_long(label: str, data: st.DataObject) -> None:
    policy = VARIANTS[label]
    scene = data.draw(st.sampled_from(scenes_for(policy)))
    sessions.play(policy, scene, data.draw(scripts), seed=data.draw(st.integers(0, 99)))


@cache
def whole_log(policy: Policy, number: int) -> tuple[Scene, list[Event]]:
    """The log of a scene without a rule: a rule's CLOSED is never cut from its ANSWER."""
    scenes = [scene for scene in scenes_for(policy) if scene.rule is None]
    scene = scenes[number % len(scenes)]
    session = sessions.start(policy, scene, seed=4)
    session.finish()
    return scene, session.log


@given(label=st.sampled_from(list(VARIANTS)), scene=st.integers(0, 3), where=st.floats(0.0, 1.0))
def test_a_crash_anywhere_is_survived(label: str, scene: int, where: float) -> None:
    policy = VARIANTS[label]
    chosen, log = whole_log(policy, scene)
    contract.crash_after(policy, chosen, log, round(where * len(log)))


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_a_crash_after_every_event_is_survived(label: str) -> None:
    policy = VARIANTS[label]
    for number in range(3):
        scene, log = whole_log(policy, number)
        for cut in range(len(log) + 1):
            contract.crash_after(policy, scene, log, cut)


# The checks would notice.


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
