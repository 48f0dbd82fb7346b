"""Every policy in the registry, with every choice of its parameters, keeps the contract."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.core.events import Event
from askwise.core.registry import label_of, parameters_of
from askwise.lab import contract as lab
from askwise.policies import Policy, policies
from askwise.testing import policies as contract
from askwise.testing import sessions
from askwise.testing.policies import Check
from askwise.testing.scenes import Scene, scenes_for
from tests.policies.variants import CHOICES, VARIANTS, compiling, variants_of

CASES = [
    pytest.param(policy, check, id=f"{label}-{check.__name__}")
    for label, policy in VARIANTS.items()
    for check in contract.CHECKS
]

SAMPLE = [case for case in CASES if "=" not in str(case.id)]
"""The policies as they come, without the choices of their parameters."""

PICKED = (contract.any_script_is_legal, contract.a_crash_after_any_event_is_survived)
"""What hypothesis picks scripts and places for, so that the fixed ones are for the slow suite."""

FEWER_DRAWS = 400
"""Of each decision whose propensities are counted; the margin is in standard deviations."""


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "check"), CASES)
def test_a_policy_keeps_the_contract_whatever_its_parameters(policy: Policy, check: Check) -> None:
    check(policy)


@pytest.mark.parametrize("name", policies.names())
def test_snapshots_change_nothing_whatever_its_parameters(name: str) -> None:
    # Each choice in one scene, the next in another; hypothesis picks scripts, and places to crash
    # at, for all choices below. The slow suite has every check in every scene.
    chosen = [policy for policy in variants_of(name) if "=" in label_of(policy)]
    for number, policy in enumerate(chosen):
        scenes = scenes_for(policy)
        scene = scenes[number % len(scenes)]
        contract.snapshots_change_nothing.__wrapped__(scene, policy)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("policy", "check"),
    [case for case in SAMPLE if case.values[1] not in PICKED],
)
def test_a_policy_keeps_the_contract(
    policy: Policy, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A check that goes through scenes has one of them; the next check has another, and so has the
    # same check of the next policy. The slow suite has every check in every scene, all draws too.
    monkeypatch.setattr(contract, "DRAWS", FEWER_DRAWS)
    in_scene = getattr(check, "__wrapped__", None)
    if in_scene is None:
        check(policy)
        return
    scenes = scenes_for(policy)
    turn = contract.CHECKS.index(check) + policies.names().index(policy.name)
    in_scene(scenes[turn % len(scenes)], policy)


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

COMPILED = (
    "bounded-epsilon-first",
    "label-epsilon-first",
    "random-pairs",
    "simplified-bounded-kube",
    "virt-ucb",
)
"""A sample of each family: the compiled loops of all others are compared in the slow suite."""


@pytest.mark.parametrize("name", policies.names())
def test_the_live_log_is_the_labs(name: str) -> None:
    turn, (as_it_comes, *choices) = policies.names().index(name), variants_of(name)
    # As it comes in one case, if there is any, and with one choice of its parameters in the next;
    # the next policy has others. Both drivers call the same kernels, whatever the parameters.
    for number, policy in enumerate(
        (as_it_comes, *choices[turn % max(1, len(choices)) :][:1]), turn
    ):
        cases = list(enumerate(lab.lab_cases(policy)))
        for seed, case in cases[number % len(cases) :][:1] if cases else []:
            live, simulated = lab.live_run(policy, case, seed), lab.lab_run(policy, case, seed)
            lab.same_runs(live, simulated, f"{label_of(policy)}, case {seed}")


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_the_live_log_is_the_labs_in_every_case(label: str) -> None:
    lab.the_live_log_is_the_labs(VARIANTS[label])


def compiled(name: str) -> Any:
    marks = [pytest.mark.checked] if name in CHECKED else []
    marks += [] if name in COMPILED else [pytest.mark.slow]
    return pytest.param(name, marks=marks)


@pytest.mark.compiled
@pytest.mark.xdist_group("loops of policies")
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
            if parameter in ("beta", "confidence", "earlier", "label_prior", "shares", "truth"):
                continue  # of a formula, of certain workers or labels: tried by hand elsewhere
            if name not in CHOICES and not isinstance(value, int | float):
                continue  # words, of which nothing says what else they may be
            if (name, parameter) == ("multiple-pull-ucb", "solver"):
                continue  # it solves nothing, and refuses all but the default
            assert len({repr(getattr(policy, parameter)) for policy in tried}) > 1, (
                name,
                parameter,
            )


scripts = st.lists(st.integers(0, 2**16), max_size=50)


@pytest.mark.parametrize("name", policies.names())
@given(data=st.data())
@settings(max_examples=5)
def test_whatever_happens_the_laws_hold(name: str, data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from(variants_of(name)))
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


@pytest.mark.parametrize("name", policies.names())
@given(data=st.data(), scene=st.integers(0, 3), where=st.floats(0.0, 1.0))
@settings(max_examples=3)
def test_a_crash_anywhere_is_survived(
    name: str, data: st.DataObject, scene: int, where: float
) -> None:
    policy = data.draw(st.sampled_from(variants_of(name)))
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
